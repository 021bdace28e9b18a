//! Writes the golden vectors: `cargo run -p undertone-core --example vectors` rewrites every file
//! of `vectors/v1` but its pages, byte for byte. The formats are described in those.
//!
//! What the kernel is expected to say is written here by hand wherever it is a matter of judgement
//! (which stage refuses, and why); what it computes is recomputed by `tests/vectors`, by other means.

mod block_edits;
mod block_plans;
mod blocks;
mod draws;
mod edits;
mod epsilon;
mod grid;
mod ledger;
pub(crate) mod plans;
mod policies;
mod refused;
mod reports;
pub(crate) mod responses;
mod sequences;
pub(crate) mod stream;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the vectors are.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/v1")
}

/// Every file below [`root`] but the pages: its path, with forward slashes, and its text.
pub(crate) fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let accepted = policies::accepted();
    let mut add = |directory: &str, name: String, text: String| {
        let path = format!("{directory}{name}.json");
        assert!(files.insert(path.clone(), text).is_none(), "{path} is written twice");
    };
    for policy in &accepted {
        add("policy/", policy.name.clone(), policies::file(policy));
    }
    for (name, text) in refused::files(&accepted) {
        add("policy/bad_", name, text);
    }
    for (name, text) in draws::files(&accepted) {
        add("draw/", name, text);
    }
    for (name, text) in reports::files(&accepted) {
        add("report/", name, text);
    }
    for (name, text) in sequences::files(&accepted) {
        add("sequence/", name, text);
    }
    let plans = plans::accepted();
    for (name, text) in plans::files(&plans).into_iter().chain(responses::choices(&plans)) {
        add("plan/", name, text);
    }
    for (name, text) in responses::files(&plans) {
        add("response/", name, text);
    }
    add("", "epsilon".into(), epsilon::file());
    add("", "ledger".into(), ledger::file(&accepted));
    files
}

fn main() {
    let root = root();
    for directory in ["policy", "draw", "report", "sequence", "plan", "response"] {
        // Files that are no longer generated must not linger.
        let _ = std::fs::remove_dir_all(root.join(directory));
        std::fs::create_dir_all(root.join(directory)).expect("a directory that can be written");
    }
    let files = files();
    let bytes: usize = files.values().map(String::len).sum();
    for (path, text) in &files {
        std::fs::write(root.join(path), text).expect("a file that can be written");
    }
    println!("{} files, {bytes} bytes", files.len());
}
