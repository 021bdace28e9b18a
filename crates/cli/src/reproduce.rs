//! `undertone reproduce`: every figure and table of the five papers, with verdicts.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use undertone_experiments::data::DataFolder;
use undertone_experiments::run::{self, Finished, Options, Status};
use undertone_experiments::{Context, Experiment, registry, report};

use crate::failure::Failure;
use crate::output::{Outcome, progress, table};

/// Rerun figures and tables of the five papers and judge their claims.
///
/// Each experiment leaves CSV tables, SVG plots and a claim table in a folder of its own; all of them
/// together make one page, report.html. A run that was interrupted goes on where it stopped. Data files
/// are not part of this program: an experiment that needs one it cannot find says which.
///
/// Example: undertone reproduce jstl21-fig-4 -o report
#[derive(clap::Args)]
pub(crate) struct Args {
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
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    if args.what == ["list"] {
        return Ok(list());
    }
    let chosen = chosen(&args.what)?;
    if let Some(folder) = args.data.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!(
            "--data {}: there is no such folder",
            folder.display()
        )));
    }
    let context = Context { data: DataFolder::find(args.data.as_deref()), quick: args.quick };
    let options = Options { context, output: args.output.clone(), resume: !args.fresh };
    let bar = progress(chosen.len() as u64, "experiments");
    let start = Instant::now();
    let finished = run::run(&chosen, &options, &|found| {
        bar.println(line(found));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let finished = finished.map_err(Failure::input)?;
    let page = args.output.join("report.html");
    report::write(&page, &finished, args.quick).map_err(Failure::input)?;
    Ok(told(&finished, &page, start.elapsed().as_secs_f64()))
}

/// The experiments asked for, each once, in the order of the report.
fn chosen(what: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if what == ["all"] {
        return Ok(registry::all());
    }
    for word in ["all", "list"] {
        if what.iter().any(|key| key == word) {
            return Err(Failure::usage(format!("`{word}` stands alone; or name experiments only")));
        }
    }
    for key in what {
        registry::find(key).map_err(Failure::usage)?;
    }
    let wanted = |experiment: &&'static Experiment| what.iter().any(|key| key == experiment.key);
    Ok(registry::all().into_iter().filter(wanted).collect())
}

fn list() -> Outcome {
    let all = registry::all();
    let files =
        |experiment: &Experiment| experiment.data.iter().map(|file| file.path).collect::<Vec<_>>();
    let rows = all.iter().map(|experiment| {
        let data = files(experiment).join(", ");
        vec![experiment.key.to_owned(), experiment.title.to_owned(), data]
    });
    let text = table(&["key", "shows", "data files"], rows.collect());
    let items = all.iter().map(|experiment| {
        json!({
            "key": experiment.key,
            "paper": experiment.paper.key(),
            "title": experiment.title,
            "data": files(experiment),
        })
    });
    Outcome::good(json!({ "experiments": items.collect::<Vec<_>>() }), text)
}

/// A finished experiment in one line.
fn line(found: &Finished) -> String {
    let words = match &found.status {
        Status::Done(outcome) => format!("{} claims", outcome.claims.len()),
        Status::MissingData(_) => "not run: data missing".into(),
        Status::Failed(words) => format!("failed: {words}"),
    };
    let time = if found.resumed { "from before".into() } else { format!("{:.1} s", found.seconds) };
    format!("{}: {words} ({time})", found.experiment.key)
}

/// Every claim with its verdict. An experiment that failed is bad news; a missing data file is not,
/// and is said.
fn told(finished: &[Finished], page: &Path, seconds: f64) -> Outcome {
    let mut rows = Vec::new();
    let mut items = Vec::new();
    let mut remarks = String::new();
    let mut good = true;
    for found in finished {
        let key = found.experiment.key;
        let (status, claims) = match &found.status {
            Status::Done(outcome) => ("done", outcome.claims.as_slice()),
            Status::MissingData(words) => {
                let _ = writeln!(remarks, "{key} was not run: {words}");
                ("missing-data", [].as_slice())
            }
            Status::Failed(words) => {
                good = false;
                let _ = writeln!(remarks, "{key} failed: {words}");
                ("failed", [].as_slice())
            }
        };
        for claim in claims {
            rows.push(vec![
                key.to_owned(),
                claim.paper_says.clone(),
                claim.paper_number_words().to_owned(),
                claim.ours.clone(),
                claim.verdict.words(),
            ]);
        }
        let listed: Vec<Value> = claims
            .iter()
            .map(|claim| {
                json!({
                    "paper_says": claim.paper_says,
                    "paper_number": claim.paper_number_words(),
                    "ours": claim.ours,
                    "tolerance": claim.tolerance,
                    "verdict": claim.verdict.words(),
                    "reason": claim.reason,
                })
            })
            .collect();
        let why = match &found.status {
            Status::Done(_) => Value::Null,
            Status::MissingData(words) | Status::Failed(words) => json!(words),
        };
        items.push(json!({
            "key": key,
            "title": found.experiment.title,
            "status": status,
            "why": why,
            "seconds": found.seconds,
            "resumed": found.resumed,
            "claims": listed,
        }));
    }
    let mut text = table(&["experiment", "claim", "paper's number", "ours", "verdict"], rows);
    let _ = write!(text, "\n\n{remarks}wrote {} in {seconds:.0} s\n", page.display());
    let json =
        json!({ "report": page.display().to_string(), "seconds": seconds, "experiments": items });
    Outcome { json, text, good }
}
