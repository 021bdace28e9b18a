//! The name of a survey.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The name of a survey: 1 to 64 of `a-z`, `0-9` and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
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
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for SurveyId {
    type Error = NotASurveyId;

    fn try_from(text: String) -> Result<Self, NotASurveyId> {
        let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let legal = (1..=64).contains(&text.len()) && text.bytes().all(fits);
        if legal { Ok(Self(text)) } else { Err(NotASurveyId) }
    }
}

impl fmt::Display for SurveyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_fit_an_address_are_ids() {
        for good in ["a", "0", "-", "commute-2026", &"a".repeat(64)] {
            assert_eq!(good.parse::<SurveyId>().unwrap().as_str(), good);
        }
        for bad in ["", "A", "a b", "../admin", "a/b", "ä", "a_b", &"a".repeat(65)] {
            assert_eq!(bad.parse::<SurveyId>(), Err(NotASurveyId), "{bad}");
        }
    }
}
