//! How outputs are written into cells.

use undertone_core::{AlphabetView, Draft, Shape};

use crate::Error;

/// What the cells of a perturbed column hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Released {
    /// Whole numbers, by output.
    Integers(Vec<i64>),
    /// Numbers, by output.
    Floats { values: Vec<f64>, texts: Vec<String> },
    /// Texts, by output.
    Texts(Vec<String>),
    /// `Bits`: the packed bits as lower-case hexadecimal digits, as in a report's JSON.
    Digits,
}

impl Released {
    /// Refuses outputs that a reader of the column could not tell apart.
    pub(super) fn new(draft: &Draft) -> Result<Self, Error> {
        if matches!(draft.shape(), Shape::Bits(_)) {
            return Ok(Self::Digits);
        }
        let outputs = draft.outputs();
        let texts: Vec<String> = (0..outputs.len()).map(|y| outputs.label(y)).collect();
        let distinct: std::collections::HashSet<&str> =
            texts.iter().map(|text| text.trim()).collect();
        if distinct.len() < texts.len() {
            return Err(Error::input(
                "two outputs of the policy are written alike, so nobody could read the column: give every bin its own value",
            ));
        }
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

    /// The text of every output; none for `Bits`.
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Self::Integers(values) => values.iter().map(ToString::to_string).collect(),
            Self::Floats { texts, .. } | Self::Texts(texts) => texts.clone(),
            Self::Digits => Vec::new(),
        }
    }
}

/// Appends packed bits as hexadecimal digits.
pub(super) fn push_digits(packed: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in packed {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}
