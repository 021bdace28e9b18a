//! What the symbols of a prior are, and which of them a cell's text stands for.

use std::collections::HashMap;

use undertone_core::{Alphabet, AlphabetView};
use undertone_design::codebook::{self, Range, decimal, float};
use undertone_design::found;

use crate::Error;

/// What the symbols of a prior are.
#[derive(Debug, Clone, PartialEq)]
pub enum PriorSymbols {
    /// The values found, sorted.
    Found {
        /// Numbers that are found are codes that may be public, such as postcodes: every one is a symbol.
        categories: bool,
    },
    /// Names, numbers or bins given beforehand.
    Given(Alphabet),
}

impl PriorSymbols {
    /// These names, in this order; blanks around them do not count.
    pub fn named<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        let names: Vec<String> =
            names.into_iter().map(|name| name.as_ref().trim().to_owned()).collect();
        found::check_names(&names).map_err(Error::of_first_word)?;
        let alphabet = Alphabet::names(names);
        alphabet.map(Self::Given).map_err(|error| Error::field("symbols", format!(": {error}")))
    }

    /// These numbers, increasing, as they are written.
    pub fn points<S: AsRef<str>>(numbers: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        let number = |text: S| codebook::number("points", text.as_ref());
        let points = numbers.into_iter().map(number).collect::<Result<_, _>>();
        let alphabet = Alphabet::points(points.map_err(Error::of_first_word)?);
        alphabet.map(Self::Given).map_err(|error| Error::field("points", format!(": {error}")))
    }

    /// Equal bins between two ends, as they are written: `bins(["0", "100"], 10)`. Numbers beyond are counted in the
    /// end bins.
    pub fn bins<S: AsRef<str>>(
        ends: impl IntoIterator<Item = S>,
        bins: usize,
    ) -> Result<Self, Error> {
        let ends: Vec<String> = ends.into_iter().map(|end| end.as_ref().to_owned()).collect();
        let alphabet = Range::parse(&ends).and_then(|range| range.bins(bins));
        alphabet.map(Self::Given).map_err(Error::of_first_word)
    }
}

/// An alphabet given beforehand, prepared for many cells.
pub(super) struct Given<'a> {
    pub(super) alphabet: &'a Alphabet,
    names: HashMap<&'a str, usize>,
}

/// Why a cell has no symbol.
pub(super) enum NoSymbol {
    /// Another value.
    Unknown,
    /// Not a number where one is needed.
    NotANumber,
}

/// A cell's symbol, and on which side of the range it lay.
pub(super) struct Coded {
    pub(super) symbol: usize,
    pub(super) below: bool,
    pub(super) above: bool,
    /// The number itself, where the cell is one.
    pub(super) number: Option<f64>,
}

impl<'a> Given<'a> {
    pub(super) fn new(alphabet: &'a Alphabet) -> Self {
        let names = match alphabet.view() {
            AlphabetView::Names(names) => {
                names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect()
            }
            _ => HashMap::new(),
        };
        Self { alphabet, names }
    }

    pub(super) fn is_names(&self) -> bool {
        matches!(self.alphabet.view(), AlphabetView::Names(_))
    }

    pub(super) fn code(&self, text: &str) -> Result<Coded, NoSymbol> {
        let inside = |symbol| Coded { symbol, below: false, above: false, number: None };
        match self.alphabet.view() {
            AlphabetView::Points(points) => {
                let value = decimal(text).ok_or(NoSymbol::NotANumber)?;
                points.binary_search(&value).map(inside).map_err(|_| NoSymbol::Unknown)
            }
            AlphabetView::Bins { edges, values } => {
                let value = decimal(text).ok_or(NoSymbol::NotANumber)?;
                // As on the device: an inner edge belongs to the bin above it, the ends are clipped.
                let above = edges.partition_point(|edge| *edge <= value);
                Ok(Coded {
                    symbol: above.clamp(1, values.len()) - 1,
                    below: value < edges[0],
                    above: value > edges[values.len()],
                    number: Some(float(value)),
                })
            }
            _ => self.names.get(text).copied().map(inside).ok_or(NoSymbol::Unknown),
        }
    }
}
