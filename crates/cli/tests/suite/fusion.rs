//! `undertone fusion design` and `evaluate`: their fields, files, exit codes and complaints.
use crate::common::{Scratch, complaint, is_unbounded, json, root, undertone};
use serde_json::{Value, json};

fn example(name: &str) -> String {
    root().join("examples").join(name).to_str().unwrap().to_owned()
}

/// A network of two sensors with three readings each.
fn small() -> Value {
    let given = json!([[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]]]);
    json!({
        "hypotheses": [[0.3, 0.2], [0.2, 0.3]],
        "sensors": [{"given": given}, {"name": "second", "given": given}]
    })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Two unlike sensors, listed in this order, with their readings in that order.
fn listed(sensors: [usize; 2], readings: [usize; 3]) -> Value {
    let names: Vec<&str> = readings.iter().map(|&x| ["low", "middle", "high"][x]).collect();
    let law = |row: [f64; 3]| readings.iter().map(|&x| row[x]).collect::<Vec<f64>>();
    let sensor = |t: usize| {
        let edge = [0.7, 0.5][t];
        let given =
            [[[edge, 0.2, 0.8 - edge], [0.5, 0.3, 0.2]], [[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]]];
        let given = given.map(|public| public.map(law));
        json!({"name": (["door", "window"][t]), "readings": names, "given": given})
    };
    json!({"hypotheses": [[0.3, 0.2], [0.2, 0.3]], "sensors": sensors.map(sensor)})
}

/// A network is judged under another model sensor by sensor and reading by reading, whatever their order.
#[test]
fn a_foreign_model_is_matched_by_name() {
    let dir = Scratch::new("fusion-names");
    let model = dir.file("model.json", &listed([0, 1], [0, 1, 2]).to_string());
    let network = dir.path("network.json");
    let words = ["--information", "0.1", "--ldp", "1", "--restarts", "5", "-o", &network];
    let (code, _) = json(&[&["fusion", "design", "--model", &model], &words[..]].concat());
    assert_eq!(code, 0);
    let judge = |model: &str| json(&["fusion", "evaluate", &network, "--model", model]).1;
    let expected = judge(&model);
    for (at, (sensors, readings)) in
        [([0, 1], [2, 0, 1]), ([1, 0], [0, 1, 2]), ([1, 0], [2, 1, 0])].into_iter().enumerate()
    {
        let turned = dir.file(&format!("{at}.json"), &listed(sensors, readings).to_string());
        let found = judge(&turned);
        for field in ["information", "error_public", "error_private"] {
            let (found, expected) = (number(&found[field]), number(&expected[field]));
            assert!((found - expected).abs() < 1e-9, "{field}: {found} against {expected}");
        }
    }
    for (name, other, said) in [
        ("sensor", ("window", "roof"), "door, window"),
        ("reading", ("middle", "mean"), r#""low", "middle", "high""#),
    ] {
        let text = listed([0, 1], [0, 1, 2]).to_string().replace(other.0, other.1);
        let file = dir.file(&format!("{name}.json"), &text);
        let (code, words) = complaint(&["fusion", "evaluate", &network, "--model", &file]);
        assert_eq!(code, 1, "{words}");
        assert!(words.contains(said) && words.contains(other.1), "{words}");
    }
}

/// A network of the example in which somebody falls in one epoch of twenty.
fn falls(more: &[&str]) -> Value {
    let model = example("fusion-fall.json");
    let usual = ["fusion", "design", "--model", &model, "--information", "0.1", "--ldp", "1"];
    let restarts: &[&str] = if more.contains(&"--restarts") { &[] } else { &["--restarts", "8"] };
    let (code, made) = json(&[&usual[..], restarts, more].concat());
    assert_eq!(code, 0, "{made}");
    made
}

#[test]
fn a_rare_event_is_not_designed_away() {
    let dir = Scratch::new("fusion-rare");
    let network = dir.path("network.json");
    // Asked for the error, every decision is "no fall": said loudly, and still what was asked.
    let plain = falls(&["--objective", "error"]);
    assert!((number(&plain["error_public"]) - 0.05).abs() < 1e-9);
    assert_eq!(plain["rule"]["blind"], true);
    assert_eq!(plain["warnings"].as_array().unwrap().len(), 1, "{plain}");
    assert!((number(&plain["error_public_lower"]) - 0.05).abs() < 1e-6, "no maps do better");
    // By default a mistake about a fall costs as many times more as falls are rarer.
    let usual = falls(&["-o", &network]);
    assert_eq!(usual["objective"]["name"], "balanced");
    assert!(usual["warnings"].as_array().unwrap().is_empty());
    let value = number(&usual["objective"]["value"]);
    assert!(value < 0.45 && value >= number(&usual["objective"]["limit"]), "{usual}");
    assert!((number(&usual["objective"]["blind"]) - 0.5).abs() < 1e-12);
    // Half of the false alarms and of the misses is what the balanced error is.
    let rule = &usual["rule"];
    let half = (number(&rule["false_alarm"]) + 1.0 - number(&rule["detection"])) / 2.0;
    assert!((half - value).abs() < 1e-9);
    // The rule ships: whoever reads the file judges, and decides, by it.
    let (code, seen) = json(&["fusion", "evaluate", &network]);
    assert_eq!((code, &seen["objective"]), (0, &json!("balanced")));
    assert_eq!(seen["rule"], usual["rule"]);
    // An objective changed in the file is noticed.
    let changed = std::fs::read_to_string(&network).unwrap().replace("balanced", "information");
    let changed = dir.file("changed.json", &changed);
    let (code, words) = complaint(&["fusion", "evaluate", &changed]);
    assert!(code == 1 && words.contains("id"), "{words}");
    let model = example("fusion-fall.json");
    let asked = ["fusion", "design", "--model", &model, "--ldp", "1", "--restarts", "1"];
    let said = undertone(&[&asked[..], &["--information", "0.1", "--objective", "error"]].concat());
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("WARNING: "));
}

#[test]
fn every_objective_ships_its_rule() {
    let dir = Scratch::new("fusion-objectives");
    let network = dir.path("network.json");
    let balanced = falls(&["--objective", "balanced"]);
    let told = falls(&["--objective", "information"]);
    assert!(number(&told["information_public"]) >= number(&balanced["information_public"]) - 1e-6);
    assert!(number(&told["information_public"]) <= number(&told["information_public_upper"]));
    let tested = falls(&["--objective", "detection:0.1", "-o", &network]);
    assert!((number(&tested["rule"]["false_alarm"]) - 0.1).abs() < 1e-6, "{tested}");
    let detected = number(&tested["rule"]["detection"]);
    assert!(detected > 0.15 && detected <= number(&tested["objective"]["limit"]), "{tested}");
    assert!((detected - number(&tested["objective"]["value"])).abs() < 1e-9);
    // Costs of the balanced error, by hand, are the balanced error.
    let costs = dir.file("costs.json", "[[0, 10], [0.5263157894736842, 0]]");
    let priced = falls(&["--objective", &format!("cost:{costs}")]);
    assert!(
        (number(&priced["objective"]["value"]) - number(&balanced["objective"]["value"])).abs()
            < 1e-3
    );
    // From a network that is better than what so few starts find, the result is no worse.
    let again = falls(&["--objective", "detection:0.1", "--restarts", "1", "--begin", &network]);
    assert!(number(&again["rule"]["detection"]) >= detected - 1e-6);
    let model = example("fusion-fall.json");
    let asked = ["fusion", "design", "--model", &model, "--ldp", "1"];
    for (objective, said) in [
        ("detection:1.5", "above 0 and below 1"),
        ("detection", "is unknown"),
        ("speed", "use error, balanced"),
    ] {
        let (code, words) = complaint(&[&asked[..], &["--objective", objective]].concat());
        assert!(code == 2 && words.contains(said), "{words}");
    }
    let three = dir.file("three.json", "[[0,1,1],[1,0,1],[1,1,0]]");
    let priced = format!("cost:{three}");
    let (code, words) = complaint(&[&asked[..], &["--objective", &priced]].concat());
    assert!(code != 0 && words.contains("3 rows"), "{words}");
}

#[test]
fn a_design_meets_its_budgets_and_its_file_says_so() {
    let dir = Scratch::new("fusion-design");
    let model = dir.file("model.json", &small().to_string());
    let network = dir.path("network.json");
    let folder = dir.path("policies");
    let (code, made) = json(&[
        "fusion",
        "design",
        "--model",
        &model,
        "--information",
        "0.1",
        "--ldp",
        "1",
        "--restarts",
        "20",
        "-o",
        &network,
        "--policies",
        &folder,
    ]);
    assert_eq!(code, 0, "{made}");
    let information = number(&made["information"]);
    assert!(information <= 0.1 + 1e-12 && information > 0.0999, "{information}");
    let ldp = made["ldp"].as_array().unwrap();
    assert!(ldp.len() == 2 && ldp.iter().all(|nats| number(nats) <= 1.0 + 1e-12));
    assert!(number(&made["error_public"]) < number(&made["blind_public"]));
    assert!(number(&made["error_private"]) <= number(&made["blind_private"]) + 1e-12);
    assert_eq!(made["policies"].as_array().unwrap().len(), 2);
    let epochs: Vec<u64> = made["epochs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["epochs"].as_u64().unwrap())
        .collect();
    assert_eq!(epochs, vec![1, 10, 100]);
    // The parts of the search are never better than the whole.
    for part in made["attempts"].as_array().unwrap() {
        assert!(number(&part["loss"]) >= number(&made["found"]) - 1e-12, "{part}");
    }

    // The error is what it is for, and no maps can be better than the bound.
    assert_eq!(made["objective"]["name"], "error");
    let lower = number(&made["error_public_lower"]);
    assert!(lower > 0.0 && lower <= number(&made["error_public"]), "{lower}");
    assert!(number(&made["information_public"]) <= number(&made["information_public_upper"]));
    assert!(made["warnings"].as_array().unwrap().is_empty());
    assert!((number(&made["rule"]["error"]) - number(&made["error_public"])).abs() < 1e-9);

    let (code, seen) = json(&["fusion", "evaluate", &network]);
    assert_eq!(code, 0);
    for field in ["information", "error_private", "bundle_id", "policies", "ldp", "epochs"] {
        if field == "error_private" {
            assert!((number(&seen[field]) - number(&made[field])).abs() < 1e-9);
        } else {
            assert_eq!(seen[field], made[field], "{field}");
        }
    }
    assert_eq!(seen["certified"], true);
    // Each policy is one that anyone can verify.
    for file in ["sensor-0-0.json", "sensor-1-second.json"] {
        let (code, verdict) = json(&["policy", "verify", &format!("{folder}/{file}")]);
        assert_eq!(code, 0, "{verdict}");
    }
    // Under another law the same maps leak another amount, and nothing is certified.
    let (_, other) = json(&["fusion", "evaluate", &network, "--model", &model]);
    assert_eq!(other["certified"], false);
    assert!((number(&other["information"]) - information).abs() < 1e-6);
    // The maps alone can be evaluated too.
    let maps = dir.file("maps.json", &made["maps"].to_string());
    let (code, alone) = json(&["fusion", "evaluate", "--maps", &maps, "--model", &model]);
    assert_eq!(code, 0);
    assert!((number(&alone["error_public"]) - number(&made["error_public"])).abs() < 1e-12);

    let text = String::from_utf8(undertone(&["fusion", "evaluate", &network]).stdout).unwrap();
    for word in ["error_public", "whatever repeats", "second", "network id"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn every_method_keeps_what_it_promises() {
    let dir = Scratch::new("fusion-methods");
    let model = dir.file("model.json", &small().to_string());
    let base = ["fusion", "design", "--model", &model, "--restarts", "6"];
    let mut errors = std::collections::BTreeMap::new();
    for method in ["joint", "ill", "ill-half", "ill-eta", "lip", "paper-theta"] {
        let budgets = ["--information", "0.1", "--ldp", "1", "--method", method];
        let (code, made) = json(&[&base[..], &budgets[..]].concat());
        assert_eq!(code, 0, "{method}: {made}");
        assert!(number(&made["information"]) <= 0.1 + 1e-12, "{method}");
        errors.insert(method, number(&made["error_public"]));
        assert_eq!(made["theta"].is_null(), method != "paper-theta");
        if method == "paper-theta" {
            assert!(number(&made["theta"]["factor"]) > 1.0);
        }
    }
    assert!(errors.values().all(|error| errors["joint"] <= error + 1e-7), "{errors:?}");
    let (_, data) = json(&[&base[..], &["--ldp", "1", "--method", "ldp"]].concat());
    assert!(number(&data["information"]) > 0.1 && is_unbounded(&data, "/requested/information"));
    assert!(number(&data["error_public"]) < errors["joint"]);
    let (_, hidden) = json(&[&base[..], &["--information", "0.1", "--method", "infp"]].concat());
    assert!(number(&hidden["error_public"]) <= errors["joint"] + 1e-9);
    // Without an LDP budget the weakest level there is is still a level.
    assert!(hidden["ldp"].as_array().unwrap().iter().all(|nats| number(nats) < 22.2));
}

#[test]
fn many_epochs_share_one_budget() {
    let dir = Scratch::new("fusion-epochs");
    let model = dir.file("model.json", &small().to_string());
    let (code, made) = json(&[
        "fusion",
        "design",
        "--model",
        &model,
        "--information",
        "0.5",
        "--ldp",
        "1",
        "--epochs",
        "20",
        "--restarts",
        "6",
    ]);
    assert_eq!(code, 0);
    let lines = made["epochs"].as_array().unwrap();
    let after = |epochs: u64| {
        let line = lines.iter().find(|line| line["epochs"] == epochs).unwrap();
        number(&line["information"])
    };
    assert!(after(20) <= 0.5 + 1e-12 && after(20) > 0.4999);
    assert!(after(1) < 0.04 && after(100) > 2.0, "{lines:?}");
    assert_eq!(made["information"], lines[2]["information"]);
}

#[test]
fn the_examples_work() {
    for (name, outputs) in [("fusion-pipe.json", "2,3"), ("fusion-people.json", "2")] {
        let (code, made) = json(&[
            "fusion",
            "design",
            "--model",
            &example(name),
            "--information",
            "0.2",
            "--ldp",
            "2",
            "--outputs",
            outputs,
            "--restarts",
            "6",
        ]);
        assert_eq!(code, 0, "{made}");
        assert!(number(&made["information"]) <= 0.2 + 1e-12);
        assert!(number(&made["error_public"]) < number(&made["blind_public"]));
    }
    let (code, made) = json(&[
        "fusion",
        "design",
        "--model",
        &example("fusion-ga.json"),
        "--information",
        "0.18",
        "--ldp",
        "1",
        "--restarts",
        "8",
    ]);
    assert_eq!(code, 0);
    assert!(number(&made["error_public"]) < 0.3464 + 0.003);
    assert_eq!(made["sensors"][5], "room 6");
}

/// 200 samples: `heat` tells the public label, `lamp` the private one.
fn samples() -> String {
    let mut text = String::from("heat,lamp,noise,fire,home\n");
    for i in 0..200u32 {
        let (fire, home) = (i % 2, i / 2 % 2);
        let heat = 20.0 + 30.0 * f64::from(fire) + f64::from(i * 7919 % 23);
        let lamp = if (i * 31 % 10 < 8) == (home == 1) { "on" } else { "off" };
        text +=
            &format!("{heat},{lamp},{},{fire},{}\n", i * 104_729 % 5, ["no", "yes"][home as usize]);
    }
    text
}

#[test]
fn samples_take_the_place_of_a_model() {
    let dir = Scratch::new("fusion-samples");
    let file = dir.file("samples.csv", &samples());
    let network = dir.path("network.json");
    let table = [
        "fusion",
        "design",
        "--samples",
        &file,
        "--public",
        "fire",
        "--private",
        "home",
        "--sensors",
        "heat,lamp,noise",
        "--levels",
        "6",
        "--keep",
        "2",
        "--restarts",
        "6",
    ];
    let (code, made) =
        json(&[&table[..], &["--information", "0.3", "--ldp", "3", "-o", &network]].concat());
    assert_eq!(code, 0, "{made}");
    assert!(made["sensors"].as_array().unwrap().contains(&json!("heat")));
    assert!(number(&made["error_public"]) < 0.2 && number(&made["information"]) <= 0.3 + 1e-12);
    let text = std::fs::read_to_string(&network).unwrap();
    let bundle: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bundle["origin"]["samples"], 200);
    assert_eq!(bundle["origin"]["source"], "samples.csv");
    // A sensor's policy knows how to cut its readings.
    assert!(bundle["plan"]["policies"][0]["inputs"]["edges"].is_array());

    let refused = |content: String, word: &str| {
        let bad = dir.file("bad.csv", &content);
        let mut args = table.to_vec();
        args[3] = &bad;
        let (code, said) = complaint(&[&args[..], &["--information", "0.3"]].concat());
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(word), "{said}");
    };
    let cold = samples().replace(",1,yes", ",0,yes").replace(",1,no", ",0,no");
    refused(cold, "every sample has the label");
    refused(samples().replace("lamp", "lamb"), "no column \"lamp\"");
    refused(samples().replacen(",on,", ",,", 1), "column \"lamp\" is empty");
    refused("heat,lamp,noise,fire,home\n".into(), "samples is empty");
}

#[test]
fn bad_models_are_refused_in_words() {
    let dir = Scratch::new("fusion-bad");
    let refused = |change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut model = small();
        change(&mut model);
        let file = dir.file("model.json", &model.to_string());
        let (code, said) = complaint(&["fusion", "design", "--model", &file, "--ldp", "1"]);
        assert_eq!(code, 1, "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused(&|m| m["hypotheses"][0][0] = json!(0.5), &["hypotheses sums to 1.2"]);
    refused(&|m| m["hypotheses"][0][0] = json!(-0.1), &["hypotheses[0]", "-0.1"]);
    refused(&|m| m["hypotheses"] = json!([[0.5, 0.5], [0.0, 0.0]]), &["public", "only one"]);
    refused(&|m| m["hypotheses"] = json!([[0.5], [0.5]]), &["given[0]", "2 entries where 1"]);
    refused(
        &|m| m["sensors"][1]["given"][0][1][2] = json!(0.9),
        &["sensor second: given[0][1] sums to"],
    );
    refused(&|m| m["sensors"] = json!([]), &["list of sensors is empty"]);
    refused(&|m| m["sensors"][0] = json!({}), &["sensor 0", "no `given`"]);
    refused(&|m| m["surprise"] = json!(1), &["surprise"]);
    refused(
        &|m| drop(m.as_object_mut().unwrap().remove("hypotheses")),
        &["hypotheses` or `points"],
    );
    refused(
        &|m| m["private"] = json!({"components": [2, 3]}),
        &["hypothesis private has 6 entries where 2"],
    );
    let given = small()["sensors"][0]["given"].clone();
    refused(
        &|m| m["sensors"] = json!(vec![json!({"given": given}); 40]),
        &["output vectors of 40 sensors", "fewer sensors"],
    );
    let file = dir.file(
        "points.json",
        &json!({
            "points": [{"p": 1.0, "public": 0, "private": 0, "readings": [3]}],
            "sensors": [{"size": 3}]
        })
        .to_string(),
    );
    let (code, said) = complaint(&["fusion", "design", "--model", &file, "--ldp", "1"]);
    assert!(code == 1 && said.contains("reads 3, which is not one of its 3"), "{said}");
}

#[test]
fn bad_usage_is_told_from_bad_files() {
    let dir = Scratch::new("fusion-usage");
    let model = dir.file("model.json", &small().to_string());
    let base = ["fusion", "design", "--model", &model];
    for (more, word) in [
        (&[][..], "--information, --ldp"),
        (&["--ldp", "-1"], "at least 0"),
        (&["--information", "nan"], "at least 0"),
        (&["--information", "30"], "largest level"),
        (&["--ldp", "1", "--method", "infp", "--information", "1"], "leave --ldp out"),
        (&["--ldp", "1", "--method", "ldp", "--information", "1"], "leave --information out"),
        (&["--ldp", "1", "--method", "ill"], "needs --information"),
        (&["--ldp", "1", "--time-limit", "0"], "seconds above 0"),
        (&["--ldp", "1", "--restarts", "0"], "--restarts"),
        (&["--ldp", "1", "--epochs", "0"], "--epochs"),
        (&["--ldp", "1", "--samples", "x.csv"], "--samples"),
    ] {
        let (code, said) = complaint(&[&base[..], more].concat());
        assert_eq!(code, 2, "{more:?}: {said}");
        assert!(said.contains(word), "{more:?}: {said}");
    }
    let (code, said) = complaint(&[&base[..], &["--ldp", "1", "--outputs", "2,2,2"]].concat());
    assert!(code == 2 && said.contains("--outputs has 3 entries where 2"), "{said}");
    let (code, said) = complaint(&[&base[..], &["--ldp", "1", "--outputs", "1"]].concat());
    assert!(code == 2 && said.contains("from 2 to 256"), "{said}");
    let (code, said) = complaint(&["fusion", "evaluate", &model]);
    assert!(code == 1 && said.contains("not a document of a network"), "{said}");
    let (code, _) = complaint(&["fusion", "evaluate"]);
    assert_eq!(code, 2);
}

#[test]
fn a_tampered_network_is_refused() {
    let dir = Scratch::new("fusion-tampered");
    let model = dir.file("model.json", &small().to_string());
    let network = dir.path("network.json");
    let (code, _) = json(&[
        "fusion",
        "design",
        "--model",
        &model,
        "--ldp",
        "1",
        "--information",
        "0.2",
        "--restarts",
        "4",
        "-o",
        &network,
    ]);
    assert_eq!(code, 0);
    let text = std::fs::read_to_string(&network).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["certificate"]["epochs"][0]["information"] = json!("0.01");
    let forged = dir.file("forged.json", &file.to_string());
    let (code, said) = complaint(&["fusion", "evaluate", &forged]);
    assert!(code == 1 && said.contains("certificate") && said.contains("changed"), "{said}");
}

#[test]
fn the_time_limit_ends_a_search_within_the_budgets() {
    let (code, made) = json(&[
        "fusion",
        "design",
        "--model",
        &example("fusion-ga.json"),
        "--information",
        "0.05",
        "--ldp",
        "1",
        "--restarts",
        "100000",
        "--time-limit",
        "1",
    ]);
    assert_eq!(code, 0);
    assert!(number(&made["information"]) <= 0.05 + 1e-12);
}
