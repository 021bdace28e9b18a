//! What the corrected mechanisms buy, and what they do not.

use undertone_design::Distribution;

use crate::{Error, Experiment};

pub mod frontier;
pub mod learning;
pub mod optimum;
pub mod plans;
pub mod repetition;
pub mod watch;

/// Our own questions.
pub static ALL: &[Experiment] = &[
    optimum::EXPERIMENT,
    learning::EXPERIMENT,
    frontier::EXPERIMENT,
    repetition::EXPERIMENT,
    plans::EXPERIMENT,
    watch::EXPERIMENT,
];

/// p(i) proportional to i^(-skew), i = 1..=symbols.
pub(crate) fn zipf(symbols: usize, skew: f64) -> Result<Distribution, Error> {
    let weights = (1..=symbols).map(|i| (i as f64).powf(-skew)).collect();
    Ok(Distribution::normalised("a Zipf prior", weights)?)
}
