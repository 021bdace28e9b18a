//! Indices in as few bits as they need, one behind the other.

use crate::{ID_BYTES, INDEX_BYTES, ReportRows};
use bytes::Bytes;

/// Writes the number of bits, all ids, and all indices in so many bits each, the highest first.
pub(crate) fn write(bits: u8, rows: &ReportRows, body: &mut Vec<u8>) {
    body.push(bits);
    let rows = || rows.rows().chunks_exact(ID_BYTES + INDEX_BYTES);
    rows().for_each(|row| body.extend_from_slice(&row[..ID_BYTES]));
    let (mut waiting, mut held) = (0u64, 0u32);
    for row in rows() {
        let index = row[ID_BYTES..].iter().fold(0, |index, &byte| index << 8 | u64::from(byte));
        // At most 7 bits wait, and an index has at most 32.
        waiting = waiting << bits | index;
        held += u32::from(bits);
        while held >= 8 {
            held -= 8;
            body.push((waiting >> held) as u8);
        }
        waiting &= (1 << held) - 1;
    }
    if held > 0 {
        body.push((waiting << (8 - held)) as u8);
    }
}

/// The number of bits and the rows, each an id and an index of four bytes; `None` if the bytes are not what is written for so
/// many reports.
pub(crate) fn read(bytes: &[u8], count: usize) -> Option<(u8, Bytes)> {
    let (&bits, rest) = bytes.split_first()?;
    if !(1..=32).contains(&bits) {
        return None;
    }
    let (ids, tokens) = rest.split_at_checked(count * ID_BYTES)?;
    let used = count * usize::from(bits);
    if tokens.len() != used.div_ceil(8) {
        return None;
    }
    let mut rows = Vec::with_capacity(count * (ID_BYTES + INDEX_BYTES));
    let (mut waiting, mut held) = (0u64, 0u32);
    let mut tokens = tokens.iter();
    for id in ids.chunks_exact(ID_BYTES) {
        while held < u32::from(bits) {
            waiting = waiting << 8 | u64::from(*tokens.next()?);
            held += 8;
        }
        held -= u32::from(bits);
        rows.extend_from_slice(id);
        rows.extend_from_slice(&((waiting >> held) as u32).to_be_bytes());
        waiting &= (1 << held) - 1;
    }
    // What is left are the spare bits of the last byte.
    (waiting == 0).then(|| (bits, rows.into()))
}
