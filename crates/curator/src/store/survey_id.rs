//! The name of a survey.

use std::fmt;
use std::str::FromStr;

/// The name of a survey: 1 to 64 of `a-z`, `0-9` and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SurveyId(String);

/// Text that is not the name of a survey.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a survey id: it has 1 to 64 characters, each one of a-z, 0-9 and -")]
pub struct NotASurveyId;

impl SurveyId {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SurveyId {
    type Err = NotASurveyId;

    fn from_str(text: &str) -> Result<Self, NotASurveyId> {
        let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text.into()))
        } else {
            Err(NotASurveyId)
        }
    }
}

impl fmt::Display for SurveyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
