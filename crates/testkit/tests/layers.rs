//! Which crate may depend on which, as ARCHITECTURE.md says.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every crate that a crate depends on, development dependencies left out.
fn all_dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut counts = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
            continue;
        }
        let name = line.split([' ', '=', '.']).next().unwrap_or_default();
        if counts && name.starts_with(|first: char| first.is_ascii_lowercase()) {
            found.insert(name.to_owned());
        }
    }
    found
}

/// The workspace's crates among them; the library people use is `undertone`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let own = |name: String| match name.strip_prefix("undertone-") {
        Some(rest) => Some(rest.to_owned()),
        None => (name == "undertone").then_some(name),
    };
    all_dependencies(manifest).into_iter().filter_map(own).collect()
}

fn manifest(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(folder.join(name).join("Cargo.toml")).unwrap()
}

fn of(name: &str) -> BTreeSet<String> {
    dependencies(&manifest(name))
}

#[test]
fn the_lowest_crates_use_no_other() {
    assert_eq!(of("core"), BTreeSet::new());
    assert_eq!(of("numeric"), BTreeSet::new());
    assert_eq!(of("wire"), BTreeSet::from(["core".to_owned()]));
    let device = BTreeSet::from(["core".to_owned(), "wire".to_owned()]);
    assert!(of("client").is_subset(&device), "{:?}", of("client"));
}

#[test]
fn libraries_leave_faces_and_servers_to_others() {
    let faces = ["clap", "comfy-table", "indicatif", "plotters"];
    let servers = ["axum", "hyper", "reqwest", "rusqlite", "tokio-postgres", "ureq"];
    let runtimes = ["tokio", "chrono", "time"];
    let quiet = ["core", "wire", "numeric", "design", "theory", "estimate", "undertone"];
    for name in quiet {
        let used = all_dependencies(&manifest(name));
        for forbidden in faces.iter().chain(&servers).chain(&runtimes) {
            assert!(!used.contains(*forbidden), "{name} uses {forbidden}");
        }
    }
    // What a network's centre shows is the library's; its page is the command line's, on the curator's accept loop.
    let network = [&servers[..], &faces].concat();
    for (name, forbidden) in
        [("client", &["tokio", "axum"][..]), ("fusion", &network), ("curator", &faces)]
    {
        let used = all_dependencies(&manifest(name));
        assert!(forbidden.iter().all(|one| !used.contains(*one)), "{name}: {used:?}");
    }
    // What the check rests on: these are found where they may be.
    assert!(all_dependencies(&manifest("cli")).contains("clap"));
    assert!(all_dependencies(&manifest("curator")).contains("axum"));
    assert!(!of("fusion").contains("curator"), "a network needs no collector");
    assert!(!of("curator").contains("fusion"), "the collector knows no sensors");
}

#[test]
fn nobody_below_theory_uses_it() {
    for name in ["design", "estimate", "fusion", "client", "curator"] {
        assert!(!of(name).contains("theory"), "{name} uses theory");
    }
    assert!(!of("estimate").contains("design"), "estimators use no solvers");
    assert!(!of("curator").contains("design"), "the curator designs by the library alone");
}

#[test]
fn only_tests_use_the_testkit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&manifest) else { continue };
        assert!(!dependencies(&text).contains("testkit"), "{}", manifest.display());
        seen += 1;
    }
    assert!(seen > 8, "{seen} crates");
}

#[test]
fn development_dependencies_do_not_count() {
    let manifest = "[dependencies]\nundertone-core = { workspace = true }\n\n[dev-dependencies]\nundertone-testkit = { workspace = true }\n";
    assert_eq!(dependencies(manifest), BTreeSet::from(["core".to_owned()]));
    let long = "[target.'cfg(unix)'.dependencies]\nundertone-wire.workspace = true\n";
    assert_eq!(dependencies(long), BTreeSet::from(["wire".to_owned()]));
}
