//! Channels for a whole box of priors, for objectives that are not linear in the channel.
//!
//! **Claim.** Belief under a prior is linear in it, so a claim that holds at the corners of a box holds for every prior of
//! it: with few corners the box is a list of priors, and `posterior` has the optimum. Where they are too many, the best
//! channel for the prior that weighs the objective is sought at levels somewhat below the claim, and each is mixed with noise
//! until the kernel accepts it for the whole box; beside them stands the best LDP channel, whose LIP holds for any prior.
//!
//! **What the kernel re-checks.** Every inequality, for the box itself, on the integers that ship.

use undertone_core::{Bound, Context, Delta, Epsilon, Subject};

use super::{Proposal, posterior};
use crate::extremal::LiftRange;
use crate::knowledge::{Knowledge, corners};
use crate::objective::Objective;
use crate::quantize::PolicySpec;
use crate::{Distribution, Error};

/// Boxes with more corners than this are not taken apart.
pub const CORNERS: usize = 64;

/// Shares of the claimed level at which the best channel for one prior is tried, the most promising first.
const SHARES: [f64; 7] = [0.94, 1.0, 0.85, 0.97, 0.9, 0.8, 0.7];

/// Above this many symbols only the first few shares are tried.
const QUICK: usize = 24;

/// The optimum over a box of few corners.
pub fn by_corners(
    spec: &PolicySpec,
    prior: &Distribution,
    objective: &Objective,
) -> Result<Proposal, Error> {
    let Context::Within(within) = &spec.context else {
        return Err(Error::other("context", "there is no box"));
    };
    let corners = corners(within, CORNERS).ok_or_else(|| {
        Error::other("the prior box", format!("it has more than {CORNERS} corners"))
    })?;
    let context = Knowledge::Each(corners).context()?.context;
    posterior::optimal(&PolicySpec { context, ..spec.clone() }, prior, objective)
}

/// Channels to be mixed with noise until they serve the whole box, and the best LDP channel; those that could not be found are left out.
pub fn around(
    spec: &PolicySpec,
    prior: &Distribution,
    objective: &Objective,
) -> Result<Vec<Proposal>, Error> {
    let (lower, upper) = claimed(spec)?;
    let tried = if prior.len() > QUICK { 3 } else { SHARES.len() };
    let mut found = Vec::new();
    for share in &SHARES[..tried] {
        let range = LiftRange::asymmetric(share * lower, share * upper)?;
        found.extend(posterior::optimal_lifts(prior, range, objective).ok());
    }
    found.extend(posterior::optimal_odds(prior, lower.min(upper), objective).ok());
    // A bound for one prior at a level of its own is none for the box.
    found.iter_mut().for_each(|proposal| proposal.bound = None);
    Ok(found)
}

/// The tightest of the pure LIP claims about the input, in nats: how far belief may fall and rise.
fn claimed(spec: &PolicySpec) -> Result<(f64, f64), Error> {
    let nats = |epsilon: Epsilon| {
        let (numerator, denominator) = epsilon.odds();
        (f64::from(numerator) / f64::from(denominator)).ln()
    };
    let mut found: Option<(f64, f64)> = None;
    for claim in &spec.claims {
        match claim.bound {
            _ if claim.about != Subject::Input || claim.delta != Delta::ZERO => {}
            Bound::Lip { lower, upper } => {
                let (l, u) = found.unwrap_or((f64::INFINITY, f64::INFINITY));
                found = Some((l.min(nats(lower)), u.min(nats(upper))));
            }
            Bound::Ldp(_) | Bound::Di(_) => {}
        }
    }
    found.ok_or_else(|| {
        let problem = "a design for a box of priors needs a lip or alip claim without delta";
        Error::other("claims", problem)
    })
}
