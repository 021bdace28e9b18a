//! The centre: from what arrives to decisions about H.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use undertone::Answer;
use undertone_core::Nats;
use undertone_design::Error;
use undertone_wire::{SensorReport, TokenKind};

use super::budget::Budget;
use super::epochs::{Epochs, Refusal, Said};
use super::journal::Journal;
use super::sensor::{possible, prefix};
use super::spending::Spending;
use super::topics::Status;
use crate::time::Filter;
use crate::{Bundle, FusionRule};

/// How long the centre waits, and for how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// From the first report of an epoch to its decision, at most.
    pub deadline: Duration,
    /// How many undecided epochs a sensor may have.
    pub window: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(5), window: 1024 }
    }
}

/// What the centre decided in one epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Which epoch.
    pub epoch: u64,
    /// The most likely value of H.
    pub value: usize,
    /// P(h | what was heard), in this epoch and, where hypotheses move, before it.
    pub posterior: Vec<f64>,
    /// The tokens it rests on, one place per sensor; `None` where a sensor was averaged over.
    pub outputs: Vec<Option<usize>>,
    /// The sensors that said nothing.
    pub missing: Vec<u16>,
    /// The sensors whose token was constant.
    pub constant: Vec<u16>,
    /// How many epochs have been used since the last reset.
    pub epochs: u32,
    /// ε_I of everything heard in them; `None` if there is no bound.
    pub information: Option<Nats>,
}

/// The centre's counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metrics {
    /// Epochs decided.
    pub decided: u64,
    /// Epochs waiting.
    pub open: usize,
    /// Reports used.
    pub accepted: u64,
    /// Messages not used, by reason.
    #[serde(serialize_with = "every_reason")]
    pub refused: BTreeMap<Refusal, u64>,
    /// Epochs whose data were used since the last reset.
    pub epochs: u32,
    /// How many may be.
    pub limit: u32,
    /// From which epoch on.
    pub first: u64,
    /// Epochs that have passed from that one to the last one used, whether or not anything was heard in them.
    #[serde(skip)]
    pub elapsed: u64,
    /// ε_I of everything used; nothing if there is no bound.
    #[serde(serialize_with = "as_decimal")]
    pub information: Option<Nats>,
    /// Per sensor.
    pub sensors: Vec<SensorMetrics>,
}

/// What the centre knows of one sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SensorMetrics {
    /// What it last said of itself, or the broker of it.
    #[serde(serialize_with = "by_name")]
    pub status: Option<Status>,
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
}

/// The coin of an epoch, from 0 to 1, for a rule that leaves some decisions to one: of the network's id and the epoch,
/// so that whoever has the reports finds the same decisions.
pub fn coin(bundle: &Bundle, epoch: u64) -> f64 {
    let digest = Sha256::new().chain_update(bundle.id()).chain_update(epoch.to_be_bytes());
    let first =
        digest.finalize().iter().take(6).fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    first as f64 / (1u64 << 48) as f64
}

/// The fusion centre of a bundle. It knows no network and no clock: messages and the time are handed
/// to it.
#[derive(Debug)]
pub struct Center {
    bundle: Bundle,
    prefix: [u8; 8],
    rule: FusionRule,
    /// Remembers what was said before, where hypotheses move.
    filter: Option<Filter>,
    /// By sensor and token: whether the policy ever sends it.
    possible: Vec<Vec<bool>>,
    epochs: Epochs,
    budget: Budget,
    used: BTreeSet<u64>,
    spending: Spending,
    journal: Option<Journal>,
    metrics: Metrics,
}

impl Center {
    /// A centre that uses the epochs of the budget only and remembers in `state`, if that is given,
    /// which it has used. A file that exists knows its own first epoch.
    pub fn open(
        bundle: &Bundle,
        budget: Budget,
        pace: Pace,
        state: Option<&Path>,
    ) -> Result<Self, Error> {
        if pace.window == 0 {
            return Err(Error::range("the window", 0.0, "at least 1 epoch"));
        }
        let budget = Budget::new(bundle, budget.first(), Some(budget.epochs()))?;
        let sensors = bundle.policies().len();
        let rule = bundle.rule()?;
        let filter = bundle.course().map(|course| {
            Filter::new(bundle.model(), course.chain(), rule.clone(), budget.first())
        });
        let mut center = Self {
            prefix: prefix(bundle),
            rule,
            filter,
            possible: bundle.policies().iter().map(possible).collect(),
            epochs: Epochs::new(sensors, pace.window, pace.deadline),
            budget,
            used: BTreeSet::new(),
            spending: Spending::new(bundle)?,
            journal: None,
            metrics: Metrics {
                decided: 0,
                open: 0,
                accepted: 0,
                refused: BTreeMap::new(),
                epochs: 0,
                limit: budget.epochs(),
                first: budget.first(),
                elapsed: 0,
                information: Some(Nats::ZERO),
                sensors: vec![SensorMetrics::default(); sensors],
            },
            bundle: bundle.clone(),
        };
        if let Some(path) = state {
            let header = format!("undertone center/1 {}", bundle.id());
            let (mut journal, records) = Journal::open(path, &header)?;
            for record in &records {
                center.replay(record).ok_or_else(|| {
                    let problem = format!(
                        "record {record:?} is not understood: was it written by a newer version?"
                    );
                    Error::other(format!("state file {}", path.display()), problem)
                })?;
            }
            if records.is_empty() {
                journal.append(&format!("begin {}", budget.first()))?;
            }
            center.journal = Some(journal);
            center.account()?;
        }
        Ok(center)
    }

    /// The network.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// A message on the topic of sensor `sensor`. The outer error is the centre's own trouble (its
    /// state file); the inner one is why the message is not used.
    pub fn hear(
        &mut self,
        sensor: u16,
        payload: &[u8],
        now: Instant,
    ) -> Result<Result<(), Refusal>, Error> {
        let heard = match self.judge(sensor, payload) {
            Err(refusal) => {
                // Nothing is wrong with these, and they are no repetitions.
                if matches!(refusal, Refusal::Late | Refusal::Ahead)
                    && let Ok(report) = SensorReport::from_bytes(payload)
                {
                    self.revive(&report);
                }
                Err(self.refuse(refusal))
            }
            Ok(report) => {
                if report.kind == TokenKind::Drawn && !self.used.contains(&report.epoch) {
                    // On disk before it is used, like a sensor's token.
                    if let Some(journal) = &mut self.journal {
                        journal.append(&format!("used {}", report.epoch))?;
                    }
                    self.used.insert(report.epoch);
                    self.account()?;
                }
                self.epochs.file(&report, now);
                self.metrics.accepted += 1;
                self.revive(&report);
                if let Some(metrics) = self.metrics.sensors.get_mut(usize::from(sensor)) {
                    metrics.accepted += 1;
                    match report.kind {
                        TokenKind::Drawn => metrics.drawn = metrics.drawn.saturating_add(1),
                        TokenKind::Constant => metrics.constant += 1,
                    }
                }
                Ok(())
            }
        };
        self.metrics.open = self.epochs.open();
        Ok(heard)
    }

    fn judge(&self, sensor: u16, payload: &[u8]) -> Result<SensorReport, Refusal> {
        let report = SensorReport::from_bytes(payload).map_err(|_| Refusal::Malformed)?;
        if report.bundle != self.prefix {
            return Err(Refusal::OtherBundle);
        }
        let tokens = self.possible.get(usize::from(report.sensor)).ok_or(Refusal::UnknownSensor)?;
        if report.sensor != sensor {
            return Err(Refusal::OtherTopic);
        }
        if !tokens.get(report.token as usize).is_some_and(|&may| may) {
            return Err(Refusal::OutsidePolicy);
        }
        self.epochs.admit(&report)?;
        if report.kind == TokenKind::Drawn && !self.budget.covers(report.epoch) {
            return Err(Refusal::Spent);
        }
        Ok(report)
    }

    /// Who says something new is alive, whatever was said of it before: a broker may keep a last will that somebody else
    /// has written, and it must not silence a sensor for longer than until its next report.
    fn revive(&mut self, report: &SensorReport) {
        if let Some(metrics) = self.metrics.sensors.get_mut(usize::from(report.sensor))
            && metrics.status.is_some_and(|status| !status.speaks())
        {
            metrics.status = Some(match report.kind {
                TokenKind::Drawn => Status::Alive,
                TokenKind::Constant => Status::Spent,
            });
        }
    }

    /// What is known of a sensor's life, if anything is.
    pub fn status(&self, sensor: u16) -> Option<Status> {
        self.metrics.sensors.get(usize::from(sensor))?.status
    }

    /// A message about a sensor's life; what it says, if that is news.
    pub fn hear_status(&mut self, sensor: u16, payload: &[u8]) -> Result<Option<Status>, Refusal> {
        let Some(status) = Status::read(payload) else {
            return Err(self.refuse(Refusal::Malformed));
        };
        let Some(metrics) = self.metrics.sensors.get_mut(usize::from(sensor)) else {
            return Err(self.refuse(Refusal::UnknownSensor));
        };
        let news = metrics.status != Some(status);
        metrics.status = Some(status);
        Ok(news.then_some(status))
    }

    /// Counts a message that is not used.
    pub fn refuse(&mut self, reason: Refusal) -> Refusal {
        *self.metrics.refused.entry(reason).or_default() += 1;
        reason
    }

    /// The next decision that is due, if any.
    pub fn decide(&mut self, now: Instant) -> Result<Option<Decision>, Error> {
        let speaks: Vec<bool> = self
            .metrics
            .sensors
            .iter()
            .map(|sensor| sensor.status.is_none_or(Status::speaks))
            .collect();
        let Some((epoch, said)) = self.epochs.close(&speaks, now) else { return Ok(None) };
        let token = |said: &Said| match said {
            Some((TokenKind::Drawn, token)) => Some(*token as usize),
            _ => None,
        };
        let outputs: Vec<Option<usize>> = said.iter().map(token).collect();
        let coin = coin(&self.bundle, epoch);
        let (posterior, value) = match &mut self.filter {
            Some(filter) => {
                let remembered = filter.hear(epoch, &outputs)?;
                let value = self.rule.decision_remembering(&remembered, &outputs, coin)?;
                (remembered, value)
            }
            None => {
                let posterior = self.rule.posterior(&outputs)?;
                let value = self.rule.decision(&posterior, &outputs, coin)?;
                (posterior, value)
            }
        };
        let those = |which: fn(&Said) -> bool| -> Vec<u16> {
            (0..).zip(&said).filter(|(_, said)| which(said)).map(|(t, _)| t).collect()
        };
        let missing = those(|said| said.is_none());
        for (metrics, said) in self.metrics.sensors.iter_mut().zip(&said) {
            let silent = said.is_none();
            metrics.missed += u64::from(silent);
            metrics.missed_in_a_row = if silent { metrics.missed_in_a_row + 1 } else { 0 };
        }
        self.metrics.decided += 1;
        self.metrics.open = self.epochs.open();
        Ok(Some(Decision {
            epoch,
            value,
            posterior: posterior.public,
            outputs,
            missing,
            constant: those(|said| matches!(said, Some((TokenKind::Constant, _)))),
            epochs: self.metrics.epochs,
            information: self.metrics.information,
        }))
    }

    /// When to ask for a decision again, if nothing arrives before.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.epochs.next_deadline()
    }

    /// Nobody could be heard for a while: every open epoch gets its whole deadline again.
    pub fn restart_deadlines(&mut self, now: Instant) {
        self.epochs.restart_deadlines(now);
    }

    /// A new budget from epoch `first` on, for a new private value; the sensors must begin theirs
    /// with the same epoch. Open epochs before it are dropped, and all earlier ones are over.
    pub fn reset(&mut self, first: u64) -> Result<(), Error> {
        if let Some(last) = self.used.last().filter(|&&last| last >= first) {
            let problem = format!("is over: epoch {last} was used already");
            return Err(Error::other(format!("epoch {first}"), problem));
        }
        if let Some(journal) = &mut self.journal {
            journal.rewrite(&[format!("begin {first}")])?;
        }
        self.begin(first);
        self.metrics.open = self.epochs.open();
        self.account()
    }

    fn begin(&mut self, first: u64) {
        self.budget = self.budget.moved(first);
        self.metrics.first = first;
        self.metrics.sensors.iter_mut().for_each(|sensor| sensor.drawn = 0);
        self.epochs.start_at(first);
        self.used.clear();
        if let Some(filter) = &mut self.filter {
            filter.restart(first);
        }
    }

    /// The counters.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn account(&mut self) -> Result<(), Error> {
        self.metrics.epochs = u32::try_from(self.used.len()).unwrap_or(u32::MAX);
        let since = |last: &u64| last.saturating_sub(self.budget.first()).saturating_add(1);
        self.metrics.elapsed = self.used.last().map_or(0, since);
        self.metrics.information =
            self.spending.after(self.metrics.epochs, self.metrics.elapsed)?;
        Ok(())
    }

    fn replay(&mut self, record: &str) -> Option<()> {
        match record.split_once(' ')? {
            ("used", epoch) => {
                let epoch = epoch.parse().ok()?;
                self.used.insert(epoch);
                // Who said what in it is no longer known.
                self.epochs.forget(epoch);
            }
            ("begin", first) => self.begin(first.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

impl Decision {
    /// The decision as it is published.
    pub fn record<'a>(&'a self, bundle: &'a Bundle) -> DecisionRecord<'a> {
        let values = bundle.model().public().values();
        DecisionRecord {
            epoch: self.epoch,
            decision: values.get(self.value).map(String::as_str),
            value: self.value,
            posterior: &self.posterior,
            heard: self.outputs.iter().flatten().count(),
            missing: &self.missing,
            constant: &self.constant,
            epochs: self.epochs,
            information: self.information,
        }
    }
}

/// A decision as it is published.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionRecord<'a> {
    /// Which epoch.
    pub epoch: u64,
    /// The most likely value of H, by name.
    pub decision: Option<&'a str>,
    /// Which of H's values that is.
    pub value: usize,
    /// P(h | what was heard).
    pub posterior: &'a [f64],
    /// How many sensors were heard.
    pub heard: usize,
    /// The sensors that said nothing.
    pub missing: &'a [u16],
    /// The sensors whose token was constant.
    pub constant: &'a [u16],
    /// How many epochs have been used since the last reset.
    pub epochs: u32,
    /// ε_I of everything heard in them; nothing if there is no bound.
    #[serde(serialize_with = "as_decimal")]
    pub information: Option<Nats>,
}

impl Metrics {
    /// How many messages were refused for this reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.refused.get(&reason).copied().unwrap_or(0)
    }
}

impl Answer for Metrics {
    fn words(&self) -> String {
        let information = self.information.map_or("unbounded".into(), |nats| nats.to_string());
        format!(
            "{} decisions, {} reports used, {} refused; {} of {} epochs used, which leak at most {information} nats.",
            self.decided,
            self.accepted,
            self.refused.values().sum::<u64>(),
            self.epochs,
            self.limit
        )
    }
}

/// Writes a level as a decimal in text, so that what is read is what was certified; nothing where there is no bound.
pub(super) fn as_decimal<S: Serializer>(value: &Option<Nats>, to: S) -> Result<S::Ok, S::Error> {
    value.map(|nats| nats.to_string()).serialize(to)
}

/// Writes the count of every reason, also of those that did not occur.
fn every_reason<S: Serializer>(counts: &BTreeMap<Refusal, u64>, to: S) -> Result<S::Ok, S::Error> {
    let count = |reason: Refusal| counts.get(&reason).copied().unwrap_or(0);
    to.collect_map(Refusal::ALL.into_iter().map(|reason| (reason.name(), count(reason))))
}

/// Writes a state by its name.
fn by_name<S: Serializer>(status: &Option<Status>, to: S) -> Result<S::Ok, S::Error> {
    status.map(Status::name).serialize(to)
}
