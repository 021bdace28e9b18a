//! The statements that a step of folding is made of, and nothing else: what to do with them is in `step.rs`.

use super::{Arrivals, PolicySlot, Run};
use crate::store::StoreError;
use crate::store::row::TallyRow;
use undertone_wire::ID_BYTES;

type Outcome<T> = Result<T, StoreError>;

/// Batches that were read.
pub(crate) struct Taken {
    /// Their numbers, ascending.
    pub(crate) batches: Vec<i64>,
    /// Whether there may be more behind them.
    pub(crate) more: bool,
}

/// Where in a run to begin.
#[derive(Clone, Copy)]
pub(crate) enum ChunkStart<'a> {
    /// At the chunk that holds this id if any does.
    Holding(&'a [u8; ID_BYTES]),
    /// Behind the chunk that begins with this id; behind nothing, at the first one.
    After(&'a [u8]),
}

/// A transaction of an engine, as far as folding uses it. What is read has its checksum, or the step ends.
///
/// Statements of an engine that does not wait are done when their future is made and polled once.
pub(crate) trait FoldSql {
    /// Reads batches, oldest first, until `most` reports have arrived or a page of the engine is full.
    async fn arrivals(&self, most: usize, into: &mut Arrivals) -> Outcome<Taken>;

    /// Whether batches wait: of one round, or any.
    async fn has_arrivals(&self, round: Option<i64>) -> Outcome<bool>;

    /// Deletes batches that were read before.
    async fn delete_batches(&self, taken: &[i64]) -> Outcome<()>;

    /// The runs of a round, by their number.
    async fn runs(&self, round: i64) -> Outcome<Vec<Run>>;

    /// An open round with a merge under way, and the run that is merged into.
    async fn merging(&self) -> Outcome<Option<(i64, i64)>>;

    /// A round that takes no reports any more and still has ids.
    async fn unswept(&self) -> Outcome<Option<i64>>;

    /// Whether runs wait to be merged or deleted.
    async fn is_untidy(&self) -> Outcome<bool>;

    /// At most `limit` chunks of a run, in order.
    async fn chunks(&self, run: i64, from: ChunkStart<'_>, limit: usize) -> Outcome<Vec<Vec<u8>>>;

    /// For each of some ids the chunk of a run that holds it if any does, in any order.
    async fn chunks_holding(&self, run: i64, ids: &[[u8; ID_BYTES]]) -> Outcome<Vec<Vec<u8>>>;

    /// A new run that will have so many ids.
    async fn new_run(&self, round: i64, ids: u64) -> Outcome<i64>;

    /// Adds chunks to a run.
    async fn insert_chunks(&self, run: i64, chunks: &[Vec<u8>]) -> Outcome<()>;

    /// Marks runs of a round for merging into another.
    async fn set_target(&self, round: i64, runs: &[Run], target: i64) -> Outcome<()>;

    /// Deletes the chunks of some runs that begin at or below an id.
    async fn delete_chunks(&self, runs: &[i64], up_to: &[u8; ID_BYTES]) -> Outcome<()>;

    /// Deletes runs without chunks.
    async fn delete_runs(&self, runs: &[i64]) -> Outcome<()>;

    /// A tally as it is stored.
    async fn tally(&self, slot: PolicySlot) -> Outcome<TallyRow>;

    /// Replaces a tally.
    async fn set_tally(&self, tally: &TallyRow) -> Outcome<()>;

    /// Deletes at most `limit` chunks of a round and says how many there were.
    async fn sweep_chunks(&self, round: i64, limit: usize) -> Outcome<u64>;

    /// Deletes a round's runs, which have no chunks any more, and marks it as swept.
    async fn finish_sweep(&self, round: i64) -> Outcome<()>;
}
