//! What a plan promises about a person, and how a promise is refused.

use super::belief::Outcome;
use super::law::Law;
use super::{Plan, PlanParts, Variable};
use crate::certificate::Refusal;
use crate::nats::Nats;
use crate::symbol::Token;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One promise. A plan makes one or more, and all hold at once. Levels are as they are printed: a logarithm
/// rounded up to ten places is held against them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanClaim {
    /// LDP of everything one person sends.
    Person {
        /// The most that any two persons' likelihoods may differ.
        ldp: Nats,
    },
    /// Belief in the answer to a question.
    Question {
        /// The question's number.
        which: u32,
        /// What the belief is formed from.
        given: Given,
        /// The most that belief may fall.
        lower: Nats,
        /// The most that belief may rise.
        upper: Nats,
    },
    /// Belief in a secret, given everything one person sends.
    Secret {
        /// The secret's number.
        which: u32,
        /// The most that belief may fall.
        lower: Nats,
        /// The most that belief may rise.
        upper: Nats,
    },
}

/// What a belief about a question is formed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// Everything the person sends.
    All,
    /// The answer to any one item that has the question, alone.
    Own,
}

/// The inequality of a claim that fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanSide {
    /// The likelihoods of two persons.
    Ldp,
    /// Belief rises too far.
    Upper,
    /// Belief falls too far.
    Lower,
}

/// Why a plan is not believed: a policy, or a claim, with what shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanRefusal {
    /// A policy's own claim is false.
    Policy {
        /// The policy's index in the plan.
        index: usize,
        /// Why it is refused.
        refusal: Box<Refusal>,
    },
    /// A claim about the person is false.
    Claim {
        /// The index of the claim.
        index: usize,
        /// The claim.
        claim: PlanClaim,
        /// The inequality that fails.
        side: PlanSide,
        /// What the plan attains; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// What the claim allows.
        allowed: Nats,
        /// Whether that much is attained, or is only a bound on it.
        exact: bool,
        /// The claim and the place in words, with the names of the plan.
        shown: String,
    },
}

impl fmt::Display for PlanRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy { index, refusal } => write!(f, "policy {index}: {refusal}"),
            Self::Claim { index, attained, allowed, exact, shown, .. } => {
                let reach = if *exact { "reaches" } else { "is bounded by" };
                write!(f, "claim {index} is false: {shown} {reach} ")?;
                match attained {
                    Some(attained) => write!(f, "{attained} nats and {allowed} are allowed"),
                    None => write!(f, "no finite level and {allowed} nats are allowed"),
                }
            }
        }
    }
}

impl core::error::Error for PlanRefusal {}

impl PlanClaim {
    /// What is wrong with the claim, if it says nothing about this plan.
    pub(super) fn check(&self, parts: &PlanParts) -> Result<(), &'static str> {
        let about = match *self {
            Self::Person { .. } => return Ok(()),
            Self::Question { which, .. } => Variable::Question(which),
            Self::Secret { which, .. } => Variable::Secret(which),
        };
        if parts.variable(about).is_none() {
            return Err("there is no question or secret of that name");
        }
        if matches!(parts.law, Law::Unknown) {
            return Err(
                "it is about belief and nothing is assumed: give a law, or claim ldp of the person",
            );
        }
        Ok(())
    }

    /// Holds the claim against the plan.
    pub(super) fn hold(&self, index: usize, plan: &Plan) -> Result<(), PlanRefusal> {
        let (about, given, lower, upper) = match *self {
            Self::Person { ldp } => {
                let person = plan.person();
                if person.ldp.is_some_and(|attained| attained <= ldp) {
                    return Ok(());
                }
                return Err(PlanRefusal::Claim {
                    index,
                    claim: *self,
                    side: PlanSide::Ldp,
                    attained: person.ldp,
                    allowed: ldp,
                    exact: person.exact,
                    shown: shown_costs(plan),
                });
            }
            Self::Question { which, given, lower, upper } => {
                (Variable::Question(which), given, lower, upper)
            }
            Self::Secret { which, lower, upper } => {
                (Variable::Secret(which), Given::All, lower, upper)
            }
        };
        // A belief that cannot be examined has no bound.
        let belief = plan.belief(about, given).unwrap_or_default();
        let sides = [
            (PlanSide::Upper, belief.upper, upper, &belief.rise),
            (PlanSide::Lower, belief.lower, lower, &belief.fall),
        ];
        for (side, attained, allowed, outcome) in sides {
            if attained.is_none_or(|attained| attained > allowed) {
                let way = if side == PlanSide::Upper { "rising" } else { "falling" };
                let (claim, exact) = (*self, belief.exact);
                let shown = shown_belief(plan, about, way, outcome.as_ref());
                return Err(PlanRefusal::Claim {
                    index,
                    claim,
                    side,
                    attained,
                    allowed,
                    exact,
                    shown,
                });
            }
        }
        Ok(())
    }
}

/// So many items are named in a refusal.
const SHOWN: usize = 8;

/// LDP of the person in words: the items that count with what they cost.
fn shown_costs(plan: &Plan) -> String {
    let counted = plan.most_telling(|_| true);
    let cost = |&item: &usize| {
        let cost = plan.costs()[item].map_or("no finite level".into(), |nats| format!("{nats}"));
        format!("{} {cost}", plan.parts().item_name(item))
    };
    let mut list: Vec<String> = counted.iter().take(SHOWN).map(cost).collect();
    if counted.len() > SHOWN {
        list.push(format!("{} more", counted.len() - SHOWN));
    }
    let times = match plan.parts().periods {
        1 => String::new(),
        periods => format!(", {periods} times"),
    };
    format!("LDP of the person ({}{times})", list.join(" + "))
}

/// Belief about a variable in words: the value, and what the items released where it moves most.
fn shown_belief(plan: &Plan, about: Variable, way: &str, at: Option<&Outcome>) -> String {
    let parts = plan.parts();
    let variable = parts.variable(about).unwrap_or(0);
    let (name, values) = parts.named(variable);
    let Some(Outcome { value, tokens }) = at else { return format!("belief in {name}, {way},") };
    let told = |(item, token): &(u32, Token)| {
        let outputs = plan.policy_of(*item as usize).outputs();
        let token = match token {
            Token::Index(index) => outputs.label(*index as usize),
            Token::Bits(packed) => format!("bits {}", crate::codec::to_hex(packed)),
        };
        format!("{} = {token}", parts.item_name(*item as usize))
    };
    let tokens: Vec<String> = tokens.iter().take(SHOWN).map(told).collect();
    let place =
        if tokens.is_empty() { String::new() } else { format!(" at {}", tokens.join(", ")) };
    format!("belief in {name} = {}, {way}{place},", values.label(*value as usize))
}
