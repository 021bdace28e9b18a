//! Taking in reports: all of a body, on disk, or none of it.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use undertone_core::{Foreign, PolicyId, Report};
use undertone_wire::{
    Acknowledgement, BatchError, Code, Form, PackedBatch, Problem, ReportRows, reports_from_json,
};

use super::refusal::Refusal;
use super::{Shared, body};
use crate::app::{AppState, CachedSurvey};
use crate::auth::Caller;
use crate::store::{Batch, RoundKey, StoreError};

pub(super) async fn accept(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Response {
    let mut reports = 1;
    match take(&state, caller, &survey, &headers, request, &mut reports).await {
        Ok(()) => {
            state.metrics.accepted.inc_by(reports as u64);
            state.appended.notify_one();
            let accepted = reports as u64;
            (StatusCode::ACCEPTED, Json(Acknowledgement { accepted })).into_response()
        }
        Err(problem) => {
            state.metrics.refuse(problem.code, reports);
            Refusal::from(problem).into_response()
        }
    }
}

async fn take(
    state: &AppState,
    caller: Caller,
    survey: &str,
    headers: &HeaderMap,
    request: Body,
    count: &mut usize,
) -> Result<(), Problem> {
    let form = form_of(headers)?;
    let cached = state.survey(survey).await?;
    // Held until the reports are on disk: what is made of the bytes is smaller than they are.
    let (bytes, _hold) = body::read(state, caller, headers, request).await?;
    let batches = match form {
        Form::Json => {
            let reports = reports_from_json(&bytes).map_err(unreadable)?;
            drop(bytes);
            *count = reports.len();
            charge(state, caller, *count)?;
            sorted(state, cached.clone(), reports).await?
        }
        Form::Binary => {
            let packed = PackedBatch::read(&bytes).map_err(unreadable)?;
            *count = packed.rows().len();
            charge(state, caller, *count)?;
            checked(state, cached.clone(), &packed).await?
        }
    };
    state.app.store.append(batches).await.map_err(|error| {
        if error == StoreError::RoundClosed {
            // Somebody else sealed it.
            state.forget(&cached.id);
        }
        Problem::from(error)
    })
}

fn form_of(headers: &HeaderMap) -> Result<Form, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default();
    Form::of_content_type(kind).ok_or_else(|| {
        let [json, binary] = [Form::Json, Form::Binary].map(Form::media_type);
        let detail = format!("content-type {kind:?}: send {json} or {binary}");
        Problem::new(Code::UnsupportedForm, detail)
    })
}

fn unreadable(error: BatchError) -> Problem {
    let code = match error {
        BatchError::TooMany { .. } => Code::BodyTooLarge,
        _ => Code::Malformed,
    };
    Problem::new(code, error.to_string())
}

/// Charges the address for the reports beyond the first, which the request itself has paid for.
fn charge(state: &AppState, caller: Caller, reports: usize) -> Result<(), Problem> {
    state.charge(caller, reports.saturating_sub(1))
}

/// Checks every token of a batch against its policy.
async fn checked(
    state: &AppState,
    cached: std::sync::Arc<CachedSurvey>,
    packed: &PackedBatch,
) -> Result<Vec<Batch>, Problem> {
    let policy = packed.policy();
    let (cached, round) = round_of(state, cached, policy).await?;
    if !packed.fits(cached.policy(&policy)?) {
        return Err(out_of_range(policy));
    }
    Ok(vec![Batch { round, policy, reports: packed.rows().clone() }])
}

/// Sorts reports by policy, and checks every token against its policy.
async fn sorted(
    state: &AppState,
    mut cached: std::sync::Arc<CachedSurvey>,
    reports: Vec<Report>,
) -> Result<Vec<Batch>, Problem> {
    let mut by_policy: BTreeMap<PolicyId, Vec<Report>> = BTreeMap::new();
    for report in reports {
        by_policy.entry(report.policy).or_default().push(report);
    }
    let mut batches = Vec::with_capacity(by_policy.len());
    for (id, reports) in by_policy {
        let (fresh, round) = round_of(state, cached, id).await?;
        cached = fresh;
        let policy = cached.policy(&id)?;
        for report in &reports {
            match policy.accepts(report) {
                Ok(()) => {}
                Err(Foreign::Token) => return Err(out_of_range(id)),
                Err(other) => return Err(Problem::new(Code::PolicyForeign, other.to_string())),
            }
        }
        let rows = reports.iter().map(|report| (report.id, &report.token));
        let reports = ReportRows::pack(rows).map_err(|_| out_of_range(id))?;
        batches.push(Batch { round, policy: id, reports });
    }
    Ok(batches)
}

fn out_of_range(policy: PolicyId) -> Problem {
    let detail =
        format!("a token is not an output of policy {policy}; nothing of this body was stored");
    Problem::new(Code::TokenOutOfRange, detail)
}

/// The open round a policy belongs to; looks again at the store before refusing what it does not know.
async fn round_of(
    state: &AppState,
    cached: std::sync::Arc<CachedSurvey>,
    policy: PolicyId,
) -> Result<(std::sync::Arc<CachedSurvey>, RoundKey), Problem> {
    if let Some(key) = open_round(&cached, policy) {
        return Ok((cached, key));
    }
    let cached = state.fresh(&cached.id).await?;
    if let Some(key) = open_round(&cached, policy) {
        return Ok((cached, key));
    }
    let newest = cached.newest().map_or(0, |round| round.key.number);
    let problem = match cached.policies.get(&policy) {
        Some((number, _)) if *number < newest => Problem::new(
            Code::PolicyExpired,
            format!("policy {policy} was for round {number}: fetch the survey again"),
        ),
        Some((number, _)) => {
            Problem::new(Code::RoundSealed, format!("round {number} takes no more reports"))
        }
        None if state.policy(policy).await?.is_some() => Problem::new(
            Code::PolicyForeign,
            format!("policy {policy} is for another survey than {}", cached.id),
        ),
        None => Problem::new(
            Code::PolicyUnknown,
            format!("there is no policy {policy}: fetch the survey's"),
        ),
    };
    Err(problem)
}

fn open_round(cached: &CachedSurvey, policy: PolicyId) -> Option<RoundKey> {
    let open = cached.open()?;
    let (number, _) = cached.policies.get(&policy)?;
    (*number == open.key.number).then(|| open.key.clone())
}
