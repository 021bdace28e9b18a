//! The binary `undertone-reproduce`, as people and programs call it.
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use undertone_experiments::data::DataFolder;
use undertone_experiments::run::{self, Options};
use undertone_experiments::summary::Summary;
use undertone_experiments::{Context, registry};

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
    assert!(claims.iter().all(|claim| claim["kind"] == "paper"));
    assert!(claims.iter().any(|claim| claim["printed"].is_null()));
    assert!(claims.iter().all(|claim| claim["id"].as_str().unwrap().starts_with("jstl21-fig-4/")));
    for file in ["leakage.csv", "leakage.svg", "claims.csv"] {
        assert!(out.join("jstl21-fig-4").join(file).exists(), "{file}");
    }
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("jstl21.html"));
    let page = std::fs::read_to_string(out.join("jstl21.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("id=\"jstl21-fig-4\""));
    assert_eq!(json(&args).1["experiments"][0]["resumed"], true);
    let afresh = json(&[&args[..], &["--fresh"]].concat()).1;
    assert_eq!(afresh["experiments"][0]["resumed"], false);
    let said = reproduce(&args);
    assert!(String::from_utf8_lossy(&said.stdout).contains("report.html"));
}

#[test]
fn missing_data_is_a_failure_for_what_was_asked_for_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (out, empty) = (path("report"), path("data"));
    std::fs::create_dir(&empty).unwrap();
    let args = ["jstl21-fig-11", "jstl21-fig-4", "--quick", "--data", &empty, "-o", &out];
    let (code, value) = json(&args);
    assert_eq!(code, 1);
    assert_eq!(value["experiments"][0]["status"], "done");
    assert_eq!(value["experiments"][1]["status"], "missing-data");
    let why = value["experiments"][1]["why"].as_str().unwrap();
    for words in ["student/student-mat.csv", "README.md", "Fetch Student Performance", "no. 320"] {
        assert!(why.contains(words), "{why}");
    }
    let said = String::from_utf8(reproduce(&args).stdout).unwrap();
    assert!(said.contains(&format!("jstl21-fig-11 was not run: {why}")), "{said}");
    assert!(said.contains("without their data: jstl21-fig-11"), "{said}");
}

/// `all` takes too long here; what it answers where data is missing is decided by the summary.
#[test]
fn missing_data_is_no_failure_where_everything_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let context = Context { data: DataFolder::none(), quick: true };
    let options = Options { context, output: dir.path().into(), resume: true };
    let chosen = ["jstl21-fig-11", "jstl21-fig-4"].map(|key| registry::find(key).unwrap());
    let finished = run::run(&chosen, &options, &|_| {}).unwrap();
    let mut summary = Summary::new(&finished, dir.path(), 1.0);
    assert!(summary.is_good(false) && !summary.is_good(true));
    assert_eq!(summary.without_data(), ["jstl21-fig-11"]);
    summary.differences.push("one".into());
    assert!(!summary.is_good(false));
}

/// Experiments that need no data and are done in a moment.
const SHORT: [&str; 6] =
    ["jstl21-fig-2", "jstl21-fig-4", "jstl21-fig-10", "jlt18-fig-2", "stl19-fig-3", "zds22-fig-1"];

#[test]
fn a_quick_run_agrees_with_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/report.json");
    let out = dir.path().to_str().unwrap();
    let args = [&SHORT[..], &["--quick", "-o", out, "--compare", record]].concat();
    let (code, value) = json(&args);
    assert_eq!(value["differences"], serde_json::json!([]));
    assert_eq!(code, 0);
}

#[test]
fn what_differs_from_the_record_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../../report.json");
    let mut record: Value = serde_json::from_str(text).unwrap();
    let claims = record["claims"].as_array_mut().unwrap();
    let at = claims.iter().position(|c| c["id"].as_str().unwrap().starts_with("jlt18-fig-2/"));
    let at = at.unwrap();
    // A verdict, a number, a claim that is gone.
    claims[at]["verdict"] = "reproduced".into();
    let quick = claims[at]["quick"].as_object_mut();
    if let Some(quick) = quick {
        quick["verdict"] = "reproduced".into();
    }
    claims[at + 1]["ours"] = "something else".into();
    claims[at + 1]["depends_on_size"] = false.into();
    let gone = claims.remove(at + 3)["id"].as_str().unwrap().to_owned();
    let file = dir.path().join("record.json");
    std::fs::write(&file, record.to_string()).unwrap();
    let (out, file) = (dir.path().to_str().unwrap(), file.to_str().unwrap());
    let args = ["jlt18-fig-2", "--quick", "-o", out, "--compare", file];
    let (code, value) = json(&args);
    assert_eq!(code, 1);
    let found: Vec<&str> =
        value["differences"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
    assert!(found.iter().any(|d| d.ends_with("kept reproduced, now false")), "{found:?}");
    assert!(found.iter().any(|d| d.contains(", ours: kept \"something else\"")), "{found:?}");
    assert!(found.contains(&format!("{gone}: judged, and not kept").as_str()), "{found:?}");
    let said = String::from_utf8(reproduce(&args).stdout).unwrap();
    assert!(said.contains("differs from the record: jlt18-fig-2/"), "{said}");
    // A file that is no record, and a record of some figures only, are bad usage.
    std::fs::write(file, "{}").unwrap();
    let (code, said) = complaint(&args);
    assert!(code == 2 && said.contains("is not a record of a run"), "{said}");
    let (code, said) = complaint(&["jlt18-fig-2", "--record", file]);
    assert!(code == 2 && said.contains("`all`"), "{said}");
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
