//! The engine for production: PostgreSQL, with any number of curators on one database.
//!
//! Curators keep no state of their own. Advisory locks, which end with their transaction, keep them
//! apart: an append shares its rounds' locks, which sealing takes alone (they queue, so a stream of
//! appends does not keep sealing out); folding is done by one curator at a time.

mod catalogue;
mod connect;
mod folding;
mod life;
mod passfile;
pub(crate) mod rows;
mod schema;
mod size;
mod writer;

use super::fold::Turns;
use super::group::{Appending, QUEUE};
use super::slots::{PolicySlots, missing, slot_rows};
use super::{
    Batch, ChainedEvent, Event, Load, NewPolicy, NewSurvey, Options, Overview, Progress, RoundKey,
    RoundRecord, RoundStep, RoundTally, Store, StoreError, TokenRecord, Unwiped, Versioned,
};
use async_trait::async_trait;
use connect::{fault, unreachable};
use deadpool_postgres::{Object, Pool};
use size::Refusing;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use undertone_core::PolicyId;
use undertone_wire::SurveyId;

/// A store in a PostgreSQL database, in its schema `undertone`.
pub struct Postgres {
    pool: Pool,
    queue: mpsc::Sender<Appending>,
    /// Whose turn it is; locked while folding.
    turns: tokio::sync::Mutex<Turns>,
    slots: PolicySlots,
    options: Options,
    refusing: Arc<Refusing>,
}

impl Postgres {
    /// Connects, creating the tables if there are none and the options allow it.
    pub async fn open(address: &str, options: Options) -> Result<Self, StoreError> {
        let pool = connect::pool(address, &options.password)?;
        schema::create(&mut pool.get().await.map_err(unreachable)?, options.create).await?;
        let (queue, waiting) = mpsc::channel(QUEUE);
        let refusing = Arc::new(Refusing::default());
        tokio::spawn(writer::run(pool.clone(), waiting, options.clone(), refusing.clone()));
        let (turns, slots) = (tokio::sync::Mutex::default(), PolicySlots::default());
        Ok(Self { pool, queue, turns, slots, options, refusing })
    }

    async fn client(&self) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(unreachable)
    }
}

/// Held to the end of a step of folding, so that no report is counted by two curators.
const FOLD_LOCK: i64 = 0x756e_6465_0000_0000;
/// Held while the tables are made, so that several curators can start at once.
const SCHEMA_LOCK: i64 = FOLD_LOCK - 1;

/// The lock of a round, shared by appends and taken alone by sealing.
fn round_lock(round: i64) -> i64 {
    FOLD_LOCK.wrapping_add(round)
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the writer has stopped".into())
}

#[async_trait]
impl Store for Postgres {
    async fn create_survey(&self, survey: &NewSurvey) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        catalogue::create_survey(&change, survey).await?;
        self.options.faults.at("create/written");
        change.commit().await.map_err(fault)?;
        self.options.faults.at("create/committed");
        Ok(())
    }

    async fn survey(&self, id: &SurveyId) -> Result<Option<Versioned>, StoreError> {
        catalogue::survey(&self.client().await?, id).await
    }

    async fn overview(
        &self,
        after: Option<&SurveyId>,
        limit: u32,
    ) -> Result<Vec<Overview>, StoreError> {
        catalogue::overview(&self.client().await?, after, limit).await
    }

    async fn replace_survey(
        &self,
        id: &SurveyId,
        expected: u64,
        document: &str,
        event: &Event,
    ) -> Result<u64, StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        let version = catalogue::replace(&change, id, (expected, document)).await?;
        catalogue::log(&change, event).await?;
        change.commit().await.map_err(fault)?;
        Ok(version)
    }

    async fn open_round(
        &self,
        key: &RoundKey,
        policies: &[NewPolicy],
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        catalogue::open_round(&change, key, policies, survey, event).await?;
        change.commit().await.map_err(fault)
    }

    async fn rounds(&self, survey: &SurveyId) -> Result<Vec<RoundRecord>, StoreError> {
        catalogue::rounds(&self.client().await?, survey).await
    }

    async fn policy(&self, id: &PolicyId) -> Result<Option<Vec<u8>>, StoreError> {
        catalogue::policy(&self.client().await?, id).await
    }

    async fn append(&self, batches: Vec<Batch>) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(batches.len());
        for batch in batches.iter().filter(|batch| !batch.reports.is_empty()) {
            let slot = match self.slots.get(&batch.round, &batch.policy) {
                Some(slot) => slot,
                None => {
                    let client = self.client().await?;
                    let found = catalogue::slot(&client, &batch.round, &batch.policy).await?;
                    let slot = found.ok_or_else(|| missing(&batch.round, &batch.policy))?;
                    self.slots.remember(&batch.round, &batch.policy, slot);
                    slot
                }
            };
            rows.push(slot_rows(slot, batch)?);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let (done, answer) = oneshot::channel();
        self.queue.send(Appending { rows, done }).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    async fn move_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        round: Option<(u32, RoundStep)>,
        events: &[Event],
    ) -> Result<u64, StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        let version = life::move_survey(&change, id, survey, round, events).await?;
        self.options.faults.at("move/written");
        change.commit().await.map_err(fault)?;
        self.options.faults.at("move/committed");
        Ok(version)
    }

    async fn erase_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        life::erase_survey(&change, id, survey, event).await?;
        self.options.faults.at("erase/written");
        change.commit().await.map_err(fault)?;
        self.options.faults.at("erase/committed");
        Ok(())
    }

    async fn unwiped(&self) -> Result<Unwiped, StoreError> {
        life::unwiped(&self.client().await?).await
    }

    async fn wipe(&self) -> Result<(), StoreError> {
        let client = self.client().await?;
        // The tables get new files; the old ones are deleted. Appends wait meanwhile.
        client.batch_execute("SET statement_timeout = 0").await.map_err(fault)?;
        let mut result = Ok(());
        for table in ["batch", "chunk", "run", "tally"] {
            let vacuum = format!("VACUUM (FULL) undertone.{table}");
            result = result.and(client.batch_execute(&vacuum).await);
        }
        client.batch_execute("SET statement_timeout = '60s'").await.map_err(fault)?;
        result.map_err(fault)?;
        self.options.faults.at("wipe/done");
        Ok(())
    }

    async fn note_wiped(
        &self,
        rounds: &[(RoundKey, Event)],
        deletions: u64,
    ) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        life::note_wiped(&change, rounds, deletions).await?;
        self.options.faults.at("wipe/noted");
        change.commit().await.map_err(fault)
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        life::tokens(&self.client().await?).await
    }

    async fn change_tokens(
        &self,
        revoke: Option<(&str, i64, &str)>,
        add: Option<&TokenRecord>,
    ) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        life::change_tokens(&change, revoke, add).await?;
        self.options.faults.at("tokens/written");
        change.commit().await.map_err(fault)
    }

    async fn load(&self) -> Result<Load, StoreError> {
        let client = self.client().await?;
        let waiting = "SELECT coalesce(sum(reports), 0)::bigint FROM undertone.batch";
        let waiting = client.query_one(waiting, &[]).await.map_err(fault)?;
        let bytes = size::measured(&client).await?;
        // The server's disk is not ours to look at.
        let free = self.options.max_bytes.map(|most| most.saturating_sub(bytes));
        Ok(Load { waiting: catalogue::whole(&waiting, 0)?, bytes, free })
    }

    async fn seal(&self, key: &RoundKey, at: i64, event: &Event) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        catalogue::seal(&change, key, at, event).await?;
        change.commit().await.map_err(fault)
    }

    async fn release(
        &self,
        key: &RoundKey,
        at: i64,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let mut client = self.client().await?;
        let change = client.transaction().await.map_err(fault)?;
        catalogue::release(&change, key, at, survey, event).await?;
        change.commit().await.map_err(fault)
    }

    async fn fold(&self) -> Result<Progress, StoreError> {
        let mut turns = self.turns.lock().await;
        let mut client = self.client().await?;
        let done = folding::step(&mut client, &self.options, turns.tidy_first()).await?;
        turns.note(done.as_ref().map(|(step, _)| step));
        match done {
            Some((_, progress)) => Ok(progress),
            None => {
                self.refusing.relieve(&client).await?;
                Ok(Progress::default())
            }
        }
    }

    async fn tallies(&self, key: &RoundKey) -> Result<Vec<RoundTally>, StoreError> {
        catalogue::tallies(&self.client().await?, key).await
    }

    async fn events(
        &self,
        survey: &SurveyId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainedEvent>, StoreError> {
        catalogue::events(&self.client().await?, survey, after, limit).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        let client = self.client().await?;
        if let Some(most) = self.options.max_bytes
            && size::measured(&client).await? >= most
        {
            return Err(StoreError::AtLimit { most });
        }
        // A standby answers and takes nothing.
        let row = client.query_one("SHOW transaction_read_only", &[]).await.map_err(fault)?;
        match row.get::<_, &str>(0) {
            "off" => Ok(()),
            _ => Err(StoreError::Unavailable("the database is read-only".into())),
        }
    }
}
