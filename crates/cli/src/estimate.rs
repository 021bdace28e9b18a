//! `undertone estimate`: what perturbed columns and stored tallies say about the population.

mod answers;
mod count;
mod report;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use undertone_core::Policy;
use undertone_estimate::{Estimator, Pool, Settings, Tally};

use crate::columns::{Layout, ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, save};
use count::{Counted, Reader};

/// Estimate shares, or for numbers mean, variance, quantiles and a histogram, from a perturbed column.
///
/// The headline is maximum likelihood or unbiased and converges to the truth whatever the prior says;
/// intervals cover both who was asked and how the answers were perturbed. What the prior makes of the
/// reports is shown second: it is right only if the prior is. A warning is given when prior and
/// reports disagree.
///
/// Example: undertone estimate --policy policy.json --column salary released.parquet
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy the column was perturbed under; several, over the same symbols, with
    /// --policy-column or --tally.
    #[arg(long, required = true)]
    policy: Vec<PathBuf>,
    /// The perturbed column.
    #[arg(long, required_unless_present = "tally")]
    column: Option<String>,
    /// The column that says which policy a row was perturbed under: by its id, or the name of its file.
    #[arg(long)]
    policy_column: Option<String>,
    /// CSV or Parquet files, CSV also compressed with gzip; `-` reads CSV from standard input.
    #[arg(required_unless_present = "tally")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    layout: Layout,
    /// Add the tallies stored in this file; may be given several times, and without any data.
    #[arg(long, value_name = "FILE.json")]
    tally: Vec<PathBuf>,
    /// Store all that was counted in this file, for --tally.
    #[arg(long, value_name = "FILE.json")]
    save_tally: Option<PathBuf>,
    /// What to do with cells that no policy releases, or that are missing.
    #[arg(long, value_enum, default_value_t = Unknown::Error)]
    unknown: Unknown,
    /// The probability with which an interval holds the truth.
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,
    /// All shares' intervals hold at once with that probability, not each on its own.
    #[arg(long)]
    all: bool,
    /// Speak of these respondents alone: intervals cover the perturbation, not who was asked.
    #[arg(long)]
    respondents: bool,
    /// Name the symbols whose share is above this threshold; the chance that any of them is not is
    /// held at 1 - level.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    above: Option<f64>,
    /// Which quantiles, for numbers.
    #[arg(long, value_delimiter = ',', default_value = "0.25,0.5,0.75")]
    quantiles: Vec<f64>,
    /// Also as counts and sums, of so many people.
    #[arg(long, value_name = "PEOPLE")]
    population: Option<u64>,
    /// Draw the estimate with its intervals, and the prior, as an SVG picture.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// How many threads (default: one for every processor).
    #[arg(long)]
    threads: Option<NonZero<usize>>,
}

/// What to do with a cell that is no output of the policy.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// Stop and name the row.
    Error,
    /// Leave the row out, and say how many were.
    Skip,
}

/// The reports of one policy.
struct Group {
    policy: Policy,
    tally: Tally,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let settings = settings(args)?;
    let mut groups = Vec::new();
    for path in &args.policy {
        let policy = input::policy(path)?;
        let tally = Tally::new(&policy);
        groups.push(Group { policy, tally });
    }
    let counted = read_files(args, &mut groups)?;
    for path in &args.tally {
        add_tallies(path, &mut groups)?;
    }
    if let Some(path) = &args.save_tally {
        let all: Vec<String> = groups.iter().map(|group| group.tally.to_json()).collect();
        let text = if all.len() == 1 { all.concat() } else { format!("[{}]", all.join(",\n")) };
        save(path, &text)?;
    }
    if groups.iter().all(|group| group.tally.reports() == 0) {
        return Err(nothing(args, &counted));
    }
    let estimator = Estimator::new(pool(&groups)?, settings).map_err(Failure::input)?;
    report::outcome(args, &groups, &counted, &estimator)
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let settings = Settings::at_level(args.level)
        .map_err(|error| Failure::usage(format!("--level: {error}")))?;
    let settings = if args.all { settings.all_at_once() } else { settings };
    if let Some(bad) = args.quantiles.iter().find(|&&q| !(q > 0.0 && q < 1.0)) {
        return Err(Failure::usage(format!("--quantiles: {bad} is not between 0 and 1")));
    }
    Ok(if args.respondents { settings.of_respondents() } else { settings })
}

/// Counts the reports of all files into the groups' tallies.
fn read_files(args: &Args, groups: &mut [Group]) -> Result<Counted, Failure> {
    let mut counted = Counted::default();
    let Some(column) = args.column.as_deref().filter(|_| !args.files.is_empty()) else {
        return match args.files.first() {
            Some(file) => Err(Failure::usage(format!("{}: name its --column", file.display()))),
            None => Ok(counted),
        };
    };
    if groups.len() > 1 && args.policy_column.is_none() {
        return Err(Failure::usage(
            "with several policies, say with --policy-column which one each row was perturbed under, or estimate each file apart with --save-tally and bring the tallies together with --tally",
        ));
    }
    let policies: Vec<&Policy> = groups.iter().map(|group| &group.policy).collect();
    let reader = Reader::new(args, column, &policies)?;
    let mut tallies: Vec<Tally> = groups.iter().map(|group| Tally::new(&group.policy)).collect();
    let progress = ReadingBar::new("counted");
    for file in &args.files {
        let source = Source { file: file.clone(), layout: args.layout.clone() };
        counted.add(&reader.read(&source, progress.clone(), &mut tallies)?);
    }
    drop(progress);
    for (group, tally) in groups.iter_mut().zip(&tallies) {
        group.tally.merge(tally).map_err(Failure::input)?;
    }
    Ok(counted)
}

/// Adds the tallies of a file, one or a list of them.
fn add_tallies(path: &Path, groups: &mut [Group]) -> Result<(), Failure> {
    let fail = |error: String| Failure::input(format!("{}: {error}", path.display()));
    let stored: serde_json::Value = input::json(path, "a tally, or a list of tallies")?;
    let list = match stored {
        serde_json::Value::Array(list) => list,
        one => vec![one],
    };
    if list.is_empty() {
        return Err(fail("there is no tally in this list".into()));
    }
    for entry in list {
        // The entry is written anew to be read, so that a place in it is none in the file.
        let tally = Tally::from_json(&entry.to_string())
            .map_err(|error| fail(undertone::document::unplaced(&error.to_string())))?;
        let of = |group: &&mut Group| group.policy.id() == tally.policy();
        let Some(group) = groups.iter_mut().find(of) else {
            return Err(fail(format!(
                "a tally of policy {}, which is not given: add --policy with its document",
                tally.policy()
            )));
        };
        group.tally.merge(&tally).map_err(|error| fail(error.to_string()))?;
    }
    Ok(())
}

fn pool(groups: &[Group]) -> Result<Pool, Failure> {
    let mut pool: Option<Pool> = None;
    for group in groups {
        let tally = group.tally.clone();
        pool = Some(
            match pool {
                None => Pool::new(&group.policy, tally),
                Some(pool) => pool.and(&group.policy, tally),
            }
            .map_err(Failure::input)?,
        );
    }
    pool.ok_or_else(|| Failure::usage("give --policy"))
}

fn nothing(args: &Args, counted: &Counted) -> Failure {
    let skipped = counted.skipped();
    if skipped > 0 {
        return Failure::input(format!(
            "column {:?}: every one of {skipped} rows was skipped, because no policy given releases what it holds: is it the right policy?",
            args.column.as_deref().unwrap_or_default()
        ));
    }
    Failure::input("there are no reports to estimate from")
}
