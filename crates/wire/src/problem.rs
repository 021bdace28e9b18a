//! A refusal, and the document of RFC 9457 it is sent as.

use crate::Code;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// One refusal of a curator. What a caller can mend is said in `detail`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {detail}", code.name())]
pub struct Problem {
    /// Of which kind.
    pub code: Code,
    /// What is wrong here and how to mend it.
    pub detail: String,
    /// In how many seconds it is worth trying again; said in a header of the answer.
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

    /// This refusal, worth trying again after some seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds.max(1)), ..self }
    }

    /// This refusal, worth trying again after a while, rounded up to seconds.
    #[must_use]
    pub fn retry_in(self, wait: Duration) -> Self {
        let begun = u64::from(wait.subsec_nanos() > 0);
        let seconds = wait.as_secs().saturating_add(begun);
        self.retry_after(u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// What is sent.
    pub fn document(&self) -> ProblemDocument {
        ProblemDocument {
            status: self.code.status(),
            code: self.code.name().into(),
            detail: self.detail.clone(),
        }
    }
}

/// The document of RFC 9457 as a device reads it. Whoever answers in the curator's place, such as a proxy, may leave out
/// any of the fields; and a later curator may have codes that are not in [`Code`].
///
/// It is written with a `type` and, if the code is known, a `title` as well, fields by name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct ProblemDocument {
    /// The HTTP status.
    #[serde(default)]
    pub status: u16,
    /// The stable code, such as `round_sealed`.
    #[serde(default)]
    pub code: String,
    /// In words.
    #[serde(default)]
    pub detail: String,
}

impl Serialize for ProblemDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let title = Code::named(&self.code).map(Code::title);
        let mut fields = serializer.serialize_struct("ProblemDocument", 5)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("detail", &self.detail)?;
        fields.serialize_field("status", &self.status)?;
        match &title {
            Some(title) => fields.serialize_field("title", title)?,
            None => fields.skip_field("title")?,
        }
        fields.serialize_field("type", &format!("urn:undertone:problem:{}", self.code))?;
        fields.end()
    }
}

impl fmt::Display for ProblemDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = if self.code.is_empty() { "no code" } else { &self.code };
        write!(f, "{} ({code})", self.status)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_pinned_and_read_back() {
        let problem = Problem::new(Code::RoundSealed, "round 2 takes no more reports");
        let sent = serde_json::to_string(&problem.document()).unwrap();
        assert_eq!(
            sent,
            r#"{"code":"round_sealed","detail":"round 2 takes no more reports","status":409,"title":"The round takes no more reports","type":"urn:undertone:problem:round_sealed"}"#
        );
        let read: ProblemDocument = serde_json::from_str(&sent).unwrap();
        assert_eq!(read, problem.document());
        assert_eq!(read.to_string(), "409 (round_sealed): round 2 takes no more reports");
    }

    #[test]
    fn a_document_of_somebody_else_is_read_as_far_as_it_goes() {
        let other: ProblemDocument =
            serde_json::from_str(r#"{"code": "teapot", "status": 418, "more": []}"#).unwrap();
        assert_eq!(other.to_string(), "418 (teapot)");
        assert!(!serde_json::to_string(&other).unwrap().contains("title"));
        assert_eq!(
            serde_json::from_str::<ProblemDocument>("{}").unwrap().to_string(),
            "0 (no code)"
        );
    }

    #[test]
    fn waits_are_rounded_up_to_seconds() {
        let wait = |nanos: u64| {
            let problem = Problem::malformed("x").retry_in(Duration::from_nanos(nanos));
            problem.retry_after
        };
        let second = 1_000_000_000;
        assert_eq!([wait(0), wait(1), wait(second), wait(second + 1)], [1, 1, 1, 2].map(Some));
        assert_eq!(Problem::malformed("x").retry_in(Duration::MAX).retry_after, Some(u32::MAX));
    }
}
