//! `undertone fusion epochs` and `fusion crowd`: fields, files and complaints.

use crate::common::{Scratch, complaint, json, root, undertone};

fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

#[test]
fn a_budget_of_the_path_is_certified_shipped_and_read_again() {
    let dir = Scratch::new("fusion-time");
    let model = example("fusion-moving.json");
    let (network, kept) = (dir.path("network.json"), dir.path("moving.json"));
    let budgets = ["--information", "0.3", "--ldp", "2", "--restarts", "2"];
    let words = [&["fusion", "design", "--model", &model, "-o", &network][..], &budgets].concat();
    assert_eq!(json(&words).0, 0);
    let ask = ["fusion", "epochs", &network, "--model", &model, "--epochs", "6", "--paths", "100"];
    let (code, open) = json(&ask);
    assert_eq!(code, 0, "{open}");
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let lines = open["horizons"].as_array().unwrap();
    let counts: Vec<u64> = lines.iter().map(|line| line["epochs"].as_u64().unwrap()).collect();
    assert_eq!(counts, [1, 2, 5, 6]);
    // Independent epochs would tell less, a constant value more than a drifting one.
    let last = &lines[3];
    assert!(number(&last["alone"]) < number(&last["any"]["information"]));
    assert!(number(&last["any"]["information"]) < number(&last["constant"]));
    assert_eq!(open["mixed"], false);
    let budget = ["--secret", "ever:yes", "--budget", "0.2", "-o", &kept];
    let (code, closed) = json(&[&ask[..], &budget].concat());
    assert_eq!((code, &closed["mixed"]), (0, &true.into()));
    assert!(number(&closed["information"]) <= 0.2 && number(&closed["at_least"]) > 0.0);
    let (code, seen) = json(&["fusion", "evaluate", &kept]);
    assert_eq!((code, &seen["bundle_id"]), (0, &closed["bundle_id"]));
    let said = undertone(&[&ask[..], &budget[..4]].concat());
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("ever:yes") && said.contains("remembers"), "{said}");
}

#[test]
fn what_cannot_be_followed_is_refused_by_name() {
    let dir = Scratch::new("fusion-time-bad");
    let (moving, still) = (example("fusion-moving.json"), dir.path("still.json"));
    let text = std::fs::read_to_string(&moving).unwrap();
    let without = text.lines().filter(|line| !line.contains("transition"));
    let without = without.collect::<Vec<_>>().join("\n").replace("  ],\n}", "  ]\n}");
    std::fs::write(&still, &without).unwrap();
    let network = dir.path("network.json");
    let words =
        ["fusion", "design", "--model", &moving, "--ldp", "1", "--restarts", "1", "-o", &network];
    assert_eq!(json(&words).0, 0);
    let refused = |model: &str, more: &[&str]| {
        let ask = ["fusion", "epochs", &network, "--model", model, "--epochs", "3"];
        complaint(&[&ask[..], more].concat()).1
    };
    assert!(refused(&still, &[]).contains("has no `transition`"));
    assert!(refused(&moving, &["--secret", "ever:maybe"]).contains("maybe"));
    assert!(refused(&moving, &["--secret", "never"]).contains("give now, any"));
    assert!(refused(&moving, &["--secret", "ever"]).contains("--secret is \"ever\""));
    let silent = refused(&moving, &["--budget", "0", "--secret", "path"]);
    for words in ["--budget of 0 nats for `path`", "silence"] {
        assert!(silent.contains(words), "{silent}");
    }
    assert!(refused(&moving, &["-o", &network]).contains("would be lost"));
    let other = dir.file(
        "other.json",
        &text.replace("[[0.3, 0.2], [0.2, 0.3]]", "[[0.25, 0.25], [0.25, 0.25]]"),
    );
    assert!(refused(&other, &[]).contains("designed for"));
}

#[test]
fn a_demonstration_says_when_its_draws_are_too_few() {
    let dir = Scratch::new("fusion-time-demo");
    let (model, network) = (example("fusion-moving.json"), dir.path("network.json"));
    let moving = dir.path("moving.json");
    let words =
        ["fusion", "design", "--model", &model, "--ldp", "2", "--restarts", "1", "-o", &network];
    assert_eq!(json(&words).0, 0);
    let ask = ["fusion", "epochs", &network, "--model", &model, "--epochs", "5", "-o", &moving];
    assert_eq!(json(&ask).0, 0);
    let demo = ["fusion", "demo", "--bundle", &moving, "--broker", "builtin", "--epochs"];
    let (code, few) = json(&[&demo[..], &["10"]].concat());
    assert_eq!((code, &few["moving"], &few["secrets"]), (0, &true.into(), &2.into()));
    assert!(few["error_public_spread"].is_null() && few["error_private_spread"].is_null());
    assert!(few["bayes_error_spread"].as_f64().unwrap() < 0.02, "{few}");
    let said = undertone(&[&demo[..], &["10", "--once"]].concat());
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("too few draws: 2 paths"), "{said}");
    let (_, more) = json(&[&demo[..], &["50"]].concat());
    assert!(more["error_public_spread"].as_f64().unwrap() > 0.0, "{more}");
}

#[test]
fn fifty_sensors_are_designed_in_a_moment_and_judged() {
    let dir = Scratch::new("fusion-crowd");
    let (model, network) = (example("fusion-crowd.json"), dir.path("crowd.json"));
    let words = [
        "fusion",
        "crowd",
        "--model",
        &model,
        "--information",
        "0.5",
        "--ldp",
        "1",
        "-o",
        &network,
    ];
    let (code, report) = json(&[&words[..], &["--restarts", "4"]].concat());
    assert_eq!(code, 0, "{report}");
    assert_eq!((&report["exact"], report["sensors"].as_array().unwrap().len()), (&true.into(), 50));
    assert!(report["information"].as_f64().unwrap() <= 0.5);
    assert!(report["error_public"].as_f64().unwrap() < 0.4);
    let (_, seen) = json(&["fusion", "evaluate", &network]);
    // The model of the file is in integers.
    let error = |of: &serde_json::Value| of["error_public"].as_f64().unwrap();
    assert!((error(&seen) - error(&report)).abs() < 1e-12, "{seen} {report}");
    assert!(complaint(&["fusion", "crowd", "--model", &model]).1.contains("--information"));
    // What is too large for one command is named to the other.
    let large = complaint(&[&["fusion", "design"], &words[2..6]].concat()).1;
    assert!(
        large.contains("give many sensors of few kinds to `undertone fusion crowd`"),
        "{large}"
    );
    let text = std::fs::read_to_string(&model).unwrap().replace("\"count\": 30", "\"count\": 300");
    let crowded = dir.file("crowded.json", &text);
    let many = complaint(&["fusion", "crowd", "--model", &crowded, "--information", "0.5"]).1;
    assert!(many.contains("--model: 320 sensors; at most 256: lower `count`"), "{many}");
    let help = undertone(&["fusion", "crowd", "--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("\"count\": 30") && help.contains("no --objective"), "{help}");
    assert!(help.find("--restarts") < help.find("--samples"), "{help}");
}
