//! What people may answer, as a survey and a policy document write it.

use serde::{Deserialize, Serialize};
use undertone_core::{Alphabet, AlphabetError, Decimal};

/// An alphabet as a policy document writes it, in the owner's own texts: one of names, points, indices, or edges with
/// values. [`Answers::alphabet`] checks it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Bare indices from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<u32>,
    /// Names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Increasing numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<String>>,
    /// Edges of bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<String>>,
    /// One value in each bin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

/// Why some answers are no alphabet.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// None of the ways to say them, or several.
    #[error("give exactly one of: names, points, indices, or edges with values")]
    Kind,
    /// A text that should be a number is none.
    #[error("{text:?} is not a decimal number: {problem}")]
    Number {
        /// What was given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The alphabet refuses them.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
}

impl Answers {
    /// The alphabet they stand for.
    pub fn alphabet(&self) -> Result<Alphabet, AnswersError> {
        let made = match (&self.indices, &self.names, &self.points, &self.edges, &self.values) {
            (Some(size), None, None, None, None) => Alphabet::indices(*size as usize),
            (None, Some(names), None, None, None) => Alphabet::names(names.clone()),
            (None, None, Some(points), None, None) => Alphabet::points(decimals(points)?),
            (None, None, None, Some(edges), Some(values)) => {
                Alphabet::bins(decimals(edges)?, decimals(values)?)
            }
            _ => return Err(AnswersError::Kind),
        };
        Ok(made?)
    }
}

fn decimals(texts: &[String]) -> Result<Vec<Decimal>, AnswersError> {
    let read = |text: &String| {
        text.parse::<Decimal>().map_err(|error| AnswersError::Number {
            text: text.clone(),
            problem: error.to_string(),
        })
    };
    texts.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_core::{Draft, Object};

    fn read(text: &str) -> Result<Alphabet, String> {
        let Object::<Answers>(answers) =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        assert_eq!(serde_json::to_string(&answers).unwrap(), text, "written as it was read");
        answers.alphabet().map_err(|error| error.to_string())
    }

    #[test]
    fn all_four_kinds_are_read() {
        for (text, size) in [
            (r#"{"indices":3}"#, 3),
            (r#"{"names":["no","yes"]}"#, 2),
            (r#"{"points":["-1","0.50","2"]}"#, 3),
            (r#"{"edges":["0","10","20"],"values":["5","15"]}"#, 2),
        ] {
            assert_eq!(read(text).map(|alphabet| alphabet.len()), Ok(size), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for (text, said) in [
            ("{}", "exactly one"),
            (r#"{"names":["a"],"points":["1"]}"#, "exactly one"),
            (r#"{"edges":["0","1"]}"#, "exactly one"),
            (r#"{"names":["a","a"]}"#, "twice"),
            (r#"{"points":["1","x"]}"#, "\"x\" is not a decimal number"),
            (r#"{"indices":0}"#, "0 symbols"),
            (r#"{"names":["a"],"units":"kg"}"#, "units"),
            (r#"[null,["a","b"]]"#, "expected an object"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    /// The kernel has a reader of its own for policy documents; both understand the same.
    #[test]
    fn answers_are_the_inputs_of_a_policy_document() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/v1/policy");
        let mut compared = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let file: serde_json::Value = serde_json::from_str(&text).unwrap();
            let Ok(draft) = Draft::from_json(&file["document"].to_string()) else { continue };
            let answers: Answers =
                serde_json::from_value(file["document"]["inputs"].clone()).unwrap();
            assert_eq!(answers.alphabet().as_ref(), Ok(draft.inputs()));
            compared += 1;
        }
        assert!(compared > 20, "{compared}");
    }
}
