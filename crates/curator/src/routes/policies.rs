//! Policies under their id.

use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use undertone_core::PolicyId;
use undertone_wire::{Code, Problem};

use super::Shared;
use super::refusal::Answer;

#[derive(Deserialize)]
pub(super) struct PolicyForm {
    form: Option<String>,
}

/// A policy never changes, so whoever has it may keep it.
const FOREVER: &str = "public, max-age=31536000, immutable";

pub(super) async fn show(
    State(state): Shared,
    Path(id): Path<String>,
    Query(PolicyForm { form }): Query<PolicyForm>,
) -> Answer<Response> {
    let unknown = |detail: String| Problem::new(Code::PolicyUnknown, detail);
    let id: PolicyId =
        id.parse().map_err(|error: undertone_core::policy::NotAnId| unknown(error.to_string()))?;
    let policy = state.policy(id).await?;
    let policy = policy.ok_or_else(|| unknown(format!("there is no policy {id}")))?;
    let (kind, body) = match form.as_deref() {
        None | Some("json") => ("application/json", policy.draft().to_json().into_bytes()),
        Some("bytes") => ("application/octet-stream", policy.draft().to_bytes()),
        Some(other) => {
            let detail = format!("form={other}: use json or bytes");
            return Err(Problem::new(Code::UnsupportedForm, detail).into());
        }
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, FOREVER),
        // Public, immutable and without credentials: any page may read it.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    Ok((headers, body).into_response())
}
