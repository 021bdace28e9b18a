//! `undertone crosstab`, and shares with a sample's design: files of known counts.

use crate::common::{Scratch, complaint, json, root, undertone};
use serde_json::Value;
use undertone_core::{
    Alphabet, Claim, Context, Delta, Draft, Epsilon, MASS_ONE, Provenance, Shape, Table,
};

/// A policy of two symbols from the chance that each is reported as the second; it promises next to nothing.
fn policy(names: [&str; 2], second: [f64; 2]) -> String {
    let row = |p: f64| {
        let mass = (p * MASS_ONE as f64).round() as u64;
        vec![MASS_ONE - mass, mass]
    };
    let shape = Shape::Table(Table::from_masses(second.map(row).to_vec()).unwrap());
    let delta = Delta::from_units(MASS_ONE - 1).unwrap();
    let claim = Claim { delta, ..Claim::ldp(Epsilon::parse("22").unwrap()) };
    let inputs = Alphabet::names(names).unwrap();
    let draft =
        Draft::new(inputs, None, shape, Context::Unknown, vec![claim], Provenance::default());
    draft.unwrap().verify().unwrap().draft().to_json()
}

fn people() -> String {
    let mut text = String::from("answer,sex,w,where,design\n");
    for row in 0..400 {
        let answer = if row % 5 < 2 + row % 2 { "yes" } else { "no" };
        let sex = if row % 2 == 0 { "f" } else { "m" };
        let design = if row < 200 { "direct" } else { "coin" };
        text += &format!("{answer},{sex},{},{},{design}\n", 1 + row % 3, row % 4);
    }
    text
}

#[track_caller]
fn near(value: &Value, expected: f64, within: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

#[test]
fn a_randomised_question_by_sex() {
    let dir = Scratch::new("crosstab");
    let (data, coin) = (dir.file("people.csv", &people()), policy(["no", "yes"], [0.25, 0.75]));
    let randomised = format!("answer={}", dir.file("coin.json", &coin));
    let words =
        ["crosstab", "--data", &data, "--columns", "answer,sex", "--randomised", &randomised];
    let (code, found) = json(&words);
    assert_eq!((code, &found["n"]), (0, &400.into()));
    // Of the women 40 % said yes, of the men 60 %.
    near(&found["conditional"][1]["value"], 0.3, 1e-9);
    near(&found["differences"][1]["value"], 0.4, 1e-9);
    near(&found["cells"][2]["value"], 0.15, 1e-9);
    assert_eq!(found["cells"][2]["symbols"], serde_json::json!(["yes", "f"]));
    // 400 (.2)² / (1 - .2²) over the margins of one half each: Pearson's statistic of 80, 120, 120, 80.
    near(&found["independence"][0]["statistic"], 16.0, 1e-9);
    let shown = String::from_utf8(undertone(&words).stdout).unwrap();
    assert!(shown.contains("Shares of answer in each group"), "{shown}");
    assert!(shown.contains("answer was randomised as the policy says"), "{shown}");

    let map = dir.file("map.json", r#"{"direct": "clear", "coin": "coin.json"}"#);
    let by = format!("design={map}");
    let (code, found) =
        json(&[&words[..], &["--policy-by", &by, "--weights", "w", "--strata", "where"]].concat());
    assert_eq!((code, &found["independence"][0]["test"]), (0, &"rao-scott".into()));
    let picture = dir.path("groups.svg");
    let said = String::from_utf8(undertone(&[&words[..], &["--plot", &picture]].concat()).stdout);
    assert!(said.unwrap().contains("picture written to"));
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.contains("answer by sex") && drawn.contains("sex = f: answer = yes"), "{drawn}");
    assert_eq!(drawn.matches("<circle").count(), 4);
    let margins = dir.file("margins.json", r#"{"sex": {"f": 3, "m": 1}}"#);
    let (code, found) = json(&[&words[..], &["--margins", &margins]].concat());
    assert_eq!(code, 0);
    near(&found["margins"][1]["shares"][0]["value"], 0.75, 1e-9);
}

#[test]
fn shares_with_a_design_and_in_groups() {
    let dir = Scratch::new("sampled");
    let data = dir.file("people.csv", &people());
    let coin = dir.file("coin.json", &policy(["no", "yes"], [0.25, 0.75]));
    let words = ["estimate", "--policy", &coin, "--column", "answer", "--by", "sex", &data];
    let (code, found) = json(&words);
    assert_eq!(code, 0);
    near(&found["groups"][0]["shares"][1]["value"], 0.3, 1e-9);
    near(&found["groups"][1]["shares"][1]["value"], 0.7, 1e-9);
    near(&found["differences"][0]["shares"][1]["value"], 0.4, 1e-9);
    let (code, found) = json(&[&words[..], &["--weights", "w", "--cluster", "where"]].concat());
    assert_eq!(code, 0);
    assert!(found["design_effect"].as_f64().unwrap() > 0.0);
}

#[test]
fn bad_input_is_named_with_its_fix() {
    let dir = Scratch::new("crosstab-bad");
    let data = dir.file("people.csv", &people().replace("yes,m,2,", "yes,m,-2,"));
    let coin = dir.file("coin.json", &policy(["no", "yes"], [0.25, 0.75]));
    let other = dir.file("other.json", &policy(["red", "green"], [0.25, 0.75]));
    let same = dir.file("same.json", &policy(["no", "yes"], [0.5, 0.5]));
    let run = |more: &[&str]| {
        complaint(&[&["crosstab", "--data", &data, "--columns", "answer,sex"], more].concat())
    };
    let randomised = format!("answer={coin}");
    let said = run(&["--randomised", &randomised, "--weights", "w"]);
    assert_eq!(said.0, 1);
    assert!(
        said.1.contains("column \"w\" is a weight of -2: weights must be above nought"),
        "{}",
        said.1
    );
    let said = run(&["--randomised", &format!("answer={other}")]);
    assert_eq!(said.0, 1);
    assert!(said.1.contains("is none of the policy's 2 outputs (red, green)"), "{}", said.1);
    assert!(said.1.contains("--randomised"), "{}", said.1);
    for (margins, words) in
        [("{}", "says nothing"), (r#"{"sex": {"f": 0.5, "m": 0.4}}"#, "add up to 0.9")]
    {
        let file = dir.file("margins.json", margins);
        let said = run(&["--randomised", &randomised, "--margins", &file]);
        assert!(said.0 != 0 && said.1.contains(words), "{margins}: {said:?}");
    }
    let estimate = ["estimate", "--policy", &coin, "--column", "answer", &data, "--by", "sex"];
    let said = complaint(&[&estimate[..], &["--unknown", "skip"]].concat());
    assert!(said.0 == 2 && said.1.contains("leave out --unknown"), "{said:?}");
    let (_, found) = json(&[&estimate[..6], &["--population", "10"]].concat());
    assert!(found["warnings"].to_string().contains("400 reports of a population of 10"), "{found}");
    let said = run(&["--randomised", "answer"]);
    assert_eq!(said.0, 2);
    assert!(said.1.contains("give a column and a file"), "{}", said.1);
    // A design whose channel is singular says so, and prints no number.
    let (code, found) = json(&[
        "crosstab",
        "--data",
        &data,
        "--columns",
        "answer,sex",
        "--randomised",
        &format!("answer={same}"),
    ]);
    assert_eq!(code, 0);
    assert!(found["cells"].as_array().unwrap().iter().all(|cell| cell["value"].is_null()));
    assert!(found["notes"][0].as_str().unwrap().contains("do not determine the share of no, yes"));
    let lone = dir.file("lone.csv", "a,b,s\nx,u,1\nx,v,1\ny,u,2\n");
    let said = complaint(&["crosstab", "--data", &lone, "--columns", "a,b", "--strata", "s"]);
    assert!(
        said.1.contains("stratum \"2\" has one row") && said.1.contains("merge it"),
        "{}",
        said.1
    );
}

#[test]
fn rrtcs_rows_come_from_the_command() {
    let data = root().join("../shared/data/surveys/rrtcs_horvitz.csv");
    if !data.exists() {
        println!("skipped: no ../shared/data/surveys");
        return;
    }
    let dir = Scratch::new("rrtcs");
    // The unrelated question is asked with probability a half; a tenth would say yes to it.
    let unrelated = dir.file("p.json", &policy(["0", "1"], [0.05, 0.55]));
    let data = data.to_str().unwrap();
    let words =
        ["estimate", "--policy", &unrelated, "--column", "fought", "--population", "10777", data];
    let (code, found) = json(&words);
    assert_eq!(code, 0);
    let share = &found["sample"]["shares"][1];
    near(&share["value"], 0.407_042_3, 5e-8);
    near(&share["low"], 0.343_677_6, 1e-7);
    near(&share["high"], 0.470_406_9, 1e-7);
}
