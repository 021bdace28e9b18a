//! From what is known about the data, a protection and an objective to a verified policy.
//!
//! [`design`] is the one function behind `undertone design`, Python's `undertone.design()` and every round of a curator's
//! survey; [`solve`] is its first half, which gives the policy without the comparisons a reader wants beside it. [`Design`] builds the request step by
//! step:
//!
//! ```
//! use undertone::design::{Design, Objective};
//!
//! let policy = Design::new(["no", "yes"])
//!     .prior([0.9, 0.1])
//!     .protect("lip:1")
//!     .objective(Objective::Frequency)
//!     .policy()?;
//! assert_eq!(policy.draft().inputs().len(), 2);
//! # Ok::<(), undertone::Error>(())
//! ```

mod advice;
mod at_shares;
mod builder;
mod codebook;
mod context;
mod many;
mod method;
mod numbers;
mod objective;
mod protection;
mod report;
mod request;
mod symbols;

pub use at_shares::{half_width, lip_at, share_variance};
pub use builder::Design;
pub(crate) use context::Known;
pub(crate) use context::provenance;
pub use context::{DesignContext, SecretLaw};
pub use many::{
    GroupDesign, GroupTells, ManyCompared, ManyDesignReport, ManyDesignRequest, PriorTable,
    design_many,
};
pub use method::{DesignMethod, gaussian_sigma, laplace_scale};
pub use objective::{Losses, Objective};
pub use protection::Protection;
pub use report::{
    CellRefusal, ClaimAlone, CodebookReport, DesignAttained, DesignComparison, DesignDetails,
    DesignParameters, DesignReport, KeptReport, NumberDetails, NumberRefusal, PrintedReport,
    RefusedDesign, RefusedDetails, ShapeReport, SymbolDetails, UtilityBound, VerifiedDesign,
};
pub use request::{
    AccuracyGoal, AssumedLaw, DesignRequest, NumberOptions, People, convention, points, range,
};
pub use undertone_design::continuous::Parameter;
pub use undertone_design::mechanism::gaussian::Sigma;
pub use undertone_design::mechanism::laplace::Scale;

use undertone_core::Policy;
use undertone_design::designer::Designed;
use undertone_design::objective::Objective as Weighed;

use crate::error::mention;
use crate::number::{Round, rounded};
use crate::{Error, ErrorCode};

/// Designs as asked and says what an honest reader wants beside the policy: what it is worth, what it attains, and
/// how that compares with LDP.
pub fn design(request: &DesignRequest) -> Result<DesignReport, Error> {
    solve(request)?.report()
}

/// Designs, rounds, repairs and verifies, and no more.
pub fn solve(request: &DesignRequest) -> Result<Solution, Error> {
    Ok(Solution(match numbers::wanted(request)? {
        true => Solved::Numbers(Box::new(numbers::solve(request)?)),
        false => Solved::Symbols(Box::new(symbols::solve(request)?)),
    }))
}

/// What was found for a request: a verified policy, or a printed formula that does not keep its claim.
pub struct Solution(Solved);

enum Solved {
    Symbols(Box<symbols::SymbolSolution>),
    Numbers(Box<numbers::NumberSolution>),
}

impl Solution {
    /// The policy, if the claims are kept.
    pub fn policy(&self) -> Option<&Policy> {
        match &self.0 {
            Solved::Symbols(found) => found.policy(),
            Solved::Numbers(found) => found.policy(),
        }
    }

    /// The method that found it.
    pub fn method(&self) -> &'static str {
        match &self.0 {
            Solved::Symbols(found) => found.request.method.name(),
            Solved::Numbers(found) => found.method,
        }
    }

    /// The policy; where the claims are not kept, the refusal with the cell that shows it.
    pub fn into_policy(self) -> Result<Policy, Error> {
        match self.policy() {
            Some(policy) => Ok(policy.clone()),
            None => self.report()?.into_policy(),
        }
    }

    /// Everything a reader wants beside the policy.
    pub fn report(&self) -> Result<DesignReport, Error> {
        match &self.0 {
            Solved::Symbols(found) => found.report(),
            Solved::Numbers(found) => found.report(),
        }
    }
}

impl DesignRequest {
    /// Whether the policy tells too little to be shipped.
    fn is_defeated(&self, designed: &Designed, goal: &Weighed) -> bool {
        !self.allow_uninformative && designed.blind().is_some_and(|blind| blind.defeats(goal))
    }
}

/// What a policy does not tell, in words; refused if that defeats its purpose and was not allowed.
fn uninformative(
    asked: &DesignRequest,
    designed: &Designed,
    goal: &Weighed,
) -> Result<Option<String>, Error> {
    let Some(blind) = designed.blind() else { return Ok(None) };
    let said = blind.describe(designed.policy.draft().inputs());
    if asked.allow_uninformative || !blind.defeats(goal) {
        return Ok(Some(said));
    }
    Err(Error::new(
        ErrorCode::Uninformative,
        format!(
            "{said}. Use {} frequency, {} krr, sampling or (for numbers) laplace, or a larger epsilon; or {} if this is what you want",
            mention("objective"),
            mention("method"),
            mention("allow_uninformative")
        ),
    ))
}

/// Why a method was taken that nobody asked for.
fn instead(method: &str) -> String {
    format!(
        "The optimum does not tell all numbers apart, so the method {method} was taken, which does."
    )
}

/// Why the objective mean was taken where nobody asked for one.
fn for_means() -> String {
    "The optimum for single numbers does not tell all of them apart, so the objective mean was taken: released numbers whose plain average over many people is unbiased.".into()
}

/// A sentence about a loss that is no less than that of a guess; nothing where it is less.
fn beside_a_guess(loss: &str, utility: f64, blind: f64) -> String {
    if utility < blind {
        return String::new();
    }
    format!(
        " Its {loss} loss of {} is no better than the {} of the best guess without any report: such reports serve shares and means of many people, not single numbers.",
        rounded(utility, Round::Nearest),
        rounded(blind, Round::Nearest)
    )
}
