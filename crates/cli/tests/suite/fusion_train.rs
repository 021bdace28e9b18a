//! `undertone fusion train`, and `evaluate` on samples: fields, files, complaints, and the two public data
//! sets where they are present.
use std::path::PathBuf;

use crate::common::{Scratch, complaint, is_unbounded, json, root, undertone};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// 600 rows in 60 sequences: `heat` tells fire, `lamp` tells home, `door` a little of both. The last
/// sequence repeats the first.
fn table() -> String {
    let mut text = String::from("who,heat,lamp,door,state,home\n");
    let mut random = 12_345u64;
    let mut coin = move || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut first = Vec::new();
    for who in 0..60 {
        let (fire, home) = (who % 2, who / 2 % 2);
        for row in 0..10 {
            let heat = 20.0 + 25.0 * f64::from(fire) + 30.0 * coin();
            let lamp = if (coin() < 0.85) == (home == 1) { "on" } else { "off" };
            let door = if coin() < 0.3 + 0.2 * f64::from(fire + home) { "open" } else { "shut" };
            let mut cells = format!("{heat:.2},{lamp},{door},");
            if who == 0 {
                first.push(cells.clone());
            } else if who == 59 {
                cells = first[row].clone();
            }
            let state = ["calm", "smoke", "flames"][if fire == 1 { 1 + row % 2 } else { 0 }];
            text += &format!("{who},{cells}{state},{}\n", ["no", "yes"][home as usize]);
        }
    }
    text
}

const LABELS: [&str; 6] =
    ["--public", "fire=state:smoke|flames", "--private", "home", "--sensors", "heat,lamp,door"];

#[test]
fn maps_are_learned_judged_shipped_and_judged_again() {
    let dir = Scratch::new("fusion-train");
    let file = dir.file("table.csv", &table());
    let (network, folder) = (dir.path("network.json"), dir.path("policies"));
    let (picture, held_out) = (dir.path("train.svg"), dir.path("held-out.csv"));
    let base = [&["fusion", "train", "--samples", &file][..], &LABELS].concat();
    let more = [
        "--levels",
        "6",
        "--ldp",
        "1.5",
        "--ratio",
        "0.999",
        "--seed",
        "3",
        "--sequence",
        "who",
        "-o",
        &network,
        "--policies",
        &folder,
        "--plot",
        &picture,
        "--save-held-out",
        &held_out,
        "--methods",
        "raw,epic,npo,e-ldp,dca,mdr,ruca:10",
    ];
    let (code, made) = json(&[&base[..], &more].concat());
    assert_eq!(code, 0, "{made}");
    assert_eq!(
        (&made["sequences_repeated"], made["sequences_held_out"].as_u64()),
        (&1.into(), Some(31))
    );
    let names: Vec<&str> =
        made["methods"].as_array().unwrap().iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["raw", "epic", "npo", "e-ldp", "dca", "mdr", "ruca:10"]);
    let method = |name: &str| {
        made["methods"].as_array().unwrap().iter().find(|m| m["method"] == name).unwrap()
    };
    let of = |name: &str, field: &str| number(&method(name)[field]);
    // Raw readings tell both; EPIC tells fire and hides home; E-LDP hides nothing on purpose.
    assert!(of("raw", "error_public") < 0.25 && of("raw", "error_private") < 0.25);
    assert!(of("epic", "error_public") < 0.42, "{}", of("epic", "error_public"));
    assert!(of("epic", "attacker_private") > of("raw", "attacker_private") + 0.1);
    assert!(of("epic", "averaged") < of("e-ldp", "averaged"));
    assert!(of("epic", "ldp") <= 1.5 && of("e-ldp", "ldp") <= 1.5 && of("npo", "ldp") > 1.5);
    assert!(is_unbounded(&made, "/methods/4/ldp"));
    let bound = &method("epic")["leakage_ucb"];
    assert_eq!((bound["units"].as_u64(), bound["confidence"].as_f64()), (Some(31), Some(0.95)));
    let rows = &method("epic")["leakage_ucb_if_rows_independent"];
    assert_eq!(rows["units"].as_u64(), Some(310));
    assert!(number(&bound["nats"]) >= number(&rows["nats"]));
    assert!(number(&bound["nats"]) <= 4.5 && number(&rows["nats"]) >= of("epic", "averaged"));
    let threshold = &method("epic")["threshold"];
    assert!(number(&threshold["kept"]) <= number(&threshold["most"]));
    // Anyone can verify what ships.
    for file in ["sensor-0-heat.json", "sensor-1-lamp.json", "sensor-2-door.json"] {
        let (code, verdict) = json(&["policy", "verify", &format!("{folder}/{file}")]);
        assert_eq!(code, 0, "{verdict}");
    }
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("ruca:10") && svg.contains("H: trees"));

    // The network that was written, judged by the rows that were held out.
    let (code, seen) = json(&["fusion", "evaluate", &network]);
    assert_eq!((code, &seen["certified"]), (0, &true.into()), "{seen}");
    let again = [
        "fusion",
        "evaluate",
        &network,
        "--samples",
        &held_out,
        "--public",
        "fire",
        "--private",
        "home",
        "--sensors",
        "heat,lamp,door",
        "--sequence",
        "sequence",
        "--plot",
        &picture,
    ];
    let (code, seen) = json(&again);
    assert_eq!(code, 0, "{seen}");
    let judged = &seen["held_out"];
    assert_eq!(judged["samples"], 310);
    assert_eq!(judged["leakage_ucb"]["units"], 31);
    assert!((number(&judged["averaged"]) - of("epic", "averaged")).abs() < 1e-9);
    assert!(number(&judged["rule_error_public"]) < 0.45);
    assert!(number(&judged["attacker_private"]) > 0.3);
    let text = String::from_utf8(undertone(&again).stdout).unwrap();
    for word in ["guarantee", "G, trees", "if they had no part"] {
        assert!(text.contains(word), "{text}");
    }
    assert!(std::fs::read_to_string(&picture).unwrap().contains("the centre"));
    let text = String::from_utf8(undertone(&[&base[..], &more].concat()).stdout).unwrap();
    for word in ["guarantee", "1 repeated sequences left out", "policies verified", "err G"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn a_seed_repeats_everything() {
    let dir = Scratch::new("fusion-train-seed");
    let file = dir.file("table.csv", &table());
    let base =
        [&["fusion", "train", "--samples", &file, "--methods", "epic"][..], &LABELS].concat();
    let run = |more: &[&str]| json(&[&base[..], more].concat()).1;
    assert_eq!(run(&["--seed", "5"]), run(&["--seed", "5"]));
    assert_ne!(run(&["--seed", "5"])["methods"], run(&["--seed", "6"])["methods"]);
    // A time limit of next to nothing still ends with maps within the budget.
    let quick = run(&["--seed", "5", "--time-limit", "0.001"]);
    assert!(number(&quick["methods"][0]["ldp"]) <= 1.0);
    // Lags, one sensor per name, a vector of private labels.
    let lagged = run(&["--sequence", "who", "--lags", "0,2", "--keep", "4"]);
    let sensors = lagged["sensors"].as_array().unwrap();
    assert!(sensors.len() == 4 && sensors.iter().any(|s| s == "heat@2"), "{sensors:?}");
    let bits = run(&["--one-hot"]);
    assert!(bits["sensors"].as_array().unwrap().iter().any(|sensor| sensor == "lamp=on"));
    let mut vector = base.clone();
    vector[9] = "home,fire2=state:flames";
    let (code, made) = json(&vector);
    assert_eq!(code, 0, "{made}");
    assert_eq!(made["private"].as_array().unwrap().len(), 4, "{made}");
}

#[test]
fn bad_samples_are_refused_in_words() {
    let dir = Scratch::new("fusion-train-bad");
    let refused = |content: String, more: &[&str], expected: i32, word: &str| {
        let file = dir.file("bad.csv", &content);
        let mut args = [&["fusion", "train", "--samples", &file][..], &LABELS].concat();
        if more.first() == Some(&"--public") {
            args[5] = more[1];
        } else {
            args.extend(more);
        }
        if !args.contains(&"--methods") {
            args.extend(["--methods", "epic"]);
        }
        let (code, said) = complaint(&args);
        assert_eq!(code, expected, "{more:?}: {said}");
        assert!(said.contains(word), "{more:?}: {said}");
    };
    refused(
        table().replace("smoke", "calm").replace("flames", "calm"),
        &[],
        1,
        "every sample has the label \"no\"",
    );
    refused(table().replace("lamp", "lamb"), &[], 1, "no column \"lamp\"");
    refused(table().replacen(",on,", ",,", 1), &[], 1, "column \"lamp\" is empty");
    refused("who,heat,lamp,door,state,home\n".into(), &[], 1, "no sample is to learn from");
    refused(table(), &["--ldp", "0"], 2, "--ldp is 0: give a number of nats above 0");
    refused(table(), &["--methods", "svm"], 2, "not one of epic");
    refused(table(), &["--hold-out", "1"], 2, "--hold-out is 1: give a number");
    refused(table(), &["--confidence", "1"], 2, "--confidence is 1: give a number");
    refused(table(), &["--lags", "1"], 2, "--sequence");
    refused(table(), &["--sequence", "who", "--lags", "50"], 1, "more than 50 rows");
    refused(table(), &["--time-limit", "0"], 2, "seconds above 0");
    refused(table(), &["--methods", "raw", "-o", "x.json"], 2, "raw readings hide nothing");
    let why = "comparators and cannot be shipped";
    refused(table(), &["--methods", "dca,raw", "-o", "x.json"], 2, why);
    refused(table(), &["--methods", "ruca:10", "--policies", "x"], 2, "no LDP level holds");
    refused(table(), &["--kernel", "gaussian"], 2, "is not one of count, pairs");
    refused(table(), &["--loss", "square"], 2, "is not one of logistic, exponential, hinge");
    refused(table(), &["--public", "state:a(b;c)"], 2, "not a list of cells");
    let (code, said) = complaint(&["fusion", "train"]);
    assert!(code == 2 && said.contains("--samples"), "{said}");

    // A network refuses rows of another shape.
    let file = dir.file("table.csv", &table());
    let network = dir.path("network.json");
    let base = ["fusion", "train", "--samples", &file, "--methods", "e-ldp", "-o", &network];
    let (code, _) = json(&[&base[..], &LABELS].concat());
    assert_eq!(code, 0);
    // What a cell says is not repeated.
    let judged = |was: &str, odd: &str, word: &str| {
        let file = dir.file("other.csv", &table().replace(was, &format!(",{odd}")));
        let base = ["fusion", "evaluate", &network, "--samples", &file];
        let (code, said) = complaint(&[&base[..], &LABELS].concat());
        assert!(code == 1 && said.contains(word) && !said.contains(odd), "{said}");
    };
    judged(",on", "dim", "sensor lamp: reading: it was not seen");
    judged(",yes", "maybe", "the cell is not one of its labels");
    let base = ["fusion", "evaluate", &network, "--samples", &file];
    let mut fewer = LABELS;
    fewer[5] = "heat,lamp";
    let (code, said) = complaint(&[&base[..], &fewer].concat());
    assert!(code == 1 && said.contains("sensor \"door\" is missing"), "{said}");
}

/// The file, or a line that says it is absent.
fn data(name: &str) -> Option<String> {
    let path: PathBuf = root().join("../shared/data").join(name);
    if path.is_file() {
        return Some(path.to_str().unwrap().to_owned());
    }
    println!("skipped: no ../shared/data/{name}");
    None
}

#[test]
fn body_sensors_tell_posture_and_not_motion() {
    let Some(file) = data("arem/arem.csv.gz") else { return };
    let (code, made) = json(&[
        "fusion",
        "train",
        "--samples",
        &file,
        "--public",
        "upright=activity:standing|walking",
        "--private",
        "moving=activity:walking|cycling|bending1|bending2",
        "--sensors",
        "avg_rss12,var_rss12,avg_rss13,var_rss13,avg_rss23,var_rss23",
        "--sequence",
        "activity,sequence",
        "--lags",
        "0,1,2",
        "--keep",
        "15",
        "--levels",
        "10",
        "--train",
        "80",
        "--test",
        "1500",
        "--methods",
        "raw,epic,e-ldp",
        "--restarts",
        "1",
        "--seed",
        "1",
    ]);
    assert_eq!(code, 0, "{made}");
    assert_eq!(
        (&made["sequences_repeated"], made["sensors"].as_array().unwrap().len()),
        (&6.into(), 15)
    );
    assert_eq!((&made["train"], &made["test"]), (&80.into(), &1500.into()));
    let method = |at: usize, field: &str| number(&made["methods"][at][field]);
    assert!(method(1, "ldp") <= 1.0 && method(2, "ldp") <= 1.0);
    // Movement shows plainly in the readings; EPIC leaves less of it than E-LDP.
    assert!(method(0, "attacker_private") < 0.2);
    assert!(method(1, "attacker_private") > method(0, "attacker_private"));
    assert!(method(1, "averaged") < method(2, "averaged"));
    // 15 sensors at 1 nat with two dozen recordings: the guarantee is little more than LDP's own.
    assert!(number(&made["methods"][1]["leakage_ucb"]["nats"]) <= 15.0);
}

#[test]
fn census_features_as_sensors_and_as_bits() {
    let Some(file) = data("adult/adult.data.gz") else { return };
    let run = |more: &[&str]| {
        let base = [
            "fusion",
            "train",
            "--samples",
            &file,
            "--no-header",
            "--public",
            "income=15:>50K",
            "--private",
            "marital=6:married(Married-civ-spouse|Married-spouse-absent|Married-AF-spouse);formerly(Separated|Divorced|Widowed);never(Never-married)",
            "--sensors",
            "age=1,workclass=2,education=5,race=9,sex=10",
            "--levels",
            "5",
            "--train",
            "120",
            "--balance",
            "--restarts",
            "1",
        ];
        let (code, made) = json(&[&base[..], more].concat());
        assert_eq!(code, 0, "{made}");
        made
    };
    let features = run(&["--methods", "epic", "--test", "3000"]);
    assert_eq!(features["readings"], serde_json::json!([5, 9, 5, 5, 2]));
    assert_eq!(features["private"], serde_json::json!(["formerly", "married", "never"]));
    let epic = &features["methods"][0];
    assert!(number(&epic["ldp"]) <= 1.0 && number(&epic["error_public"]) < 0.5);
    assert!(number(&epic["leakage_ucb"]["nats"]) <= 5.0);
    // One-hot: 18 sensors, of which two move together when a feature changes.
    let bits = run(&["--one-hot", "--methods", "e-ldp", "--test", "600"]);
    assert_eq!(bits["sensors"].as_array().unwrap().len(), 18);
    assert!(number(&bits["methods"][0]["ldp"]) <= 1.0);
    let levels = bits["methods"][0]["ldp_features"].as_object().unwrap();
    assert_eq!(levels.keys().collect::<Vec<_>>(), ["race", "sex", "workclass"]);
    assert!(levels.values().all(|level| number(level) <= 2.0 + 1e-9));
    let doubled = levels.values().filter(|level| number(level) > 1.9).count();
    assert!(doubled > 0, "no feature costs twice what a sensor does: {levels:?}");
}
