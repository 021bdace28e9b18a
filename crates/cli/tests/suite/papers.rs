//! The documents do not lie about the tree: `docs/papers.md` covers every numbered item of the five
//! papers with a known verdict, and no document links to a file, line, heading or item that is gone.
//!
//! Conventions the checker holds documents to:
//!
//! * a link label with `::` names an item: its last segment must occur in the linked file, and in a
//!   file under `tests/` it must be a function;
//! * `#L12` needs that many lines, any other anchor needs such a heading;
//! * a verdict is one of [`VERDICTS`], followed by `;` and the reason unless it is plainly true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const RESULTS: [&str; 6] = ["item", "says", "verdict", "code", "test", "experiment"];
const FIGURES: [&str; 4] = ["figure or table", "shows", "verdict", "experiment"];
const VERDICTS: [&str; 5] = ["true", "true with conventions", "loose", "false", "ill-defined"];
/// What else may be said of a figure: it claims nothing, it came out as printed or it did not, or
/// nobody has redone it.
const FIGURE_VERDICTS: [&str; 4] = ["picture", "reproduced", "not reproduced", "not yet"];

/// What one paper numbers. Counts are those of the printed text.
struct Paper {
    key: &'static str,
    /// Kind and how many there are, numbered from 1.
    numbered: &'static [(&'static str, usize)],
    /// Numbered parts that carry a claim of their own, and problems with letters for numbers.
    parts: &'static [&'static str],
    equations: usize,
}

const PAPERS: [Paper; 5] = [
    Paper {
        key: "JSTL21",
        numbered: &[
            ("Definition", 8),
            ("Theorem", 6),
            ("Proposition", 3),
            ("Corollary", 10),
            ("Lemma", 4),
            ("Remark", 2),
            ("Example", 1),
            ("Figure", 12),
        ],
        parts: &[
            "Theorem 3.1",
            "Theorem 3.2",
            "Theorem 3.3",
            "Lemma 1.1",
            "Lemma 1.2",
            "Lemma 1.3",
            "Lemma 1.4",
            "Lemma 1.5",
            "Table I",
        ],
        equations: 26,
    },
    Paper {
        key: "JLT18",
        numbered: &[
            ("Definition", 3),
            ("Theorem", 2),
            ("Proposition", 4),
            ("Corollary", 1),
            ("Example", 1),
            ("Figure", 9),
        ],
        parts: &[],
        equations: 34,
    },
    Paper {
        key: "STL19",
        numbered: &[
            ("Definition", 6),
            ("Theorem", 1),
            ("Proposition", 1),
            ("Lemma", 2),
            ("Remark", 8),
            ("Figure", 3),
        ],
        parts: &[],
        equations: 27,
    },
    Paper {
        key: "ST20",
        numbered: &[
            ("Definition", 3),
            ("Theorem", 2),
            ("Proposition", 2),
            ("Example", 1),
            ("Figure", 9),
        ],
        parts: &[
            "Theorem 1(i)",
            "Theorem 1(ii)",
            "Theorem 1(iii)",
            "Theorem 1(iv)",
            "Theorem 1(v)",
            "Theorem 1(vi)",
            "Theorem 1(vii)",
            "Theorem 1(viii)",
            "Theorem 1(ix)",
            "Theorem 1(x)",
            "Theorem 1(xi)",
            "Theorem 1(xii)",
            "Theorem 1(xiii)",
            "Theorem 1(xiv)",
            "Proposition 1(a)",
            "Proposition 1(b)",
            "(P0)",
            "(P1)",
            "(P2)",
            "(18b)",
            "Table I",
            "Table II",
            "Table III",
            "Table IV",
        ],
        equations: 18,
    },
    Paper {
        key: "ZDS22",
        numbered: &[("Definition", 5), ("Proposition", 2), ("Figure", 4)],
        parts: &["Proposition 1-1", "Proposition 1-2", "Proposition 1-3"],
        equations: 29,
    },
];

impl Paper {
    fn expected(&self) -> BTreeSet<String> {
        let numbered =
            self.numbered.iter().flat_map(|(kind, n)| (1..=*n).map(move |i| format!("{kind} {i}")));
        let equations = (1..=self.equations).map(|i| format!("({i})"));
        numbered.chain(equations).chain(self.parts.iter().map(|p| p.to_string())).collect()
    }
}

// ---------------------------------------------------------------------------------------------
// Reading Markdown, as much of it as we write
// ---------------------------------------------------------------------------------------------

/// Lines outside fenced code, with their numbers from 1.
fn prose(document: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (i, line) in document.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((i + 1, line));
        }
    }
    lines
}

/// (label, target) of every inline link, and of a `[label]: target` line.
fn links(line: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some((label, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        found.push((label.to_string(), target.trim().to_string()));
    }
    for (middle, _) in line.match_indices("](") {
        let Some(open) = line[..middle].rfind('[') else { continue };
        let in_code = line[..open].matches('`').count() % 2 == 1;
        let Some(length) = line[middle + 2..].find(')') else { continue };
        if !in_code {
            let target = &line[middle + 2..middle + 2 + length];
            let target = target.split_whitespace().next().unwrap_or("");
            found.push((line[open + 1..middle].to_string(), target.to_string()));
        }
    }
    found
}

/// The cells of a table row; `\|` is a bar inside a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().replace("\\|", "\u{0}");
    let inner = row.strip_prefix('|').unwrap_or(&row);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(|cell| cell.replace('\u{0}', "|").trim().to_string()).collect()
}

fn slug(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn has_heading(document: &str, anchor: &str) -> bool {
    let heading = |line: &str| line.starts_with('#').then(|| slug(line.trim_start_matches('#')));
    prose(document).iter().filter_map(|(_, line)| heading(line)).any(|known| known == anchor)
}

fn has_word(text: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !part(text[..at].chars().next_back()) && !part(text[at + word.len()..].chars().next())
    })
}

// ---------------------------------------------------------------------------------------------
// The checks: each returns its complaints
// ---------------------------------------------------------------------------------------------

fn check_links(document: &str, folder: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in prose(document) {
        for (label, target) in links(line) {
            if let Err(why) = check_link(document, folder, &label, &target) {
                complaints.push(format!("line {number}: [{label}]({target}): {why}"));
            }
        }
    }
    complaints
}

fn check_link(document: &str, folder: &Path, label: &str, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let label = label.replace('`', "");
    let item = label.rsplit_once("::").map(|(_, last)| last.trim_end_matches("()").to_string());
    let text = if path.is_empty() {
        document.to_string()
    } else {
        let file = folder.join(path).canonicalize().map_err(|_| "no such file".to_string())?;
        if !file.starts_with(root()) {
            return Err("leads out of the repository".into());
        }
        if file.is_dir() {
            return match (anchor, item) {
                ("", None) => Ok(()),
                _ => Err("a folder has no lines and no items".into()),
            };
        }
        fs::read_to_string(&file).unwrap_or_default()
    };
    if let Some(item) = item {
        let in_tests = path.split('/').any(|part| part == "tests");
        let wanted = if in_tests { format!("fn {item}") } else { item };
        if !has_word(&text, &wanted) {
            return Err(format!("the file has no `{wanted}`"));
        }
    }
    let lines = anchor.strip_prefix('L').and_then(|n| n.parse::<usize>().ok());
    match lines {
        Some(n) if text.lines().count() < n => Err(format!("the file has fewer than {n} lines")),
        Some(_) => Ok(()),
        None if anchor.is_empty() || has_heading(&text, anchor) => Ok(()),
        None => Err(format!("no heading #{anchor}")),
    }
}

/// A row of a results or figures table.
struct Row {
    line: usize,
    section: String,
    cells: Vec<String>,
}

/// Rows of the tables with our two headers; complaints about their shape.
fn read_rows(document: &str) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut complaints) = (Vec::new(), Vec::new());
    let mut section = String::new();
    let mut columns = None;
    for (line, text) in prose(document) {
        if let Some(title) = text.strip_prefix("## ") {
            section = title.split([':', ' ']).next().unwrap_or("").to_string();
        }
        if !text.starts_with('|') {
            columns = None;
            continue;
        }
        let cells = cells(text);
        let Some(width) = columns else {
            columns = Some(cells.len());
            let known = cells == RESULTS || cells == FIGURES;
            if !known && PAPERS.iter().any(|paper| paper.key == section) {
                complaints.push(format!("line {line}: unknown table header {cells:?}"));
            }
            continue;
        };
        if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
            continue;
        }
        if cells.len() != width {
            complaints.push(format!("line {line}: {} columns, not {width}", cells.len()));
        } else if let Some(at) = cells.iter().position(String::is_empty) {
            complaints.push(format!("line {line}: column {} is empty", at + 1));
        } else if PAPERS.iter().any(|paper| paper.key == section) {
            rows.push(Row { line, section: section.clone(), cells });
        }
    }
    (rows, complaints)
}

fn check_rows(rows: &[Row]) -> Vec<String> {
    let mut complaints = Vec::new();
    for Row { line, cells, .. } in rows {
        let figure = cells.len() == FIGURES.len();
        let (word, reason) = cells[2].split_once(';').unwrap_or((&cells[2], ""));
        let word = word.trim_matches(['*', ' ']);
        let known = VERDICTS.contains(&word) || figure && FIGURE_VERDICTS.contains(&word);
        if !known {
            complaints.push(format!("line {line}: unknown verdict {word:?}"));
        } else if VERDICTS[1..].contains(&word) && reason.trim().is_empty() {
            complaints.push(format!("line {line}: verdict {word:?} without its reason"));
        }
        for cell in &cells[3..] {
            let words = cell.starts_with("not yet") || cell.starts_with("none");
            if !words && links(cell).is_empty() {
                complaints.push(format!("line {line}: {cell:?} is neither a link nor `not yet`"));
            }
        }
    }
    complaints
}

/// The names an item cell covers: "Theorem 1, (9)", "Lemma 1.4: post-processing", "(15)-(17)".
fn names(item: &str) -> Vec<String> {
    let item = item.split(':').next().unwrap_or("");
    let mut names = Vec::new();
    for piece in item.split(',').map(str::trim) {
        let ends = piece.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let range = ends.and_then(|inside| inside.split_once(")-("));
        match range.map(|(from, to)| (from.parse::<usize>(), to.parse::<usize>())) {
            Some((Ok(from), Ok(to))) => names.extend((from..=to).map(|i| format!("({i})"))),
            _ => names.push(piece.to_string()),
        }
    }
    names
}

/// Every expected item has a row, and no row names a numbered item the paper does not have.
fn check_coverage(rows: &[Row], paper: &Paper) -> Vec<String> {
    let ours = rows.iter().filter(|row| row.section == paper.key);
    let found: BTreeSet<String> = ours.flat_map(|row| names(&row.cells[0])).collect();
    let expected = paper.expected();
    // "Theorem 1" is covered by rows for its parts: "Theorem 1(i)", "Theorem 3.1", "Proposition 1-2".
    let by_parts = |name: &String| {
        found
            .iter()
            .any(|f| f.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '.', '-'])))
    };
    let missing = expected.iter().filter(|name| !found.contains(*name) && !by_parts(name));
    let missing = missing.map(|name| format!("{}: no row for {name}", paper.key));
    let kinds = ["Definition", "Theorem", "Proposition", "Corollary", "Lemma", "Remark", "Example"];
    let is_numbered = |name: &String| {
        let first = name.split(' ').next().unwrap_or("");
        kinds.contains(&first) || ["Figure", "Table"].contains(&first)
    };
    let strange = found.iter().filter(|name| is_numbered(name) && !expected.contains(*name));
    let strange = strange.map(|name| format!("{}: the paper has no {name}", paper.key));
    missing.chain(strange).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn assert_no(complaints: &[String], what: &str) {
    assert!(complaints.is_empty(), "{what}\n  {}", complaints.join("\n  "));
}

// ---------------------------------------------------------------------------------------------
// The documents
// ---------------------------------------------------------------------------------------------

#[test]
fn every_numbered_item_of_the_papers_has_a_row_and_a_verdict() {
    let document = fs::read_to_string(root().join("docs/papers.md")).expect("docs/papers.md");
    let (rows, mut complaints) = read_rows(&document);
    complaints.extend(check_rows(&rows));
    complaints.extend(PAPERS.iter().flat_map(|paper| check_coverage(&rows, paper)));
    assert_no(&complaints, "docs/papers.md");
}

#[test]
fn no_document_has_a_dead_link() {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    let mut documents: Vec<PathBuf> = top.iter().map(|name| root().join(name)).collect();
    let in_docs = fs::read_dir(root().join("docs")).expect("docs/");
    documents.extend(in_docs.map(|entry| entry.expect("an entry").path()));
    documents.retain(|path| path.exists() && path.extension().is_some_and(|e| e == "md"));
    assert!(documents.iter().any(|path| path.ends_with("docs/papers.md")));
    let mut complaints = Vec::new();
    for path in documents {
        let text = fs::read_to_string(&path).expect("a readable document");
        let folder = path.parent().expect("a folder");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        complaints.extend(check_links(&text, folder).iter().map(|c| format!("{name} {c}")));
    }
    assert_no(&complaints, "dead links");
}

// ---------------------------------------------------------------------------------------------
// Negative controls: the checker reports what it should
// ---------------------------------------------------------------------------------------------

fn link_complaints(document: &str) -> Vec<String> {
    check_links(document, Path::new(env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn a_live_link_passes() {
    let document = "# A title, with `code`\n[m](Cargo.toml) [l](Cargo.toml#L2) [t](#a-title-with-code) \
        [`cli::main`](src/main.rs) [w](https://example.org/x) [d](src) `[not](a-link.rs)`\n\
        ```\n[nor](this.rs)\n```\n[`papers::a_live_link_passes`](tests/suite/papers.rs)";
    assert_eq!(link_complaints(document), Vec::<String>::new());
}

#[test]
fn a_dead_link_is_reported() {
    let cases = [
        ("text\n[gone](src/gone.rs)", "line 2: [gone](src/gone.rs): no such file"),
        ("[gone]: src/gone.rs", "no such file"),
        ("[out](../../../elsewhere)", "no such file"),
        ("[out](../../..)", "leads out of the repository"),
        ("[far](Cargo.toml#L9999)", "fewer than 9999 lines"),
        ("# Here\n[t](#there)", "no heading #there"),
        ("[`cli::absent_item`](src/main.rs)", "no `absent_item`"),
        ("[`cli::mai`](src/main.rs)", "no `mai`"),
        ("[`papers::RESULTS`](tests/suite/papers.rs)", "the file has no `fn"),
        ("[`cli::main`](src)", "a folder has no lines"),
    ];
    for (document, expected) in cases {
        let complaints = link_complaints(document);
        assert_eq!(complaints.len(), 1, "{document}: {complaints:?}");
        assert!(complaints[0].contains(expected), "{document}: {complaints:?}");
    }
}

fn table_complaints(row: &str) -> Vec<String> {
    let document = format!(
        "## ZDS22: title\n\n| {} |\n|---|---|---|---|---|---|\n{row}\n",
        RESULTS.join(" | ")
    );
    let (rows, mut complaints) = read_rows(&document);
    complaints.extend(check_rows(&rows));
    complaints
}

#[test]
fn a_bad_row_is_reported() {
    let good = "| (1) | P(s\\|x) | loose; by half | [c](src) | not yet | not yet |";
    assert_eq!(table_complaints(good), Vec::<String>::new());
    let cases = [
        ("| (1) | says | true | not yet | not yet |", "5 columns, not 6"),
        ("| (1) | P(s|x) | true | not yet | not yet | not yet |", "7 columns, not 6"),
        ("| (1) | says | probably | not yet | not yet | not yet |", "unknown verdict \"probably\""),
        ("| (1) | says | reproduced | not yet | not yet | not yet |", "unknown verdict"),
        ("| (1) | says | false | not yet | not yet | not yet |", "without its reason"),
        ("| (1) | | true | not yet | not yet | not yet |", "column 2 is empty"),
        ("| (1) | says | true | lip.rs | not yet | not yet |", "neither a link nor"),
    ];
    for (row, expected) in cases {
        let complaints = table_complaints(row);
        assert_eq!(complaints.len(), 1, "{row}: {complaints:?}");
        assert!(complaints[0].contains(expected), "{row}: {complaints:?}");
    }
    let strange = "## ZDS22: title\n\n| item | verdict |\n|---|---|\n| (1) | true |\n";
    assert!(read_rows(strange).1.iter().any(|c| c.contains("unknown table header")));
}

#[test]
fn a_missing_or_invented_item_is_reported() {
    let paper = Paper {
        key: "ZDS22",
        numbered: &[("Theorem", 2), ("Lemma", 1)],
        parts: &["Lemma 1.1"],
        equations: 4,
    };
    let row = |item: &str| Row { line: 1, section: "ZDS22".into(), cells: vec![item.into()] };
    let all = ["Theorem 1, (1)", "Theorem 2: forward", "(2)-(4)", "Lemma 1.1: first"].map(row);
    assert_eq!(check_coverage(&all, &paper), Vec::<String>::new());
    assert_eq!(
        check_coverage(&all[1..], &paper),
        ["ZDS22: no row for (1)", "ZDS22: no row for Theorem 1"]
    );
    assert_eq!(
        check_coverage(&all[..3], &paper),
        ["ZDS22: no row for Lemma 1", "ZDS22: no row for Lemma 1.1"]
    );
    let mut more: Vec<Row> = all.into_iter().collect();
    more.push(row("Theorem 3"));
    assert_eq!(check_coverage(&more, &paper), ["ZDS22: the paper has no Theorem 3"]);
    more[1].section = "JLT18".into();
    assert!(check_coverage(&more, &paper).contains(&"ZDS22: no row for Theorem 2".to_string()));
}
