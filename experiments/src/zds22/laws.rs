//! The random joint laws of ZDS22 Section III and the printed watchdog on them.
//!
//! The paper does not say how its laws are drawn; cells uniform on (0,1), normalised, give the ranges of
//! its Figure 1. Law number i is always the same.

use rayon::prelude::*;
use undertone_design::Joint;
use undertone_design::watchdog::{Budget, Method, release};

use crate::{Context, Error};
use undertone_numeric::dice::unit;

/// How many values the secret has.
pub const SECRETS: usize = 20;
/// How many symbols are released.
pub const SYMBOLS: usize = 30;

/// Log-lifts and NMIs closer than this are the same.
pub const FLOAT_ERROR: f64 = 1e-12;

/// A joint law, symbol by symbol.
#[derive(Debug, Clone)]
pub struct Law {
    /// Which law it is.
    pub number: u64,
    /// The law itself.
    pub joint: Joint,
    /// P(x).
    data: Vec<f64>,
    /// P(x|s) for every s, by symbol.
    given: Vec<Vec<f64>>,
    /// The least log-lift of every symbol, ν of (2).
    pub least: Vec<f64>,
    /// The largest, ξ of (2).
    pub largest: Vec<f64>,
    entropy: f64,
}

/// What the printed watchdog, merging completely, makes of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watched {
    /// I(X;Y)/H(X) by (9), (10).
    pub nmi: f64,
    /// How far the merged symbol lowers and raises belief, (8) and (7); 0 if nothing is merged.
    pub merged: (f64, f64),
    /// How far any released symbol lowers and raises belief.
    pub released: (f64, f64),
    /// Whether the merged symbol is within the budget; the others are by definition.
    pub met: bool,
}

impl Law {
    /// Cells uniform on (0,1), normalised.
    pub fn draw(context: &Context, number: u64) -> Result<Self, Error> {
        Self::sized(context, number, SECRETS, SYMBOLS)
    }

    /// A law drawn at random over alphabets of these sizes.
    pub fn sized(
        context: &Context,
        number: u64,
        secrets: usize,
        symbols: usize,
    ) -> Result<Self, Error> {
        let mut stream = context.stream(number);
        let mut cell = || unit(&mut stream);
        let mut rows: Vec<Vec<f64>> =
            (0..secrets).map(|_| (0..symbols).map(|_| cell()).collect()).collect();
        let total: f64 = rows.iter().flatten().sum();
        rows.iter_mut().flatten().for_each(|cell| *cell /= total);
        let joint = Joint::new(rows)?;
        let data = joint.data()?;
        let given: Vec<Vec<f64>> =
            (0..symbols).map(|x| joint.given_secret().column(x).collect()).collect();
        let lifts = |x: usize| {
            let mass = data[x];
            given[x].iter().map(move |p| p / mass)
        };
        let least = (0..symbols).map(|x| lifts(x).fold(f64::INFINITY, f64::min).ln()).collect();
        let largest = (0..symbols).map(|x| lifts(x).fold(0.0, f64::max).ln()).collect();
        let (entropy, data) = (data.entropy(), data.as_slice().to_vec());
        Ok(Self { number, joint, data, given, least, largest, entropy })
    }

    /// Definition 2 with complete merging, from its formulas (5) to (10).
    pub fn watch(&self, lower: f64, upper: f64) -> Watched {
        let high = |x: &usize| {
            self.largest[*x] > upper + FLOAT_ERROR || -self.least[*x] > lower + FLOAT_ERROR
        };
        let (high, low): (Vec<usize>, Vec<usize>) = (0..self.data.len()).partition(high);
        let mass: f64 = high.iter().map(|&x| self.data[x]).sum();
        let lost: f64 = high.iter().map(|&x| self.data[x] * (mass / self.data[x]).ln()).sum();
        let secrets = self.given[0].len();
        let lift = |s: usize| high.iter().map(|&x| self.given[x][s]).sum::<f64>() / mass;
        let merged = if high.is_empty() {
            (0.0, 0.0)
        } else {
            let lifts = (0..secrets).map(lift);
            let (least, largest) =
                lifts.fold((f64::INFINITY, 0.0f64), |(a, b), lift| (a.min(lift), b.max(lift)));
            (-least.ln(), largest.ln())
        };
        let released = low
            .iter()
            .fold(merged, |(fall, rise), &x| (fall.max(-self.least[x]), rise.max(self.largest[x])));
        Watched {
            nmi: settled((1.0 - lost / self.entropy).min(1.0)),
            merged,
            released,
            met: merged.0 <= lower + FLOAT_ERROR && merged.1 <= upper + FLOAT_ERROR,
        }
    }

    /// The NMI of another method, which always meets the budget.
    pub fn nmi(&self, lower: f64, upper: f64, method: Method) -> Result<f64, Error> {
        Ok(settled(release(&self.joint, Budget::new(lower, upper)?, method)?.nmi))
    }
}

/// An NMI that is zero but for float error is zero.
fn settled(nmi: f64) -> f64 {
    if nmi > FLOAT_ERROR { nmi } else { 0.0 }
}

/// Something of every law, in order, on all cores.
pub fn over<T: Send>(
    context: &Context,
    draws: u64,
    work: impl Fn(Law) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    (0..draws).into_par_iter().map(|number| work(Law::draw(context, number)?)).collect()
}

/// The mean and its standard error.
pub fn mean(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        n += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / n;
    (mean, ((squares / n - mean * mean).max(0.0) / n).sqrt())
}

/// The share of which something holds.
pub fn share(values: impl IntoIterator<Item = bool>) -> f64 {
    mean(values.into_iter().map(|value| f64::from(u8::from(value)))).0
}

/// A cumulative distribution as points of a line, at most `most` of them.
pub fn cumulative(mut values: Vec<f64>, most: usize) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let step = n.div_ceil(most.max(1)).max(1);
    let mut points = vec![(values.first().copied().unwrap_or(0.0), 0.0)];
    points.extend(
        (0..n)
            .filter(|at| (at + 1).is_multiple_of(step) || at + 1 == n)
            .map(|at| (values[at], (at + 1) as f64 / n as f64)),
    );
    points
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::DataFolder;

    /// The paper's formulas, written out above, against the library's watchdog.
    #[test]
    fn the_printed_formulas_are_what_the_library_computes() {
        let context = Context { data: DataFolder::none(), quick: true };
        let budgets = [(0.75, 0.75), (1.3, 0.7), (2.0, 0.6), (4.0, 1.0), (6.0, 1.0), (9.0, 2.0)];
        for number in 0..20 {
            let law = Law::draw(&context, number).unwrap();
            for (lower, upper) in budgets {
                let ours = law.watch(lower, upper);
                let budget = Budget::new(lower, upper).unwrap();
                let theirs = release(&law.joint, budget, Method::Merge).unwrap();
                assert!((ours.nmi - theirs.nmi).abs() < 1e-9, "{lower} {upper}");
                assert!((ours.released.1 - theirs.max_lift).abs() < 1e-9);
                assert!((ours.released.0 - theirs.min_lift).abs() < 1e-9);
                assert_eq!(ours.met, theirs.met);
            }
        }
    }

    #[test]
    fn a_cumulative_distribution_ends_at_one() {
        let points = cumulative(vec![3.0, 1.0, 2.0, 4.0, 5.0], 2);
        assert_eq!(points.first(), Some(&(1.0, 0.0)));
        assert_eq!(points.last(), Some(&(5.0, 1.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
    }
}
