//! The four shapes of a channel.

use crate::incidence::{Incidence, IncidenceError};
use crate::mass::{KEEP_ONE, PartsError, Row, WEIGHT_ONE};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A finite channel in integers. A closed set: each shape has its own exact check, sampler, codec
/// and vectors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Any channel, one row per input.
    Table(Table),
    /// Keep the input or draw from a base distribution.
    Keep(Keep),
    /// A one-hot input, independent bits out.
    Bits(Bits),
    /// A block of symbols that contains the input or not.
    Incidence(Incidence),
}

/// One [`Row`] per input, all over the same outputs; at most [`Table::MAX_CELLS`] cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    rows: Box<[Row]>,
}

/// With probability λ(x) (units of 2^-40) release x, else draw from the base distribution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    keep: Box<[u64]>,
    base: Row,
}

/// Every symbol has a bit; the input's own bit is set with one probability and every other bit
/// with another (units of 2^-32), independently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    symbols: u32,
    own: u64,
    other: u64,
}

/// Why a channel was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The channel has no rows.
    #[error("the channel is empty: give at least one row")]
    Empty,
    /// Rows over different outputs.
    #[error("row {row} has {found} outputs where row 0 has {expected}")]
    Ragged {
        /// The index of the row.
        row: usize,
        /// The outputs of the first row.
        expected: usize,
        /// The number of outputs of this row.
        found: usize,
    },
    /// More cells than a `Table` may have.
    #[error("a table of {inputs} x {outputs} cells is above the {max} supported: use the shape keep or bits, or merge symbols", max = Table::MAX_CELLS)]
    TooLarge {
        /// The number of rows.
        inputs: usize,
        /// The number of columns.
        outputs: usize,
    },
    /// A row, or the base, is not a distribution.
    #[error("{} {error}", row.map_or("the base".into(), |row| alloc::format!("row {row}")))]
    Row {
        /// The row; `None` for the base of `Keep`.
        row: Option<usize>,
        /// What is wrong with the row.
        error: PartsError,
    },
    /// The keep probabilities and the base differ in size.
    #[error("{keep} keep probabilities for {base} base masses: give one per symbol")]
    Sizes {
        /// The number of keep probabilities.
        keep: usize,
        /// The number of base masses.
        base: usize,
    },
    /// A probability is above one.
    #[error("probability {at} is {value}, above one ({one})")]
    AboveOne {
        /// The index of the probability: a symbol of `Keep`, or 0 (own) and 1 (other) of `Bits`.
        at: usize,
        /// The probability in its unit.
        value: u64,
        /// One in that unit.
        one: u64,
    },
    /// A family of blocks is not well formed.
    #[error(transparent)]
    Incidence(#[from] IncidenceError),
}

impl Table {
    /// The most cells a table may have.
    pub const MAX_CELLS: usize = 1 << 26;

    /// Checks that all rows have the same outputs.
    pub fn new(rows: Vec<Row>) -> Result<Self, ShapeError> {
        let expected = rows.first().ok_or(ShapeError::Empty)?.masses().len();
        for (row, candidate) in rows.iter().enumerate() {
            let found = candidate.masses().len();
            if found != expected {
                return Err(ShapeError::Ragged { row, expected, found });
            }
        }
        if rows.len().saturating_mul(expected) > Self::MAX_CELLS {
            return Err(ShapeError::TooLarge { inputs: rows.len(), outputs: expected });
        }
        Ok(Self { rows: rows.into() })
    }

    /// A table from bare integers, one list of masses per input.
    pub fn from_masses(rows: Vec<Vec<u64>>) -> Result<Self, ShapeError> {
        let check = |(row, masses)| {
            Row::new(masses).map_err(|error| ShapeError::Row { row: Some(row), error })
        };
        Self::new(rows.into_iter().enumerate().map(check).collect::<Result<_, _>>()?)
    }

    /// The rows, one per input.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.rows[0].masses().len()
    }
}

impl Keep {
    /// A channel from its keep probabilities and the masses of its base, one of each per symbol.
    pub fn new(keep: Vec<u64>, base: Vec<u64>) -> Result<Self, ShapeError> {
        if keep.len() != base.len() {
            return Err(ShapeError::Sizes { keep: keep.len(), base: base.len() });
        }
        if let Some(at) = keep.iter().position(|&k| k > KEEP_ONE) {
            return Err(ShapeError::AboveOne { at, value: keep[at], one: KEEP_ONE });
        }
        let base = Row::new(base).map_err(|error| ShapeError::Row { row: None, error })?;
        Ok(Self { keep: keep.into(), base })
    }

    /// λ(x) in units of 2^-40.
    pub fn keep(&self) -> &[u64] {
        &self.keep
    }

    /// The base distribution, over the inputs' own symbols.
    pub fn base(&self) -> &Row {
        &self.base
    }
}

impl Bits {
    /// Checks ranges; `own` and `other` are in units of 2^-32.
    pub fn new(symbols: usize, own: u64, other: u64) -> Result<Self, ShapeError> {
        if symbols == 0 {
            return Err(ShapeError::Empty);
        }
        if symbols > crate::mass::MAX_SYMBOLS {
            return Err(ShapeError::TooLarge { inputs: symbols, outputs: symbols });
        }
        for (at, value) in [own, other].into_iter().enumerate() {
            if value > WEIGHT_ONE {
                return Err(ShapeError::AboveOne { at, value, one: WEIGHT_ONE });
            }
        }
        Ok(Self { symbols: symbols as u32, own, other })
    }

    /// The number of symbols, and of bits.
    pub fn symbols(&self) -> usize {
        self.symbols as usize
    }

    /// The probability that the input's own bit is set.
    pub fn own(&self) -> u64 {
        self.own
    }

    /// The probability that any other bit is set.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Up to a common factor, the likelihoods of an input whose own bit speaks for it and of one
    /// whose own bit speaks against it, in units of 2^-64. Equal for a channel that says nothing.
    pub(crate) fn likelihoods(&self) -> (u128, u128) {
        let one = u128::from(WEIGHT_ONE);
        let (p, q) = (u128::from(self.own), u128::from(self.other));
        let (set, clear) = (p * (one - q), (one - p) * q);
        if set == clear { (1, 1) } else { (set.max(clear), set.min(clear)) }
    }
}

impl Shape {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Table(table) => table.rows.len(),
            Self::Keep(keep) => keep.keep.len(),
            Self::Bits(bits) => bits.symbols(),
            Self::Incidence(incidence) => incidence.symbols(),
        }
    }

    /// The number of outputs; where bits are released, of bits.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Table(table) => table.outputs(),
            Self::Keep(_) | Self::Bits(_) => self.inputs(),
            Self::Incidence(incidence) => incidence.blocks().unwrap_or(incidence.symbols()),
        }
    }

    /// Whether a token is one bit per symbol instead of an index.
    pub fn releases_bits(&self) -> bool {
        match self {
            Self::Table(_) | Self::Keep(_) => false,
            Self::Bits(_) => true,
            Self::Incidence(incidence) => incidence.releases_bits(),
        }
    }

    /// The bits that one token takes where tokens are packed.
    pub fn report_bits(&self) -> u32 {
        let outputs = self.outputs() as u32;
        if self.releases_bits() { outputs } else { u32::BITS - (outputs - 1).leading_zeros() }
    }

    /// The name of the shape in a policy's document.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Table(_) => "table",
            Self::Keep(_) => "keep",
            Self::Bits(_) => "bits",
            Self::Incidence(_) => "incidence",
        }
    }
}
