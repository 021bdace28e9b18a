//! Merging runs of like size.

use super::arrivals::cut;
use super::number;
use crate::store::StoreError;
use crate::store::row::run_sum;
use std::collections::BTreeMap;
use undertone_wire::ID_BYTES;

/// A sorted run of ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) id: i64,
    /// How many ids it has when no merge is under way.
    pub(crate) ids: u64,
    /// The run it is being merged into.
    pub(crate) target: Option<i64>,
}

impl Run {
    /// Itself, if the checksum of its row is the one found.
    pub(crate) fn verified(self, round: i64, found: i64) -> Result<Self, StoreError> {
        if run_sum(round, self.ids, self.target) == found {
            return Ok(self);
        }
        Err(StoreError::Corrupt("a run of ids does not have its checksum".into()))
    }
}

/// Which runs of one round should be merged into one: `fan` or more of like size, the smallest first.
/// Runs in the middle of a merge are left alone.
pub(crate) fn plan(runs: &[Run], fan: usize, chunk_ids: usize) -> Option<Vec<Run>> {
    let fan = fan.max(2);
    let mut levels: BTreeMap<u32, Vec<Run>> = BTreeMap::new();
    let settled =
        |run: &&Run| run.target.is_none() && !runs.iter().any(|from| from.target == Some(run.id));
    for run in runs.iter().filter(settled) {
        let chunks = (run.ids / chunk_ids.max(1) as u64).max(1);
        levels.entry(chunks.ilog(fan as u64)).or_default().push(*run);
    }
    levels.into_values().find(|level| level.len() >= fan)
}

/// The first chunks of a run that is being merged away, and whether it has more.
pub(crate) struct Lane {
    pub(crate) run: i64,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) more: bool,
}

/// One step of a merge.
pub(crate) struct Merged {
    /// New chunks at the end of the target.
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Chunks that begin at or below it leave their runs ...
    pub(crate) bound: [u8; ID_BYTES],
    /// ... and what they held above it is put back.
    pub(crate) rests: Vec<(i64, Vec<u8>)>,
    /// Whether nothing is left in the runs.
    pub(crate) finished: bool,
}

/// Merges as far as the chunks at hand allow: up to the least last id of the runs that have more.
pub(crate) fn merge(lanes: &[Lane], chunk_ids: usize) -> Merged {
    let last = |lane: &Lane| {
        lane.chunks.last().map(|chunk| number(&chunk[chunk.len() - ID_BYTES..])).unwrap_or(0)
    };
    let bound = lanes.iter().filter(|lane| lane.more).map(last).min().unwrap_or(u128::MAX);
    let mut ids = Vec::new();
    let mut rests = Vec::new();
    for lane in lanes {
        for chunk in &lane.chunks {
            let below = chunk.chunks_exact(ID_BYTES).take_while(|id| number(id) <= bound).count();
            ids.extend(chunk[..below * ID_BYTES].chunks_exact(ID_BYTES).map(number));
            let rest = &chunk[below * ID_BYTES..];
            if below > 0 && !rest.is_empty() {
                rests.push((lane.run, rest.to_vec()));
            }
        }
    }
    // The standard sort finds the sorted stretches and merges them.
    ids.sort();
    let finished = lanes.iter().all(|lane| !lane.more);
    Merged { chunks: cut(&ids, chunk_ids), bound: bound.to_be_bytes(), rests, finished }
}
