//! Unary encodings (shape `Bits`): a symbol's own bit is set with one probability, every other bit
//! with another.
//!
//! Likelihoods depend only on the odds ratio r = p(1-q)/(q(1-p)) of the two, so LDP at ε asks r <= e^ε. Under
//! a prior the largest lift of x is r/(P(x)r + 1-P(x)) and the smallest 1/(P(x) + (1-P(x))r); a known
//! prior therefore allows a larger r than LDP at the same ε ([`odds_ratio`]).
//!
//! **What the kernel re-checks.** The exact closed forms, at the integers that ship.

use undertone_core::{Bits, Bound, Claim, Context, Policy, Shape, Subject, WEIGHT_ONE};

use super::Mechanism;
use crate::designer::{DesignOutcome, DesignProblem, shaped};
use crate::extremal::LiftRange;
use crate::quantize::PolicySpec;
use crate::{Distribution, Error, to_floats};

/// Which pair of probabilities is chosen for a given odds ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Own bit 1/2, others 1/(1+r): the least variance for rare symbols (OUE, used by JSTL21 Section V).
    Optimised,
    /// Own bit √r/(1+√r), others 1/(1+√r): RAPPOR's basic form (SUE).
    Symmetric,
}

impl Mechanism<DesignProblem> for Encoding {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        match self {
            Self::Optimised => "oue",
            Self::Symmetric => "sue",
        }
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        let found = design(&problem.spec, *self)?;
        let parameters = vec![("own", found.own), ("other", found.other)];
        shaped(problem, found.policy, parameters).map(DesignOutcome::from)
    }
}

/// A verified policy of the shape `Bits`.
#[derive(Debug, Clone)]
pub struct Unary {
    /// The policy.
    pub policy: Policy,
    /// The probability that the input's own bit is set.
    pub own: f64,
    /// The probability that any other bit is set.
    pub other: f64,
}

/// The two probabilities at an odds ratio of at least one.
pub fn probabilities(encoding: Encoding, ratio: f64) -> Result<(f64, f64), Error> {
    if ratio.is_nan() || ratio < 1.0 {
        return Err(Error::range("the odds ratio", ratio, "at least 1"));
    }
    Ok(match encoding {
        Encoding::Optimised => (0.5, 1.0 / (1.0 + ratio)),
        Encoding::Symmetric => {
            let root = ratio.sqrt();
            let other = 1.0 / (1.0 + root);
            (1.0 - other, other)
        }
    })
}

/// The largest odds ratio under which every lift stays in `range`: the rarest symbol decides. Infinite
/// if nothing needs hiding.
///
/// r/(p r + 1 - p) <= E is r (1 - pE) <= E (1 - p), no bound if pE >= 1; 1/(p + (1-p) r) >= 1/E' is
/// r <= (E' - p)/(1 - p).
pub fn odds_ratio(prior: &Distribution, range: LiftRange) -> f64 {
    let p = prior.min();
    let (up, down) = (range.high(), 1.0 / range.low());
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let rises = if p * up < 1.0 { up * (1.0 - p) / (1.0 - p * up) } else { f64::INFINITY };
    rises.min((down - p) / (1.0 - p)).max(1.0)
}

/// n times the summed variance of the unbiased estimates of all shares, read off the bit counts: with
/// s(x) = q + P(x)(p-q) the probability that bit x is set, Σ s(1-s)/(p-q)². An upper bound on what an
/// efficient estimate attains (the objective `frequency`), which also uses how bits go together.
pub fn variance(prior: &Distribution, own: f64, other: f64) -> Result<f64, Error> {
    for (what, value) in
        [("the own bit's probability", own), ("the other bits' probability", other)]
    {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::range(what, value, "between 0 and 1"));
        }
    }
    let set = |p: &f64| other + p * (own - other);
    let noise: f64 = prior.as_slice().iter().map(set).map(|s| s * (1.0 - s)).sum();
    Ok(if own == other { f64::INFINITY } else { noise / (own - other).powi(2) })
}

/// The policy with the largest odds ratio for which the kernel accepts every claim of `promise`:
/// context-aware where the claims are about belief, plain OUE or SUE where they are LDP.
pub fn design(spec: &PolicySpec, encoding: Encoding) -> Result<Unary, Error> {
    let half = WEIGHT_ONE / 2;
    let symbols = spec.inputs.len();
    // The level is how far the other bits (OUE) or both (SUE) are from one half.
    let integers = |level: u64| match encoding {
        Encoding::Optimised => (half, half - level),
        Encoding::Symmetric => (half + level, half - level),
    };
    let ratio = spec.claims.iter().map(|claim| guess(spec, claim));
    let ratio = ratio.collect::<Result<Vec<_>, _>>()?.into_iter().fold(f64::INFINITY, f64::min);
    let (_, other) = probabilities(encoding, ratio)?;
    let first = half.saturating_sub((other * WEIGHT_ONE as f64).ceil() as u64);
    let (policy, level) = spec.strongest(first, half, |level| {
        let (own, other) = integers(level);
        Bits::new(symbols, own, other)
            .map(Shape::Bits)
            .map_err(|error| Error::other("policy", error.to_string()))
    })?;
    let (own, other) = integers(level);
    let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
    Ok(Unary { policy, own: share(own), other: share(other) })
}

/// The odds ratio a claim allows, where a closed form says so; the kernel's verdict decides.
fn guess(spec: &PolicySpec, claim: &Claim) -> Result<f64, Error> {
    let odds = |epsilon: undertone_core::Epsilon| {
        let (n, d) = epsilon.odds();
        f64::from(n) / f64::from(d)
    };
    match (claim.bound, &spec.context) {
        (Bound::Lip { lower, upper }, Context::Known(prior)) if claim.about == Subject::Input => {
            let range = LiftRange::asymmetric(odds(lower).ln(), odds(upper).ln())?;
            Ok(odds_ratio(&to_floats::distribution(prior)?, range))
        }
        (Bound::Ldp(epsilon) | Bound::Di(epsilon), _) => Ok(odds(epsilon)),
        (Bound::Lip { upper, .. }, _) => Ok(odds(upper)),
    }
}
