//! Counting in the background.

use std::sync::Arc;
use std::time::{Duration, Instant};

use undertone_wire::{Code, Problem};

use super::AppState;
use crate::store::{Progress, RoundKey, StoreError};

/// How long to wait for reports before looking anyway.
const IDLE: Duration = Duration::from_secs(5);

impl AppState {
    /// One step of counting.
    pub(crate) async fn fold_once(&self) -> Result<Progress, StoreError> {
        let progress = self.app.store.fold().await?;
        self.metrics.folded.inc_by(progress.folded);
        self.metrics.duplicates.inc_by(progress.duplicates);
        Ok(progress)
    }

    /// Counts for good: step after step while there is something to do, then a pause.
    pub(crate) async fn fold_forever(self: Arc<Self>) {
        let pause = self.app.settings.fold_pause;
        loop {
            match self.fold_once().await {
                Ok(progress) if progress.more => tokio::task::yield_now().await,
                Ok(_) => {
                    self.wipe_if_due().await;
                    // Another curator on the same database may have stopped with work left.
                    let _ = tokio::time::timeout(IDLE, self.appended.notified()).await;
                    // What arrives together is counted together.
                    tokio::time::sleep(pause).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "counting failed and is tried again");
                    tokio::time::sleep(pause.max(Duration::from_secs(1))).await;
                }
            }
        }
    }

    /// Counts until nothing of a round waits, for at most the time of a long request.
    pub(crate) async fn fold_round(&self, key: &RoundKey) -> Result<(), Problem> {
        let until = Instant::now() + self.app.settings.design_timeout.mul_f64(0.8);
        loop {
            let waiting: u64 =
                self.app.store.tallies(key).await?.iter().map(|tally| tally.unfolded).sum();
            if waiting == 0 {
                return Ok(());
            }
            if Instant::now() > until {
                let detail = format!("{waiting} reports of {key} wait to be counted: try again");
                return Err(Problem::new(Code::Unavailable, detail).retry_after(30));
            }
            let progress = self.fold_once().await?;
            if progress.folded + progress.duplicates == 0 && !progress.more {
                // Another curator is counting.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
