//! How a problem goes out over HTTP.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use undertone_wire::{Code, Problem};

/// A problem on its way out.
#[derive(Debug)]
pub(super) struct Refusal(Problem);

impl<P> From<P> for Refusal
where
    Problem: From<P>,
{
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

/// What a handler answers.
pub(super) type Answer<T> = Result<T, Refusal>;

/// The reason of a refused response, for the log and the counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused(pub(super) Code);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(problem) = self;
        // A record of texts and a number always serialises.
        let body = serde_json::to_string(&problem.document()).unwrap_or_default();
        let status = StatusCode::from_u16(problem.code.status());
        let mut response = (
            status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            [
                (header::CONTENT_TYPE, "application/problem+json"),
                (header::CACHE_CONTROL, "no-store"),
            ],
            body,
        )
            .into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = problem.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if problem.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Refused(problem.code));
        response
    }
}
