//! Appends that share a commit.

use super::StoreError;
use super::fold::PolicySlot;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::oneshot;

/// Appends that wait in front of the writer at most; more wait outside.
pub(crate) const QUEUE: usize = 4096;
/// Bytes one commit takes at most: bounds how long everybody in it waits.
pub(crate) const GROUP_BYTES: usize = 4 << 20;

/// Rows of one policy in one round.
pub(crate) struct SlotRows {
    pub(crate) slot: PolicySlot,
    pub(crate) rows: Bytes,
}

/// One call of `append` that waits for its commit.
pub(crate) struct Appending {
    pub(crate) rows: Vec<SlotRows>,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

impl Appending {
    pub(crate) fn bytes(&self) -> usize {
        self.rows.iter().map(|one| one.rows.len()).sum()
    }

    pub(crate) fn answer(self, result: Result<(), StoreError>) {
        // A caller who went away needs no answer; its reports are stored all the same.
        let _ = self.done.send(result);
    }

    /// Whether one of its rounds is not among the open ones.
    pub(crate) fn is_late(&self, open: &BTreeSet<i64>) -> bool {
        self.rows.iter().any(|one| !open.contains(&one.slot.round))
    }
}

/// The rounds a group is about.
pub(crate) fn rounds(group: &[Appending]) -> BTreeSet<i64> {
    group.iter().flat_map(|appending| &appending.rows).map(|one| one.slot.round).collect()
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
    let mut slots: BTreeMap<(i64, i64), (PolicySlot, Vec<&Bytes>)> = BTreeMap::new();
    for one in group.iter().flat_map(|appending| &appending.rows) {
        let key = (one.slot.round, one.slot.policy);
        slots.entry(key).or_insert((one.slot, Vec::new())).1.push(&one.rows);
    }
    let mut packed = Vec::new();
    for (slot, blocks) in slots.into_values() {
        let full = slot.reports_per_row() * slot.row_bytes();
        let mut row = Vec::new();
        let mut finish = |rows: Vec<u8>| {
            let reports = rows.len() / slot.row_bytes();
            packed.push(Row { round: slot.round, policy: slot.policy, reports, rows });
        };
        for mut rest in blocks.into_iter().map(|block| &block[..]) {
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
