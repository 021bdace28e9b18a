//! Why no answer was given: the field, the value and the fix.

use undertone_core::{Alphabet, AlphabetView, PlanId, Policy, PolicyId};

/// Lists of more symbols than this are shortened in messages.
const LISTED: usize = 8;
/// Longer names are cut in messages.
const LONGEST: usize = 32;

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
    /// A tally or a response of another plan.
    #[error("made under plan {found}, not {expected}: keep one tally per plan")]
    Plan {
        /// The plan needed.
        expected: PlanId,
        /// The plan found.
        found: PlanId,
    },
    /// A response the plan does not permit.
    #[error("not a response of the plan: {problem}")]
    Response {
        /// What is wrong with it.
        problem: String,
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
        "policy {policy} asks about {found} and the first one about {expected}: pool policies over the same symbols, in any order"
    )]
    Alphabet {
        /// The odd one.
        policy: PolicyId,
        /// Its symbols, shortened.
        found: String,
        /// The symbols of the first policy, shortened.
        expected: String,
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
    /// An index of a category there is not.
    #[error("category {code} does not exist: there are {size}, counted from 0")]
    Code {
        /// The index found.
        code: u32,
        /// How many categories there are.
        size: usize,
    },
    /// Too large to write out.
    #[error(
        "{what} would need {cells} cells, above the {limit} supported: use keep or bits policies, or merge symbols"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        cells: usize,
        /// The limit.
        limit: usize,
    },
    /// A formula that cannot be read.
    #[error("formula, at character {place} ({near}): {problem}")]
    Formula {
        /// Which character, from 1.
        place: usize,
        /// What stands there.
        near: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A sample's design that cannot be used.
    #[error(transparent)]
    Sample(#[from] crate::SampleError),
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

    pub(crate) fn alphabet(policy: &Policy, expected: &Alphabet) -> Self {
        let (found, expected) = (listed(policy.draft().inputs()), listed(expected));
        Self::Alphabet { policy: policy.id(), found, expected }
    }

    pub(crate) fn response(problem: &dyn std::fmt::Display) -> Self {
        Self::Response { problem: problem.to_string() }
    }

    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }
}

/// The symbols of an alphabet, for a message.
fn listed(alphabet: &Alphabet) -> String {
    let size = alphabet.len();
    let shown = match alphabet.view() {
        AlphabetView::Indices(_) => return format!("{size} unnamed symbols"),
        AlphabetView::Bins { edges, .. } => {
            return format!("{size} bins from {} to {}", edges[0], edges[size]);
        }
        _ if size > LISTED => LISTED / 2,
        _ => size,
    };
    let label = |x: usize| alphabet.label(x).chars().take(LONGEST).collect::<String>();
    let list = (0..shown).map(|x| format!("{:?}", label(x))).collect::<Vec<_>>().join(", ");
    if shown < size { format!("{list}, … ({size} symbols)") } else { list }
}
