//! All subsets of one size.
//!
//! A subset is drawn by Floyd's algorithm, with an index of 8 bytes for every element: from n candidates, for j from
//! n - d to n - 1, candidate t = ⌊v (j + 1) / 2^64⌋ is taken, or j if t was taken before. Candidates are the symbols other
//! than the input, in their order.

use super::{IncidenceError, share_of};
use alloc::vec;

/// Subsets of `size` symbols: at least one, and not all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subsets {
    size: u32,
}

impl Subsets {
    /// Subsets of a size; whether it fits the symbols is checked where they are known.
    pub fn new(size: usize) -> Self {
        // A size beyond u32 is beyond every alphabet, and refused there.
        Self { size: u32::try_from(size).unwrap_or(u32::MAX) }
    }

    /// The number of symbols in a subset.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    pub(super) fn check(&self, symbols: usize) -> Result<(), IncidenceError> {
        let found = self.size();
        let fits = found >= 1 && found < symbols;
        if fits { Ok(()) } else { Err(IncidenceError::Size { found, symbols }) }
    }

    /// How many elements are drawn from the other symbols.
    pub(crate) fn drawn(&self, inside: bool) -> usize {
        self.size() - usize::from(inside)
    }

    /// The sum of the numbers of candidates over all draws: divided by 2^64 it bounds how far the probability of any
    /// subset can be from uniform, relative to it.
    pub(super) fn unevenness(&self, symbols: usize, inside: bool) -> u64 {
        let (others, drawn) = (symbols as u64 - 1, self.drawn(inside) as u64);
        // j + 1 runs over the `drawn` largest numbers up to `others`; both are below 2^24.
        drawn * others - drawn * drawn.saturating_sub(1) / 2
    }

    /// Sets the bits of the subset that is drawn for a symbol; `index` gives 8 bytes for every element.
    pub(crate) fn draw(
        &self,
        symbols: usize,
        symbol: usize,
        inside: bool,
        mut index: impl FnMut() -> u64,
        packed: &mut [u8],
    ) {
        packed.fill(0);
        let others = symbols - 1;
        // Candidates skip the input itself.
        let place = |candidate: usize| candidate + usize::from(candidate >= symbol);
        for last in others - self.drawn(inside)..others {
            let chosen = place(share_of(index(), last as u64 + 1) as usize);
            let taken = packed[chosen / 8] & (0x80 >> (chosen % 8)) != 0;
            let chosen = if taken { place(last) } else { chosen };
            packed[chosen / 8] |= 0x80 >> (chosen % 8);
        }
        if inside {
            packed[symbol / 8] |= 0x80 >> (symbol % 8);
        }
    }

    /// Whether packed bits are a subset of this size.
    pub(crate) fn accepts(&self, packed: &[u8]) -> bool {
        packed.iter().map(|byte| byte.count_ones()).sum::<u32>() == self.size
    }

    /// The bits of no symbols, packed.
    pub(crate) fn nothing(symbols: usize) -> vec::Vec<u8> {
        vec![0; symbols.div_ceil(8)]
    }
}
