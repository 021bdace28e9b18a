//! Numbers in, numbers out: which numbers the symbols of a policy stand for.
//!
//! A device clips its number to a public range and rounds it to a bin, or its numbers are a few known
//! points; what it releases is the representative value of an output bin, so no low-order bits travel.
//! The kernel has no floats: edges and values are decimals, and the mathematics is done on exactly
//! those decimals.

use undertone_core::{Alphabet, AlphabetView, Decimal};

use crate::Error;

/// The most bins of one codebook.
pub const MOST_BINS: usize = 1 << 20;

/// How many output bins there are when nobody says.
pub const OUTPUT_BINS: usize = 64;

/// An interval that numbers are clipped to, the first end below the second. A public choice, never
/// taken from the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    low: Decimal,
    high: Decimal,
}

impl Range {
    /// Checks the order of the ends.
    pub fn new(low: Decimal, high: Decimal) -> Result<Self, Error> {
        if low < high {
            return Ok(Self { low, high });
        }
        let problem = format!("it is {low},{high}: the first must be below the second");
        Err(Error::other("range", problem))
    }

    /// A range from the texts of its two ends.
    pub fn parse(ends: &[String]) -> Result<Self, Error> {
        let [low, high] = ends else {
            return Err(Error::other("range", format!("{} numbers: give two, lo,hi", ends.len())));
        };
        Self::new(number("range", low)?, number("range", high)?)
    }

    /// The ends as floats.
    pub fn ends(&self) -> (f64, f64) {
        (float(self.low), float(self.high))
    }

    /// Bins of equal width, each represented by its middle.
    pub fn bins(&self, bins: usize) -> Result<Alphabet, Error> {
        if !(1..=MOST_BINS).contains(&bins) {
            return Err(Error::range("bins", bins as f64, format!("1 to {MOST_BINS}")));
        }
        let (low, high) = self.ends();
        let narrow = || {
            let problem = format!("bins of {} are too narrow", (high - low) / bins as f64);
            Error::other("range, bins", problem)
        };
        // The ends as they were given; between them, the nearest decimals.
        let at = |half_bins: usize| match half_bins {
            0 => Some(self.low),
            last if last == 2 * bins => Some(self.high),
            _ => nearest(low + (high - low) * (half_bins as f64 / (2 * bins) as f64)),
        };
        let edges =
            (0..=bins).map(|edge| at(2 * edge)).collect::<Option<_>>().ok_or_else(narrow)?;
        let values =
            (0..bins).map(|bin| at(2 * bin + 1)).collect::<Option<_>>().ok_or_else(narrow)?;
        Alphabet::bins(edges, values).map_err(|_| narrow())
    }
}

/// Inputs and outputs that are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Codebook {
    inputs: Alphabet,
    outputs: Alphabet,
    range: Range,
}

impl Codebook {
    /// Inputs are these points, increasing and within the range; outputs are equal bins over the range.
    pub fn of_points(points: Vec<Decimal>, range: Range, outputs: usize) -> Result<Self, Error> {
        if let Some((at, value)) =
            points.iter().enumerate().find(|(_, p)| **p < range.low || **p > range.high)
        {
            let within = format!("within the range, {} to {}", range.low, range.high);
            return Err(Error::range(format!("points[{at}]"), float(*value), within));
        }
        let inputs =
            Alphabet::points(points).map_err(|error| Error::other("points", error.to_string()))?;
        Ok(Self { inputs, outputs: range.bins(outputs)?, range })
    }

    /// Inputs are equal bins over the range, and so are outputs.
    pub fn of_bins(range: Range, bins: usize, outputs: usize) -> Result<Self, Error> {
        Ok(Self { inputs: range.bins(bins)?, outputs: range.bins(outputs)?, range })
    }

    /// Inputs are the bins of an alphabet that has some; outputs are equal bins over the same range.
    pub fn of_alphabet(inputs: Alphabet, outputs: usize) -> Result<Self, Error> {
        let AlphabetView::Bins { edges, values } = inputs.view() else {
            return Err(Error::other("codebook", "the inputs are not bins of numbers"));
        };
        let range = Range::new(edges[0], edges[values.len()])?;
        Ok(Self { outputs: range.bins(outputs)?, inputs, range })
    }

    /// This codebook's inputs, released in `bins` equal bins over another range.
    pub fn releasing(self, range: Range, bins: usize) -> Result<Self, Error> {
        Ok(Self { outputs: range.bins(bins)?, ..self })
    }

    /// The alphabet of what goes in.
    pub fn inputs(&self) -> &Alphabet {
        &self.inputs
    }

    /// The alphabet of what comes out.
    pub fn outputs(&self) -> &Alphabet {
        &self.outputs
    }

    /// The range numbers are clipped to.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The numbers the inputs stand for.
    pub fn points(&self) -> Vec<f64> {
        values(&self.inputs).unwrap_or_default()
    }

    /// The numbers the outputs stand for.
    pub fn output_values(&self) -> Vec<f64> {
        values(&self.outputs).unwrap_or_default()
    }

    /// The edges of the output bins.
    pub fn output_edges(&self) -> Vec<f64> {
        edges(&self.outputs).unwrap_or_default()
    }

    /// The edges of the cells of numbers that become each input: the bins, or for points whatever is
    /// nearest.
    pub fn cells(&self) -> Vec<f64> {
        if let Some(edges) = edges(&self.inputs) {
            return edges;
        }
        let (low, high) = self.range.ends();
        let points = self.points();
        let middles = points.windows(2).map(|p| (p[0] + p[1]) / 2.0);
        std::iter::once(low).chain(middles).chain([high]).collect()
    }
}

/// The numbers an alphabet's symbols stand for; `None` if they are not numbers.
pub fn values(alphabet: &Alphabet) -> Option<Vec<f64>> {
    match alphabet.view() {
        AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
            Some(values.iter().map(|value| float(*value)).collect())
        }
        AlphabetView::Indices(_) | AlphabetView::Names(_) => None,
    }
}

/// The edges of an alphabet's bins; `None` if it has none.
pub fn edges(alphabet: &Alphabet) -> Option<Vec<f64>> {
    match alphabet.view() {
        AlphabetView::Bins { edges, .. } => Some(edges.iter().map(|edge| float(*edge)).collect()),
        _ => None,
    }
}

/// The number a text stands for, or an error that names the field.
pub fn number(what: &str, text: &str) -> Result<Decimal, Error> {
    decimal(text.trim()).ok_or_else(|| {
        Error::other(what, format!("{text:?} is not a number: write plain numbers such as 0.5"))
    })
}

/// A number of the kernel as a float.
pub fn float(value: Decimal) -> f64 {
    // Both parts are exact below 2^53; above, the quotient is still the nearest float or next to it.
    value.digits() as f64 / 10f64.powi(i32::from(value.scale()))
}

/// The nearest decimal of twelve significant digits; `None` if the kernel cannot hold it.
pub fn nearest(value: f64) -> Option<Decimal> {
    if !value.is_finite() {
        return None;
    }
    let whole = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let places = (12 - whole).clamp(0, 17) as usize;
    format!("{value:.places$}").parse().ok()
}

/// A text as a number; exact where it is written plainly.
pub fn decimal(text: &str) -> Option<Decimal> {
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

    fn range(low: &str, high: &str) -> Result<Range, Error> {
        Range::parse(&[low.to_owned(), high.to_owned()])
    }

    fn points(list: &[&str]) -> Vec<Decimal> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

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
        let alphabet = range("0", "1").unwrap().bins(4).unwrap();
        let AlphabetView::Bins { edges, values } = alphabet.view() else { panic!() };
        assert_eq!(edges[1], "0.25".parse().unwrap());
        assert_eq!(values[3], "0.875".parse().unwrap());
        let thirds = range("0", "1").unwrap().bins(3).unwrap();
        assert_eq!(thirds.label(0), "0.166666666667");
        assert!(range("1000000", "1000000.000001").unwrap().bins(100).is_err());
    }

    #[test]
    fn ranges_that_are_none_are_refused_in_words() {
        for (low, high, said) in [
            ("1", "1", "1,1: the first must be below"),
            ("4", "-2", "4,-2: the first must be below"),
            ("0", "nan", "\"nan\" is not a number"),
            ("x", "1", "\"x\" is not a number"),
        ] {
            let error = range(low, high).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Range::parse(&["1".into()]).unwrap_err().to_string().contains("give two"));
        let one = range("0", "1").unwrap();
        assert!(one.bins(0).unwrap_err().to_string().contains("bins is 0"));
        assert!(one.bins(MOST_BINS + 1).is_err());
    }

    #[test]
    fn points_lie_within_the_range_and_own_what_is_nearest() {
        let book =
            Codebook::of_points(points(&["0", "1.5", "3"]), range("0", "3").unwrap(), 4).unwrap();
        assert_eq!(book.points(), [0.0, 1.5, 3.0]);
        assert_eq!(book.cells(), [0.0, 0.75, 2.25, 3.0]);
        assert_eq!(book.output_edges(), [0.0, 0.75, 1.5, 2.25, 3.0]);
        assert_eq!(book.output_values()[0], 0.375);
        let beyond = Codebook::of_points(points(&["0", "4"]), range("0", "3").unwrap(), 4);
        assert!(beyond.unwrap_err().to_string().contains("points[1] is 4"));
        let unsorted = Codebook::of_points(points(&["2", "1"]), range("0", "3").unwrap(), 4);
        assert!(unsorted.unwrap_err().to_string().contains("points"));
    }

    #[test]
    fn bins_of_a_policy_are_a_codebook_again() {
        let book = Codebook::of_bins(range("-1", "1").unwrap(), 4, 8).unwrap();
        let again = Codebook::of_alphabet(book.inputs().clone(), 8).unwrap();
        assert_eq!(book, again);
        assert!(Codebook::of_alphabet(Alphabet::indices(3).unwrap(), 8).is_err());
        let wide = book.releasing(range("-2", "2").unwrap(), 2).unwrap();
        assert_eq!((wide.output_edges(), wide.cells().len()), (vec![-2.0, 0.0, 2.0], 5));
    }
}
