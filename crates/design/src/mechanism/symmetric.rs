//! JLT18's yes/no models: what is printed, and what is true.
//!
//! A user with Pr(X=1) = p flips the answer with probability q (symmetric model, JLT18 Section IV-B). Errors
//! are those of one user's MMSE estimate unless stated; the paper's sums over N users are N times as large
//! when all share one prior.

use super::Mechanism;
use super::printed::lip_level;
use crate::designer::{DesignOutcome, DesignProblem, own_value, ship};
use crate::{Channel, Error};

/// Errors of JLT18 Example 1, as printed or corrected: N users, a share `p` of ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example1 {
    /// Randomised response at ε-LDP with the unbiased estimate.
    pub ldp: f64,
    /// The asymmetric pair (1/2, 1/(2e^ε)) at ε-LDP with the unbiased estimate.
    pub opt_ldp: f64,
    /// ε-LIP with the MMSE estimate.
    pub lip: f64,
}

/// The symmetric model: the smallest probability of flipping the answer to a yes/no question.
#[derive(Debug, Clone, Copy)]
pub struct Flip;

impl Mechanism<DesignProblem> for Flip {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "symmetric"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        let level = lip_level(problem)?;
        if problem.prior.len() != 2 {
            let said = "the symmetric model is for two symbols; use krr";
            return Err(Error::other("method symmetric", said));
        }
        let channel = channel(problem.prior[1], level)?;
        let flip = channel.q(0, 1);
        let mut designed = ship(problem, own_value(problem, channel)?, true)?;
        designed.parameters.push(("flip", flip));
        Ok(designed.into())
    }
}

/// JLT18 (22) as printed: it has P1 where P1² belongs, so it can be negative.
pub fn published_error_at(p: f64, q: f64) -> Result<f64, Error> {
    let mixed = mixed(p, q)?;
    Ok(p * (1.0 - p) - p * ((2.0 * q - 1.0) * (p - 1.0)).powi(2) / (mixed * (1.0 - mixed)))
}

/// The mean squared error of the symmetric model: JLT18 (22) with P1², as its (34) derives it.
pub fn error_at(p: f64, q: f64) -> Result<f64, Error> {
    let mixed = mixed(p, q)?;
    Ok(p * (1.0 - p) - (p * (2.0 * q - 1.0) * (p - 1.0)).powi(2) / (mixed * (1.0 - mixed)))
}

/// The smallest flip probability that is ε-LIP: JLT18 Proposition 4, true as printed.
pub fn flip(p: f64, epsilon: f64) -> Result<f64, Error> {
    let (rare, e) = (check(p)?, odds(epsilon)?);
    Ok((1.0 - rare) / (e - 2.0 * rare + 1.0))
}

/// JLT18 (23) as printed; negative where it should be a mean square.
pub fn published_error(p: f64, epsilon: f64) -> Result<f64, Error> {
    check(p)?;
    let e = odds(epsilon)?;
    let top = p * (1.0 - p) * (2.0 * e - e * p - 2.0 * p + 1.0).powi(2);
    Ok(p * (1.0 - p) - top / (e * e - 2.0 * e * p + e))
}

/// The error at the smallest flip probability, JLT18 (23) corrected, with p the rarer answer's share:
/// p(1-p) [1 - p(E-1)²/(E(1 + p(E-2)))].
pub fn error(p: f64, epsilon: f64) -> Result<f64, Error> {
    let (rare, e) = (check(p)?, odds(epsilon)?);
    let explained = rare * (e - 1.0).powi(2) / (e * (1.0 + rare * (e - 2.0)));
    Ok(rare * (1.0 - rare) * (1.0 - explained))
}

/// The symmetric channel at the smallest flip probability that is ε-LIP.
pub fn channel(p: f64, epsilon: f64) -> Result<Channel, Error> {
    let q = flip(p, epsilon)?;
    Channel::new(vec![vec![1.0 - q, q], vec![q, 1.0 - q]])
}

/// JLT18 (20), true: the least error at ε-LDP, with the MMSE estimate.
pub fn opt_ldp_error(p: f64, epsilon: f64) -> Result<f64, Error> {
    check(p)?;
    let e = odds(epsilon)?;
    let spread = p * (1.0 - p);
    let below = (1.0 - p + p * e) * (e - p * e + p);
    Ok(spread - (spread * (1.0 - e)).powi(2) / below)
}

/// JLT18 (24) as printed, the unbiased count from N answers of which `ones` are 1: with p = E/(E+1) it
/// estimates how many are *not* one.
pub fn published_count(users: f64, ones: f64, epsilon: f64) -> Result<f64, Error> {
    let e = odds(epsilon)?;
    Ok(count_at(users, ones, e / (e + 1.0)))
}

/// JLT18 (24) corrected: the flip probability is 1/(E+1).
pub fn count(users: f64, ones: f64, epsilon: f64) -> Result<f64, Error> {
    Ok(count_at(users, ones, 1.0 / (odds(epsilon)? + 1.0)))
}

fn count_at(users: f64, ones: f64, p: f64) -> f64 {
    (ones - users * p) / (1.0 - 2.0 * p)
}

/// JLT18 (25), true for fixed answers: the variance of the unbiased count at ε-LDP, N E/(E-1)².
pub fn context_free_error(users: f64, epsilon: f64) -> Result<f64, Error> {
    let e = odds(epsilon)?;
    Ok(users * e / (e - 1.0).powi(2))
}

/// JLT18 Example 1 as printed (its formulas hold for N = 100 and one in ten).
pub fn published_example(epsilon: f64) -> Result<Example1, Error> {
    let e = odds(epsilon)?;
    Ok(Example1 {
        ldp: 100.0 * e / (e + 1.0).powi(2),
        opt_ldp: 25.0 / (0.5 - e / 2.0).powi(2),
        lip: (10.0 * e - 1.0) / 0.64,
    })
}

/// JLT18 Example 1 corrected: the denominators are (1-p-q)², the asymmetric pair is (1/2, 1/(2E)), and
/// the LIP mechanism is the one that is ε-LIP.
pub fn example(users: f64, p: f64, epsilon: f64) -> Result<Example1, Error> {
    check(p)?;
    let e = odds(epsilon)?;
    let false_ones = 1.0 / (2.0 * e);
    let noise = p * 0.25 + (1.0 - p) * false_ones * (1.0 - false_ones);
    let prior = crate::Distribution::new("prior", vec![1.0 - p, p])?;
    let best = super::randomized_response::binary_optimal(&prior, epsilon)?;
    Ok(Example1 {
        ldp: context_free_error(users, epsilon)?,
        opt_ldp: users * noise / (0.5 - false_ones).powi(2),
        lip: users * crate::objective::mmse(&prior, &best, &[0.0, 1.0])?,
    })
}

/// Pr(Y=1) when ones are flipped with probability q; not 0 or 1.
fn mixed(p: f64, q: f64) -> Result<f64, Error> {
    check(p)?;
    if !(0.0..=1.0).contains(&q) {
        return Err(Error::range("the flip probability", q, "between 0 and 1"));
    }
    Ok(q * (1.0 - p) + (1.0 - q) * p)
}

/// The rarer answer's share.
fn check(p: f64) -> Result<f64, Error> {
    if p > 0.0 && p < 1.0 {
        Ok(p.min(1.0 - p))
    } else {
        Err(Error::range("the share of ones", p, "above 0 and below 1"))
    }
}

fn odds(epsilon: f64) -> Result<f64, Error> {
    // Above this the kernel cannot express e^ε.
    if (0.0..=22.18).contains(&epsilon) {
        Ok(epsilon.exp())
    } else {
        Err(Error::range("epsilon", epsilon, "at least 0 and at most 22.18"))
    }
}
