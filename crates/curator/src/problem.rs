//! Refusals with stable codes: RFC 9457 problems.
//!
//! The cause of a failure inside the curator is logged and not sent; what a caller can mend is said in
//! `detail`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::store::StoreError;

/// Why a request was refused. The names on the wire never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Code {
    /// No survey of this id.
    SurveyUnknown,
    /// No policy of this id.
    PolicyUnknown,
    /// A policy, but not one of this survey.
    PolicyForeign,
    /// A policy of an earlier round of this survey.
    PolicyExpired,
    /// A token the policy never releases.
    TokenOutOfRange,
    /// The round takes no more reports.
    RoundSealed,
    /// The round must be sealed, or released, first.
    RoundOpen,
    /// More bytes, or more reports, than one request may carry.
    BodyTooLarge,
    /// The body is not what was expected.
    Malformed,
    /// A content type or a form the curator does not speak.
    UnsupportedForm,
    /// The owner's token is missing or wrong.
    Unauthorized,
    /// Too many requests from one address.
    TooManyRequests,
    /// Too few reports to say anything.
    TooFewReports,
    /// A group policy would be shared by too few people.
    GroupTooSmall,
    /// Somebody else changed it first, or it exists already.
    Conflict,
    /// No policy with the promises asked for could be verified.
    RefusedClaim,
    /// The round would exceed the survey's budget.
    BudgetSpent,
    /// The disk is full.
    StorageFull,
    /// The store cannot be reached.
    Unavailable,
    /// The request took too long.
    Timeout,
    /// No such page.
    NotFound,
    /// The page exists, the method does not.
    MethodNotAllowed,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 22] = [
        Self::SurveyUnknown,
        Self::PolicyUnknown,
        Self::PolicyForeign,
        Self::PolicyExpired,
        Self::TokenOutOfRange,
        Self::RoundSealed,
        Self::RoundOpen,
        Self::BodyTooLarge,
        Self::Malformed,
        Self::UnsupportedForm,
        Self::Unauthorized,
        Self::TooManyRequests,
        Self::TooFewReports,
        Self::GroupTooSmall,
        Self::Conflict,
        Self::RefusedClaim,
        Self::BudgetSpent,
        Self::StorageFull,
        Self::Unavailable,
        Self::Timeout,
        Self::NotFound,
        Self::MethodNotAllowed,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        self.parts().0
    }

    /// The HTTP status.
    pub const fn status(self) -> StatusCode {
        self.parts().1
    }

    /// The same sentence for every occurrence.
    pub const fn title(self) -> &'static str {
        self.parts().2
    }

    const fn parts(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::SurveyUnknown => ("survey_unknown", S::NOT_FOUND, "There is no such survey"),
            Self::PolicyUnknown => ("policy_unknown", S::NOT_FOUND, "There is no such policy"),
            Self::PolicyForeign => (
                "policy_foreign",
                S::UNPROCESSABLE_ENTITY,
                "The policy belongs to no round of this survey",
            ),
            Self::PolicyExpired => {
                ("policy_expired", S::CONFLICT, "The policy belongs to an earlier round")
            }
            Self::TokenOutOfRange => (
                "token_out_of_range",
                S::UNPROCESSABLE_ENTITY,
                "The token is not an output of its policy",
            ),
            Self::RoundSealed => ("round_sealed", S::CONFLICT, "The round takes no more reports"),
            Self::RoundOpen => ("round_open", S::CONFLICT, "The round is not sealed yet"),
            Self::BodyTooLarge => {
                ("body_too_large", S::PAYLOAD_TOO_LARGE, "The body is larger than allowed")
            }
            Self::Malformed => ("malformed", S::BAD_REQUEST, "The request cannot be read"),
            Self::UnsupportedForm => {
                ("unsupported_form", S::UNSUPPORTED_MEDIA_TYPE, "The form is not supported")
            }
            Self::Unauthorized => {
                ("unauthorized", S::UNAUTHORIZED, "The owner's token is missing or wrong")
            }
            Self::TooManyRequests => {
                ("too_many_requests", S::TOO_MANY_REQUESTS, "Too many requests from this address")
            }
            Self::TooFewReports => {
                ("too_few_reports", S::CONFLICT, "There are too few reports to say anything")
            }
            Self::GroupTooSmall => {
                ("group_too_small", S::UNPROCESSABLE_ENTITY, "Too few people would share a policy")
            }
            Self::Conflict => {
                ("conflict", S::CONFLICT, "It exists already or was changed meanwhile")
            }
            Self::RefusedClaim => (
                "refused_claim",
                S::UNPROCESSABLE_ENTITY,
                "No policy with these promises was verified",
            ),
            Self::BudgetSpent => {
                ("budget_spent", S::CONFLICT, "The survey's budget does not allow another round")
            }
            Self::StorageFull => ("storage_full", S::INSUFFICIENT_STORAGE, "The disk is full"),
            Self::Unavailable => {
                ("unavailable", S::SERVICE_UNAVAILABLE, "The store cannot be reached")
            }
            Self::Timeout => ("timeout", S::REQUEST_TIMEOUT, "The request took too long"),
            Self::NotFound => ("not_found", S::NOT_FOUND, "There is no such page"),
            Self::MethodNotAllowed => {
                ("method_not_allowed", S::METHOD_NOT_ALLOWED, "The page does not know this method")
            }
        }
    }
}

/// One refusal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {detail}", code.name())]
pub struct Problem {
    /// Of which kind.
    pub code: Code,
    /// What is wrong here and how to mend it.
    pub detail: String,
    /// In how many seconds it is worth trying again.
    pub retry_after: Option<u32>,
}

impl Problem {
    /// A refusal with its reason.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None }
    }

    /// A body or parameter that cannot be read.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(Code::Malformed, detail)
    }

    /// The same, worth trying again after some seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds.max(1)), ..self }
    }
}

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

/// The reason of a refused response, for the log and the counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused(pub(crate) Code);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": format!("urn:undertone:problem:{}", self.code.name()),
            "title": self.code.title(),
            "status": self.code.status().as_u16(),
            "detail": self.detail,
            "code": self.code.name(),
        });
        let mut response = (
            self.code.status(),
            [
                (header::CONTENT_TYPE, "application/problem+json"),
                (header::CACHE_CONTROL, "no-store"),
            ],
            body.to_string(),
        )
            .into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Refused(self.code));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| code.status().as_u16() >= 400));
    }
}
