//! Which other sites' pages may talk to a survey: those its owner lists.
//!
//! Not tower-http's CorsLayer: its list is the router's and not a survey's, and it ends preflights itself with another status.

use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Shared;
use crate::service::CachedSurvey;

/// Answers preflights, and marks answers for the sites the survey lists.
pub(super) async fn of_survey(
    State(state): Shared,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let name = params.iter().find(|(key, _)| *key == "survey").map(|(_, name)| name.to_owned());
    let preflight = request.method() == Method::OPTIONS;
    let mut response = if preflight {
        // Fills the memory, so that the survey's list is at hand below.
        let _ = state.survey(name.as_deref().unwrap_or_default()).await;
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let (Some(origin), Some(name)) = (origin, name) else { return response };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(cached) = state.remembered(&name)
        && listed(&cached, &origin)
    {
        allow(headers, origin, preflight);
    }
    response
}

fn listed(cached: &CachedSurvey, origin: &HeaderValue) -> bool {
    let matches = |listed: &String| listed == "*" || listed.as_bytes() == origin.as_bytes();
    cached.survey.body.origins.iter().any(matches)
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue, preflight: bool) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if preflight {
        let fixed = HeaderValue::from_static;
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, fixed("GET, POST"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, fixed("content-type"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, fixed("600"));
    }
}
