//! Channels that release a block of symbols: a coin decides whether the block contains the input, then one block of that
//! kind is taken, each about as likely as the others.
//!
//! Which blocks there are is the *family*: all subsets of a size ([`Subsets`]), blocks cut out by linear equations over a
//! finite field ([`Geometry`]), or a list ([`Listed`]). A document has the family's few parameters and the coin; no table is
//! written anywhere. Blocks are taken by an index of 8 bytes, which does not divide evenly among most numbers of
//! blocks, so likelihoods are known between a floor and a ceiling and nothing is assumed uniform.

mod check;
mod field;
mod geometry;
mod listed;
mod subsets;
mod sums;

pub(crate) use check::{Levels, secret_strength, strength, strength_under, weighted_extremes};
pub use geometry::Geometry;
pub use listed::Listed;
pub use subsets::Subsets;
pub use sums::Summed;

use crate::mass::{MASS_ONE, MAX_SYMBOLS};
use alloc::vec::Vec;

/// The most blocks a family may have, where they are numbered.
pub const MAX_BLOCKS: usize = 1 << 24;

/// The blocks that can be released.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Family {
    /// All subsets of one size, released as one bit per symbol.
    Subsets(Subsets),
    /// Blocks that linear equations cut out, released by their number.
    Geometry(Geometry),
    /// Blocks that are listed, released by their number.
    Listed(Listed),
}

/// A coin and a family of blocks over at least two symbols. With probability `coin` (units of 2^-48) a block that contains
/// the input is released, else one that does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incidence {
    symbols: u32,
    coin: u64,
    family: Family,
    levels: Levels,
}

/// Why blocks were refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IncidenceError {
    /// Fewer than two symbols, or more than an alphabet may have.
    #[error("symbols: {found}, where blocks tell 2 to {MAX_SYMBOLS} symbols apart")]
    Symbols {
        /// The number of symbols.
        found: usize,
    },
    /// A coin above one.
    #[error("coin: {found} is above one ({MASS_ONE})")]
    Coin {
        /// The coin in units of 2^-48.
        found: u64,
    },
    /// Subsets that are empty, or everything.
    #[error("size: subsets of {found} of {symbols} symbols; choose 1 to {most}", most = symbols.saturating_sub(1))]
    Size {
        /// The size of a subset.
        found: usize,
        /// The number of symbols.
        symbols: usize,
    },
    /// No field has so many elements.
    #[error("order: no field with at most 4096 elements has {found}; the next one has {next}")]
    Order {
        /// The number of elements asked for.
        found: u32,
        /// The next number of elements that a field has.
        next: u32,
    },
    /// The classes do not divide the elements other than nought.
    #[error("classes: {found} do not divide the {others} elements other than nought evenly", others = order - 1)]
    Classes {
        /// The number of classes.
        found: u32,
        /// The number of elements of the field.
        order: u32,
    },
    /// No inner product is inside, or every one.
    #[error("cosets: {found} of {classes} with zero {zero} puts nothing or everything inside")]
    Cosets {
        /// The number of cosets that are inside.
        found: u32,
        /// The number of classes.
        classes: u32,
        /// Whether nought is inside.
        zero: bool,
    },
    /// Too few coordinates for two different symbols.
    #[error(
        "dimension: {found} is too few: a geometry has at least 2 coordinates, hashing at least 1"
    )]
    Dimension {
        /// The number of coordinates.
        found: u32,
    },
    /// More blocks than can be numbered, or sums over them that take too long.
    #[error(
        "dimension: {dimension} coordinates over {order} elements make too many blocks to number or to sum over; take fewer coordinates"
    )]
    Blocks {
        /// The number of elements of the field.
        order: u32,
        /// The number of coordinates.
        dimension: u32,
    },
    /// The geometry has fewer points than there are symbols.
    #[error(
        "symbols: {symbols} where the geometry has {points} points; the next one has {next} coordinates"
    )]
    Points {
        /// The number of symbols.
        symbols: usize,
        /// The number of points.
        points: u64,
        /// The number of coordinates that has enough points.
        next: u32,
    },
    /// No blocks, or too much of them.
    #[error("blocks: {blocks} with {members} members in all; list 2 to {MAX_BLOCKS} blocks, with every symbol in some of them and at most {most} members", most = Listed::MAX_MEMBERS)]
    List {
        /// The number of blocks.
        blocks: usize,
        /// The number of members of all blocks.
        members: usize,
    },
    /// Members that are not in ascending order, or no symbols.
    #[error(
        "blocks: block {block} lists {found}: members are symbols below {symbols}, ascending, each once"
    )]
    Member {
        /// The number of the block.
        block: usize,
        /// The member that is out of place.
        found: u32,
        /// The number of symbols.
        symbols: usize,
    },
    /// Symbols that are in different numbers of blocks: their rows would not have the same sum.
    #[error(
        "blocks: symbol {symbol} is in {found} blocks where symbol 0 is in {expected}; every symbol must be in equally many"
    )]
    Replication {
        /// The symbol.
        symbol: u32,
        /// The number of blocks it is in.
        found: usize,
        /// The number of blocks symbol 0 is in.
        expected: usize,
    },
    /// Symbols that are in no block, or in all of them.
    #[error("blocks: every symbol is in {found} of {blocks} blocks, so a block tells nothing")]
    Constant {
        /// The number of blocks every symbol is in.
        found: usize,
        /// The number of blocks.
        blocks: usize,
    },
}

impl Incidence {
    /// Checks that the family has room for the symbols; `coin` is in units of 2^-48.
    pub fn new(symbols: usize, coin: u64, family: Family) -> Result<Self, IncidenceError> {
        if !(2..=MAX_SYMBOLS).contains(&symbols) {
            return Err(IncidenceError::Symbols { found: symbols });
        }
        if coin > MASS_ONE {
            return Err(IncidenceError::Coin { found: coin });
        }
        match &family {
            Family::Subsets(subsets) => subsets.check(symbols)?,
            Family::Geometry(geometry) => geometry.check(symbols)?,
            Family::Listed(listed) => listed.check(symbols)?,
        }
        let levels = Levels::new(symbols, coin, &family);
        Ok(Self { symbols: symbols as u32, coin, family, levels })
    }

    /// The number of symbols.
    pub fn symbols(&self) -> usize {
        self.symbols as usize
    }

    /// The probability that the released block contains the input, in units of 2^-48.
    pub fn coin(&self) -> u64 {
        self.coin
    }

    /// The blocks that can be released.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Whether a block is released as one bit per symbol instead of by its number.
    pub fn releases_bits(&self) -> bool {
        matches!(self.family, Family::Subsets(_))
    }

    /// How many blocks there are; `None` for subsets, which are not numbered.
    pub fn blocks(&self) -> Option<usize> {
        self.family.blocks().map(|blocks| blocks as usize)
    }

    /// How many blocks contain a symbol, the same for every symbol; `None` for subsets.
    pub fn replication(&self) -> Option<usize> {
        self.family.replication().map(|blocks| blocks as usize)
    }

    /// The likelihoods of a block from inside and from outside.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// How likely it is that a block which contains one symbol contains another one too, and that a block which does
    /// not contain the one contains the other, each as a numerator over a denominator; `None` if that differs from pair to pair.
    ///
    /// ```
    /// use undertone_core::incidence::{Family, Geometry, Incidence};
    ///
    /// // Seven points and seven lines, three points on a line: two points share one of the three lines of either.
    /// let plane = Geometry::new(2, 3, 1, 0, true)?;
    /// let blocks = Incidence::new(7, 3 << 46, Family::Geometry(plane))?;
    /// assert_eq!(blocks.together(), Some([(1, 3), (2, 4)]));
    /// # Ok::<(), undertone_core::incidence::IncidenceError>(())
    /// ```
    pub fn together(&self) -> Option<[(u64, u64); 2]> {
        let (all, each, both) = match &self.family {
            Family::Subsets(subsets) => {
                let (size, others) = (subsets.size() as u64, self.symbols() as u64 - 1);
                return Some([(size - 1, others), (size, others)]);
            }
            Family::Geometry(geometry) => {
                (geometry.block_count(), geometry.replication(), geometry.pairs())
            }
            Family::Listed(listed) => {
                (listed.blocks() as u64, listed.replication() as u64, listed.pairs()?)
            }
        };
        Some([(both, each), (each - both, all - each)])
    }

    /// Whether a numbered block contains a symbol; subsets have no numbers, and a block or symbol that does not exist is in
    /// nothing.
    pub fn contains(&self, block: u32, symbol: u32) -> bool {
        if symbol >= self.symbols || self.family.blocks().is_none_or(|all| u64::from(block) >= all)
        {
            return false;
        }
        match &self.family {
            Family::Subsets(_) => false,
            Family::Geometry(geometry) => geometry.contains(block, symbol),
            Family::Listed(listed) => listed.contains(block, symbol),
        }
    }

    /// For every numbered block, the sum of the weights of the symbols in it; `weights` has one for every symbol. Empty for
    /// subsets.
    pub fn block_sums<T: Summed>(&self, weights: &[T]) -> Vec<T> {
        match &self.family {
            Family::Subsets(_) => Vec::new(),
            Family::Geometry(geometry) => geometry.block_sums(weights),
            Family::Listed(listed) => listed.block_sums(weights),
        }
    }

    /// For every symbol, the sum of the counts of the numbered blocks it is in; `counts` has one for every block. Empty for
    /// subsets.
    pub fn symbol_sums<T: Summed>(&self, counts: &[T]) -> Vec<T> {
        match &self.family {
            Family::Subsets(_) => Vec::new(),
            Family::Geometry(geometry) => geometry.symbol_sums(counts, self.symbols()),
            Family::Listed(listed) => listed.symbol_sums(counts, self.symbols()),
        }
    }

    /// About how many steps it takes to check what is told under so many laws of the input, or about a secret with so many
    /// values.
    pub(crate) fn check_steps(&self, laws: usize, secret: bool) -> u64 {
        let laws = laws as u64;
        match &self.family {
            // Every value against every other one, in wide integers.
            Family::Subsets(_) if secret => {
                laws.saturating_mul(laws + 2).saturating_mul(256 * u64::from(self.symbols))
            }
            Family::Subsets(_) => laws.saturating_mul(32 * u64::from(self.symbols)),
            Family::Geometry(geometry) => laws.saturating_mul(geometry.sum_steps()),
            Family::Listed(listed) => laws.saturating_mul(listed.members_in_all() as u64),
        }
    }

    /// Whether packed bits are a block: always where blocks are numbered, which have no bits.
    pub fn accepts_subset(&self, packed: &[u8]) -> bool {
        match &self.family {
            Family::Subsets(subsets) => subsets.accepts(packed),
            Family::Geometry(_) | Family::Listed(_) => true,
        }
    }

    /// The numbered block that is drawn for a symbol: `u` has 48 bits and is the coin, `v` has 64 and is the index.
    #[inline]
    pub(crate) fn draw(&self, symbol: u32, u: u64, v: u64) -> u32 {
        let inside = u < self.coin;
        self.nth(symbol, inside, share_of(v, self.family.kind(inside)) as u32)
    }

    /// The block with the given number among those that contain the symbol, or that do not; 0 where there is none, as for
    /// subsets, which have no numbers. This is the order that draws are pinned to.
    #[inline]
    pub fn nth(&self, symbol: u32, inside: bool, number: u32) -> u32 {
        if symbol >= self.symbols || u64::from(number) >= self.family.kind(inside) {
            return 0;
        }
        match &self.family {
            Family::Subsets(_) => 0,
            Family::Geometry(geometry) => geometry.nth(symbol, inside, number),
            Family::Listed(listed) => listed.nth(symbol, inside, number),
        }
    }
}

impl Family {
    /// How many blocks there are; `None` for subsets, which are not numbered.
    fn blocks(&self) -> Option<u64> {
        match self {
            Self::Subsets(_) => None,
            Self::Geometry(geometry) => Some(geometry.block_count()),
            Self::Listed(listed) => Some(listed.blocks() as u64),
        }
    }

    /// How many blocks contain a symbol; `None` for subsets.
    fn replication(&self) -> Option<u64> {
        match self {
            Self::Subsets(_) => None,
            Self::Geometry(geometry) => Some(geometry.replication()),
            Self::Listed(listed) => Some(listed.replication() as u64),
        }
    }

    /// How many numbered blocks contain a symbol, or do not.
    fn kind(&self, inside: bool) -> u64 {
        let (all, each) = (self.blocks().unwrap_or(0), self.replication().unwrap_or(0));
        if inside { each } else { all - each }
    }
}

/// ⌊v N / 2^64⌋: an index below N from 8 bytes.
#[inline]
pub(crate) fn share_of(v: u64, below: u64) -> u64 {
    ((u128::from(v) * u128::from(below)) >> 64) as u64
}

#[cfg(test)]
mod tests;
