//! What a curator says once reports are on disk.

use serde::{Deserialize, Serialize};

/// How many reports of a body are on disk: all of them, or this is not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Acknowledgement {
    /// As many as the body carried.
    pub accepted: u64,
}
