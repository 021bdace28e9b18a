//! What every use case gives back.

use serde::Serialize;
use serde_json::Value;

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
