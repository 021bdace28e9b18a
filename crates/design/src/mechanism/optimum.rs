//! The optimum: which method finds it, by objective, context and number of symbols.

use undertone_core::{Bound, Context};

use super::incidence::{self, Blocks, Kind, Limits};
use super::{Mechanism, keep, linear, posterior, robust, staircase, unary};
use crate::Error;
use crate::designer::{DesignOutcome, DesignProblem, Designed, shaped, ship};
use crate::objective::Objective;

/// Above this many symbols the optimum is sought among channels that are not written out.
pub const LARGE: usize = 300;

/// Above this many symbols that is so for `frequency`, whose optimum has hundreds of outputs and takes minutes from
/// here on.
pub const LARGE_FREQUENCY: usize = 32;

/// Up to so many symbols the optimum for `frequency` is found to all digits.
const EXACT_FREQUENCY: usize = 8;

/// Errors that differ by less than this part are the same.
const SAME: f64 = 1e-6;

/// The best channel there is.
#[derive(Debug, Clone, Copy)]
pub struct Optimum;

impl Mechanism<DesignProblem> for Optimum {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "optimal"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        best(problem).map(DesignOutcome::from)
    }
}

/// For shares: the best of the channels that are not written out, found in no time for any number of symbols.
#[derive(Debug, Clone, Copy)]
pub struct Compact;

impl Mechanism<DesignProblem> for Compact {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "compact"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        compact(problem).map(DesignOutcome::from)
    }
}

/// The best policy there is, or for many symbols the best of the shapes that are not written out.
fn best(problem: &DesignProblem) -> Result<Designed, Error> {
    let DesignProblem { spec, prior, objective, .. } = problem;
    match objective {
        Objective::Frequency if prior.len() > LARGE_FREQUENCY => return compact(problem),
        _ if prior.len() > LARGE => return for_many_symbols(problem),
        _ => {}
    }
    if let Some(losses) = objective.losses(prior.len())? {
        return ship(problem, linear::optimal(spec, prior, &losses)?, true);
    }
    let believed = spec.claims.iter().any(|claim| !matches!(claim.bound, Bound::Ldp(_)));
    match spec.context {
        Context::Within(_) if believed => over_a_box(problem),
        _ => {
            let solved = posterior::optimal(spec, prior, objective)
                .and_then(|proposal| ship(problem, proposal, false));
            let found = match solved {
                // Where levels are so small that the solver gives up, shapes with a formula still serve.
                Err(error) if *objective == Objective::Frequency => {
                    let found = compact(problem).ok();
                    return found.filter(|found| found.blind().is_none()).ok_or(error);
                }
                solved => solved?,
            };
            if *objective == Objective::Frequency {
                return smaller_or_better(problem, found);
            }
            Ok(found)
        }
    }
}

/// The table that was found for shares, or a shape that is not written out where that is better: reports of the table are too large, the
/// search for it ended before its optimum, or the shape tells as much in fewer bits.
fn smaller_or_better(problem: &DesignProblem, found: Designed) -> Result<Designed, Error> {
    let bits = |designed: &Designed| designed.policy.draft().shape().report_bits();
    if problem.max_bits.is_some_and(|most| bits(&found) > most) {
        return compact(problem);
    }
    if problem.prior.len() <= EXACT_FREQUENCY {
        return Ok(found);
    }
    let error = |designed: &Designed| designed.utility.unwrap_or(f64::INFINITY);
    match compact(problem) {
        Ok(other)
            if error(&other) < error(&found) * (1.0 - SAME)
                || bits(&other) < bits(&found) && error(&other) <= error(&found) * (1.0 + SAME) =>
        {
            Ok(Designed { bound: found.bound, ..other })
        }
        _ => Ok(found),
    }
}

/// For every prior of a box.
fn over_a_box(problem: &DesignProblem) -> Result<Designed, Error> {
    let DesignProblem { spec, prior, objective, .. } = problem;
    let exact = robust::by_corners(spec, prior, objective);
    if let Ok(designed) = exact.and_then(|proposal| ship(problem, proposal, false)) {
        return Ok(designed);
    }
    let mut last = Error::other("the prior box", "no channel was found for it");
    let mut best: Option<Designed> = None;
    for proposal in robust::around(spec, prior, objective)? {
        match ship(problem, proposal, false) {
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

/// The best of the shapes whose size does not grow with the square of the alphabet, for the shares of many symbols: by the
/// predicted error, and by the size of reports among those whose error is within a hundredth of the least.
fn compact(problem: &DesignProblem) -> Result<Designed, Error> {
    let DesignProblem { spec, prior, objective, max_bits, .. } = problem;
    if !matches!(objective, Objective::Frequency) {
        let said = "it is for the objective frequency; use the method optimal, krr or sampling";
        return Err(Error::other("method compact", said));
    }
    let kept = keep::design(spec, objective);
    let bound = kept.as_ref().ok().map(|kept| kept.bound);
    let bits = |encoding| {
        let found = unary::design(spec, encoding)?;
        shaped(problem, found.policy, vec![("own", found.own), ("other", found.other)])
    };
    let fits = |bits: usize| max_bits.is_none_or(|most| bits <= most as usize);
    let mut candidates = vec![
        kept.and_then(|found| shaped(problem, found.policy, vec![("lambda", found.lambda)])),
        staircase::randomized_response(spec)
            .and_then(|found| shaped(problem, found.policy, vec![("lambda", found.lambda)])),
        incidence::designed(problem, Blocks::Numbered(Kind::Any)),
    ];
    // Under claims about belief a prior makes blocks of its own worth looking for.
    if Limits::of(spec).are_about_belief() && matches!(spec.context, Context::Known(_)) {
        candidates.push(incidence::designed(problem, Blocks::Balanced));
        if prior.len() <= SPLIT {
            candidates.push(incidence::split(problem));
        }
    }
    if fits(prior.len()) {
        candidates.push(bits(unary::Encoding::Optimised));
        candidates.push(bits(unary::Encoding::Symmetric));
        candidates.push(incidence::designed(problem, Blocks::Subset));
    }
    let mut last = Error::other("claims", "no mechanism meets them");
    let mut found = Vec::new();
    for candidate in candidates {
        match candidate {
            Ok(designed) => found.push(designed),
            Err(error) => last = error,
        }
    }
    found.retain(|designed| fits(designed.policy.draft().shape().report_bits() as usize));
    let error = |designed: &Designed| designed.utility.unwrap_or(f64::INFINITY);
    let bits = |designed: &Designed| designed.policy.draft().shape().report_bits();
    let least = |found: &[Designed]| found.iter().map(error).fold(f64::INFINITY, f64::min);
    if max_bits.is_none() {
        let best = least(&found);
        found.retain(|designed| bits(designed) <= UNASKED_BITS);
        if least(&found) > UNASKED_LOSS * best {
            return Err(too_large(prior.len()));
        }
    }
    let least = least(&found);
    found.retain(|designed| error(designed) <= least * NEAR);
    let smallest =
        |a: &Designed, b: &Designed| bits(a).cmp(&bits(b)).then(error(a).total_cmp(&error(b)));
    let mut designed = found.into_iter().min_by(smallest).ok_or(last)?;
    designed.bound = bound;
    Ok(designed)
}

/// Reports of more bits are taken only where they are asked for.
const UNASKED_BITS: u32 = 1 << 20;

/// Nor is a shape whose error is so many times that of larger reports.
const UNASKED_LOSS: f64 = 2.0;

fn too_large(symbols: usize) -> Error {
    let most = incidence::most_symbols();
    let problem = format!(
        "a report that tells the shares of {symbols} symbols takes {symbols} bits, above the {UNASKED_BITS} that are taken unasked, because no family of blocks has room for more than {most} symbols: design for {most} symbols or fewer, give {symbols} if such reports are meant, or look for frequent values among too many to list with `undertone hitters`"
    );
    Error::other("max_bits", problem)
}

/// Priors over more symbols are not split into head and tail unasked: it takes seconds, and blocks of equal mass do better.
const SPLIT: usize = 128;

/// Errors within this factor of the least are as good: smaller reports decide.
const NEAR: f64 = 1.01;

/// One loss over many symbols.
fn for_many_symbols(problem: &DesignProblem) -> Result<Designed, Error> {
    if !matches!(problem.objective, Objective::Hamming) {
        return Err(Error::TooLarge {
            what: format!("{} symbols for the objective {}", problem.prior.len(), problem.objective.name()),
            size: problem.prior.len(),
            limit: LARGE,
            fix: "put numbers into fewer bins, merge symbols, or choose the objective frequency or hamming, or the method krr, oue or sampling".into(),
        });
    }
    let found = keep::design(&problem.spec, &problem.objective)?;
    let mut designed = shaped(problem, found.policy, vec![("lambda", found.lambda)])?;
    designed.bound = Some(found.bound);
    Ok(designed)
}
