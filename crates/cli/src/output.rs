//! What a command found, for people and for programs.

use std::io::Write;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use undertone::Answer;

use crate::failure::Failure;
pub(crate) use undertone::error::listed as some;
pub(crate) use undertone::number::{Round, finished, nats, rounded};

/// A result in both forms, and whether it is good news.
pub(crate) struct Outcome {
    pub(crate) json: Value,
    pub(crate) text: String,
    pub(crate) good: bool,
}

impl Outcome {
    pub(crate) fn good(json: Value, text: String) -> Self {
        Self { json, text, good: true }
    }

    /// An answer of the library, and the tables people read.
    pub(crate) fn of(answer: &impl Answer, text: String) -> Self {
        Self { json: answer.json(), text, good: answer.is_good() }
    }

    /// Prints it on standard error, where standard output holds rows of data, and returns the exit code.
    pub(crate) fn print_aside(self, json: bool) -> u8 {
        let said = if json { format!("{:#}", finished(self.json)) } else { self.text };
        eprintln!("{said}");
        u8::from(!self.good)
    }

    /// Nothing is left to print: a command for programs that printed as it went.
    pub(crate) fn printed() -> Self {
        Self::good(Value::Null, String::new())
    }

    /// Prints it and returns the exit code.
    pub(crate) fn print(self, json: bool) -> u8 {
        let code = u8::from(!self.good);
        if json && self.json.is_null() {
            return code;
        }
        if json {
            line(&format!("{:#}", finished(self.json)));
        } else {
            line(self.text.trim_end());
        }
        code
    }
}

/// One line on standard output. A reader that has gone away is not an error worth a panic.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Writes a result file.
pub(crate) fn save(path: &std::path::Path, content: &str) -> Result<(), Failure> {
    std::fs::write(path, content).map_err(|error| Failure::of_system("write", path, &error))
}

/// Refuses an output that is one of the documents read, under whatever name: it would be gone. The data may be replaced by what
/// was made of them.
pub(crate) fn apart_from(
    output: &std::path::Path,
    inputs: &[&std::path::Path],
) -> Result<(), Failure> {
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let same = |input: &&&std::path::Path| input.canonicalize().is_ok_and(|input| input == target);
    match inputs.iter().find(same) {
        Some(input) => Err(Failure::usage(format!(
            "--output {} is what is read ({}): it would be lost, so give another file",
            output.display(),
            input.display()
        ))),
        None => Ok(()),
    }
}

/// A progress bar on standard error, where that is a terminal.
pub(crate) fn progress(steps: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} ({eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar
}

/// Characters of a table's cell; what is longer is cut.
const WIDEST: usize = 200;

/// A text for a table: laying out very long ones would take minutes.
fn cut(text: String) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// A table whose columns after the first are numbers unless they are texts.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(100);
    }
    table.set_header(header.iter().map(|text| cut((*text).to_owned())));
    for row in rows {
        table.add_row(row.into_iter().map(cut).map(|text| {
            // A mark before a number leaves it one.
            let number = text.strip_prefix("= ").unwrap_or(&text);
            let numeric = number.parse::<f64>().is_ok() || number == "unbounded";
            let alignment = if numeric { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    table.to_string()
}
