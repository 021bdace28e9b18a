//! `undertone watchdog`: its fields, its files, its exit codes and its complaints.
use crate::common::{Scratch, complaint, json, undertone};
use serde_json::{Value, json};

/// Q(ns,nx)[s,x] of the specification, as a file's content.
fn spec_joint(secrets: usize, symbols: usize) -> String {
    let weight = |k: usize| ((k * k) as f64 * 0.618_033_988_749_894_9).fract();
    let total: f64 = (1..=secrets * symbols).map(weight).sum();
    let row = |s: usize| (0..symbols).map(|x| weight(s * symbols + x + 1) / total).collect();
    let rows: Vec<Vec<f64>> = (0..secrets).map(row).collect();
    json!(rows).to_string()
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn golden_values_through_the_command() {
    let dir = Scratch::new("watchdog-golden");
    let (q36, q2030) =
        (dir.file("a.json", &spec_joint(3, 6)), dir.file("b.json", &spec_joint(20, 30)));
    for (joint, lower, upper, method, nmi) in [
        (&q36, "0.8", "0.5", "merge", 0.908246447342),
        (&q36, "0.8", "0.5", "uniform", 0.908246447342),
        (&q36, "0.3", "0.2", "subset", 0.396631787293),
        (&q36, "0.3", "0.2", "partition", 0.396733823144),
        (&q36, "0.3", "0.2", "optimal", 0.672589641267),
        (&q36, "0.8", "0.5", "optimal", 0.9571809170906),
        (&q2030, "1", "1", "merge", 0.0488028164104),
        (&q2030, "1.3", "0.7", "merge", 0.182756961103),
        (&q2030, "4", "1", "repair", 0.989440914454),
    ] {
        let (code, value) = json(&[
            "watchdog", "--joint", joint, "--lower", lower, "--upper", upper, "--method", method,
        ]);
        assert_eq!(code, 0, "{value}");
        near(&value["nmi"], nmi);
        assert_eq!(value["met"], true);
        assert_eq!(value["policy_id"].as_str().unwrap().len(), 64);
        let within = |field: &str, budget: &str| {
            value[field].as_f64().unwrap() <= budget.parse::<f64>().unwrap() + 1e-7
        };
        assert!(within("max_lift", upper) && within("min_lift", lower), "{value}");
        assert!(value["low_risk"].is_array() && value["groups"].is_array());
        let attained = &value["attained"];
        assert!(attained["max_lift"].as_f64().unwrap() <= upper.parse::<f64>().unwrap());
        assert!(attained["min_lift"].as_f64().unwrap() <= lower.parse::<f64>().unwrap());
        if method == "optimal" {
            near(&value["nmi_bound"], nmi);
        } else {
            assert!(value["nmi_bound"].is_null());
        }
    }
}

#[test]
fn the_policy_written_is_verified_by_anyone() {
    let dir = Scratch::new("watchdog-policy");
    let joint = dir.file("joint.json", &spec_joint(3, 6));
    for method in ["merge", "uniform", "repair", "subset", "partition", "optimal"] {
        let policy = dir.path(&format!("{method}.json"));
        let (_, made) = json(&[
            "watchdog",
            "--joint",
            &joint,
            "--ldp",
            "1.3",
            "--split",
            "0.6",
            "--method",
            method,
            "--secret-name",
            "illness",
            "-o",
            &policy,
        ]);
        assert_eq!(made["met"], true, "{made}");
        let (code, read) = json(&["policy", "verify", &policy]);
        assert_eq!(code, 0, "{read}");
        assert_eq!(read["policy_id"], made["policy_id"]);
        assert_eq!(read["prior"]["name"], "illness");
        let claims = read["claims"].as_array().unwrap();
        assert_eq!(claims.len(), 2, "the two budgets, and the LDP level they were split from");
        assert!(claims.iter().all(|claim| claim.as_str().unwrap().ends_with("of the secret")));
        let text = std::fs::read_to_string(&policy).unwrap();
        assert!(text.contains("joint law of joint.json"), "the path stays at home");
    }
}

#[test]
fn a_printed_method_that_misses_its_budget_says_so() {
    let dir = Scratch::new("watchdog-missed");
    let joint = dir.file("joint.json", &spec_joint(20, 30));
    let policy = dir.path("policy.json");
    let asked = ["watchdog", "--joint", &joint, "--lower", "4", "--upper", "1", "-o", &policy];
    let (code, value) = json(&[&asked[..], &["--method", "merge"]].concat());
    assert_eq!(code, 0);
    assert_eq!(value["met"], false);
    assert!(value["policy_id"].is_null() && value["attained"].is_null());
    let over = |field: &str, budget: f64| value[field].as_f64().unwrap() > budget;
    assert!(over("max_lift", 1.0) || over("min_lift", 4.0));
    assert!(!std::path::Path::new(&policy).exists(), "no policy is written");
    let said = undertone(&[&asked[..], &["--method", "merge"]].concat());
    assert!(String::from_utf8_lossy(&said.stdout).contains("misses this budget"));
    // The default method meets it: for thirty symbols the optimum.
    let (code, value) = json(&asked);
    assert_eq!((code, &value["met"], &value["method"]), (0, &json!(true), &json!("optimal")));
    assert!(value["method_note"].as_str().unwrap().contains("30 symbols are few enough"));
    assert!(std::path::Path::new(&policy).exists());
}

#[test]
fn the_method_that_nobody_asked_for_goes_by_size() {
    let dir = Scratch::new("watchdog-auto");
    let run = |joint: &str, more: &[&str]| {
        let (code, value) = json(
            &[&["watchdog", "--joint", joint, "--lower", "0.3", "--upper", "0.2"], more].concat(),
        );
        assert_eq!(code, 0, "{value}");
        value
    };
    let small = dir.file("small.json", &spec_joint(3, 6));
    let (auto, groups) = (run(&small, &[]), run(&small, &["--method", "partition"]));
    assert_eq!(auto["method"], "optimal");
    assert!(auto["nmi"].as_f64().unwrap() > groups["nmi"].as_f64().unwrap() + 0.2);
    assert!(auto["warnings"].as_array().unwrap().is_empty());
    assert!(groups["method_note"].is_null());
    // Where nothing leaks, the best groups are all symbols by themselves, and no coin is needed.
    let open = dir.file("open.json", "[[0.2, 0.2, 0.1], [0.2, 0.2, 0.1]]");
    let open = run(&open, &[]);
    assert_eq!(open["method"], "partition");
    assert!((open["nmi"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let large = dir.file("large.json", &spec_joint(2, 31));
    let large = run(&large, &[]);
    assert_eq!(large["method"], "subset");
    assert!(large["method_note"].as_str().unwrap().contains("too many"));
}

#[test]
fn a_release_that_says_nothing_is_told_of() {
    let dir = Scratch::new("watchdog-nothing");
    // The data are the secret: within a budget of nought nothing of them may be said.
    let joint = dir.file("joint.json", "[[0.5, 0.0], [0.0, 0.5]]");
    let asked = ["watchdog", "--joint", &joint, "--lower", "0", "--upper", "0"];
    for method in ["auto", "subset", "optimal"] {
        let (code, value) = json(&[&asked[..], &["--method", method]].concat());
        assert_eq!(code, 0, "{value}");
        let warning = value["warnings"][0].as_str().unwrap();
        assert!(warning.contains("says nothing"), "{warning}");
    }
    let said = undertone(&asked);
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("WARNING: "));
}

#[test]
fn the_best_split_beats_the_even_one() {
    let dir = Scratch::new("watchdog-split");
    let joint = dir.file("joint.json", &spec_joint(3, 6));
    let nmi = |split: &str| {
        let (_, value) = json(&["watchdog", "--joint", &joint, "--ldp", "0.6", "--split", split]);
        (value["nmi"].as_f64().unwrap(), value["split"].as_f64().unwrap())
    };
    let (best, lambda) = nmi("best");
    assert!((0.05..=0.95).contains(&lambda));
    for step in 1..20 {
        assert!(nmi(&format!("{}", f64::from(step) / 20.0)).0 <= best + 1e-8);
    }
}

#[test]
fn people_get_a_table() {
    let dir = Scratch::new("watchdog-table");
    let joint = dir.file("joint.json", &spec_joint(3, 6));
    let output = undertone(&[
        "watchdog",
        "--joint",
        &joint,
        "--lower",
        "0.5",
        "--upper",
        "0.3",
        "--method",
        "partition",
    ]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in ["low risk", "nmi", "from symbols", "2 4", "verified: alip:", "policy id: "] {
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
}

#[test]
fn bad_input_is_refused_with_the_flag_and_the_value() {
    let dir = Scratch::new("watchdog-bad");
    let joint = dir.file("joint.json", "[[0.25,0.25],[0.3,0.2]]");
    for (flags, code, expected) in [
        (vec!["--lower", "-1", "--upper", "1"], 2, "--lower is -1"),
        (vec!["--lower", "nan", "--upper", "1"], 2, "--lower is NaN"),
        (vec!["--lower", "1", "--upper", "inf"], 2, "--upper is inf"),
        (vec!["--lower", "1", "--upper", "30"], 2, "largest level"),
        (vec!["--lower", "1"], 2, "--upper"),
        (vec![], 2, "--lower"),
        (vec!["--ldp", "1", "--split", "2"], 2, "--split is 2"),
        (vec!["--ldp", "1", "--split", "half"], 2, "--split is half"),
        (vec!["--ldp", "1", "--lower", "1"], 2, "--lower"),
        (vec!["--lower", "1", "--upper", "1", "--method", "magic"], 2, "magic"),
    ] {
        let (found, said) = complaint(&[&["watchdog", "--joint", &joint], &flags[..]].concat());
        assert_eq!(found, code, "{flags:?}: {said}");
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
    for (content, expected) in [
        ("[[0.5,0.5],[0,0]]", "row 1"),
        ("[[0.5,0],[0.5,0]]", "one value only"),
        ("[[0.5,0.6]]", "sums to"),
        ("[[0.5,-0.1],[0.3,0.3]]", "negative"),
        ("[[0.5],[0.3,0.2]]", "entries"),
        ("nonsense", "expected"),
        ("[]", "empty"),
    ] {
        let bad = dir.file("bad.json", content);
        let (found, said) =
            complaint(&["watchdog", "--joint", &bad, "--lower", "1", "--upper", "1"]);
        assert_eq!(found, 1, "{content}: {said}");
        assert!(said.contains(expected), "{content}: {said}");
    }
    let (found, said) =
        complaint(&["watchdog", "--joint", "/nowhere.json", "--lower", "1", "--upper", "1"]);
    assert_eq!(found, 1);
    assert!(said.contains("/nowhere.json"));
}
