//! What arrived since the last step, sorted by id.

use super::{PolicySlot, number};
use crate::store::StoreError;
use std::collections::BTreeMap;
use undertone_wire::ID_BYTES;

/// Rows taken from the database, not yet counted.
#[derive(Default)]
pub(crate) struct Arrivals {
    blocks: Vec<(PolicySlot, Vec<u8>)>,
    rounds: BTreeMap<i64, Vec<Arrival>>,
    reports: usize,
}

/// An id and where its row is. Ordered by id, then by arrival: of two the first one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    high: u64,
    low: u64,
    block: u32,
    row: u32,
}

impl Arrival {
    fn id(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

impl Arrivals {
    /// Takes one row of the database, oldest first.
    pub(crate) fn push(&mut self, slot: PolicySlot, rows: Vec<u8>) -> Result<(), StoreError> {
        slot.tokens.check(&rows).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let block = self.blocks.len() as u32;
        let arrivals = self.rounds.entry(slot.round).or_default();
        arrivals.extend(rows.chunks_exact(slot.row_bytes()).zip(0..).map(|(bytes, row)| {
            let id = number(&bytes[..ID_BYTES]);
            Arrival { high: (id >> 64) as u64, low: id as u64, block, row }
        }));
        self.reports += rows.len() / slot.row_bytes();
        self.blocks.push((slot, rows));
        Ok(())
    }

    /// How many there are.
    pub(crate) fn reports(&self) -> usize {
        self.reports
    }

    /// The arrivals of each round, sorted; repetitions among them struck out.
    pub(crate) fn sort(&mut self) -> Vec<(i64, Sorted)> {
        let sort = |(round, mut arrivals): (i64, Vec<Arrival>)| {
            arrivals.sort_unstable();
            let seen = (0..arrivals.len())
                .map(|at| at > 0 && arrivals[at - 1].id() == arrivals[at].id())
                .collect();
            (round, Sorted { arrivals, seen })
        };
        std::mem::take(&mut self.rounds).into_iter().map(sort).collect()
    }

    /// Counts what was not struck out, per policy.
    pub(crate) fn count(&self, sorted: &Sorted) -> Vec<Delta> {
        let mut deltas: BTreeMap<i64, Delta> = BTreeMap::new();
        for (arrival, seen) in sorted.arrivals.iter().zip(&sorted.seen) {
            let (slot, rows) = &self.blocks[arrival.block as usize];
            let delta = deltas.entry(slot.policy).or_insert_with(|| Delta::empty(*slot));
            if *seen {
                delta.duplicates += 1;
            } else {
                let start = arrival.row as usize * slot.row_bytes();
                slot.tokens.count(&rows[start..start + slot.row_bytes()], &mut delta.counts);
                delta.reports += 1;
            }
        }
        deltas.into_values().collect()
    }
}

/// What one step adds to a tally.
pub(crate) struct Delta {
    pub(crate) slot: PolicySlot,
    pub(crate) counts: Vec<u64>,
    pub(crate) reports: u64,
    pub(crate) duplicates: u64,
}

impl Delta {
    fn empty(slot: PolicySlot) -> Self {
        Self { slot, counts: vec![0; slot.tokens.outputs as usize], reports: 0, duplicates: 0 }
    }
}

/// The arrivals of one round in the order of their ids.
pub(crate) struct Sorted {
    arrivals: Vec<Arrival>,
    seen: Vec<bool>,
}

impl Sorted {
    /// How many there are, repetitions included.
    pub(crate) fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// The id of one arrival.
    pub(crate) fn id(&self, at: usize) -> Option<[u8; ID_BYTES]> {
        self.arrivals.get(at).map(|arrival| arrival.id().to_be_bytes())
    }

    /// Strikes out the arrivals from number `from` on that are in the chunk, and gives the number of the
    /// first one beyond it. Chunks of a run come in ascending order.
    pub(crate) fn strike(&mut self, from: usize, chunk: &[u8]) -> usize {
        let ids = chunk.len() / ID_BYTES;
        let id = |at: usize| number(&chunk[at * ID_BYTES..(at + 1) * ID_BYTES]);
        let (first, last) = (id(0), id(ids - 1));
        let start = from + gallop(&self.arrivals[from..], |arrival| arrival.id() < first);
        let end = start + gallop(&self.arrivals[start..], |arrival| arrival.id() <= last);
        // Few arrivals in a chunk are looked up, many are merged.
        if (end - start) * 8 < ids {
            let (mut low, mut at) = (0, start);
            while at < end {
                let wanted = self.arrivals[at].id();
                let mut high = ids;
                while low < high {
                    let middle = usize::midpoint(low, high);
                    if id(middle) < wanted { low = middle + 1 } else { high = middle }
                }
                self.seen[at] |= low < ids && id(low) == wanted;
                at += 1;
            }
        } else {
            let (mut low, mut at) = (0, start);
            while at < end && low < ids {
                match id(low).cmp(&self.arrivals[at].id()) {
                    std::cmp::Ordering::Less => low += 1,
                    // Not past the chunk's id: the next arrival may repeat it.
                    std::cmp::Ordering::Equal => {
                        self.seen[at] = true;
                        at += 1;
                    }
                    std::cmp::Ordering::Greater => at += 1,
                }
            }
        }
        end
    }

    /// The ids that were not struck out, cut into chunks: a new run.
    pub(crate) fn chunks(&self, chunk_ids: usize) -> (u64, Vec<Vec<u8>>) {
        let kept = self.arrivals.iter().zip(&self.seen).filter(|(_, seen)| !**seen);
        let ids: Vec<u128> = kept.map(|(arrival, _)| arrival.id()).collect();
        (ids.len() as u64, cut(&ids, chunk_ids))
    }
}

/// Sorted ids as chunks.
pub(super) fn cut(ids: &[u128], chunk_ids: usize) -> Vec<Vec<u8>> {
    let bytes = |ids: &[u128]| ids.iter().flat_map(|id| id.to_be_bytes()).collect();
    ids.chunks(chunk_ids.max(1)).map(bytes).collect()
}

/// How many of the first elements satisfy a test that the rest do not, found in time logarithmic in the
/// answer.
fn gallop<T>(items: &[T], below: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step <= items.len() && below(&items[step - 1]) {
        step *= 2;
    }
    let start = step / 2;
    start + items[start..items.len().min(step)].partition_point(below)
}
