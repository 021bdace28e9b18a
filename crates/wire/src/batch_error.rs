//! Why a body holds no reports, or reports make no body.

use crate::limits::MOST_REPORTS;

/// Why a body is not a list of reports, or reports cannot be written into one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Not the JSON of one report or of a list.
    #[error("not a report, and not {{\"reports\": [..]}}: {0}")]
    Json(String),
    /// No reports.
    #[error("there are no reports in the body")]
    Empty,
    /// Too many reports.
    #[error("{found} reports in one body: send at most {MOST_REPORTS}")]
    TooMany {
        /// How many reports there are.
        found: usize,
    },
    /// Reports that do not go into one batch of bytes.
    #[error("a compact body holds reports of one policy and one kind of token: send these apart")]
    Mixed,
    /// Bytes of another version.
    #[error("the batch has version {found}, where 1 is read")]
    Version {
        /// What was found.
        found: u8,
    },
    /// A kind of token that does not exist.
    #[error(
        "the batch has tokens of kind {found}: 0 is an index, 1 is bits, 2 an index in few bits"
    )]
    Kind {
        /// What was found.
        found: u8,
    },
    /// Too short, or not a whole number of reports of one length.
    #[error("{found} bytes do not hold {reports} reports of one length")]
    Length {
        /// How many bytes follow the head.
        found: usize,
        /// How many reports were announced.
        reports: usize,
    },
}

impl BatchError {
    /// Refuses a number of reports that no body may have.
    pub(crate) fn check_count(found: usize) -> Result<(), Self> {
        match found {
            0 => Err(Self::Empty),
            1..=MOST_REPORTS => Ok(()),
            _ => Err(Self::TooMany { found }),
        }
    }
}
