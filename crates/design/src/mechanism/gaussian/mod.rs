//! Gaussian noise, with one deviation for all inputs or one for each.
//!
//! JSTL21 Section IV-C: Y = X + N. On the whole line no deviation is enough for every x (JSTL21 Theorem
//! 5 is vacuous there: its δ tends to 1 as x grows), so inputs are a finite grid on a range. Then the
//! output's law is a finite mixture of normal laws and δ can be computed: exactly up to rounding
//! (`audit.rs`), or from above by cells. How the deviation is chosen is in `sigma.rs`.
//!
//! What ships is the noise's mass in each output cell, the tails joined to the end cells: a finite
//! table. That is post-processing, so its δ is no larger.
//!
//! **What the kernel re-checks.** δ of every claim, summed exactly over the integers of that table.

mod audit;
mod divergence;
mod sigma;

pub use audit::Excess;
pub use divergence::{Sides, against_wider, between};
pub use sigma::{
    Spread, analytic, analytic_delta, corollary_10, least_constant, least_floor, vanilla,
    vanilla_delta,
};
pub(crate) use sigma::{least, raise};

use crate::density::Normal;
use crate::{Channel, Distribution, Error};

/// How the deviation is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sigma {
    /// The least one deviation for all inputs whose table keeps the claims.
    Constant,
    /// JSTL21 Corollary 10, one deviation for each input, as printed.
    Published,
    /// The larger of Corollary 10's and one floor, the least floor whose table keeps the claims.
    Floor,
    /// The textbook LDP deviation, ΔX √(2 ln(1.25/δ)) / ε.
    Vanilla,
    /// The least deviation for LDP, by JSTL21 (24).
    Analytic,
    /// This number.
    Given(f64),
}

/// Gaussian noise on at least one input: finite inputs in increasing order, positive finite deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianNoise {
    bells: Vec<Normal>,
}

impl GaussianNoise {
    /// Noise with a deviation for each input.
    pub fn new(points: &[f64], deviations: &[f64]) -> Result<Self, Error> {
        if points.is_empty() {
            return Err(Error::Empty { what: "points".into() });
        }
        if points.len() != deviations.len() {
            let (expected, found) = (points.len(), deviations.len());
            return Err(Error::Size { what: "the list of deviations".into(), expected, found });
        }
        let bell = |(at, (&point, &deviation))| {
            Normal::new(point, deviation)
                .map_err(|error: Error| Error::other(format!("input {at}"), error.to_string()))
        };
        let bells: Vec<Normal> =
            points.iter().zip(deviations).enumerate().map(bell).collect::<Result<_, _>>()?;
        if let Some(at) = bells.windows(2).position(|pair| !(pair[0].mean() < pair[1].mean())) {
            let above = format!("above points[{at}] = {}", bells[at].mean());
            return Err(Error::range(format!("points[{}]", at + 1), bells[at + 1].mean(), above));
        }
        Ok(Self { bells })
    }

    /// Noise with one deviation for all inputs.
    pub fn constant(points: &[f64], deviation: f64) -> Result<Self, Error> {
        Self::new(points, &vec![deviation; points.len()])
    }

    /// The law of the output for each input.
    pub fn bells(&self) -> &[Normal] {
        &self.bells
    }

    /// The mass of each cell between `edges`, which must increase; the first and the last cell reach to
    /// infinity.
    pub fn table(&self, edges: &[f64]) -> Result<Channel, Error> {
        if edges.len() < 2 || edges.windows(2).any(|e| !(e[0] < e[1])) {
            return Err(Error::other("edges", "give at least two, each above the one before"));
        }
        let last = edges.len() - 2;
        let row = |(x, bell): (usize, &Normal)| {
            let cell = |(j, e): (usize, &[f64])| {
                let from = if j == 0 { f64::NEG_INFINITY } else { e[0] };
                let to = if j == last { f64::INFINITY } else { e[1] };
                bell.between(from, to).max(0.0)
            };
            let mass = edges.windows(2).enumerate().map(cell).collect();
            Distribution::normalised(&format!("channel row {x}"), mass)
        };
        Channel::from_rows(self.bells.iter().enumerate().map(row).collect::<Result<_, _>>()?)
    }

    /// E σ(X)²: the mean squared error of the output before it is put in cells.
    pub fn mean_squared_error(&self, prior: &Distribution) -> Result<f64, Error> {
        prior.check_len("the list of points", self.bells.len())?;
        Ok(self.bells.iter().zip(prior.as_slice()).map(|(b, p)| p * b.deviation().powi(2)).sum())
    }
}
