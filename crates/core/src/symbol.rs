//! What goes into a policy and what comes out of it.

use crate::codec::{hex_bytes, to_hex};
use crate::document::DecodeError;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
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

impl Token {
    /// The token as the two fields of a JSON object, `token` and `bits`, of which one is present.
    pub(crate) fn to_fields(&self) -> (Option<u32>, Option<String>) {
        match self {
            Self::Index(index) => (Some(*index), None),
            Self::Bits(bytes) => (None, Some(to_hex(bytes))),
        }
    }

    /// Reads the two fields of `owner`, a JSON object, in words.
    pub(crate) fn from_fields(
        token: Option<u32>,
        bits: Option<&str>,
        owner: &str,
    ) -> Result<Self, DecodeError> {
        match (token, bits) {
            (Some(index), None) => Ok(Self::Index(index)),
            (None, Some(digits)) => match hex_bytes(digits) {
                Some(bytes) => Ok(Self::Bits(bytes.into())),
                None => Err(DecodeError::Json { message: "bits: not hexadecimal digits".into() }),
            },
            _ => Err(DecodeError::Json {
                message: format!("{owner} has exactly one of: token, bits"),
            }),
        }
    }
}
