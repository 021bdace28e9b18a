//! From a cell's text to a symbol.

use undertone_core::{Alphabet, AlphabetView};
use undertone_design::codebook::{self, Range, decimal, float};
use undertone_design::found;

use crate::failure::Failure;

/// What the symbols are.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct Symbols {
    /// The symbols, in order: a,b,c (default: the values found, sorted).
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["points", "range"])]
    symbols: Option<Vec<String>>,
    /// The symbols are these numbers, increasing: 1,2,3,4,5.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "range")]
    points: Option<Vec<String>>,
    /// Count numbers in equal bins between two ends: 0,100. Numbers beyond are counted in the end bins.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, requires = "bins")]
    range: Option<Vec<String>>,
    /// How many bins.
    #[arg(long, requires = "range")]
    bins: Option<usize>,
    /// The numbers found are codes that may be public, such as postcodes: every one is a symbol.
    #[arg(long, conflicts_with_all = ["symbols", "points", "range"])]
    categories: bool,
}

/// How cells become symbols.
pub(super) enum Codebook {
    /// Whatever is found; `categories` says that numbers are codes.
    Found { categories: bool },
    /// Names or numbers given beforehand.
    Given(Given),
}

/// An alphabet given beforehand.
pub(super) struct Given {
    pub(super) alphabet: Alphabet,
    names: std::collections::HashMap<String, usize>,
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

impl Symbols {
    pub(super) fn codebook(&self) -> Result<Codebook, Failure> {
        let alphabet = if let Some(names) = &self.symbols {
            let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
            found::check_names(&names).map_err(|error| Failure::usage(format!("--{error}")))?;
            Alphabet::names(names).map_err(|error| Failure::usage(format!("--symbols: {error}")))?
        } else if let Some(points) = &self.points {
            let points = points
                .iter()
                .map(|text| codebook::number("--points", text))
                .collect::<Result<_, _>>()
                .map_err(Failure::usage)?;
            Alphabet::points(points)
                .map_err(|error| Failure::usage(format!("--points: {error}")))?
        } else if let (Some(range), Some(bins)) = (&self.range, self.bins) {
            Range::parse(range)
                .and_then(|range| range.bins(bins))
                .map_err(|error| Failure::usage(format!("--{error}")))?
        } else {
            return Ok(Codebook::Found { categories: self.categories });
        };
        let names = match alphabet.view() {
            AlphabetView::Names(names) => {
                names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect()
            }
            _ => Default::default(),
        };
        Ok(Codebook::Given(Given { alphabet, names }))
    }
}

impl Given {
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
