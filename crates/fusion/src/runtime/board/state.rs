//! What is shown, as programs read it at `GET /v1/state`.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_core::Nats;

use crate::Bundle;
use crate::runtime::center::{Decision, Metrics, SensorMetrics, as_decimal};
use crate::runtime::topics::Status;
use crate::time::Secret;

/// Everything a centre shows.
#[derive(Debug, Clone, Serialize)]
pub struct BoardState {
    /// The network's id.
    pub bundle: String,
    /// When this was said, in seconds since 1970.
    pub at: u64,
    /// Whether the broker is there.
    pub connected: bool,
    /// The hypothesis that is decided.
    pub public: PublicState,
    /// The hypothesis that is hidden.
    pub private: PrivateState,
    /// What was used of the budget.
    pub budget: BudgetState,
    /// Epochs decided.
    pub decided: u64,
    /// Epochs waiting.
    pub open: usize,
    /// How long ago the last decision was, in whole seconds.
    pub seconds_since_decision: Option<u64>,
    /// The last decisions, in the order they were made.
    pub decisions: Vec<DecisionState>,
    /// Every sensor.
    pub sensors: Vec<SensorState>,
    /// Messages not used, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// What happened, the latest first.
    pub events: Vec<BoardEvent>,
}

/// The hypothesis that is decided.
#[derive(Debug, Clone, Serialize)]
pub struct PublicState {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
    /// How likely each is before anything is heard.
    pub prior: Vec<f64>,
    /// What the centre decides for: unless that is the error, a decision need not be the likeliest value.
    pub objective: String,
}

/// The hypothesis that is hidden.
#[derive(Debug, Clone, Serialize)]
pub struct PrivateState {
    /// Its name.
    pub name: String,
    /// What can be believed of it by now, in a sentence.
    pub words: String,
    /// What can be believed of each of its values.
    pub beliefs: Vec<BeliefBounds>,
}

/// What whoever hears everything can believe of a private value: from the certificate, never too narrow.
#[derive(Debug, Clone, Serialize)]
pub struct BeliefBounds {
    /// The value.
    pub value: String,
    /// Its probability before anything is heard.
    pub before: f64,
    /// What it can have fallen to by now.
    pub least: f64,
    /// What it can have risen to by now.
    pub most: f64,
    /// What it can fall to until the budget is used up.
    pub least_certified: f64,
    /// What it can rise to until the budget is used up.
    pub most_certified: f64,
}

/// What was used of the budget.
#[derive(Debug, Clone, Serialize)]
pub struct BudgetState {
    /// Epochs whose data were used since the last reset.
    pub epochs: u32,
    /// How many may be.
    pub limit: u32,
    /// From which epoch on.
    pub first: u64,
    /// ε_I of the epochs that were used; nothing if there is no bound.
    #[serde(serialize_with = "as_decimal")]
    pub information: Option<Nats>,
    /// ε_I of all epochs that may be used.
    #[serde(serialize_with = "as_decimal")]
    pub certified: Option<Nats>,
    /// ε_I of all of them however readings depend on each other over time: what LDP alone guarantees.
    #[serde(serialize_with = "as_decimal")]
    pub always: Option<Nats>,
    /// For up to how many epochs since the first `information` is certified, where hypotheses move: some numbers of epochs
    /// are, and the next of them is taken.
    pub certified_for: Option<u32>,
    /// What `information` and `certified` are about, and what they rely on.
    pub assumption: String,
}

/// A decision.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionState {
    /// When it was made, in seconds since 1970.
    pub at: u64,
    /// Which epoch.
    pub epoch: u64,
    /// The value of H that was decided, by name.
    pub decision: Option<String>,
    /// Which of H's values that is.
    pub value: usize,
    /// P(h | what was heard).
    pub posterior: Vec<f64>,
    /// How many sensors were heard.
    pub heard: usize,
    /// The sensors that said nothing.
    pub missing: Vec<u16>,
    /// The sensors whose token was constant.
    pub constant: Vec<u16>,
}

/// A sensor.
#[derive(Debug, Clone, Serialize)]
pub struct SensorState {
    /// Its index.
    pub index: u16,
    /// Its name.
    pub name: String,
    /// `waiting` (never heard of), `live`, `silent` (nothing in the last epoch), `spent` (its budget is used up), `ended`,
    /// `dead`.
    pub state: &'static str,
    /// Reports used.
    pub accepted: u64,
    /// How many of those were constant.
    pub constant: u64,
    /// Epochs decided without it.
    pub missed: u64,
    /// How many of those were the last ones in a row.
    pub missed_in_a_row: u64,
    /// Tokens drawn from its readings and used, since the last reset or the centre's start.
    pub drawn: u32,
    /// How many may be.
    pub limit: u32,
    /// The LDP level of its reading in each epoch, in nats.
    #[serde(serialize_with = "level")]
    pub ldp: Nats,
    /// How long ago its last report was used, in whole seconds.
    pub seconds_since_report: Option<u64>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoardEvent {
    /// When, in seconds since 1970; the last time, where it happened several times.
    pub at: u64,
    /// `connected`, `lost`, `alive`, `spent`, `done`, `dead`, `silent`, `heard`, `refused`, `budget` or `used_up`.
    pub kind: &'static str,
    /// Which sensor it is about.
    pub sensor: Option<u16>,
    /// Why a message was refused.
    pub reason: Option<&'static str>,
    /// How often it happened.
    pub times: u64,
    /// Whether it is a fault.
    pub fault: bool,
    /// What happened, in words.
    pub words: String,
}

impl BudgetState {
    pub(super) fn new(
        metrics: &Metrics,
        bundle: &Bundle,
        certified: Option<Nats>,
        always: Option<Nats>,
    ) -> Self {
        let Metrics { epochs, limit, first, information, elapsed, .. } = *metrics;
        let certified_for = bundle.course().and_then(|course| course.certified_for(elapsed));
        let assumption = assumption(bundle);
        Self { epochs, limit, first, information, certified, always, certified_for, assumption }
    }
}

impl DecisionState {
    pub(super) fn new(at: u64, decision: &Decision, bundle: &Bundle) -> Self {
        let record = decision.record(bundle);
        Self {
            at,
            epoch: record.epoch,
            decision: record.decision.map(str::to_owned),
            value: record.value,
            posterior: record.posterior.to_vec(),
            heard: record.heard,
            missing: record.missing.to_vec(),
            constant: record.constant.to_vec(),
        }
    }
}

impl SensorState {
    pub(super) fn new(
        index: u16,
        name: &str,
        ldp: Nats,
        metrics: &SensorMetrics,
        limit: u32,
        seconds_since_report: Option<u64>,
    ) -> Self {
        let state = match metrics.status {
            Some(Status::Dead) => "dead",
            Some(Status::Done) => "ended",
            _ if metrics.missed_in_a_row > 0 => "silent",
            Some(Status::Spent) => "spent",
            None if metrics.accepted == 0 => "waiting",
            Some(Status::Alive) | None => "live",
        };
        Self {
            index,
            name: name.to_owned(),
            state,
            accepted: metrics.accepted,
            constant: metrics.constant,
            missed: metrics.missed,
            missed_in_a_row: metrics.missed_in_a_row,
            drawn: metrics.drawn,
            limit,
            ldp,
            seconds_since_report,
        }
    }
}

/// What a network's certificate is about, and what it relies on.
fn assumption(bundle: &Bundle) -> String {
    let (public, private) = (bundle.model().public().name(), bundle.model().private());
    let name = private.name();
    let Some(course) = bundle.course() else {
        return format!("for epochs that are independent given {name}");
    };
    let kept = match course.secret() {
        Secret::Any => String::new(),
        Secret::Now => "its value in the last epoch".into(),
        Secret::Path => "all its values together".into(),
        Secret::Changed => "whether it ever changed".into(),
        Secret::Ever(value) => format!("whether it ever was {}", private.values()[value]),
    };
    let kept = match (kept.as_str(), course.budget()) {
        ("", _) | (_, None) => String::new(),
        (kept, Some(budget)) => {
            format!("; the network's budget of {budget} nats is for {kept}")
        }
    };
    format!(
        "for {public} and {name} moving as the network's chain says: about {name} in any one epoch so far{kept}"
    )
}

/// Writes a level as a decimal in text, so that what is read is what was certified.
fn level<S: serde::Serializer>(value: &Nats, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}
