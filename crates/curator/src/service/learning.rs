//! What a sealed round says about its people: an estimate, and a box that holds the truth.
//!
//! The box is made of the confidence intervals of all shares, each missed with probability at most β/k, from the reports of
//! that one round alone. With people who are independent draws from the population it holds all true shares with probability
//! at least 1-β, whatever they are and however few the reports ([`undertone_estimate::interval`] has the proof, and the tests
//! add up exact probabilities). Its ends are rounded outward, here and when they become the integers of a policy.

use undertone_core::Policy;
use undertone_estimate::{Estimator, Method, Pool, Settings, Tally};
use undertone_wire::{Code, Problem};

use super::survey::Learned;
use crate::store::RoundTally;

/// What was learnt, or why nothing was.
#[derive(Debug, Clone, PartialEq)]
pub enum Lesson {
    /// An estimate and its box.
    Learned(Learned),
    /// The reports cannot be believed.
    Unusable(String),
}

/// A policy's tally as the estimators take it.
pub fn tally(policy: &Policy, counted: &RoundTally) -> Result<Tally, Problem> {
    let mut tally = Tally::new(policy);
    let added = if tally.counts_bits() {
        tally.add_bit_counts(counted.reports, &counted.counts)
    } else {
        tally.add_counts(&counted.counts)
    };
    added.map_err(|error| damaged(&error))?;
    Ok(tally)
}

pub(crate) fn damaged(error: &undertone_estimate::Error) -> Problem {
    unusable(&error.to_string())
}

pub(crate) fn unusable(error: &str) -> Problem {
    tracing::error!(%error, "a stored tally cannot be used");
    Problem::new(Code::Unavailable, format!("the stored counts cannot be used: {error}"))
}

/// Learns from one policy's reports in one round.
pub fn learn(
    round: u32,
    policy: &Policy,
    counted: &RoundTally,
    confidence: f64,
) -> Result<Lesson, Problem> {
    let failed = |error: undertone_estimate::Error| damaged(&error);
    let settings = Settings::at_level(confidence).map_err(failed)?.all_at_once();
    let pool = Pool::new(policy, tally(policy, counted)?).map_err(failed)?;
    let estimator = Estimator::new(pool, settings).map_err(failed)?;
    let drift = estimator.drift().map_err(failed)?;
    if drift.impossible {
        return Ok(Lesson::Unusable(format!(
            "no population gives the reports of round {round}, so nothing is learnt from them"
        )));
    }
    let shares = estimator.shares(Method::Unbiased).map_err(failed)?;
    let estimate = estimator.fit().shares.clone();
    let (lower, upper): (Vec<f64>, Vec<f64>) = shares
        .symbols
        .iter()
        .zip(&estimate)
        // The box holds its own estimate, so that a policy designed for it serves that too.
        .map(|(share, p)| (share.low.min(*p).max(0.0), share.high.max(*p).min(1.0)))
        .unzip();
    if lower.iter().chain(&upper).any(|end| !end.is_finite()) {
        return Ok(Lesson::Unusable(format!("the estimate of round {round} is not a number")));
    }
    Ok(Lesson::Learned(Learned {
        round,
        reports: counted.reports,
        confidence,
        estimate,
        lower,
        upper,
    }))
}
