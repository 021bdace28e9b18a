//! What somebody who asked for a design would rather know before shipping it.

use std::borrow::Cow;

use undertone_core::{Claim, Delta};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Designed, Method};
use undertone_design::mechanism::optimum::LARGE_FREQUENCY;
use undertone_design::objective::Objective as Weighed;
use undertone_design::quantize::PolicySpec;

use crate::number::{self, Round, rounded};

/// All of it in sentences; nothing where there is nothing to say.
pub(super) fn advice(request: &DesignProblem, designed: &Designed) -> Option<String> {
    let mut said: Vec<Cow<'static, str>> = Vec::new();
    let surveyed = request.objective == Weighed::Frequency && request.prior.len() > LARGE_FREQUENCY;
    if surveyed && request.method == Method::Krr {
        said.push(
            "A report of one symbol out of many tells little about frequencies: its variance grows with the square of their number. \
             Use the method optimal, which takes bits where they serve better."
                .into(),
        );
    }
    let slack = request.spec.claims.iter().any(|claim| claim.delta != Delta::ZERO);
    let table = !surveyed && request.method == Method::Optimal;
    if slack && table && !request.objective.is_linear() {
        said.push(
            "This objective cannot make use of a delta: the policy keeps its claims without it. \
             Use hamming, absolute, squared or a matrix of losses to spend it."
                .into(),
        );
    }
    let chosen = matches!(request.method, Method::Optimal | Method::Compact);
    if slack && chosen && request.objective == Weighed::Frequency {
        said.extend(without_delta(request, designed).map(Cow::from));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Where the same claims without their deltas serve better, by how much: shapes of many outputs are certified without a delta
/// only, and what they save is worth more than one.
fn without_delta(request: &DesignProblem, designed: &Designed) -> Option<String> {
    let pure = |claim: &Claim| Claim { delta: Delta::ZERO, ..*claim };
    let claims: Vec<Claim> = request.spec.claims.iter().map(pure).collect();
    let spec = PolicySpec { claims, ..request.spec.clone() };
    let asked = DesignProblem { spec, ..request.clone() };
    // That there is none is nothing to advise.
    let Ok(DesignOutcome::Shipped(other)) = designer::design(&asked) else { return None };
    let (own, better) = (designed.utility?, other.utility?);
    if better >= own * WORTH_SAYING {
        return None;
    }
    let claims: Vec<String> = asked.spec.claims.iter().map(ToString::to_string).collect();
    let shape = other.policy.draft().shape();
    let error = |value: f64| rounded(value, Round::Nearest);
    Some(format!(
        "Without a delta the promise is stronger and the shares are told better: {} alone has n times the variances of all shares of {} (shape {}, {}), and this policy has {}. Blocks and bits are certified without a delta only: leave it out.",
        claims.join(" and "),
        error(better),
        shape.name(),
        number::counted(shape.report_bits().into(), "bit"),
        error(own),
    ))
}

/// Errors that are at least this part of another are as good.
const WORTH_SAYING: f64 = 0.99;
