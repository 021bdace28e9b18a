//! Random bytes of the system, fetched before anything is charged.

use core::convert::Infallible;
use rand_core::{TryCryptoRng, TryRng};
use undertone_core::{Policy, Shape};

/// Bytes of the system's generator, enough for one report. They are fetched in one go, so that a
/// generator that fails does so before the ledger is touched, and are wiped when dropped.
pub(crate) struct SystemBytes {
    bytes: Vec<u8>,
    used: usize,
}

impl SystemBytes {
    /// Enough to draw any token of the policy and a report id.
    pub(crate) fn for_report(policy: &Policy) -> Result<Self, getrandom::Error> {
        let token = match policy.draft().shape() {
            Shape::Table(_) => 6,
            Shape::Keep(_) => 11,
            Shape::Bits(bits) => 4 * bits.symbols(),
        };
        let mut bytes = vec![0; token + 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self { bytes, used: 0 })
    }
}

impl TryRng for SystemBytes {
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
        let end = self.used + out.len();
        // `for_report` counted what the pinned map reads; past it the slice itself stops the program.
        out.copy_from_slice(&self.bytes[self.used..end]);
        self.used = end;
        Ok(())
    }
}

impl TryCryptoRng for SystemBytes {}

impl Drop for SystemBytes {
    fn drop(&mut self) {
        // The token and these bytes together say much about the input.
        self.bytes.fill(0);
        core::hint::black_box(&self.bytes);
    }
}
