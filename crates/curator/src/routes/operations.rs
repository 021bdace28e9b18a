//! Health, counters and the description of the service.

use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::refusal::Answer;
use super::{Embedded, Shared};
use crate::auth::{Caller, Right};

/// The service described for programs.
pub const OPENAPI: &str = include_str!("../openapi.json");

pub(super) async fn healthy() -> &'static str {
    "ok\n"
}

pub(super) async fn ready(State(state): Shared) -> Answer<&'static str> {
    state.app.store.ready().await?;
    Ok("ready\n")
}

pub(super) async fn metrics(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
) -> Answer<Response> {
    if !state.app.settings.metrics_open {
        state.allow(&caller, Right::Everything, None)?;
    }
    // Asked for only by whoever may read it, and no more often than that.
    match state.app.store.load().await {
        Ok(load) => state.metrics.store(load),
        Err(error) => tracing::warn!(%error, "the store cannot say how full it is"),
    }
    state.metrics.in_flight.set(i64::try_from(state.flight.total()).unwrap_or(i64::MAX));
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], state.metrics.text()).into_response())
}

pub(super) async fn openapi() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (Extension(Embedded), headers, OPENAPI).into_response()
}
