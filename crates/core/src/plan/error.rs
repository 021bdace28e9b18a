//! Why parts do not make a plan.

use super::claim::PlanRefusal;
use super::document::PlanDecodeError;
use crate::mass::MAX_SYMBOLS;
use crate::plan::PlanDraft;
use crate::policy::DraftError;
use alloc::boxed::Box;
use alloc::string::String;

/// Why the parts of a plan do not fit together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Too few or too many of something.
    #[error("{found} {what}: a plan has {least} to {most}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How few there may be.
        least: usize,
        /// How many there may be.
        most: usize,
    },
    /// A name is empty or too long.
    #[error("the name of {what} {at} must have 1 to 200 bytes")]
    Name {
        /// A question or a secret.
        what: &'static str,
        /// Its number among all variables.
        at: usize,
    },
    /// Two questions or secrets have one name.
    #[error("{name:?} is the name of two questions or secrets: names must differ")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A wording is too long.
    #[error("the wording of question {question:?} has more than 2000 bytes")]
    Wording {
        /// The question's name.
        question: String,
    },
    /// The law of the data is no law, or not one over these variables.
    #[error("law: {0}")]
    Law(#[from] LawError),
    /// An item's questions do not exist, repeat, are out of order, or are too many.
    #[error(
        "item {item}: its questions must exist, differ, be in the plan's order and be 1 to {most}",
        most = PlanDraft::MAX_COMBINED
    )]
    Questions {
        /// The item's number.
        item: usize,
    },
    /// An item names a policy the plan does not have.
    #[error("item {item}: {what} {index} is not in the plan's list of policies")]
    Reference {
        /// The item's number.
        item: usize,
        /// The field.
        what: &'static str,
        /// The index it has.
        index: u32,
    },
    /// A policy for other answers than the question has.
    #[error(
        "item {item}: its policy is for other answers than question {question:?} has: use the same symbols in the same order"
    )]
    Answers {
        /// The item's number.
        item: usize,
        /// The question's name.
        question: String,
    },
    /// A policy for another number of combinations than the questions have.
    #[error(
        "item {item}: its questions have {expected} combinations of answers, so its policy's inputs must be {expected} bare indices"
    )]
    Combined {
        /// The item's number.
        item: usize,
        /// How many combinations there are.
        expected: usize,
    },
    /// Too many combinations.
    #[error(
        "item {item}: its questions have more than {MAX_SYMBOLS} combinations of answers: combine fewer"
    )]
    TooLarge {
        /// The item's number.
        item: usize,
    },
    /// The second channel does not take what the first releases.
    #[error(
        "item {item}: the inputs of its fresh policy must be the outputs of its policy, which releases no bits"
    )]
    Fresh {
        /// The item's number.
        item: usize,
    },
    /// A question in no item.
    #[error("question {question:?} is in no item: ask it, or declare it as a secret")]
    NotAsked {
        /// The question's name.
        question: String,
    },
    /// A policy no item uses.
    #[error("policy {policy} is used by no item: leave it out")]
    Unused {
        /// Its index in the list of policies.
        policy: usize,
    },
    /// A split questionnaire that is none.
    #[error(
        "{asked} are asked of {drawn} items with a weight: ask at least 1 and fewer than all, and give weight 0 to what everybody answers"
    )]
    Asked {
        /// How many are asked.
        asked: usize,
        /// How many can be drawn.
        drawn: usize,
    },
    /// A claim that says nothing about this plan.
    #[error("claim {index}: {problem}")]
    Claim {
        /// The index of the claim.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The provenance.
    #[error(transparent)]
    Provenance(DraftError),
}

/// Why a law of a person's data was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LawError {
    /// Secrets without a law that connects them to the questions.
    #[error("there are secrets and nothing is assumed about the data: give a tree or points")]
    Secrets,
    /// Not one node per variable, or a list over another alphabet.
    #[error(
        "variable {variable}: {found} entries where {expected} are needed: the law is over other alphabets"
    )]
    Sizes {
        /// The variable's number, questions first.
        variable: usize,
        /// How many entries are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A parent that does not exist, or a circle of parents.
    #[error("variable {variable}: its parent does not exist, or it is its own ancestor")]
    Parent {
        /// The variable's number, questions first.
        variable: usize,
    },
    /// No points, or too many.
    #[error("{found} points: give 1 to {most}", most = super::law::MAX_POINTS)]
    Count {
        /// How many there are.
        found: usize,
    },
    /// A point without weight, of another length, or with a value that does not exist.
    #[error("point {point}: it needs a weight above 0 and the index of a value for every variable")]
    Point {
        /// The point's number.
        point: usize,
    },
    /// Points that are not in strictly increasing order.
    #[error("point {point} is not above the one before it: sort the points and add up repeats")]
    Order {
        /// The point's number.
        point: usize,
    },
    /// The points do not sum to one.
    #[error("the points' weights sum to {found} where exactly {} is needed", crate::mass::MASS_ONE)]
    Sum {
        /// What they sum to.
        found: u128,
    },
    /// A value that cannot occur.
    #[error(
        "value {value} of variable {variable} has probability nought: leave it out or give it some"
    )]
    Nought {
        /// The variable's number, questions first.
        variable: usize,
        /// The value's index.
        value: usize,
    },
}

/// Why a document gives no plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanReadError {
    /// The text is not a plan document.
    #[error(transparent)]
    Document(#[from] PlanDecodeError),
    /// A policy or a claim of the document is false.
    #[error(transparent)]
    Refused(#[from] Box<PlanRefusal>),
}
