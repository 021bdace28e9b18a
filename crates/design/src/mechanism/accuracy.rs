//! The other way round: what accuracy costs, in ε or in people.
//!
//! An efficient estimate of the share of symbol x from n reports has variance v(x)/n with
//! v(x) = (S⁻¹)ₓₓ - P(x)², S the channel's information at the prior (see [`crate::objective::frequency`]).
//! Its half-width at a confidence level is z √(v(x)/n), z the normal quantile. This is the large-sample figure,
//! for planning: the estimator's own interval is what a survey reports.

use undertone_core::{Epsilon, Nats};

use super::{posterior, randomized_response, sampling};
use crate::extremal::LiftRange;
use crate::measure::delta::Convention;
use crate::objective::Objective;
use crate::{Channel, Distribution, Error};
use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::normal::normal_quantile;

/// What must be as accurate as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Each symbol's interval on its own.
    Each,
    /// All intervals at once (Bonferroni: the chances of a miss add up).
    All,
}

/// A request: every share within ± `half_width` at a confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    half_width: f64,
    level: f64,
    coverage: Coverage,
}

/// Mechanisms indexed by ε alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The `frequency` optimum under ε-LIP.
    OptimalLip,
    /// The `frequency` optimum under ε-LDP.
    OptimalLdp,
    /// k-ary randomised response at ε-LDP.
    RandomizedResponse,
    /// Sampling at ε-LIP with the largest λ.
    Sampling,
}

/// The smallest ε of a family that is accurate enough.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The level, on a grid of 0.001 nats.
    pub epsilon: Epsilon,
    /// The channel at that level, before rounding.
    pub channel: Channel,
    /// The half-width it reaches for its worst symbol.
    pub half_width: f64,
}

impl Accuracy {
    /// For example 0.03 at level 0.95.
    pub fn new(half_width: f64, level: f64, coverage: Coverage) -> Result<Self, Error> {
        if !(half_width > 0.0 && half_width < 1.0) {
            return Err(Error::range("accuracy", half_width, "above 0 and below 1"));
        }
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::range("level", level, "above 0 and below 1"));
        }
        Ok(Self { half_width, level, coverage })
    }

    /// The normal quantile a half-width is a multiple of, for this many symbols.
    pub fn quantile(&self, symbols: usize) -> f64 {
        let intervals = match self.coverage {
            Coverage::Each => 1.0,
            Coverage::All => symbols.max(1) as f64,
        };
        normal_quantile((1.0 - self.level) / (2.0 * intervals))
    }

    /// The half-width of the worst symbol's interval from n reports through `channel`.
    pub fn half_width(
        &self,
        prior: &Distribution,
        channel: &Channel,
        n: u64,
    ) -> Result<f64, Error> {
        if n == 0 {
            return Err(Error::range("n", 0.0, "at least 1"));
        }
        let worst = variances(prior, channel)?.into_iter().fold(0.0, f64::max);
        Ok(self.quantile(prior.len()) * (worst / n as f64).sqrt())
    }
}

/// n times the variance of an efficient estimate of each share; infinite if the channel cannot tell.
pub fn variances(prior: &Distribution, channel: &Channel) -> Result<Vec<f64>, Error> {
    let channel = &*channel.under(prior)?;
    let symbols = prior.len();
    let mut information = vec![vec![0.0; symbols]; symbols];
    for y in 0..channel.outputs() {
        let column: Vec<f64> = channel.column(y).collect();
        let mass: f64 = column.iter().zip(prior.as_slice()).map(|(q, p)| q * p).sum();
        if mass > 0.0 {
            for (row, a) in information.iter_mut().zip(&column) {
                row.iter_mut().zip(&column).for_each(|(cell, b)| *cell += a * b / mass);
            }
        }
    }
    let Some(factor) = Cholesky::new(symbols, |i, j| information[i][j], 1e-13) else {
        return Ok(vec![f64::INFINITY; symbols]);
    };
    let inverse = factor.inverse();
    Ok((0..symbols).map(|x| (inverse[x][x] - prior[x] * prior[x]).max(0.0)).collect())
}

/// How many respondents `channel` needs.
pub fn needed_n(
    prior: &Distribution,
    channel: &Channel,
    accuracy: &Accuracy,
) -> Result<u64, Error> {
    let worst = variances(prior, channel)?.into_iter().fold(0.0, f64::max);
    if !worst.is_finite() {
        let problem = "cannot tell the symbols apart, so no number of respondents is enough";
        return Err(Error::other("channel", problem));
    }
    let z = accuracy.quantile(prior.len());
    Ok((worst * (z / accuracy.half_width).powi(2)).ceil().max(1.0) as u64)
}

/// The smallest ε, on a grid of 0.001 nats, at which the family's channel is accurate enough for n
/// respondents. The channel returned is; the one a grid step below is not.
pub fn smallest_epsilon(
    prior: &Distribution,
    n: u64,
    accuracy: &Accuracy,
    family: Family,
) -> Result<Reached, Error> {
    let raw = Channel::identity(prior.len())?;
    if accuracy.half_width(prior, &raw, n)? > accuracy.half_width {
        let needed = needed_n(prior, &raw, accuracy)?;
        let problem = format!(
            "is {n}, and even raw answers need {needed} respondents for ±{} at level {}",
            accuracy.half_width, accuracy.level
        );
        return Err(Error::other("n", problem));
    }
    let attempt = |step: u64| {
        let epsilon = level(step)?;
        let channel = family.channel(prior, epsilon)?;
        let half_width = accuracy.half_width(prior, &channel, n)?;
        Ok::<_, Error>(Reached { epsilon, channel, half_width })
    };
    let enough = |reached: &Reached| reached.half_width <= accuracy.half_width;
    // Doubling from half a nat, then bisection.
    let (mut short, mut step) = (0, 500);
    let mut best = loop {
        let reached = attempt(step)?;
        if enough(&reached) {
            break (step, reached);
        }
        if step == MOST_STEPS {
            let problem = format!(
                "±{} is out of reach of this family with {n} respondents: the largest epsilon gives ±{:.6}",
                accuracy.half_width, reached.half_width
            );
            return Err(Error::other("accuracy", problem));
        }
        short = step;
        step = (2 * step).min(MOST_STEPS);
    };
    while best.0 - short > 1 {
        let middle = short + (best.0 - short) / 2;
        let reached = attempt(middle)?;
        match enough(&reached) {
            true => best = (middle, reached),
            false => short = middle,
        }
    }
    Ok(best.1)
}

/// 22.18 nats, the largest level the kernel can express.
const MOST_STEPS: u64 = 22_180;

/// A level in steps of 0.001 nats.
fn level(step: u64) -> Result<Epsilon, Error> {
    Epsilon::at_most(Nats::from_units(step * 10_000_000))
        .map_err(|error| Error::other("epsilon", error.to_string()))
}

impl Family {
    /// The family's channel at a level.
    pub fn channel(self, prior: &Distribution, epsilon: Epsilon) -> Result<Channel, Error> {
        let (numerator, denominator) = epsilon.odds();
        let nats = (f64::from(numerator) / f64::from(denominator)).ln();
        let range = LiftRange::symmetric(nats)?;
        match self {
            Self::OptimalLip => {
                Ok(posterior::optimal_lifts(prior, range, &Objective::Frequency)?.channel)
            }
            Self::OptimalLdp => {
                Ok(posterior::optimal_odds(prior, nats, &Objective::Frequency)?.channel)
            }
            Self::RandomizedResponse => randomized_response::symmetric(prior.len(), nats),
            Self::Sampling => {
                let lambda = sampling::largest(prior, range, 0.0, Convention::Conditional)?;
                let row = |x: usize| {
                    let own = |y: usize| if x == y { lambda } else { 0.0 };
                    (0..prior.len()).map(|y| own(y) + (1.0 - lambda) * prior[y]).collect()
                };
                Channel::new((0..prior.len()).map(row).collect())
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn raw_answers_need_the_textbook_number() {
        let prior = Distribution::uniform(2);
        let accuracy = Accuracy::new(0.03, 0.95, Coverage::Each).unwrap();
        let raw = Channel::identity(2).unwrap();
        assert_eq!(needed_n(&prior, &raw, &accuracy).unwrap(), 1068);
        let all = Accuracy::new(0.03, 0.95, Coverage::All).unwrap();
        assert!(needed_n(&prior, &raw, &all).unwrap() > 1068);
        let silent = Channel::new(vec![vec![0.5, 0.5]; 2]).unwrap();
        assert!(needed_n(&prior, &silent, &accuracy).is_err());
        assert!(smallest_epsilon(&prior, 1000, &accuracy, Family::OptimalLip).is_err());
        assert!(Accuracy::new(f64::NAN, 0.95, Coverage::Each).is_err());
        assert!(Accuracy::new(0.1, 1.0, Coverage::Each).is_err());
    }
}
