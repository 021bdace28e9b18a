//! Values that are known to be popular, perhaps with shares: what is looked for beside what prefixes lead to.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::code::Code;
use super::values::OpenValues;
use crate::Error;
use crate::document;

/// A list of values to be tested without being found first.
///
/// Shares only say how much the list is worth: how many of the people are asked for whole values. They are never part of an answer.
#[derive(Debug, Clone, Default)]
pub struct KnownValues {
    values: Vec<String>,
    /// What part of all people are thought to have one of them.
    share: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawKnown {
    List(Vec<String>),
    Shares(BTreeMap<String, f64>),
}

impl KnownValues {
    /// The most values of a list: each is compared with every report.
    pub const MOST: usize = 10_000;

    /// Values without shares.
    pub fn list(values: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, Error> {
        Self { values: values.into_iter().map(Into::into).collect(), share: None }.checked()
    }

    /// Values with the share of people who are thought to have each; together at most 1.
    pub fn with_shares(
        shares: impl IntoIterator<Item = (impl Into<String>, f64)>,
    ) -> Result<Self, Error> {
        let (mut values, mut total) = (Vec::new(), 0.0);
        for (value, share) in shares {
            let value = value.into();
            if !(0.0..=1.0).contains(&share) {
                let shown = crate::error::shortened_to(60, &value);
                let problem = format!(": {shown:?} has the share {share}: give 0 to 1");
                return Err(Error::field("known", problem));
            }
            values.push(value);
            total += share;
        }
        if total > 1.0 + 1e-9 {
            let problem = format!(": the shares add up to {total}: at most 1 is possible");
            return Err(Error::field("known", problem));
        }
        Self { values, share: Some(total.min(1.0)) }.checked()
    }

    /// Reads `["a", "b"]` or `{"a": 0.2, "b": 0.1}`. Errors begin with the document's name.
    pub fn from_json(name: &str, text: &str) -> Result<Self, Error> {
        let expected =
            "a list of values, [\"a\", \"b\"], or values with shares, {\"a\": 0.2, \"b\": 0.1}";
        let known = match document::json(name, text, expected)? {
            RawKnown::List(values) => Self::list(values),
            RawKnown::Shares(shares) => Self::with_shares(shares),
        };
        known.map_err(|error| Error::in_document(name, error))
    }

    fn checked(mut self) -> Result<Self, Error> {
        let count = self.values.len();
        self.values.sort_unstable();
        self.values.dedup();
        let problem = match self.values.len() {
            0 => ": there are no values: leave it out".to_owned(),
            kept if kept < count => ": a value is listed twice: list each once".to_owned(),
            kept if kept > Self::MOST => {
                format!(": {kept} values are listed: give at most {}", Self::MOST)
            }
            _ => return Ok(self),
        };
        Err(Error::field("known", problem))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What part of all people are thought to have one of them; one half where nothing is said.
    pub fn share(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.share.unwrap_or(0.5) }
    }

    /// Their codes.
    pub(super) fn codes(&self, values: &OpenValues) -> Result<Vec<Code>, Error> {
        let code = |value: &String| {
            values.code(value).map_err(|why| {
                let shown = crate::error::shortened_to(60, value);
                Error::field("known", format!(": {shown:?} {}", values.problem(why)))
            })
        };
        self.values.iter().map(code).collect()
    }
}
