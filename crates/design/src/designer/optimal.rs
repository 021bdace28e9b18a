//! The optimum: which method finds it, by objective, context and number of symbols.

use undertone_core::Context;

use super::{Designed, Request, shaped, ship};
use crate::Error;
use crate::extremal::LiftRange;
use crate::mechanism::{Proposal, keep, linear, posterior, sampling, staircase};
use crate::objective::Objective;

/// Above this many symbols the optimum is sought among channels of the shape `Keep`.
pub const LARGE: usize = 300;

/// [`LARGE`] for `frequency`, whose optimum has hundreds of outputs and takes minutes from here on. What
/// `Keep` reaches there is far from it: bits serve frequencies of many symbols better.
pub const LARGE_FREQUENCY: usize = 32;

/// The best policy there is, or for many symbols the best of a shape.
pub(super) fn design(request: &Request) -> Result<Designed, Error> {
    let symbols = request.prior.len();
    let frequency = request.objective == Objective::Frequency;
    if symbols > LARGE || (frequency && symbols > LARGE_FREQUENCY) {
        return match keep::design(&request.promise, &request.objective) {
            Ok(found) => {
                let mut designed = shaped(request, found.policy, vec![("lambda", found.lambda)])?;
                (designed.utility, designed.optimum) = (Some(found.value), Some(found.value));
                designed.bound = Some(found.bound);
                Ok(designed)
            }
            // It knows one prior and LIP; these know any context and any claim.
            Err(_) if frequency => best_kept(request),
            Err(error) => Err(error),
        };
    }
    let proposal = match request.objective.losses(request.prior.len())? {
        Some(losses) => linear::optimal(&request.promise, &request.prior, &losses)?,
        None => match posterior::optimal(&request.promise, &request.prior, &request.objective) {
            Err(Error::TooLarge { .. }) if is_box(request) => return around(request),
            found => found?,
        },
    };
    ship(request, proposal, request.objective.is_linear())
}

fn is_box(request: &Request) -> bool {
    matches!(request.promise.context, Context::Within(_))
}

/// The better of two designs.
fn better(objective: &Objective, one: Option<Designed>, other: Designed) -> Designed {
    let Some(one) = one else { return other };
    let worth = |designed: &Designed| match (designed.utility, objective.is_gain()) {
        (Some(value), true) => value,
        (Some(value), false) => -value,
        (None, _) => f64::NEG_INFINITY,
    };
    if worth(&other) > worth(&one) { other } else { one }
}

/// Randomised response or sampling, whichever tells frequencies better.
fn best_kept(request: &Request) -> Result<Designed, Error> {
    let krr = staircase::randomized_response(&request.promise)?;
    let krr = shaped(request, krr.policy, vec![("lambda", krr.lambda)])?;
    Ok(match sampling::design(&request.promise) {
        Ok(found) => {
            let sampled = shaped(request, found.policy, vec![("lambda", found.lambda)])?;
            better(&request.objective, Some(krr), sampled)
        }
        // It draws from a known prior, and there may be none.
        Err(_) => krr,
    })
}

/// Parts of the claimed level at which [`around`] designs.
const PARTS: [f64; 7] = [1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7];

/// For a box with too many corners to list: the optimum for the prior that weighs the objective at a level
/// somewhat below the one claimed, mixed with noise until the whole box is served; the best of a few levels.
fn around(request: &Request) -> Result<Designed, Error> {
    let range = keep::lip_range(&request.promise)?;
    let (lower, upper) = (-range.low().ln(), range.high().ln());
    let mut best: Option<Designed> = None;
    let mut last = None;
    for part in PARTS {
        let range = LiftRange::asymmetric(part * lower, part * upper)?;
        let made = posterior::optimal_lifts(&request.prior, range, &request.objective)
            .map(|proposal| Proposal { bound: None, ..proposal })
            .and_then(|proposal| ship(request, proposal, false));
        match made {
            Ok(designed) => best = Some(better(&request.objective, best, designed)),
            Err(error) => last = Some(error),
        }
    }
    best.ok_or_else(|| last.unwrap_or_else(|| Error::other("claims", "no level was tried")))
}
