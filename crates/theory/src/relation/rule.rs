//! A rule: one implication between two notions, as printed and corrected.

use std::fmt;

use super::{Guarantee, Missing, Notion, Setting};
use undertone_design::measure::delta::Convention;

/// How a printed result stands after checking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Holds as printed, and is sharp in what it uses.
    True,
    /// Holds, but a smaller constant does too.
    Loose,
    /// There are mechanisms that violate it.
    False,
    /// What is printed has no definite meaning.
    IllDefined,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::True => "true",
            Self::Loose => "true but loose",
            Self::False => "false",
            Self::IllDefined => "ill-defined",
        })
    }
}

/// What a guarantee becomes under a rule, or what the rule needs first.
///
/// Forms are monotone: a smaller premise never gives a larger conclusion.
pub type Form = fn(&Guarantee, &Setting) -> Result<Guarantee, Missing>;

/// A rule as its paper prints it.
#[derive(Debug, Clone, Copy)]
pub struct Printed {
    /// The formula, for people.
    pub formula: &'static str,
    /// The formula, for machines; literal, even where it is false.
    pub form: Form,
    /// How it stands.
    pub verdict: Verdict,
}

/// One implication: a guarantee of notion `from` gives one of notion `to`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The notion of the premise.
    pub from: Notion,
    /// The notion of the conclusion.
    pub to: Notion,
    /// If set, the rule is about premises with δ > 0 in this convention only.
    pub convention: Option<Convention>,
    /// What the rule says, in a few words.
    pub name: &'static str,
    /// Paper key and number, or `derived` for what no paper prints.
    pub paper: &'static str,
    /// The corrected formula, for people; E = e^ε, p the smallest probability of the secret.
    pub formula: &'static str,
    /// The formula in a few characters, for the map.
    pub label: &'static str,
    /// As printed, if a paper prints it.
    pub printed: Option<Printed>,
    /// The corrected, sharp form.
    pub corrected: Form,
}

impl Rule {
    /// Whether the rule speaks of guarantees like this one.
    pub(super) fn applies(&self, premise: &Guarantee) -> bool {
        self.from == premise.notion()
            && match self.convention {
                None => premise.is_pure() || premise.convention() == Convention::Conditional,
                Some(convention) => !premise.is_pure() && premise.convention() == convention,
            }
    }

    /// Whether no paper prints it.
    pub fn is_derived(&self) -> bool {
        self.paper == DERIVED
    }
}

/// The citation of rules that no paper prints; each says why it holds.
pub const DERIVED: &str = "derived";

/// Refuses a premise with δ.
pub(super) fn pure(premise: &Guarantee) -> Result<f64, Missing> {
    if premise.is_pure() { Ok(premise.epsilon()) } else { Err(Missing::Pure) }
}

/// The conclusion of a pure rule.
pub(super) fn bound(to: Notion, epsilon: f64) -> Result<Guarantee, Missing> {
    Ok(Guarantee::raw(to, epsilon))
}

/// The conclusion of a rule that carries δ.
pub(super) fn bound_delta(to: Notion, epsilon: f64, delta: f64) -> Result<Guarantee, Missing> {
    Ok(Guarantee::raw(to, epsilon).and_delta(delta, Convention::Conditional))
}
