//! `undertone estimate`: what perturbed columns and stored tallies say about the population.

mod grouped;
mod plan;
mod sampled;
mod shown;

use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use undertone::estimate::{
    CountedReports, EstimateReport, EstimateRequest, NamedPolicy, ReportColumn, UnknownReports,
    estimate,
};
use undertone::observations::ReportedUnder;

use crate::columns::{Layout, ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, save};
use crate::plot;
use crate::survey::{SamplingOptions, reported_by};

/// Estimate shares, or for numbers mean, variance, quantiles and a histogram, from a perturbed column.
///
/// The headline is maximum likelihood or unbiased and converges to the truth whatever the prior says;
/// intervals cover both who was asked and how the answers were perturbed. What the prior makes of the
/// reports is shown second: it is right only if the prior is. A warning is given when prior and
/// reports disagree.
///
/// With a plan every question is answered, whether it was asked alone, together with others as one combined answer, or in several
/// items: files are released frames, with a column for every item, or responses as JSON lines (.jsonl).
///
/// Example: undertone estimate --policy policy.json --column salary released.parquet
///
/// With --by, --weights, --strata, --cluster or --margins the shares and their intervals are those of the sample's design: unbiased, with
/// linearised standard errors.
///
/// Example: undertone estimate --policy policy.json --column answer --by sex --weights w survey.csv
///
/// With --policy-by every row is read under the policy its group was perturbed under, and every group has shares of its own: nothing is
/// taken from a prediction. (--policy-column supposes that all policies were given to people of one population.)
///
/// Example: undertone estimate --policy-by group=map.json --column answer released.csv
///
/// Example: undertone estimate --plan plan.json released.csv
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy the column was perturbed under; several, over the same symbols, with
    /// --policy-column or --tally.
    #[arg(long, required_unless_present_any = ["plan", "policy_by"])]
    policy: Vec<PathBuf>,
    /// The column that says which group a row belongs to, and a map of the groups' policies, as in `perturb`.
    #[arg(long, value_name = "COLUMN=MAP.json", conflicts_with_all = ["policy", "policy_column", "plan"])]
    policy_by: Option<String>,
    /// The plan the files were released under, or answered.
    #[arg(long, conflicts_with_all = ["policy", "column", "policy_column", "plot"])]
    plan: Option<PathBuf>,
    /// Also count which answers to these two or three questions of the plan go together, for --save-tally; may be given
    /// several times.
    #[arg(long, value_name = "A,B", requires = "plan")]
    pairs: Vec<String>,
    /// The perturbed column.
    #[arg(long, required_unless_present_any = ["tally", "plan"])]
    column: Option<String>,
    /// The column that says which policy a row was perturbed under: by its id, or the name of its file.
    #[arg(long)]
    policy_column: Option<String>,
    /// CSV or Parquet files, CSV also compressed with gzip; `-` reads CSV from standard input. With a plan also responses, one
    /// on each line of a .jsonl file.
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
    /// Also as counts and sums, of so many people; and shares with the finite population's correction, if the reports are a
    /// simple random sample of them, or are drawn as --weights, --strata and --cluster say.
    #[arg(long, value_name = "PEOPLE")]
    population: Option<u64>,
    /// How many shares to list, the largest of the estimate, here and with --json, which says how many it leaves out as shares_left_out
    /// (default: 24 here; with --json all, or of more than 10,000 symbols the 10,000 largest).
    #[arg(long, value_name = "SHARES", conflicts_with_all = ["plan", "by"])]
    top: Option<usize>,
    /// Also the shares in each group of this clear column.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["plan", "tally"])]
    by: Option<String>,
    #[command(flatten)]
    sampling: SamplingOptions,
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

impl From<Unknown> for UnknownReports {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Error => Self::Refuse,
            Unknown::Skip => Self::Skip,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = EstimateRequest {
        level: args.level,
        all: args.all,
        respondents: args.respondents,
        above: args.above,
        quantiles: args.quantiles.clone(),
        population: args.population,
        top: args.top,
    };
    // What no reports could answer is refused before they are counted.
    request.settings()?;
    if let Some(path) = &args.plan {
        return plan::run(path, args, &request);
    }
    if let Some(text) = &args.policy_by {
        let under = reported_by(text)?;
        let clear = |(_, policy): &(String, Option<_>)| policy.is_none();
        let some_clear = match &under {
            ReportedUnder::By { designs, .. } => designs.iter().any(clear),
            ReportedUnder::Policy(_) => false,
        };
        return match args.by.is_some() || args.sampling.given() || some_clear {
            true => sampled::run(args, under),
            false => grouped::run(args, under, &request),
        };
    }
    let policies: Vec<NamedPolicy> =
        args.policy.iter().map(|path| policy(path)).collect::<Result<_, _>>()?;
    if args.by.is_some() || args.sampling.given() {
        return sampled::run(args, sampled::under(args, policies)?);
    }
    let mut reports = count(args, &policies)?;
    for path in &args.tally {
        reports.add_stored(&path.display().to_string(), &input::text(path)?)?;
    }
    if let Some(path) = &args.save_tally {
        save(path, &reports.to_json())?;
    }
    let report = estimate(&reports, &request)?;
    let report = EstimateReport { column: args.column.clone(), ..report };
    if let Some(path) = &args.plot {
        plot::save(path, &shown::picture(&report)?)?;
    }
    let mut text = shown::text(&report, args.top);
    for (path, what) in [(&args.plot, "picture"), (&args.save_tally, "tally")] {
        if let Some(path) = path {
            text += &format!("\n{what} written to {}", path.display());
        }
    }
    Ok(Outcome::of(&report, text))
}

/// A policy, which rows may also call by the name of its file.
fn policy(path: &Path) -> Result<NamedPolicy, Failure> {
    let part = |part: Option<&OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
    };
    Ok(NamedPolicy {
        policy: input::policy(path)?,
        name: path.display().to_string(),
        aliases: vec![part(path.file_name()), part(path.file_stem())],
    })
}

/// The reports of all files.
fn count(args: &Args, policies: &[NamedPolicy]) -> Result<CountedReports, Failure> {
    let column = match (&args.column, args.files.first()) {
        (_, None) => return Ok(CountedReports::none(policies)),
        (None, Some(file)) => {
            return Err(Failure::usage(format!("{}: name its --column", file.display())));
        }
        (Some(column), Some(_)) => column.clone(),
    };
    let progress = ReadingBar::new("counted");
    let rows = |file: &PathBuf| {
        let source = Source { file: file.clone(), layout: args.layout.clone() };
        Ok(source.rows()?.watched_by(progress.clone()))
    };
    let column = ReportColumn {
        column,
        policy_column: args.policy_column.clone(),
        unknown: args.unknown.into(),
        threads: args.threads,
    };
    let files = args.files.iter().map(rows).collect::<Result<_, Failure>>()?;
    Ok(CountedReports::read(policies, files, &column)?)
}
