//! Which policy of which round has which numbers: never changes once written, so it is remembered.

use super::fold::Place;
use super::group::Lot;
use super::{Batch, RoundKey, StoreError};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use undertone_core::PolicyId;

/// Entries remembered; beyond it, all are forgotten and read again.
const LIMIT: usize = 4096;

#[derive(Default)]
pub(crate) struct Places(RwLock<HashMap<RoundKey, HashMap<PolicyId, Place>>>);

impl Places {
    pub(crate) fn get(&self, round: &RoundKey, policy: &PolicyId) -> Option<Place> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(round)?.get(policy).copied()
    }

    pub(crate) fn remember(&self, round: &RoundKey, policy: &PolicyId, place: Place) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.values().map(HashMap::len).sum::<usize>() >= LIMIT {
            known.clear();
        }
        known.entry(round.clone()).or_default().insert(*policy, place);
    }
}

/// A batch at its place, its tokens checked.
pub(crate) fn lot(place: Place, batch: &Batch) -> Result<Lot, StoreError> {
    if batch.reports.row_bytes() != place.row_bytes() {
        let (found, expected) = (batch.reports.row_bytes(), place.row_bytes());
        return Err(StoreError::Misfit(format!("rows of {found} bytes instead of {expected}")));
    }
    place
        .tokens
        .check(batch.reports.rows())
        .map_err(|error| StoreError::Misfit(error.to_string()))?;
    Ok(Lot { place, rows: batch.reports.rows().clone() })
}

/// What is missing when a place is not found.
pub(crate) fn missing(round: &RoundKey, policy: &PolicyId) -> StoreError {
    StoreError::NotFound(format!("policy {policy} in {round}"))
}
