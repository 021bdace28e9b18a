//! The forms in which people write priors, channels, joint laws, boxes and policies, read with the reason where
//! they cannot be.
//!
//! Every reader takes the document's name, which its errors begin with, and its text.

mod by_name;
mod density;
mod from;
mod prior;
mod words;

pub use density::{ComponentDocument, DensityDocument};
pub use prior::{Floored, Prior, PriorDocument, PriorSet};
pub use words::{json_words, unplaced};

use undertone_core::Draft;
use undertone_design::prior_region::PriorBox;
use undertone_design::{Channel, Joint, Symbols};
use undertone_theory::sequence::Process;

use crate::Error;

/// A JSON document; `expected` says what it should be where it is something else.
pub fn json<T: serde::de::DeserializeOwned>(
    name: &str,
    text: &str,
    expected: &str,
) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| unreadable(name, text, &error, expected))
}

/// Why a document could not be read, and what it should have been.
fn unreadable(name: &str, text: &str, error: &serde_json::Error, expected: &str) -> Error {
    let problem = if text.trim().is_empty() {
        "the file is empty".to_owned()
    } else {
        json_words(text, &error.to_string())
    };
    Error::in_document(name, format!("{problem}; expected {expected}"))
}

/// Names the document in front of what is wrong with its content.
fn named<T>(name: &str, result: Result<T, undertone_design::Error>) -> Result<T, Error> {
    result.map_err(|error| Error::in_document(name, error))
}

/// A matrix, or an object that also names its rows and columns.
fn matrix_document<Named: serde::de::DeserializeOwned>(
    name: &str,
    text: &str,
    expected: &str,
) -> Result<by_name::Matrix<Named>, Error> {
    Ok(match text.trim_start().starts_with('{') {
        true => by_name::Matrix::Named(json(name, text, expected)?),
        false => by_name::Matrix::Bare(json(name, text, expected)?),
    })
}

/// A channel: rows of probabilities, with or without names.
pub fn channel(name: &str, text: &str) -> Result<Channel, Error> {
    let expected = "a channel: a list of rows, one per input, each a list of probabilities, or {\"inputs\": [names], \"outputs\": [names], \"rows\": [...]}";
    match matrix_document::<by_name::ChannelDocument>(name, text, expected)? {
        by_name::Matrix::Bare(rows) => named(name, Channel::new(rows)),
        by_name::Matrix::Named(document) => named(name, document.channel()),
    }
}

/// A box of priors: its lower and its upper ends, each in one of the forms of a prior, with any sum. Each end is a
/// pair of name and text.
pub fn prior_box(lower: (&str, &str), upper: (&str, &str)) -> Result<PriorBox, Error> {
    let ends = |(name, text): (&str, &str)| -> Result<(Vec<f64>, Symbols), Error> {
        let expected = "a list of probabilities, one per symbol, {\"a\": 0.1, \"b\": 0.2} or \
            {\"symbols\": [\"a\", \"b\"], \"p\": [0.1, 0.2]}";
        if !text.trim_start().starts_with('{') {
            let list: Vec<f64> = json(name, text, expected)?;
            if list.is_empty() {
                let what = "the list of probabilities".into();
                return named(name, Err(undertone_design::Error::Empty { what }));
            }
            let symbols = Symbols::unnamed(list.len());
            return Ok((list, symbols));
        }
        let document = by_name::prior_document(text)
            .map_err(|error| unreadable(name, text, &error, expected))?;
        let symbols = Symbols::of(&named(name, by_name::alphabet(&document))?);
        if symbols.len() != document.p.len() {
            let (expected, found) = (document.p.len(), symbols.len());
            let error = undertone_design::Error::Size { what: "symbols".into(), expected, found };
            return named(name, Err(error));
        }
        Ok((document.p, symbols))
    };
    let ((low, symbols), (high, others)) = (ends(lower)?, ends(upper)?);
    let high = match others.places(upper.0, &symbols)? {
        Some(places) => places.iter().map(|&at| high[at]).collect(),
        None => high,
    };
    let within = PriorBox::new(low, high).and_then(|within| within.over(&symbols));
    within.map_err(|error| Error::in_document(&format!("{}, {}", lower.0, upper.0), error))
}

/// A joint law P(s,x) of a secret and the data: rows of probabilities, with or without names.
pub fn joint(name: &str, text: &str) -> Result<Joint, Error> {
    let expected = "a joint law P(s,x): a list of rows, one per value of s, or {\"secret\": [names], \"symbols\": [names], \"rows\": [...]}";
    match matrix_document::<by_name::JointDocument>(name, text, expected)? {
        by_name::Matrix::Bare(rows) => named(name, Joint::new(rows)),
        by_name::Matrix::Named(document) => named(name, document.joint()),
    }
}

/// The joint law of two correlated data.
pub fn pair(name: &str, text: &str) -> Result<Process, Error> {
    let expected = "a joint law P(x1,x2): a list of rows, or {\"first\": [names], \"second\": [names], \"rows\": [...]}";
    let document = match matrix_document::<by_name::PairDocument>(name, text, expected)? {
        by_name::Matrix::Bare(rows) => by_name::PairDocument { first: None, second: None, rows },
        by_name::Matrix::Named(document) => document,
    };
    let pair = named(name, Process::pair(&document.rows))?;
    let mut symbols: Vec<Symbols> =
        pair.marginals().iter().map(|law| law.symbols().clone()).collect();
    for (at, what, names) in [(0, "first", document.first), (1, "second", document.second)] {
        if let Some(names) = names {
            symbols[at] = named(name, by_name::listed(what, names))?;
        }
    }
    named(name, pair.over(&symbols))
}

/// A policy document, well formed but not verified.
pub fn draft(name: &str, text: &str) -> Result<Draft, Error> {
    read(name, text, Draft::from_json)
}

/// A document read by the crate that knows its format.
pub fn read<T, E: std::fmt::Display>(
    name: &str,
    text: &str,
    reader: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Error> {
    if text.trim().is_empty() {
        return Err(Error::in_document(name, "the file is empty"));
    }
    reader(text).map_err(|error| Error::in_document(name, json_words(text, &error.to_string())))
}
