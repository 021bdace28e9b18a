//! The binary `undertone-reproduce`, as people and programs call it.
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn reproduce(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_undertone-reproduce")).args(args).output().unwrap()
}

/// The exit code and the JSON printed on standard output.
#[track_caller]
fn json(args: &[&str]) -> (i32, Value) {
    let output = reproduce(&[args, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = serde_json::from_str(&text).unwrap_or_else(|e| {
        panic!("{args:?}: {e}\n{text}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code().unwrap(), value)
}

/// The exit code and what was said on standard error; with `--json` the same words are on standard output.
#[track_caller]
fn complaint(args: &[&str]) -> (i32, String) {
    let output = reproduce(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    let code = output.status.code().unwrap();
    let (same, value) = json(args);
    assert_eq!(same, code);
    let words = value["error"].as_str().unwrap();
    assert!(said.replace(['\n', ' '], "").contains(&words.replace(['\n', ' '], "")), "{words}");
    assert_eq!(value["code"], if code == 2 { "usage" } else { "input" });
    (code, said)
}

#[test]
fn the_list_names_keys_and_data_files() {
    let (code, value) = json(&["list"]);
    assert_eq!(code, 0);
    let all = value["experiments"].as_array().unwrap();
    let find = |key: &str| all.iter().find(|item| item["key"] == key).unwrap();
    assert_eq!(find("jstl21-fig-4")["paper"], "JSTL21");
    assert_eq!(find("jstl21-fig-11")["data"][0], "student/student-mat.csv");
    let said = String::from_utf8(reproduce(&["list"]).stdout).unwrap();
    assert!(all.iter().all(|item| said.contains(item["key"].as_str().unwrap())), "{said}");
}

#[test]
fn a_figure_leaves_tables_plots_claims_and_a_page_and_is_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("report");
    let args = ["jstl21-fig-4", "--quick", "-o", out.to_str().unwrap()];
    let (code, value) = json(&args);
    assert_eq!(code, 0);
    let found = &value["experiments"][0];
    assert_eq!((&found["status"], &found["resumed"]), (&"done".into(), &false.into()));
    assert_eq!(found["why"], Value::Null);
    let claims = found["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["paper_number"].is_string()));
    assert!(claims.iter().any(|claim| claim["paper_number"] == "no number printed"));
    for file in ["leakage.csv", "leakage.svg", "claims.csv"] {
        assert!(out.join("jstl21-fig-4").join(file).exists(), "{file}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("id=\"jstl21-fig-4\""));
    assert_eq!(json(&args).1["experiments"][0]["resumed"], true);
    let afresh = json(&[&args[..], &["--fresh"]].concat()).1;
    assert_eq!(afresh["experiments"][0]["resumed"], false);
    let said = reproduce(&args);
    assert!(String::from_utf8_lossy(&said.stdout).contains("report.html"));
}

#[test]
fn missing_data_is_said_and_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (out, empty) = (path("report"), path("data"));
    std::fs::create_dir(&empty).unwrap();
    let args = ["jstl21-fig-11", "--quick", "--data", &empty, "-o", &out];
    let (code, value) = json(&args);
    assert_eq!(code, 0);
    assert_eq!(value["experiments"][0]["status"], "missing-data");
    let why = value["experiments"][0]["why"].as_str().unwrap();
    assert!(why.contains("student/student-mat.csv") && why.contains("README.md"), "{why}");
    let said = String::from_utf8(reproduce(&args).stdout).unwrap();
    assert!(said.contains(&format!("jstl21-fig-11 was not run: {why}")), "{said}");
}

#[test]
fn unknown_keys_and_folders_are_bad_usage() {
    let (code, said) = complaint(&["jstl21-fig-99"]);
    assert!(code == 2 && said.contains("jstl21-fig-4"), "{said}");
    let (code, said) = complaint(&["all", "jstl21-fig-4"]);
    assert!(code == 2 && said.contains("stands alone"), "{said}");
    let (code, said) = complaint(&["jstl21-fig-4", "--data", "/no/such/folder"]);
    assert!(code == 2 && said.contains("no such folder"), "{said}");
    assert_eq!(complaint(&[]).0, 2);
    assert_eq!(complaint(&["list", "--slow"]).0, 2);
}

#[test]
fn a_place_that_cannot_be_written_is_a_failure() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let inside = Path::new(file.path()).join("report");
    let (code, said) = complaint(&["jstl21-fig-4", "--quick", "-o", inside.to_str().unwrap()]);
    assert!(code == 1 && said.contains("cannot write") && !said.contains("os error"), "{said}");
}
