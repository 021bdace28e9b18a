//! The two forms of a body of reports.

use crate::{BatchError, PackedBatch, json_batch};
use undertone_core::{Policy, Report};

/// How reports are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BatchForm {
    /// JSON, which a person can read.
    #[default]
    Json,
    /// The compact form: for reports that all name one policy.
    Binary,
    /// The compact form with indices in so many bits.
    Narrow(u8),
}

impl BatchForm {
    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Binary | Self::Narrow(_) => "application/vnd.undertone.reports",
        }
    }

    /// The form of a body with this content type, whatever its parameters; `None` for any other.
    pub fn of_content_type(text: &str) -> Option<Self> {
        let kind = text.split(';').next().unwrap_or_default().trim();
        let known = [Self::Json, Self::Binary];
        known.into_iter().find(|form| kind.eq_ignore_ascii_case(form.media_type()))
    }

    /// The body for these reports.
    pub fn encode(self, reports: &[Report]) -> Result<Vec<u8>, BatchError> {
        match self {
            Self::Json => json_batch::reports_to_json(reports),
            Self::Binary => PackedBatch::pack(reports).map(|packed| packed.to_bytes()),
            Self::Narrow(bits) => {
                PackedBatch::pack(reports).map(|packed| packed.narrowed(bits).to_bytes())
            }
        }
    }

    /// This form for reports of one policy: compact ones take no more bits than a token of the policy does.
    #[must_use]
    pub fn of_policy(self, policy: &Policy) -> Self {
        let shape = policy.draft().shape();
        match self {
            // At most 24 bits where tokens are indices, by the kernel's own limit.
            Self::Binary if !shape.releases_bits() => {
                Self::Narrow(shape.report_bits().clamp(1, 32) as u8)
            }
            form => form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_name_a_form() {
        let of = BatchForm::of_content_type;
        assert_eq!(of("application/json"), Some(BatchForm::Json));
        assert_eq!(of(" Application/JSON ; charset=utf-8"), Some(BatchForm::Json));
        assert_eq!(of(BatchForm::Binary.media_type()), Some(BatchForm::Binary));
        for other in ["", "text/plain", "application/jsonx", "application/vnd.undertone"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
