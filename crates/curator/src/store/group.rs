//! Appends that share a commit.

use super::StoreError;
use super::fold::Place;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::oneshot;

/// Appends that wait in front of the writer at most; more wait outside.
pub(crate) const QUEUE: usize = 4096;
/// Bytes one commit takes at most: bounds how long everybody in it waits.
pub(crate) const GROUP_BYTES: usize = 4 << 20;

/// Rows of one policy in one round.
pub(crate) struct Lot {
    pub(crate) place: Place,
    pub(crate) rows: Bytes,
}

/// One call of `append` that waits for its commit.
pub(crate) struct Appending {
    pub(crate) lots: Vec<Lot>,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

impl Appending {
    pub(crate) fn bytes(&self) -> usize {
        self.lots.iter().map(|lot| lot.rows.len()).sum()
    }

    pub(crate) fn answer(self, result: Result<(), StoreError>) {
        // A caller who went away needs no answer; its reports are stored all the same.
        let _ = self.done.send(result);
    }

    /// Whether one of its rounds is not among the open ones.
    pub(crate) fn is_late(&self, open: &BTreeSet<i64>) -> bool {
        self.lots.iter().any(|lot| !open.contains(&lot.place.round))
    }
}

/// The rounds a group is about.
pub(crate) fn rounds(group: &[Appending]) -> BTreeSet<i64> {
    group.iter().flat_map(|one| &one.lots).map(|lot| lot.place.round).collect()
}

/// One row of the database.
pub(crate) struct Row {
    pub(crate) round: i64,
    pub(crate) policy: i64,
    pub(crate) reports: usize,
    pub(crate) rows: Vec<u8>,
}

/// All reports of a group in as few rows as possible, so that a commit of many single reports
/// costs one row.
pub(crate) fn pack(group: &[Appending]) -> Vec<Row> {
    let mut places: BTreeMap<(i64, i64), (Place, Vec<&Bytes>)> = BTreeMap::new();
    for lot in group.iter().flat_map(|one| &one.lots) {
        let key = (lot.place.round, lot.place.policy);
        places.entry(key).or_insert((lot.place, Vec::new())).1.push(&lot.rows);
    }
    let mut packed = Vec::new();
    for (place, lots) in places.into_values() {
        let full = place.reports_per_row() * place.row_bytes();
        let mut row = Vec::new();
        let mut finish = |rows: Vec<u8>| {
            let reports = rows.len() / place.row_bytes();
            packed.push(Row { round: place.round, policy: place.policy, reports, rows });
        };
        for mut rest in lots.into_iter().map(|lot| &lot[..]) {
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(full - row.len()));
                row.extend_from_slice(now);
                rest = later;
                if row.len() == full {
                    finish(std::mem::take(&mut row));
                }
            }
        }
        if !row.is_empty() {
            finish(row);
        }
    }
    packed
}
