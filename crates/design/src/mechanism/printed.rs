//! The papers' printed formulas, held to their word: what they claim and what they attain.

use undertone_core::{Bound, Claim, Context, Delta, Epsilon, Subject, WEIGHT_ONE};

use super::{Mechanism, randomized_response, uncertain};
use crate::designer::{
    DesignOutcome, DesignProblem, Missed, PRINTED_SLACK, PrintedLevel, own_value, ship,
};
use crate::{Channel, Error, protection};

/// The formula a paper prints for a context, valid or not.
#[derive(Debug, Clone, Copy)]
pub struct Printed;

impl Mechanism<DesignProblem> for Printed {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "published"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        published(problem)
    }
}

/// The one two-sided LIP level of a request for a formula that has only one parameter.
pub(super) fn lip_level(problem: &DesignProblem) -> Result<f64, Error> {
    match problem.spec.claims.as_slice() {
        [claim @ Claim { bound: Bound::Lip { lower, upper }, .. }]
            if lower == upper && claim.about == Subject::Input && claim.delta == Delta::ZERO =>
        {
            Ok(protection::level(claim))
        }
        _ => Err(Error::other(
            "protection",
            format!(
                "the method {} is for one two-sided claim without delta: give one protection lip:E",
                problem.method.name()
            ),
        )),
    }
}

/// JSTL21 (19) for a known prior, the printed uncertain-prior formula for a binary box.
fn published(problem: &DesignProblem) -> Result<DesignOutcome, Error> {
    let fail = |said: &str| Error::other("method published", said);
    let claimed = lip_level(problem)?;
    let channel = match &problem.spec.context {
        Context::Known(_) => randomized_response::published(&problem.prior, claimed)?,
        Context::Within(within) if within.lower().len() == 2 => {
            let part = |end: u64| end as f64 / WEIGHT_ONE as f64;
            let interval =
                uncertain::Interval::new(part(within.lower()[1]), part(within.upper()[1]))?;
            uncertain::published(interval, claimed)?
        }
        _ => {
            return Err(fail("no paper prints a formula for this context; use the method optimal"));
        }
    };
    let refusal = problem.spec.verify(&channel)?.err();
    let attained = match &refusal {
        Some(refusal) => {
            refusal.attained.ln_up().map_or(f64::INFINITY, |n| n.units() as f64 / 1e10)
        }
        None => claimed,
    };
    let level = PrintedLevel { claimed, attained };
    match refusal {
        Some(refusal) if attained > claimed + PRINTED_SLACK && !problem.accept => {
            Ok(DesignOutcome::Missed(Box::new(Missed { level, refusal, channel })))
        }
        Some(_) if attained > claimed + PRINTED_SLACK => {
            let accepted = accept(problem, &channel)?;
            let mut designed = ship(&accepted, own_value(problem, channel)?, true)?;
            designed.published = Some(level);
            Ok(DesignOutcome::Shipped(Box::new(designed)))
        }
        _ => {
            let mut designed = ship(problem, own_value(problem, channel)?, true)?;
            designed.published = Some(level);
            Ok(DesignOutcome::Shipped(Box::new(designed)))
        }
    }
}

/// The request with its claims replaced by what the printed channel attains.
pub(crate) fn accept(problem: &DesignProblem, channel: &Channel) -> Result<DesignProblem, Error> {
    let mut accepted = problem.clone();
    let largest = Epsilon::LARGEST;
    accepted.spec.claims = vec![Claim::lip(largest)];
    let draft = match accepted.spec.verify(channel)? {
        Ok(policy) => policy,
        Err(refusal) => return Err(Error::other("method published", refusal.to_string())),
    };
    let attained = draft.certificate().input.lip().and_then(|ratio| ratio.ln_up());
    let attained = attained.ok_or_else(|| {
        Error::other("method published", "the printed channel leaks without bound")
    })?;
    let epsilon = Epsilon::at_most(attained)
        .map_err(|error| Error::other("method published", error.to_string()))?;
    accepted.spec.claims = vec![Claim::lip(epsilon)];
    Ok(accepted)
}
