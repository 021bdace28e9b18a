//! Drawing outputs: the table that was proved is the table that is sampled.
//!
//! The map from random bytes to an output is pinned, so that every language gives the same answer
//! from the same bytes. `Table`: 6 bytes, big-endian, as u; the output is the number of cumulative
//! sums of the row that are <= u. `Keep`: 5 bytes for the coin (keep iff u < λ), then 6 for the base,
//! always read. `Bits`: one byte per bit for all bits, then for each byte that ties with the top
//! byte of its threshold, in order, three more. `Incidence`: 6 bytes for the coin u (inside iff u < coin), then 8 for
//! an index v; the block is number ⌊v N / 2^64⌋ of the N of its kind. Subsets: 8 bytes for each of their elements, always read.
//!
//! There are three ways to walk that map: [`Policy::draw`] for one value, [`Sampler`] with guide
//! tables for many, and [`Policy::draw_flat`], whose memory accesses and branches do not depend on
//! the secret.

mod guide;
mod indices;

use crate::incidence::{Family, Incidence, Subsets};
use crate::mass::Row;
use crate::policy::Policy;
use crate::shape::{Bits, Shape};
use crate::symbol::{Symbol, Token};
use alloc::vec;
use alloc::vec::Vec;
use indices::Indices;
use rand_core::CryptoRng;

/// Why nothing was drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The symbol belongs to a larger alphabet than the policy's.
    #[error("the symbol is not of this policy's input alphabet: take it from there")]
    UnknownSymbol,
    /// The output buffer does not fit the inputs.
    #[error("the output buffer has {found} places where {expected} are needed")]
    Buffer {
        /// The number of places needed.
        expected: usize,
        /// The number of places given.
        found: usize,
    },
    /// Indices were asked of a policy that releases bits, or the other way round.
    #[error(
        "bits are released by the shape bits only, indices by table and keep: use the other call"
    )]
    WrongShape,
    /// The permit was issued for another policy.
    #[error("the permit was issued for another policy")]
    WrongPermit,
}

/// Reads up to 8 big-endian bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn next<const N: usize>(rng: &mut (impl CryptoRng + ?Sized)) -> u64 {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    number(&bytes)
}

/// Whether a bit with the given 32-bit threshold is set: `Ok` if the first byte decides.
fn bit(byte: u8, threshold: u64) -> Result<bool, ()> {
    let top = threshold >> 24;
    if u64::from(byte) == top { Err(()) } else { Ok(u64::from(byte) < top) }
}

impl Policy {
    fn check_symbol(&self, x: Symbol) -> Result<usize, SampleError> {
        let index = x.index() as usize;
        if index < self.draft().shape().inputs() {
            Ok(index)
        } else {
            Err(SampleError::UnknownSymbol)
        }
    }

    /// Draws one output for `x`.
    pub fn draw<R: CryptoRng + ?Sized>(
        &self,
        x: Symbol,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        let x = self.check_symbol(x)?;
        Ok(match self.draft().shape() {
            Shape::Table(table) => Token::Index(scan(&table.rows()[x], next::<6>(rng))),
            Shape::Keep(keep) => {
                let coin = next::<5>(rng);
                let drawn = scan(keep.base(), next::<6>(rng));
                Token::Index(if coin < keep.keep()[x] { x as u32 } else { drawn })
            }
            Shape::Bits(bits) => {
                let mut packed = vec![0; bits.symbols().div_ceil(8)];
                draw_bits(bits, x, rng, &mut vec![0; bits.symbols()], &mut packed);
                Token::Bits(packed.into())
            }
            Shape::Incidence(incidence) => draw_block(incidence, x, rng),
        })
    }

    /// Draws one output for `x` by the pinned map, walked so that neither branches nor addresses depend on `x` or
    /// on the output: every row is read, every edge compared, and the result selected by arithmetic. For `Bits` four
    /// bytes per bit are always consumed, of which the pinned map uses a prefix. For `Incidence` the block of every input is
    /// found; what is done for each depends on the random bytes, not on `x`.
    ///
    /// The cost is that of the whole table for each draw. The compiler is not forbidden to undo
    /// this, and the random generator has its own timing.
    pub fn draw_flat<R: CryptoRng + ?Sized>(
        &self,
        x: Symbol,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        let x = self.check_symbol(x)? as u64;
        Ok(match self.draft().shape() {
            Shape::Table(table) => {
                let u = next::<6>(rng);
                let pick = |(row, edges): (u64, &Row)| flat_scan(edges, u) & mask(row == x);
                let rows = (0u64..).zip(table.rows());
                Token::Index(rows.map(pick).fold(0, |a, b| a | b) as u32)
            }
            Shape::Keep(keep) => {
                let (coin, u) = (next::<5>(rng), next::<6>(rng));
                let chosen = (0u64..).zip(keep.keep());
                let kept = chosen.fold(0, |a, (at, &k)| a | k & mask(at == x));
                let drawn = flat_scan(keep.base(), u);
                let stay = mask(coin < kept);
                Token::Index((x & stay | drawn & !stay) as u32)
            }
            Shape::Bits(bits) => {
                let mut bytes = vec![0; 4 * bits.symbols()];
                rng.fill_bytes(&mut bytes);
                Token::Bits(flat_bits(bits, x, &bytes).into())
            }
            Shape::Incidence(incidence) => flat_block(incidence, x as u32, rng),
        })
    }
}

/// Draws a block: 6 bytes for the coin, then 8 for the index; for subsets 8 for each of their elements, all of which are
/// read.
fn draw_block<R: CryptoRng + ?Sized>(incidence: &Incidence, x: usize, rng: &mut R) -> Token {
    let Family::Subsets(subsets) = incidence.family() else {
        let coin = next::<6>(rng);
        return Token::Index(incidence.draw(x as u32, coin, next::<8>(rng)));
    };
    let mut packed = Subsets::nothing(incidence.symbols());
    draw_subset(incidence, subsets, x, rng, &mut packed);
    Token::Bits(packed.into())
}

fn draw_subset<R: CryptoRng + ?Sized>(
    incidence: &Incidence,
    subsets: &Subsets,
    x: usize,
    rng: &mut R,
    packed: &mut [u8],
) {
    let inside = next::<6>(rng) < incidence.coin();
    // Fetched in large parts, and all of it whatever the coin.
    let mut bytes = [0; 1024];
    let (mut left, mut held, mut at) = (8 * subsets.size(), 0, 0);
    let index = || {
        if at == held {
            (held, at) = (left.min(bytes.len()), 0);
            rng.fill_bytes(&mut bytes[..held]);
            left -= held;
        }
        at += 8;
        number(&bytes[at - 8..at])
    };
    subsets.draw(incidence.symbols(), x, inside, index, packed);
    if left > 0 {
        // One element fewer is drawn inside.
        let _ = next::<8>(rng);
    }
}

/// The blocks that the same random bytes give every input, of which that of `x` is selected.
fn flat_block<R: CryptoRng + ?Sized>(incidence: &Incidence, x: u32, rng: &mut R) -> Token {
    let coin = next::<6>(rng);
    let symbols = incidence.symbols();
    let Family::Subsets(subsets) = incidence.family() else {
        let index = next::<8>(rng);
        let pick = |z: u32| incidence.draw(z, coin, index) & mask(z == x) as u32;
        return Token::Index((0..symbols as u32).map(pick).fold(0, |a, b| a | b));
    };
    let inside = coin < incidence.coin();
    // For the last symbol candidates are the symbols before it, in their own places.
    let last = symbols - 1;
    let mut drawn = Subsets::nothing(symbols);
    subsets.draw(symbols, last, inside, || next::<8>(rng), &mut drawn);
    if inside {
        let _ = next::<8>(rng);
    }
    let bit = |at: usize| u64::from(drawn[at / 8] >> (7 - at % 8) & 1);
    let mut packed = Subsets::nothing(symbols);
    for z in 0..symbols {
        let (here, before) = (bit(z.min(last - 1)), bit(z.saturating_sub(1)));
        let (own, after) = (mask(z as u32 == x), mask(z as u32 > x));
        let set = u64::from(inside) & own | before & after | here & !(own | after);
        packed[z / 8] |= (set as u8) << (7 - z % 8);
    }
    Token::Bits(packed.into())
}

/// All ones for true.
fn mask(condition: bool) -> u64 {
    u64::from(condition).wrapping_neg()
}

/// The number of cumulative sums <= u, stopping at the answer.
fn scan(row: &Row, u: u64) -> u32 {
    let mut sum = 0;
    let below = |mass: &&u64| {
        sum += **mass;
        sum <= u
    };
    row.masses().iter().take_while(below).count() as u32
}

/// The number of cumulative sums <= u, reading them all.
fn flat_scan(row: &Row, u: u64) -> u64 {
    let mut sum = 0;
    row.masses().iter().fold(0, |count, mass| {
        sum += mass;
        count + u64::from(sum <= u)
    })
}

fn flat_bits(bits: &Bits, x: u64, bytes: &[u8]) -> Vec<u8> {
    let (first, more) = bytes.split_at(bits.symbols());
    let mut packed = vec![0u8; bits.symbols().div_ceil(8)];
    let mut ties = 0u64;
    for (at, &byte) in first.iter().enumerate() {
        let own = mask(at as u64 == x);
        let threshold = bits.own() & own | bits.other() & !own;
        let tie = mask(u64::from(byte) == threshold >> 24);
        // Tie number j takes bytes 3j to 3j + 2; all candidates so far are read.
        let candidates = more.chunks_exact(3).take(at + 1);
        let low = (0u64..)
            .zip(candidates)
            .fold(0, |low, (j, three)| low | number(three) & mask(j == ties));
        let whole = u64::from(byte) << 24 | low & tie;
        packed[at / 8] |= u8::from(whole < threshold) << (7 - at % 8);
        ties += 1 & tie;
    }
    packed
}

/// Draws all bits of one report into `packed`; `bytes` is scratch space, one per symbol.
fn draw_bits<R: CryptoRng + ?Sized>(
    bits: &Bits,
    x: usize,
    rng: &mut R,
    bytes: &mut [u8],
    packed: &mut [u8],
) {
    rng.fill_bytes(bytes);
    let (own, other) = (bits.own(), bits.other());
    // All bits against the common threshold, whose top byte decides unless it is met; such ties and
    // the own bit are set right below. A threshold of one is above every byte.
    let (top, always) = u8::try_from(other >> 24).map_or((0, 1), |top| (top, 0));
    for (chunk, packed) in bytes.chunks(64).zip(packed.chunks_mut(8)) {
        let mut below = [0; 64];
        for (below, &byte) in below.iter_mut().zip(chunk) {
            *below = u8::from(byte < top) | always;
        }
        for (eight, out) in below.as_chunks().0.iter().zip(packed) {
            *out = gather(*eight);
        }
    }
    let flag = |at: usize| 0x80u8 >> (at % 8);
    packed[x / 8] &= !flag(x);
    if bit(bytes[x], own) == Ok(true) {
        packed[x / 8] |= flag(x);
    }
    let mut settle = |group: usize, chunk: &[u8]| {
        for (at, &byte) in (8 * group..).zip(chunk) {
            let threshold = if at == x { own } else { other };
            if bit(byte, threshold).is_err() && next::<3>(rng) < threshold & 0xff_ffff {
                packed[at / 8] |= flag(at);
            }
        }
    };
    let (eights, rest) = bytes.as_chunks();
    for (group, eight) in eights.iter().enumerate() {
        if holds(*eight, top) || group == x / 8 {
            settle(group, eight);
        }
    }
    settle(eights.len(), rest);
}

/// Whether one of eight bytes is the given one.
fn holds(eight: [u8; 8], byte: u8) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The SWAR zero-byte test: equal bytes become zero, and a zero byte is the only one to borrow from its own top bit.
    let apart = u64::from_ne_bytes(eight) ^ (ONES * u64::from(byte));
    apart.wrapping_sub(ONES) & !apart & (ONES << 7) != 0
}

/// Eight bytes of 0 or 1 as the bits of one, the first at the top.
fn gather(eight: [u8; 8]) -> u8 {
    // Each byte's lowest bit is moved to its own place in the top byte; no two meet.
    (u64::from_be_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// A policy prepared for many draws: guide tables turn the search into one look-up, with the same
/// result for the same bytes.
pub struct Sampler(Prepared);

enum Prepared {
    Indices(Indices),
    Bits(Bits),
    Blocks(Incidence),
    Subsets(Incidence, Subsets),
}

impl Sampler {
    /// Prepares a verified policy.
    pub fn new(policy: &Policy) -> Self {
        Self(match policy.draft().shape() {
            Shape::Table(table) => Prepared::Indices(Indices::of_table(table)),
            Shape::Keep(keep) => Prepared::Indices(Indices::of_keep(keep)),
            Shape::Bits(bits) => Prepared::Bits(*bits),
            Shape::Incidence(incidence) => match incidence.family() {
                Family::Subsets(subsets) => Prepared::Subsets(incidence.clone(), *subsets),
                Family::Geometry(_) | Family::Listed(_) => Prepared::Blocks(incidence.clone()),
            },
        })
    }

    /// Draws one index for each input (`Table`, `Keep` and numbered blocks).
    pub fn draw_indices<R: CryptoRng + ?Sized>(
        &self,
        inputs: &[Symbol],
        rng: &mut R,
        out: &mut [u32],
    ) -> Result<(), SampleError> {
        if out.len() != inputs.len() {
            return Err(SampleError::Buffer { expected: inputs.len(), found: out.len() });
        }
        let indices = match &self.0 {
            Prepared::Indices(indices) => indices,
            Prepared::Blocks(incidence) => return draw_blocks(incidence, inputs, rng, out),
            Prepared::Bits(_) | Prepared::Subsets(..) => return Err(SampleError::WrongShape),
        };
        check_symbols(inputs, indices.inputs())?;
        indices.draw(inputs, rng, out);
        Ok(())
    }

    /// Draws one packed vector of bits for each input (`Bits` and subsets); every input takes ⌈k/8⌉ bytes.
    pub fn draw_bits<R: CryptoRng + ?Sized>(
        &self,
        inputs: &[Symbol],
        rng: &mut R,
        out: &mut [u8],
    ) -> Result<(), SampleError> {
        let symbols = match &self.0 {
            Prepared::Bits(bits) => bits.symbols(),
            Prepared::Subsets(incidence, _) => incidence.symbols(),
            Prepared::Indices(_) | Prepared::Blocks(_) => return Err(SampleError::WrongShape),
        };
        let width = symbols.div_ceil(8);
        let expected = inputs.len() * width;
        if out.len() != expected {
            return Err(SampleError::Buffer { expected, found: out.len() });
        }
        check_symbols(inputs, symbols)?;
        let mut bytes = vec![0; symbols];
        for (x, packed) in inputs.iter().zip(out.chunks_mut(width)) {
            let x = x.index() as usize;
            match &self.0 {
                Prepared::Bits(bits) => draw_bits(bits, x, rng, &mut bytes, packed),
                Prepared::Subsets(incidence, subsets) => {
                    draw_subset(incidence, subsets, x, rng, packed);
                }
                Prepared::Indices(_) | Prepared::Blocks(_) => {}
            }
        }
        Ok(())
    }
}

fn draw_blocks<R: CryptoRng + ?Sized>(
    incidence: &Incidence,
    inputs: &[Symbol],
    rng: &mut R,
    out: &mut [u32],
) -> Result<(), SampleError> {
    /// Random bytes of one draw, and draws they are fetched for at a time.
    const SIZE: usize = 14;
    const BLOCK: usize = 256;
    check_symbols(inputs, incidence.symbols())?;
    let mut bytes = [0; SIZE * BLOCK];
    for (inputs, out) in inputs.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        rng.fill_bytes(&mut bytes[..SIZE * inputs.len()]);
        let draws = bytes.as_chunks::<SIZE>().0;
        for ((x, out), draw) in inputs.iter().zip(out).zip(draws) {
            let (coin, index) = draw.split_at(6);
            *out = incidence.draw(x.index(), number(coin), number(index));
        }
    }
    Ok(())
}

fn check_symbols(inputs: &[Symbol], size: usize) -> Result<(), SampleError> {
    // Folded so that the compiler makes vectors of it. The top bit of a difference tells which is larger, as
    // there are far fewer than 2^31 symbols; an index with that bit would be unknown itself.
    let last = (size as u32).wrapping_sub(1);
    let above = |x: &Symbol| x.index() | last.wrapping_sub(x.index());
    let known = inputs.iter().fold(0, |any, x| any | above(x)) >> 31 == 0;
    if known { Ok(()) } else { Err(SampleError::UnknownSymbol) }
}

#[cfg(test)]
mod tests;
