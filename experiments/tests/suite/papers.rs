//! `docs/papers.md` says of the figures what `report.json` says: the table of verdicts, the word of every figure's row,
//! and every number in it.
//!
//! * Between `<!-- report: begin -->` and `<!-- report: end -->` stands the record's table of figures. After a new
//!   record, `UNDERTONE_WRITE=1 cargo test --release -p undertone-experiments --test suite papers` writes it.
//! * A number in the verdict of a figure's row is one that its experiments found or quote, to the digits shown.
//! * In any other row `<!-- claim: ID -->` holds the numbers of its cell to that claim.

use std::path::{Path, PathBuf};

use undertone_experiments::claim::decimals;
use undertone_experiments::record::{Record, all_counts};
use undertone_experiments::report::FINDINGS;
use undertone_experiments::{Kind, Verdict};

const BEGIN: &str = "<!-- report: begin -->\n";
const END: &str = "\n<!-- report: end -->";

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn record() -> Record {
    Record::read(&place("experiments/report.json")).unwrap()
}

fn page() -> String {
    std::fs::read_to_string(place("docs/papers.md")).unwrap()
}

/// The page with the record's table in its place.
fn with_table(page: &str, table: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the table ends");
    format!("{before}{BEGIN}{table}{END}{after}")
}

/// What stands before the comments, and what the comments say.
fn comments(cell: &str) -> (String, Vec<String>) {
    let (mut text, mut found, mut rest) = (String::new(), Vec::new(), cell);
    while let Some((before, after)) = rest.split_once("<!--") {
        let (comment, after) = after.split_once("-->").unwrap_or((after, ""));
        // What the documents' own runner compares is left to it.
        let marked = comment.trim().starts_with('=');
        let number = |c: char| c.is_ascii_digit() || c == '.';
        text.push_str(if marked { before.trim_end_matches(number) } else { before });
        found.push(comment.trim().to_owned());
        rest = after;
    }
    text.push_str(rest);
    (text, found)
}

/// A text without what holds digits and is no number: links, code, `(19)`, `Figure 5`, thousands' commas.
fn without_references(text: &str) -> String {
    let code: String = text.split('`').step_by(2).collect();
    let characters: Vec<char> = code.chars().collect();
    let digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let commas: String = (0..characters.len())
        .filter(|&at| {
            let between =
                at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2) && digit(at + 3);
            !(characters[at] == ',' && between && !digit(at + 4))
        })
        .map(|at| characters[at])
        .collect();
    const NAMED: [&str; 12] = [
        "Figure",
        "Figures",
        "Table",
        "Section",
        "Theorem",
        "Proposition",
        "Corollary",
        "Example",
        "Definition",
        "Lemma",
        "Remark",
        "to",
    ];
    let mut kept = Vec::new();
    let mut before = "";
    for word in commas.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_ascii_digit());
        let equation = word.contains(&format!("({bare})")) && !bare.is_empty();
        let named = NAMED.contains(&before);
        if !equation && !named {
            kept.push(word);
        }
        before = word;
    }
    kept.join(" ")
}

/// A text with its powers of ten written out.
fn plain(text: &str) -> String {
    text.replace("10⁴", "10000").replace("10⁻⁴", "0.0001")
}

/// The numbers of a text, each with how many digits stand behind its point and whether it is a percentage.
fn numbers(text: &str) -> Vec<(f64, i32, bool)> {
    let text = without_references(&plain(text));
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit() || c == '.') {
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        let exponent = rest[end..].starts_with('e') && rest[end + 1..].starts_with(['-', '1', '2']);
        let after = &rest[end..];
        if let (Ok(number), false) = (word.parse::<f64>(), exponent) {
            let digits = word.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
            found.push((number, digits, after.trim_start().starts_with('%')));
        }
        rest = after;
    }
    found
}

/// Whether a text has the number, to the digits shown.
fn has(text: &str, (number, digits, percent): (f64, i32, bool)) -> bool {
    let half = 0.5 * 10f64.powi(-digits) * (1.0 + 1e-9);
    let text = plain(text);
    let found = decimals(&without_references(&text)).1.into_iter().chain(decimals(&text).1);
    let mut scaled = found.flat_map(|n| [n, if percent { 100.0 * n } else { n }]);
    scaled.any(|n| (n - number).abs() <= half)
}

/// A row of a table of figures: its line, its verdict cell, the experiments it names.
struct Row<'a> {
    line: usize,
    verdict: &'a str,
    keys: Vec<&'a str>,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut in_figures = false;
    for (at, text) in page.lines().enumerate() {
        if !text.starts_with('|') {
            in_figures = false;
        } else if text.starts_with("| figure or table | shows |") {
            in_figures = true;
        } else if in_figures && !text.starts_with("|---") {
            let cells: Vec<&str> = text.split(" | ").collect();
            let keys = cells[3].split("[`reproduce ").skip(1);
            let keys = keys.filter_map(|rest| rest.split('`').next()).collect();
            rows.push(Row { line: at + 1, verdict: cells[2], keys });
        }
    }
    rows
}

fn check(page: &str, record: &Record) -> Vec<String> {
    let mut complaints = Vec::new();
    let texts = |id: &dyn Fn(&str) -> bool| -> String {
        let claims = record.claims.iter().filter(|kept| id(&kept.full.id));
        let words = claims.flat_map(|kept| kept.full.texts().map(|(_, text)| text));
        words.collect::<Vec<_>>().join(" | ")
    };
    for row in rows(page) {
        if row.keys.is_empty() {
            continue;
        }
        let own = |id: &str| row.keys.iter().any(|key| id.starts_with(&format!("{key}/")));
        let claims: Vec<_> = record.claims.iter().filter(|kept| own(&kept.full.id)).collect();
        let notes = record.experiments.iter().filter(|e| row.keys.contains(&e.key.as_str()));
        let notes: Vec<String> =
            notes.map(|e| format!("{} {}", e.title, e.notes.join(" "))).collect();
        let known = format!("{} | {}", texts(&own), notes.join(" | "));
        let (verdict, _) = comments(row.verdict);
        for number in numbers(&verdict) {
            if !has(&known, number) {
                complaints.push(format!("line {}: {} is no number of the run", row.line, number.0));
            }
        }
        let (word, reason) = verdict.split_once(';').unwrap_or((&verdict, ""));
        let count = |slugs: &[&str]| {
            let papers = claims.iter().filter(|kept| kept.full.kind != Kind::Ours);
            papers.filter(|kept| slugs.contains(&kept.full.verdict.as_str())).count()
        };
        let [reproduced, printed, open, undefined, wrong] =
            Verdict::SLUGS.map(|slug| count(&[slug]));
        let others = printed + open + undefined + wrong;
        let agrees = match word.trim() {
            "true" | "true with conventions" | "picture" => true,
            "reproduced" => reproduced > others && (others == 0 || !reason.trim().is_empty()),
            "not reproduced" => open + wrong > 0,
            "ill-defined" => undefined + open > 0,
            "false" => wrong + printed > 0,
            _ => false,
        };
        if !agrees {
            complaints.push(format!(
                "line {}: {word:?}, while {reproduced} claims are reproduced, {printed} only with the printed formula, \
                 {open} not reproducible, {undefined} ill-defined, {wrong} false (reproduced needs most of them, and a \
                 reason for the rest)",
                row.line
            ));
        }
    }
    for (at, text) in page.lines().enumerate() {
        for cell in text.split(" | ") {
            let (words, marks) = comments(cell);
            for id in marks.iter().filter_map(|mark| mark.strip_prefix("claim: ")) {
                if !record.claims.iter().any(|kept| kept.full.id == id) {
                    complaints.push(format!("line {}: there is no claim {id}", at + 1));
                    continue;
                }
                let known = texts(&|own| own == id);
                for number in numbers(&words).into_iter().filter(|number| !has(&known, *number)) {
                    complaints.push(format!("line {}: {} is no number of {id}", at + 1, number.0));
                }
            }
        }
    }
    complaints
}

#[test]
fn every_verdict_and_number_of_a_figure_is_that_of_the_record() {
    let (page, record) = (page(), record());
    let checked: usize = rows(&page).iter().map(|row| row.keys.len()).sum();
    assert!(checked >= 25, "the tables of figures were not found: {checked}");
    let complaints = check(&page, &record);
    assert!(complaints.is_empty(), "docs/papers.md\n  {}", complaints.join("\n  "));
}

#[test]
fn the_table_of_verdicts_is_that_of_the_record() {
    let (page, table) = (page(), record().figures());
    let right = with_table(&page, &table);
    if std::env::var_os("UNDERTONE_WRITE").is_some() {
        std::fs::write(place("docs/papers.md"), &right).unwrap();
    } else {
        assert!(page == right, "docs/papers.md has another table than the record:\n{table}");
    }
}

#[test]
fn reasons_follow_the_verdict() {
    for kept in &record().claims {
        let Some(quick) = &kept.quick else { continue };
        if quick.verdict != kept.full.verdict {
            assert_ne!(quick.reason, kept.full.reason, "{}", kept.full.id);
        }
    }
}

#[test]
fn the_record_is_whole() {
    let record = record();
    let keys: Vec<&str> = record.experiments.iter().map(|e| e.key.as_str()).collect();
    let all: Vec<&str> =
        undertone_experiments::registry::all().iter().map(|experiment| experiment.key).collect();
    assert_eq!(keys, all);
    for finding in &FINDINGS {
        let claim = record.claims.iter().find(|kept| kept.full.id == finding.id);
        let claim = claim.unwrap_or_else(|| panic!("no claim {}", finding.id));
        assert_eq!(claim.full.verdict, finding.verdict, "{}", finding.id);
    }
    let all = record.counts.last().unwrap();
    assert_eq!(all.verdicts.values().sum::<usize>(), all.claims);
    assert_eq!(all.claims + all.arithmetic + all.ours, record.claims.len());
    let full: Vec<_> = record.claims.iter().map(|kept| kept.full.clone()).collect();
    assert_eq!(all_counts(&full), record.counts);
    let independent = record.claims.iter().filter(|kept| !kept.depends_on_size);
    assert!(independent.count() > 60, "a quick run checks what does not depend on size");
}

/// The checker reports what it should.
#[test]
fn a_number_or_a_verdict_that_is_not_the_records_is_reported() {
    let record = record();
    let head = "| figure or table | shows | verdict | experiment |\n|---|---|---|---|\n";
    let row = |verdict: &str| {
        let page = format!("{head}| Figure 2 | x | {verdict} | [`reproduce jlt18-fig-2`](x) |\n");
        check(&page, &record)
    };
    assert_eq!(row("false; 19.66 printed, 92.1 right"), Vec::<String>::new());
    assert_eq!(row("false; 19.67 printed"), ["line 3: 19.67 is no number of the run"]);
    assert_eq!(row("reproduced").len(), 1);
    let id = record.claims[0].full.id.as_str();
    let marked = |id: &str| check(&format!("| a | 123457<!-- claim: {id} --> |"), &record);
    assert_eq!(marked(id), [format!("line 1: 123457 is no number of {id}")]);
    assert_eq!(marked("x/y"), ["line 1: there is no claim x/y"]);
    assert_eq!(
        numbers("(19) in Figure 7, 1,000 users, 37.9 %: `1.5`, 10⁴"),
        [(1000.0, 0, false), (37.9, 1, true), (10000.0, 0, false)]
    );
    assert!(has("a share of 0.3792", (37.9, 1, true)) && !has("0.38", (37.9, 1, true)));
    assert_eq!(with_table(&format!("a\n{BEGIN}b{END}\nc"), "d"), format!("a\n{BEGIN}d{END}\nc"));
}
