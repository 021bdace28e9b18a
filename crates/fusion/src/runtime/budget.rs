//! Which epochs may be spoken in.

use undertone_design::Error;

use crate::Bundle;

/// As many epochs from a first one on as the network was certified for, or fewer.
///
/// All sensors and the centre must have the same: a certificate for T epochs is about the same T
/// epochs of all sensors, not about T epochs of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    first: u64,
    epochs: u32,
}

impl Budget {
    /// `epochs` epochs from `first` on; all that were certified if none are given.
    pub fn new(bundle: &Bundle, first: u64, epochs: Option<u32>) -> Result<Self, Error> {
        let certified = bundle.epochs();
        match epochs {
            Some(epochs) if epochs > certified => {
                let problem = format!(
                    "is above the {certified} this network was certified for: design it for {epochs}"
                );
                Err(Error::other(format!("a budget of {epochs} epochs"), problem))
            }
            epochs => Ok(Self { first, epochs: epochs.unwrap_or(certified) }),
        }
    }

    /// All epochs that were certified, from epoch 1 on.
    pub fn certified(bundle: &Bundle) -> Self {
        Self { first: 1, epochs: bundle.epochs() }
    }

    /// The first epoch.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// How many epochs.
    pub fn epochs(&self) -> u32 {
        self.epochs
    }

    /// Whether this epoch is one of them.
    pub fn covers(&self, epoch: u64) -> bool {
        epoch.checked_sub(self.first).is_some_and(|since| since < u64::from(self.epochs))
    }

    /// Whether all of them are before this epoch.
    pub fn is_over(&self, epoch: u64) -> bool {
        epoch >= self.first && !self.covers(epoch)
    }

    /// As many epochs from another one on.
    pub(super) fn moved(&self, first: u64) -> Self {
        Self { first, ..*self }
    }
}
