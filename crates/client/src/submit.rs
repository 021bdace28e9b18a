//! What may come of sending reports.

use undertone_wire::{BatchError, ProblemDocument};

/// Why reports were not taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// Sending the same again will not help.
    #[error("the curator refuses: {0}")]
    Refused(ProblemDocument),
    /// It may help, later.
    #[error("the curator cannot be reached or is busy: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
        /// How many seconds the curator asks to wait.
        wait: Option<u64>,
    },
    /// The reports cannot be written in one body.
    #[error("{reason}")]
    Body {
        /// Why they cannot.
        reason: String,
    },
}

/// Whether a status asks to come back later: time-outs, too many requests, and everything that is
/// the server's fault. A redirect or another answer that is not ours (a captive portal) counts as
/// "later" too, because nothing was acknowledged.
pub(crate) fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
}

impl From<BatchError> for SubmitError {
    fn from(error: BatchError) -> Self {
        Self::Body { reason: error.to_string() }
    }
}
