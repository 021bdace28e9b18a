//! Probabilities as integers: what is checked is what is sampled.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// One in units of 2^-48, the unit of an output's mass.
pub const MASS_ONE: u64 = 1 << 48;
/// One in units of 2^-32, the unit of a prior's weights and of the probabilities of `Bits`.
pub const WEIGHT_ONE: u64 = 1 << 32;
/// One in units of 2^-40, the unit of the probability of keeping the input.
pub const KEEP_ONE: u64 = 1 << 40;
/// The most symbols an alphabet may have.
pub const MAX_SYMBOLS: usize = 1 << 24;

/// Why a list of integers is not a distribution in its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// The list has no entries.
    #[error("is empty: give at least one entry")]
    Empty,
    /// The list has more than [`MAX_SYMBOLS`] entries.
    #[error("has {found} entries, more than the {MAX_SYMBOLS} supported: merge rare symbols")]
    TooMany {
        /// The number of entries.
        found: usize,
    },
    /// The entries do not sum to one in their unit.
    #[error("sums to {found} where exactly {expected} is needed")]
    Sum {
        /// The sum of the entries.
        found: u128,
        /// The sum needed.
        expected: u64,
    },
}

/// Refuses a list that is empty, too long, or does not sum to exactly `one`.
fn check_parts(parts: &[u64], one: u64) -> Result<(), PartsError> {
    if parts.is_empty() {
        return Err(PartsError::Empty);
    }
    if parts.len() > MAX_SYMBOLS {
        return Err(PartsError::TooMany { found: parts.len() });
    }
    let found: u128 = parts.iter().map(|&p| u128::from(p)).sum();
    if found != u128::from(one) {
        return Err(PartsError::Sum { found, expected: one });
    }
    Ok(())
}

/// A distribution over outputs: masses in units of 2^-48 that sum to exactly [`MASS_ONE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row(Box<[u64]>);

impl Row {
    /// A distribution from its masses, which must sum to exactly [`MASS_ONE`].
    pub fn new(masses: Vec<u64>) -> Result<Self, PartsError> {
        check_parts(&masses, MASS_ONE)?;
        Ok(Self(masses.into()))
    }

    /// The masses in units of 2^-48.
    pub fn masses(&self) -> &[u64] {
        &self.0
    }
}

/// A distribution over inputs: weights in units of 2^-32 that sum to exactly [`WEIGHT_ONE`].
/// Symbols without mass are legal; every claim holds for them too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prior(Box<[u64]>);

impl Prior {
    /// A distribution from its weights, which must sum to exactly [`WEIGHT_ONE`].
    pub fn new(weights: Vec<u64>) -> Result<Self, PartsError> {
        check_parts(&weights, WEIGHT_ONE)?;
        Ok(Self(weights.into()))
    }

    /// The weights in units of 2^-32.
    pub fn weights(&self) -> &[u64] {
        &self.0
    }

    /// This prior with its symbols in another order: symbol i is symbol `order[i]` of this one.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        Self(order.iter().map(|&x| self.0[x]).collect())
    }

    /// The number of symbols, those without mass included.
    #[expect(clippy::len_without_is_empty, reason = "a prior is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
