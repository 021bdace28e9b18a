//! Keep-shaped designs: large alphabets, in time and memory linear in the number of symbols.
//!
//! With probability λ(x) the input is released, else a draw from a base b. A symbol too rare to be worth
//! releasing has λ = 0 and is answered from the base, which is zero on it; the likelier ones, a prefix of the
//! symbols by probability, share one λ, and the likeliest may have a larger one. `keep/plan.rs` derives what the base
//! must then be and searches all prefixes.
//!
//! For 0-1 loss this is exact on uniform priors and close otherwise; how close is printed, against a bound for
//! channels of every shape (`keep/bound.rs`). For `frequency` the shape itself is the limit: on k symbols its
//! variance grows with k², a unary encoding's ([`super::unary`]) with k, so it is the right shape there only when
//! e^ε is well above k. The bound is [`posterior::frequency_floor`].
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

mod bound;
mod plan;

pub use bound::least_loss;

use plan::{Plan, Symbols};

use undertone_core::{
    Bound, Context, Delta, KEEP_ONE, Keep, MASS_ONE, Policy, Shape, Subject, WEIGHT_ONE,
};

use super::posterior;
use crate::extremal::LiftRange;
use crate::objective::Objective;
use crate::prior_region::PriorBox;
use crate::quantize::{PolicySpec, largest_remainder};
use crate::{Distribution, Error, to_floats};
use undertone_numeric::golden_section::golden_section;

/// The scale on which λ is lowered until the kernel accepts.
const SCALE: u64 = 1 << 40;

/// A verified policy of the shape `Keep`.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The policy.
    pub policy: Policy,
    /// The objective on the policy's integers.
    pub value: f64,
    /// No channel of any shape under the same LIP claim does better.
    pub bound: f64,
    /// The probability of keeping the likeliest symbol; no other has a larger one.
    pub lambda: f64,
    /// How many symbols are ever kept.
    pub released: usize,
}

/// A near-optimal policy for `hamming` or `frequency` under a pure LIP claim with a known prior. Other
/// claims of the promise are met too, by lowering λ, but not designed for.
pub fn design(spec: &PolicySpec, objective: &Objective) -> Result<Kept, Error> {
    let (prior, range) = claimed(spec)?;
    let symbols = Symbols::new(&prior, range);
    let plan = match objective {
        Objective::Hamming => symbols.for_loss(),
        Objective::Frequency => symbols.for_frequency()?,
        other => {
            let problem = format!(
                "a keep-shaped design serves hamming and frequency, not {}: use the optimal method",
                other.name()
            );
            return Err(Error::other("objective", problem));
        }
    };
    let base = largest_remainder(&plan.base, MASS_ONE);
    // t·q(y|x) + (1-t)·b(y) is the channel with tλ: a mixture with a constant row, which every
    // claim forgives.
    let integers = |level: u64| {
        let share = KEEP_ONE as f64 * (level as f64 / SCALE as f64);
        plan.keep.iter().map(|kept| (kept * share).floor() as u64).collect::<Vec<_>>()
    };
    let (policy, level) = spec.strongest(SCALE, SCALE, |level| {
        Keep::new(integers(level), base.clone())
            .map(Shape::Keep)
            .map_err(|error| Error::other("policy", error.to_string()))
    })?;
    let shipped = Plan {
        keep: integers(level).into_iter().map(|units| units as f64 / KEEP_ONE as f64).collect(),
        base: base.into_iter().map(|units| units as f64 / MASS_ONE as f64).collect(),
    };
    let (value, bound) = match objective {
        Objective::Hamming => (shipped.loss(&prior), least_loss(&prior, range)?),
        _ => (shipped.frequency(&prior), posterior::frequency_floor(&prior, range)),
    };
    // Both are losses: the bound is lowered by what float noise may have added to it.
    let bound = bound - 1e-12 * (1.0 + bound.abs());
    let lambda = shipped.keep.iter().copied().fold(0.0, f64::max);
    let released = shipped.keep.iter().filter(|kept| **kept > 0.0).count();
    Ok(Kept { policy, value, bound, lambda, released })
}

/// The objective on a channel of this shape, in time linear in the symbols up to sorting; `None` where there is no such formula.
pub fn value(keep: &Keep, prior: &Distribution, objective: &Objective) -> Option<f64> {
    let plan = Plan {
        keep: keep.keep().iter().map(|&units| units as f64 / KEEP_ONE as f64).collect(),
        base: keep.base().masses().iter().map(|&units| units as f64 / MASS_ONE as f64).collect(),
    };
    match objective {
        Objective::Hamming => Some(plan.loss(prior)),
        Objective::Frequency => Some(plan.frequency(prior)),
        Objective::Absolute(values) => Some(plan.absolute(prior, values)),
        Objective::Squared(values) => Some(plan.squared(prior, values)),
        Objective::Matrix(losses) => Some(plan.expected(prior, losses)),
        _ => None,
    }
}

/// The prior to design for (of a box, the point that divides its width evenly) and the intersection of all pure LIP claims
/// about the input.
fn claimed(spec: &PolicySpec) -> Result<(Distribution, LiftRange), Error> {
    let prior = match &spec.context {
        Context::Known(prior) => to_floats::distribution(prior)?,
        Context::Within(within) => {
            let ends = |ends: &[u64]| ends.iter().map(|&e| e as f64 / WEIGHT_ONE as f64).collect();
            PriorBox::new(ends(within.lower()), ends(within.upper()))?.middle()?
        }
        _ => {
            let problem = "a keep-shaped design needs one known prior or a box of priors";
            return Err(Error::other("context", problem));
        }
    };
    let nats = |epsilon: undertone_core::Epsilon| {
        let (n, d) = epsilon.odds();
        (f64::from(n) / f64::from(d)).ln()
    };
    let mut found: Option<(f64, f64)> = None;
    for claim in &spec.claims {
        if let Bound::Lip { lower, upper } = claim.bound
            && claim.about == Subject::Input
            && claim.delta == Delta::ZERO
        {
            let (l, u) = found.unwrap_or((f64::INFINITY, f64::INFINITY));
            found = Some((l.min(nats(lower)), u.min(nats(upper))));
        }
    }
    match found {
        Some((lower, upper)) => Ok((prior, LiftRange::asymmetric(lower, upper)?)),
        None => Err(Error::other(
            "claims",
            "a keep-shaped design needs a pure lip or alip claim about the input",
        )),
    }
}

/// Where `f` is largest on [0, top]: a grid, then this many golden sections around its
/// best point.
fn maximise(f: impl Fn(f64) -> f64, top: f64, sections: usize) -> f64 {
    const STEPS: usize = 16;
    let point = |at: usize| top * at as f64 / STEPS as f64;
    let grid: Vec<f64> = (0..=STEPS).map(|at| f(point(at))).collect();
    let best = (0..=STEPS).max_by(|&a, &b| grid[a].total_cmp(&grid[b])).unwrap_or(STEPS);
    let (low, high) = (point(best.saturating_sub(1)), point((best + 1).min(STEPS)));
    let (low, high) = golden_section(low, high, sections + 2, |t| -f(t));
    let middle = (low + high) / 2.0;
    if f(middle) >= grid[best] { middle } else { point(best) }
}
