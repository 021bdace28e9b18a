//! Surveys: made, listed, and described to anyone and to their owner.

use std::sync::Arc;

use serde_json::{Value, json};
use undertone_core::Object;
use undertone_wire::{
    Code, GroupDescription, NotASurveyId, PolicySoFar, Problem, RoundDescription, RoundState,
    SurveyDescription, SurveyId, hex,
};

use super::observer;
use super::survey::{GroupPolicy, ListedSurvey, Survey, SurveyBody};
use super::{AppState, CachedSurvey, blocking};
use crate::clock::timestamp;
use crate::store::{ChainedEvent, Overview};

/// A survey as anyone may see it: no counts.
pub(crate) fn described(cached: &CachedSurvey) -> SurveyDescription {
    let body = &cached.survey.body;
    let state = cached.newest().map(|round| round.state.name());
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

/// What its owner sees besides.
pub(crate) fn described_to_owner(cached: &CachedSurvey) -> Value {
    let mut shown = json!(described(cached));
    let body = &cached.survey.body;
    shown["plan"] = json!(body.plan);
    shown["minimum"] = json!(body.minimum);
    shown["group_minimum"] = json!(body.group_minimum);
    shown["origins"] = json!(body.origins);
    shown["created"] = json!(timestamp(cached.survey.created));
    shown["spent_ldp"] = json!(cached.survey.spent().map(|nats| nats.to_string()));
    shown["total_ldp"] = json!(body.plan.total().ok().map(|nats| nats.to_string()));
    shown["rounds"] = cached
        .survey
        .rounds
        .iter()
        .zip(&cached.rounds)
        .map(|(note, record)| {
            json!({
                "number": note.number, "state": record.state.name(), "ldp": note.ldp,
                "opened": timestamp(record.opened),
                "sealed": record.sealed.map(timestamp),
                "released": record.released.map(timestamp),
                "groups": note.groups,
            })
        })
        .collect();
    shown
}

/// What its owner sees of it just now, with the counts of the newest round.
pub(crate) async fn shown_to_owner(state: &AppState, id: &SurveyId) -> Result<Value, Problem> {
    let cached = state.fresh(id).await?;
    let mut shown = described_to_owner(&cached);
    let (mut reports, mut waiting, mut duplicates) = (0, 0, 0);
    if let Some(newest) = cached.newest() {
        for tally in state.app.store.tallies(&newest.key).await? {
            reports += tally.reports;
            waiting += tally.unfolded;
            duplicates += tally.duplicates;
        }
    }
    shown["reports"] = json!(reports);
    shown["waiting"] = json!(waiting);
    shown["duplicates"] = json!(duplicates);
    Ok(shown)
}

/// The owner's list: at most `limit` surveys whose ids come after `after`, from one query.
pub(crate) async fn list(
    state: &AppState,
    after: Option<&SurveyId>,
    limit: u32,
) -> Result<Value, Problem> {
    // One more than is shown says whether there are more.
    let mut found = state.app.store.overview(after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.id.to_string());
    let surveys = blocking(move || found.iter().map(listed).collect::<Result<Vec<_>, _>>()).await?;
    Ok(json!({ "surveys": surveys?, "next": next }))
}

/// A survey as a line of the owner's list.
fn listed(one: &Overview) -> Result<Value, Problem> {
    let ListedSurvey { body, created } = ListedSurvey::from_json(&one.survey.document)?;
    let state = one.newest.map(|(_, state)| state.name());
    let round = one.newest.map(|(number, _)| json!({"number": number, "state": state}));
    Ok(json!({
        "id": one.id.as_str(), "title": body.title, "question": body.question,
        "state": state.unwrap_or(RoundState::PLANNED), "round": round, "created": timestamp(created),
        "reports": one.reports, "waiting": one.unfolded, "duplicates": one.duplicates,
    }))
}

/// Reads a body, stores the survey and opens its first round.
pub(crate) async fn create(state: &AppState, body: &[u8]) -> Result<Arc<CachedSurvey>, Problem> {
    let mut sent = SurveyBody::from_json(body)?;
    let name = match sent.id.take() {
        Some(name) => name,
        None => random_name(state)?,
    };
    let id: SurveyId = name
        .parse()
        .map_err(|error: NotASurveyId| Problem::malformed(format!("id {name:?}: {error}")))?;
    sent.id = Some(name);
    let survey = Survey { body: sent, created: state.now(), rounds: Vec::new() };
    state.create(id, survey).await
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

/// At most `limit` entries of a survey's log after number `after`.
pub(crate) async fn log(
    state: &AppState,
    cached: &CachedSurvey,
    after: u64,
    limit: u32,
) -> Result<Vec<Value>, Problem> {
    let entries = state.app.store.events(&cached.id, after, limit).await?;
    Ok(entries.iter().map(entry).collect())
}

/// An entry of the log as it is shown. The hash is over the stored text of `detail`.
fn entry(entry: &ChainedEvent) -> Value {
    json!({
        "seq": entry.seq, "at": entry.event.at, "kind": entry.event.kind,
        "detail": entry.event.detail, "previous": hex::encode(&entry.previous), "hash": hex::encode(&entry.hash),
    })
}

/// What an observer can learn from one answer of the newest round; computed once, until something changes.
pub(crate) async fn observed(cached: &Arc<CachedSurvey>) -> Result<Value, Problem> {
    let known = cached.observer.get_or_try_init(|| {
        let cached = cached.clone();
        async { blocking(move || learns(&cached)).await? }
    });
    known.await.cloned()
}

fn learns(cached: &CachedSurvey) -> Result<Value, Problem> {
    let note = cached.survey.newest();
    let mut groups = Vec::new();
    for group in note.map_or(&[][..], |note| &note.groups) {
        let Ok(id) = group.policy.parse() else { continue };
        let mut learns = observer::learns(cached.policy(&id)?.draft())
            .map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?;
        learns["group"] = json!(group.group);
        learns["policy"] = json!(group.policy);
        groups.push(learns);
    }
    Ok(json!({ "groups": groups }))
}
