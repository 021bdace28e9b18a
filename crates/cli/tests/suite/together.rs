//! `policy verify --together`: several releases about one datum.

use crate::common::{Scratch, close, complaint, json, root, undertone};
use serde_json::Value;

/// The document of a golden policy, as a file.
fn golden(scratch: &Scratch, name: &str) -> String {
    let path = root().join(format!("vectors/v1/policy/{name}.json"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    scratch.file(&format!("{name}.json"), &file["document"].to_string())
}

#[test]
fn answers_in_another_order_give_the_secret_away() {
    let scratch = Scratch::new("together-order");
    let (a, b) = (golden(&scratch, "second_bit"), golden(&scratch, "parity_reordered"));
    let words = ["policy", "verify", &a, &b, "--together", "--consent", "secret:first=ldp:0"];
    let (code, value) = json(&words);
    assert_eq!(code, 1, "{value}");
    let together = &value["together"];
    assert_eq!(together["exact"], true);
    assert_eq!(together["claims"], false);
    assert_eq!(together["consent"][0]["claim"], "secret:first=ldp:0");
    assert_eq!(together["consent"][0]["met"], false);
    assert!(!together["attained"]["secret"].is_number(), "{together}");
    let said = String::from_utf8(undertone(&words).stdout).unwrap();
    assert!(said.contains("NOT MET") && said.contains("unbounded"), "{said}");
    // The same function in another order tells nothing more.
    let again = golden(&scratch, "second_bit_reordered");
    let words = ["policy", "verify", &a, &again, "--together", "--consent", "secret:first=ldp:0"];
    let (code, value) = json(&words);
    assert_eq!((code, &value["together"]["consent"][0]["met"]), (0, &Value::Bool(true)));
    close(&value["together"]["attained"]["secret"], 0.0);
}

#[test]
fn levels_and_limits() {
    let scratch = Scratch::new("together-levels");
    let (a, b) = (golden(&scratch, "second_bit_noisy"), golden(&scratch, "parity_noisy"));
    let limits = ["--consent", "secret:first=ldp:0.52", "--consent", "ldp:3", "--consent", "lip:2"];
    let words = [&["policy", "verify", &a, &b, "--together"][..], &limits].concat();
    let (code, value) = json(&words);
    assert_eq!(code, 0, "{value}");
    let attained = &value["together"]["attained"];
    close(&attained["secret"], 0.510_825_623_8);
    close(&attained["ldp"], 2.197_224_577_4);
    assert_eq!(value["together"]["consent"].as_array().unwrap().len(), 3);
    // One policy alone is its certificate; order does not matter.
    let (_, one) = json(&["policy", "verify", &a, "--together"]);
    close(&one["together"]["attained"]["secret"], 0.0);
    let (_, turned) = json(&["policy", "verify", &b, &a, "--together"]);
    assert_eq!(&turned["together"]["attained"], attained);
    // The specification's pair: ln 3 each under [.99, .01], 2.2016 together.
    let (a, b) = (golden(&scratch, "rare_lip"), golden(&scratch, "rare_lip_again"));
    let words = ["policy", "verify", &a, &b, "--together", "--consent", "lip:1.0986122887"];
    let (code, value) = json(&words);
    assert_eq!(code, 1);
    close(&value["together"]["attained"]["lip"], 2.201_570_232_6);
}

#[test]
fn bad_usage_is_named() {
    let scratch = Scratch::new("together-usage");
    let a = golden(&scratch, "minimal");
    for (words, part) in [
        (vec!["policy", "verify", &a, &a], "--together"),
        (vec!["policy", "verify", &a, "--consent", "ldp:1"], "--together"),
        (vec!["policy", "verify", &a, "--together", "--consent", "di:1"], "di:1"),
        (vec!["policy", "verify", &a, "--together", "--consent", "ldp:x"], "\"x\""),
        (vec!["policy", "verify", &a, "--together", "--consent", "secret:=ldp:1"], "secret:NAME"),
    ] {
        let (code, said) = complaint(&words);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "{said}");
    }
    let bad = root().join("examples/false-claim.json");
    let (code, said) = complaint(&["policy", "verify", &a, bad.to_str().unwrap(), "--together"]);
    assert_eq!(code, 1);
    assert!(said.contains("false-claim.json") && said.contains("REFUSED"), "{said}");
}
