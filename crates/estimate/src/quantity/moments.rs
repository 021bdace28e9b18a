//! Mean and variance.
//!
//! A symbol that is a bin stands for numbers anywhere between its edges. With e the number minus its bin's
//! representative, the mean of the numbers is that of the representatives plus the mean of e, and their standard
//! deviation differs from that of the representatives by at most that of e. Both are bounded by the widest bins, and
//! intervals are widened by that much: they hold for the numbers, not for what was made of them. Numbers that were
//! clipped to the range count as clipped.

use crate::estimator::{bounds, number, onto_simplex};
use crate::interval::Limits;
use crate::settings::Method;
use crate::{Answer, Error, Estimate, Estimator};
use undertone_core::{Alphabet, AlphabetView};
use undertone_numeric::vector::long_dot;

/// How many parts the range is cut into where the mean is not known.
const CELLS: usize = 64;

impl Estimator {
    /// The mean of the numbers the symbols stand for.
    pub fn mean(&self, method: Method) -> Result<Answer, Error> {
        let values = self.numbers("a mean")?;
        self.linear_of(method, &values, self.rounding(), self.range(&values))
    }

    /// How far below and above its representative a number can lie.
    pub(crate) fn rounding(&self) -> (f64, f64) {
        rounding_of(self.pool().inputs())
    }

    /// The ends of what numbers are possible.
    pub(crate) fn range(&self, values: &[f64]) -> (f64, f64) {
        range_of(self.pool().inputs(), values)
    }

    /// The variance of the numbers the symbols stand for.
    ///
    /// With T the unbiased linear statistics, the unbiased value is T(v²) - T(v)² + Var T(v): a square of an estimate
    /// is too large by its variance. The value counts numbers inside a bin as its representative; the interval
    /// does not.
    ///
    /// The interval rests on E(v - m)², which is the variance plus (mean - m)² and linear in the shares for every fixed
    /// m. The range is cut into cells beforehand; half of the permitted misses goes to limits of the mean, which leave
    /// some cells, and half to limits of E(v - m)² with m in the middle of the true mean's cell. Only that one cell's can
    /// miss, so that the hull over all cells that are left covers.
    pub fn variance(&self, method: Method) -> Result<Answer, Error> {
        let values = self.numbers("a variance")?;
        let p = match method {
            Method::Unbiased => onto_simplex(&self.statistics()),
            Method::Mle => self.fit().shares.clone(),
            Method::Mmse => {
                let problem = "a sum of posteriors does not give the variance of a sum: use unbiased or maximum likelihood";
                return Err(Error::unanswerable("the variance with the prior", problem));
            }
        };
        let (least, most) = self.range(&values);
        let possible = (0.0, (most - least).powi(2) / 4.0);
        let limits = self.variance_limits(&values);
        let plain = self.plain_variance(&values, &p);
        let estimate = match (method, plain) {
            (Method::Unbiased, Some((value, _))) => Estimate::clamped(value, limits, possible),
            _ => {
                let mean = long_dot(&p, &values);
                let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
                Estimate::held(long_dot(&p, &squares), limits, possible)
            }
        };
        let standard_error = plain.map(|(_, error)| error);
        let identified = plain.is_some();
        Ok(self.label(method, Estimate { standard_error, identified, ..estimate }))
    }

    /// The unbiased variance and its standard error, if the reports determine it.
    fn plain_variance(&self, values: &[f64], p: &[f64]) -> Option<(f64, f64)> {
        let exact = |values: &[f64]| {
            self.decoder().functional(values).filter(|score| self.is_exact(score, values))
        };
        let first = exact(values)?;
        let mean = first.value(&self.groups);
        let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
        let second = exact(&squares)?;
        let value =
            second.value(&self.groups) + first.variance(&self.groups, values, p, self.target());
        Some((value, second.variance(&self.groups, &squares, p, self.target()).sqrt()))
    }

    fn variance_limits(&self, values: &[f64]) -> Limits {
        let miss = self.settings().miss(1) / 2.0;
        let (least, most) = bounds(values);
        if !(most > least) {
            return Limits { low: 0.0, high: 0.0, ..Limits::EVERYTHING }.rounded(self.rounding());
        }
        let mean = self.limits(values, miss);
        let (low, high, _) = mean.within((least, most));
        let width = (most - least) / CELLS as f64;
        let cell = |mean: f64| (((mean - least) / width) as usize).min(CELLS - 1);
        let mut hull = Limits { low: f64::INFINITY, high: f64::NEG_INFINITY, ..mean };
        for cell in cell(low)..=cell(high) {
            let middle = least + (cell as f64 + 0.5) * width;
            let squares: Vec<f64> = values.iter().map(|v| (v - middle).powi(2)).collect();
            let limits = self.limits(&squares, miss);
            // What the squared distance of the mean from the middle takes off.
            hull.low = hull.low.min(limits.low - width * width / 4.0);
            if limits.high > hull.high {
                (hull.high, hull.method) = (limits.high, limits.method);
            }
        }
        hull.rounded(self.rounding())
    }
}

/// How far below and above its representative a number of an alphabet can lie.
pub(crate) fn rounding_of(alphabet: &Alphabet) -> (f64, f64) {
    let AlphabetView::Bins { edges, values } = alphabet.view() else {
        return (0.0, 0.0);
    };
    let bins = edges.windows(2).zip(values);
    bins.fold((0.0, 0.0), |(below, above): (f64, f64), (edges, &value)| {
        let (from, value, to) = (number(edges[0]), number(value), number(edges[1]));
        (below.max(value - from), above.max(to - value))
    })
}

/// The ends of what numbers of an alphabet are possible.
pub(crate) fn range_of(alphabet: &Alphabet, values: &[f64]) -> (f64, f64) {
    match alphabet.view() {
        AlphabetView::Bins { edges: [first, .., last], .. } => (number(*first), number(*last)),
        _ => bounds(values),
    }
}

impl Limits {
    /// The limits of the variance of numbers from those of their representatives.
    fn rounded(self, (below, above): (f64, f64)) -> Self {
        let spread = (below + above) / 2.0;
        let low = (self.low.max(0.0).sqrt() - spread).max(0.0).powi(2);
        // Limits that refuse everything stay that way.
        let high = if self.high < 0.0 { self.high } else { (self.high.sqrt() + spread).powi(2) };
        Self { low: if self.low <= 0.0 { self.low.min(0.0) } else { low }, high, ..self }
    }
}
