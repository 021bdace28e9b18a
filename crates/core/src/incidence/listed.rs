//! Blocks that are written out: block designs with small parameters.

use super::{IncidenceError, MAX_BLOCKS, Summed};
use crate::mass::MAX_SYMBOLS;
use alloc::vec;
use alloc::vec::Vec;

/// Blocks as ascending lists of symbols. Every symbol is in equally many of them, in at least one and not in all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    symbols: usize,
    blocks: Lists,
    /// For every symbol the blocks it is in, ascending.
    of_symbol: Lists,
    /// How many blocks every pair of symbols shares, if that is one number.
    pairs: Option<u64>,
}

/// Several lists in one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn get(&self, at: usize) -> &[u32] {
        &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Listed {
    /// The most members that all blocks may have together.
    pub const MAX_MEMBERS: usize = 1 << 26;

    /// Blocks over a number of symbols, each an ascending list.
    pub fn new(symbols: usize, blocks: &[Vec<u32>]) -> Result<Self, IncidenceError> {
        let members: usize = blocks.iter().map(Vec::len).sum();
        if !(2..=MAX_SYMBOLS).contains(&symbols) {
            return Err(IncidenceError::Symbols { found: symbols });
        }
        // With fewer members than symbols some symbol is in no block; nothing is reserved for such a list.
        let fits = (symbols..=Self::MAX_MEMBERS).contains(&members);
        if !fits || !(2..=MAX_BLOCKS).contains(&blocks.len()) {
            return Err(IncidenceError::List { blocks: blocks.len(), members });
        }
        for (block, list) in blocks.iter().enumerate() {
            let ascending = list.iter().zip(list.iter().skip(1));
            let descent = ascending.into_iter().find(|(a, b)| a >= b).map(|(_, &found)| found);
            let beyond = list.iter().copied().find(|&found| found as usize >= symbols);
            if let Some(found) = descent.or(beyond) {
                return Err(IncidenceError::Member { block, found, symbols });
            }
        }
        let mut counts = vec![0u32; symbols];
        blocks.iter().flatten().for_each(|&symbol| counts[symbol as usize] += 1);
        let expected = counts.first().copied().unwrap_or(0) as usize;
        if let Some(symbol) = counts.iter().position(|&count| count as usize != expected) {
            let found = counts[symbol] as usize;
            return Err(IncidenceError::Replication { symbol: symbol as u32, found, expected });
        }
        let parts = blocks.iter().any(|list| !list.is_empty() && list.len() < symbols);
        if expected == 0 || expected == blocks.len() || !parts {
            return Err(IncidenceError::Constant { found: expected, blocks: blocks.len() });
        }
        let starts = |sizes: &mut dyn Iterator<Item = usize>| {
            let mut starts = vec![0u32];
            starts.extend(sizes.scan(0, |sum, size| {
                *sum += size as u32;
                Some(*sum)
            }));
            starts
        };
        let entries = blocks.iter().flatten().copied().collect();
        let by_block = Lists { starts: starts(&mut blocks.iter().map(Vec::len)), entries };
        let mut of_symbol = Lists {
            starts: starts(&mut core::iter::repeat_n(expected, symbols)),
            entries: vec![0; members],
        };
        let mut next: Vec<u32> = of_symbol.starts.clone();
        for (block, list) in blocks.iter().enumerate() {
            for &symbol in list {
                let place = &mut next[symbol as usize];
                of_symbol.entries[*place as usize] = block as u32;
                *place += 1;
            }
        }
        let mut listed = Self { symbols, blocks: by_block, of_symbol, pairs: None };
        listed.pairs = listed.common_pairs();
        Ok(listed)
    }

    pub(super) fn check(&self, symbols: usize) -> Result<(), IncidenceError> {
        let fits = self.symbols == symbols;
        if fits { Ok(()) } else { Err(IncidenceError::Symbols { found: symbols }) }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The symbols of a block, ascending.
    pub fn members(&self, block: usize) -> &[u32] {
        self.blocks.get(block)
    }

    pub(super) fn members_in_all(&self) -> usize {
        self.blocks.entries.len()
    }

    pub(super) fn replication(&self) -> usize {
        self.of_symbol.get(0).len()
    }

    pub(super) fn pairs(&self) -> Option<u64> {
        self.pairs
    }

    /// How many blocks every pair of symbols shares; `None` if that differs, or there is too much to count.
    fn common_pairs(&self) -> Option<u64> {
        const MOST: u64 = 1 << 28;
        let sizes = (0..self.blocks()).map(|block| self.members(block).len() as u64);
        let ordered = sizes.map(|size| size * size.saturating_sub(1)).sum::<u64>();
        let pairs = self.symbols as u64 * (self.symbols as u64 - 1);
        // The mean must be a whole number. Where it is nought no pair shares anything; else every pair takes at least one step.
        if !ordered.is_multiple_of(pairs) || ordered > MOST {
            return None;
        }
        if ordered == 0 {
            return Some(0);
        }
        let mut common = None;
        for symbol in 0..self.symbols {
            let mut shared = vec![0u64; self.symbols];
            for &block in self.of_symbol.get(symbol) {
                self.members(block as usize).iter().for_each(|&other| shared[other as usize] += 1);
            }
            for (other, &count) in shared.iter().enumerate() {
                if other != symbol && *common.get_or_insert(count) != count {
                    return None;
                }
            }
        }
        common
    }

    pub(super) fn contains(&self, block: u32, symbol: u32) -> bool {
        self.of_symbol.get(symbol as usize).binary_search(&block).is_ok()
    }

    /// The block with the given number among those that contain the symbol, or that do not, in the order of the list.
    pub(super) fn nth(&self, symbol: u32, inside: bool, number: u32) -> u32 {
        let own = self.of_symbol.get(symbol as usize);
        if inside {
            return own[number as usize];
        }
        // The own block with index i has own[i] - i others before it.
        let (mut low, mut high) = (0, own.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if own[middle] - middle as u32 <= number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        number + low as u32
    }

    pub(super) fn block_sums<T: Summed>(&self, weights: &[T]) -> Vec<T> {
        let sum = |block| {
            let mut sum = T::default();
            self.members(block).iter().for_each(|&symbol| sum += of(weights, symbol));
            sum
        };
        (0..self.blocks()).map(sum).collect()
    }

    pub(super) fn symbol_sums<T: Summed>(&self, counts: &[T], symbols: usize) -> Vec<T> {
        let sum = |symbol| {
            let mut sum = T::default();
            self.of_symbol.get(symbol).iter().for_each(|&block| sum += of(counts, block));
            sum
        };
        (0..symbols).map(sum).collect()
    }
}

/// What a list has for an index; nothing beyond its end.
fn of<T: Summed>(list: &[T], index: u32) -> T {
    list.get(index as usize).copied().unwrap_or_default()
}
