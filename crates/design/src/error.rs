//! Why an input was refused: the field, the value and the fix.

/// An input that cannot be used. The message names the field, the value and the fix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list that must hold something is empty.
    #[error("{what} is empty: give at least one entry")]
    Empty {
        /// The field.
        what: String,
    },
    /// A number is NaN or infinite.
    #[error("{what} is {value}: give a finite number")]
    NotFinite {
        /// The field, with its index.
        what: String,
        /// What was found.
        value: f64,
    },
    /// A probability is negative.
    #[error("{what} is {value}: probabilities must not be negative")]
    Negative {
        /// The field, with its index.
        what: String,
        /// What was found.
        value: f64,
    },
    /// Probabilities do not sum to one.
    #[error("{what} sums to {sum}: probabilities must sum to 1 within 1e-9 (divide each by {sum})")]
    Sum {
        /// The field.
        what: String,
        /// What it sums to.
        sum: f64,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has {found} entries where {expected} are needed")]
    Size {
        /// The field.
        what: String,
        /// The size needed.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A number is outside its range.
    #[error("{what} is {value}: it must be {range}")]
    Range {
        /// The field.
        what: String,
        /// What was found.
        value: f64,
        /// The permitted range, in words.
        range: String,
    },
    /// The problem is too large for an exact answer.
    #[error("{what} has size {size}, but the exact computation stops at {limit}: {fix}")]
    TooLarge {
        /// The field.
        what: String,
        /// What was asked.
        size: usize,
        /// What is possible.
        limit: usize,
        /// The way out.
        fix: String,
    },
    /// Under the claims no policy can tell the symbols apart, or this one does not.
    #[error("{problem}")]
    Uninformative {
        /// What is not told, and what to do about it.
        problem: String,
    },
    /// Anything else that needs words of its own.
    #[error("{what}: {problem}")]
    Other {
        /// The field.
        what: String,
        /// What is wrong and how to mend it.
        problem: String,
    },
}

impl Error {
    /// A refusal in free words.
    pub fn other(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Other { what: what.into(), problem: problem.into() }
    }

    /// A number outside its range.
    pub fn range(what: impl Into<String>, value: f64, range: impl Into<String>) -> Self {
        Self::Range { what: what.into(), value, range: range.into() }
    }
}
