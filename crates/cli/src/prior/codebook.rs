//! From a cell's text to a symbol.

use undertone_core::{Alphabet, AlphabetView, Decimal};

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
}

/// How cells become symbols.
pub(super) enum Codebook {
    /// Whatever is found.
    Found,
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
}

impl Symbols {
    pub(super) fn codebook(&self) -> Result<Codebook, Failure> {
        let alphabet = if let Some(names) = &self.symbols {
            Alphabet::names(names.iter().map(|name| name.trim().to_owned()).collect())
                .map_err(|error| Failure::usage(format!("--symbols: {error}")))?
        } else if let Some(points) = &self.points {
            let points =
                points.iter().map(|text| number("--points", text)).collect::<Result<_, _>>()?;
            Alphabet::points(points)
                .map_err(|error| Failure::usage(format!("--points: {error}")))?
        } else if let (Some(range), Some(bins)) = (&self.range, self.bins) {
            equal_bins(range, bins)?
        } else {
            return Ok(Codebook::Found);
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
        let inside = |symbol| Coded { symbol, below: false, above: false };
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
                })
            }
            _ => self.names.get(text).copied().map(inside).ok_or(NoSymbol::Unknown),
        }
    }
}

fn number(option: &str, text: &str) -> Result<Decimal, Failure> {
    decimal(text.trim()).ok_or_else(|| {
        Failure::usage(format!(
            "{option}: {text:?} is not a number: write plain numbers such as 0.5"
        ))
    })
}

/// Bins of equal width, each represented by its middle.
fn equal_bins(range: &[String], bins: usize) -> Result<Alphabet, Failure> {
    let [low, high] = range else {
        return Err(Failure::usage(format!(
            "--range has {} numbers: give two, lo,hi",
            range.len()
        )));
    };
    let (low, high) = (number("--range", low)?, number("--range", high)?);
    if low >= high {
        return Err(Failure::usage(format!(
            "--range is {low},{high}: the first must be below the second"
        )));
    }
    if !(1..=1 << 20).contains(&bins) {
        return Err(Failure::usage(format!("--bins is {bins}: give 1 to {}", 1 << 20)));
    }
    let (low, high) = (float(low), float(high));
    let at = |half_bins: usize| {
        let share = half_bins as f64 / (2 * bins) as f64;
        rounded(low + (high - low) * share)
    };
    let refuse = || {
        Failure::usage(format!(
            "--range, --bins: bins of {} are too narrow",
            (high - low) / bins as f64
        ))
    };
    let edges = (0..=bins).map(|edge| at(2 * edge)).collect::<Option<_>>().ok_or_else(refuse)?;
    let values = (0..bins).map(|bin| at(2 * bin + 1)).collect::<Option<_>>().ok_or_else(refuse)?;
    Alphabet::bins(edges, values).map_err(|_| refuse())
}

/// A number of the kernel as a float.
pub(super) fn float(value: Decimal) -> f64 {
    // Both parts are exact below 2^53; above, the quotient is still the nearest float or next to it.
    value.digits() as f64 / 10f64.powi(i32::from(value.scale()))
}

/// The nearest decimal of twelve significant digits.
fn rounded(value: f64) -> Option<Decimal> {
    let whole = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let places = (12 - whole).clamp(0, 17) as usize;
    format!("{value:.places$}").parse().ok()
}

/// A cell as a number; exact where it is written plainly.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    // Exponents, a plus sign, more digits than the kernel holds: through a float.
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    if value.abs() >= 1e17 {
        let digits = 999_999_999_999_999_999;
        return Decimal::new(if value < 0.0 { -digits } else { digits }, 0).ok();
    }
    let whole = if value.abs() < 1.0 { 1 } else { value.abs().log10().floor() as usize + 1 };
    format!("{value:.*}", 17usize.saturating_sub(whole)).parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly_where_they_are_plain() {
        let same = |a: &str, b: &str| assert_eq!(decimal(a), b.parse().ok(), "{a}");
        same("0.1", "0.1");
        same("1e2", "100");
        same("+5", "5");
        same("-2.5E-1", "-0.25");
        assert_eq!(decimal("abc"), None);
        assert_eq!(decimal("inf"), None);
        assert!(decimal("1e300") > decimal("1000000"));
        assert!(decimal("0.1234567890123456789012").is_some());
    }

    #[test]
    fn bins_are_equal_and_exact_where_they_can_be() {
        let range = ["0".to_owned(), "1".to_owned()];
        let alphabet = equal_bins(&range, 4).unwrap();
        let AlphabetView::Bins { edges, values } = alphabet.view() else { panic!() };
        assert_eq!(edges[1], "0.25".parse().unwrap());
        assert_eq!(values[3], "0.875".parse().unwrap());
        let thirds = equal_bins(&range, 3).unwrap();
        assert_eq!(thirds.label(0), "0.166666666667");
        assert!(equal_bins(&["1".into(), "1".into()], 3).is_err());
        assert!(equal_bins(&["1000000".into(), "1000000.000001".into()], 100).is_err());
    }
}
