//! A hash function for every report, from a family that is exactly pairwise uniform.
//!
//! A seed of N + 2k - 1 bits gives the function x ↦ T·x + b over the field of two elements, from N bits to k: row j of
//! the matrix T is bits j to j + N - 1 of the seed (a Toeplitz matrix), and b is the seed's last k bits.
//!
//! Over all seeds, the hashes of two different codes are independent and uniform. Let d be their difference and i its last
//! bit that is set. Row j of T·d has bit i + j of the seed as a term and no bit behind it, so for any i + j bits in
//! front exactly one value of bit i + j makes row j what it is: T·d is uniform, and b makes the first hash uniform whatever T·d is.
//! The first l bits of the codes are hashed with the first l columns of T, and what was said holds for them too.
//!
//! So a report of somebody with another value supports a candidate with the same probability as any other report does,
//! whoever has which value, and the number of reports that support it is binomial. One function for all people would not
//! do: a candidate that collides with a frequent value would look frequent to all.

use super::code::Code;

/// Hash functions of many seeds, each as the rows of its matrix.
#[derive(Debug, Clone)]
pub(super) struct HashFunctions {
    code_bits: usize,
    hash_bits: usize,
    rows: Vec<u64>,
    shifts: Vec<u8>,
}

/// The function of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashFunction<'a> {
    /// The rows of the matrix, one behind the other.
    rows: &'a [u64],
    words: usize,
    shift: u8,
}

/// How many bits a seed has for codes of so many bits and hashes of so many.
pub fn seed_bits(code_bits: usize, hash_bits: usize) -> usize {
    code_bits + 2 * hash_bits - 1
}

/// The hash of a code by the function of a seed.
pub fn hashed(seed: &[u8], code: &Code, code_bits: usize, hash_bits: usize) -> u32 {
    let mut functions = HashFunctions::new(code_bits, hash_bits);
    functions.push(seed);
    functions.get(0).of(code)
}

impl HashFunctions {
    /// Room for functions of codes of so many bits to at most 8 bits.
    pub(super) fn new(code_bits: usize, hash_bits: usize) -> Self {
        Self { code_bits, hash_bits, rows: Vec::new(), shifts: Vec::new() }
    }

    /// Adds the function of a seed, of which the first bits are used.
    pub(super) fn push(&mut self, seed: &[u8]) {
        let (code, hash) = (self.code_bits, self.hash_bits);
        for row in 0..hash {
            for from in (0..code).step_by(64) {
                let size = (code - from).min(64);
                self.rows.push(bits_of(seed, row + from) >> (64 - size) << (64 - size));
            }
        }
        self.shifts.push((bits_of(seed, code + hash - 1) >> (64 - hash)) as u8);
    }

    /// How many functions there are.
    pub(super) fn len(&self) -> usize {
        self.shifts.len()
    }

    /// One of the functions.
    pub(super) fn get(&self, at: usize) -> HashFunction<'_> {
        let words = self.code_bits.div_ceil(64);
        let size = words * self.hash_bits;
        HashFunction { rows: &self.rows[at * size..][..size], words, shift: self.shifts[at] }
    }
}

/// 64 bits of some bytes, from a bit on; those behind the end are zero.
fn bits_of(bytes: &[u8], from: usize) -> u64 {
    let byte = |at: usize| u64::from(bytes.get(at).copied().unwrap_or(0));
    let (first, shift) = (from / 8, from % 8);
    let word = (first..first + 8).fold(0, |word, at| word << 8 | byte(at));
    word << shift | byte(first + 8) >> (8 - shift)
}

impl HashFunction<'_> {
    /// The hash of a code, which may be a prefix.
    pub(super) fn of(&self, code: &Code) -> u32 {
        let parity = |row: &[u64]| {
            let both = row.iter().zip(code.words());
            both.fold(0, |sum, (row, code)| sum ^ (row & code)).count_ones() & 1
        };
        let rows = self.rows.chunks_exact(self.words);
        rows.fold(0, |hash, row| hash << 1 | parity(row)) ^ u32::from(self.shift)
    }

    /// Bits `from` to `to` (at most 32) of every row, combined for every u: the parity of `out[u]` and those bits of a code is the parity of u
    /// and what they add to the hash.
    pub(super) fn combined(&self, from: usize, to: usize, out: &mut [u32]) {
        out[0] = 0;
        for (place, row) in self.rows.chunks_exact(self.words).rev().enumerate() {
            let (word, shift) = (from / 64, from % 64);
            let next =
                if shift == 0 { 0 } else { row.get(word + 1).map_or(0, |w| w >> (64 - shift)) };
            let bits = ((row[word] << shift | next) >> (64 - (to - from))) as u32;
            let low = 1 << place;
            for at in 0..low {
                out[low + at] = out[at] ^ bits;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over all seeds, every pair of different codes has every pair of hashes equally often; and so have all prefixes.
    #[test]
    fn the_family_is_exactly_pairwise_uniform() {
        for (code_bits, hash_bits) in [(1, 1), (3, 1), (4, 2), (5, 3), (3, 4)] {
            let bits = seed_bits(code_bits, hash_bits);
            for length in 1..=code_bits {
                let size = 1usize << hash_bits;
                let codes = 1u64 << length;
                let mut counts = vec![0u32; (codes * codes) as usize * size * size];
                for seed in 0u64..1 << bits {
                    let bytes = (seed << (64 - bits)).to_be_bytes();
                    let of = |code| {
                        let code = Code::new().extended(code, length);
                        hashed(&bytes, &code, code_bits, hash_bits) as usize
                    };
                    let hashes: Vec<usize> = (0..codes).map(of).collect();
                    for (x, &hx) in hashes.iter().enumerate() {
                        for (z, &hz) in hashes.iter().enumerate() {
                            counts[((x * codes as usize + z) * size + hx) * size + hz] += 1;
                        }
                    }
                }
                for (pair, counts) in counts.chunks(size * size).enumerate() {
                    if pair as u64 / codes == pair as u64 % codes {
                        continue;
                    }
                    let each = (1u32 << bits) / (size * size) as u32;
                    assert!(counts.iter().all(|&count| count == each), "{pair}: {counts:?}");
                }
            }
        }
    }

    #[test]
    fn combined_rows_are_the_characters_of_the_hash() {
        let seed: Vec<u8> = (0..20).map(|at| (at * 91 + 5) as u8).collect();
        let mut functions = HashFunctions::new(130, 3);
        functions.push(&seed);
        let (hash, mut combined) = (functions.get(0), [0; 8]);
        hash.combined(60, 73, &mut combined);
        for ending in [0u64, 1, 0x155, 0x1fff] {
            let start = Code::of_bytes(&[0xa7; 8], 60);
            let code = start.extended(ending, 13);
            let added = hash.of(&code) ^ hash.of(&start);
            for (u, &bits) in combined.iter().enumerate() {
                let direct = (added & u as u32).count_ones() & 1;
                assert_eq!((bits & ending as u32).count_ones() & 1, direct, "{u} {ending}");
            }
        }
    }
}
