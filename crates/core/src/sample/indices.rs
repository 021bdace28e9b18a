//! Indices for many inputs at once.

use super::guide::{BLOCK, Draws, Guide};
use crate::shape::{Keep, Table};
use crate::symbol::Symbol;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// A `Table`, or a `Keep` with its λ: one row of its guide per input, or one for all.
pub(super) struct Indices {
    inputs: usize,
    keep: Option<Vec<u64>>,
    guide: Guide,
}

impl Indices {
    pub(super) fn of_table(table: &Table) -> Self {
        let guide = Guide::new(table.outputs(), table.rows());
        Self { inputs: table.rows().len(), keep: None, guide }
    }

    pub(super) fn of_keep(keep: &Keep) -> Self {
        let inputs = keep.keep().len();
        let guide = Guide::new(inputs, core::slice::from_ref(keep.base()));
        Self { inputs, keep: Some(keep.keep().into()), guide }
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// One index for each input, which must be one of `inputs()`; as many in `out`.
    pub(super) fn draw<R: CryptoRng + ?Sized>(
        &self,
        inputs: &[Symbol],
        rng: &mut R,
        out: &mut [u32],
    ) {
        let size = if self.keep.is_some() { 11 } else { 6 };
        let mut bytes = [0; 11 * BLOCK];
        let mut draws = Draws::new();
        for (inputs, out) in inputs.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            let bytes = &mut bytes[..size * inputs.len()];
            rng.fill_bytes(bytes);
            self.map_block(inputs, bytes, &mut draws, out);
        }
    }

    /// The pinned map for a block. Not generic, so that it is compiled here, in one piece, whatever the
    /// generator.
    fn map_block(&self, inputs: &[Symbol], bytes: &[u8], draws: &mut Draws, out: &mut [u32]) {
        match &self.keep {
            None => self.map_table(inputs, bytes, draws, out),
            Some(keep) => self.map_keep(keep, inputs, bytes, draws, out),
        }
    }

    fn map_table(&self, inputs: &[Symbol], bytes: &[u8], draws: &mut Draws, out: &mut [u32]) {
        let guide = &self.guide;
        let sixes: &[[u8; 6]] = bytes.as_chunks().0;
        // Four draws are three whole words, which take fewer loads than six bytes each.
        let (fours, rest) = inputs.as_chunks::<4>();
        let entries = draws.entry.as_chunks_mut::<4>().0.iter_mut();
        let columns = entries.zip(draws.within.as_chunks_mut::<4>().0);
        let groups = fours.iter().zip(bytes.as_chunks::<24>().0);
        for ((x, group), (entry, within)) in groups.zip(columns) {
            let words = [word(group, 0), word(group, 6), word(group, 12), word(group, 16) << 16];
            for at in 0..4 {
                (entry[at], within[at]) = guide.place(x[at].index(), words[at]);
            }
        }
        for (at, x) in (4 * fours.len()..).zip(rest) {
            (draws.entry[at], draws.within[at]) = guide.place(x.index(), six(&sixes[at]) << 16);
        }
        guide.settle(draws, out, |at| (inputs[at].index() as usize, six(&sixes[at])));
    }

    fn map_keep(
        &self,
        keep: &[u64],
        inputs: &[Symbol],
        bytes: &[u8],
        draws: &mut Draws,
        out: &mut [u32],
    ) {
        let guide = &self.guide;
        let elevens: &[[u8; 11]] = bytes.as_chunks().0;
        // All ones for what stays: compared without a branch, which nothing could predict.
        let mut stay = [0; BLOCK];
        for ((x, stay), eleven) in inputs.iter().zip(&mut stay).zip(elevens) {
            let coin = word(eleven, 0) >> 24;
            *stay = u32::from(coin < keep[x.index() as usize]).wrapping_neg();
        }
        let columns = draws.entry.iter_mut().zip(&mut draws.within);
        for (eleven, (entry, within)) in elevens.iter().zip(columns) {
            (*entry, *within) = guide.place(0, word(eleven, 3) << 16);
        }
        // A base that is not needed does not go to memory for its entry.
        let nothing = guide.nothing();
        for (entry, &stay) in draws.entry.iter_mut().zip(&stay) {
            *entry = nothing & stay | *entry & !stay;
        }
        guide.settle(draws, out, |at| (0, word(&elevens[at], 3) & 0xffff_ffff_ffff));
        for ((x, out), stay) in inputs.iter().zip(out).zip(&stay) {
            *out = x.index() & stay | *out & !stay;
        }
    }
}

/// Eight bytes from `at` on, of as many, big-endian. Taken as one piece: of single bytes the compiler would
/// load those alone that are used.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |&eight| u64::from_be_bytes(eight))
}

/// Six bytes, big-endian.
fn six(bytes: &[u8; 6]) -> u64 {
    let &[a, b, c, d, e, f] = bytes;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}
