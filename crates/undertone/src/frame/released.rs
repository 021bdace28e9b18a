//! How outputs are written into cells.

use std::collections::HashMap;

use undertone_core::{Alphabet, AlphabetView, Draft};

use crate::Error;
use crate::combined::{BETWEEN, escaped_answers};

/// What the cells of a perturbed column hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Released {
    /// Whole numbers, by output.
    Integers(Vec<i64>),
    /// Numbers, by output.
    Floats { values: Vec<f64>, texts: Vec<String> },
    /// Texts, by output.
    Texts(Vec<String>),
    /// Where bits are released: the packed bits as lower-case hexadecimal digits, as in a report's JSON.
    Digits,
    /// A combination of answers, by question: the answers are joined by [`BETWEEN`].
    Combined(Vec<Vec<String>>),
}

impl Released {
    /// Refuses outputs that a reader of the column could not tell apart.
    pub(crate) fn new(draft: &Draft) -> Result<Self, Error> {
        if draft.shape().releases_bits() {
            return Ok(Self::Digits);
        }
        let outputs = draft.outputs();
        if let AlphabetView::Indices(size) = outputs.view() {
            return Ok(Self::Integers((0..i64::from(size)).collect()));
        }
        let texts: Vec<String> = (0..outputs.len()).map(|y| outputs.label(y)).collect();
        check_distinct(&texts)?;
        if matches!(outputs.view(), AlphabetView::Names(_)) {
            return Ok(Self::Texts(texts));
        }
        if let Ok(whole) = texts.iter().map(|text| text.parse()).collect() {
            return Ok(Self::Integers(whole));
        }
        let values: Vec<f64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        // Two numbers of 18 digits can share a float: then only their texts tell them apart.
        let apart = values.windows(2).all(|pair| pair[0] < pair[1]);
        Ok(if apart && values.len() == texts.len() {
            Self::Floats { values, texts }
        } else {
            Self::Texts(texts)
        })
    }

    /// What several policies release in one column, each output once, and for every policy where its outputs stand there.
    pub(crate) fn together(each: &[&Self]) -> (Self, Vec<Vec<u32>>) {
        let mut all: Vec<String> = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let places = each.iter().map(|released| {
            let place = |text: String| {
                *known.entry(text).or_insert_with_key(|text| {
                    all.push(text.clone());
                    all.len() as u32 - 1
                })
            };
            released.texts().into_iter().map(place).collect()
        });
        let places: Vec<Vec<u32>> = places.collect();
        let released = match each {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => (*first).clone(),
            [Self::Digits, ..] => Self::Digits,
            _ if each.iter().all(|one| matches!(one, Self::Integers(_))) => {
                Self::Integers(all.iter().filter_map(|text| text.parse().ok()).collect())
            }
            _ if each.iter().all(|one| matches!(one, Self::Integers(_) | Self::Floats { .. })) => {
                let values = all.iter().map(|text| text.parse().unwrap_or(f64::NAN)).collect();
                Self::Floats { values, texts: all }
            }
            _ => Self::Texts(all),
        };
        (released, places)
    }

    /// Combinations of the answers of several questions.
    pub(crate) fn combined(answers: &[&Alphabet]) -> Result<Self, Error> {
        let parts = answers.iter().map(|answers| {
            let labels = escaped_answers(answers);
            check_distinct(&labels)?;
            Ok(labels)
        });
        Ok(Self::Combined(parts.collect::<Result<_, Error>>()?))
    }

    /// The text of one output of a combination.
    pub(crate) fn text(&self, output: u32) -> String {
        let Self::Combined(parts) = self else { return String::new() };
        let mut text = Vec::new();
        push_combination(parts, output, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// The text of every output; none for `Bits` and combinations.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            Self::Integers(values) => values.iter().map(ToString::to_string).collect(),
            Self::Floats { texts, .. } | Self::Texts(texts) => texts.clone(),
            Self::Digits | Self::Combined(_) => Vec::new(),
        }
    }
}

/// Refuses outputs that a reader of the column could not tell apart.
fn check_distinct(texts: &[String]) -> Result<(), Error> {
    let distinct: std::collections::HashSet<&str> = texts.iter().map(|text| text.trim()).collect();
    if distinct.len() < texts.len() {
        return Err(Error::input(
            "two outputs of the policy are written alike, so nobody could read the column: give every bin its own value",
        ));
    }
    Ok(())
}

/// Appends the answers of a combination.
pub(crate) fn push_combination(parts: &[Vec<String>], index: u32, out: &mut Vec<u8>) {
    // The last question is the least significant.
    let mut below: usize = parts.iter().map(Vec::len).product();
    let mut rest = index as usize;
    for (at, labels) in parts.iter().enumerate() {
        below /= labels.len();
        if at > 0 {
            out.extend_from_slice(BETWEEN.as_bytes());
        }
        out.extend_from_slice(labels[rest / below].as_bytes());
        rest %= below;
    }
}

/// Appends packed bits as hexadecimal digits.
pub(crate) fn push_digits(packed: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in packed {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}
