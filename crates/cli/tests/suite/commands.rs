//! The documented commands, their fields, their exit codes and their complaints.
use crate::common::{Scratch, close, complaint, is_unbounded, json, root, undertone};

const Q3: &str = "[[0.6,0.3,0.1],[0.2,0.5,0.3],[0.25,0.25,0.5]]";

#[test]
fn audit_prints_every_documented_field() {
    let dir = Scratch::new("audit");
    let (p, q) = (dir.file("p.json", "[0.5,0.3,0.2]"), dir.file("q.json", Q3));
    let (code, value) = json(&["audit", "--prior", &p, "--channel", &q, "--epsilon", "0.3"]);
    assert_eq!(code, 0);
    for (field, golden) in [
        ("ldp", 1.60943791243),
        ("lip", 0.875468737354),
        ("min_lift", 0.875468737354),
        ("mutual_information", 0.109687977019),
        ("maximal_leakage", 0.470003629246),
    ] {
        close(&value[field], golden);
    }
    close(&value["delta"]["conditional"], 0.176033886182);
    close(&value["delta"]["posterior"], 0.140028238485);
    close(&value["delta"]["joint_sets"], 0.0565155311666);
    for field in ["max_lift", "identifiability", "sibson", "arimoto"] {
        assert!(value[field].is_number(), "{field}");
    }
    assert!(value["delta"]["joint"].is_number());
}

#[test]
fn audit_reads_names_and_standard_input() {
    let dir = Scratch::new("stdin");
    let p = dir.file("p.json", r#"{"symbols":["a","b","c"],"p":[0.5,0.3,0.2]}"#);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["audit", "--prior", &p, "--channel", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), Q3.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    close(&value["ldp"], 1.60943791243);
}

#[test]
fn audit_of_a_secret_with_and_without_a_channel() {
    let dir = Scratch::new("secret");
    let joint = dir.file("j.json", "[[0.3,0.1,0.1],[0.1,0.2,0.2]]");
    let (_, bare) = json(&["audit", "--joint", &joint]);
    let identity = dir.file("i.json", "[[1,0,0],[0,1,0],[0,0,1]]");
    let (_, through) = json(&["audit", "--joint", &joint, "--channel", &identity]);
    assert_eq!(bare["lip"], through["lip"]);
    close(&bare["ldp"], 3f64.ln());
    let merged = dir.file("m.json", "[[1],[1],[1]]");
    let (_, nothing) = json(&["audit", "--joint", &joint, "--channel", &merged]);
    close(&nothing["lip"], 0.0);
}

#[test]
fn an_unbounded_leakage_is_null_and_listed() {
    let dir = Scratch::new("inf");
    let (p, q) = (dir.file("p.json", "[0.5,0.5]"), dir.file("q.json", "[[1,0],[0,1]]"));
    let (code, value) = json(&["audit", "--prior", &p, "--channel", &q]);
    assert_eq!((code, &value["ldp"]), (0, &serde_json::Value::Null));
    let unbounded = value["unbounded"].as_array().unwrap();
    assert!(unbounded.contains(&"/ldp".into()) && !unbounded.contains(&"/max_lift".into()));
}

#[test]
fn relate_gives_the_exact_supremum_with_a_witness() {
    let dir = Scratch::new("relate");
    let p = dir.file("p.json", "[0.9,0.1]");
    let (code, value) = json(&["relate", "--from", "lip:1", "--to", "ldp", "--prior", &p]);
    assert_eq!(code, 0);
    close(&value["epsilon"], 1.2118577304);
    assert_eq!(value["exact"], true);
    assert!(value["witness"].is_array());
    assert!(value["steps"][0]["rule"].is_string() && value["steps"][0]["paper"].is_string());
    close(&value["printed"]["gives"]["epsilon"], 2.0);
    // The witness really attains it, and really is 1-LIP.
    let witness = dir.file("w.json", &value["witness"].to_string());
    let (_, audit) = json(&["audit", "--prior", &p, "--channel", &witness]);
    assert!((audit["ldp"].as_f64().unwrap() - 1.2118577304).abs() < 1e-9);
    assert!(audit["lip"].as_f64().unwrap() <= 1.0 + 1e-9);
}

#[test]
fn relate_without_a_prior_and_without_an_implication() {
    let (_, value) = json(&["relate", "--from", "ldp:1.5", "--to", "lip", "--p-min", "0.2"]);
    close(&value["epsilon"], 1.33113868477);
    let (code, value) = json(&["relate", "--from", "mip:0.1", "--to", "lip"]);
    assert_eq!((code, &value["implies"]), (0, &serde_json::json!(false)));
    assert!(value["counterexample"]["words"].as_str().unwrap().len() > 10);
}

#[test]
fn relate_draws_the_map() {
    let dir = Scratch::new("map");
    let map = dir.path("map.svg");
    let (code, _) = json(&["relate", "--map", &map]);
    assert_eq!(code, 0);
    let svg = std::fs::read_to_string(&map).unwrap();
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"));
    for notion in ["ldp", "lip", "infdp", "ident", "alphalift"] {
        assert!(svg.contains(notion), "{notion}");
    }
}

#[test]
fn compose_prints_bound_and_exact() {
    let dir = Scratch::new("compose");
    let p = dir.file("p.json", "[0.25,0.25,0.25,0.25]");
    let (code, value) = json(&["compose", "--prior", &p, "--epsilons", "2,2"]);
    assert_eq!(code, 0);
    close(&value["bound"], 6.27131879433);
    close(&value["exact"], 5.17647885095);
    let channel = dir.file("q.json", "[[0.75,0.25],[0.25,0.75]]");
    let fair = dir.file("fair.json", "[0.5,0.5]");
    let (_, one) = json(&["compose", "--prior", &fair, "--channels", &channel]);
    let (_, two) = json(&["compose", "--prior", &fair, "--channels", &channel, &channel]);
    close(&one["ldp"], 3f64.ln());
    close(&two["ldp"], 2.0 * 3f64.ln());
    let chain = dir.file("t.json", "[[0.9,0.1],[0.2,0.8]]");
    let (_, markov) =
        json(&["compose", "--prior", &fair, "--markov", &chain, "--channels", &channel, &channel]);
    assert_eq!(markov["exact"], true);
    assert!(markov["sequence"].as_f64().unwrap() >= markov["each"][0].as_f64().unwrap());
    let joint = dir.file("j.json", "[[0.4,0.1],[0.1,0.4]]");
    let (_, pair) = json(&["compose", "--joint", &joint, "--epsilons", "1,1"]);
    assert!(pair["exact"].as_f64().unwrap() <= pair["bound"].as_f64().unwrap() + 1e-12);
}

#[test]
fn transfer_prints_its_four_answers() {
    let dir = Scratch::new("transfer");
    let (a, b) = (dir.file("a.json", "[0.3,0.3,0.4]"), dir.file("b.json", "[0.32,0.28,0.4]"));
    let (code, value) = json(&["transfer", "--from", &a, "--to", &b, "--epsilon", "1"]);
    assert_eq!(code, 0);
    close(&value["eta"], 0.068992871487);
    close(&value["prior_free"], 1.04814882001);
    close(&value["exact"], 1.04127760648);
    assert!(value["published"].is_number() && value["ratio"].is_number());
    let (_, value) = json(&["transfer", "--from", &a, "--samples", "200", "--epsilon", "1"]);
    assert!(value["estimated"]["radius"].is_number());
}

#[test]
fn every_vector_verifies_and_every_bad_one_does_not() {
    let dir = Scratch::new("vectors");
    let mut good = 0;
    let mut bad = 0;
    for entry in std::fs::read_dir(root().join("vectors/v1/policy")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let vector: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let document = match &vector["document"] {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Null => continue,
            other => other.to_string(),
        };
        let file = dir.file("policy.json", &document);
        let (code, value) = json(&["policy", "verify", &file]);
        if name.starts_with("bad_") {
            assert_eq!(code, 1, "{name}: {value}");
            bad += 1;
        } else {
            assert_eq!((code, &value["policy_id"]), (0, &vector["id"]), "{name}");
            let (code, _) = json(&["policy", "show", &file]);
            assert_eq!(code, 0, "{name}");
            let (code, audit) = json(&["audit", &file, "--epsilon", "0.5"]);
            assert_eq!((code, audit["ldp"].is_null()), (0, is_unbounded(&audit, "/ldp")), "{name}");
            good += 1;
        }
    }
    assert!(good > 10 && bad > 10, "{good} {bad}");
}

#[test]
fn a_false_claim_is_refused_with_its_cell() {
    let file = root().join("examples/false-claim.json");
    let (code, value) = json(&["policy", "verify", file.to_str().unwrap()]);
    assert_eq!((code, &value["verified"]), (1, &serde_json::json!(false)));
    assert_eq!((&value["refusal"]["output"], &value["refusal"]["high"]), (&1.into(), &1.into()));
    let leak: f64 = value["refusal"]["attained"]["nats"].as_str().unwrap().parse().unwrap();
    assert!((leak - 1.90047709789).abs() < 1e-8);
    let file = root().join("examples/rare-answer.json");
    let (code, value) = json(&["policy", "show", file.to_str().unwrap()]);
    assert_eq!(code, 0);
    for field in ["claims", "attained", "prior", "provenance"] {
        assert!(!value[field].is_null(), "{field}");
    }
}

#[test]
fn the_demo_estimates_what_it_cannot_see() {
    let (code, value) = json(&["demo", "--users", "2000", "--seed", "7", "--once"]);
    assert_eq!(code, 0);
    assert_eq!(value["users"], 2000);
    let truth = value["truth"].as_f64().unwrap();
    let (low, high) =
        (value["estimate"]["low"].as_f64().unwrap(), value["estimate"]["high"].as_f64().unwrap());
    assert!(low <= truth && truth <= high, "{value}");
    let refusal = value["printed_formula"]["refusal"].as_str().unwrap();
    assert!(refusal.contains(r#"output "yes", input "yes""#), "{refusal}");
    assert!(value["policy"]["attained"]["lip"].as_f64().unwrap() <= 1.0);
    let half = |name: &str| value["half_widths"][name].as_f64().unwrap();
    // LIP 1 with a prior lies between LDP 1 and LDP 2 in accuracy, as it does in protection.
    assert!(half("ldp_2") < half("policy") && half("policy") < half("ldp_1"), "{value}");
    // The same people and the same noise again.
    let (_, again) = json(&["demo", "--users", "2000", "--seed", "7", "--once"]);
    assert_eq!((&again["truth"], &again["estimate"]), (&value["truth"], &value["estimate"]));
}

#[test]
fn bad_input_gets_plain_words_and_no_panic() {
    let dir = Scratch::new("bad");
    let good = dir.file("p.json", "[0.5,0.5]");
    let q = dir.file("q.json", "[[0.75,0.25],[0.25,0.75]]");
    let bad = |name: &str, content: &str| dir.file(name, content);
    let cases: &[(&str, String, &str)] = &[
        ("--prior", bad("sum.json", "[0.5,0.4]"), "sums to 0.9"),
        ("--prior", bad("negative.json", "[1.5,-0.5]"), "prior[1] is -0.5"),
        ("--prior", bad("empty.json", "[]"), "empty"),
        ("--prior", bad("null.json", "[null, 1]"), "expected a prior"),
        ("--prior", bad("nan.json", "[NaN, 1]"), "expected a prior"),
        ("--prior", bad("huge.json", "[1e999, 0]"), "huge.json"),
        ("--prior", bad("three.json", "[0.5,0.3,0.2]"), "3"),
        (
            "--prior",
            bad("extra.json", r#"{"symbols":["a","b"],"p":[0.5,0.5],"x":1}"#),
            "extra.json",
        ),
        ("--prior", bad("names.json", r#"{"symbols":["a"],"p":[0.5,0.5]}"#), "symbols has 1"),
        ("--prior", dir.path("missing.json"), "cannot read"),
        ("--channel", bad("ragged.json", "[[0.5,0.5],[1]]"), "row 1 has 1"),
        ("--channel", bad("rows.json", "[[0.5,0.6],[0.5,0.5]]"), "row 0 sums to 1.1"),
    ];
    for (flag, file, said) in cases {
        let (prior, channel) = if *flag == "--prior" { (file, &q) } else { (&good, file) };
        let (code, words) = complaint(&["audit", "--prior", prior, "--channel", channel]);
        assert_eq!(code, 1, "{file}: {words}");
        assert!(words.contains(said), "{file}: {words}");
        let (code, value) = json(&["audit", "--prior", prior, "--channel", channel]);
        assert!(code == 1 && value["error"].is_string());
    }
    for args in [
        vec!["audit"],
        vec!["audit", "--prior", &good, "--channel", &q, "--epsilon", "NaN"],
        vec!["audit", "--prior", &good, "--channel", &q, "--epsilon", "-1"],
        vec!["audit", "--prior", &good, "--channel", &q, "--alpha", "0.5"],
        vec!["relate", "--from", "lip:-1", "--to", "ldp"],
        vec!["relate", "--from", "lip", "--to", "ldp"],
        vec!["relate", "--from", "lip:1", "--to", "privacy"],
        vec!["compose", "--prior", &good, "--epsilons", "1,x"],
        vec!["transfer", "--from", &good, "--to", &good, "--epsilon", "inf"],
        vec!["demo", "--users", "3"],
        vec!["nonsense"],
    ] {
        let (code, words) = complaint(&args);
        assert_eq!(code, 2, "{args:?}: {words}");
    }
}

#[test]
fn a_command_that_became_a_program_names_it() {
    let (code, words) = complaint(&["reproduce", "all", "--quick"]);
    assert!(code == 2 && words.contains("undertone-reproduce"), "{words}");
    let (code, words) = complaint(&["reproduces"]);
    assert!(code == 2 && !words.contains("undertone-reproduce"), "{words}");
}

#[test]
fn help_shows_an_example() {
    for command in [
        "demo",
        "serve",
        "store",
        "token",
        "audit",
        "relate",
        "compose",
        "transfer",
        "policy",
        "policy make",
        "design",
        "curve",
        "frontier",
        "watchdog",
        "perturb",
        "estimate",
        "compliance",
        "export",
        "release",
        "hitters",
        "hitters design",
        "hitters report",
        "hitters find",
        "plan",
        "plan design",
        "plan verify",
        "plan show",
        "plan size",
        "fusion",
        "fusion design",
        "fusion train",
        "fusion evaluate",
        "fusion sensor",
        "fusion center",
        "fusion demo",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let output = undertone(&words);
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("Example: undertone"),
            "{command}"
        );
    }
}
