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
use crate::auth::{Caller, Right, Standing};
use crate::service::life::Step;
use crate::service::surveys::{self, LogEntries, ObserverReport, OwnersSurvey, SurveyList};
use crate::service::{AppState, run_detached};

/// A survey: what anybody may see, or what its owner sees if the owner asks.
pub(super) async fn show(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    if !state.may(&caller, Right::Look, &survey)? {
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
    let only = match &caller.standing {
        // A token of one survey lists that one.
        Standing::Known(access) => access.survey.clone(),
        _ => None,
    };
    state.allow(&caller, Right::Look, only.as_ref().map(SurveyId::as_str))?;
    let after = after.map(|text| {
        let read = text.parse::<SurveyId>();
        read.map_err(|error| Problem::malformed(format!("after={text}: {error}")))
    });
    let limit = limit.map_or(Ok(PAGE), |text| {
        let read = text.parse().ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
        let detail = || format!("limit={text}: give a number from 1 to {LARGEST_PAGE}");
        read.ok_or_else(|| Problem::malformed(detail()))
    })?;
    let after = after.transpose()?;
    Ok(Json(surveys::list(&state, after.as_ref(), limit, only.as_ref()).await?))
}

pub(super) async fn create(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    request: Body,
) -> Answer<Response> {
    state.allow(&caller, Right::Everything, None)?;
    let (bytes, _hold) = body::read(&state, &caller, &headers, request).await?;
    let made = async move { surveys::create(&state, &bytes, caller.name()).await };
    let cached = run_detached(made).await?;
    let place = format!("/v1/surveys/{}", cached.id);
    let headers = [(header::LOCATION, place)];
    Ok((StatusCode::CREATED, headers, Json(surveys::described_to_owner(&cached))).into_response())
}

pub(super) async fn open(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Response> {
    state.allow(&caller, Right::Run, Some(&survey))?;
    let id = surveys::known(&survey)?;
    let cached = run_detached(async move { state.open_next(&id, caller.name()).await }).await?;
    Ok((StatusCode::CREATED, Json(surveys::described_to_owner(&cached))).into_response())
}

pub(super) async fn seal(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<OwnersSurvey>> {
    state.allow(&caller, Right::Run, Some(&survey))?;
    let (id, number) = (surveys::known(&survey)?, round(&number)?);
    let cached = run_detached(async move { state.seal(&id, number, caller.name()).await }).await?;
    Ok(Json(surveys::described_to_owner(&cached)))
}

pub(super) async fn release(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path((survey, number)): Path<(String, String)>,
) -> Answer<Json<OwnersSurvey>> {
    state.allow(&caller, Right::Run, Some(&survey))?;
    let (id, number) = (surveys::known(&survey)?, round(&number)?);
    let cached =
        run_detached(async move { state.release(&id, number, caller.name()).await }).await?;
    Ok(Json(surveys::described_to_owner(&cached)))
}

/// A step of a survey's life.
async fn step(
    state: Arc<AppState>,
    caller: Caller,
    survey: String,
    step: Step,
) -> Answer<Json<OwnersSurvey>> {
    let right = match step {
        Step::Pause | Step::Close => Right::Stop,
        Step::Resume | Step::Archive => Right::Run,
    };
    state.allow(&caller, right, Some(&survey))?;
    let id = surveys::known(&survey)?;
    let stepped = async move { state.step(&id, step, caller.name()).await };
    Ok(Json(surveys::described_to_owner(&*run_detached(stepped).await?)))
}

pub(super) async fn pause(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Json<OwnersSurvey>> {
    step(state, caller, survey, Step::Pause).await
}

pub(super) async fn resume(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Json<OwnersSurvey>> {
    step(state, caller, survey, Step::Resume).await
}

pub(super) async fn close(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Json<OwnersSurvey>> {
    step(state, caller, survey, Step::Close).await
}

pub(super) async fn archive(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<Json<OwnersSurvey>> {
    step(state, caller, survey, Step::Archive).await
}

pub(super) async fn delete(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
) -> Answer<StatusCode> {
    state.allow(&caller, Right::Stop, Some(&survey))?;
    let id = surveys::known(&survey)?;
    run_detached(async move { state.delete(&id, caller.name()).await }).await?;
    Ok(StatusCode::NO_CONTENT)
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
    let id = surveys::known(&survey)?;
    let after: u64 = match after {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            Problem::malformed(format!("after={text}: the number of the last entry you have"))
        })?,
    };
    let entries = surveys::log(&state, &id, after, ENTRIES).await?;
    Ok(Json(LogEntries { entries }))
}

/// What an observer can learn from one answer of the newest round.
pub(super) async fn observer(
    State(state): Shared,
    Path(survey): Path<String>,
) -> Answer<Json<Arc<ObserverReport>>> {
    Ok(Json(surveys::observed(&state.survey(&survey).await?).await?))
}
