//! What a failure of the store means to whoever asked. Its cause is logged and not sent.

use undertone_wire::{Code, Problem};

use crate::store::StoreError;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(what) => {
                Self::new(Code::Conflict, format!("{what}: read it again and decide anew"))
            }
            StoreError::NotFound(what) => Self::new(Code::NotFound, what),
            StoreError::RoundClosed => {
                Self::new(Code::RoundSealed, "the round was sealed: fetch the survey again")
            }
            StoreError::Unfolded => {
                Self::new(Code::Unavailable, "reports of the round wait to be counted: try again")
                    .retry_after(5)
            }
            StoreError::Misfit(what) => Self::new(Code::TokenOutOfRange, what),
            StoreError::Full => Self::new(
                Code::StorageFull,
                "the curator's disk is full: nothing was stored, keep the report and try later",
            )
            .retry_after(60),
            StoreError::AtLimit { most } => {
                tracing::warn!(most, "the store has grown to its limit and takes no reports");
                Self::new(
                    Code::StorageFull,
                    "the curator's store has grown to the size its owner allows: nothing was stored, keep the report and try later",
                )
                .retry_after(60)
            }
            StoreError::Unavailable(cause) => {
                tracing::warn!(%cause, "the store cannot be reached");
                Self::new(Code::Unavailable, "the store cannot be reached: try again")
                    .retry_after(2)
            }
            // Damaged, or of a kind this program does not know: the owner must look.
            other => {
                tracing::error!(cause = %other, "the store cannot be used");
                Self::new(Code::Unavailable, "the store cannot be used: its owner must look at it")
                    .retry_after(60)
            }
        }
    }
}
