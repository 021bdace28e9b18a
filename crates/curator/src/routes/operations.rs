//! Health, counters and the description of the service.

use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::refusal::Answer;
use super::{Embedded, Shared};
use crate::auth::Caller;

/// The service described for programs.
pub const OPENAPI: &str = include_str!("../openapi.json");

pub(super) async fn healthy() -> &'static str {
    "ok\n"
}

pub(super) async fn ready(State(curation): Shared) -> Answer<&'static str> {
    curation.app.store.ready().await?;
    Ok("ready\n")
}

pub(super) async fn metrics(
    State(curation): Shared,
    Extension(caller): Extension<Caller>,
) -> Answer<Response> {
    if !curation.app.settings.metrics_open {
        curation.owner(caller)?;
    }
    curation.metrics.in_flight.set(i64::try_from(curation.flight.total()).unwrap_or(i64::MAX));
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], curation.metrics.text()).into_response())
}

pub(super) async fn openapi() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (Extension(Embedded), headers, OPENAPI).into_response()
}
