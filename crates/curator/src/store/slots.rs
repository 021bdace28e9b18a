//! Which policy of which round has which numbers: never changes once written, so it is remembered.

use super::fold::PolicySlot;
use super::group::SlotRows;
use super::{Batch, RoundKey, StoreError};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use undertone_core::PolicyId;

/// Entries remembered; beyond it, all are forgotten and read again.
const LIMIT: usize = 4096;

#[derive(Default)]
pub(crate) struct PolicySlots(RwLock<HashMap<RoundKey, HashMap<PolicyId, PolicySlot>>>);

impl PolicySlots {
    pub(crate) fn get(&self, round: &RoundKey, policy: &PolicyId) -> Option<PolicySlot> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(round)?.get(policy).copied()
    }

    pub(crate) fn remember(&self, round: &RoundKey, policy: &PolicyId, slot: PolicySlot) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.values().map(HashMap::len).sum::<usize>() >= LIMIT {
            known.clear();
        }
        known.entry(round.clone()).or_default().insert(*policy, slot);
    }
}

/// A batch at its slot, its tokens checked.
pub(crate) fn slot_rows(slot: PolicySlot, batch: &Batch) -> Result<SlotRows, StoreError> {
    if batch.reports.row_bytes() != slot.row_bytes() {
        let (found, expected) = (batch.reports.row_bytes(), slot.row_bytes());
        return Err(StoreError::Misfit(format!("rows of {found} bytes instead of {expected}")));
    }
    slot.tokens
        .check(batch.reports.rows())
        .map_err(|error| StoreError::Misfit(error.to_string()))?;
    Ok(SlotRows { slot, rows: batch.reports.rows().clone() })
}

/// What is missing when a slot is not found.
pub(crate) fn missing(round: &RoundKey, policy: &PolicyId) -> StoreError {
    StoreError::NotFound(format!("policy {policy} in {round}"))
}
