//! `undertone hitters`: values that many people have, out of a set too large to list.

use std::path::{Path, PathBuf};
use std::time::Instant;

use undertone::Answer;
use undertone::columns;
use undertone::design::Protection;
use undertone::hitters::{
    self, CollectedReports, FindRequest, FoundReport, HittersDesign, HittersPlan, HittersRequest,
    KnownValues, Longer, OpenValues, REPORT_COLUMN, UnknownValue, WriteRequest, WrittenReport,
};
use undertone::number::decimal;
use undertone::perturb::Target;

use crate::columns::{Layout, ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, Round, apart_from, nats, save, table};

/// Find values that many people have, such as addresses or words, out of a set too large to list.
///
/// Each person sends one report, about one prefix of the value, drawn once whatever the value; prefixes that many reports support are
/// followed from round to round, and whole values are tested on the people of the last.
///
/// Example: undertone hitters design --values text:16 --protect ldp:1 --people 1000000 -o hitters.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Design(DesignArgs),
    Report(ReportArgs),
    Find(FindArgs),
}

/// Plan the rounds, and say from which share on a value is found.
///
/// Example: undertone hitters design --values text:16 --protect ldp:1 --people 1000000 -o hitters.json
///
/// Example: undertone hitters design --values letters:a-z:12 --protect ldp:2 --share 0.01
#[derive(clap::Args)]
struct DesignArgs {
    /// What values are: text:16 (at most 16 bytes), letters:a-z0-9:12 (at most 12 of these letters), integers:32 (bits).
    #[arg(long)]
    values: OpenValues,
    /// What everything one person sends keeps: ldp:1.
    #[arg(long)]
    protect: Protection,
    /// How many rounds the people are shared out to (default: as few as examine at most 16 bits each).
    #[arg(long)]
    rounds: Option<usize>,
    /// What happens to values that are longer: refuse, or cut, so that their beginning is reported.
    #[arg(long, default_value = "refuse")]
    longer: Longer,
    /// Values known to be popular, ["a", "b"] or with shares {"a": 0.2, "b": 0.1}: they need the last round alone, which
    /// then asks more of the people. Give `find` the list, too.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// How many people there will be: says from which share on a value is found.
    #[arg(long, value_parser = options::count)]
    people: Option<usize>,
    /// The share from which on a value must be found: says how many people that takes.
    #[arg(long, value_parser = options::share)]
    share: Option<f64>,
    /// The chance that any value is listed that nobody has.
    #[arg(long, default_value = "0.05", value_parser = options::between_0_and_1)]
    error: f64,
    /// The probability with which a value must be found.
    #[arg(long, default_value = "0.9", value_parser = options::between_0_and_1)]
    power: f64,
    /// Write the plan here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// Report the values of a file, one report for each row and person, with fresh randomness from the system.
///
/// The output is CSV with the one column `report`; nothing else leaves. A second run on the same people would tell twice as much.
///
/// Example: undertone hitters report --plan hitters.json --column word people.csv -o reports.csv
///
/// Example: undertone hitters report --plan hitters.json --column 1 --no-header words.txt -o reports.csv
#[derive(clap::Args)]
struct ReportArgs {
    /// The plan. It is checked again before it is used.
    #[arg(long)]
    plan: PathBuf,
    /// The column with the values.
    #[arg(long)]
    column: String,
    #[command(flatten)]
    source: Source,
    /// Where to write, with .gz compressed; `-` writes to standard output and the summary to standard error.
    #[arg(long, short)]
    output: PathBuf,
    /// What to do with missing values and values the plan has no code for.
    #[arg(long, value_enum, default_value_t = Unknown::Error)]
    unknown: Unknown,
}

/// What to do with a value that has no code, or is missing.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// Stop and name the row.
    Error,
    /// Leave the row out, and say how many were.
    Skip,
    /// Report it as the empty text, so that nobody is missing.
    Empty,
}

impl From<Unknown> for UnknownValue {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Error => Self::Refuse,
            Unknown::Skip => Self::Skip,
            Unknown::Empty => Self::AsEmpty,
        }
    }
}

/// Find the values that many people have in their reports, with shares, intervals and exact p-values.
///
/// Exit 1 if so few reported that not even a value that everybody has would be found.
///
/// Example: undertone hitters find --plan hitters.json reports.csv
///
/// Example: undertone hitters find --plan hitters.json --known popular.json --threshold 0.01 monday.csv tuesday.csv
#[derive(clap::Args)]
struct FindArgs {
    /// The plan. It is checked again before it is used.
    #[arg(long)]
    plan: PathBuf,
    /// Files of reports as `hitters report` writes them; `-` reads standard input.
    files: Vec<PathBuf>,
    /// A file of responses to the plan inside the plan, one response/1 in JSON on a line, as devices send them (repeatable).
    #[arg(long, value_name = "FILE")]
    responses: Vec<PathBuf>,
    /// The column with the reports.
    #[arg(long, default_value = REPORT_COLUMN)]
    column: String,
    /// Values to test in any case, ["a", "b"] or {"a": 0.2, "b": 0.1}; shares are not used here.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Only list values that more than this share of people have.
    #[arg(long, default_value_t = 0.0)]
    threshold: f64,
    /// The chance that any value is listed that no more than that share have.
    #[arg(long, default_value = "0.05", value_parser = options::between_0_and_1)]
    error: f64,
    /// The probability with which what is called visible is found.
    #[arg(long, default_value = "0.9", value_parser = options::between_0_and_1)]
    power: f64,
    #[command(flatten)]
    layout: Layout,
}

impl Args {
    /// Whether reports go to standard output.
    pub(crate) fn streams(&self) -> bool {
        matches!(&self.action, Action::Report(args) if args.output == Path::new("-"))
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Design(args) => design(args),
        Action::Report(args) => report(args),
        Action::Find(args) => find(args),
    }
}

fn named(path: &Path) -> String {
    path.display().to_string()
}

fn plan(path: &Path) -> Result<HittersPlan, Failure> {
    Ok(HittersPlan::from_json(&named(path), &input::text(path)?)?)
}

fn known(path: Option<&PathBuf>) -> Result<KnownValues, Failure> {
    path.map_or(Ok(KnownValues::default()), |path| {
        Ok(KnownValues::from_json(&named(path), &input::text(path)?)?)
    })
}

fn percent(share: f64, round: Round) -> String {
    nats(decimal(100.0 * share, round, 3))
}

fn design(args: &DesignArgs) -> Result<Outcome, Failure> {
    let made = hitters::design(&HittersRequest {
        rounds: args.rounds,
        longer: args.longer,
        known: known(args.known.as_ref())?,
        people: args.people.map(|people| people as u64),
        share: args.share,
        error: args.error,
        power: args.power,
        ..HittersRequest::new(args.values.clone(), args.protect.clone())
    })?;
    let mut text = designed(&made);
    match &args.output {
        Some(path) => {
            save(path, &made.plan.to_json())?;
            text += &format!("\n\nwrote {}", path.display());
        }
        None => text += "\n\nnothing was written: -o PLAN.json keeps the plan",
    }
    Ok(Outcome::of(&made, text))
}

fn designed(made: &HittersDesign) -> String {
    let rounds = made.rounds.iter().enumerate().map(|(at, round)| {
        let asked = percent(round.chance, Round::Nearest);
        vec![(at + 1).to_string(), round.bits.to_string(), format!("{asked} % of people")]
    });
    let rounds = table(&["round", "bits of the code", "asked of"], rounds.collect());
    let hashes = made.hashes;
    format!(
        "{}\n\n{rounds}\n\nrandomised: a hash to {hashes} by a function of the report's own, method {}\nn times the variance of a share of nought in one round: {}\npolicy id: {}\nplan id: {}",
        made.words(),
        made.method,
        nats(decimal(made.variance_at_zero, Round::Nearest, 4)),
        made.policy_id,
        made.plan_id,
    )
}

fn report(args: &ReportArgs) -> Result<Outcome, Failure> {
    apart_from(&args.output, &[&args.plan])?;
    let request = WriteRequest {
        plan: plan(&args.plan)?,
        rows: args.source.rows()?.watched_by(ReadingBar::new("reported")),
        column: args.column.clone(),
        unknown: args.unknown.into(),
        output: match args.output == Path::new("-") {
            true => Target::writer("standard output", std::io::stdout()),
            false => Target::file(&args.output),
        },
    };
    let start = Instant::now();
    let written = hitters::write(request)?.timed(start.elapsed());
    let written = WrittenReport { output: named(&args.output), ..written };
    Ok(Outcome::of(&written, written.words()))
}

fn find(args: &FindArgs) -> Result<Outcome, Failure> {
    let plan = plan(&args.plan)?;
    if args.files.is_empty() && args.responses.is_empty() {
        return Err(Failure::usage("give a file of reports, or --responses"));
    }
    let mut reports = CollectedReports::none(&plan);
    for file in &args.files {
        let source = Source { file: file.clone(), layout: args.layout.clone() };
        let rows: columns::Source = source.rows()?.watched_by(ReadingBar::new("read"));
        reports.add_file(&plan, rows, &args.column)?;
    }
    for file in &args.responses {
        reports.add_responses(&plan, &named(file), input::text(file)?.as_bytes())?;
    }
    let request = FindRequest {
        known: known(args.known.as_ref())?,
        threshold: args.threshold,
        error: args.error,
        power: args.power,
    };
    let found = hitters::find(&plan, &reports, &request)?;
    Ok(Outcome::of(&found, shown(&found)))
}

fn shown(found: &FoundReport) -> String {
    let row = |one: &hitters::FoundValue| {
        let mut value = format!("{:?}", one.value);
        if one.cut {
            value += " or what begins so";
        }
        vec![
            value,
            percent(one.share, Round::Nearest),
            format!("{} to {}", percent(one.low, Round::Down), percent(one.high, Round::Up)),
            format!("{:.1e}", one.p_value),
        ]
    };
    let mut text = String::new();
    if !found.found.is_empty() {
        let header = ["value", "share %", "all intervals hold at once", "p-value"];
        text += &(table(&header, found.found.iter().map(row).collect()) + "\n\n");
    }
    let rounds = found.rounds.iter().enumerate().map(|(at, round)| {
        vec![
            (at + 1).to_string(),
            round.bits.to_string(),
            round.people.to_string(),
            round.tested.to_string(),
            round.kept.to_string(),
        ]
    });
    text += &table(&["round", "bits", "people", "tested", "passed"], rounds.collect());
    text += &match found.found.len() {
        0 => "\n\nNo value was found.".to_owned(),
        _ => format!(
            "\n\nThe chance that any of these is had by no more than {} % of people is at most {}.",
            percent(found.threshold, Round::Nearest),
            found.error
        ),
    };
    text += &format!(" {}", found.visibility());
    text.extend(found.warnings().iter().map(|warning| format!("\nwarning: {warning}")));
    text
}
