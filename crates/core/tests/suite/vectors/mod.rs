//! Every file of `vectors/v1` is read here, everything in it is checked against the kernel and
//! against a second computation, and regenerating the directory must change nothing.

mod blocks;
mod draw;
mod exact;
#[path = "../../../examples/vectors/main.rs"]
#[allow(dead_code, reason = "its main function is not run here")]
mod generator;
mod numbers;
mod plan;
mod policy;
mod report;
mod sequence;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// What describes the formats.
const PAGES: [&str; 3] = ["README.md", "blocks.md", "plans.md"];

/// Every file below `vectors/v1`, by its path with forward slashes.
fn on_disk() -> BTreeMap<String, String> {
    let root = generator::root();
    let mut directories = vec![String::new()];
    let mut files = BTreeMap::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(root.join(&directory)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{directory}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                directories.push(path + "/");
            } else {
                files.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    files
}

/// The parsed file at a path, which must be one JSON value and end with a line end.
fn load(path: &str) -> Value {
    let text = fs::read_to_string(generator::root().join(path)).unwrap();
    assert!(text.ends_with("}\n"), "{path}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = text(value).as_bytes();
    assert!(digits.len().is_multiple_of(2), "half a byte");
    let digit = |d: u8| (d as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The names of an object's fields.
fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn regenerating_changes_nothing() {
    let mut found = on_disk();
    for page in PAGES {
        assert!(found.remove(page).is_some(), "the format is described in {page}");
    }
    let expected = generator::files();
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "a file too many or too few");
    for (path, text) in &expected {
        assert!(found[path] == *text, "{path} would change: run the example `vectors`");
    }
}

#[test]
fn every_file_is_read_and_holds() {
    let mut size = 0;
    for (path, content) in on_disk() {
        size += content.len();
        match path.split_once('/') {
            None if PAGES.contains(&path.as_str()) => {}
            None if path == "epsilon.json" => numbers::epsilon(&load(&path)),
            None if path == "ledger.json" => numbers::ledger(&load(&path)),
            Some(("policy", name)) if name.starts_with("bad_") => policy::bad(&path),
            Some(("policy", _)) => policy::good(&path),
            Some(("draw", _)) => draw::check(&path),
            Some(("report", name)) if name.starts_with("bad_") => report::bad(&path),
            Some(("report", _)) => report::good(&path),
            Some(("sequence", _)) => sequence::check(&path),
            Some(("plan", name)) if name.starts_with("bad_") => plan::bad(&path),
            Some(("plan", name)) if name.starts_with("choose_") => plan::choose(&path),
            Some(("plan", _)) => plan::good(&path),
            Some(("response", name)) if name.starts_with("bad_") => plan::bad_response(&path),
            Some(("response", _)) => plan::response(&path),
            _ => panic!("no test reads {path}"),
        }
    }
    assert!(size < 1 << 21, "the vectors have grown to {size} bytes");
}

#[test]
fn every_legal_combination_has_a_policy() {
    policy::coverage();
}

#[test]
fn no_prefix_of_a_policy_is_a_policy() {
    for path in on_disk().keys().filter(|path| path.starts_with("policy/")) {
        if !path.contains("bad_") {
            policy::prefixes(path);
        }
    }
}
