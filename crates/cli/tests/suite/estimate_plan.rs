//! `undertone estimate --plan`: responses of known counts, so that every number can be checked.

use crate::common::{Scratch, undertone};
use serde_json::Value;
use undertone_core::{
    Alphabet, ItemAnswer, KEEP_ONE, Keep, MASS_ONE, Plan, Policy, ReportId, Response, Shape, Token,
};
use undertone_testkit::plan::{PlannedItem, plan};
use undertone_testkit::policy::{loose, oue};

fn names(list: &[&str]) -> Alphabet {
    Alphabet::names(list.iter().copied()).unwrap()
}

/// Half of the answers are kept, the others drawn anew.
fn half(inputs: Alphabet) -> Policy {
    let (size, share) = (inputs.len(), MASS_ONE / inputs.len() as u64);
    loose(
        inputs,
        None,
        Shape::Keep(Keep::new(vec![KEEP_ONE / 2; size], vec![share; size]).unwrap()),
    )
}

/// Everybody says whether they smoke; of commute × size and colour one is drawn.
fn survey() -> Plan {
    let smoke = names(&["no", "yes"]);
    let items = vec![
        PlannedItem::new(&[0], &half(smoke.clone())),
        PlannedItem::new(&[1, 2], &half(Alphabet::indices(4).unwrap())).drawn(),
        PlannedItem::new(&[3], &oue(3, None, "2")).drawn(),
    ];
    let questions = [
        ("smoke", smoke),
        ("commute", names(&["bus", "a × b"])),
        ("size", names(&["small", "large"])),
        ("colour", Alphabet::indices(3).unwrap()),
    ];
    plan(&questions, items, 1)
}

/// 200 people: what each sends, as a row and as tokens.
fn people() -> Vec<(String, Vec<ItemAnswer>)> {
    let index = |item: u32, token: u32| ItemAnswer { item, token: Token::Index(token) };
    let written = ["bus × small", "bus × large", "a \\× b × small", "a \\× b × large"];
    let one = |person: u32| {
        let smokes = u32::from(person.is_multiple_of(4));
        let (label, mut answers) = (["no", "yes"][smokes as usize], vec![index(0, smokes)]);
        let row = if person.is_multiple_of(2) {
            let pair = [0, 0, 1, 2, 3][person as usize / 2 % 5];
            answers.push(index(1, pair));
            format!("{label},{},", written[pair as usize])
        } else {
            let bits = [0x80, 0x40, 0x60][person as usize / 2 % 3];
            answers.push(ItemAnswer { item: 2, token: Token::Bits(vec![bits].into()) });
            format!("{label},,{bits:02x}")
        };
        (row, answers)
    };
    (0..200).map(one).collect()
}

fn files(scratch: &Scratch) -> [String; 3] {
    let plan = survey();
    let mut frame = String::from("smoke,commute × size,colour\n");
    let mut lines = String::new();
    for (at, (row, answers)) in people().into_iter().enumerate() {
        frame += &format!("{row}\n");
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(at as u64).to_be_bytes());
        let response = Response { plan: plan.id(), id: ReportId(id), answers };
        lines += &format!("{}\n", response.to_json());
    }
    [("plan.json", plan.to_json()), ("released.csv", frame), ("sent.jsonl", lines)]
        .map(|(name, text)| scratch.file(name, &text))
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    let (code, value) = crate::common::json(args);
    assert_eq!(code, 0, "{value}");
    value
}

#[track_caller]
fn complaint(args: &[&str]) -> String {
    let (code, said) = crate::common::complaint(args);
    assert_ne!(code, 0, "{args:?}");
    said
}

fn share(report: &Value, question: usize, answer: usize) -> f64 {
    report["questions"][question]["headline"]["shares"][answer]["value"].as_f64().unwrap()
}

#[test]
fn a_frame_and_its_messages_say_the_same_of_every_question() {
    let scratch = Scratch::new("estimate-plan");
    let [plan, frame, sent] = files(&scratch);
    let of_frame = json(&["estimate", "--plan", &plan, &frame]);
    let of_messages = json(&["estimate", "--plan", &plan, &sent]);
    assert_eq!(of_frame, of_messages);
    assert_eq!((&of_frame["responses"], &of_frame["rows"]), (&200.into(), &200.into()));
    let answered: Vec<u64> =
        (0..4).map(|at| of_frame["questions"][at]["answered"].as_u64().unwrap()).collect();
    assert_eq!(answered, [200, 100, 100, 100]);
    // A quarter said yes; half of the answers are kept.
    assert!((share(&of_frame, 0, 1) - 0.0).abs() < 1e-9);
    // Bus was released by 60 of 100, whatever the size.
    assert!((share(&of_frame, 1, 0) - 0.7).abs() < 1e-9);
    assert_eq!(of_frame["questions"][1]["headline"]["shares"][1]["symbol"], "a × b");
    assert!((share(&of_frame, 2, 0) - 0.7).abs() < 1e-9);
    // Everything an estimate has, also for a question that was asked in a pair.
    assert!(of_frame["questions"][1]["fit"]["converged"].as_bool().unwrap());
    assert_eq!(of_frame["questions"][1]["items"], serde_json::json!([1]));
    let text = undertone(&["estimate", "--plan", &plan, &frame]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("commute, answered by 100") && text.contains("200 responses"), "{text}");
    assert_eq!(json(&["estimate", "--plan", &plan, &frame, "--threads", "1"]), of_frame);
}

#[test]
fn tallies_of_parts_add_up_with_their_pairs() {
    let scratch = Scratch::new("estimate-plan-tally");
    let [plan, frame, sent] = files(&scratch);
    let (head, rest) = std::fs::read_to_string(&frame)
        .map(|text| {
            let (head, rest) = text.split_at(text.match_indices('\n').nth(90).unwrap().0 + 1);
            let names = head.lines().next().unwrap();
            (head.to_owned(), format!("{names}\n{rest}"))
        })
        .unwrap();
    let parts = [scratch.file("one.csv", &head), scratch.file("two.csv", &rest)];
    let pairs = ["--pairs", "smoke,commute", "--pairs", "smoke,colour"];
    let [a, b, both, whole] = ["a", "b", "both", "whole"].map(|name| scratch.path(name));
    let run = |more: &[&str]| json(&[&["estimate", "--plan", &plan], &pairs[..], more].concat());
    run(&[&parts[0], "--save-tally", &a]);
    run(&[&parts[1], "--save-tally", &b]);
    let merged = run(&["--tally", &a, "--tally", &b, "--save-tally", &both]);
    let at_once = run(&[&sent, "--save-tally", &whole]);
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&both), read(&whole));
    assert_eq!(merged["questions"], at_once["questions"]);
    assert_eq!(merged["together"], at_once["together"]);
    let together = merged["together"].as_array().unwrap();
    let counted: Vec<(&Value, &Value)> = together
        .iter()
        .filter(|one| one["headline"].is_null())
        .map(|one| (&one["items"], &one["reports"]))
        .collect();
    let (first, second) = (serde_json::json!([0, 1]), serde_json::json!([0, 2]));
    assert_eq!(counted, [(&first, &100.into()), (&second, &100.into())]);
    // The combined item is answered as it stands: sizes and commutes together.
    let joint: Vec<&Value> = together.iter().filter(|one| one["headline"].is_object()).collect();
    let [joint] = joint[..] else { panic!("{together:?}") };
    let shares = joint["headline"]["shares"].as_array().unwrap();
    assert_eq!(joint["questions"].as_array().unwrap().len(), 2);
    assert!(shares.iter().all(|share| share["symbol"].as_str().unwrap().contains(" × ")));
    let sum: f64 = shares.iter().map(|share| share["value"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 0.2, "{sum}");
    let tally: Value = serde_json::from_str(&read(&whole)).unwrap();
    assert_eq!(tally["undertone"], "plan-tally/1");
    // Without --pairs a stored tally brings its own.
    let bare = json(&["estimate", "--plan", &plan, "--tally", &a, "--tally", &b]);
    assert_eq!(bare["together"], merged["together"]);
    // The same messages again are the same people.
    let twice = json(&["estimate", "--plan", &plan, &sent, &sent]);
    assert_eq!((&twice["responses"], &twice["repeated"]), (&200.into(), &200.into()));
}

#[test]
fn bad_responses_are_named_with_the_fix() {
    let scratch = Scratch::new("estimate-plan-bad");
    let [plan, frame, sent] = files(&scratch);
    let wrong = |name: &str, from: &str, to: &str, said: &str| {
        let path = if name.ends_with("csv") { &frame } else { &sent };
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from}");
        let path = scratch.file(&format!("bad-{name}"), &text.replacen(from, to, 1));
        let error = complaint(&["estimate", "--plan", &plan, &path]);
        assert!(error.contains(said), "{error}");
    };
    wrong("a.csv", "bus × small", "bus × tiny", "row 1 (line 2), column \"commute × size\"");
    wrong("b.csv", "smoke,", "smokes,", "there is no column \"smoke\"");
    wrong("c.csv", "no,,40", "no,bus × small,40", "2 of the drawn items, of which 1");
    wrong("d.csv", "no,,40", "maybe,,40", "none of the policy's 2 outputs (no, yes)");
    wrong("e.csv", "no,,40", "no,,4", "is not 2 hexadecimal digits for 3 bits");
    wrong("f.jsonl", "\"token\":0", "\"token\":7", "outside the outputs");
    wrong("g.jsonl", "\"item\":0", "\"item\":9", "line 1: not a response of the plan");
    let skipped = std::fs::read_to_string(&frame).unwrap().replacen("no,,40", "maybe,,40", 1);
    let path = scratch.file("skipped.csv", &skipped);
    let report = json(&["estimate", "--plan", &plan, &path, "--unknown", "skip"]);
    assert_eq!(report["unknown"], 1);
    assert_eq!(report["questions"][0]["answered"], 199);
    let error = complaint(&["estimate", "--plan", &plan, &frame, "--pairs", "smoke,age"]);
    assert!(error.contains("--pairs") && error.contains("there is no question \"age\""), "{error}");
    let error = complaint(&["estimate", "--plan", &plan, &frame, "--pairs", "commute,colour"]);
    assert!(error.contains("nobody answers commute, colour together"), "{error}");
    let error = complaint(&["estimate", "--plan", &plan, "--policy", &plan, &frame]);
    assert!(error.contains("--policy"), "{error}");
}
