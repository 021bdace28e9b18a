//! Counting each report once, in sorted runs.
//!
//! The ids counted so far in a round are kept in *runs*: sorted, cut into chunks of one database page.
//! Runs are disjoint, because an id enters one only after it was looked for in all of them. A step of
//! folding takes what arrived, sorts it by id ([`Arrivals`]), and merges it with every run, reading
//! only chunks that could hold one of the new ids: the check is a merge when much has arrived, and a
//! look at one chunk per run when little has. What survives is counted and becomes a new run.
//!
//! Runs of like size are merged ([`plan`], [`merge`]) so that their number stays logarithmic and each id is
//! rewritten only a logarithmic number of times. A merge moves ids between runs in bounded steps;
//! the ids of all runs together are the ids counted at every moment, so a step that is lost or
//! repeated changes nothing. Chunks are cut by number, not by value: whoever chooses their own
//! ids gains nothing by it. Memory is bounded by one step, whatever is stored. Once a
//! round is sealed and counted its ids are deleted: nothing can arrive any more.
//!
//! A step is worked out and written by the same code for both engines ([`Step`]), which give it their statements
//! ([`FoldSql`]).

mod arrivals;
mod runs;
mod sql;
mod step;

pub(crate) use arrivals::{Arrivals, Delta};
pub(crate) use runs::Run;
pub(crate) use sql::{ChunkStart, FoldSql, Taken};
pub(crate) use step::{Step, Turns};

use arrivals::Sorted;
use runs::{Lane, Merged, merge, plan};

/// Steps of merging that go before the next step of counting: enough for three levels of runs.
const MERGES_PER_COUNT: u32 = 6;

use super::StoreError;
use undertone_wire::{ID_BYTES, TokenShape};

/// A policy in a round, by the engine's own numbers, and what its tokens look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PolicySlot {
    pub(crate) round: i64,
    pub(crate) policy: i64,
    pub(crate) tokens: TokenShape,
}

/// A chunk, and a row of arrivals, fit one page of either engine.
pub(crate) const ROW_BYTES: usize = 7680;

impl PolicySlot {
    pub(crate) fn row_bytes(self) -> usize {
        self.tokens.row_bytes()
    }

    /// How many reports go into one row of the database.
    pub(crate) fn reports_per_row(self) -> usize {
        (ROW_BYTES / self.row_bytes()).max(1)
    }
}

/// An id as a number, in the order of its bytes.
fn number(id: &[u8]) -> u128 {
    id.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// The counts of a tally as the engines keep them.
pub(crate) fn encode(counts: &[u64]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_be_bytes()).collect()
}

/// The counts of a tally, read back.
pub(crate) fn decode(bytes: &[u8], outputs: u32) -> Result<Vec<u64>, StoreError> {
    if bytes.len() != 8 * outputs as usize {
        return Err(StoreError::Corrupt("a tally does not have one count per output".into()));
    }
    let number = |eight: &[u8]| eight.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    Ok(bytes.chunks_exact(8).map(number).collect())
}

/// A chunk read back: whole ids, in order.
fn check_chunk(chunk: &[u8]) -> Result<(), StoreError> {
    if chunk.is_empty() || !chunk.len().is_multiple_of(ID_BYTES) {
        return Err(StoreError::Corrupt("a run has a chunk that is not made of ids".into()));
    }
    Ok(())
}
