//! Surveys: shown to anyone, made and moved along by their owner.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use undertone_wire::{Code, Problem, SurveyId};

use super::refusal::Answer;
use super::{Shared, body};
use crate::auth::Caller;
use crate::service::run_detached;
use crate::service::surveys::{self, LogEntries, ObserverReport, OwnersSurvey, SurveyList};

/// A survey: what anybody may see, or what its owner sees if the owner asks.
pub(super) async fn show(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    if !state.is_owner(caller)? {
        return Ok(Json(surveys::described(&*state.survey(&survey).await?)).into_response());
    }
    let shown = surveys::shown_to_owner(&state, &surveys::known(&survey)?).await?;
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

/// The owner's list: one page of it.
pub(super) async fn list(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Query(Page { after, limit }): Query<Page>,
) -> Answer<Json<SurveyList>> {
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
    Ok(Json(surveys::list(&state, after.transpose()?.as_ref(), limit).await?))
}

pub(super) async fn create(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    request: Body,
) -> Answer<Response> {
    state.owner(caller)?;
    let (bytes, _hold) = body::read(&state, caller, &headers, request).await?;
    let cached = run_detached(async move { surveys::create(&state, &bytes).await }).await?;
    let place = format!("/v1/surveys/{}", cached.id);
    let headers = [(header::LOCATION, place)];
    Ok((StatusCode::CREATED, headers, Json(surveys::described_to_owner(&cached))).into_response())
}

pub(super) async fn open(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    state.owner(caller)?;
    let id = surveys::known(&survey)?;
    let cached = run_detached(async move { state.open_next(&id).await }).await?;
    Ok((StatusCode::CREATED, Json(surveys::described_to_owner(&cached))).into_response())
}

pub(super) async fn seal(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<OwnersSurvey>> {
    state.owner(caller)?;
    let (id, number) = (surveys::known(&survey)?, round(&number)?);
    let cached = run_detached(async move { state.seal(&id, number).await }).await?;
    Ok(Json(surveys::described_to_owner(&cached)))
}

pub(super) async fn release(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<OwnersSurvey>> {
    state.owner(caller)?;
    let (id, number) = (surveys::known(&survey)?, round(&number)?);
    let cached = run_detached(async move { state.release(&id, number).await }).await?;
    Ok(Json(surveys::described_to_owner(&cached)))
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
) -> Answer<Json<LogEntries>> {
    let cached = state.survey(&survey).await?;
    let after: u64 = match after {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Problem::malformed(format!("after={text}: the number of the last entry you have"))
        })?,
    };
    let entries = surveys::log(&state, &cached, after, ENTRIES).await?;
    Ok(Json(LogEntries { entries }))
}

/// What an observer can learn from one answer of the newest round.
pub(super) async fn observer(
    State(state): Shared,
    Path(survey): Path<String>,
) -> Answer<Json<Arc<ObserverReport>>> {
    Ok(Json(surveys::observed(&state.survey(&survey).await?).await?))
}
