//! One fact has one JSON: the risk of a policy is written as `tests/faces/risk.json` has it. The curator and the Python
//! package are held to the same file.

use serde_json::{Map, Value};

use crate::common::{json, root, undertone};

#[test]
fn the_risk_of_a_policy_has_the_bytes_of_every_face() {
    let (policy, golden) =
        (root().join("tests/faces/policy.json"), root().join("tests/faces/risk.json"));
    let golden = std::fs::read_to_string(golden).unwrap();
    let expected: Map<String, Value> = serde_json::from_str(&golden).unwrap();
    let words = ["policy", "show", policy.to_str().unwrap()];
    let (code, shown) = json(&words);
    assert_eq!(code, 0, "{shown}");
    // The report stands among the other fields of the policy.
    let risk: Map<String, Value> =
        expected.keys().map(|name| (name.clone(), shown[name].clone())).collect();
    assert_eq!(format!("{:#}\n", Value::Object(risk)), golden);
    // Nothing of the report is missing from the file: a policy that is only verified has all the rest.
    let (_, verified) = json(&["policy", "verify", words[2]]);
    let told = |shown: &Value| shown.as_object().map_or(0, Map::len);
    assert_eq!(told(&shown), told(&verified) + expected.len() + 1, "shape, and the risk");
    assert!(
        String::from_utf8_lossy(&undertone(&words).stdout).contains("What an observer can learn")
    );
}
