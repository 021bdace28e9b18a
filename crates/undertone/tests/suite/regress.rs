//! Regressions from files: which columns are what, and the JSON programs read.

use undertone::columns::Source;
use undertone::observations::ReportedUnder;
use undertone::regress::{RegressRequest, regress};
use undertone::{Answer, ErrorCode};
use undertone_core::{
    Alphabet, Claim, Context, Draft, Epsilon, MASS_ONE, Policy, Provenance, Shape, Table,
};

/// A yes/no design that tells the truth, or the opposite, with a probability of three quarters.
fn three_quarters(symbols: [&str; 2], truth: bool) -> Policy {
    let (often, seldom) = (MASS_ONE / 4 * 3, MASS_ONE / 4);
    let own = if truth { [often, seldom] } else { [seldom, often] };
    let rows = vec![own.to_vec(), own.iter().rev().copied().collect()];
    let shape = Shape::Table(Table::from_masses(rows).unwrap());
    let inputs = Alphabet::names(symbols).unwrap();
    let claims = vec![Claim::ldp(Epsilon::parse("1.1").unwrap())];
    let outputs = Some(inputs.clone());
    let draft = Draft::new(inputs, outputs, shape, Context::Unknown, claims, Provenance::default());
    draft.unwrap().verify().unwrap()
}

/// 400 people in two regions; of the young 40 % report yes, of the old 60 %. One row lacks the age.
fn people() -> Source {
    let mut rows = String::from("answer,age,region,person,w\n");
    for person in 0..400 {
        let answer = if person % 5 < 2 + person % 2 { "yes" } else { "no" };
        let region = ["north", "south"][person / 2 % 2];
        let (age, household) = (20 + 30 * (person % 2), person / 4);
        rows += &format!("{answer},{age},{region},{household},{}\n", 1 + person % 3);
    }
    rows += "yes,,west,100,1\n";
    Source::reader("people", std::io::Cursor::new(rows))
}

fn asked(formula: &str) -> RegressRequest {
    let under = ReportedUnder::from(three_quarters(["no", "yes"], true));
    RegressRequest { randomised: vec![("answer".into(), under)], ..RegressRequest::new(formula) }
}

#[test]
fn words_are_categories_and_numbers_are_numbers() {
    let at =
        |age: &str| vec![("age".to_owned(), age.to_owned()), ("region".into(), "south".into())];
    let request =
        RegressRequest { at: vec![at("50")], tests: true, ..asked("answer ~ age + region") };
    let found = regress(people(), &request).unwrap();
    assert_eq!((found.n, found.rows, found.missing), (400, 401, 1));
    let names: Vec<&str> = found.coefficients.iter().map(|one| one.name.as_str()).collect();
    // The west was in the row that was left out alone.
    assert_eq!(names, ["(Intercept)", "age", "region[south]"]);
    // (.6 - .25) / .5: the regions are alike.
    assert!((found.predictions[0].value - 0.7).abs() < 1e-9, "{:?}", found.predictions);
    let json = found.json();
    for field in ["coefficients", "log_likelihood", "n", "family", "iterations", "errors"] {
        assert!(!json[field].is_null(), "{field}");
    }
    for field in ["name", "estimate", "std_error", "low", "high"] {
        assert!(!json["coefficients"][0][field].is_null(), "{field}");
    }
    assert_eq!((found.family, found.errors), ("logistic", "expected"));
    assert!(found.words().contains("odds of yes"), "{}", found.words());
}

#[test]
fn designs_of_samples_make_errors_robust() {
    let mut request = asked("answer ~ age");
    request.sampling.weights = Some("w".into());
    request.sampling.strata = Some("region".into());
    request.sampling.cluster = Some("person".into());
    let found = regress(people(), &request).unwrap();
    assert_eq!(found.errors, "robust");
    assert!(found.coefficients.iter().all(|one| one.design_effect.is_some()));
    assert!(found.weighting_effect.is_some_and(|effect| effect > 1.0));
    let mut request = asked("answer ~ age");
    request.sampling.cluster = Some("person".into());
    request.random_intercept = true;
    let found = regress(people(), &request).unwrap();
    assert_eq!((found.errors, found.random_intercepts.unwrap().clusters), ("observed", 100));
}

#[test]
fn refusals_name_the_field() {
    for (request, field) in [
        (asked("answer ~ age^2"), "formula"),
        (asked("age ~ w"), "randomised"),
        (RegressRequest { level: 2.0, ..asked("answer ~ age") }, "level"),
        (RegressRequest { random_intercept: true, ..asked("answer ~ age") }, "random_intercept"),
        (
            RegressRequest { at: vec![vec![("w".into(), "1".into())]], ..asked("answer ~ age") },
            "at",
        ),
    ] {
        let error = regress(people(), &request).unwrap_err();
        assert_eq!((error.code(), error.blamed()), (ErrorCode::Usage, Some(field)), "{error}");
    }
    let error = regress(people(), &asked("answer ~ w + C(w)")).unwrap_err();
    assert!(error.to_string().contains("adds nothing"), "{error}");
}

/// GLMMRR's example: rows asked directly and by crosswise questions, as a column of the file says.
#[test]
fn the_plagiarism_survey() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned();
    let folders = [Some(beside), std::env::var("UNDERTONE_DATA").ok()];
    let files =
        folders.into_iter().flatten().map(|folder| format!("{folder}/surveys/plagiarism.csv"));
    let Some(file) = files.into_iter().find(|file| std::path::Path::new(file).exists()) else {
        println!("skipped: no ../shared/data/surveys");
        return;
    };
    let crosswise = three_quarters(["0", "1"], false);
    let designs = vec![("DQ".into(), None), ("Crosswise".into(), Some(crosswise))];
    let under = ReportedUnder::By { column: "RRmodel".into(), designs };
    let request = RegressRequest {
        randomised: vec![("response".into(), under)],
        ..RegressRequest::new("response ~ Gender + RR + pp + age")
    };
    let found = regress(Source::file(file), &request).unwrap();
    assert_eq!((found.n, found.missing), (802, 10));
    assert!((found.log_likelihood.unwrap() + 400.444_595).abs() < 1e-6);
    let estimates = [0.834954, -0.044124, 1.332362, 2.389940, -0.263068];
    let errors = [3.0728, 0.51915, 0.52268, 1.08441, 0.13266];
    for ((one, estimate), error) in found.coefficients.iter().zip(estimates).zip(errors) {
        assert!((one.estimate - estimate).abs() < 1e-6, "{one:?}");
        assert!((one.std_error - error).abs() < 5e-5, "{one:?}");
    }
}
