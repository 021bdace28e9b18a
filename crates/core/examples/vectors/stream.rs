//! A random generator that hands out given bytes.

use core::convert::Infallible;
use rand_core::{TryCryptoRng, TryRng};

/// Hands out its bytes in order and counts them; running out is an error of the vector.
pub(crate) struct Stream<'a> {
    bytes: &'a [u8],
    pub(crate) consumed: usize,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, consumed: 0 }
    }
}

impl TryRng for Stream<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let end = self.consumed + out.len();
        assert!(end <= self.bytes.len(), "the stream is too short");
        out.copy_from_slice(&self.bytes[self.consumed..end]);
        self.consumed = end;
        Ok(())
    }
}

impl TryCryptoRng for Stream<'_> {}

/// SplitMix64, for arbitrary but fixed numbers.
pub(crate) struct Mix(pub(crate) u64);

impl Mix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ a >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        b ^ b >> 31
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// `count` numbers of at least `least` that sum to `one`.
    pub(crate) fn parts(&mut self, count: usize, one: u64, least: u64) -> Vec<u64> {
        let spread = one - least * count as u64;
        let mut cuts: Vec<u64> = (1..count).map(|_| self.next() % (spread + 1)).collect();
        cuts.extend([0, spread]);
        cuts.sort_unstable();
        cuts.windows(2).map(|pair| pair[1] - pair[0] + least).collect()
    }
}
