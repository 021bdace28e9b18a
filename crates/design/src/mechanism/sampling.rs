//! Sampling: with probability λ release the input, else a fresh draw from the prior.
//!
//! JSTL21 Proposition 2 gives the largest λ for data without atoms; [`largest`] is the finite form.
//!
//! **Derivation.** The output's law is the prior. Input x exceeds the upper bound at y = x only, by
//! A_x = λ(1-P(x)) - (E-1)P(x), and falls short elsewhere, by B_x = (1-P(x))(1 - E(1-λ)); each convention
//! asks how large λ may be before its δ is used up.
//!
//! **What the kernel re-checks.** Every inequality of the claim, at the λ that ships.

use undertone_core::{Context, KEEP_ONE, Keep, Policy, Shape};

use super::Mechanism;
use crate::density::Density;
use crate::designer::{DesignOutcome, DesignProblem, shaped};
use crate::extremal::LiftRange;
use crate::measure::delta::Convention;
use crate::quantize::PolicySpec;
use crate::{Distribution, Error, to_floats};

/// The input with one probability, else a draw from the prior.
#[derive(Debug, Clone, Copy)]
pub struct KeepOrSample;

impl Mechanism<DesignProblem> for KeepOrSample {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "sampling"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        let found = design(&problem.spec)?;
        shaped(problem, found.policy, vec![("lambda", found.lambda)]).map(DesignOutcome::from)
    }
}

/// A verified policy of the shape `Keep` with one λ.
#[derive(Debug, Clone)]
pub struct Sampling {
    /// The policy.
    pub policy: Policy,
    /// The probability of releasing the input itself.
    pub lambda: f64,
}

/// The largest λ that satisfies the promise with this δ, for a finite prior.
///
/// On sets of inputs (`JointSets`) no closed form is known and the request is refused.
pub fn largest(
    prior: &Distribution,
    range: LiftRange,
    delta: f64,
    convention: Convention,
) -> Result<f64, Error> {
    check_delta(delta)?;
    let (lower, upper) = (range.low(), range.high());
    let allowed = |p: f64| match convention {
        Convention::Conditional => Ok((delta, delta)),
        Convention::Posterior => Ok((upper * delta, delta)),
        Convention::Joint => Ok((delta / p, delta / p)),
        Convention::JointSets => Err(Error::other(
            "convention",
            "joint_sets has no closed form on a finite prior: use conditional, posterior or joint",
        )),
    };
    let mut lambda = 1.0f64;
    // An input that is certain reveals nothing by being released.
    for &p in prior.as_slice().iter().filter(|p| **p < 1.0) {
        let (above, below) = allowed(p)?;
        // A symbol without mass has no share of a joint δ to lose; at δ = 0 it is still protected.
        let (above, below) = if delta == 0.0 { (0.0, 0.0) } else { (above, below) };
        let rises = (above + (upper - 1.0) * p) / (1.0 - p);
        let falls = 1.0 - lower * (1.0 - below / (1.0 - p));
        lambda = lambda.min(rises).min(falls);
    }
    Ok(lambda.max(0.0))
}

/// The largest λ for data without atoms, where no single value has any probability.
///
/// JSTL21 Proposition 2 is the `Posterior` case. On single inputs the joint convention of STL19
/// Definition 4 is vacuous here and the request is refused.
pub fn largest_atomless(epsilon: f64, delta: f64, convention: Convention) -> Result<f64, Error> {
    check_delta(delta)?;
    let e = LiftRange::symmetric(epsilon)?.high();
    match convention {
        Convention::Conditional => Ok(delta),
        Convention::Posterior => Ok((e * delta).min(1.0 - 1.0 / e + delta / e)),
        Convention::JointSets => {
            let root = (delta * delta + delta * (e - 1.0)).sqrt();
            Ok((2.0 * delta + 2.0 * root).min(1.0 - (1.0 - 4.0 * delta) / e).min(1.0))
        }
        Convention::Joint => Err(Error::other(
            "convention",
            "joint on single inputs asks nothing of data without atoms: use joint_sets",
        )),
    }
}

/// The policy with the largest λ for which the kernel accepts every claim; the base is the context's
/// prior, exactly.
pub fn design(spec: &PolicySpec) -> Result<Sampling, Error> {
    let Context::Known(prior) = &spec.context else {
        let problem = "sampling draws from the prior, so it needs one known prior";
        return Err(Error::other("context", problem));
    };
    // A weight in units of 2^-32 is a whole number of units of 2^-48.
    let base: Vec<u64> = prior.weights().iter().map(|w| w << 16).collect();
    let law = to_floats::distribution(prior)?;
    let guess = closed_form(spec, &law, Convention::Conditional)?.min(under_ldp(spec, &law));
    let (policy, level) = spec.strongest(guess, KEEP_ONE, |level| {
        Keep::new(vec![level; base.len()], base.clone())
            .map(Shape::Keep)
            .map_err(|error| Error::other("policy", error.to_string()))
    })?;
    Ok(Sampling { policy, lambda: level as f64 / KEEP_ONE as f64 })
}

/// The channel with the largest λ whose δ, in `convention`, is that of the promise's LIP claims, and
/// that λ. A policy claims in the conditional convention, so this one must be given its δ there before
/// it is verified.
pub fn shape(spec: &PolicySpec, convention: Convention) -> Result<(Shape, f64), Error> {
    let Context::Known(prior) = &spec.context else {
        let problem = "sampling draws from the prior, so it needs one known prior";
        return Err(Error::other("context", problem));
    };
    let base = prior.weights().iter().map(|w| w << 16).collect::<Vec<_>>();
    let level = closed_form(spec, &to_floats::distribution(prior)?, convention)?;
    let shape = Keep::new(vec![level; base.len()], base)
        .map_err(|error| Error::other("policy", error.to_string()))?;
    Ok((Shape::Keep(shape), level as f64 / KEEP_ONE as f64))
}

/// The mean loss of sampling numbers with law `density`: (1-λ) E D(X,X') for independent X, X' (JSTL21
/// (21)), D the distance or its square.
pub fn expected_loss(density: &Density, lambda: f64, squared: bool) -> Result<f64, Error> {
    if !(0.0..=1.0).contains(&lambda) {
        return Err(Error::range("lambda", lambda, "between 0 and 1"));
    }
    let apart = if squared { 2.0 * density.variance() } else { density.mean_difference() };
    Ok((1.0 - lambda) * apart)
}

/// λ of the strictest claim of LDP, in units of 2^-40, rounded down: the rarest symbol y has the likelihoods λ + (1-λ)P(y) and
/// (1-λ)P(y), whose ratio is at most E where λ/(1-λ) is at most (E-1)P(y). The largest λ without such a claim.
fn under_ldp(spec: &PolicySpec, prior: &Distribution) -> u64 {
    use undertone_core::Bound;
    let odds = spec.claims.iter().filter_map(|claim| match claim.bound {
        Bound::Ldp(epsilon) => Some(epsilon.odds()),
        _ => None,
    });
    let least = odds.map(|(n, d)| (f64::from(n) / f64::from(d) - 1.0) * prior.min());
    let least = least.fold(f64::INFINITY, f64::min);
    let lambda = if least.is_finite() { least / (1.0 + least) } else { 1.0 };
    (lambda * KEEP_ONE as f64) as u64
}

/// λ of the strictest LIP claim, in units of 2^-40, rounded down.
fn closed_form(
    spec: &PolicySpec,
    prior: &Distribution,
    convention: Convention,
) -> Result<u64, Error> {
    use undertone_core::{Bound, MASS_ONE};
    let mut lambda = 1.0f64;
    for claim in &spec.claims {
        if let Bound::Lip { lower, upper } = claim.bound {
            let nats = |epsilon: undertone_core::Epsilon| {
                let (n, d) = epsilon.odds();
                (f64::from(n) / f64::from(d)).ln()
            };
            let range = LiftRange::asymmetric(nats(lower), nats(upper))?;
            let delta = claim.delta.units() as f64 / MASS_ONE as f64;
            lambda = lambda.min(largest(prior, range, delta, convention)?);
        }
    }
    Ok((lambda * KEEP_ONE as f64) as u64)
}

fn check_delta(delta: f64) -> Result<(), Error> {
    if (0.0..1.0).contains(&delta) {
        Ok(())
    } else {
        Err(Error::range("delta", delta, "at least 0 and below 1"))
    }
}
