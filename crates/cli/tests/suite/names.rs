//! Symbols are matched by name: what is listed in another order is the same, what is about other symbols is
//! refused with both lists, and nothing is ever combined by position.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{NoReply, Scratch, call, complaint, json as run};

/// Runs a command on documents by name.
fn answer(words: &str, documents: &[(&str, Value)]) -> Result<Value, NoReply> {
    let words: Vec<String> = words.split_whitespace().map(String::from).collect();
    let documents = documents.iter().map(|(name, value)| ((*name).into(), value.to_string()));
    call(&words, documents.collect()).map(|reply| reply.json)
}

#[track_caller]
fn good(words: &str, documents: &[(&str, Value)]) -> Value {
    answer(words, documents).unwrap_or_else(|none| panic!("{words}: {}", none.message))
}

/// A refusal about what is in the files, not about the words, that says all of `parts`.
#[track_caller]
fn refused(words: &str, documents: &[(&str, Value)], parts: &[&str]) {
    let none = answer(words, documents).unwrap_err();
    assert!(!none.usage, "{words}: {}", none.message);
    for part in parts {
        assert!(none.message.contains(part), "{words}: {part} is not in: {}", none.message);
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The policy a design writes, with its JSON.
fn designed(words: &str, documents: &[(&str, Value)]) -> (Value, Value) {
    let words = format!("{words} -o policy.json");
    let words: Vec<String> = words.split_whitespace().map(String::from).collect();
    let given: BTreeMap<String, String> =
        documents.iter().map(|(name, value)| ((*name).into(), value.to_string())).collect();
    let reply = call(&words, given).unwrap_or_else(|none| panic!("{words:?}: {}", none.message));
    (reply.json, serde_json::from_str(&reply.written["policy.json"]).unwrap())
}

/// The issue's two priors: the second lists its symbols backwards.
fn issue() -> [(&'static str, Value); 2] {
    [
        ("first", json!({"a": 0.8, "b": 0.1, "c": 0.1})),
        ("second", json!({"symbols": ["c", "b", "a"], "p": [0.8, 0.1, 0.1]})),
    ]
}

#[test]
fn a_design_holds_under_each_prior_it_names() {
    let priors = issue();
    for objective in ["frequency", "mi", "hamming"] {
        let words =
            format!("design --prior first --prior second --protect lip:1 --objective {objective}");
        let (_, policy) = designed(&words, &priors);
        for name in ["first", "second"] {
            let documents = [priors[0].clone(), priors[1].clone(), ("policy", policy.clone())];
            let leaks = good(&format!("audit policy --prior {name}"), &documents);
            assert!(number(&leaks["lip"]) <= 1.0, "{objective}, {name}: {}", leaks["lip"]);
            let moved = good(
                &format!("transfer --from first --to {name} --epsilon 1 --policy policy"),
                &documents,
            );
            assert!(number(&moved["policy"]) <= 1.0 + 1e-9, "{objective}, {name}");
        }
    }
}

#[test]
fn transfer_between_two_orders_is_no_transfer_to_itself() {
    let found = good("transfer --from first --to second --epsilon 1", &issue());
    // Combined by position both priors are the same list, and the answer would be 1.
    assert!((number(&found["exact"]) - 1.831_967_980_6).abs() < 1e-9, "{}", found["exact"]);
    let same = [issue()[0].clone(), ("turned", json!({"c": 0.1, "a": 0.8, "b": 0.1}))];
    let found = good("transfer --from first --to turned --epsilon 1", &same);
    assert!((number(&found["exact"]) - 1.0).abs() < 1e-12, "{}", found["exact"]);
}

/// A set of priors is as bad as its worst member, figure by figure: the prior with the largest LIP need
/// not have the largest lift.
#[test]
fn compose_takes_the_worst_prior_for_every_figure() {
    let channel = ("q", json!([[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]]));
    let priors = [
        ("even", json!([0.4, 0.3, 0.3])),
        ("rare", json!([0.02, 0.95, 0.03])),
        ("other", json!([0.1, 0.1, 0.8])),
    ];
    let documents: Vec<_> = priors.iter().cloned().chain([channel]).collect();
    let alone: Vec<Value> = priors
        .iter()
        .map(|(name, _)| good(&format!("compose --prior {name} --channels q q"), &documents))
        .collect();
    let set = good("compose --prior even --prior rare --prior other --channels q q", &documents);
    let mut attained_by = Vec::new();
    for field in ["exact", "max_lift", "min_lift", "ldp"] {
        let all: Vec<f64> = alone.iter().map(|found| number(&found[field])).collect();
        let worst = all.iter().copied().fold(0.0, f64::max);
        assert_eq!(number(&set[field]), worst, "{field}: {all:?}");
        attained_by.push(all.iter().position(|value| *value == worst).unwrap());
    }
    // Otherwise the test could not tell one prior from the worst figure of all.
    assert_ne!(attained_by[0], attained_by[1], "{alone:?}");
    // A chain's first law may be any of the set as well.
    let chain = json!([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]);
    let documents: Vec<_> = documents.into_iter().chain([("t", chain)]).collect();
    for releases in ["--channels q q", "--epsilons 1,1"] {
        let under =
            |priors: &str| good(&format!("compose {priors} --markov t {releases}"), &documents);
        let set = under("--prior even --prior rare");
        let (even, rare) = (under("--prior even"), under("--prior rare"));
        let field = if releases.starts_with("--ch") { "sequence" } else { "exact" };
        let worst = number(&even[field]).max(number(&rare[field]));
        assert_eq!(number(&set[field]), worst, "{releases}");
        let worst = number(&even["each"][1]).max(number(&rare["each"][1]));
        assert_eq!(number(&set["each"][1]), worst, "{releases}");
    }
}

/// Two priors that by position are one list, and a channel that names its inputs.
#[test]
fn compose_matches_names_across_a_set() {
    let channel = json!({"inputs": ["c", "b", "a"], "rows": [[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]]});
    let documents: Vec<_> = issue().into_iter().chain([("q", channel)]).collect();
    let both = good("compose --prior first --prior second --channels q q", &documents);
    let first = good("compose --prior first --channels q q", &documents);
    let second = good("compose --prior second --channels q q", &documents);
    assert!(number(&second["exact"]) > number(&first["exact"]) + 0.3);
    assert_eq!(both["exact"], second["exact"]);
}

#[test]
fn lists_of_different_lengths_are_refused_everywhere() {
    let documents = [
        ("two", json!([0.5, 0.5])),
        ("three", json!([0.5, 0.3, 0.2])),
        ("names", json!({"a": 0.5, "b": 0.5})),
        ("more", json!({"a": 0.5, "b": 0.3, "c": 0.2})),
        ("q", json!([[0.9, 0.1], [0.2, 0.8]])),
        ("joint", json!([[0.25, 0.25], [0.25, 0.25]])),
    ];
    for words in [
        "design --prior {} --prior {} --protect lip:1",
        "design --prior {} --prior {} --protect lip:1 --objective frequency --method krr",
        "curve --prior {} --prior {} --epsilons 1 --methods krr",
        "frontier --prior {} --prior {} --lip 1 --ldp 1",
        "relate --from bplip:1 --to ldp --prior {} --prior {}",
        "compose --prior {} --prior {} --epsilons 1,1",
        "compose --prior {} --prior {} --channels q",
        "compose --prior {} --prior {} --markov q --epsilons 1,1",
        "transfer --from {} --to {} --epsilon 1",
        "prior mix {} {} --weights 0.5,0.5",
    ] {
        let of = |one: &str, other: &str| words.replacen("{}", one, 1).replacen("{}", other, 1);
        for (one, other) in [("two", "three"), ("three", "two")] {
            refused(&of(one, other), &documents, &["2", "3"]);
        }
        for (one, other) in [("names", "more"), ("more", "names")] {
            refused(&of(one, other), &documents, &[r#""a", "b""#, r#""a", "b", "c""#, r#""c" is"#]);
        }
        for (one, other) in [("names", "two"), ("two", "names")] {
            refused(&of(one, other), &documents, &[r#""a", "b""#, "2 unnamed symbols"]);
        }
    }
    for words in ["audit --prior three --channel q", "compose --prior three --channels q"] {
        refused(words, &documents, &["2", "3"]);
    }
    let wide = [("joint", json!([[0.2, 0.2, 0.1], [0.1, 0.2, 0.2]])), documents[4].clone()];
    refused("audit --joint joint --channel q", &wide, &["2", "3"]);
}

/// From outside, too: a message and exit 1, where there was a panic and exit 101.
#[test]
fn the_program_refuses_two_lengths_without_a_panic() {
    let dir = Scratch::new("lengths");
    let two = dir.file("two.json", "[0.5,0.5]");
    let three = dir.file("three.json", "[0.5,0.3,0.2]");
    for pair in [[&two, &three], [&three, &two]] {
        for protect in ["lip:1", "ldp:1"] {
            let words = ["design", "--prior", pair[0], "--prior", pair[1], "--protect", protect];
            let (code, said) = complaint(&words);
            assert_eq!(code, 1, "{said}");
            assert!(said.contains("entries where"), "{said}");
        }
    }
}

#[test]
fn other_names_are_refused_everywhere() {
    let channel = |inputs: [&str; 2]| json!({"inputs": inputs, "rows": [[0.9, 0.1], [0.2, 0.8]]});
    let documents = [
        ("ab", json!({"a": 0.5, "b": 0.5})),
        ("ac", json!({"a": 0.5, "c": 0.5})),
        ("bare", json!([0.5, 0.5])),
        ("q", channel(["a", "c"])),
        ("joint", json!({"symbols": ["a", "b"], "rows": [[0.3, 0.2], [0.2, 0.3]]})),
        ("pair", json!({"first": ["a", "b"], "rows": [[0.3, 0.2], [0.2, 0.3]]})),
        ("low", json!({"a": 0.3, "c": 0.3})),
        ("high", json!({"a": 0.7, "c": 0.7})),
        ("few", json!([0.3, 0.3])),
        ("many", json!([0.7, 0.7])),
    ];
    let lists = [r#""a", "b""#, r#""a", "c""#];
    for words in [
        "audit --prior ab --channel q",
        "audit --joint joint --channel q",
        "compose --prior ab --channels q",
        "compose --prior ab --markov q --epsilons 1,1",
        "compose --joint pair --channels q q",
        "design --prior ab --prior ac --protect lip:1",
        "design --prior ab --prior-lower low --prior-upper high --protect lip:1",
        "transfer --from ab --to ac --epsilon 1",
        "prior mix ab ac --weights 0.5,0.5",
        "relate --from bplip:1 --to ldp --prior ab --prior ac",
    ] {
        refused(words, &documents, &lists);
    }
    let unnamed = "2 unnamed symbols";
    for words in [
        "audit --prior bare --channel q",
        "compose --prior bare --channels q",
        "design --prior bare --prior-lower low --prior-upper high --protect lip:1",
    ] {
        refused(words, &documents, &[unnamed, lists[1]]);
    }
    refused(
        "design --prior ab --prior-lower few --prior-upper many --protect lip:1",
        &documents,
        &[unnamed, lists[0]],
    );
    refused(
        "design --prior-lower low --prior-upper many --protect lip:1",
        &documents,
        &[unnamed, lists[1]],
    );
    let (_, policy) =
        designed("design --prior ab --protect lip:1 --objective frequency", &documents);
    let documents: Vec<_> = documents.into_iter().chain([("policy", policy)]).collect();
    refused("audit policy --prior ac", &documents, &lists);
    refused("audit policy --prior bare", &documents, &[unnamed, lists[0]]);
    refused("transfer --from ac --to ac --epsilon 1 --policy policy", &documents, &lists);
}

/// A matrix without names is in the order of the one prior beside it, and unclear beside two orders.
#[test]
fn a_bare_matrix_is_refused_where_two_orders_meet() {
    let priors = issue();
    let documents: Vec<_> = priors
        .into_iter()
        .chain([
            ("alike", json!({"a": 0.1, "b": 0.1, "c": 0.8})),
            ("q", json!([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])),
        ])
        .collect();
    for words in [
        "compose --prior first --prior second --channels q",
        "compose --prior first --prior second --markov q --epsilons 1,1",
        "design --prior first --prior second --protect lip:1 --objective matrix:q --allow-uninformative",
        "design --prior first --prior second --protect lip:1 --objective squared --values 1,2,3 --allow-uninformative",
    ] {
        refused(words, &documents, &["second", "no names", "another order"]);
        good(&words.replace("second", "alike"), &documents);
    }
    // One prior, one matrix: the rows are in the prior's order, whatever that is.
    let a = good("audit --prior first --channel q", &documents);
    let b = good("audit --prior second --channel q", &documents);
    assert_eq!(a["lip"], b["lip"]);
    assert_eq!((&a["inputs"], &b["inputs"]), (&json!(["a", "b", "c"]), &json!(["c", "b", "a"])));
}

#[test]
fn files_that_contradict_themselves_are_refused() {
    let twice = r#"{"a": 0.5, "b": 0.25, "a": 0.25}"#;
    let words = ["transfer", "--from", "p", "--to", "p", "--epsilon", "1"].map(String::from);
    let refuse = |text: &str, part: &str| {
        let documents = BTreeMap::from([("p".to_owned(), text.to_owned())]);
        let said = call(&words, documents).unwrap_err().message;
        assert!(said.contains(part), "{text}: {said}");
    };
    refuse(twice, r#""a" occurs twice"#);
    refuse(r#"{"symbols": ["a", "a"], "p": [0.5, 0.5]}"#, r#""a" occurs twice"#);
    refuse(r#"{"symbols": ["a", ""], "p": [0.5, 0.5]}"#, "empty name");
    refuse(r#"{"symbols": ["a"], "p": [0.5, 0.5]}"#, "symbols has 1");
    refuse(r#"{"a": 0.5, "b": "half"}"#, r#"b: found the text "half", expected a number"#);
    refuse(r#"{"p": [0.5, 0.5], "q": 1}"#, "unknown field `q`");
    refuse("{}", "empty");
    let bins = r#"{"symbols": ["5", "15"], "p": [0.4, 0.6], "edges": [0, 10, 20]}"#;
    call(&words, BTreeMap::from([("p".to_owned(), bins.to_owned())])).unwrap();
    refuse(&bins.replace(r#""5", "15""#, r#""15", "5""#), "in the same order");
    let documents = [
        ("p", json!({"a": 0.5, "b": 0.5})),
        ("long", json!({"inputs": ["a", "b", "c"], "rows": [[0.9, 0.1], [0.2, 0.8]]})),
        ("twice", json!({"inputs": ["a", "a"], "rows": [[0.9, 0.1], [0.2, 0.8]]})),
        ("odd", json!({"input": ["a", "b"], "rows": [[0.9, 0.1], [0.2, 0.8]]})),
    ];
    refused("audit --prior p --channel long", &documents, &["inputs", "3"]);
    refused("audit --prior p --channel twice", &documents, &["inputs", "occurs twice"]);
    refused("audit --prior p --channel odd", &documents, &["unknown field `input`"]);
}

/// A symbol may be called like a field.
#[test]
fn symbols_may_be_called_p_and_symbols() {
    let documents =
        [("q", json!({"p": 0.25, "symbols": 0.75})), ("r", json!({"symbols": 0.75, "p": 0.25}))];
    let found = good("transfer --from q --to r --epsilon 1", &documents);
    assert!((number(&found["exact"]) - 1.0).abs() < 1e-12);
}

/// Numbers that a prior names without saying so are matched with the numbers of the command line.
#[test]
fn a_prior_of_numbers_is_matched_with_the_points_asked_for() {
    let documents = [
        ("turned", json!({"symbols": ["3", "1", "2"], "p": [0.2, 0.5, 0.3]})),
        ("plain", json!({"symbols": ["1", "2", "3"], "p": [0.5, 0.3, 0.2]})),
        (
            "valued",
            json!({"symbols": ["hi", "lo", "mid"], "values": [3, 1, 2], "p": [0.2, 0.5, 0.3]}),
        ),
        ("bare", json!([0.5, 0.3, 0.2])),
        ("letters", json!({"a": 0.5, "b": 0.3, "c": 0.2})),
    ];
    let numbers = "--points 1,2,3 --range 1,3 --protect lip:1 --method optimal --output-bins 4";
    let of = |name: &str| good(&format!("design --prior {name} {numbers}"), &documents);
    let plain = of("plain");
    for name in ["turned", "valued", "bare"] {
        let found = of(name);
        assert_eq!(found["utility"], plain["utility"], "{name}");
        assert_eq!(found["attained"], plain["attained"], "{name}");
    }
    // By position these would have been 1, 2 and 3.
    refused(&format!("design --prior letters {numbers}"), &documents, &[r#""a", "b", "c""#]);
    let bins = "--range 0,3 --bins 3 --protect lip:1";
    refused(&format!("design --prior letters {bins}"), &documents, &[r#""a", "b", "c""#, "3 bins"]);
    good(&format!("design --prior bare {bins}"), &documents);
}

/// The ends of a box over bins say which bins they are of.
#[test]
fn a_box_of_bins_is_matched_by_its_edges() {
    let of = |p: [f64; 2], edges: [u8; 3]| json!({"p": p, "edges": edges});
    let documents = [
        ("prior", json!({"symbols": ["5", "15"], "p": [0.4, 0.6], "edges": [0, 10, 20]})),
        ("low", of([0.3, 0.5], [0, 10, 20])),
        ("high", of([0.5, 0.7], [0, 10, 20])),
        ("other", of([0.5, 0.7], [0, 5, 20])),
    ];
    let words = "design --prior prior --prior-lower low --prior-upper high --protect lip:1";
    let (_, policy) = designed(words, &documents);
    assert_eq!(policy["context"]["kind"], "box");
    refused(&words.replace("high", "other"), &documents, &["2 bins from 0 to 20", "same bins"]);
}

#[test]
fn priors_that_disagree_about_their_numbers_are_refused() {
    let documents = [
        ("first", json!({"symbols": ["lo", "hi"], "values": [1, 2], "p": [0.5, 0.5]})),
        ("turned", json!({"symbols": ["hi", "lo"], "values": [2, 1], "p": [0.4, 0.6]})),
        ("other", json!({"symbols": ["hi", "lo"], "values": [1, 2], "p": [0.4, 0.6]})),
    ];
    let words = "design --prior first --prior turned --protect lip:1 --objective squared";
    good(words, &documents);
    refused(&words.replace("turned", "other"), &documents, &["values", "\"lo\""]);
}

#[test]
fn policies_carry_the_names_of_a_joint_law() {
    let rows = json!([[0.2, 0.2, 0.1], [0.1, 0.2, 0.2]]);
    let named = json!({"secret": ["ill", "well"], "symbols": ["x", "y", "z"], "rows": rows});
    let documents = [("joint", named), ("bare", rows)];
    for words in [
        "design --joint joint --protect lip:0.2 --objective mi",
        "watchdog --joint joint --lower 0.2 --upper 0.2",
    ] {
        let (_, policy) = designed(words, &documents);
        assert_eq!(
            policy["inputs"]["names"],
            json!(["x", "y", "z"]),
            "{words}: {}",
            policy["inputs"]
        );
        let (_, policy) = designed(&words.replace("joint joint", "joint bare"), &documents);
        assert!(policy["inputs"]["names"].is_null(), "{words}: {}", policy["inputs"]);
    }
}

/// What the mixture of lists without names writes has none either, and so matches them again.
#[test]
fn a_mixture_of_bare_lists_stays_bare() {
    let documents = [("one", json!([0.5, 0.5])), ("two", json!([0.9, 0.1]))];
    let mixed = good("prior mix one two --weights 0.75,0.25", &documents);
    assert!(mixed["symbols"].is_null(), "{mixed}");
    let documents = [documents[0].clone(), ("mixed", mixed)];
    good("transfer --from one --to mixed --epsilon 1", &documents);
}

#[test]
fn the_table_for_people_names_the_symbols() {
    let dir = Scratch::new("labels");
    let prior = dir.file("p.json", r#"{"no": 0.9, "yes": 0.1}"#);
    let channel = dir.file(
        "q.json",
        r#"{"inputs": ["yes", "no"], "outputs": ["Y", "N"], "rows": [[0.7, 0.3], [0.2, 0.8]]}"#,
    );
    let output = crate::common::undertone(&["audit", "--prior", &prior, "--channel", &channel]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("input yes, output Y"), "{text}");
    let (_, value) = run(&["audit", "--prior", &prior, "--channel", &channel]);
    assert_eq!(value["worst"]["max_lift"], json!({"input": 1, "output": 0}));
    assert_eq!(value["inputs"], json!(["no", "yes"]));
}
