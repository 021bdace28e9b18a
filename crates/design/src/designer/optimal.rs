//! The optimum: which method finds it, by objective, context and number of symbols.

use undertone_core::{Bound, Context};

use super::{Designed, Request, shaped, ship};
use crate::Error;
use crate::mechanism::{keep, linear, posterior, robust, staircase, unary};
use crate::objective::Objective;

/// Above this many symbols the optimum is sought among channels that are not written out.
pub const LARGE: usize = 300;

/// Above this many symbols that is so for `frequency`, whose optimum has hundreds of outputs and takes minutes from
/// here on.
pub const LARGE_FREQUENCY: usize = 32;

/// The best policy there is, or for many symbols the best of the shapes that are not written out.
pub(super) fn design(request: &Request) -> Result<Designed, Error> {
    let Request { promise, prior, objective, .. } = request;
    match objective {
        Objective::Frequency if prior.len() > LARGE_FREQUENCY => return compact(request),
        _ if prior.len() > LARGE => return for_many_symbols(request),
        _ => {}
    }
    if let Some(losses) = objective.losses(prior.len())? {
        return ship(request, linear::optimal(promise, prior, &losses)?, true);
    }
    let believed = promise.claims.iter().any(|claim| !matches!(claim.bound, Bound::Ldp(_)));
    match promise.context {
        Context::Within(_) if believed => over_a_box(request),
        _ => ship(request, posterior::optimal(promise, prior, objective)?, false),
    }
}

/// For every prior of a box.
fn over_a_box(request: &Request) -> Result<Designed, Error> {
    let Request { promise, prior, objective, .. } = request;
    let exact = robust::by_corners(promise, prior, objective);
    if let Ok(designed) = exact.and_then(|proposal| ship(request, proposal, false)) {
        return Ok(designed);
    }
    let mut last = Error::other("the prior box", "no channel was found for it");
    let mut best: Option<Designed> = None;
    for proposal in robust::around(promise, prior, objective)? {
        match ship(request, proposal, false) {
            Ok(found) => best = Some(better(objective, best, found)),
            Err(error) => last = error,
        }
    }
    best.ok_or(last)
}

/// The one with more of a gain or less of a loss.
fn better(objective: &Objective, best: Option<Designed>, found: Designed) -> Designed {
    let worth = |designed: &Designed| match (designed.utility, objective.is_gain()) {
        (Some(value), true) => value,
        (Some(value), false) => -value,
        (None, _) => f64::NEG_INFINITY,
    };
    match best {
        Some(best) if worth(&best) >= worth(&found) => best,
        _ => found,
    }
}

/// The best of the shapes whose size does not grow with the square of the alphabet, for the shares of many symbols.
pub(super) fn compact(request: &Request) -> Result<Designed, Error> {
    let Request { promise, objective, .. } = request;
    if !matches!(objective, Objective::Frequency) {
        let problem = "it is for the objective frequency; use the method optimal, krr or sampling";
        return Err(Error::other("method compact", problem));
    }
    let kept = keep::design(promise, objective);
    let bound = kept.as_ref().ok().map(|kept| kept.bound);
    let bits = |encoding| {
        let found = unary::design(promise, encoding)?;
        shaped(request, found.policy, vec![("own", found.own), ("other", found.other)])
    };
    let candidates = [
        bits(unary::Encoding::Optimised),
        bits(unary::Encoding::Symmetric),
        kept.and_then(|found| shaped(request, found.policy, vec![("lambda", found.lambda)])),
        staircase::randomized_response(promise)
            .and_then(|found| shaped(request, found.policy, vec![("lambda", found.lambda)])),
    ];
    let mut last = Error::other("claims", "no mechanism meets them");
    let mut best: Option<Designed> = None;
    for candidate in candidates {
        match candidate {
            Ok(found) => best = Some(better(objective, best, found)),
            Err(error) => last = error,
        }
    }
    let mut designed = best.ok_or(last)?;
    designed.bound = bound;
    Ok(designed)
}

/// One loss over many symbols.
fn for_many_symbols(request: &Request) -> Result<Designed, Error> {
    if !matches!(request.objective, Objective::Hamming) {
        return Err(Error::TooLarge {
            what: format!("{} symbols for the objective {}", request.prior.len(), request.objective.name()),
            size: request.prior.len(),
            limit: LARGE,
            fix: "put numbers into fewer bins, merge symbols, or choose the objective frequency or hamming, or the method krr, oue or sampling".into(),
        });
    }
    let found = keep::design(&request.promise, &request.objective)?;
    let mut designed = shaped(request, found.policy, vec![("lambda", found.lambda)])?;
    designed.bound = Some(found.bound);
    Ok(designed)
}
