//! Named tokens with roles: made, used, revoked and rotated while the curator runs, on both engines.

use crate::api::harness::{Answer, Service, yes_no};
use crate::common::postgres;
use serde_json::{Value, json};
use std::time::Duration;
use undertone_curator::server::Limits;
use undertone_curator::store;

async fn started(address: &str) -> Service {
    Service::on(store::open(address).await.unwrap(), |_| {}, Limits::default()).await
}

/// Makes a token and gives its id and itself.
async fn made(service: &Service, name: &str, role: &str, survey: Option<&str>) -> (String, String) {
    let body = json!({"name": name, "role": role, "survey": survey});
    let answer = service.owner_post("/v1/tokens", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json();
    (made["id"].as_str().unwrap().into(), made["token"].as_str().unwrap().into())
}

async fn with(service: &Service, token: &str, method: &str, path: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    service.send(method, path, &[("authorization", &bearer)], b"").await
}

async fn roles(address: &str) {
    let service = started(address).await;
    for survey in ["one", "two"] {
        service.create(&yes_no(survey)).await;
    }
    let (_, analyst) = made(&service, "Ann", "analyst", Some("one")).await;
    let (officer_id, officer) = made(&service, "Olaf", "officer", None).await;
    let (_, desk) = made(&service, "desk", "admission", Some("two")).await;
    let (_, owner) = made(&service, "Una", "owner", Some("two")).await;
    // What each may do: status with each token. A token of another survey sees what anybody sees.
    let table = [
        ("GET", "/v1/surveys", [200, 200, 200, 200]),
        ("GET", "/v1/tokens", [403, 403, 403, 403]),
        ("GET", "/metrics", [403, 403, 403, 403]),
        ("POST", "/v1/surveys", [403, 403, 403, 403]),
        ("POST", "/v1/surveys/two/rounds", [403, 403, 403, 409]),
        ("POST", "/v1/surveys/one/rounds/1/release", [403, 403, 403, 403]),
        ("POST", "/v1/surveys/two/archive", [403, 403, 403, 409]),
        ("POST", "/v1/surveys/two/delete", [403, 409, 403, 409]),
        ("POST", "/v1/surveys/one/resume", [403, 403, 403, 403]),
        ("POST", "/v1/surveys/one/pause", [403, 200, 403, 403]),
    ];
    for (method, path, expected) in table {
        for (token, status) in [&analyst, &officer, &desk, &owner].into_iter().zip(expected) {
            let answer = with(&service, token, method, path).await;
            assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        }
    }
    let counts = |answer: Answer| answer.json().get("reports").is_some();
    assert!(counts(with(&service, &analyst, "GET", "/v1/surveys/one").await));
    assert!(!counts(with(&service, &analyst, "GET", "/v1/surveys/two").await));
    let rounds = |answer: Answer| answer.json()["rounds"].as_array().unwrap().len();
    assert_eq!(rounds(with(&service, &analyst, "GET", "/v1/surveys/one/estimates").await), 1);
    for token in [&officer, &desk] {
        assert_eq!(rounds(with(&service, token, "GET", "/v1/surveys/one/estimates").await), 0);
    }
    let list = with(&service, &desk, "GET", "/v1/surveys").await.json();
    let ids: Vec<&str> =
        list["surveys"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["two"]);
    // The log names who it was.
    let log = service.get("/v1/surveys/one/log").await.json();
    let last = log["entries"].as_array().unwrap().last().unwrap().clone();
    let detail: Value = serde_json::from_str(last["detail"].as_str().unwrap()).unwrap();
    assert_eq!((&last["kind"], &detail["by"]), (&json!("survey_paused"), &json!("Olaf")));
    // However many wrong tokens come from the same address, the right one works.
    for _ in 0..40 {
        let wrong = with(&service, "not-the-token-0123456789", "GET", "/v1/surveys").await;
        assert!([401, 429].contains(&wrong.status));
    }
    assert_eq!(with(&service, "not-the-token-0123456789", "GET", "/v1/surveys").await.status, 429);
    assert_eq!(with(&service, &officer, "GET", "/v1/surveys").await.status, 200);
    // Rotated: the old one stops at once, the new one works, and both are listed.
    let path = format!("/v1/tokens/{officer_id}/rotate");
    let rotated = service.owner_post(&path, &Value::Null).await.json();
    let (new_id, new) = (rotated["id"].as_str().unwrap(), rotated["token"].as_str().unwrap());
    assert!([401, 429].contains(&with(&service, &officer, "GET", "/v1/surveys").await.status));
    assert_eq!(with(&service, new, "GET", "/v1/surveys").await.status, 200);
    // Another curator on the same store notices a token that is revoked within its memory.
    let other = started(address).await;
    assert_eq!(with(&other, new, "GET", "/v1/surveys").await.status, 200);
    let path = format!("/v1/tokens/{new_id}/revoke");
    assert_eq!(service.owner_post(&path, &Value::Null).await.status, 200);
    let again = service.owner_post(&path, &Value::Null).await.json();
    let said = format!("token {new_id} of Olaf is revoked already");
    assert_eq!((&again["code"], &again["detail"]), (&json!("conflict"), &json!(said)));
    assert!([401, 429].contains(&with(&service, new, "GET", "/v1/surveys").await.status));
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert!([401, 429].contains(&with(&other, new, "GET", "/v1/surveys").await.status));
    let listed = service.owner_get("/v1/tokens").await.json();
    let tokens = listed["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 5);
    assert_eq!(tokens.iter().filter(|one| one["revoked_by"] == "owner").count(), 2);
    assert!(tokens.iter().all(|one| one.get("token").is_none() && one["created_by"] == "owner"));
    // Bad requests name what is wrong.
    for (body, said) in [
        (json!({"name": "x", "role": "king"}), "role"),
        (json!({"name": "", "role": "owner"}), "name"),
        (json!({"name": "curator", "role": "owner"}), "name"),
        (json!({"name": "x", "role": "owner", "survey": "No"}), "survey"),
        (json!({"name": "x", "role": "owner", "more": 1}), "more"),
    ] {
        let answer = service.owner_post("/v1/tokens", &body).await;
        assert_eq!(answer.code(), "malformed", "{body}");
        assert!(answer.text().contains(said), "{}", answer.text());
    }
    let twice = service.owner_post("/v1/tokens", &json!({"name": "Ann", "role": "owner"})).await;
    assert_eq!(twice.code(), "conflict");
    let none = json!({"name": "x", "role": "owner", "survey": "three"});
    assert_eq!(service.owner_post("/v1/tokens", &none).await.code(), "survey_unknown");
    assert_eq!(service.owner_post("/v1/tokens/t-0/revoke", &Value::Null).await.code(), "not_found");
    let checked = store::check(address, &store::Options::default(), &|_| {}).await.unwrap();
    assert_eq!((checked.tokens, checked.faults), (5, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_on_an_embedded_store() {
    let folder = tempfile::tempdir().unwrap();
    roles(&format!("sqlite:{}", folder.path().join("a.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_on_postgresql() {
    let Some(server) = postgres::Server::start() else { return };
    roles(&server.database("roles")).await;
}

/// The store holds hashes: neither the token nor its bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_not_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let mut service = started(&format!("sqlite:{}", file.display())).await;
    let (id, token) = made(&service, "Ann", "analyst", None).await;
    service.stop().await;
    drop(service);
    let bytes: Vec<u8> = ["", "-wal"]
        .iter()
        .flat_map(|ending| std::fs::read(format!("{}{ending}", file.display())).unwrap_or_default())
        .collect();
    let holds = |wanted: &[u8]| bytes.windows(wanted.len()).any(|some| some == wanted);
    assert!(holds(id.as_bytes()), "the test looks at nothing");
    assert!(
        !holds(token.as_bytes())
            && !holds(&undertone_wire::hex::decode(&token).unwrap_or_default())
    );
}
