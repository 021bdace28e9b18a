//! Reports on the wire, and what may come back.

use serde::Deserialize;
use undertone_core::{Report, Token};

/// The most reports in one body.
pub const MAX_BATCH: usize = 10_000;

/// How reports are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// JSON, which a person can read.
    #[default]
    Json,
    /// The compact form: for reports that all name one policy.
    Binary,
}

/// What a curator says when it refuses (RFC 9457).
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Problem {
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

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let code = if self.code.is_empty() { "no code" } else { &self.code };
        write!(f, "{} ({code})", self.status)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Why reports were not taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// Sending the same again will not help.
    #[error("the curator refuses: {0}")]
    Refused(Problem),
    /// It may help, later.
    #[error("the curator cannot be reached or is busy: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
        /// How many seconds the curator asks to wait.
        wait: Option<u64>,
    },
    /// The reports cannot be written in one body.
    #[error("{reason}")]
    Body {
        /// Why.
        reason: &'static str,
    },
}

/// Whether a status asks to come back later: time-outs, too many requests, and everything that is
/// the server's fault. A redirect or another answer that is not ours (a captive portal) counts as
/// "later" too, because nothing was acknowledged.
pub(crate) fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
}

impl Form {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Binary => "application/vnd.undertone.reports",
        }
    }

    /// The body for these reports.
    pub fn encode(self, reports: &[Report]) -> Result<Vec<u8>, SubmitError> {
        let refuse = |reason| Err(SubmitError::Body { reason });
        match reports {
            [] => refuse("there are no reports to send"),
            _ if reports.len() > MAX_BATCH => refuse("more than 10000 reports in one body"),
            [one] if self == Self::Json => Ok(one.to_json().into_bytes()),
            _ if self == Self::Json => {
                let listed: Vec<String> = reports.iter().map(Report::to_json).collect();
                Ok(format!("{{\"reports\":[{}]}}", listed.join(",")).into_bytes())
            }
            [first, ..] => binary(first, reports),
        }
    }
}

/// u8 version, 32 bytes policy id, u8 kind, u32 count, then report ids and tokens; big-endian.
fn binary(first: &Report, reports: &[Report]) -> Result<Vec<u8>, SubmitError> {
    const MIXED: SubmitError =
        SubmitError::Body { reason: "a compact body holds reports of one policy and one kind" };
    let mut out = Vec::from([1u8]);
    out.extend_from_slice(&first.policy.0);
    out.push(u8::from(matches!(first.token, Token::Bits(_))));
    out.extend_from_slice(&(reports.len() as u32).to_be_bytes());
    for report in reports {
        out.extend_from_slice(&report.id.0);
        match (&report.token, &first.token) {
            _ if report.policy != first.policy => return Err(MIXED),
            (Token::Index(index), Token::Index(_)) => out.extend_from_slice(&index.to_be_bytes()),
            (Token::Bits(bits), Token::Bits(like)) if bits.len() == like.len() => {
                out.extend_from_slice(bits);
            }
            _ => return Err(MIXED),
        }
    }
    Ok(out)
}
