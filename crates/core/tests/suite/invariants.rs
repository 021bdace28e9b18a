//! What the kernel must not contain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// Every source file with its path below `src`.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root().join("src")).unwrap().into(), text));
            }
        }
    }
    assert!(found.iter().any(|(path, _)| path.ends_with("lib.rs")));
    found.sort();
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn no_floats() {
    let float = |word: &str| {
        // Also literals with a type: 1f32, 0_f64.
        word == "f16" || word.ends_with("f32") || word.ends_with("f64") || word == "f128"
    };
    for (path, text) in sources() {
        for (at, line) in text.lines().enumerate() {
            assert!(!words(line).any(float), "{}:{}: {line}", path.display(), at + 1);
        }
    }
}

/// A float literal needs no type: digits, a point, digits, outside comments and texts.
#[test]
fn no_float_literals() {
    for (path, text) in sources() {
        for (at, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let outside_texts: String = code.split('"').step_by(2).collect();
            let bytes = outside_texts.as_bytes();
            let literal = bytes.windows(3).any(|three| {
                three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit()
            });
            // `.0.0` reads a tuple in a tuple.
            let tuple = outside_texts.contains(".0.") || outside_texts.contains(".1.");
            assert!(!literal || tuple, "{}:{}: {line}", path.display(), at + 1);
        }
    }
}

#[test]
fn no_std_no_unsafe_no_clock_no_io() {
    let sources = sources();
    let (_, lib) = sources.iter().find(|(path, _)| path == Path::new("lib.rs")).unwrap();
    assert!(lib.lines().any(|line| line == "#![no_std]"));
    for (path, text) in &sources {
        let code = text.lines().map(|line| line.split("//").next().unwrap());
        for word in code.flat_map(words) {
            let forbidden =
                ["std", "unsafe", "SystemTime", "Instant", "File", "println", "thread_rng"];
            assert!(!forbidden.contains(&word), "{}: {word}", path.display());
        }
    }
}

/// Everything the kernel links, on any platform and at any depth, is in `dependencies.txt`. A new
/// name there is a decision. (Cargo.lock alone would not do: it holds what the features of other
/// crates of the workspace add.)
#[test]
fn dependency_tree_is_the_listed_one() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "undertone-core", "--edges", "normal"])
        .args(["--target", "all", "--prefix", "none", "--format", "{lib} {f}", "--no-dedupe"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let mut found = BTreeSet::new();
    for (name, features) in tree.lines().filter_map(|line| line.split_once(' ')) {
        assert!(!features.split(',').any(|f| f == "std"), "{name} is built with the feature std");
        if name != "undertone_core" {
            found.insert(name);
        }
    }
    let listed = fs::read_to_string(root().join("tests/dependencies.txt")).unwrap();
    let listed: BTreeSet<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(found, listed, "left: cargo tree, right: tests/dependencies.txt");
    assert!(!found.iter().any(|name| name.starts_with("undertone")));
}

/// Lines of code the kernel may have: where it stands, about 1,500 of them for families of blocks, about 3,050 for plans, the rest for
/// policies and sequences. Lower this number when the kernel shrinks, and think twice before raising it.
const MOST_LINES: usize = 10_080;

/// Lines without tests, and how many of them are code.
#[test]
fn the_kernel_is_small() {
    let (mut all, mut code) = (0, 0);
    for (path, text) in sources() {
        if path.ends_with("tests.rs") {
            continue;
        }
        let shipped = text.split("#[cfg(test)]").next().unwrap();
        all += shipped.lines().filter(|line| !line.trim().is_empty()).count();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        code += shipped.lines().filter(is_code).count();
    }
    println!("{all} lines that are not blank, {code} of them code");
    assert!(code <= MOST_LINES, "{code} lines of code");
}
