//! Taking in reports: all of a body, on disk, or none of it.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use undertone_wire::{
    Acknowledgement, BatchError, BatchForm, Code, PackedBatch, Problem, reports_from_json,
};

use super::refusal::Refusal;
use super::{Shared, body};
use crate::auth::Caller;
use crate::service::{AppState, ingest};

pub(super) async fn accept(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Response {
    let mut reports = 1;
    match take(&state, &caller, &survey, &headers, request, &mut reports).await {
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
    caller: &Caller,
    survey: &str,
    headers: &HeaderMap,
    request: Body,
    count: &mut usize,
) -> Result<(), Problem> {
    let form = form_of(headers)?;
    let cached = state.survey(survey).await?;
    // Held until the reports are on disk: what is made of the bytes is smaller than they are.
    let (bytes, _hold) = body::read(state, caller, headers, request).await?;
    match form {
        BatchForm::Json => {
            let reports = reports_from_json(&bytes).map_err(unreadable)?;
            drop(bytes);
            *count = reports.len();
            charge(state, caller, *count)?;
            ingest::reports(state, cached, reports).await
        }
        BatchForm::Binary | BatchForm::Narrow(_) => {
            let packed = PackedBatch::read(&bytes).map_err(unreadable)?;
            *count = packed.rows().len();
            charge(state, caller, *count)?;
            ingest::packed(state, cached, &packed).await
        }
    }
}

fn form_of(headers: &HeaderMap) -> Result<BatchForm, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default();
    BatchForm::of_content_type(kind).ok_or_else(|| {
        let [json, binary] = [BatchForm::Json, BatchForm::Binary].map(BatchForm::media_type);
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
fn charge(state: &AppState, caller: &Caller, reports: usize) -> Result<(), Problem> {
    state.charge(caller, reports.saturating_sub(1))
}
