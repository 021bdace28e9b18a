//! `undertone release`: release a file of people under a plan, row by row.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use undertone::release::{ReleaseReport, ReleaseRequest, Target};

use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, apart_from, some, table};
use crate::perturb::{Unknown, kept};

/// Release a CSV or Parquet file of people under a verified plan, row by row.
///
/// Every row is one person and one answer to the plan. Every question is a column; which items a row answers is
/// drawn as a device draws it, whatever its cells say, and each of them by its policy, with fresh randomness from the
/// system. A combined item is a column named by its questions, as in `smokes × drinks`, with cells such as `yes × no`;
/// a cell is empty where the row does not answer. Nothing else leaves: other columns are dropped unless --keep names
/// them, and so is what a Parquet file says about itself. The output has the input's format. Nothing is left behind if
/// the command fails.
///
/// Example: undertone release --plan plan.json people.csv -o released.csv
///
/// Example: undertone release --plan plan.json --column smokes=q7 --keep region people.parquet -o released.parquet
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The plan document. It is checked again before it is used.
    #[arg(long)]
    plan: PathBuf,
    /// Where the column of a question is called otherwise. May be given several times.
    #[arg(long, value_name = "QUESTION=COLUMN", value_parser = named)]
    column: Vec<(String, String)>,
    #[command(flatten)]
    source: Source,
    /// Where to write, CSV with .gz compressed; `-` writes to standard output and the summary to
    /// standard error.
    #[arg(long, short)]
    output: PathBuf,
    /// Release this column too, as it is: every value of it leaves in the clear, of Parquet also those its dictionary
    /// lists and no row has. What the kept columns tell about each question is measured on the data and printed, not
    /// released. May be given several times.
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// What to do with rows that have a missing value, or one that its question does not know.
    #[arg(long, value_enum, default_value_t = Unknown::Error)]
    unknown: Unknown,
    /// How many threads (default: one for every processor).
    #[arg(long)]
    threads: Option<NonZero<usize>>,
}

/// A question and its column.
fn named(text: &str) -> Result<(String, String), String> {
    let pair = text
        .split_once('=')
        .filter(|(question, column)| !question.is_empty() && !column.is_empty());
    let pair = pair.ok_or("give QUESTION=COLUMN, as in smokes=q7")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

impl Args {
    /// Whether the rows go to standard output.
    pub(crate) fn streams(&self) -> bool {
        self.output == Path::new("-")
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    apart_from(&args.output, &[&args.plan])?;
    let request = ReleaseRequest {
        plan: input::plan(&args.plan)?,
        rows: args.source.rows()?.watched_by(ReadingBar::new("released")),
        columns: args.column.clone(),
        keep: args.keep.clone(),
        unknown: args.unknown.into(),
        threads: args.threads,
        output: match args.streams() {
            true => Target::writer("standard output", std::io::stdout()),
            false => Target::file(&args.output),
        },
    };
    let start = Instant::now();
    let report = undertone::release::release(request)?.timed(start.elapsed());
    let report = ReleaseReport { output: args.output.display().to_string(), ..report };
    Ok(Outcome::of(&report, text(&report)))
}

fn text(report: &ReleaseReport) -> String {
    let row = |item: &undertone::release::ReleasedItem| {
        let cost = item.cost.map_or("unbounded".to_owned(), |cost| cost.to_string());
        vec![item.name.clone(), item.answered.to_string(), cost]
    };
    let mut text = format!(
        "{} of {} rows released\nplan id: {}\n\n{}\n{:.0} rows per second",
        report.released,
        report.rows,
        report.plan_id,
        table(&["column", "answered", "LDP"], report.items.iter().map(row).collect()),
        report.rate.unwrap_or_default()
    );
    if report.asked > 0 {
        text += &format!(
            "\neach row answers {} of the items that are drawn; its cells in the others are empty",
            report.asked
        );
    }
    let odd = |question: &&undertone::release::ReleasedQuestion| {
        question.unknown + question.missing + question.clipped_below + question.clipped_above > 0
    };
    let counts: Vec<Vec<String>> = report
        .questions
        .iter()
        .filter(odd)
        .map(|question| {
            let counts = [
                question.unknown,
                question.missing,
                question.clipped_below,
                question.clipped_above,
            ];
            [vec![question.column.clone()], counts.map(|count| count.to_string()).to_vec()].concat()
        })
        .collect();
    if !counts.is_empty() {
        let header = ["cells", "unknown", "missing", "below the range", "above the range"];
        text += &format!("\n\n{}", table(&header, counts));
    }
    text += "\n\nWhat a row can tell about the person behind it:";
    for sentence in &report.person.in_words {
        text += &format!("\n  {sentence}");
    }
    text += &kept(&report.kept);
    if !report.left_out.is_empty() {
        text += &format!(
            "\nleft out: {} (--keep NAME releases a column as it is)",
            some(report.left_out.iter().cloned(), 10)
        );
    }
    if !report.notes_left_out.is_empty() {
        text += &format!(
            "\nleft out: what the file says about itself ({})",
            some(report.notes_left_out.iter().cloned(), 10)
        );
    }
    for warning in &report.warnings {
        text += &format!("\nwarning: {warning}");
    }
    text + &format!("\nwrote {}", report.output)
}
