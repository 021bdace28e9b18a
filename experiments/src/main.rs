//! The binary `undertone-reproduce`: every figure and table of the five papers, with verdicts.

use std::any::Any;
use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use undertone_experiments::data::DataFolder;
use undertone_experiments::run::{self, Finished, Options, Status};
use undertone_experiments::summary::{Catalogue, StatusWord, Summary};
use undertone_experiments::{Context, Experiment, registry, report};

/// Rerun figures and tables of the five papers and judge their claims.
///
/// Each experiment leaves CSV tables, SVG plots and a claim table in a folder of its own; all of them
/// together make one page, report.html. A run that was interrupted goes on where it stopped. Data files
/// are not part of this program: an experiment that needs one it cannot find says which.
///
/// Example: undertone-reproduce jstl21-fig-4 -o report
///
/// Exit codes: 0 good, 1 an experiment failed, 2 bad usage.
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
    let context = Context { data: DataFolder::find(args.data.as_deref()), quick: args.quick };
    let options = Options { context, output: args.output.clone(), resume: !args.fresh };
    let bar = progress(chosen.len() as u64);
    let start = Instant::now();
    let finished = run::run(&chosen, &options, &|found| {
        bar.println(in_one_line(found));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let finished = finished.map_err(Refusal::input)?;
    let page = args.output.join("report.html");
    report::write(&page, &finished, args.quick).map_err(Refusal::input)?;
    let summary = Summary::new(&finished, &page, start.elapsed().as_secs_f64());
    print(args.json, &summary, || summed_up(&summary))?;
    Ok(summary.is_good())
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
            [ran.key.to_owned(), claim.paper_says, claim.paper_number, claim.ours, claim.verdict]
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
