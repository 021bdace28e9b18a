//! Values as strings of bits.

/// A string of bits; the first is the top bit of the first word, and bits behind the last are zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Code {
    words: Vec<u64>,
    bits: usize,
}

impl Code {
    /// The empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first `bits` bits of some bytes; bytes that are missing are zero.
    pub fn of_bytes(bytes: &[u8], bits: usize) -> Self {
        let mut words = vec![0u64; bits.div_ceil(64)];
        for (at, &byte) in bytes.iter().enumerate().take(bits.div_ceil(8)) {
            words[at / 8] |= u64::from(byte) << (56 - 8 * (at % 8));
        }
        let mut code = Self { words, bits };
        code.clear_behind();
        code
    }

    /// How many bits there are.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The bits, 64 in a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Appends the lowest `bits` bits of a number of at most 64, the highest of them first.
    pub fn push(&mut self, number: u64, bits: usize) {
        for place in (0..bits).rev() {
            let (word, at) = (self.bits / 64, self.bits % 64);
            if at == 0 {
                self.words.push(0);
            }
            self.words[word] |= ((number >> place) & 1) << (63 - at);
            self.bits += 1;
        }
    }

    /// The bits from `from` up to `to`, at most 64 of them, as a number; bits that are missing are zero.
    pub fn slice(&self, from: usize, to: usize) -> u64 {
        debug_assert!(from <= to && to - from <= 64);
        if from == to {
            return 0;
        }
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let (first, shift) = (from / 64, from % 64);
        let high = word(first) << shift;
        let low = if shift == 0 { 0 } else { word(first + 1) >> (64 - shift) };
        (high | low) >> (64 - (to - from))
    }

    /// The first `bits` bits.
    pub fn prefix(&self, bits: usize) -> Self {
        let bits = bits.min(self.bits);
        let mut code = Self { words: self.words[..bits.div_ceil(64)].to_vec(), bits };
        code.clear_behind();
        code
    }

    /// The code followed by the lowest `bits` bits of a number.
    pub fn extended(&self, number: u64, bits: usize) -> Self {
        let mut code = self.clone();
        code.push(number, bits);
        code
    }

    fn clear_behind(&mut self) {
        let over = self.words.len() * 64 - self.bits;
        if let Some(last) = self.words.last_mut() {
            *last = *last >> over << over;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(code: &Code, at: usize) -> u64 {
        code.words[at / 64] >> (63 - at % 64) & 1
    }

    #[test]
    fn every_slice_prefix_and_end_is_made_of_the_same_bits() {
        let bytes: Vec<u8> = (0..25).map(|at| (at * 37 + 11) as u8).collect();
        for bits in [1, 7, 63, 64, 65, 127, 128, 130, 199] {
            let code = Code::of_bytes(&bytes, bits);
            assert_eq!(code.bits(), bits);
            for from in (0..bits).step_by(5) {
                for to in [from, from + 1, from + 9, from + 64].map(|to| to.min(bits)) {
                    let read = (from..to).fold(0, |sum, at| sum << 1 | bit(&code, at));
                    assert_eq!(code.slice(from, to), read, "{from}..{to} of {bits}");
                }
                let mut joined = code.prefix(from);
                assert_eq!(joined.bits(), from);
                (from..bits).for_each(|at| joined.push(bit(&code, at), 1));
                assert_eq!(joined, code);
            }
        }
    }
}
