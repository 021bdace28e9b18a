//! Where surveys, rounds, reports and the log are kept: one trait, two engines.
//!
//! An acknowledged report is on disk and is counted exactly once, whatever is retried, reordered or
//! killed. [`Store::append`] only appends: no key is looked up, so its cost does not grow with what
//! is stored, and it returns after the commit. [`Store::fold`] counts: it sorts what arrived,
//! strikes out report ids that were seen before by merging with the sorted runs of ids counted so
//! far, and only then adds to the tallies, all in one transaction (`fold.rs` has the runs).
//!
//! The store knows surveys as opaque documents with a version, policies as bytes under their id, and
//! rounds with a state; what they mean is the service's business. Time is an argument.

mod check;
mod copy;
mod error;
mod event;
mod faults;
mod fold;
mod group;
#[cfg(feature = "postgres")]
pub mod postgres;
mod row;
mod slots;
pub mod sqlite;

pub use check::Checked;
pub use copy::{backup, check, restore};
pub use error::StoreError;
pub use event::{ChainedEvent, Event};
pub use faults::Faults;

use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_core::PolicyId;
use undertone_wire::{ReportRows, RoundState, SurveyId, TokenShape};

/// A survey's document and how often it was replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Versioned {
    /// The document, opaque to the store.
    pub document: String,
    /// 1 when created, one more with every replacement.
    pub version: u64,
}

/// Which round of which survey.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoundKey {
    /// The survey.
    pub survey: SurveyId,
    /// The round's number, from 1.
    pub number: u32,
}

impl std::fmt::Display for RoundKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "round {} of survey {}", self.number, self.survey)
    }
}

/// A round's state as the engines store it: 0, 1 or 2.
fn stored_state(code: i64) -> Result<RoundState, StoreError> {
    match code {
        0 => Ok(RoundState::Open),
        1 => Ok(RoundState::Sealed),
        2 => Ok(RoundState::Released),
        _ => Err(StoreError::Corrupt(format!("a round in state {code}"))),
    }
}

/// A policy id as the engines store it.
fn stored_id(bytes: Vec<u8>) -> Result<PolicyId, StoreError> {
    let bytes = bytes.try_into();
    bytes.map(PolicyId).map_err(|_| StoreError::Corrupt("a policy id of another length".into()))
}

/// What happens to a round when its survey moves on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundStep {
    /// It takes no reports for the time being.
    Hold,
    /// It takes reports again.
    Resume,
    /// It takes none any more, from this time on.
    Seal(i64),
}

/// A named token: who may do what with which survey. The token itself is not kept, only its hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenRecord {
    /// What it is revoked by.
    pub id: String,
    /// Who has it; the log names them so.
    pub name: String,
    /// What they may do, by the service's name for it.
    pub role: String,
    /// The one survey it is for; `None` for all.
    pub survey: Option<SurveyId>,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// By whom.
    pub created_by: String,
    /// When it was revoked, and by whom.
    pub revoked: Option<(i64, String)>,
}

/// One round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoundRecord {
    /// Which one.
    pub key: RoundKey,
    /// How far it has come.
    pub state: RoundState,
    /// Whether it takes no reports for the time being, although it is open.
    pub held: bool,
    /// Its policies, in the order they were given in.
    pub policies: Vec<PolicyId>,
    /// When it was opened, in seconds since 1970.
    pub opened: i64,
    /// When it was sealed.
    pub sealed: Option<i64>,
    /// When it was released.
    pub released: Option<i64>,
}

/// A policy to publish with a new round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPolicy {
    /// Its id.
    pub id: PolicyId,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// What its tokens look like; its tally has one count for each output.
    pub tokens: TokenShape,
}

/// A survey to create: it is stored with its first round open, or not at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSurvey {
    /// Its id.
    pub id: SurveyId,
    /// Its document, which becomes version 1.
    pub document: String,
    /// The policies of round 1, in the round's order.
    pub policies: Vec<NewPolicy>,
    /// The first entry of its log.
    pub created: Event,
    /// The second entry of its log; its time is when round 1 was opened.
    pub opened: Event,
}

/// A survey in a list: its document, and its newest round with what was counted in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overview {
    /// The survey.
    pub id: SurveyId,
    /// Its document and version.
    pub survey: Versioned,
    /// The number and state of the newest round. `None` only in stores of an earlier program, which
    /// could stop between creating a survey and opening its first round.
    pub newest: Option<(u32, RoundState)>,
    /// Distinct reports counted in the newest round.
    pub reports: u64,
    /// Repeated reports of the newest round.
    pub duplicates: u64,
    /// Acknowledged reports of the newest round that wait to be folded.
    pub unfolded: u64,
}

/// Reports of one policy in one round, already checked against the policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// The round they belong to.
    pub round: RoundKey,
    /// The policy they were drawn under.
    pub policy: PolicyId,
    /// The reports.
    pub reports: ReportRows,
}

/// What was counted for one policy of a round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoundTally {
    /// The policy.
    pub policy: PolicyId,
    /// Reports per output; for policies of bits, reports in which that bit is set.
    pub counts: Vec<u64>,
    /// Distinct reports counted.
    pub reports: u64,
    /// Reports whose id had been counted before.
    pub duplicates: u64,
    /// Acknowledged reports that wait to be folded, repetitions included.
    pub unfolded: u64,
}

/// What was deleted from the tables, but perhaps not yet from the disk.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Unwiped {
    /// Rounds without their reports and ids.
    pub rounds: Vec<RoundKey>,
    /// How many surveys were deleted; 0 once they were wiped.
    pub deletions: u64,
}

/// How much a store holds that waits, and how much room there is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Load {
    /// Acknowledged reports that wait to be counted.
    pub waiting: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// Bytes until the limit of its owner or, for a file, the end of the disk; `None` where it is not known.
    pub free: Option<u64>,
}

/// What one step of [`Store::fold`] did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// Reports counted.
    pub folded: u64,
    /// Reports dropped because their id had been counted before.
    pub duplicates: u64,
    /// Whether there was more to do than fits one step; what arrives meanwhile does not count as more.
    /// A step may fold nothing and tidy instead.
    pub more: bool,
}

/// A place to keep it all. Every method is one transaction; an error means nothing was changed,
/// except that [`StoreError::Unavailable`] may hide a commit that did happen: repeat the call.
#[async_trait]
pub trait Store: Send + Sync {
    /// Creates a survey at version 1 with its first round open. `Conflict` if there is one of that id.
    async fn create_survey(&self, survey: &NewSurvey) -> Result<(), StoreError>;

    /// One survey.
    async fn survey(&self, id: &SurveyId) -> Result<Option<Versioned>, StoreError>;

    /// At most `limit` surveys whose ids come after `after`, by id. One query, however many there are.
    async fn overview(
        &self,
        after: Option<&SurveyId>,
        limit: u32,
    ) -> Result<Vec<Overview>, StoreError>;

    /// Replaces a survey's document and gives the new version. `Conflict` if its version is not the
    /// expected one.
    async fn replace_survey(
        &self,
        id: &SurveyId,
        expected: u64,
        document: &str,
        event: &Event,
    ) -> Result<u64, StoreError>;

    /// Opens a round (the next number) and publishes its policies; `survey` is the expected version
    /// and the new document. `Conflict` if the number is not the next, another round is open, the
    /// version differs, or a policy serves another round of the survey.
    async fn open_round(
        &self,
        key: &RoundKey,
        policies: &[NewPolicy],
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError>;

    /// The rounds of a survey, by number.
    async fn rounds(&self, survey: &SurveyId) -> Result<Vec<RoundRecord>, StoreError>;

    /// The canonical bytes of a policy.
    async fn policy(&self, id: &PolicyId) -> Result<Option<Vec<u8>>, StoreError>;

    /// Appends reports; they are durable when it returns. All or nothing: `RoundClosed` if any of
    /// the rounds is not open at the commit, `AtLimit` if the store is as large as it may be. Calls at the
    /// same time share a commit.
    async fn append(&self, batches: Vec<Batch>) -> Result<(), StoreError>;

    /// Replaces a survey's document and moves one of its rounds, with entries for the log, all or nothing. `Conflict`
    /// if the version is not the expected one or the round is not open. After `Hold` and `Seal` no append commits.
    async fn move_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        round: Option<(u32, RoundStep)>,
        events: &[Event],
    ) -> Result<u64, StoreError>;

    /// Deletes the rounds of a survey with their tallies, and the policies nobody else uses; the document becomes
    /// `survey`'s and the log stays. `Conflict` if a round is open, `Unfolded` while reports or ids of it are left.
    async fn erase_survey(
        &self,
        id: &SurveyId,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError>;

    /// What was deleted from the tables, but perhaps not yet from the disk.
    async fn unwiped(&self) -> Result<Unwiped, StoreError>;

    /// Rewrites what holds reports and ids, so that nothing of deleted ones is left in the database's files.
    async fn wipe(&self) -> Result<(), StoreError>;

    /// Notes that what [`Store::unwiped`] gave was wiped: one entry of the log for each round that was not noted before.
    /// What was deleted since stays to be wiped.
    async fn note_wiped(
        &self,
        rounds: &[(RoundKey, Event)],
        deletions: u64,
    ) -> Result<(), StoreError>;

    /// Every named token, revoked ones too, oldest first.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// Revokes a token and adds another, all or nothing. `NotFound` if there is none to revoke, `Conflict` if it is
    /// revoked already or a token that is not has the new one's name.
    async fn change_tokens(
        &self,
        revoke: Option<(&str, i64, &str)>,
        add: Option<&TokenRecord>,
    ) -> Result<(), StoreError>;

    /// How much there is, and how much fits.
    async fn load(&self) -> Result<Load, StoreError>;

    /// Seals an open round: no append commits afterwards. `Conflict` if it is not open.
    async fn seal(&self, key: &RoundKey, at: i64, event: &Event) -> Result<(), StoreError>;

    /// Releases a sealed round; `survey` is the expected version and the new document. `Unfolded`
    /// while reports of the round wait to be counted; `Conflict` if it is not sealed.
    async fn release(
        &self,
        key: &RoundKey,
        at: i64,
        survey: (u64, &str),
        event: &Event,
    ) -> Result<(), StoreError>;

    /// One bounded step of counting or tidying.
    async fn fold(&self) -> Result<Progress, StoreError>;

    /// What was counted, one tally per policy of the round, in the round's order.
    async fn tallies(&self, key: &RoundKey) -> Result<Vec<RoundTally>, StoreError>;

    /// The log of a survey: at most `limit` entries after number `after`, by number.
    async fn events(
        &self,
        survey: &SurveyId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainedEvent>, StoreError>;

    /// Whether the store answers and takes reports: `Full` or `AtLimit` if it would refuse them.
    async fn ready(&self) -> Result<(), StoreError>;
}

/// What both engines can be told; the defaults are meant for production.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether a store is made where there is none; otherwise it is [`StoreError::Missing`].
    pub create: bool,
    /// Reports one step of folding takes at most: bounds its memory and its transaction.
    pub step_reports: usize,
    /// Chunks of ids one step of merging moves at most.
    pub step_chunks: usize,
    /// Runs of like size that are merged into one.
    pub fan: usize,
    /// Ids per chunk of a run: 480 fill one page of either engine.
    pub chunk_ids: usize,
    /// How large the database may grow, in bytes; [`Store::append`] answers `AtLimit` beyond it. Everything else
    /// goes on, so that the reports it has can be counted, which frees what they took, and rounds
    /// can be sealed and released.
    pub max_bytes: Option<u64>,
    /// The password of a PostgreSQL database whose address has none.
    pub password: Password,
    /// Named points at which tests interfere.
    pub faults: Faults,
}

/// Where the password of a PostgreSQL database comes from if its address has none. Does not print itself.
#[derive(Clone, Default)]
pub struct Password {
    /// The password itself; goes before the file.
    pub text: Option<String>,
    /// A file of passwords as libpq reads it (`PGPASSFILE`); one that does not exist has none.
    pub file: Option<PathBuf>,
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.text.as_ref().map(|_| "..");
        f.debug_struct("Password").field("text", &text).field("file", &self.file).finish()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            step_reports: 1 << 19,
            step_chunks: 512,
            fan: 8,
            chunk_ids: 480,
            max_bytes: None,
            password: Password::default(),
            faults: Faults::none(),
        }
    }
}

/// Whether an address has a password in it, which whoever sees the address can read.
pub fn shows_password(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, more) = rest.split_at(end);
    let named = |part: &str| part.starts_with("password=");
    let query = more.split_once('?').map_or("", |(_, query)| query);
    scheme.starts_with("postgres")
        && (authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
            || query.split('&').any(named))
}

/// Opens `sqlite:FILE` or, with the feature `postgres`, `postgres://..`, creating the store if there is none.
pub async fn open(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    open_with(address, Options::default()).await
}

/// As [`open`], with options.
pub async fn open_with(address: &str, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    match engine(address)? {
        Engine::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path, options).await?)),
        #[cfg(feature = "postgres")]
        Engine::Postgres => Ok(Arc::new(postgres::Postgres::open(address, options).await?)),
        #[cfg(not(feature = "postgres"))]
        Engine::Postgres => Err(StoreError::NotBuilt { engine: "PostgreSQL", feature: "postgres" }),
    }
}

/// Which engine an address is for.
enum Engine<'a> {
    Sqlite(&'a Path),
    Postgres,
}

fn engine(address: &str) -> Result<Engine<'_>, StoreError> {
    if let Some(path) = address.strip_prefix("sqlite:") {
        return Ok(Engine::Sqlite(path.as_ref()));
    }
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return Ok(Engine::Postgres);
    }
    Err(StoreError::Unavailable(
        "the store's address must be sqlite:FILE or postgres://USER@HOST/DATABASE".into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "postgres"))]
    #[tokio::test]
    async fn an_engine_that_was_not_built_names_its_feature() {
        for address in ["postgres://curator@host/database", "postgresql://host/database"] {
            let error = open(address).await.err().unwrap();
            let expected = StoreError::NotBuilt { engine: "PostgreSQL", feature: "postgres" };
            assert_eq!(error, expected);
            let said = error.to_string();
            assert!(said.contains("PostgreSQL") && said.contains("feature `postgres`"), "{said}");
            assert!(said.contains("sqlite:FILE"), "{said}");
        }
    }

    #[test]
    fn passwords_in_addresses_are_seen_and_not_printed() {
        for shown in [
            "postgres://u:secret@host/d",
            "postgresql://u:@host/d",
            "postgres://host/d?user=u&password=secret",
        ] {
            assert!(shows_password(shown), "{shown}");
        }
        for hidden in
            ["postgres://u@host:5432/d", "postgres://h/d?sslmode=require", "sqlite:a:b@c.db"]
        {
            assert!(!shows_password(hidden), "{hidden}");
        }
        let password = Password { text: Some("secret".into()), file: None };
        let options = Options { password, ..Options::default() };
        assert!(!format!("{options:?}").contains("secret"));
    }
}
