//! Cross-tables and designed samples of files.

use std::io::Cursor;

use undertone::Answer;
use undertone::columns::Source;
use undertone::crosstab::{CrosstabMethod, CrosstabRequest, crosstab};
use undertone::estimate::{SampledSharesRequest, estimate_sample};
use undertone::observations::{Observations, ObservedAs, ObservedColumn, ReportedUnder, Sampling};
use undertone_core::{
    Alphabet, Claim, Context, Delta, Draft, Epsilon, MASS_ONE, Policy, Provenance, Shape, Table,
};

/// A policy of two symbols, no and yes, from P(yes|no) and P(yes|yes); it promises next to nothing.
fn policy(names: [&str; 2], yes: [f64; 2]) -> Policy {
    let row = |yes: f64| {
        let mass = (yes * MASS_ONE as f64).round() as u64;
        vec![MASS_ONE - mass, mass]
    };
    let shape = Shape::Table(Table::from_masses(yes.map(row).to_vec()).unwrap());
    let delta = Delta::from_units(MASS_ONE - 1).unwrap();
    let claim = Claim { delta, ..Claim::ldp(Epsilon::parse("22").unwrap()) };
    let inputs = Alphabet::names(names).unwrap();
    let draft =
        Draft::new(inputs, None, shape, Context::Unknown, vec![claim], Provenance::default());
    draft.unwrap().verify().unwrap()
}

fn source(text: &str) -> Source {
    Source::reader("people", Cursor::new(text.to_owned()))
}

fn people() -> String {
    let mut text = String::from("answer,sex,w,where\n");
    for row in 0..400 {
        let answer = if row % 5 < 2 + row % 2 { "yes" } else { "no" };
        let sex = if row % 2 == 0 { "f" } else { "m" };
        text += &format!("{answer},{sex},{},{}\n", 1 + row % 3, row % 4);
    }
    text + "NA,f,1,0\nyes,,1,0\n"
}

#[test]
fn a_randomised_column_by_a_clear_one() {
    let mut request = CrosstabRequest::new(["answer", "sex"]);
    let under = ReportedUnder::from(policy(["no", "yes"], [0.25, 0.75]));
    request.randomised = vec![("answer".into(), under)];
    for method in [CrosstabMethod::Mle, CrosstabMethod::Unbiased] {
        request.method = method;
        let found = crosstab(source(&people()), &request).unwrap();
        assert_eq!((found.n, found.rows, found.missing), (400, 402, 2));
        // Of the women 40 % said yes, of the men 60 %: (0.4 - 0.25)/0.5 and (0.6 - 0.25)/0.5.
        let json = found.json();
        let value = |at: usize| json["conditional"][at]["value"].as_f64().unwrap();
        assert!((value(1) - 0.3).abs() < 1e-9 && (value(3) - 0.7).abs() < 1e-9);
        assert_eq!(json["conditional"][1]["given"]["sex"], "f");
        assert!((json["differences"][1]["value"].as_f64().unwrap() - 0.4).abs() < 1e-9);
        assert_eq!(json["independence"][0]["test"], "pearson");
        assert_eq!(json["cells"].as_array().unwrap().len(), 4);
        assert!(found.words().contains("answer was randomised as the policy says"));
    }
}

#[test]
fn weights_strata_and_margins_come_from_columns() {
    let mut request = CrosstabRequest::new(["answer", "sex"]);
    let margins = Sampling::read_margins("m.json", r#"{"sex": {"f": 1, "m": 3}}"#).unwrap();
    request.sampling = Sampling {
        weights: Some("w".into()),
        strata: Some("where".into()),
        margins,
        ..Sampling::default()
    };
    let found = crosstab(source(&people()), &request).unwrap();
    let women: f64 = found
        .cells
        .iter()
        .filter(|cell| cell.symbols[1] == "f")
        .filter_map(|cell| cell.share.value)
        .sum();
    assert!((women - 0.25).abs() < 1e-9);
    assert!(found.assumptions.last().unwrap().contains("raked to the known margins of sex"));
    assert_eq!(found.independence[0].test, "rao-scott");
}

#[test]
fn rows_under_several_designs() {
    // Half of the rows are clear, half under a policy that lists the symbols the other way round.
    let mut text = String::from("answer,design,sex\n");
    for row in 0..400 {
        let answer = if row % 4 == 0 { "yes" } else { "no" };
        text += &format!("{answer},{},{}\n", if row < 200 { "dq" } else { "rr" }, row % 2);
    }
    let designs = vec![
        ("dq".to_owned(), None),
        ("rr".to_owned(), Some(policy(["yes", "no"], [0.125, 0.875]))),
    ];
    let under = ReportedUnder::By { column: "design".into(), designs };
    let request = SampledSharesRequest {
        column: "answer".into(),
        under,
        by: None,
        sampling: Sampling::default(),
        level: 0.95,
    };
    let found = estimate_sample(source(&text), &request).unwrap();
    let yes = found.shares.iter().find(|share| share.symbol == "yes").unwrap();
    // A quarter of the clear ones, and (0.25 - 0.125)/0.75 of the others.
    assert!((yes.share.value.unwrap() - (0.25 + 0.125 / 0.75) / 2.0).abs() < 1e-9);
    assert!(found.notes.iter().any(|note| note.contains("several designs")));
    let words = estimate_sample(source(&text.replace(",rr,", ",odd,")), &request).unwrap_err();
    let words = words.to_string();
    assert!(
        words.starts_with(
            "people: row 201 (line 202), column \"answer\" has a row whose \"design\" is \"odd\""
        ),
        "{words}"
    );
}

#[test]
fn bad_rows_are_named() {
    let read = |text: &str, kind: ObservedAs| {
        let wanted = [ObservedColumn::new("w", kind)];
        Observations::read(source(text), &wanted).unwrap_err().to_string()
    };
    let words = read("w\n1\n0\n", ObservedAs::Weight);
    assert!(
        words.starts_with(
            "people: row 2 (line 3), column \"w\" is a weight of 0: weights must be above nought"
        ),
        "{words}"
    );
    let words = read("w\n1\nx\n", ObservedAs::Number);
    assert!(words.contains("row 2 (line 3), column \"w\" is \"x\": give a number"), "{words}");
    assert!(read("w\n\nNA\n", ObservedAs::Number).contains("every one of 2 rows lacks"));
    let under = ReportedUnder::from(policy(["no", "yes"], [0.25, 0.75]));
    let words = read("w\nyes\nred\n", ObservedAs::Randomised(under));
    assert!(
        words.contains("row 2 (line 3), column \"w\" is none of the policy's 2 outputs (no, yes)"),
        "{words}"
    );
    let mut request = CrosstabRequest::new(["a"]);
    assert!(request.wanted().unwrap_err().to_string().starts_with("columns: 1 columns"));
    request = CrosstabRequest::new(["a", "b"]);
    request.randomised =
        vec![("c".into(), ReportedUnder::from(policy(["no", "yes"], [0.25, 0.75])))];
    assert_eq!(
        request.wanted().unwrap_err().to_string(),
        "randomised: \"c\" is none of the columns a, b"
    );
}

#[test]
fn the_published_rows_of_rrtcs_come_from_the_file() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/surveys/rrtcs_horvitz.csv");
    if !path.exists() {
        println!("skipped: no ../shared/data/surveys");
        return;
    }
    for (column, innocuous, value, interval) in [
        ("copied", 1.0 / 12.0, 0.840_610_3, Some((0.767_545, 0.913_675_6))),
        ("fought", 0.1, 0.407_042_3, Some((0.343_677_6, 0.470_406_9))),
        ("bullied", 2.0 / 3.0, 0.122_065_7, Some((0.050_388_5, 0.193_742_9))),
        ("bullying", 0.1, 0.128_169, None),
        ("drug", 1.0 / 3.0, 0.128_638_5, None),
        ("sex", 1.0 / 12.0, 0.065_962_4, None),
    ] {
        // With probability a half the innocuous question is answered.
        let yes = [0.5 * innocuous, 0.5 + 0.5 * innocuous];
        let request = SampledSharesRequest {
            column: column.into(),
            under: ReportedUnder::from(policy(["0", "1"], yes)),
            by: None,
            sampling: Sampling { population: Some(10_777), ..Sampling::default() },
            level: 0.95,
        };
        let found = estimate_sample(Source::file(&path), &request).unwrap();
        let share = found.shares[1].share;
        assert!((share.value.unwrap() - value).abs() < 5e-7, "{column}: {share:?}");
        if let Some((low, high)) = interval {
            let close =
                |found: Option<f64>, published: f64| (found.unwrap() - published).abs() < 1e-6;
            assert!(close(share.low, low) && close(share.high, high), "{column}: {share:?}");
        }
    }
}
