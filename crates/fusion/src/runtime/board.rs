//! What a centre shows to whoever looks at it: decisions, sensors, budgets, what can be believed of G, and faults.
//!
//! Nothing stands here that the centre does not publish anyway: no token of a single sensor, no reading, no address.

mod log;
mod state;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use undertone::risk::percent;
use undertone_core::Nats;
use undertone_design::Error;

use super::attacker::belief_range;
use super::center::{Center, Decision, Metrics};
use super::center_node::CenterEvent;
use super::spending::Spending;
use super::topics::Topics;
use crate::Bundle;
use log::Log;
pub use state::{
    BeliefBounds, BoardEvent, BoardState, BudgetState, DecisionState, PrivateState, PublicState,
    SensorState,
};

/// Decisions that are shown.
const DECISIONS: usize = 120;

/// What a centre shows. Copies show the same.
#[derive(Debug, Clone)]
pub struct Board(Arc<Facts>);

/// What never changes, and what does.
#[derive(Debug)]
struct Facts {
    bundle: Bundle,
    topics: Topics,
    public_prior: Vec<f64>,
    /// The law of G in each epoch; one, if it is always the same.
    private_laws: Vec<Vec<f64>>,
    /// ε_I of all epochs that may be used, and what LDP alone guarantees of them.
    certified: Option<Nats>,
    always: Option<Nats>,
    shown: Mutex<Shown>,
}

#[derive(Debug)]
struct Shown {
    connected: bool,
    metrics: Metrics,
    decisions: VecDeque<(u64, Decision)>,
    decided: Option<Instant>,
    /// By sensor: when its last report was used.
    heard: Vec<Option<Instant>>,
    log: Log,
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl Board {
    /// Of a centre that has just begun.
    pub(super) fn new(center: &Center) -> Result<Self, Error> {
        let (bundle, metrics) = (center.bundle().clone(), center.metrics().clone());
        let model = bundle.float_model()?;
        let certificate = bundle.certificate();
        // Leakage only grows with epochs.
        let line = certificate.epochs.iter().find(|line| line.epochs >= metrics.limit);
        Ok(Self(Arc::new(Facts {
            topics: Topics::new(&bundle),
            public_prior: model.public_law(),
            private_laws: match bundle.course() {
                Some(course) => course.private_laws(bundle.model()),
                None => vec![model.private_law()],
            },
            certified: Spending::new(&bundle)?.after(metrics.limit, metrics.limit.into())?,
            // That line is about a value that stays the same.
            always: line.and_then(|line| line.always).filter(|_| bundle.course().is_none()),
            shown: Mutex::new(Shown {
                connected: false,
                heard: vec![None; metrics.sensors.len()],
                metrics,
                decisions: VecDeque::new(),
                decided: None,
                log: Log::default(),
            }),
            bundle,
        })))
    }

    /// Whether the broker is there.
    pub fn is_connected(&self) -> bool {
        self.shown().connected
    }

    /// Everything that is shown, as of now.
    pub fn state(&self) -> BoardState {
        let (facts, shown) = (&*self.0, self.shown());
        let model = facts.bundle.model();
        let ago = |since: Option<Instant>| since.map(|since| since.elapsed().as_secs());
        let budget = BudgetState::new(&shown.metrics, &facts.bundle, facts.certified, facts.always);
        let sensors = facts.bundle.sensors().zip(&facts.bundle.certificate().ldp);
        let known = shown.metrics.sensors.iter().zip(&shown.heard);
        BoardState {
            bundle: facts.bundle.id().to_owned(),
            at: now(),
            connected: shown.connected,
            public: PublicState {
                name: model.public().name().to_owned(),
                values: model.public().values().to_vec(),
                prior: facts.public_prior.clone(),
                objective: facts.bundle.objective().to_string(),
            },
            private: facts.private(&budget),
            decided: shown.metrics.decided,
            open: shown.metrics.open,
            seconds_since_decision: ago(shown.decided),
            decisions: shown
                .decisions
                .iter()
                .map(|(at, decision)| DecisionState::new(*at, decision, &facts.bundle))
                .collect(),
            sensors: (0..)
                .zip(sensors.zip(known))
                .map(|(index, ((name, &ldp), (metrics, &heard)))| {
                    SensorState::new(index, name, ldp, metrics, budget.limit, ago(heard))
                })
                .collect(),
            refused: shown.metrics.refused.iter().map(|(why, n)| (why.name(), *n)).collect(),
            events: shown.log.events(&facts.bundle),
            budget,
        }
    }

    /// The counters are new ones.
    pub(super) fn refresh(&self, metrics: &Metrics) {
        self.shown().refresh(metrics);
    }

    /// Something happened, and these are the counters after it.
    pub(super) fn see(&self, event: &CenterEvent, metrics: &Metrics) {
        let mut shown = self.shown();
        let shown = &mut *shown;
        match event {
            CenterEvent::Connected => shown.connected = true,
            CenterEvent::Lost { .. } => shown.connected = false,
            CenterEvent::Decided(decision) => {
                if shown.decisions.len() == DECISIONS {
                    shown.decisions.pop_front();
                }
                shown.decisions.push_back((now(), decision.clone()));
                shown.decided = Some(Instant::now());
            }
            CenterEvent::Status { .. } | CenterEvent::Refused { .. } => {}
        }
        shown.log.see(event, &shown.metrics, metrics, &self.0.topics);
        shown.refresh(metrics);
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn refresh(&mut self, metrics: &Metrics) {
        self.log.count(&self.metrics, metrics);
        let sensors = metrics.sensors.iter().zip(&self.metrics.sensors).zip(&mut self.heard);
        for ((new, old), heard) in sensors {
            if new.accepted > old.accepted {
                *heard = Some(Instant::now());
            }
        }
        self.metrics.clone_from(metrics);
    }
}

impl Facts {
    /// What whoever hears everything can believe of G at most: from the certificate.
    fn private(&self, budget: &BudgetState) -> PrivateState {
        let private = self.bundle.model().private();
        // In which epoch its probability is what it is, whoever listens may ask of any.
        let range = |g: usize, information: Option<Nats>| {
            let each = self.private_laws.iter().map(|law| belief_range(law[g], information));
            each.fold((1.0, 0.0), |all: (f64, f64), one| (all.0.min(one.0), all.1.max(one.1)))
        };
        let first = &self.private_laws[0];
        let stays = |law: &Vec<f64>| law.iter().zip(first).all(|(a, b)| (a - b).abs() < 1e-9);
        let stays = self.private_laws.iter().all(stays);
        let possible = |g: &usize| self.private_laws.iter().any(|law| law[*g] > 0.0);
        let beliefs: Vec<BeliefBounds> = (0..private.size())
            .filter(possible)
            .map(|g| {
                let (least, most) = range(g, budget.information);
                let (least_certified, most_certified) = range(g, budget.certified);
                let (value, before) = (private.values()[g].clone(), first[g]);
                BeliefBounds { value, before, least, most, least_certified, most_certified }
            })
            .collect();
        // The belief that can grow by most; of several the last, which is "yes" more often than "no".
        let growth = |belief: &&BeliefBounds| (1e9 * (belief.most - belief.before)).round() as i64;
        let words = beliefs.iter().max_by_key(growth).map_or_else(String::new, |belief| {
            let (name, value) = (private.name(), &belief.value);
            let low = percent(belief.least, 3, f64::floor);
            let high = percent(belief.most, 3, f64::ceil);
            let before = percent(belief.before, 3, f64::round);
            match budget.epochs {
                0 => format!("Nothing was heard yet: belief that {name} is {value} stays at {before} %."),
                _ if budget.information.is_none() => format!("Nothing is certified about {name}."),
                epochs if !stays => format!(
                    "Whoever has heard everything in {epochs} epoch{} takes it for {low} % likely at least and {high} % at most that {name} was {value} in any one of them.",
                    if epochs == 1 { "" } else { "s" }
                ),
                epochs => format!(
                    "Whoever has heard everything in {epochs} epoch{}, and took it for {before} % likely before that {name} is {value}, now takes it for {low} % likely at least and {high} % at most.",
                    if epochs == 1 { "" } else { "s" }
                ),
            }
        });
        PrivateState { name: private.name().to_owned(), words, beliefs }
    }
}
