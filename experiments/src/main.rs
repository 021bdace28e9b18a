//! The binary `undertone-reproduce`: every figure and table of the five papers, with verdicts.

use std::any::Any;
use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use undertone_experiments::data::DataFolder;
use undertone_experiments::record::Record;
use undertone_experiments::run::{self, Finished, Options, Status};
use undertone_experiments::summary::{Catalogue, StatusWord, Summary};
use undertone_experiments::{Context, Experiment, pdf, registry, report};

/// Rerun figures and tables of the five papers and judge their claims.
///
/// Each experiment leaves CSV tables, SVG plots and a claim table in a folder of its own; all of them
/// together make report.html, a summary with a page per paper. A run that was interrupted goes on where it
/// stopped. Data files are not part of this program: an experiment that needs one it cannot find says what to
/// fetch, and `all` runs the others.
///
/// Example: undertone-reproduce jstl21-fig-4 -o report
///
/// Exit codes: 0 good, 1 an experiment failed, or lacks the data it needs when asked for by name, or differs
/// from the record, 2 bad usage.
#[derive(Parser)]
#[command(name = "undertone-reproduce", version, max_term_width = 100)]
struct Args {
    /// `list`, `all`, or keys of experiments.
    #[arg(required = true, value_name = "list|all|KEY")]
    what: Vec<String>,
    /// The folder with the data files; by default ../shared/data if it exists, else $UNDERTONE_DATA.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Where results go.
    #[arg(short, long, default_value = "report")]
    output: PathBuf,
    /// Fewer draws and coarser grids: half a minute instead of six.
    #[arg(long)]
    quick: bool,
    /// Compute everything again, whatever an earlier run left.
    #[arg(long)]
    fresh: bool,
    /// Compare every claim with a record of an earlier run, such as experiments/report.json.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Run every experiment at the quick size too, and keep the claims of both in this file, so that later runs
    /// can be compared with it. Only for `all`, at full size.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "compare"])]
    record: Option<PathBuf>,
    /// Print the summary to report.pdf, by a Chromium on this machine.
    #[arg(long)]
    pdf: bool,
    /// Print JSON for programs instead of tables for people.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            if error.exit_code() != 0 && std::env::args_os().any(|word| word == "--json") {
                let text = error.render().to_string();
                let first = text.split("\n\n").next().unwrap_or_default();
                Refusal::usage(first.trim_start_matches("error: ")).print_json();
            }
            return ExitCode::from(if error.exit_code() == 0 { 0 } else { 2 });
        }
    };
    let done = catch_unwind(AssertUnwindSafe(|| run(&args)))
        .unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic)));
    match done {
        Ok(good) => ExitCode::from(u8::from(!good)),
        Err(refusal) => {
            eprintln!("error: {}", refusal.error);
            if args.json {
                refusal.print_json();
            }
            ExitCode::from(if refusal.code == "usage" { 2 } else { 1 })
        }
    }
}

/// Why nothing was run: what `--json` prints.
#[derive(Serialize)]
struct Refusal {
    error: String,
    code: &'static str,
}

impl Refusal {
    /// The arguments are to blame.
    fn usage(error: impl Display) -> Self {
        Self { error: error.to_string(), code: "usage" }
    }

    /// A file or a folder is to blame.
    fn input(error: impl Display) -> Self {
        Self { error: error.to_string(), code: "input" }
    }

    /// A fault of ours; whoever called gets an answer all the same.
    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let words = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        let first = words.lines().next().unwrap_or_default();
        let error = format!("this is a fault of undertone-reproduce; please report it: {first}");
        Self { error, code: "internal" }
    }

    fn print_json(&self) {
        line(&serde_json::to_string(self).unwrap_or_default());
    }
}

/// Does what was asked for; whether it is good news.
fn run(args: &Args) -> Result<bool, Refusal> {
    if args.what == ["list"] {
        let catalogue = Catalogue::new();
        print(args.json, &catalogue, || listed(&catalogue))?;
        return Ok(true);
    }
    let chosen = chosen(&args.what)?;
    if let Some(folder) = args.data.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Refusal::usage(format!(
            "--data {}: there is no such folder",
            folder.display()
        )));
    }
    let by_name = args.what != ["all"];
    if args.record.is_some() && by_name {
        return Err(Refusal::usage(
            "--record goes with `all`: a record of some figures would pass for whole",
        ));
    }
    let kept = args.compare.as_deref().map(Record::read).transpose().map_err(Refusal::usage)?;
    let data = DataFolder::find(args.data.as_deref());
    let start = Instant::now();
    let finished = at_size(args, &chosen, &data, args.quick, &args.output)?;
    if let Some(file) = &args.record {
        let quick = at_size(args, &chosen, &data, true, &args.output.join("quick"))?;
        let record = Record::new(&finished, &quick).map_err(Refusal::input)?;
        record.write(file).map_err(Refusal::input)?;
    }
    let page = report::write(&args.output, &finished, args.quick).map_err(Refusal::input)?;
    let mut summary = Summary::new(&finished, &page, start.elapsed().as_secs_f64());
    if let Some(kept) = kept {
        summary.differences = kept.compare(&finished, args.quick);
    }
    if args.pdf {
        eprintln!("{}", pdf::print(&page).map_err(Refusal::input)?);
    }
    print(args.json, &summary, || summed_up(&summary))?;
    Ok(summary.is_good(by_name))
}

/// Runs the experiments at one of two sizes, with a progress bar.
fn at_size(
    args: &Args,
    chosen: &[&'static Experiment],
    data: &DataFolder,
    quick: bool,
    output: &Path,
) -> Result<Vec<Finished>, Refusal> {
    let context = Context { data: data.clone(), quick };
    let options = Options { context, output: output.into(), resume: !args.fresh };
    let bar = progress(chosen.len() as u64);
    let finished = run::run(chosen, &options, &|found| {
        bar.println(in_one_line(found));
        bar.inc(1);
    });
    bar.finish_and_clear();
    finished.map_err(Refusal::input)
}

/// The experiments asked for, each once, in the order of the report.
fn chosen(what: &[String]) -> Result<Vec<&'static Experiment>, Refusal> {
    if what == ["all"] {
        return Ok(registry::all());
    }
    for word in ["all", "list"] {
        if what.iter().any(|key| key == word) {
            return Err(Refusal::usage(format!("`{word}` stands alone; or name experiments only")));
        }
    }
    for key in what {
        registry::find(key).map_err(Refusal::usage)?;
    }
    let wanted = |experiment: &&'static Experiment| what.iter().any(|key| key == experiment.key);
    Ok(registry::all().into_iter().filter(wanted).collect())
}

/// A progress bar on standard error, where that is a terminal.
fn progress(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} experiments ({eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A finished experiment, for the progress bar.
fn in_one_line(found: &Finished) -> String {
    let words = match &found.status {
        Status::Done(outcome) => format!("{} claims", outcome.claims.len()),
        Status::MissingData(_) => "not run: data missing".into(),
        Status::Failed(words) => format!("failed: {words}"),
    };
    let time = if found.resumed { "from before".into() } else { format!("{:.1} s", found.seconds) };
    format!("{}: {words} ({time})", found.experiment.key)
}

/// The experiments as a table for people.
fn listed(catalogue: &Catalogue) -> String {
    let rows = catalogue
        .experiments
        .iter()
        .map(|entry| [entry.key.to_owned(), entry.title.to_owned(), entry.data.join(", ")]);
    table(["key", "shows", "data files"], rows)
}

/// Every claim with its verdict, what was not run and why, and where the page is.
fn summed_up(summary: &Summary) -> String {
    let rows = summary.experiments.iter().flat_map(|ran| {
        ran.claims.iter().cloned().map(|claim| {
            let printed = claim.printed.unwrap_or_default();
            [ran.key.to_owned(), claim.says, printed, claim.ours, claim.verdict]
        })
    });
    let mut text = table(["experiment", "claim", "paper's number", "ours", "verdict"], rows);
    text.push_str("\n\n");
    for ran in &summary.experiments {
        let what = if ran.status == StatusWord::Failed { "failed" } else { "was not run" };
        if let Some(why) = &ran.why {
            let _ = writeln!(text, "{} {what}: {why}", ran.key);
        }
    }
    let without = summary.without_data();
    if !without.is_empty() {
        let _ = writeln!(text, "without their data: {}", without.join(", "));
    }
    for difference in &summary.differences {
        let _ = writeln!(text, "differs from the record: {difference}");
    }
    let _ = write!(text, "wrote {} in {:.0} s", summary.report, summary.seconds);
    text
}

fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(100);
    }
    table.set_header(header);
    table.add_rows(rows.map(|row| {
        row.map(|text| {
            let numeric = text.parse::<f64>().is_ok();
            let alignment = if numeric { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(alignment)
        })
    }));
    table.to_string()
}

/// Prints an answer for programs or for people.
fn print(
    json: bool,
    answer: &impl Serialize,
    words: impl FnOnce() -> String,
) -> Result<(), Refusal> {
    if json {
        line(&serde_json::to_string_pretty(answer).map_err(Refusal::input)?);
    } else {
        line(&words());
    }
    Ok(())
}

/// One line on standard output. A reader that has gone away is not an error worth a panic.
fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
