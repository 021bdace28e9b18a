//! `undertone perturb`: randomise a column of a file, row by row.

mod chosen;
mod noise;
#[cfg(feature = "parquet")]
mod parquet;
mod released;
mod target;
mod text;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use undertone_core::{AlphabetView, Policy};

use undertone::columns::{Code, OpenedSource, RowPlace};

use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, some, table};
use chosen::Chosen;
use noise::{Counts, Plan};

/// Randomise a column of a CSV or Parquet file under a verified policy, row by row.
///
/// Every row is one release: the column's cell is replaced by what the policy's channel draws for it,
/// with fresh randomness from the system. Nothing else leaves: other columns are dropped unless --keep
/// names them, and so is what a Parquet file says about itself (pandas and Spark attributes, comments of
/// columns). The output has the input's format. Nothing is left behind if the command fails.
///
/// Example: undertone perturb --policy policy.json --column salary people.parquet -o released.parquet
///
/// Example: undertone perturb --policy policy.json --column salary --keep region people.csv -o released.csv
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy document. It is checked again before it is used.
    #[arg(long)]
    policy: PathBuf,
    /// The column to randomise.
    #[arg(long)]
    column: String,
    #[command(flatten)]
    source: Source,
    /// Where to write, CSV with .gz compressed; `-` writes to standard output and the summary to
    /// standard error.
    #[arg(long, short)]
    output: PathBuf,
    /// Release this column too, as it is: every value of it leaves in the clear, of Parquet also those its dictionary
    /// lists and no row has. May be given several times.
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// Leave all other columns out: the default, for scripts that say so.
    #[arg(long, conflicts_with = "keep")]
    only: bool,
    /// What to do with missing values and values the policy does not know.
    #[arg(long, value_enum, default_value_t = Unknown::Error)]
    unknown: Unknown,
    /// How many threads (default: one for every processor).
    #[arg(long)]
    threads: Option<NonZero<usize>>,
}

/// What to do with a value that has no symbol, or is missing.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Stop and name the row.
    Error,
    /// Leave the row out, and say how many were.
    Skip,
    /// Randomise it as the symbol "other", which the policy must have.
    Other,
}

/// All that reading, randomising and writing have in common.
struct Job<'a> {
    args: &'a Args,
    plan: Plan,
}

/// What was written, and what was not.
struct Written {
    counts: Counts,
    chosen: Chosen,
    /// The keys of what the file said about itself and the output does not.
    notes_left_out: Vec<String>,
}

/// A verified policy from a file.
pub(crate) fn verified(path: &Path) -> Result<Policy, Failure> {
    input::draft(path)?.verify().map_err(|refusal| {
        Failure::input(format!("{}: the policy is refused: {refusal}", path.display()))
    })
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let policy = verified(&args.policy)?;
    let job = Job { args, plan: Plan::new(policy, args.unknown)? };
    let start = Instant::now();
    let written = match args.source.rows()?.watched_by(ReadingBar::new("perturbed")).open()? {
        OpenedSource::Csv(file) => text::run(&job, file)?,
        #[cfg(feature = "parquet")]
        OpenedSource::Parquet(file) => parquet::run(&job, file)?,
    };
    let outcome = job.report(&written, start.elapsed());
    if args.output != Path::new("-") {
        return Ok(outcome);
    }
    // Standard output holds the rows, and main would print there.
    let json = std::env::args_os().any(|arg| arg == "--json");
    eprintln!(
        "{}",
        if json { format!("{:#}", crate::output::finished(outcome.json)) } else { outcome.text }
    );
    std::process::exit(0);
}

impl Job<'_> {
    /// What is wrong with a cell, and what can be done about it. What the cell says is somebody's answer
    /// and not repeated.
    fn bad_cell(&self, place: RowPlace, code: Code) -> Failure {
        let inputs = self.plan.policy.draft().inputs();
        let found = match (code, inputs.view()) {
            (Code::Missing, _) => "is empty or NaN".to_owned(),
            (_, AlphabetView::Bins { .. }) => "is not a finite number".to_owned(),
            (_, view) => {
                let what = match view {
                    AlphabetView::Points(_) => "numbers",
                    _ => "symbols",
                };
                let known = some((0..inputs.len()).map(|x| inputs.label(x)), 5);
                format!("is none of the policy's {} {what} ({known})", inputs.len())
            }
        };
        let other = if self.plan.other.is_some() { " or other" } else { "" };
        self.args.source.problem(format!(
            "{place}, column {:?} {found}: mend it, use --unknown skip{other}, or is it the wrong policy?",
            self.args.column
        ))
    }

    fn report(&self, written: &Written, took: Duration) -> Outcome {
        let args = self.args;
        let Written { counts, chosen, notes_left_out } = written;
        let policy = &self.plan.policy;
        let claims: Vec<String> = policy.draft().claims().iter().map(ToString::to_string).collect();
        let rate = counts.rows as f64 / took.as_secs_f64().max(1e-9);
        let warnings = self.warnings(counts);
        let json = json!({
            "rows": counts.rows,
            "perturbed": counts.perturbed,
            "unknown": counts.unknown,
            "missing": counts.missing,
            "skipped": counts.skipped,
            "clipped": counts.below + counts.above,
            "clipped_below": counts.below,
            "clipped_above": counts.above,
            "rate": rate,
            "policy_id": policy.id().to_string(),
            "claims": claims,
            "column": args.column,
            "kept": chosen.kept_names,
            "left_out": chosen.left_out,
            "notes_left_out": notes_left_out,
            "output": args.output.display().to_string(),
            "warnings": warnings,
        });
        let mut rows = vec![vec!["rows".to_owned(), counts.rows.to_string(), String::new()]];
        let mut say = |what: &str, count: u64, how: &str| {
            if count > 0 {
                rows.push(vec![what.into(), count.to_string(), how.into()]);
            }
        };
        say("perturbed", counts.perturbed, "");
        let fate = match args.unknown {
            Unknown::Other => "perturbed as \"other\"",
            Unknown::Skip | Unknown::Error => "left out",
        };
        say("unknown values", counts.unknown, fate);
        say("missing values", counts.missing, fate);
        let share = |count: u64| {
            format!(
                "{:.2} % of all, taken as the end of the range",
                100.0 * count as f64 / counts.rows.max(1) as f64
            )
        };
        say("below the range", counts.below, &share(counts.below));
        say("above the range", counts.above, &share(counts.above));
        let mut text = format!(
            "column {:?} perturbed under {}\npolicy id: {}\n\n{}\n{:.0} rows per second",
            args.column,
            claims.join(" and "),
            policy.id(),
            table(&["", "count", ""], rows),
            rate
        );
        if !chosen.kept_names.is_empty() {
            text += &format!("\nkept in the clear: {}", chosen.kept_names.join(", "));
        }
        if !chosen.left_out.is_empty() {
            text += &format!(
                "\nleft out: {} (--keep NAME releases a column as it is)",
                some(chosen.left_out.iter().cloned(), 10)
            );
        }
        if !notes_left_out.is_empty() {
            text += &format!(
                "\nleft out: what the file says about itself ({})",
                some(notes_left_out.iter().cloned(), 10)
            );
        }
        for warning in &warnings {
            text += &format!("\nwarning: {warning}");
        }
        text += &format!("\nwrote {}", args.output.display());
        Outcome::good(json, text)
    }

    /// What a reader must not overlook.
    fn warnings(&self, counts: &Counts) -> Vec<String> {
        let mut said = Vec::new();
        let clipped = counts.below + counts.above;
        if clipped > 0 && clipped == counts.perturbed {
            said.push(
                "every number lay outside the policy's range: is it the right column, in the right unit?"
                    .into(),
            );
        }
        if self.plan.grouped(counts) {
            said.push(
                "rows with equal values stand together, as in a sorted file: the order of the rows tells what the noise hides; shuffle the rows and perturb again"
                    .into(),
            );
        }
        said
    }
}
