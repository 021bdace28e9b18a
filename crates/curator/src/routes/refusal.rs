//! How a problem comes about from the store, and goes out over HTTP.
//!
//! The cause of a failure inside the curator is logged and not sent.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::store::StoreError;
use undertone_wire::{Code, Problem};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(what) => {
                Self::new(Code::Conflict, format!("{what}: read it again and decide anew"))
            }
            StoreError::NotFound(what) => Self::new(Code::NotFound, what),
            StoreError::RoundClosed => {
                Self::new(Code::RoundSealed, "the round was sealed: fetch the survey again")
            }
            StoreError::Unfolded => {
                Self::new(Code::Unavailable, "reports of the round wait to be counted: try again")
                    .retry_after(5)
            }
            StoreError::Misfit(what) => Self::new(Code::TokenOutOfRange, what),
            StoreError::Full => Self::new(
                Code::StorageFull,
                "the curator's disk is full: nothing was stored, keep the report and try later",
            )
            .retry_after(60),
            StoreError::AtLimit { most } => {
                tracing::warn!(most, "the store has grown to its limit and takes no reports");
                Self::new(
                    Code::StorageFull,
                    "the curator's store has grown to the size its owner allows: nothing was stored, keep the report and try later",
                )
                .retry_after(60)
            }
            StoreError::Unavailable(cause) => {
                tracing::warn!(%cause, "the store cannot be reached");
                Self::new(Code::Unavailable, "the store cannot be reached: try again")
                    .retry_after(2)
            }
            // Damaged, or of a kind this program does not know: the owner must look.
            other => {
                tracing::error!(cause = %other, "the store cannot be used");
                Self::new(Code::Unavailable, "the store cannot be used: its owner must look at it")
                    .retry_after(60)
            }
        }
    }
}

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
