//! `undertone hitters`: a plan, a file of reports, and what is found in it.

use crate::common::{Scratch, json, undertone};

/// Values of a file: three words of which one is frequent, one less, and numbers that nobody else has.
fn words(people: u32) -> String {
    let word = |at: u32| match at % 4 {
        0 | 1 => "breakfast".to_owned(),
        2 => "tea".to_owned(),
        _ => format!("x{}", at.wrapping_mul(2_654_435_761) >> 8),
    };
    let rows = (0..people).map(|at| format!("{},{}\n", at, word(at)));
    format!("id,word\n{}", rows.collect::<String>())
}

struct Files {
    scratch: Scratch,
    plan: String,
    people: String,
    reports: String,
}

fn files(protect: &str) -> Files {
    let scratch = Scratch::new("hitters");
    let (plan, reports) = (scratch.path("plan.json"), scratch.path("reports.csv"));
    let people = scratch.file("people.csv", &words(20_000));
    let arguments = ["hitters", "design", "--values", "text:10", "--protect", protect, "-o", &plan];
    let (code, made) = json(&arguments);
    assert_eq!((code, made["rounds"].as_array().unwrap().len()), (0, 5));
    Files { scratch, plan, people, reports }
}

#[test]
fn from_values_to_what_is_found() {
    let Files { scratch, plan, people, reports } = files("ldp:2");
    let (code, written) =
        json(&["hitters", "report", "--plan", &plan, "--column", "word", &people, "-o", &reports]);
    assert_eq!(
        (code, written["reported"].as_u64(), written["ldp"].as_f64()),
        (0, Some(20_000), Some(2.0))
    );
    let text = std::fs::read_to_string(&reports).unwrap();
    // Nothing but the column of reports, all of one length.
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("report"));
    assert!(lines.all(|line| line.len() == 2 * 17 && line.chars().all(|c| c.is_ascii_hexdigit())));
    let (code, found) = json(&["hitters", "find", "--plan", &plan, &reports]);
    let names: Vec<&str> = found["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["value"].as_str().unwrap())
        .collect();
    assert_eq!((code, names), (0, vec!["breakfast", "tea"]));
    let share = found["found"][0]["share"].as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.1, "{share}");
    let said = undertone(&["hitters", "find", "--plan", &plan, &reports]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("\"breakfast\"") && said.contains("at most 0.05"), "{said}");
    // The same reports in two compressed files.
    let half: Vec<&str> = text.lines().skip(1).collect();
    let parts = [&half[..7000], &half[7000..]].map(|part| format!("report\n{}\n", part.join("\n")));
    let (first, second) = (scratch.file("a.csv", &parts[0]), scratch.file("b.csv", &parts[1]));
    let (_, again) = json(&["hitters", "find", "--plan", &plan, &first, &second]);
    assert_eq!(again, found);
}

#[test]
fn reports_stream_and_compress() {
    let Files { scratch, plan, people, .. } = files("ldp:2");
    let packed = scratch.path("reports.csv.gz");
    let report = |output: &str| {
        undertone(&[
            "hitters", "report", "--plan", &plan, "--column", "word", &people, "-o", output,
        ])
    };
    assert!(report(&packed).status.success());
    let (code, found) = json(&["hitters", "find", "--plan", &plan, &packed]);
    assert_eq!((code, found["reports"].as_u64()), (0, Some(20_000)));
    let streamed = report("-");
    assert_eq!(streamed.stdout.iter().filter(|&&byte| byte == b'\n').count(), 20_001);
    assert!(String::from_utf8(streamed.stderr).unwrap().contains("20000 reports"));
    assert_eq!(report(&scratch.path("reports.parquet")).status.code(), Some(2));
    assert_eq!(report(&plan).status.code(), Some(2));
}

#[test]
fn what_cannot_be_used_is_refused_in_words() {
    let Files { scratch, plan, people, reports } = files("ldp:2");
    let refused = |arguments: &[&str], says: &str, expected: i32| {
        let (code, said) = json(arguments);
        let message = said["error"].as_str().unwrap_or_else(|| panic!("{said}"));
        assert!(code == expected && message.contains(says), "{arguments:?}: {code} {message}");
        // A person's value is not repeated.
        assert!(!message.contains("porridge"), "{message}");
    };
    let design = |more: &[&'static str]| {
        [&["hitters", "design", "--values", "text:10", "--protect"][..], more].concat()
    };
    refused(&design(&["ldp:0"]), "larger level", 1);
    refused(&design(&["ldp:-1"]), "--protect", 2);
    refused(&design(&["lip:1"]), "give ldp", 2);
    refused(&design(&["ldp:1", "--rounds", "1"]), "--rounds is 1: give at least 2", 2);
    refused(&design(&["ldp:1", "--people", "200"]), "--people is 200: not even", 2);
    refused(&["hitters", "design", "--values", "text:900", "--protect", "ldp:1"], "at most 64", 2);
    let long = scratch.file("long.csv", "word\nporridge and porridge\n");
    let report = |file: &str, more: &[&str]| {
        let base = ["hitters", "report", "--plan", &plan, "--column", "word", file, "-o", &reports];
        json(&[&base[..], more].concat())
    };
    let said = report(&long, &[]).1["error"].as_str().unwrap().to_owned();
    assert!(said.contains("row 1 (line 2), column \"word\" has more than 10 bytes"), "{said}");
    assert!(said.contains("--unknown skip or empty") && !said.contains("porridge"), "{said}");
    let (code, skipped) = report(&long, &["--unknown", "skip"]);
    assert_eq!(
        (code, skipped["unknown"].as_u64(), skipped["reported"].as_u64()),
        (0, Some(1), Some(0))
    );
    let (_, empty) = report(&long, &["--unknown", "empty"]);
    assert_eq!(empty["reported"].as_u64(), Some(1));
    let nobody = scratch.file("nobody.csv", "word\n");
    assert!(report(&nobody, &[]).1["error"].as_str().unwrap().contains("no rows"));
    // Reports of another plan, no reports, too few reports.
    let other = scratch.path("other.json");
    json(&["hitters", "design", "--values", "text:10", "--protect", "ldp:2.1", "-o", &other]);
    assert_eq!(report(&people, &[]).0, 0);
    refused(&["hitters", "find", "--plan", &other, &reports], "another plan", 1);
    refused(&["hitters", "find", "--plan", &plan, &people], "no column \"report\"", 1);
    refused(&["hitters", "find", "--plan", &plan, "--column", "word", &people], "not a report", 1);
    refused(&["hitters", "find", "--plan", &people, &reports], "expected a plan", 1);
    refused(&["hitters", "find", "--plan", &plan], "give a file", 2);
    refused(
        &["hitters", "find", "--plan", &plan, &reports, "--threshold", "1"],
        "--threshold is 1",
        2,
    );
    let none = scratch.file("none.csv", "report\n");
    refused(&["hitters", "find", "--plan", &plan, &none], "there are no reports", 1);
    let one = scratch.file("one.csv", "word\ntea\n");
    assert_eq!(report(&one, &[]).0, 0);
    let (code, found) = json(&["hitters", "find", "--plan", &plan, &reports]);
    assert_eq!((code, found["found"].as_array().unwrap().len()), (1, 0));
    assert!(found["needed_n"].as_u64().unwrap() > 50 && found["visible_share"].is_null());
}

#[test]
fn known_values_are_tested_in_any_case() {
    let Files { scratch, plan, people, reports } = files("ldp:1");
    json(&["hitters", "report", "--plan", &plan, "--column", "word", &people, "-o", &reports]);
    let known = scratch.file("known.json", r#"{"tea": 0.9, "lunch": 0.05}"#);
    let (_, found) = json(&["hitters", "find", "--plan", &plan, &reports, "--known", &known]);
    let tea = found["found"].as_array().unwrap().iter().find(|one| one["value"] == "tea").unwrap();
    assert!(tea["known"].as_bool().unwrap() && tea["high"].as_f64().unwrap() < 0.5, "{tea}");
    let bad = scratch.file("bad.json", r#"{"tea": 2}"#);
    let (code, said) = json(&["hitters", "find", "--plan", &plan, &reports, "--known", &bad]);
    assert!(code == 1 && said["error"].as_str().unwrap().contains("give 0 to 1"), "{said}");
}
