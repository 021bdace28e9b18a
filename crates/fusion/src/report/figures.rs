//! Figures that several answers about a network share.

use serde::{Serialize, Serializer};
use undertone::number::{self, Round};
use undertone_core::{Epsilon, Nats};

use crate::learn::compare::Examined;
use crate::learn::leakage::Bound;
use crate::{Certificate, Evaluation, Maps, Model};

/// A leakage, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeakageLevel {
    /// From the law in floats; written rounded up.
    Computed(f64),
    /// From the integers, as the kernel writes it; nothing certified is a level without bound.
    Certified(Option<Nats>),
}

impl LeakageLevel {
    /// The level for people, never below it.
    pub fn words(&self) -> String {
        match self {
            Self::Computed(nats) => number::rounded(*nats, Round::Up),
            Self::Certified(Some(nats)) => nats.to_string(),
            Self::Certified(None) => "unbounded".into(),
        }
    }
}

impl Serialize for LeakageLevel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Computed(nats) => number::as_bound(nats, to),
            Self::Certified(nats) => number::certified(*nats).serialize(to),
        }
    }
}

impl From<Option<Epsilon>> for LeakageLevel {
    /// No limit is a level without bound.
    fn from(limit: Option<Epsilon>) -> Self {
        Self::Certified(limit.map(Epsilon::nats))
    }
}

/// What the centre learns of the public hypothesis, of the private one and of every reading.
#[derive(Debug, Clone, Serialize)]
pub struct NetworkFigures {
    /// How often the best guess of the public hypothesis is wrong.
    #[serde(serialize_with = "number::as_value")]
    pub error_public: f64,
    /// How often the best guess of the private hypothesis is wrong.
    #[serde(serialize_with = "number::as_value")]
    pub error_private: f64,
    /// How often a guess of the public hypothesis is wrong that hears nothing.
    #[serde(serialize_with = "number::as_value")]
    pub blind_public: f64,
    /// How often a guess of the private hypothesis is wrong that hears nothing.
    #[serde(serialize_with = "number::as_value")]
    pub blind_private: f64,
    /// I(H;Z), what all outputs say of the public hypothesis.
    #[serde(serialize_with = "number::as_value")]
    pub information_public: f64,
    /// I(G;Z), what all outputs say of the private hypothesis.
    #[serde(serialize_with = "number::as_value")]
    pub information_private: f64,
    /// I(X;Z) of every sensor.
    #[serde(serialize_with = "number::as_values")]
    pub sensor_information: Vec<f64>,
    /// The sensors' names.
    pub sensors: Vec<String>,
    /// How far belief in the private hypothesis moves.
    pub information: LeakageLevel,
    /// Where it moves furthest.
    pub worst: WorstOutputs,
    /// The LDP level of every sensor's reading.
    pub ldp: Vec<LeakageLevel>,
}

/// Where belief in the private hypothesis moves furthest.
#[derive(Debug, Clone, Serialize)]
pub struct WorstOutputs {
    /// The value of the private hypothesis.
    pub private: String,
    /// One output of every sensor.
    pub outputs: Vec<usize>,
}

impl NetworkFigures {
    /// The figures of an evaluation in floats.
    pub(super) fn new(seen: &Evaluation, model: &Model) -> Self {
        Self {
            error_public: seen.error_public,
            error_private: seen.error_private,
            blind_public: seen.blind_public,
            blind_private: seen.blind_private,
            information_public: seen.public_information,
            information_private: seen.private_information,
            sensor_information: seen.sensor_information.clone(),
            sensors: model.sensors().iter().map(|sensor| sensor.name().to_owned()).collect(),
            information: LeakageLevel::Computed(seen.information.nats),
            worst: WorstOutputs {
                private: model.private().values()[seen.information.private].clone(),
                outputs: seen.information.outputs.clone(),
            },
            ldp: seen.ldp.iter().map(|&nats| LeakageLevel::Computed(nats)).collect(),
        }
    }

    /// The figures with the sensors' levels as certified.
    pub(super) fn with_ldp(self, certificate: &Certificate) -> Self {
        let ldp = certificate.ldp.iter().map(|&nats| LeakageLevel::Certified(Some(nats)));
        Self { ldp: ldp.collect(), ..self }
    }

    /// What is learned, in a sentence; the names are those of the two hypotheses.
    pub(super) fn words(&self, public: &str, private: &str) -> String {
        format!(
            "The centre is wrong about {public} in {:.6} of all epochs (blindly {:.6}), and the best guess of {private} in {:.6} (blindly {:.6}); belief in {private} moves by at most {} nats in one epoch.",
            self.error_public,
            self.blind_public,
            self.error_private,
            self.blind_private,
            self.information.words()
        )
    }
}

/// What so many epochs together leak.
#[derive(Debug, Clone, Serialize)]
pub struct EpochReport {
    /// How many epochs.
    pub epochs: u32,
    /// About a private value that stays the same.
    pub information: LeakageLevel,
    /// Whether that is attained; otherwise it is a bound.
    pub exact: bool,
    /// However readings depend on each other over time.
    pub always: LeakageLevel,
    /// About a reading that never changes, of the sensor that tells most.
    pub reading_ldp: LeakageLevel,
}

impl EpochReport {
    /// The lines of a certificate.
    pub(super) fn of(certificate: &Certificate) -> Vec<Self> {
        let line = |line: &crate::Repeated| Self {
            epochs: line.epochs,
            information: LeakageLevel::Certified(line.information),
            exact: line.exact,
            always: LeakageLevel::Certified(line.always),
            reading_ldp: LeakageLevel::Certified(certificate.reading_ldp(line.epochs)),
        };
        certificate.epochs.iter().map(line).collect()
    }
}

/// Maps as rows of probabilities, one matrix per sensor.
pub(super) fn rows(maps: &Maps) -> Vec<Vec<Vec<f64>>> {
    let map = |channel: &undertone_design::Channel| {
        channel.rows().iter().map(|row| row.as_slice().to_vec()).collect()
    };
    maps.channels().iter().map(map).collect()
}

/// What held-out samples say about a release, however it was made.
#[derive(Debug, Clone, Serialize)]
pub struct ExaminedFigures {
    /// How often boosted trees that learned from half of the held-out samples are wrong about the public label.
    pub attacker_public: f64,
    /// How often such trees are wrong about the private label.
    pub attacker_private: f64,
    /// The leakage counted from drawn outputs, ST20 (12).
    #[serde(serialize_with = "number::as_bound")]
    pub counted: f64,
    /// The leakage averaged over the maps' randomness instead of drawn; nothing if there are too many outputs.
    #[serde(serialize_with = "number::as_optional_value")]
    pub averaged: Option<f64>,
    /// The bound that holds with the stated confidence.
    pub leakage_ucb: BoundReport,
    /// What the bound would be if every sample were independent of every other; no guarantee.
    pub leakage_ucb_if_rows_independent: Option<BoundReport>,
    /// The LDP level of the worst sensor.
    #[serde(serialize_with = "number::as_bound")]
    pub ldp: f64,
    /// The empirical I(X;Z) of every sensor, for maps.
    pub sensor_information: Vec<f64>,
}

/// A bound on a leakage that holds with stated confidence.
#[derive(Debug, Clone, Serialize)]
pub struct BoundReport {
    /// In nats.
    #[serde(serialize_with = "number::as_bound")]
    pub nats: f64,
    /// The probability of outputs for which nothing is said.
    pub outside: f64,
    /// How sure it is.
    pub confidence: f64,
    /// How many independent samples or sequences it rests on.
    pub units: usize,
    /// How many outputs were told apart.
    pub cells: usize,
}

impl From<&Bound> for BoundReport {
    fn from(bound: &Bound) -> Self {
        let Bound { nats, outside, confidence, units, cells, .. } = *bound;
        Self { nats, outside, confidence, units, cells }
    }
}

impl From<&Examined> for ExaminedFigures {
    fn from(seen: &Examined) -> Self {
        Self {
            attacker_public: seen.attackers.public,
            attacker_private: seen.attackers.private,
            counted: seen.counted,
            averaged: seen.averaged,
            leakage_ucb: (&seen.bound).into(),
            leakage_ucb_if_rows_independent: seen.if_independent.as_ref().map(Into::into),
            ldp: seen.ldp,
            sensor_information: seen.sensor_information.clone(),
        }
    }
}
