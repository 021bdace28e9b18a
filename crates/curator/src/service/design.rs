//! From a plan and what is known so far to the verified policy of a round, by the function behind `undertone design`.
//!
//! What people answer is used to estimate shares, so the objective is the summed variance of an efficient estimate of all
//! of them, at the prior that is assumed (or the estimate a box was learnt around, or equal shares). A round claims LIP for
//! what is known: for one prior, for every prior of the box an earlier round gave, or for any, which is LDP.

use undertone::design::{Design, DesignMethod, DesignReport, Objective, VerifiedDesign, design};
use undertone::{Answer, Distribution, Error};
use undertone_core::{Alphabet, Claim, Decimal, Policy, Provenance};
use undertone_wire::{Code, Problem};

use super::plan::{GivenPrior, Plan};
use super::survey::Learned;

/// Up to this many answers the best channel of any shape is sought, while whoever opens the round waits.
const OPTIMAL: usize = 10;

/// What a round assumes about its people.
#[derive(Debug, Clone, PartialEq)]
pub enum Assumed {
    /// Nothing: the round is LDP.
    Nothing,
    /// A prior its owner states.
    Given(GivenPrior),
    /// Any prior in the box learnt from an earlier round.
    Learned(Learned),
}

/// For whom a policy is designed.
#[derive(Debug, Clone, Copy)]
pub struct Audience<'a> {
    /// The survey's id.
    pub survey: &'a str,
    /// The round.
    pub round: u32,
    /// The group.
    pub group: &'a str,
    /// Today, as YYYY-MM-DD.
    pub date: &'a str,
}

/// A verified policy, and how it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The policy.
    pub policy: Policy,
    /// The method that found it.
    pub method: String,
}

/// Designs and verifies the policy of a round.
pub fn policy(
    plan: &Plan,
    answers: &Alphabet,
    assumed: &Assumed,
    audience: Audience<'_>,
) -> Result<Found, Problem> {
    let request = asked(plan, answers, assumed, audience)?.request().map_err(refused)?;
    match design(&request).map_err(refused)? {
        DesignReport::Verified(found) => {
            let VerifiedDesign { policy, method, .. } = *found;
            Ok(Found { policy, method: method.into() })
        }
        missed @ DesignReport::Refused(_) => Err(Problem::new(Code::RefusedClaim, missed.words())),
    }
}

fn refused(error: Error) -> Problem {
    Problem::new(Code::RefusedClaim, error.to_string())
}

/// What a round asks for.
fn asked(
    plan: &Plan,
    answers: &Alphabet,
    assumed: &Assumed,
    audience: Audience<'_>,
) -> Result<Design, Problem> {
    let epsilon = plan.epsilon()?;
    let method = plan.named_method()?.unwrap_or(match answers.len() {
        0..=OPTIMAL => DesignMethod::Optimal,
        _ => DesignMethod::Compact,
    });
    let request = Design::over(answers)
        .provenance(provenance(assumed, audience)?)
        .protect(Claim::lip(epsilon))
        .objective(Objective::Frequency)
        .method(method);
    // Plans and lessons list their probabilities in the order of the survey's answers.
    let request = match assumed {
        Assumed::Nothing => return Ok(request.any_prior()),
        Assumed::Given(given) => request.prior(given.p.clone()),
        Assumed::Learned(Learned { estimate, lower, upper, .. }) => request
            .prior(inside(estimate).map_err(refused)?)
            .prior_within(lower.clone(), upper.clone()),
    };
    let request = match plan.cap()? {
        Some(cap) => request.protect(Claim::ldp(cap)),
        None => request,
    };
    // The best LDP channel keeps LIP under any prior, and may as well claim what it is made for.
    Ok(match method {
        DesignMethod::ExtremalLdp => request.protect(Claim::ldp(epsilon)),
        _ => request,
    })
}

/// An estimate with every share positive: a weight of exactly zero would forget that the answer exists.
fn inside(estimate: &[f64]) -> Result<Distribution, Error> {
    let least = 1e-4 / estimate.len() as f64;
    let shares = estimate.iter().map(|p| p.max(least)).collect();
    Ok(Distribution::normalised("the estimate", shares)?)
}

/// Where the prior came from: part of the policy's identity, and different for every round and group.
fn provenance(assumed: &Assumed, audience: Audience<'_>) -> Result<Provenance, Problem> {
    let Audience { survey, round, group, date } = audience;
    let of = match group {
        undertone_wire::limits::EVERYONE => String::new(),
        group => format!(", group {group}"),
    };
    Ok(match assumed {
        Assumed::Nothing => Provenance {
            source: format!("nothing is assumed (survey {survey}, round {round}{of})"),
            date: date.into(),
            ..Provenance::default()
        },
        Assumed::Given(given) => {
            let source =
                if given.source.is_empty() { "stated by the owner" } else { &given.source };
            Provenance {
                source: format!("{source} (survey {survey}, round {round}{of})"),
                n: given.n,
                date: if given.date.is_empty() { date.into() } else { given.date.clone() },
                ..Provenance::default()
            }
        }
        Assumed::Learned(learned) => {
            let confidence: Decimal = format!("{:.6}", learned.confidence)
                .parse()
                .map_err(|_| Problem::malformed("plan.confidence: give at most six digits"))?;
            Provenance {
                source: format!(
                    "box around the estimate of round {} of survey {survey} (for round {round}{of})",
                    learned.round
                ),
                n: learned.reports,
                date: date.into(),
                confidence: Some(confidence),
                ..Provenance::default()
            }
        }
    })
}
