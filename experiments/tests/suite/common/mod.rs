//! Runs experiments for tests, at their quick size.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use undertone_experiments::data::DataFolder;
use undertone_experiments::{Context, Outcome, Table, registry};

/// The data folder beside the repository, or the one in the environment.
pub(crate) fn data() -> DataFolder {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DataFolder::USUAL);
    let named = std::env::var_os(DataFolder::VARIABLE).map(PathBuf::from);
    match named.or_else(|| beside.is_dir().then_some(beside)) {
        Some(folder) => DataFolder::at(folder),
        None => DataFolder::none(),
    }
}

/// An experiment that needs no data.
#[track_caller]
pub(crate) fn quick(key: &str) -> Outcome {
    let experiment = registry::find(key).unwrap();
    assert!(experiment.data.is_empty(), "{key} needs data: use quick_with_data");
    (experiment.run)(&Context { data: DataFolder::none(), quick: true }).unwrap()
}

/// An experiment on data files; `None`, with a line that says so, where they are missing.
#[track_caller]
pub(crate) fn quick_with_data(key: &str) -> Option<Outcome> {
    let experiment = registry::find(key).unwrap();
    let data = data();
    if let Some(file) = experiment.data.iter().find(|file| data.path(**file).is_err()) {
        eprintln!("skipped: {key} needs {}", file.path);
        return None;
    }
    Some((experiment.run)(&Context { data, quick: true }).unwrap())
}

/// A table of an outcome.
#[track_caller]
pub(crate) fn table(outcome: &Outcome, name: &str) -> Table {
    outcome.find_table(name).unwrap_or_else(|| panic!("no table {name}")).clone()
}

/// The verdicts of an outcome's claims, in order.
#[track_caller]
pub(crate) fn assert_verdicts(outcome: &Outcome, expected: &[&str]) {
    let found: Vec<&str> = outcome.claims.iter().map(|claim| claim.verdict.slug()).collect();
    assert_eq!(found, expected);
}
