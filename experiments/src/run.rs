//! Runs experiments on all cores and remembers what is finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Context, Error, Experiment, Outcome, Table};

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the experiments run in.
    pub context: Context,
    /// Where results go.
    pub output: PathBuf,
    /// Whether finished outcomes of an earlier run are taken from `output`.
    pub resume: bool,
}

/// What came of an experiment.
#[derive(Debug, Clone)]
pub enum Status {
    /// It ran.
    Done(Outcome),
    /// A data file is missing; the words say which.
    MissingData(String),
    /// It failed; the words say why.
    Failed(String),
}

/// An experiment and what came of it.
pub struct Finished {
    /// Which.
    pub experiment: &'static Experiment,
    /// What came of it.
    pub status: Status,
    /// How long it took, when it was computed.
    pub seconds: f64,
    /// Whether it was taken from an earlier run.
    pub resumed: bool,
}

/// What is remembered of a finished outcome.
#[derive(Serialize, Deserialize)]
struct Remembered {
    stamp: String,
    seconds: f64,
    outcome: Outcome,
}

/// Runs experiments in parallel, writes each one's files as it ends, and calls `done` after each.
/// The result keeps the order given.
pub fn run(
    experiments: &[&'static Experiment],
    options: &Options,
    done: &(dyn Fn(&Finished) + Sync),
) -> Result<Vec<Finished>, Error> {
    create(&options.output)?;
    experiments
        .par_iter()
        .with_max_len(1)
        .map(|experiment| {
            let finished = one(experiment, options)?;
            done(&finished);
            Ok(finished)
        })
        .collect()
}

fn one(experiment: &'static Experiment, options: &Options) -> Result<Finished, Error> {
    let folder = options.output.join(experiment.key);
    let memory = folder.join("outcome.json");
    let stamp = stamp(experiment, options);
    if options.resume
        && let Some(old) = recall(&memory)
        && old.stamp == stamp
    {
        let status = Status::Done(old.outcome);
        return Ok(Finished { experiment, status, seconds: old.seconds, resumed: true });
    }
    let start = Instant::now();
    let ran = experiment.outcome(&options.context);
    let seconds = start.elapsed().as_secs_f64();
    let status = match ran {
        Ok(outcome) => {
            create(&folder)?;
            write_files(&folder, &outcome)?;
            let remembered = Remembered { stamp, seconds, outcome };
            let text = serde_json::to_string(&remembered).map_err(Error::other)?;
            save(&memory, &text)?;
            Status::Done(remembered.outcome)
        }
        Err(missing @ Error::MissingData { .. }) => Status::MissingData(missing.to_string()),
        Err(error) => Status::Failed(error.to_string()),
    };
    Ok(Finished { experiment, status, seconds, resumed: false })
}

/// What an outcome depends on: the experiment, its size, this program, the data files' sizes.
fn stamp(experiment: &Experiment, options: &Options) -> String {
    let size = if options.context.quick { "quick" } else { "full" };
    let program = std::env::current_exe().and_then(fs::metadata).ok();
    let built = program.and_then(|p| Some((p.len(), p.modified().ok()?)));
    let bytes = |file: &crate::data::DataFile| {
        let path = options.context.data.path(*file).ok();
        path.and_then(|path| fs::metadata(path).ok()).map(|data| data.len())
    };
    let data: Vec<_> = experiment.data.iter().map(bytes).collect();
    format!("{} {size} {} {built:?} {data:?}", experiment.key, env!("CARGO_PKG_VERSION"))
}

/// What an earlier run left; anything unreadable counts as nothing.
fn recall(path: &Path) -> Option<Remembered> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn write_files(folder: &Path, outcome: &Outcome) -> Result<(), Error> {
    for table in &outcome.tables {
        save(&folder.join(format!("{}.csv", table.name)), &table.csv())?;
    }
    for drawing in &outcome.drawings {
        save(&folder.join(format!("{}.svg", drawing.name)), &drawing.svg)?;
    }
    save(&folder.join("claims.csv"), &claims(outcome).csv())
}

/// The claims as a table.
pub fn claims(outcome: &Outcome) -> Table {
    let columns =
        ["id", "kind", "paper_says", "paper_number", "ours", "tolerance", "verdict", "reason"];
    let mut table = Table::new("claims", &columns);
    for claim in &outcome.claims {
        table.push(vec![
            claim.id.clone(),
            claim.kind.slug().into(),
            claim.paper_says.clone(),
            claim.paper_number_words().into(),
            claim.ours.clone(),
            claim.tolerance.clone(),
            claim.verdict.words(),
            claim.reason.clone(),
        ]);
    }
    table
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::File {
        verb: "write",
        path: folder.into(),
        source,
    })
}

/// Writes a file as a whole or not at all, so that a killed run leaves no half outcome.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Error> {
    let beside = path.with_extension("part");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|source| Error::File { verb: "write", path: path.into(), source })
}
