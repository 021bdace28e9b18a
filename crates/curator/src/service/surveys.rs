//! Surveys: made, listed, and described to anyone and to their owner.

use std::sync::Arc;

use serde::Serialize;
use undertone::answer::within_document;
use undertone::risk::RiskReport;
use undertone_core::{Object, Policy};
use undertone_wire::{
    Code, GroupDescription, NotASurveyId, PolicySoFar, Problem, RoundDescription, RoundState,
    SurveyDescription, SurveyId, hex,
};

use super::plan::Plan;
use super::survey::{GroupPolicy, ListedSurvey, Phase, RoundNote, Survey, SurveyBody};
use super::{AppState, CachedSurvey, blocking};
use crate::clock::timestamp;
use crate::store::{ChainedEvent, Overview, RoundRecord};

/// A survey as anyone may see it: no counts.
pub(crate) fn described(cached: &CachedSurvey) -> SurveyDescription {
    let body = &cached.survey.body;
    let state = cached.newest().map(shown_state);
    let round = cached.survey.newest().zip(state).map(|(note, state)| {
        let group = |group: &GroupPolicy| {
            Object(GroupDescription {
                group: group.group.clone(),
                people: group.people,
                policy: group.policy.clone(),
            })
        };
        let groups = note.groups.iter().map(group).collect();
        Object(RoundDescription { groups, number: note.number, state: state.into() })
    });
    let so_far = cached.survey.rounds.iter().flat_map(|note| {
        note.groups.iter().map(|group| {
            Object(PolicySoFar {
                group: group.group.clone(),
                ldp: group.ldp.clone(),
                policy: group.policy.clone(),
                round: note.number,
            })
        })
    });
    SurveyDescription {
        answers: Object(body.answers.clone()),
        contact: body.contact.clone(),
        id: cached.id.clone(),
        policies_so_far: so_far.collect(),
        question: body.question.clone(),
        retention: body.retention.clone(),
        round,
        state: state.unwrap_or(RoundState::PLANNED).into(),
        title: body.title.clone(),
    }
}

/// What a round's state is called: devices ask nothing for a round that is not open.
fn shown_state(round: &RoundRecord) -> &'static str {
    if round.held { "paused" } else { round.state.name() }
}

/// A survey as its owner sees it.
#[derive(Debug, Serialize)]
pub(crate) struct OwnersSurvey {
    #[serde(flatten)]
    public: SurveyDescription,
    plan: Plan,
    minimum: u64,
    group_minimum: u64,
    origins: Vec<String>,
    phase: &'static str,
    created: String,
    spent_ldp: Option<String>,
    total_ldp: Option<String>,
    rounds: Vec<OwnersRound>,
}

/// A round as the survey's owner sees it.
#[derive(Debug, Serialize)]
struct OwnersRound {
    #[serde(flatten)]
    times: RoundTimes,
    groups: Vec<GroupPolicy>,
}

/// Where a round stands and what it is accounted with.
#[derive(Debug, Serialize)]
pub(crate) struct RoundTimes {
    pub(crate) number: u32,
    pub(crate) state: &'static str,
    /// The attained LDP of its weakest policy.
    pub(crate) ldp: String,
    pub(crate) opened: String,
    pub(crate) sealed: Option<String>,
    pub(crate) released: Option<String>,
}

impl RoundTimes {
    pub(super) fn of(note: &RoundNote, record: &RoundRecord) -> Self {
        Self {
            number: note.number,
            state: shown_state(record),
            ldp: note.ldp.clone(),
            opened: timestamp(record.opened),
            sealed: record.sealed.map(timestamp),
            released: record.released.map(timestamp),
        }
    }
}

/// What its owner sees besides.
pub(crate) fn described_to_owner(cached: &CachedSurvey) -> OwnersSurvey {
    let body = &cached.survey.body;
    let rounds = cached.survey.rounds.iter().zip(&cached.rounds).map(|(note, record)| {
        OwnersRound { times: RoundTimes::of(note, record), groups: note.groups.clone() }
    });
    OwnersSurvey {
        public: described(cached),
        plan: body.plan.clone(),
        minimum: body.minimum,
        group_minimum: body.group_minimum,
        origins: body.origins.clone(),
        phase: cached.survey.phase.name(),
        created: timestamp(cached.survey.created),
        spent_ldp: cached.survey.spent().map(|nats| nats.to_string()),
        total_ldp: body.plan.total().ok().map(|nats| nats.to_string()),
        rounds: rounds.collect(),
    }
}

/// A survey as its owner sees it just now, with the counts of the newest round.
#[derive(Debug, Serialize)]
pub(crate) struct CountedSurvey {
    #[serde(flatten)]
    survey: OwnersSurvey,
    #[serde(flatten)]
    counts: ReportCounts,
}

/// How many reports there are.
#[derive(Debug, Default, Serialize)]
struct ReportCounts {
    /// Counted.
    reports: u64,
    /// Not yet counted.
    waiting: u64,
    /// Sent again, and counted once.
    duplicates: u64,
}

/// What its owner sees of it just now, with the counts of the newest round.
pub(crate) async fn shown_to_owner(
    state: &AppState,
    id: &SurveyId,
) -> Result<CountedSurvey, Problem> {
    let cached = state.fresh(id).await?;
    let mut counts = ReportCounts::default();
    if let Some(newest) = cached.newest() {
        for tally in state.app.store.tallies(&newest.key).await? {
            counts.reports += tally.reports;
            counts.waiting += tally.unfolded;
            counts.duplicates += tally.duplicates;
        }
    }
    Ok(CountedSurvey { survey: described_to_owner(&cached), counts })
}

/// A page of the owner's list.
#[derive(Debug, Serialize)]
pub(crate) struct SurveyList {
    surveys: Vec<SurveyLine>,
    /// The id after which the next page begins, if there is one.
    next: Option<String>,
}

/// A survey as a line of the owner's list.
#[derive(Debug, Serialize)]
struct SurveyLine {
    id: String,
    title: String,
    question: String,
    state: &'static str,
    phase: &'static str,
    round: Option<NewestRound>,
    created: String,
    #[serde(flatten)]
    counts: ReportCounts,
}

/// The newest round of a survey in a list.
#[derive(Debug, Serialize)]
struct NewestRound {
    number: u32,
    state: &'static str,
}

/// The owner's list: at most `limit` surveys whose ids come after `after`, from one query.
pub(crate) async fn list(
    state: &AppState,
    after: Option<&SurveyId>,
    limit: u32,
    only: Option<&SurveyId>,
) -> Result<SurveyList, Problem> {
    // One more than is shown says whether there are more.
    let mut found = match only {
        None => state.app.store.overview(after, limit + 1).await?,
        Some(only) => overview_of(state, only).await?,
    };
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.id.to_string());
    let listed = move || found.iter().map(listed).collect::<Result<Vec<_>, _>>();
    let surveys = blocking(listed).await??.into_iter().flatten().collect();
    Ok(SurveyList { surveys, next })
}

/// The line of one survey.
async fn overview_of(state: &AppState, only: &SurveyId) -> Result<Vec<Overview>, Problem> {
    let mut after = None;
    loop {
        let page = state.app.store.overview(after.as_ref(), OVERVIEW_PAGE).await?;
        if let Some(found) = page.iter().find(|one| one.id == *only) {
            return Ok(vec![found.clone()]);
        }
        match page.into_iter().last() {
            Some(last) => after = Some(last.id),
            None => return Ok(Vec::new()),
        }
    }
}

/// Lines that are looked through at once for one survey's.
const OVERVIEW_PAGE: u32 = 1000;

/// `None` for a survey that was deleted.
fn listed(one: &Overview) -> Result<Option<SurveyLine>, Problem> {
    let Some(ListedSurvey { body, created, phase }) =
        ListedSurvey::from_json(&one.survey.document)?
    else {
        return Ok(None);
    };
    let round = one.newest.map(|(number, state)| NewestRound { number, state: state.name() });
    Ok(Some(SurveyLine {
        phase: phase.name(),
        id: one.id.to_string(),
        title: body.title,
        question: body.question,
        state: round.as_ref().map_or(RoundState::PLANNED, |round| round.state),
        round,
        created: timestamp(created),
        counts: ReportCounts {
            reports: one.reports,
            waiting: one.unfolded,
            duplicates: one.duplicates,
        },
    }))
}

/// Reads a body, stores the survey and opens its first round.
pub(crate) async fn create(
    state: &AppState,
    body: &[u8],
    by: &str,
) -> Result<Arc<CachedSurvey>, Problem> {
    let mut sent = SurveyBody::from_json(body)?;
    let name = match sent.id.take() {
        Some(name) => name,
        None => random_name(state)?,
    };
    let id: SurveyId = name
        .parse()
        .map_err(|error: NotASurveyId| Problem::malformed(format!("id {name:?}: {error}")))?;
    sent.id = Some(name);
    let survey =
        Survey { body: sent, created: state.now(), rounds: Vec::new(), phase: Phase::default() };
    state.create(id, survey, by).await
}

fn random_name(state: &AppState) -> Result<String, Problem> {
    let mut bytes = [0u8; 8];
    if !state.app.randomness.fill(&mut bytes) {
        return Err(Problem::new(Code::Unavailable, "the system's random generator failed"));
    }
    Ok(format!("s-{:016x}", u64::from_be_bytes(bytes)))
}

/// The id of a survey that somebody asks for.
pub(crate) fn known(survey: &str) -> Result<SurveyId, Problem> {
    survey
        .parse()
        .map_err(|error: NotASurveyId| Problem::new(Code::SurveyUnknown, error.to_string()))
}

/// An entry of the log as it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct LogEntry {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) kind: String,
    /// The text the hash is over.
    pub(crate) detail: String,
    previous: String,
    pub(crate) hash: String,
}

/// Entries of a survey's log.
#[derive(Debug, Serialize)]
pub(crate) struct LogEntries {
    pub(crate) entries: Vec<LogEntry>,
}

/// At most `limit` entries of a survey's log after number `after`. The log of a deleted survey stays.
pub(crate) async fn log(
    state: &AppState,
    id: &SurveyId,
    after: u64,
    limit: u32,
) -> Result<Vec<LogEntry>, Problem> {
    let entries = state.app.store.events(id, after, limit).await?;
    if entries.is_empty() && after == 0 {
        return Err(Problem::new(Code::SurveyUnknown, format!("there is no survey {id}")));
    }
    Ok(entries.into_iter().map(entry).collect())
}

/// Whether a survey's log is one chain from its first entry to its last; in words for whoever reads it.
#[derive(Debug, Serialize)]
pub(crate) struct LogChain {
    /// Whether every entry follows from the one before.
    pub(crate) intact: bool,
    /// Entries that were looked at.
    pub(crate) entries: u64,
    /// The first entry that does not follow.
    pub(crate) broken_at: Option<u64>,
    /// The hash of the last entry: whoever keeps it can tell later whether what came before was changed.
    pub(crate) head: Option<String>,
}

/// Entries that are read at once.
const CHAIN_PAGE: u32 = 1000;

/// Checks the whole log of a survey.
pub(crate) async fn chain(state: &AppState, id: &SurveyId) -> Result<LogChain, Problem> {
    let (mut last, mut entries) = (None::<ChainedEvent>, 0);
    loop {
        let after = last.as_ref().map_or(0, |last| last.seq);
        let page = state.app.store.events(id, after, CHAIN_PAGE).await?;
        let ended = page.len() < CHAIN_PAGE as usize;
        for entry in page {
            entries += 1;
            let follows = match &last {
                None => entry.is_first(),
                Some(last) => last.precedes(&entry),
            };
            if !follows {
                tracing::error!(survey = %id, entry = entry.seq, "the log's chain is broken");
                let broken_at = Some(entry.seq);
                return Ok(LogChain { intact: false, entries, broken_at, head: None });
            }
            last = Some(entry);
        }
        if ended {
            let head = last.map(|last| hex::encode(&last.hash));
            return Ok(LogChain { intact: entries > 0, entries, broken_at: None, head });
        }
    }
}

fn entry(entry: ChainedEvent) -> LogEntry {
    LogEntry {
        seq: entry.seq,
        at: entry.event.at,
        kind: entry.event.kind,
        detail: entry.event.detail,
        previous: hex::encode(&entry.previous),
        hash: hex::encode(&entry.hash),
    }
}

/// What an observer can learn from one answer of the newest round, for every group.
#[derive(Debug, Serialize)]
pub(crate) struct ObserverReport {
    groups: Vec<GroupRisk>,
}

/// What an observer can learn from one answer of somebody in a group.
#[derive(Debug, Serialize)]
struct GroupRisk {
    group: String,
    policy: String,
    #[serde(serialize_with = "within_document")]
    risk: RiskReport,
}

/// What an observer can learn from one answer of the newest round; computed once, until something changes.
pub(crate) async fn observed(cached: &Arc<CachedSurvey>) -> Result<Arc<ObserverReport>, Problem> {
    let known = cached.observer.get_or_try_init(|| {
        let cached = cached.clone();
        async { blocking(move || learns(&cached)).await?.map(Arc::new) }
    });
    known.await.cloned()
}

fn learns(cached: &CachedSurvey) -> Result<ObserverReport, Problem> {
    let note = cached.survey.newest();
    let mut groups = Vec::new();
    for group in note.map_or(&[][..], |note| &note.groups) {
        let Ok(id) = group.policy.parse() else { continue };
        let risk = risk(cached.policy(&id)?)?;
        groups.push(GroupRisk { group: group.group.clone(), policy: group.policy.clone(), risk });
    }
    Ok(ObserverReport { groups })
}

/// Of more answers than this, those an observer learns most about are listed.
const LISTED: usize = 100;

/// What an observer can learn from one answer to a policy.
pub(super) fn risk(policy: &Policy) -> Result<RiskReport, Problem> {
    let risk = RiskReport::of(policy.draft())
        .map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?;
    Ok(risk.shortened(LISTED))
}
