//! What goes into a policy and what comes out of it.

use alloc::boxed::Box;
use core::fmt;

/// A secret input: an index into the policy's input alphabet.
///
/// It does not print and nothing decodes to it: the only way to make one is to ask an
/// [`Alphabet`](crate::Alphabet).
///
/// ```compile_fail
/// let leaked: undertone_core::Symbol = serde_json::from_str("0").unwrap();
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Symbol(u32);

impl Symbol {
    pub(crate) const fn new(index: u32) -> Self {
        Self(index)
    }

    pub(crate) const fn index(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Symbol(..)")
    }
}

/// A public output: an index for `Table` and `Keep`, one bit per symbol for `Bits`.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Token {
    /// An index into the output alphabet.
    Index(u32),
    /// One bit per symbol, packed: bit i is `0x80 >> (i % 8)` of byte `i / 8`; spare bits are zero.
    Bits(Box<[u8]>),
}
