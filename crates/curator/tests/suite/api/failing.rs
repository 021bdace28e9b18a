//! A store that fails on demand, and counts what it is asked.

use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use undertone_core::PolicyId;
use undertone_curator::store::*;
use undertone_wire::SurveyId;

/// A store that fails on demand.
pub(crate) struct Failing {
    inner: Arc<dyn Store>,
    mode: Arc<AtomicU8>,
    /// How often it was asked for something.
    pub(crate) reads: AtomicU64,
}

pub(crate) const WELL: u8 = 0;
pub(crate) const FULL: u8 = 1;
pub(crate) const GONE: u8 = 2;
pub(crate) const SLOW: u8 = 3;

impl Failing {
    pub(crate) fn new(inner: Arc<dyn Store>, mode: Arc<AtomicU8>) -> Self {
        Self { inner, mode, reads: AtomicU64::new(0) }
    }

    fn count(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    async fn check(&self) -> Result<(), StoreError> {
        match self.mode.load(Ordering::Relaxed) {
            FULL => Err(StoreError::Full),
            GONE => Err(StoreError::Unavailable("the cable is cut".into())),
            SLOW => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Failing {
    async fn create_survey(&self, survey: &NewSurvey) -> Result<(), StoreError> {
        self.inner.create_survey(survey).await
    }
    async fn survey(&self, id: &SurveyId) -> Result<Option<Versioned>, StoreError> {
        self.count();
        self.inner.survey(id).await
    }
    async fn overview(
        &self,
        after: Option<&SurveyId>,
        limit: u32,
    ) -> Result<Vec<Overview>, StoreError> {
        self.count();
        self.inner.overview(after, limit).await
    }
    async fn replace_survey(
        &self,
        id: &SurveyId,
        expected: u64,
        document: &str,
        event: &Event,
    ) -> Result<u64, StoreError> {
        self.inner.replace_survey(id, expected, document, event).await
    }
    async fn open_round(
        &self,
        key: &RoundKey,
        policies: &[NewPolicy],
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        self.inner.open_round(key, policies, survey, event).await
    }
    async fn rounds(&self, survey: &SurveyId) -> Result<Vec<RoundRecord>, StoreError> {
        self.count();
        self.inner.rounds(survey).await
    }
    async fn policy(&self, id: &PolicyId) -> Result<Option<Vec<u8>>, StoreError> {
        self.count();
        self.inner.policy(id).await
    }
    async fn append(&self, batches: Vec<Batch>) -> Result<(), StoreError> {
        self.check().await?;
        self.inner.append(batches).await
    }
    async fn move_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        round: Option<(u32, RoundStep)>,
        events: &[Event],
    ) -> Result<u64, StoreError> {
        self.inner.move_survey(id, survey, round, events).await
    }
    async fn erase_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        self.inner.erase_survey(id, survey, event).await
    }
    async fn unwiped(&self) -> Result<Unwiped, StoreError> {
        self.inner.unwiped().await
    }
    async fn wipe(&self) -> Result<(), StoreError> {
        self.inner.wipe().await
    }
    async fn note_wiped(
        &self,
        rounds: &[(RoundKey, Event)],
        deletions: u64,
    ) -> Result<(), StoreError> {
        self.inner.note_wiped(rounds, deletions).await
    }
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.inner.tokens().await
    }
    async fn change_tokens(
        &self,
        revoke: Option<(&str, i64, &str)>,
        add: Option<&TokenRecord>,
    ) -> Result<(), StoreError> {
        self.inner.change_tokens(revoke, add).await
    }
    async fn load(&self) -> Result<Load, StoreError> {
        self.inner.load().await
    }
    async fn seal(&self, key: &RoundKey, at: i64, event: &Event) -> Result<(), StoreError> {
        self.inner.seal(key, at, event).await
    }
    async fn release(
        &self,
        key: &RoundKey,
        at: i64,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        self.inner.release(key, at, survey, event).await
    }
    async fn fold(&self) -> Result<Progress, StoreError> {
        self.inner.fold().await
    }
    async fn tallies(&self, key: &RoundKey) -> Result<Vec<RoundTally>, StoreError> {
        self.count();
        self.inner.tallies(key).await
    }
    async fn events(
        &self,
        survey: &SurveyId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainedEvent>, StoreError> {
        self.count();
        self.inner.events(survey, after, limit).await
    }
    async fn ready(&self) -> Result<(), StoreError> {
        self.check().await
    }
}
