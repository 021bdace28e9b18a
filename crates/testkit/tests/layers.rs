//! Which crate may depend on which, as ARCHITECTURE.md says.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The workspace's crates that a crate depends on, development dependencies left out.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut counts = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
        }
        let name = line.split([' ', '=', '.']).next().unwrap_or_default();
        if counts && name.starts_with("undertone-") {
            found.insert(name.trim_start_matches("undertone-").to_owned());
        }
    }
    found
}

fn of(name: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    dependencies(&fs::read_to_string(folder.join(name).join("Cargo.toml")).unwrap())
}

#[test]
fn the_lowest_crates_use_no_other() {
    assert_eq!(of("core"), BTreeSet::new());
    assert_eq!(of("numeric"), BTreeSet::new());
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
