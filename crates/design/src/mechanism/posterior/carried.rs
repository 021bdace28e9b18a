//! A bound found under the rounded prior of the claims, as a bound under the prior that was asked about.
//!
//! A policy states its prior in units of 2^-32, and its claims are about that one; the objective is weighed by
//! the prior as given. Both differ by 10^-10, which is more than the gap between an optimum and its bound. With
//! P as given, P' as rounded, r = (P-P')₊ and f = (P'-P)₊:
//!
//! * mutual information is concave in the prior with the slopes D(W_x‖P'_Y), which lie between nought and the
//!   logarithm of the largest lift of x, so I_P <= I_P' + Σ r(x) ln lift(x);
//! * the mean squared error of the best estimate is concave too, with slopes between nought and the squared range
//!   of the values, so mmse_P >= mmse_P' - Σ f(x) range²;
//! * an expected loss is linear: L_P >= L_P' + Σ r(x) min l(x,·) - Σ f(x) max l(x,·);
//! * for frequencies P_Y(y) >= (1-η) P'_Y(y) with η = Σ f(x) lift(x), so S <= S'/(1-η) and
//!   tr S⁻¹ >= (1-η) tr S'⁻¹.
//!
//! The largest lift of x is what the claims allow, and never above 1/P'(x).

use super::region::{Region, RegionForm};
use crate::objective::Objective;
use crate::{Distribution, Error};

/// Float noise of a bound, relative to it and to what is at stake: sums of as many products as symbols.
const NOISE: f64 = 1e-12;

/// The bound under `asked`, rounded outward; `None` where nothing is known.
pub(super) fn carried(
    bound: f64,
    objective: &Objective,
    asked: &Distribution,
    region: &Region,
) -> Result<Option<f64>, Error> {
    let used = &region.prior;
    let apart = |sign: f64| {
        let pairs = asked.as_slice().iter().zip(used.as_slice());
        pairs.map(move |(a, b)| (sign * (a - b)).max(0.0)).collect::<Vec<_>>()
    };
    let (risen, fallen) = (apart(1.0), apart(-1.0));
    let total = |parts: &[f64], each: &dyn Fn(usize) -> f64| -> f64 {
        parts
            .iter()
            .enumerate()
            .filter(|(_, part)| **part > 0.0)
            .map(|(x, part)| part * each(x))
            .sum()
    };
    let lift = |x: usize| region.largest_lift().min(1.0 / used[x]);
    let moved = match objective {
        Objective::MutualInformation => {
            let most = bound + total(&risen, &|x| lift(x).ln());
            most + NOISE * (most + used.entropy())
        }
        Objective::NormalisedMutualInformation => {
            let most = bound * used.entropy() + total(&risen, &|x| lift(x).ln());
            (most + NOISE * (most + used.entropy())) / asked.entropy()
        }
        Objective::Mmse(values) => {
            let range = spread(values);
            (bound - total(&fallen, &|_| range * range) - NOISE * range * range).max(0.0)
        }
        Objective::Frequency => {
            let squares = |p: &Distribution| p.as_slice().iter().map(|p| p * p).sum::<f64>();
            let trace = (1.0 - total(&fallen, &lift)) * (bound + squares(used));
            // The inverse magnifies rounding by the condition of S, which is at most about its own trace.
            trace * (1.0 - NOISE - 1e-15 * trace) - squares(asked)
        }
        Objective::Hamming
        | Objective::Absolute(_)
        | Objective::Squared(_)
        | Objective::Matrix(_) => {
            let Some(losses) = objective.losses(asked.len())? else { return Ok(None) };
            let least = |x: usize| losses[x].iter().copied().fold(f64::INFINITY, f64::min);
            let most = |x: usize| losses[x].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let stake = (0..losses.len()).map(|x| least(x).abs().max(most(x).abs()));
            bound + total(&risen, &least)
                - total(&fallen, &most)
                - NOISE * stake.fold(0.0, f64::max)
        }
    };
    Ok(moved.is_finite().then_some(moved))
}

/// The largest value less the smallest.
fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - values.iter().copied().fold(f64::INFINITY, f64::min)
}

impl Region {
    /// No lift of the region is above this; infinite if the claims do not say.
    fn largest_lift(&self) -> f64 {
        match &self.form {
            RegionForm::Range { high, .. } => *high,
            RegionForm::Odds { weights, odds } if weights.iter().all(|w| *w == 1.0) => *odds,
            _ => f64::INFINITY,
        }
    }
}
