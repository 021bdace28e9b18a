//! The embedded engine: one SQLite file.
//!
//! One thread writes; appends that wait share its commit. The write-ahead log is synced at every
//! commit (`synchronous = FULL`). Readers have their own connections and block nobody.

mod catalogue;
mod folding;
mod life;
pub(crate) mod rows;
pub(crate) mod schema;
mod writer;

use super::fold::Turns;
use super::group::{Appending, QUEUE};
use super::slots::{PolicySlots, missing, slot_rows};
use super::{
    Batch, ChainedEvent, Event, Load, NewPolicy, NewSurvey, Options, Overview, Progress, RoundKey,
    RoundRecord, RoundStep, RoundTally, Store, StoreError, TokenRecord, Unwiped, Versioned,
};
use async_trait::async_trait;
use rusqlite::{Connection, Transaction};
use schema::fault;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use undertone_core::PolicyId;
use undertone_wire::SurveyId;
use writer::Job;

/// A store in one file.
pub struct Sqlite {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    reader: Arc<Mutex<Connection>>,
    folder: tokio::sync::Mutex<Folder>,
    slots: PolicySlots,
    options: Options,
    path: PathBuf,
}

/// The connection that reads for folding, and whose turn it is.
struct Folder {
    connection: Arc<Mutex<Connection>>,
    turns: Turns,
}

impl Sqlite {
    /// Opens a file, creating it and its tables if there are none and the options allow it.
    pub async fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        let path = path.to_path_buf();
        blocking(move || {
            let writing = schema::create(&path, options.create)?;
            let reader = Arc::new(Mutex::new(schema::reader(&path)?));
            let connection = Arc::new(Mutex::new(schema::reader(&path)?));
            let (jobs, queue) = mpsc::channel(QUEUE);
            let told = options.clone();
            let thread = std::thread::Builder::new()
                .name("store".into())
                .spawn(move || writer::run(writing, queue, &told))
                .map_err(|error| StoreError::Unavailable(error.to_string()))?;
            Ok(Self {
                jobs: Some(jobs),
                thread: Some(thread),
                reader,
                folder: tokio::sync::Mutex::new(Folder { connection, turns: Turns::default() }),
                slots: PolicySlots::default(),
                options,
                path,
            })
        })
        .await
    }

    async fn send(&self, job: Job) -> Result<(), StoreError> {
        match &self.jobs {
            Some(jobs) => jobs.send(job).await.map_err(|_| stopped()),
            None => Err(stopped()),
        }
    }

    /// Runs something with the writer's connection.
    async fn with_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        let job = move |connection: &mut Connection| {
            // A caller who went away needs no answer.
            let _ = done.send(work(connection));
        };
        self.send(Job::Run(Box::new(job))).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Runs something in a transaction that may write.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_writer(move |connection| {
            let change = writer::begin(connection)?;
            let result = work(&change)?;
            change.commit().map_err(fault)?;
            Ok(result)
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let reader = self.reader.clone();
        blocking(move || work(&reader.lock().unwrap_or_else(PoisonError::into_inner))).await
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // What was queued is written; a panic over there was printed over there.
            let _ = thread.join();
        }
    }
}

/// A disk with less room than this is full: one commit of reports, with its pages and their copy in the log.
const ROOM: u64 = 16 << 20;

/// How many bytes the disk of a file has left for us, as far as the system says.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let about = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the writer has stopped".into())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let joined = tokio::task::spawn_blocking(work).await;
    joined.map_err(|error| StoreError::Unavailable(error.to_string()))?
}

#[async_trait]
impl Store for Sqlite {
    async fn create_survey(&self, survey: &NewSurvey) -> Result<(), StoreError> {
        let (survey, faults) = (survey.clone(), self.options.faults.clone());
        self.write(move |change| {
            catalogue::create_survey(change, survey)?;
            faults.at("create/written");
            Ok(())
        })
        .await?;
        self.options.faults.at("create/committed");
        Ok(())
    }

    async fn survey(&self, id: &SurveyId) -> Result<Option<Versioned>, StoreError> {
        let id = id.clone();
        self.read(move |connection| catalogue::survey(connection, &id)).await
    }

    async fn overview(
        &self,
        after: Option<&SurveyId>,
        limit: u32,
    ) -> Result<Vec<Overview>, StoreError> {
        let after = after.cloned();
        self.read(move |connection| catalogue::overview(connection, after.as_ref(), limit)).await
    }

    async fn replace_survey(
        &self,
        id: &SurveyId,
        expected: u64,
        document: &str,
        event: &Event,
    ) -> Result<u64, StoreError> {
        let (id, document, event) = (id.clone(), document.to_owned(), event.clone());
        self.write(move |change| {
            let version = catalogue::replace(change, &id, (expected, &document))?;
            catalogue::log(change, event)?;
            Ok(version)
        })
        .await
    }

    async fn open_round(
        &self,
        key: &RoundKey,
        policies: &[NewPolicy],
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let (key, policies, event) = (key.clone(), policies.to_vec(), event.clone());
        let (version, document) = (survey.0, survey.1.to_owned());
        self.write(move |change| {
            catalogue::open_round(change, &key, &policies, (version, &document), event)
        })
        .await
    }

    async fn rounds(&self, survey: &SurveyId) -> Result<Vec<RoundRecord>, StoreError> {
        let survey = survey.clone();
        self.read(move |connection| catalogue::rounds(connection, &survey)).await
    }

    async fn policy(&self, id: &PolicyId) -> Result<Option<Vec<u8>>, StoreError> {
        let id = *id;
        self.read(move |connection| catalogue::policy(connection, &id)).await
    }

    async fn append(&self, batches: Vec<Batch>) -> Result<(), StoreError> {
        let mut rows = Vec::with_capacity(batches.len());
        for batch in batches.iter().filter(|batch| !batch.reports.is_empty()) {
            let slot = match self.slots.get(&batch.round, &batch.policy) {
                Some(slot) => slot,
                None => {
                    let (round, policy) = (batch.round.clone(), batch.policy);
                    let found = self
                        .read(move |connection| catalogue::slot(connection, &round, &policy))
                        .await?;
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
        self.send(Job::Append(Appending { rows, done })).await?;
        answer.await.map_err(|_| stopped())?
    }

    async fn move_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        round: Option<(u32, RoundStep)>,
        events: &[Event],
    ) -> Result<u64, StoreError> {
        let (id, events, faults) = (id.clone(), events.to_vec(), self.options.faults.clone());
        let (version, document) = (survey.0, survey.1.to_owned());
        let moved = self
            .write(move |change| {
                let survey = (version, &*document);
                let moved = life::move_survey(change, &id, survey, round, events)?;
                faults.at("move/written");
                Ok(moved)
            })
            .await?;
        self.options.faults.at("move/committed");
        Ok(moved)
    }

    async fn erase_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let (id, event, faults) = (id.clone(), event.clone(), self.options.faults.clone());
        let (version, document) = (survey.0, survey.1.to_owned());
        self.write(move |change| {
            life::erase_survey(change, &id, (version, &document), event)?;
            faults.at("erase/written");
            Ok(())
        })
        .await?;
        self.options.faults.at("erase/committed");
        Ok(())
    }

    async fn unwiped(&self) -> Result<Unwiped, StoreError> {
        self.read(life::unwiped).await
    }

    async fn wipe(&self) -> Result<(), StoreError> {
        let faults = self.options.faults.clone();
        self.with_writer(move |connection| {
            // Every page is written anew and the rest of the file cut off; what the log of writes still holds goes
            // with it.
            connection.execute_batch("VACUUM").map_err(fault)?;
            let busy: bool = connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(fault)?;
            if busy {
                let cause = "somebody still reads what was there before";
                return Err(StoreError::Unavailable(cause.into()));
            }
            faults.at("wipe/done");
            Ok(())
        })
        .await
    }

    async fn note_wiped(
        &self,
        rounds: &[(RoundKey, Event)],
        deletions: u64,
    ) -> Result<(), StoreError> {
        let (rounds, faults) = (rounds.to_vec(), self.options.faults.clone());
        self.write(move |change| {
            life::note_wiped(change, rounds, deletions)?;
            faults.at("wipe/noted");
            Ok(())
        })
        .await
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.read(life::tokens).await
    }

    async fn change_tokens(
        &self,
        revoke: Option<(&str, i64, &str)>,
        add: Option<&TokenRecord>,
    ) -> Result<(), StoreError> {
        let revoke = revoke.map(|(id, at, by)| (id.to_owned(), at, by.to_owned()));
        let (add, faults) = (add.cloned(), self.options.faults.clone());
        self.write(move |change| {
            life::change_tokens(change, revoke, add)?;
            faults.at("tokens/written");
            Ok(())
        })
        .await
    }

    async fn load(&self) -> Result<Load, StoreError> {
        let (most, path) = (self.options.max_bytes, self.path.clone());
        self.read(move |connection| {
            let waiting = connection
                .query_row("SELECT coalesce(sum(reports), 0) FROM batch", [], |row| {
                    schema::whole(row, 0)
                })
                .map_err(fault)?;
            let bytes = schema::used_bytes(connection)?;
            let disk = free_bytes(&path);
            let left = most.map(|most| most.saturating_sub(bytes));
            let free = disk.into_iter().chain(left).min();
            Ok(Load { waiting, bytes, free })
        })
        .await
    }

    async fn seal(&self, key: &RoundKey, at: i64, event: &Event) -> Result<(), StoreError> {
        let (key, event) = (key.clone(), event.clone());
        self.write(move |change| catalogue::seal(change, &key, at, event)).await
    }

    async fn release(
        &self,
        key: &RoundKey,
        at: i64,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError> {
        let (key, event) = (key.clone(), event.clone());
        let (version, document) = (survey.0, survey.1.to_owned());
        self.write(move |change| catalogue::release(change, &key, at, (version, &document), event))
            .await
    }

    async fn fold(&self) -> Result<Progress, StoreError> {
        let mut folder = self.folder.lock().await;
        let (connection, options) = (folder.connection.clone(), self.options.clone());
        let tidy_first = folder.turns.tidy_first();
        let prepared = blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            folding::prepare(&mut connection, &options, tidy_first)
        });
        let prepared = prepared.await?;
        folder.turns.note(prepared.as_ref().map(|prepared| &prepared.step));
        let Some(prepared) = prepared else { return Ok(Progress::default()) };
        let options = self.options.clone();
        let done = self
            .with_writer(move |connection| folding::perform(connection, &prepared, &options))
            .await?;
        // Another process folded in between: nothing was done, and the next step prepares anew.
        Ok(done.unwrap_or(Progress { more: true, ..Progress::default() }))
    }

    async fn tallies(&self, key: &RoundKey) -> Result<Vec<RoundTally>, StoreError> {
        let key = key.clone();
        self.read(move |connection| catalogue::tallies(connection, &key)).await
    }

    async fn events(
        &self,
        survey: &SurveyId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainedEvent>, StoreError> {
        let survey = survey.clone();
        self.read(move |connection| catalogue::events(connection, &survey, after, limit)).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        if let Some(most) = self.options.max_bytes
            && self.read(schema::used_bytes).await? >= most
        {
            return Err(StoreError::AtLimit { most });
        }
        if free_bytes(&self.path).is_some_and(|free| free < ROOM) {
            return Err(StoreError::Full);
        }
        // The writer takes a transaction, as an append does.
        self.with_writer(|connection| writer::begin(connection)?.commit().map_err(fault)).await
    }
}
