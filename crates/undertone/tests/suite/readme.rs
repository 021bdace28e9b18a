//! The pages show the example that is compiled and run with the crate's documentation.

use std::path::Path;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first block of code that begins with the prelude, without hidden lines.
fn example(page: &str, fence: &str) -> Vec<String> {
    let start = page.find(&format!("{fence}\nuse undertone::prelude::*;\n")).unwrap();
    let lines = page[start..].lines().skip(1).take_while(|line| *line != "```");
    lines.filter(|line| !line.starts_with("# ")).map(str::to_owned).collect()
}

#[test]
fn the_example_of_the_pages_is_the_one_that_is_run() {
    let comments = file("src/lib.rs");
    let comments: Vec<&str> = comments
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let run = example(&comments.join("\n"), "```");
    for page in ["README.md", "../../README.md"] {
        assert_eq!(example(&file(page), "```rust"), run, "{page}");
    }
    let lines = run.iter().filter(|line| !line.is_empty()).count();
    assert!((10..=15).contains(&lines), "{lines} lines");
}
