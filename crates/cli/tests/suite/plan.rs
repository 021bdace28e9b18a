//! `undertone plan`: its fields, its files, its exit codes and its complaints.
use crate::common::{Scratch, complaint, json, root, undertone};
use serde_json::Value;

fn example(name: &str) -> String {
    root().join("examples").join(name).to_str().unwrap().to_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_plan_is_designed_written_and_verified_by_anyone() {
    let dir = Scratch::new("plan-design");
    let (questions, joint) = (example("plan-questions.json"), example("plan-joint.json"));
    let plan = dir.path("plan.json");
    let (code, value) = json(&[
        "plan",
        "design",
        "--questions",
        &questions,
        "--person",
        "ldp:2",
        "--joint",
        &joint,
        "--secret",
        "depression=lip:0.5",
        "--people",
        "5000",
        "-o",
        &plan,
    ]);
    assert_eq!(code, 0, "{value}");
    assert!(number(&value["person"]["ldp"]) <= 2.0 && value["person"]["exact"].is_boolean());
    assert!(number(&value["person"]["secrets"]["depression"]) <= 0.5);
    assert_eq!(value["person"]["lip"].as_object().unwrap().len(), 6);
    assert_eq!(value["half_widths"].as_object().unwrap().len(), 6);
    assert_eq!(value["people"], 5000);
    for field in ["equal_split", "one_each", "combined", "rs_fd"] {
        assert!(value["compared"][field].is_f64(), "{field}");
    }
    for item in value["items"].as_array().unwrap() {
        assert!(item["name"].is_string() && item["attained"].is_f64());
        assert_eq!(item["policy_id"].as_str().unwrap().len(), 64);
    }
    let (code, verified) = json(&["plan", "verify", &plan]);
    assert_eq!((code, &verified["verified"]), (0, &Value::Bool(true)));
    assert_eq!(verified["plan_id"], value["plan_id"]);
    assert_eq!(verified["person"], value["person"]);
    let shown = undertone(&["plan", "show", &plan]).stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("secret depression") && shown.contains("% of people"), "{shown}");
    // A claim that the integers do not keep.
    let text = std::fs::read_to_string(&plan).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document.as_object_mut().unwrap().remove("id");
    document["claims"][0]["nats"] = "0.1".into();
    let lie = dir.file("lie.json", &document.to_string());
    let (code, refused) = json(&["plan", "verify", &lie]);
    assert_eq!((code, &refused["verified"]), (1, &Value::Bool(false)));
    assert!(refused["refusal"].as_str().unwrap().contains("0.1"), "{refused}");
}

#[test]
fn the_shipped_plan_is_verified() {
    let (code, value) = json(&["plan", "verify", &example("plan.json")]);
    assert_eq!((code, &value["verified"]), (0, &Value::Bool(true)), "{value}");
    let claims = value["claims"].as_array().unwrap();
    assert!(claims.contains(&"person: ldp:2".into()), "{claims:?}");
    assert!(claims.contains(&"secret depression: lip:0.5".into()), "{claims:?}");
}

#[test]
fn complaints_name_the_option() {
    let questions = example("plan-questions.json");
    let design = |more: &[&str]| {
        let mut words = vec!["plan", "design", "--questions", &questions];
        words.extend(more);
        complaint(&words).1
    };
    for (more, said) in [
        (&["--person", "lip:2"][..], "--person is \"lip:2\": write ldp:2"),
        (&["--person", "ldp:2", "--periods", "0"], "--periods is 0"),
        (&["--person", "ldp:2", "--pairs", "sleep"], "--pairs: \"sleep\" is no pair"),
        (&["--person", "ldp:2", "--secret", "depression=lip:1"], "give a joint law that has it"),
        (&["--person", "ldp:2", "--question", "sleep=lip:1"], "give the questions priors"),
        (&["--person", "ldp:2", "--question", "sleep"], "is no promise"),
    ] {
        let message = design(more);
        assert!(message.contains(said), "{said:?} is not in {message:?}");
    }
}
