//! Why an input was refused: the field, the value and the fix.

use std::fmt;
use undertone_numeric::mixture::LinearProgramError;

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
    #[error("{what} is {}: give a finite number", Plain(*.value))]
    NotFinite {
        /// The field, with its index.
        what: String,
        /// The value found.
        value: f64,
    },
    /// A probability is negative.
    #[error("{what} is {}: probabilities must not be negative", Plain(*.value))]
    Negative {
        /// The field, with its index.
        what: String,
        /// The value found.
        value: f64,
    },
    /// Probabilities do not sum to one.
    #[error("{what} {}", sum_words(*.sum))]
    Sum {
        /// The field.
        what: String,
        /// The sum found.
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
    /// Two laws, channels or boxes are not about the same symbols.
    #[error("{what} is about {found} and must be about {expected}: {fix}")]
    Symbols {
        /// Whose symbols do not match.
        what: String,
        /// Its symbols, shortened.
        found: String,
        /// The symbols needed, shortened.
        expected: String,
        /// How they differ, and the way out.
        fix: String,
    },
    /// A number is outside its range.
    #[error("{what} is {}: it must be {range}", Plain(*.value))]
    Range {
        /// The field.
        what: String,
        /// The value found.
        value: f64,
        /// The permitted range, in words.
        range: String,
    },
    /// The problem is too large for an exact answer.
    #[error("{what} has size {size}, but the exact computation stops at {limit}: {fix}")]
    TooLarge {
        /// The field.
        what: String,
        /// The size asked for.
        size: usize,
        /// The largest size that is possible.
        limit: usize,
        /// The way out.
        fix: String,
    },
    /// A number was found whose own witness does not confirm it: floats have too few digits for this case.
    #[error("{what} could not be confirmed by the channel that should attain it: {fix}")]
    Unconfirmed {
        /// The quantity that was computed.
        what: String,
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

/// A number in an error: never with hundreds of zeros.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        let size = value.abs();
        if size != 0.0 && size.is_finite() && !(1e-6..1e15).contains(&size) {
            write!(f, "{value:e}")
        } else {
            write!(f, "{value}")
        }
    }
}

/// What is wrong with a sum of probabilities, and by how much.
fn sum_words(sum: f64) -> String {
    if !sum.is_finite() {
        return "holds numbers too large to add up: give probabilities between 0 and 1".into();
    }
    if sum == 0.0 {
        return "sums to 0: probabilities must sum to 1".into();
    }
    let off = (sum - 1.0).abs();
    if off < 1e-3 {
        return format!(
            "sums to 1 {} {off:.2e}: probabilities must sum to 1, and rounding explains no more than 1e-9 (divide each by their sum)",
            if sum > 1.0 { "plus" } else { "less" }
        );
    }
    // Sixteen digits would show the noise of the addition itself.
    let sum = Plain(format!("{sum:.12e}").parse().unwrap_or(sum));
    format!("sums to {sum}: probabilities must sum to 1 (divide each by {sum})")
}

impl From<LinearProgramError> for Error {
    fn from(error: LinearProgramError) -> Self {
        Self::other("the linear program", error.to_string())
    }
}

impl Error {
    /// A refusal in free words.
    pub fn other(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Other { what: what.into(), problem: problem.into() }
    }

    /// Whether it only says that there is no exact answer: the problem is too large for one, or floats have
    /// too few digits to confirm it. A bound may still be had.
    pub fn leaves_a_bound(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Unconfirmed { .. })
    }

    /// A number outside its range.
    pub fn range(what: impl Into<String>, value: f64, range: impl Into<String>) -> Self {
        Self::Range { what: what.into(), value, range: range.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_told_so_that_the_fix_works() {
        let said = |sum: f64| Error::Sum { what: "prior".into(), sum }.to_string();
        assert_eq!(
            said(0.9),
            "prior sums to 0.9: probabilities must sum to 1 (divide each by 0.9)"
        );
        assert!(said(1.799_999_999_999_999_8).contains("sums to 1.8:"));
        // What is off by little is not printed as the 1 that it must be.
        assert!(said(1.000_000_002).contains("sums to 1 plus 2.00e-9:"));
        assert!(said(1.0 - 5e-8).contains("sums to 1 less 5.00e-8:"));
        // Nobody can divide by these.
        for sum in [f64::INFINITY, f64::NAN, 0.0] {
            assert!(!said(sum).contains("divide"), "{}", said(sum));
        }
        assert!(said(2e300).contains("divide each by 2e300"));
    }

    #[test]
    fn no_number_has_hundreds_of_zeros() {
        for value in [1e300, -1e300, 1e-300, f64::MAX, 123_456_789.5, 0.25, 0.0, f64::NAN] {
            let said = Error::range("alpha", value, "above 1").to_string();
            assert!(said.len() < 60, "{said}");
        }
        assert!(Error::range("alpha", 1e300, "above 1").to_string().contains("1e300"));
    }
}
