//! What every use case gives back.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::with_names;
use crate::number;

/// The answer of a use case: one JSON for one fact, whoever asked, and the same in words.
///
/// Its fields are plain numbers and names; how a number is rounded when it is written is said where the field is
/// declared, with the functions of [`number`].
pub trait Answer: Serialize {
    /// The answer in sentences for people.
    fn words(&self) -> String;

    /// Whether it is good news: a claim that fails, or a limit that is not met, is an answer too.
    fn is_good(&self) -> bool {
        true
    }

    /// The answer for programs. JSON has no infinity: a number without bound is `null` there, and the field
    /// `unbounded` lists where such numbers stand.
    fn json(&self) -> Value {
        number::finished(serde_json::to_value(self).unwrap_or_default())
    }
}

/// Writes an answer, or a part of one, inside a larger document exactly as it is written alone.
pub fn within_document<T: Serialize, S: Serializer>(part: &T, to: S) -> Result<S::Ok, S::Error> {
    number::finished(serde_json::to_value(part).unwrap_or_default()).serialize(to)
}

/// A sentence that a reader of an answer must not overlook. Fields of the request are named in it as the reader knows
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark(String);

impl Remark {
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// The sentence with what it is about in front.
    pub(crate) fn about(self, what: &str) -> Self {
        Self(format!("{what}: {}", self.0))
    }

    /// The sentence for a reader who knows fields under other names, such as options of a command line.
    pub fn called(&self, name: impl Fn(&str) -> String) -> String {
        with_names(&self.0, name)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(str::to_owned))
    }
}
