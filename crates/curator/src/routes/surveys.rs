//! Surveys: shown to anyone, made and moved along by their owner.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Answer;
use super::{Shared, body};
use crate::app::{AppState, CachedSurvey, blocking, run_detached};
use crate::auth::Caller;
use crate::clock::timestamp;
use crate::observer;
use crate::store::{ChainedEvent, Overview};
use crate::survey::{GroupPolicy, ListedSurvey, Survey, SurveyBody};
use undertone_core::Object;
use undertone_wire::{
    Code, GroupDescription, PolicySoFar, Problem, RoundDescription, RoundState, SurveyDescription,
    SurveyId, hex,
};

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
pub(super) fn described_to_owner(cached: &CachedSurvey) -> Value {
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

/// A survey: what anybody may see, or what its owner sees if the owner asks.
pub(super) async fn show(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    if !state.is_owner(caller)? {
        return Ok(Json(described(&*state.survey(&survey).await?)).into_response());
    }
    let cached = state.fresh(&known(&survey)?).await?;
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
    Ok(Json(shown).into_response())
}

#[derive(Deserialize)]
pub(super) struct Page {
    after: Option<String>,
    limit: Option<String>,
}

/// Surveys in one answer of the list unless asked otherwise, and at most.
const PAGE: u32 = 500;
const LARGEST_PAGE: u32 = 1000;

/// The owner's list: one page of it, from one query.
pub(super) async fn list(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Query(Page { after, limit }): Query<Page>,
) -> Answer<Json<Value>> {
    state.owner(caller)?;
    let after = after.map(|text| {
        let read = text.parse::<SurveyId>();
        read.map_err(|error| Problem::malformed(format!("after={text}: {error}")))
    });
    let limit = limit.map_or(Ok(PAGE), |text| {
        let read = text.parse().ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
        let detail = || format!("limit={text}: give a number from 1 to {LARGEST_PAGE}");
        read.ok_or_else(|| Problem::malformed(detail()))
    })?;
    // One more than is shown says whether there are more.
    let mut found = state.app.store.overview(after.transpose()?.as_ref(), limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.id.to_string());
    let surveys = blocking(move || found.iter().map(listed).collect::<Result<Vec<_>, _>>()).await?;
    Ok(Json(json!({ "surveys": surveys?, "next": next })))
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

pub(super) async fn create(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    request: Body,
) -> Answer<Response> {
    state.owner(caller)?;
    let (bytes, _hold) = body::read(&state, caller, &headers, request).await?;
    let cached = run_detached(async move { made(&state, &bytes).await }).await?;
    let place = format!("/v1/surveys/{}", cached.id);
    let headers = [(header::LOCATION, place)];
    Ok((StatusCode::CREATED, headers, Json(described_to_owner(&cached))).into_response())
}

/// Reads a body, stores the survey and opens its first round.
pub(super) async fn made(state: &AppState, body: &[u8]) -> Result<Arc<CachedSurvey>, Problem> {
    let mut sent = SurveyBody::from_json(body)?;
    let name = match sent.id.take() {
        Some(name) => name,
        None => random_name(state)?,
    };
    let id: SurveyId = name.parse().map_err(|error: undertone_wire::NotASurveyId| {
        Problem::malformed(format!("id {name:?}: {error}"))
    })?;
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

pub(super) async fn open(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    state.owner(caller)?;
    let id = known(&survey)?;
    let cached = run_detached(async move { state.open_next(&id).await }).await?;
    Ok((StatusCode::CREATED, Json(described_to_owner(&cached))).into_response())
}

pub(super) async fn seal(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<Value>> {
    state.owner(caller)?;
    let (id, number) = (known(&survey)?, round(&number)?);
    let cached = run_detached(async move { state.seal(&id, number).await }).await?;
    Ok(Json(described_to_owner(&cached)))
}

pub(super) async fn release(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<Value>> {
    state.owner(caller)?;
    let (id, number) = (known(&survey)?, round(&number)?);
    let cached = run_detached(async move { state.release(&id, number).await }).await?;
    Ok(Json(described_to_owner(&cached)))
}

fn known(survey: &str) -> Result<SurveyId, Problem> {
    survey.parse().map_err(|error: undertone_wire::NotASurveyId| {
        Problem::new(Code::SurveyUnknown, error.to_string())
    })
}

fn round(number: &str) -> Result<u32, Problem> {
    number.parse().map_err(|_| Problem::new(Code::NotFound, format!("{number:?} is not a round")))
}

#[derive(Deserialize)]
pub(super) struct After {
    after: Option<String>,
}

/// The most entries of the log in one answer.
const ENTRIES: u32 = 1000;

pub(super) async fn log(
    State(state): Shared,
    Path(survey): Path<String>,
    Query(After { after }): Query<After>,
) -> Answer<Json<Value>> {
    let cached = state.survey(&survey).await?;
    let after: u64 = match after {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Problem::malformed(format!("after={text}: the number of the last entry you have"))
        })?,
    };
    let entries = state.app.store.events(&cached.id, after, ENTRIES).await?;
    Ok(Json(json!({ "entries": entries.iter().map(entry).collect::<Vec<_>>() })))
}

/// An entry of the log as it is shown. The hash is over the stored text of `detail`.
pub(crate) fn entry(entry: &ChainedEvent) -> Value {
    json!({
        "seq": entry.seq, "at": entry.event.at, "kind": entry.event.kind,
        "detail": entry.event.detail, "previous": hex::encode(&entry.previous), "hash": hex::encode(&entry.hash),
    })
}

/// What an observer can learn from one answer of the newest round.
pub(super) async fn observer(
    State(state): Shared,
    Path(survey): Path<String>,
) -> Answer<Json<Value>> {
    let cached = state.survey(&survey).await?;
    let known = cached.observer.get_or_try_init(|| {
        let cached = cached.clone();
        async { blocking(move || learns(&cached)).await? }
    });
    Ok(Json(known.await?.clone()))
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
