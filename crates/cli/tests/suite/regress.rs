//! `undertone regress`: from a file to coefficients.

use crate::common::{Scratch, close, complaint, json, root, undertone};
use serde_json::Value;
use undertone_core::Alphabet;
use undertone_testkit::policy::{loose, table};

/// The file of a yes/no design: the probability of yes given yes, and given no.
fn policy(dir: &Scratch, name: &str, symbols: [&str; 2], given_yes: f64, given_no: f64) -> String {
    let rows = [vec![1.0 - given_no, given_no], vec![1.0 - given_yes, given_yes]];
    let inputs = Alphabet::names(symbols).unwrap();
    dir.file(name, &loose(inputs.clone(), Some(inputs), table(&rows)).to_json())
}

/// 400 people in two regions: of the young 40 % report yes, of the old 60 %.
fn people(dir: &Scratch) -> String {
    let mut rows = String::from("answer,age,region,person,w\n");
    for person in 0..400 {
        let answer = if person % 5 < 2 + person % 2 { "yes" } else { "no" };
        let region = ["north", "south"][person / 2 % 2];
        rows += &format!(
            "{answer},{},{region},{},{}\n",
            20 + 30 * (person % 2),
            person / 4,
            1 + person % 3
        );
    }
    rows += "yes,,north,100,1\n";
    dir.file("people.csv", &rows)
}

fn numbers(value: &Value, field: &str) -> Vec<f64> {
    let list = value["coefficients"].as_array().unwrap();
    list.iter().map(|one| one[field].as_f64().unwrap()).collect()
}

#[test]
fn coefficients_predictions_and_tests() {
    let dir = Scratch::new("regress");
    let (data, policy) = (people(&dir), policy(&dir, "p.json", ["no", "yes"], 0.75, 0.25));
    let randomised = format!("answer={policy}");
    let base =
        ["regress", "--data", &data, "--formula", "answer ~ age", "--randomised", &randomised];
    let (code, found) =
        json(&[&base[..], &["--tests", "--at", "age=50", "--at", "age=20"]].concat());
    assert_eq!(code, 0, "{found}");
    assert_eq!((&found["n"], &found["missing"]), (&Value::from(400), &Value::from(1)));
    assert_eq!((&found["family"], &found["errors"]), (&"logistic".into(), &"expected".into()));
    assert_eq!(found["coefficients"][1]["name"], "age");
    // (.6 - .25) / .5 and (.4 - .25) / .5.
    close(&found["predictions"][0]["value"], 0.7);
    close(&found["predictions"][1]["value"], 0.3);
    close(&found["coefficients"][1]["estimate"], 2.0 * (0.7f64 / 0.3).ln() / 30.0);
    assert_eq!(found["tests"][0]["test"], "likelihood_ratio");
    let text = String::from_utf8(undertone(&base).stdout).unwrap();
    assert!(text.contains("(1 of 401 left out") && text.contains("odds of yes"), "{text}");
    for (more, errors) in [
        (vec!["--errors", "observed"], "observed"),
        (vec!["--errors", "opg"], "opg"),
        (vec!["--errors", "robust"], "robust"),
        (vec!["--weights", "w"], "robust"),
        (vec!["--cluster", "person", "--strata", "region"], "robust"),
        (vec!["--cluster", "person", "--random-intercept"], "observed"),
    ] {
        let (code, found) = json(&[&base[..], &more].concat());
        assert_eq!((code, found["errors"].as_str()), (0, Some(errors)), "{more:?}: {found}");
    }
}

#[test]
fn refusals_name_the_fix() {
    let dir = Scratch::new("regress-bad");
    let (data, policy) = (people(&dir), policy(&dir, "p.json", ["no", "yes"], 0.75, 0.25));
    let randomised = format!("answer={policy}");
    for (formula, more, code, words) in [
        ("answer ~ age^2", vec![], 2, "--formula"),
        ("answer ~ a*b*c*d*e*f*g*h*i*j*k", vec![], 2, "more than 500 terms"),
        ("answer ~ height", vec![], 1, "height"),
        ("answer ~ age + w + C(w)", vec![], 1, "adds nothing"),
        ("age ~ w", vec![], 2, "none of the formula's columns"),
        ("answer ~ age", vec!["--family", "poisson"], 2, "give logistic, multinomial or linear"),
        ("answer ~ age", vec!["--at", "w=1"], 2, "--at"),
        ("answer ~ age", vec!["--at", "age=1,age=2"], 2, "age has two values"),
        ("answer ~ age", vec!["--errors", "opg", "--weights", "w"], 1, "robust errors only"),
        ("answer ~ age", vec!["--random-intercept"], 2, "--cluster"),
    ] {
        let args = ["regress", "--data", &data, "--formula", formula, "--randomised", &randomised];
        let (found, said) = complaint(&[&args[..], &more].concat());
        assert!(found == code && said.contains(words), "{formula} {more:?}: {found} {said}");
    }
}

/// GLMMRR's example: rows asked directly and by crosswise questions, as the column RR says.
#[test]
fn the_plagiarism_survey() {
    let data = root().join("../shared/data/surveys/plagiarism.csv");
    if !data.exists() {
        println!("skipped: no ../shared/data/surveys");
        return;
    }
    let dir = Scratch::new("regress-plagiarism");
    let crosswise = policy(&dir, "crosswise.json", ["0", "1"], 0.25, 0.75);
    let map = dir.file("map.json", r#"{"DQ": "clear", "Crosswise": "crosswise.json"}"#);
    let (randomised, by) = (format!("response={crosswise}"), format!("RRmodel={map}"));
    let formula = "response ~ Gender + RR + pp + age";
    let data = data.display().to_string();
    let (code, found) = json(&[
        "regress",
        "--data",
        &data,
        "--formula",
        formula,
        "--randomised",
        &randomised,
        "--policy-by",
        &by,
    ]);
    assert_eq!((code, &found["n"]), (0, &Value::from(802)), "{found}");
    assert!((found["log_likelihood"].as_f64().unwrap() + 400.444_595).abs() < 1e-6);
    let expected = [0.834954, -0.044124, 1.332362, 2.389940, -0.263068];
    for (found, expected) in numbers(&found, "estimate").iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let expected = [3.0728, 0.51915, 0.52268, 1.08441, 0.13266];
    for (found, expected) in numbers(&found, "std_error").iter().zip(expected) {
        assert!((found - expected).abs() < 5e-5, "{found} {expected}");
    }
}
