//! What `undertone-reproduce` answers, for programs: the list of experiments, and the claims of a run.

use std::path::Path;

use serde::Serialize;

use crate::record::Judged;
use crate::run::{Finished, Status};
use crate::{Experiment, registry};

/// Every experiment that can be run.
#[derive(Debug, Clone, Serialize)]
pub struct Catalogue {
    /// In the order of the report.
    pub experiments: Vec<Entry>,
}

/// An experiment that can be run.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The word that names it.
    pub key: &'static str,
    /// The key of the paper it belongs to.
    pub paper: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The data files it reads, relative to the data folder.
    pub data: Vec<&'static str>,
}

impl Catalogue {
    /// All experiments of the registry.
    pub fn new() -> Self {
        let entry = |experiment: &'static Experiment| Entry {
            key: experiment.key,
            paper: experiment.paper.key(),
            title: experiment.title,
            data: experiment.data.iter().map(|file| file.path).collect(),
        };
        Self { experiments: registry::all().into_iter().map(entry).collect() }
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::new()
    }
}

/// What came of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The page that shows all of it.
    pub report: String,
    /// How long the run took.
    pub seconds: f64,
    /// What came of each experiment, in the order of the report.
    pub experiments: Vec<Ran>,
    /// Where it differs from the record it was compared with; nothing without one.
    pub differences: Vec<String>,
}

/// What came of one experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Ran {
    /// The word that names it.
    pub key: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Whether it gave an outcome.
    pub status: StatusWord,
    /// Why it gave none.
    pub why: Option<String>,
    /// How long it took, when it was computed.
    pub seconds: f64,
    /// Whether it was taken from an earlier run.
    pub resumed: bool,
    /// The claims it judged.
    pub claims: Vec<Judged>,
}

/// Whether an experiment gave an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusWord {
    /// It ran.
    Done,
    /// A data file is missing.
    MissingData,
    /// It failed.
    Failed,
}

impl Summary {
    /// Sums up a run whose page is `report`.
    pub fn new(finished: &[Finished], report: &Path, seconds: f64) -> Self {
        let experiments = finished.iter().map(Ran::new).collect();
        let report = report.display().to_string();
        Self { report, seconds, experiments, differences: Vec::new() }
    }

    /// Whether nothing failed and nothing differs. A missing data file is a failure for an experiment asked for by
    /// name, and none where all were asked for.
    pub fn is_good(&self, by_name: bool) -> bool {
        let bad = |ran: &Ran| match ran.status {
            StatusWord::Failed => true,
            StatusWord::MissingData => by_name,
            StatusWord::Done => false,
        };
        self.differences.is_empty() && !self.experiments.iter().any(bad)
    }

    /// The experiments that gave no outcome for want of data.
    pub fn without_data(&self) -> Vec<&'static str> {
        let missing = self.experiments.iter().filter(|ran| ran.status == StatusWord::MissingData);
        missing.map(|ran| ran.key).collect()
    }
}

impl Ran {
    fn new(finished: &Finished) -> Self {
        let (status, why, claims) = match &finished.status {
            Status::Done(outcome) => (StatusWord::Done, None, outcome.claims.as_slice()),
            Status::MissingData(words) => {
                (StatusWord::MissingData, Some(words.clone()), [].as_slice())
            }
            Status::Failed(words) => (StatusWord::Failed, Some(words.clone()), [].as_slice()),
        };
        Self {
            key: finished.experiment.key,
            title: finished.experiment.title,
            status,
            why,
            seconds: finished.seconds,
            resumed: finished.resumed,
            claims: claims.iter().map(|claim| Judged::new(finished.experiment, claim)).collect(),
        }
    }
}
