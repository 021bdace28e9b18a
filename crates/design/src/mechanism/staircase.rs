//! LDP by the book: k-ary randomised response and the staircase optimum.
//!
//! The outputs of an ε-LDP channel that cannot be refined have likelihoods in {1, e^ε} up to scale
//! (Kairouz, Oh and Viswanath), so every utility that is convex in the posterior is maximised by a linear
//! program over those 2^k patterns: [`super::posterior`] with the claim ldp alone.

use undertone_core::{Bound, Delta, KEEP_ONE, Keep, MASS_ONE, Policy, Shape, Subject};

use super::{Mechanism, Proposal, posterior};
use crate::designer::{DesignOutcome, DesignProblem, shaped, ship};
use crate::objective::Objective;
use crate::quantize::{PolicySpec, largest_remainder};
use crate::{Distribution, Error};

/// The optimum under the LDP claims alone.
#[derive(Debug, Clone, Copy)]
pub struct Staircase;

impl Mechanism<DesignProblem> for Staircase {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "extremal-ldp"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        let proposal = optimal(&problem.spec, &problem.prior, &problem.objective)?;
        ship(problem, proposal, problem.objective.is_linear()).map(DesignOutcome::from)
    }
}

/// k-ary randomised response that keeps as much as the claims allow.
#[derive(Debug, Clone, Copy)]
pub struct Krr;

impl Mechanism<DesignProblem> for Krr {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "krr"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        let found = randomized_response(&problem.spec)?;
        shaped(problem, found.policy, vec![("lambda", found.lambda)]).map(DesignOutcome::from)
    }
}

/// The best ε-LDP channel for `objective`, ε being the least of the promise's pure LDP claims. Claims of
/// other kinds are set aside here; the kernel holds the result against all of them when it ships.
pub fn optimal(
    spec: &PolicySpec,
    prior: &Distribution,
    objective: &Objective,
) -> Result<Proposal, Error> {
    let ldp: Vec<_> = spec
        .claims
        .iter()
        .filter(|claim| {
            let plain = claim.about == Subject::Input && claim.delta == Delta::ZERO;
            plain && matches!(claim.bound, Bound::Ldp(_))
        })
        .copied()
        .collect();
    if ldp.is_empty() {
        let problem = "the staircase is the optimum for ldp: add a claim ldp:epsilon";
        return Err(Error::other("claims", problem));
    }
    posterior::optimal(&PolicySpec { claims: ldp, ..spec.clone() }, prior, objective)
}

/// A verified policy of k-ary randomised response.
#[derive(Debug, Clone)]
pub struct RandomizedResponse {
    /// The policy, of the shape `Keep` with a uniform base.
    pub policy: Policy,
    /// The probability of keeping the input; for LDP at ε, (e^ε - 1)/(e^ε + k - 1).
    pub lambda: f64,
}

/// k-ary randomised response with the largest probability of keeping the input for which the kernel
/// accepts every claim, of whatever kind.
pub fn randomized_response(spec: &PolicySpec) -> Result<RandomizedResponse, Error> {
    let symbols = spec.inputs.len();
    let base = largest_remainder(Distribution::uniform(symbols).as_slice(), MASS_ONE);
    let odds = |epsilon: undertone_core::Epsilon| {
        let (n, d) = epsilon.odds();
        f64::from(n) / f64::from(d)
    };
    let strictest = spec.claims.iter().map(|claim| match claim.bound {
        Bound::Ldp(epsilon) | Bound::Di(epsilon) => odds(epsilon),
        Bound::Lip { upper, .. } => odds(upper),
    });
    let e = strictest.fold(f64::from(u32::MAX), f64::min);
    let guess = (e - 1.0) / (e + symbols as f64 - 1.0);
    let (policy, level) = spec.strongest((guess * KEEP_ONE as f64) as u64, KEEP_ONE, |level| {
        Keep::new(vec![level; symbols], base.clone())
            .map(Shape::Keep)
            .map_err(|error| Error::other("policy", error.to_string()))
    })?;
    Ok(RandomizedResponse { policy, lambda: level as f64 / KEEP_ONE as f64 })
}
