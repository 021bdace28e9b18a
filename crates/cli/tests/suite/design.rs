//! `undertone design` and `undertone curve`: what ships, what is refused, and what is said beside it.
use crate::common::{Scratch, complaint, json, undertone};
use serde_json::Value;

/// Nine digits: what a shipped policy must keep of the exact optimum.
#[track_caller]
fn nine(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn the_optimum_ships_to_nine_digits() {
    let dir = Scratch::new("optimum");
    let skewed = dir.file("p.json", "[0.1,0.1,0.1,0.7]");
    for (objective, golden) in
        [("hamming", 0.106748726512), ("mmse", 0.292760821309), ("mi", 0.559539502232)]
    {
        let (code, value) =
            json(&["design", "--prior", &skewed, "--protect", "lip:2", "--objective", objective]);
        assert_eq!(code, 0, "{value}");
        nine(&value["utility"], golden);
        nine(&value["optimum"], golden);
        assert!(value["attained"]["lip"].as_f64().unwrap() <= 2.0);
        assert!(value["attained"]["ldp"].as_f64().unwrap() <= 4.0 + 1e-9);
        assert_eq!(value["requested"][0], "lip:2");
        assert_eq!(value["policy_id"].as_str().unwrap().len(), 64);
        for field in ["ldp", "ldp_twice", "blind"] {
            assert!(value["comparison"][field].is_number(), "{objective} {field}: {value}");
        }
        let rows = value["channel"].as_array().unwrap();
        for row in rows {
            let sum: f64 = row.as_array().unwrap().iter().map(|q| q.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_binary_survey_and_its_printed_formula() {
    let dir = Scratch::new("binary");
    let prior = dir.file("p.json", r#"{"symbols":["no","yes"],"p":[0.9,0.1]}"#);
    let out = dir.path("policy.json");
    let (code, value) = json(&[
        "design",
        "--prior",
        &prior,
        "--protect",
        "lip:1",
        "--objective",
        "mmse",
        "-o",
        &out,
    ]);
    assert_eq!(code, 0);
    nine(&value["utility"], 0.0791383873037);
    nine(&value["channel"][0][1], 0.217595070563);
    let (code, checked) = json(&["policy", "verify", &out]);
    assert_eq!((code, &checked["policy_id"]), (0, &value["policy_id"]));

    let printed = ["design", "--prior", &prior, "--protect", "lip:1", "--method", "published"];
    let (code, value) = json(&printed);
    assert_eq!((code, &value["policy_id"]), (1, &Value::Null));
    assert!((value["published"]["attained"].as_f64().unwrap() - 1.90047709789).abs() < 1e-8);
    assert_eq!((&value["refusal"]["output"], &value["refusal"]["high"]), (&1.into(), &1.into()));
    let (code, value) = json(&[&printed[..], &["--accept"]].concat());
    assert_eq!(code, 0);
    assert!(value["attained"]["lip"].as_f64().unwrap() > 1.9);

    // At p >= 1/(1+e) the printed formula is right, and ships.
    let fair = dir.file("fair.json", "[0.7,0.3]");
    let (code, value) = json(&[
        "design",
        "--prior",
        &fair,
        "--protect",
        "lip:1",
        "--method",
        "published",
        "--objective",
        "mmse",
    ]);
    assert_eq!(code, 0, "{value}");
    assert!((value["utility"].as_f64().unwrap() - 0.12609).abs() < 1e-5);
}

#[test]
fn uncertain_priors() {
    let dir = Scratch::new("uncertain");
    let (low, high) = (dir.file("l.json", "[0.1,0.2,0.3]"), dir.file("u.json", "[0.3,0.4,0.6]"));
    let weigh = dir.file("w.json", "[0.2,0.3,0.5]");
    let (code, value) = json(&[
        "design",
        "--prior",
        &weigh,
        "--prior-lower",
        &low,
        "--prior-upper",
        &high,
        "--protect",
        "lip:1.5",
        "--objective",
        "hamming",
    ]);
    assert_eq!(code, 0);
    nine(&value["utility"], 0.202932508708);
    let (low, high) = (dir.file("l2.json", "[0.8,0.05]"), dir.file("u2.json", "[0.95,0.2]"));
    let (code, value) =
        json(&["design", "--prior-lower", &low, "--prior-upper", &high, "--protect", "lip:1"]);
    assert_eq!(code, 0, "{value}");
    assert!(value["attained"]["lip"].as_f64().unwrap() <= 1.0);
    let (code, value) = json(&[
        "design",
        "--prior-lower",
        &low,
        "--prior-upper",
        &high,
        "--protect",
        "lip:1",
        "--method",
        "published",
    ]);
    assert_eq!(code, 1);
    assert!((value["published"]["attained"].as_f64().unwrap() - 1.9035).abs() < 1e-4);
    // Two priors: the policy holds under each.
    let (a, b) = (dir.file("a.json", "[0.7,0.3]"), dir.file("b.json", "[0.5,0.5]"));
    let (code, value) = json(&["design", "--prior", &a, "--prior", &b, "--protect", "lip:1"]);
    assert_eq!(code, 0);
    assert!(value["attained"]["lip"].as_f64().unwrap() <= 1.0);
    // Any prior: that is LDP.
    let any = ["design", "--any-prior", "--protect", "lip:1"];
    let (code, value) = json(&[&any[..], &["--prior", &b]].concat());
    assert_eq!((code, &value["requested"][0]), (0, &"ldp:1".into()));
    for (more, words) in [
        (vec![], "give a --prior that says the symbols"),
        (vec!["--prior", &a, "--prior", &b], "several were given"),
        (vec!["--prior-lower", &low, "--prior-upper", &high], "--any-prior"),
        (vec!["--prior", "wc"], "use --any-prior"),
    ] {
        let (code, said) = complaint(&[&any[..], &more].concat());
        assert!(code == 2 && said.contains(words), "{more:?}: {said}");
    }
}

#[test]
fn several_protections_hold_at_once() {
    let dir = Scratch::new("several");
    let zipf = dir.file("z.json", "[0.48,0.24,0.16,0.12]");
    let run = |protect: &[&str]| {
        let base = ["design", "--prior", &zipf, "--objective", "hamming", "--allow-uninformative"];
        json(&[&base[..], protect].concat())
    };
    let (_, lip) = run(&["--protect", "lip:1"]);
    let (_, ldp) = run(&["--protect", "ldp:1.5"]);
    let (code, both) = run(&["--protect", "lip:1", "--protect", "ldp:1.5"]);
    assert_eq!(code, 0);
    // The LDP optimum already satisfies the LIP claim here.
    assert!((ldp["utility"].as_f64().unwrap() - 0.3915).abs() < 5e-5, "{ldp}");
    assert!((both["utility"].as_f64().unwrap() - 0.3915).abs() < 5e-5);
    assert!(lip["utility"].as_f64().unwrap() <= both["utility"].as_f64().unwrap() + 1e-9);
    assert!(
        both["attained"]["lip"].as_f64().unwrap() <= 1.0
            && both["attained"]["ldp"].as_f64().unwrap() <= 1.5
    );
}

#[test]
fn every_method_ships_something_verified() {
    let dir = Scratch::new("methods");
    let prior = dir.file("p.json", "[0.5,0.3,0.2]");
    for method in ["optimal", "krr", "oue", "sue", "sampling", "compact"] {
        let (code, value) =
            json(&["design", "--prior", &prior, "--protect", "lip:1", "--method", method]);
        assert_eq!(code, 0, "{method}: {value}");
        assert!(value["attained"]["lip"].as_f64().unwrap() <= 1.0, "{method}");
    }
    let (code, value) = json(&[
        "design",
        "--prior",
        &prior,
        "--protect",
        "ldp:1",
        "--method",
        "extremal-ldp",
        "--objective",
        "mi",
    ]);
    assert_eq!(code, 0, "{value}");
    let binary = dir.file("b.json", "[0.7,0.3]");
    let (code, value) = json(&[
        "design",
        "--prior",
        &binary,
        "--protect",
        "lip:1",
        "--method",
        "symmetric",
        "--objective",
        "mmse",
    ]);
    assert_eq!(code, 0);
    nine(&value["utility"], 0.153702978315);
    for protect in ["lip:1,0.01", "alip:0.5,1", "di:3"] {
        let (code, value) = json(&["design", "--prior", &prior, "--protect", protect]);
        assert_eq!(code, 0, "{protect}: {value}");
    }
    let joint = dir.file("j.json", "[[0.2,0.2,0.1],[0.1,0.1,0.3]]");
    let (code, value) =
        json(&["design", "--joint", &joint, "--protect", "lip:0.3", "--protect", "input:ldp:2"]);
    assert_eq!(code, 0, "{value}");
    assert!(value["attained"]["secret"]["lip"].as_f64().unwrap() <= 0.3);
    assert!(value["attained"]["ldp"].as_f64().unwrap() <= 2.0);
}

#[test]
fn accuracy_can_be_asked_for_instead() {
    let dir = Scratch::new("accuracy");
    let prior = dir.file("p.json", "[0.9,0.1]");
    let asked = ["--accuracy", "0.03", "--level", "0.95"];
    let (code, value) = json(&[&["design", "--prior", &prior, "--n", "1000"], &asked[..]].concat());
    assert_eq!(code, 0, "{value}");
    assert_eq!(value["objective"], "frequency");
    assert!(value["parameters"]["half_width"].as_f64().unwrap() <= 0.03);
    let claim = value["requested"][0].as_str().unwrap().to_owned();
    // The same level needs at most those thousand people, and a little less privacy would not do.
    let (_, back) = json(
        &[
            &[
                "design",
                "--prior",
                &prior,
                "--protect",
                &claim,
                "--objective",
                "frequency",
                "--for-n",
            ],
            &asked[..],
        ]
        .concat(),
    );
    let needed = back["parameters"]["needed_n"].as_f64().unwrap();
    assert!(needed <= 1000.0 && needed > 950.0, "{needed}");
    let (code, words) =
        complaint(&[&["design", "--prior", &prior, "--n", "10"], &asked[..]].concat());
    assert!(code == 1 && words.contains("even raw answers need"), "{words}");
}

#[test]
fn a_large_alphabet_gets_a_keep_policy_with_a_bound() {
    let dir = Scratch::new("large");
    let weights: Vec<f64> = (1..=2000).map(|rank| 1.0 / f64::from(rank)).collect();
    let total: f64 = weights.iter().sum();
    let zipf: Vec<String> = weights.iter().map(|w| format!("{}", w / total)).collect();
    let prior = dir.file("p.json", &format!("[{}]", zipf.join(",")));
    let base = ["design", "--prior", &prior, "--protect", "lip:2"];
    let (code, value) = json(&base);
    assert_eq!((code, &value["objective"]), (0, &"frequency".into()));
    let (utility, bound) = (value["utility"].as_f64().unwrap(), value["bound"].as_f64().unwrap());
    assert!(bound <= utility && utility.is_finite(), "{bound} {utility}");
    assert_eq!(value["uninformative"], Value::Null);
    // The least error releases the likeliest symbols only, and tells nothing about the others.
    let loss = [&base[..], &["--objective", "hamming"]].concat();
    let (code, value) = json(&loss);
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()));
    let (code, value) = json(&[&loss[..], &["--allow-uninformative"]].concat());
    assert_eq!(code, 0);
    let (utility, bound) = (value["utility"].as_f64().unwrap(), value["bound"].as_f64().unwrap());
    assert!(bound <= utility && utility < 0.95, "{bound} {utility}");
}

/// Any context and any claim has a default design, and it tells the symbols apart.
#[test]
fn the_default_objective_serves_every_context() {
    let dir = Scratch::new("default");
    let even =
        |size: usize| format!("[{}]", vec![format!("{}", 1.0 / size as f64); size].join(","));
    let forty = dir.file("forty.json", &even(40));
    let (low, high) = (
        dir.file("l.json", &even(40).replace("0.025", "0.02")),
        dir.file("u.json", &even(40).replace("0.025", "0.03")),
    );
    let nine_low = dir.file("l9.json", "[0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05]");
    let nine_high = dir.file("u9.json", "[0.2,0.2,0.2,0.2,0.2,0.2,0.2,0.2,0.2]");
    let three = dir.file("three.json", "[0.5,0.3,0.2]");
    let box_of = |low: &str, high: &str| {
        ["--prior-lower", low, "--prior-upper", high].map(str::to_owned).to_vec()
    };
    let prior = |path: &str| ["--prior", path].map(str::to_owned).to_vec();
    for (context, protect) in [
        (prior(&three), "lip:1"),
        (prior(&three), "ldp:1"),
        (prior(&three), "lip:1,0.01"),
        (prior(&forty), "lip:1"),
        (prior(&forty), "ldp:1"),
        (prior(&forty), "ldp:1,0.001"),
        (box_of(&low, &high), "lip:1"),
        // Some hundred corners: designed for the prior in their midst, and mixed until all are served.
        (box_of(&nine_low, &nine_high), "lip:1"),
        (box_of(&nine_low, &nine_high), "ldp:1"),
    ] {
        let context: Vec<&str> = context.iter().map(String::as_str).collect();
        let (code, value) = json(&[&["design", "--protect", protect], &context[..]].concat());
        assert_eq!((code, &value["objective"]), (0, &"frequency".into()), "{protect}: {value}");
        assert_eq!(value["uninformative"], Value::Null, "{protect}");
        assert!(value["utility"].as_f64().unwrap() > 0.0, "{protect}: {value}");
        let level = protect.split([':', ',']).nth(1).unwrap().parse::<f64>().unwrap();
        let notion = protect.split(':').next().unwrap();
        let attained = value["attained"][notion].as_f64().unwrap();
        // Within a delta the pure level may be passed.
        let delta = protect.contains(',');
        assert!(delta || attained <= level, "{protect}: {value}");
    }
    // Numbers are for their squared error.
    let scale = dir.file("scale.json", r#"{"symbols":["1","2"],"p":[0.5,0.5],"values":[1,2]}"#);
    let (code, value) = json(&["design", "--prior", &scale, "--protect", "lip:0.5"]);
    assert_eq!((code, &value["objective"]), (0, &"squared".into()));
    let (code, value) = json(&[
        "design",
        "--prior",
        &three,
        "--protect",
        "lip:2",
        "--values",
        "1,2,4",
        "--allow-uninformative",
    ]);
    assert_eq!((code, &value["objective"]), (0, &"squared".into()));
}

/// "Verified" must not be said of a survey that learns nothing.
#[test]
fn a_policy_that_cannot_tell_symbols_apart_is_refused() {
    let dir = Scratch::new("blind");
    let rare = dir.file("p.json", r#"{"symbols":["no","yes"],"p":[0.98,0.02]}"#);
    let out = dir.path("policy.json");
    let base = ["design", "--prior", &rare, "--protect", "lip:1", "-o", &out];
    // By default it learns something.
    let (code, value) = json(&base);
    assert_eq!((code, &value["objective"]), (0, &"frequency".into()));
    assert_eq!(value["channel"].as_array().unwrap()[0].as_array().unwrap().len(), 2);
    // An output that speaks for one input bears its name.
    assert_eq!(value["outputs"], serde_json::json!(["no", "yes"]));
    std::fs::remove_file(&out).unwrap();
    // The least error is to say "no" to everything.
    let loss = [&base[..], &["--objective", "hamming"]].concat();
    let (code, value) = json(&loss);
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()), "{value}");
    let said = value["error"].as_str().unwrap();
    assert!(said.contains("answers alike") && said.contains("--allow-uninformative"), "{said}");
    assert!(!std::path::Path::new(&out).exists());
    let allowed = [&loss[..], &["--allow-uninformative"]].concat();
    let (code, value) = json(&allowed);
    assert_eq!(code, 0);
    assert!(value["uninformative"].as_str().unwrap().contains("answers alike"), "{value}");
    assert!(std::path::Path::new(&out).exists());
    let text = String::from_utf8(undertone(&allowed).stdout).unwrap();
    assert!(text.contains("warning: the policy answers alike"), "{text}");
    // Two of three alike; and three different rows that still do not determine three shares.
    let three = dir.file("three.json", "[0.6,0.3,0.1]");
    let merging = dir.file("m.json", "[[0,1],[1,0],[1,0]]");
    let matrix = |losses: &str| format!("matrix:{losses}");
    let base = ["design", "--prior", &three, "--protect", "lip:1", "--objective"];
    let (code, value) = json(&[&base[..], &[&matrix(&merging)]].concat());
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()), "{value}");
    assert!(value["error"].as_str().unwrap().contains("for \"1\" and \"2\""), "{value}");
    let between = dir.file("b.json", "[[0,1],[0.5,0.5],[1,0]]");
    let (code, value) = json(&[&base[..], &[&matrix(&between)]].concat());
    let told = value["uninformative"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(code == 0 && told.contains("only 2 of its rows are independent"), "{value}");
    // Claims under which nothing can be told: a policy that says nothing is made if it is asked for.
    let nothing = ["design", "--prior", &three, "--protect", "lip:0"];
    let (code, value) = json(&nothing);
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()), "{value}");
    for more in [&[][..], &["--method", "optimal"], &["--method", "krr"]] {
        let (code, value) = json(&[&nothing[..], &["--allow-uninformative"], more].concat());
        assert_eq!((code, &value["attained"]["ldp"]), (0, &0.0.into()), "{value}");
        assert!(value["uninformative"].as_str().unwrap().contains("answers alike"), "{value}");
    }
    // Noise for numbers tells them apart; the best single numbers do not.
    let pay = [
        "design",
        "--density",
        "normal:50,10",
        "--range",
        "0,100",
        "--bins",
        "16",
        "--protect",
        "lip:1",
    ];
    let (code, value) = json(&[&pay[..], &["--method", "optimal"]].concat());
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()), "{value}");
    let (code, value) = json(&[&pay[..], &["--method", "laplace"]].concat());
    assert_eq!(code, 0, "{value}");
    // So numbers for a mean are what numbers get unless somebody asks for an objective, a method, or the best whatever it tells.
    let (code, unasked) = json(&pay);
    assert_eq!((code, &unasked["objective"]), (0, &"mean".into()), "{unasked}");
    let note = unasked["method_note"].as_str().unwrap();
    assert!(note.contains("the objective mean was taken"), "{note}");
    // And noise is what single numbers get.
    let (code, unasked) = json(&[&pay[..], &["--objective", "squared"]].concat());
    assert_eq!((code, &unasked["method"]), (0, &"laplace".into()), "{unasked}");
    assert_eq!(
        (&unasked["objective"], &unasked["utility"]),
        (&"squared".into(), &value["utility"])
    );
    let (code, value) = json(&[&pay[..], &["--allow-uninformative"]].concat());
    assert_eq!((code, &value["method"]), (0, &"optimal".into()), "{value}");
    // A scale of symbols with values: the best of the methods that tell them apart.
    let scale = ["design", "--prior", &three, "--protect", "lip:1", "--objective", "squared"];
    let (code, value) = json(&[&scale[..], &["--method", "optimal"]].concat());
    assert_eq!((code, &value["code"]), (1, &"uninformative".into()), "{value}");
    let (code, value) = json(&scale);
    assert_eq!((code, &value["uninformative"]), (0, &Value::Null), "{value}");
    assert_ne!(value["method"], "optimal");
    // It says which one that is, and that a guess would serve single numbers better.
    let utility = |field: &Value| field.as_f64().unwrap();
    assert!(utility(&value["utility"]) > utility(&value["comparison"]["blind"]));
    let note = value["method_note"].as_str().unwrap();
    let method = format!("the method {} was taken", value["method"].as_str().unwrap());
    assert!(note.contains(&method) && note.contains("no better than the"), "{note}");
    let text = String::from_utf8(undertone(&scale).stdout).unwrap();
    assert!(text.contains(note), "{text}");
    let (_, asked) = json(&[&scale[..], &["--method", "sampling"]].concat());
    assert_eq!(asked.get("method_note"), None);
}

#[test]
fn a_refusal_calls_symbols_by_their_names() {
    let dir = Scratch::new("named-refusal");
    let named = dir.file("p.json", r#"{"no":0.9,"yes":0.1}"#);
    let bare = dir.file("q.json", "[0.9,0.1]");
    let message = |prior: &str| {
        let asked = ["design", "--prior", prior, "--protect", "lip:1", "--method", "published"];
        let (code, value) = json(&asked);
        assert_eq!((code, &value["refusal"]["output"]), (1, &1.into()), "{value}");
        value["refusal"]["message"].as_str().unwrap().to_owned()
    };
    let said = message(&named);
    assert!(said.contains("is false at output \"yes\", input \"yes\": belief rises by"), "{said}");
    assert!(message(&bare).contains("is false at output 1, input 1: belief rises by"));
}

#[test]
fn infeasible_and_malformed_requests_say_why() {
    let dir = Scratch::new("infeasible");
    let prior = dir.file("p.json", "[0.7,0.2,0.1]");
    let (code, words) = complaint(&["design", "--prior", &prior, "--protect", "di:1"]);
    assert_eq!(code, 1, "{words}");
    assert!(words.contains("1.94"), "what would be feasible: {words}");
    for args in [
        vec!["--protect", "lip:-1"],
        vec!["--protect", "lip:x"],
        vec!["--protect", "lip:1,1.5"],
        vec!["--protect", "nope:1"],
        vec!["--protect", "lip:1", "--objective", "nope"],
        vec!["--protect", "lip:1", "--method", "nope"],
        vec![],
    ] {
        let (code, words) = complaint(&[&["design", "--prior", &prior], args.as_slice()].concat());
        assert_eq!(code, 2, "{args:?}: {words}");
    }
    let (code, words) = complaint(&[
        "design",
        "--prior",
        &prior,
        "--protect",
        "lip:1",
        "--values",
        "1,2",
        "--objective",
        "absolute",
    ]);
    assert!(code == 2 && words.contains("--values"), "{words}");
}

#[test]
fn a_curve_is_a_table_and_a_picture() {
    let dir = Scratch::new("curve");
    let prior = dir.file("p.json", "[0.9,0.1]");
    let (csv, svg) = (dir.path("c.csv"), dir.path("c.svg"));
    let (code, value) = json(&[
        "curve",
        "--prior",
        &prior,
        "--objective",
        "mmse",
        "--epsilons",
        "0.5:2:0.5",
        "--methods",
        "optimal,published,krr,ldp,ldp2",
        "-o",
        &csv,
        "--plot",
        &svg,
    ]);
    assert_eq!(code, 0);
    let rows = value["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 20);
    let at = |method: &str, epsilon: f64| {
        rows.iter()
            .find(|r| {
                r["method"] == method && (r["epsilon"].as_f64().unwrap() - epsilon).abs() < 1e-9
            })
            .unwrap()
    };
    let utility = |method: &str, epsilon: f64| at(method, epsilon)["utility"].as_f64().unwrap();
    for epsilon in [0.5, 1.0, 1.5, 2.0] {
        assert!(utility("optimal", epsilon) <= utility("ldp", epsilon) + 1e-9);
        assert!(utility("ldp2", epsilon) <= utility("optimal", epsilon) + 1e-9);
        assert!(at("optimal", epsilon)["lip"].as_f64().unwrap() <= epsilon);
    }
    assert!(at("published", 1.0)["policy_id"].is_null());
    assert!(at("published", 1.0)["lip"].as_f64().unwrap() > 1.9);
    assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 21);
    assert!(std::fs::read_to_string(&svg).unwrap().contains("<svg"));
    // The table goes to a file or to the terminal; a picture asked for is not buried under it.
    let short = ["curve", "--prior", &prior, "--epsilons", "1", "--methods", "optimal,published"];
    let table = String::from_utf8(undertone(&short).stdout).unwrap();
    assert!(table.starts_with("epsilon,method,") && table.lines().count() == 3, "{table}");
    let drawn = undertone(&[&short[..], &["--plot", &svg]].concat()).stdout;
    let drawn = String::from_utf8(drawn).unwrap();
    let expected = format!(
        "frequency (less is better) of optimal, published at epsilon from 1 to 1; 1 verified, 1 printed that miss their claim.\nwrote {svg}\n"
    );
    assert_eq!(drawn, expected);
}
