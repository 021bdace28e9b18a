//! What `relate` says.

use super::{Counterexample, Guarantee, Missing, Notion, Rule, Verdict};
use undertone_design::Channel;

/// The answer to "what does this guarantee say about that notion?".
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The premise.
    pub from: Guarantee,
    /// The notion asked for.
    pub to: Notion,
    /// The outcome: what follows from the premises.
    pub outcome: RelationOutcome,
}

/// What follows from the premise.
#[derive(Debug, Clone, PartialEq)]
pub enum RelationOutcome {
    /// A guarantee of the notion asked for.
    Holds(Holds),
    /// An implication exists, but it uses something that was not given.
    Needs {
        /// The parts to give.
        missing: Vec<Missing>,
    },
    /// Nothing follows, as a counterexample shows.
    NoImplication(Counterexample),
}

/// A guarantee that follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Holds {
    /// The tightest guarantee found.
    pub guarantee: Guarantee,
    /// Whether it is the exact supremum over all mechanisms that satisfy the premise under the prior.
    pub exact: bool,
    /// A mechanism that attains it, when exact.
    pub witness: Option<Channel>,
    /// The rules that lead to it, in order.
    pub steps: Vec<Step>,
    /// What the closed forms alone give.
    pub closed_form: Option<Guarantee>,
    /// What the papers' own formulas give.
    pub printed: Option<PrintedChain>,
    /// With δ > 0, other pairs (ε,δ) that follow and are neither better nor worse.
    pub alternatives: Vec<Guarantee>,
}

/// One step of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The rule in words.
    pub rule: &'static str,
    /// Paper key and number, or `derived`.
    pub paper: &'static str,
    /// The rule's formula.
    pub formula: &'static str,
    /// The guarantee after this step.
    pub guarantee: Guarantee,
}

impl Step {
    pub(super) fn of(rule: &Rule, guarantee: Guarantee) -> Self {
        Self { rule: rule.name, paper: rule.paper, formula: rule.formula, guarantee }
    }
}

/// What the papers' formulas give, right or wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedChain {
    /// The guarantee they claim; unchecked, it may even be negative.
    pub guarantee: Guarantee,
    /// The steps, with the printed formulas.
    pub steps: Vec<Step>,
    /// The worst verdict along the chain.
    pub verdict: Verdict,
}

impl Answer {
    /// What follows, if something does.
    pub fn holds(&self) -> Option<&Holds> {
        match &self.outcome {
            RelationOutcome::Holds(holds) => Some(holds),
            _ => None,
        }
    }
}
