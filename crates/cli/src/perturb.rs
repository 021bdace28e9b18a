//! `undertone perturb`: randomise a column of a file, row by row.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use undertone::columns::UnknownValues;
use undertone::kept::Kept;
use undertone::observations::ReportedUnder;
use undertone::perturb::{LEAST_GROUP, PerturbReport, PerturbRequest, PerturbedGroup, Target};

use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, apart_from, some, table};
use crate::survey::{map_of, reported_by};

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
///
/// With --policy-by every row is drawn under the policy that another of its columns names. That column leaves only if --keep
/// names it, which an estimate needs; a group with fewer rows than --least-group is then refused.
///
/// Example: undertone perturb --policy-by group=map.json --column answer --keep group people.csv -o released.csv
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy document. It is checked again before it is used.
    #[arg(long, required_unless_present = "policy_by", conflicts_with = "policy_by")]
    policy: Option<PathBuf>,
    /// The column that says which policy a row has, and a map of what it may say: {"1": "policy-1.json", "2": "policy-2.json"}.
    /// Names of files are relative to the map's folder; a policy may also stand in the map itself. A row whose group is
    /// missing or not in the map is refused. `undertone design --priors` makes such maps.
    #[arg(long, value_name = "COLUMN=MAP.json")]
    policy_by: Option<String>,
    /// How many rows each group must have if its column is kept: a policy shared by few is a name tag.
    #[arg(long, requires = "policy_by", value_name = "ROWS", default_value_t = LEAST_GROUP)]
    least_group: u64,
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
    /// lists and no row has. What the kept columns tell about the randomised one is measured on the data and printed,
    /// not released. May be given several times.
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

impl From<Unknown> for UnknownValues {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Error => Self::Refuse,
            Unknown::Skip => Self::Skip,
            Unknown::Other => Self::AsOther,
        }
    }
}

impl Args {
    /// Whether the rows go to standard output.
    pub(crate) fn streams(&self) -> bool {
        self.output == Path::new("-")
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let under = match (&args.policy, &args.policy_by) {
        (Some(path), _) => {
            apart_from(&args.output, &[path])?;
            ReportedUnder::from(input::policy(path)?)
        }
        (None, Some(text)) => {
            apart_from(&args.output, &[map_of(text)?])?;
            reported_by(text)?
        }
        (None, None) => return Err(Failure::usage("give --policy or --policy-by")),
    };
    let request = PerturbRequest {
        under,
        least_group: args.least_group,
        rows: args.source.rows()?.watched_by(ReadingBar::new("perturbed")),
        column: args.column.clone(),
        keep: args.keep.clone(),
        unknown: args.unknown.into(),
        threads: args.threads,
        output: match args.streams() {
            true => Target::writer("standard output", std::io::stdout()),
            false => Target::file(&args.output),
        },
    };
    let start = Instant::now();
    let report = undertone::perturb::perturb(request)?.timed(start.elapsed());
    let report = PerturbReport { output: args.output.display().to_string(), ..report };
    Ok(Outcome::of(&report, text(&report, args.unknown)))
}

/// What the columns kept in the clear tell, as a table.
pub(crate) fn kept(kept: &[Kept]) -> String {
    let Some(first) = kept.first() else { return String::new() };
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let row = |kept: &Kept| {
        vec![
            kept.question.clone(),
            percent(kept.accuracy),
            format!("{:.1}", (1000.0 * kept.accuracy_upper - 1e-9).ceil() / 10.0),
            percent(kept.majority),
            // What misleads takes no uncertainty away.
            percent(kept.log_loss_reduction.max(0.0)),
        ]
    };
    let header = [
        "about",
        "guessed from them %",
        "97.5 % sure below",
        "guessed blindly %",
        "uncertainty taken %",
    ];
    format!(
        "\nkept in the clear: {}\n{}\n{} % of the rows have kept values like no other row's; each of {} rows was guessed from its kept values as the other rows have them",
        first.columns.join(", "),
        table(&header, kept.iter().map(row).collect()),
        percent(first.unique),
        first.rows,
    )
}

fn text(report: &PerturbReport, unknown: Unknown) -> String {
    let mut rows = vec![vec!["rows".to_owned(), report.rows.to_string(), String::new()]];
    let mut say = |what: &str, count: u64, how: &str| {
        if count > 0 {
            rows.push(vec![what.into(), count.to_string(), how.into()]);
        }
    };
    say("perturbed", report.perturbed, "");
    let fate = match unknown {
        Unknown::Other => "perturbed as \"other\"",
        Unknown::Skip | Unknown::Error => "left out",
    };
    say("unknown values", report.unknown, fate);
    say("missing values", report.missing, fate);
    let share = |count: u64| {
        format!(
            "{:.2} % of all, taken as the end of the range",
            100.0 * count as f64 / report.rows.max(1) as f64
        )
    };
    say("below the range", report.clipped_below, &share(report.clipped_below));
    say("above the range", report.clipped_above, &share(report.clipped_above));
    let claims: Vec<String> = report.claims.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "column {:?} perturbed under {}\n{}\n\n{}\n{:.0} rows per second",
        report.column,
        claims.join(" and "),
        match &report.policy_id {
            Some(id) => format!("policy id: {id}"),
            None => report.policies_in_words(),
        },
        table(&["", "count", ""], rows),
        report.rate.unwrap_or_default()
    );
    if !report.groups.is_empty() {
        let row = |group: &PerturbedGroup| {
            let claims: Vec<String> = group.claims.iter().map(ToString::to_string).collect();
            let id = group.policy_id.to_string()[..16].to_owned();
            vec![group.group.clone(), group.perturbed.to_string(), claims.join(" and "), id]
        };
        let rows = report.groups.iter().map(row).collect();
        text += &format!("\n\n{}", table(&["group", "rows", "under", "policy"], rows));
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
