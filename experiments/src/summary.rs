//! What `undertone-reproduce` answers, for programs: the list of experiments, and the claims of a run.

use std::path::Path;

use serde::Serialize;

use crate::run::{Finished, Status};
use crate::{Claim, Experiment, registry};

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
    pub claims: Vec<JudgedClaim>,
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

/// A paper's claim beside ours, in words.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedClaim {
    /// What the paper says, in our words.
    pub paper_says: String,
    /// The number its text gives, or that it gives none.
    pub paper_number: String,
    /// What came out here.
    pub ours: String,
    /// How far apart the two may be, or what was tested.
    pub tolerance: String,
    /// What the claim turned out to be worth.
    pub verdict: String,
    /// Why.
    pub reason: String,
}

impl Summary {
    /// Sums up a run whose page is `report`.
    pub fn new(finished: &[Finished], report: &Path, seconds: f64) -> Self {
        let experiments = finished.iter().map(Ran::new).collect();
        Self { report: report.display().to_string(), seconds, experiments }
    }

    /// Whether nothing failed. A missing data file is no failure.
    pub fn is_good(&self) -> bool {
        self.experiments.iter().all(|ran| ran.status != StatusWord::Failed)
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
            claims: claims.iter().map(JudgedClaim::new).collect(),
        }
    }
}

impl JudgedClaim {
    fn new(claim: &Claim) -> Self {
        Self {
            paper_says: claim.paper_says.clone(),
            paper_number: claim.paper_number_words().to_owned(),
            ours: claim.ours.clone(),
            tolerance: claim.tolerance.clone(),
            verdict: claim.verdict.words(),
            reason: claim.reason.clone(),
        }
    }
}
