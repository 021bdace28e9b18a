//! What the tokens of one policy look like in bytes.

use undertone_core::Draft;

/// Bytes of a report's id.
pub const ID_BYTES: usize = 16;

/// Bytes of a token that is an index.
pub const INDEX_BYTES: usize = 4;

/// What the tokens of one policy look like: an index below the number of outputs, or one bit for each output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenShape {
    /// How many outputs there are.
    pub outputs: u32,
    /// Whether a token is one bit per output instead of an index.
    pub bits: bool,
}

/// Why rows are not reports of a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Not a whole number of rows.
    #[error("{bytes} bytes are no rows of {width}")]
    Length {
        /// How many bytes there are.
        bytes: usize,
        /// How many a row has.
        width: usize,
    },
    /// Bits behind the last output.
    #[error("a token has spare bits set")]
    SpareBits,
    /// An index beyond the last output.
    #[error("token {index} of {outputs} outputs")]
    Index {
        /// The index.
        index: u32,
        /// How many outputs there are.
        outputs: u32,
    },
}

impl TokenShape {
    /// The tokens of a policy.
    pub fn of(draft: &Draft) -> Self {
        let shape = draft.shape();
        // At most 2^24 outputs, by the kernel's own limit.
        Self { outputs: shape.outputs() as u32, bits: shape.releases_bits() }
    }

    /// Bytes of one token.
    pub fn token_bytes(self) -> usize {
        if self.bits { (self.outputs as usize).div_ceil(8) } else { INDEX_BYTES }
    }

    /// Bytes of one row: a report's id, and its token.
    pub fn row_bytes(self) -> usize {
        ID_BYTES + self.token_bytes()
    }

    /// Whether bytes are whole rows, and every token in them is one the policy releases.
    pub fn check(self, rows: &[u8]) -> Result<(), Misfit> {
        let width = self.row_bytes();
        if !rows.len().is_multiple_of(width) {
            return Err(Misfit::Length { bytes: rows.len(), width });
        }
        let outputs = self.outputs;
        let mut rows = rows.chunks_exact(width);
        if self.bits {
            let spare = outputs.next_multiple_of(8) - outputs;
            let mask = ((1u16 << spare) - 1) as u8;
            let clean = rows.all(|row| row[width - 1] & mask == 0);
            return if clean { Ok(()) } else { Err(Misfit::SpareBits) };
        }
        match rows.map(index).find(|&index| index >= outputs) {
            Some(index) => Err(Misfit::Index { index, outputs }),
            None => Ok(()),
        }
    }

    /// Adds the token of one row to the counts of the outputs.
    pub fn count(self, row: &[u8], counts: &mut [u64]) {
        if self.bits {
            for (byte, counts) in row[ID_BYTES..].iter().zip(counts.chunks_mut(8)) {
                for (place, count) in counts.iter_mut().enumerate() {
                    *count += u64::from(byte >> (7 - place) & 1);
                }
            }
        } else if let Some(count) = counts.get_mut(index(row) as usize) {
            *count += 1;
        }
    }
}

/// The index in a row.
fn index(row: &[u8]) -> u32 {
    row[ID_BYTES..].iter().fold(0, |index, &byte| index << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_checked_and_counted() {
        let bits = TokenShape { outputs: 11, bits: true };
        let row = |token: &[u8]| [&[7; ID_BYTES][..], token].concat();
        assert_eq!(bits.row_bytes(), ID_BYTES + 2);
        assert_eq!(bits.check(&row(&[0xff, 0xe0])), Ok(()));
        assert_eq!(bits.check(&row(&[0, 0x10])), Err(Misfit::SpareBits));
        assert_eq!(bits.check(&row(&[0])), Err(Misfit::Length { bytes: 17, width: 18 }));
        let mut counts = [0; 11];
        bits.count(&row(&[0x81, 0x20]), &mut counts);
        assert_eq!(counts, [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]);

        let index = TokenShape { outputs: 300, bits: false };
        assert_eq!(index.check(&row(&299u32.to_be_bytes())), Ok(()));
        let beyond = index.check(&[row(&[0; 4]), row(&300u32.to_be_bytes())].concat());
        assert_eq!(beyond, Err(Misfit::Index { index: 300, outputs: 300 }));
        let mut counts = [0; 300];
        index.count(&row(&299u32.to_be_bytes()), &mut counts);
        assert_eq!((counts[299], counts.iter().sum::<u64>()), (1, 1));
    }
}
