//! Why no answer was given: the field, the value and the fix.

use undertone_core::PolicyId;

/// An input that cannot be used, or a question these reports cannot answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A token, index or row of bits the policy never releases.
    #[error("report {at} is not an output of the policy ({found}): was it made under another one?")]
    Token {
        /// Which of the reports given, from 0.
        at: usize,
        /// What it was.
        found: String,
    },
    /// Indices for a policy that releases bits, or the other way round.
    #[error("this policy releases {releases}: add those to its tally")]
    Shape {
        /// What it releases.
        releases: &'static str,
    },
    /// A tally of another policy.
    #[error("the tally was made under policy {found}, not {expected}: keep one tally per policy")]
    Policy {
        /// The policy needed.
        expected: PolicyId,
        /// The policy of the tally.
        found: PolicyId,
    },
    /// More reports than a u64 can count.
    #[error("more than 2^64 reports: start another tally")]
    Overflow,
    /// A stored tally that contradicts itself.
    #[error("not a tally: {problem}")]
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
    /// Groups whose answers are not about the same symbols.
    #[error(
        "policy {policy} asks about other symbols than the first one: pool policies over one input alphabet"
    )]
    Alphabet {
        /// The odd one.
        policy: PolicyId,
    },
    /// Nothing to estimate from.
    #[error("no reports: an estimate needs at least one")]
    NoReports,
    /// A number outside its range.
    #[error("{what} is {value}: it must be {range}")]
    Range {
        /// The field.
        what: &'static str,
        /// What was found.
        value: f64,
        /// The permitted range, in words.
        range: &'static str,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has {found} entries where {expected} are needed")]
    Size {
        /// The field.
        what: &'static str,
        /// The size needed.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// Too large to write out.
    #[error(
        "{what} would need {cells} cells, above the {limit} supported: use keep or bits policies, or merge symbols"
    )]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size.
        cells: usize,
        /// The limit.
        limit: usize,
    },
    /// The question has no answer for these policies.
    #[error("{what}: {problem}")]
    Unanswerable {
        /// What was asked.
        what: &'static str,
        /// Why not, and what to do instead.
        problem: String,
    },
}

impl Error {
    pub(crate) fn unanswerable(what: &'static str, problem: impl Into<String>) -> Self {
        Self::Unanswerable { what, problem: problem.into() }
    }

    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }
}
