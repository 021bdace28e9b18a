//! Retention as it is done: what was deleted from the tables is removed from the database's files too, and the log says so.
//!
//! Reports and their ids are deleted as soon as their round is sealed and counted; a database keeps deleted bytes until
//! it needs their place. When nothing waits to be counted the files are rewritten without them.

use std::time::{Duration, Instant};

use serde_json::json;
use undertone_wire::{Code, Problem, SurveyId};

use super::tokens::CURATOR;
use super::{AppState, locked};
use crate::store::{StoreError, Unwiped};

/// After a failure, such as a disk without room for a second copy, the next attempt waits.
const PAUSE: Duration = Duration::from_secs(600);

impl AppState {
    /// Wipes if something was deleted; what fails is tried again later.
    pub(crate) async fn wipe_if_due(&self) {
        if locked(&self.wipe_not_before).is_some_and(|at| Instant::now() < at) {
            return;
        }
        let again = match self.wipe().await {
            Ok(()) => None,
            Err(error) => {
                tracing::warn!(%error, "deleted reports are not yet off the disk; it is tried again");
                Some(Instant::now() + PAUSE)
            }
        };
        *locked(&self.wipe_not_before) = again;
    }

    async fn wipe(&self) -> Result<(), StoreError> {
        let store = &self.app.store;
        let Unwiped { rounds, deletions } = store.unwiped().await?;
        if rounds.is_empty() && deletions == 0 {
            return Ok(());
        }
        store.wipe().await?;
        let noted: Vec<_> = rounds
            .into_iter()
            .map(|key| {
                let detail = json!({"round": key.number});
                let event = self.event(&key.survey, "reports_erased", CURATOR, detail);
                (key, event)
            })
            .collect();
        store.note_wiped(&noted, deletions).await?;
        tracing::info!(rounds = noted.len(), deletions, "what was deleted is off the disk");
        Ok(())
    }

    /// Wipes after a survey was deleted, before whoever asked for it is told.
    pub(crate) async fn wipe_now(&self, id: &SurveyId) -> Result<(), Problem> {
        self.wipe().await.map_err(|error| {
            tracing::warn!(survey = %id, %error, "a deleted survey is not yet off the disk");
            let detail =
                format!("survey {id} is deleted and not yet off the disk: it is tried again");
            Problem::new(Code::Unavailable, detail).retry_after(600)
        })
    }
}
