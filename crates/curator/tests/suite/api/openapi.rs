//! The description lists exactly what the router knows.

use crate::api::harness::Service;
use serde_json::Value;
use std::collections::BTreeSet;
use undertone_curator::routes::{OPENAPI, ROUTES};
use undertone_wire::Code;

fn document() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_is_described_and_every_description_is_routed() {
    let service = Service::start().await;
    let document = service.get("/v1/openapi.json").await.json();
    assert_eq!(document, self::document());
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(move |method| (path.clone(), method.clone()))
        })
        .collect();
    let routed: BTreeSet<(String, String)> = ROUTES
        .iter()
        .flat_map(|(path, methods)| methods.iter().map(|m| ((*path).into(), (*m).into())))
        .collect();
    assert_eq!(described, routed);
    // The table of routes is itself true: each is known to the router, and knows no other method.
    for (path, methods) in ROUTES {
        let filled = path.replace("{survey}", "none").replace("{number}", "1");
        let filled = filled
            .replace("{folder}", "none")
            .replace("{file}", "none")
            .replace("{token}", "none")
            .replace("{id}", &"0".repeat(64));
        for method in ["get", "post", "put", "delete", "patch"] {
            let answer = service.send(&method.to_uppercase(), &filled, &[], b"").await;
            let known = answer.status != 405
                && !(answer.status == 404
                    && answer.code() == "not_found"
                    && !path.starts_with("/assets/")
                    && path != "/");
            assert_eq!(known, methods.contains(&method), "{method} {path}: {}", answer.status);
        }
    }
}

#[test]
fn problem_codes_are_described_with_their_status() {
    let document = document();
    let listed: BTreeSet<&str> = document["components"]["schemas"]["Problem"]["properties"]["code"]
        ["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|code| code.as_str().unwrap())
        .collect();
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(listed, known);
    let mut mentioned = BTreeSet::from(["method_not_allowed"]);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let said = response["description"].as_str().unwrap();
                let Some(codes) = said.strip_prefix("Refused: ") else { continue };
                for name in codes.split(", ") {
                    let code = Code::ALL.iter().find(|code| code.name() == name);
                    let code = code.unwrap_or_else(|| panic!("{name} in {method} {path}"));
                    assert_eq!(&code.status().to_string(), status, "{name} in {method} {path}");
                    mentioned.insert(code.name());
                }
            }
        }
    }
    assert_eq!(mentioned, known);
}

#[test]
fn references_lead_somewhere() {
    let document = document();
    let mut left = vec![&document];
    let mut found = 0;
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(target)) = map.get("$ref") {
                    let pointer = target.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{target}");
                    found += 1;
                }
                left.extend(map.values());
            }
            Value::Array(list) => left.extend(list),
            _ => {}
        }
    }
    assert!(found > 20);
}
