//! Quantiles, by testing what lies below a value.
//!
//! A value v is in the interval unless the share of the population below it is refused to be the
//! asked one. Inside a bin the population is taken to be spread evenly, so that the share below is
//! a linear quantity for every v. Points have no inside: there v is refused only if the share up to
//! and including v is too small or the share strictly below it too large, so the interval is a set of
//! points and errs on the wide side.

use crate::estimator::number;
use crate::interval::p_value;
use crate::settings::Method;
use crate::special::normal_upper;
use crate::{Answer, Error, Estimate, Estimator};
use undertone_core::AlphabetView;

/// Values are tried on a grid of at most this many, then refined between neighbours.
const GRID: usize = 512;

impl Estimator {
    /// The smallest number that at least `probability` of the population does not exceed, by maximum
    /// likelihood; inside a bin the population is taken to be spread evenly.
    pub fn quantile(&self, probability: f64) -> Result<Answer, Error> {
        if !(probability > 0.0 && probability < 1.0) {
            let range = "above 0 and below 1";
            return Err(Error::Range {
                what: "the quantile's probability",
                value: probability,
                range,
            });
        }
        let estimate = match self.pool().inputs().view() {
            AlphabetView::Bins { edges, .. } => {
                let edges: Vec<f64> = edges.iter().copied().map(number).collect();
                self.between_edges(&edges, probability)
            }
            _ => self.among_points(&self.numbers("a quantile")?, probability),
        };
        Ok(self.label(Method::Mle, estimate))
    }

    /// The unbiased share below position `at` (bins and a fraction of the next), and its error.
    fn below(&self, at: f64) -> Option<(f64, f64)> {
        let part = |x: usize| (at - x as f64).clamp(0.0, 1.0);
        let indicator: Vec<f64> = (0..self.symbols()).map(part).collect();
        let score = self.efficient().functional(&indicator)?;
        let variance = score.variance(&self.groups, &indicator, &self.fit().shares, self.target());
        Some((score.value(&self.groups), variance.sqrt()))
    }

    fn between_edges(&self, edges: &[f64], probability: f64) -> Estimate {
        let bins = self.symbols() as f64;
        let place = |at: f64| {
            let bin = (at.floor() as usize).min(self.symbols() - 1);
            edges[bin] + (at - bin as f64) * (edges[bin + 1] - edges[bin])
        };
        let middle = position(&self.fit().shares, probability);
        let miss = self.settings().miss(1);
        let accepted = |at: f64| match self.below(at) {
            // Nothing and everything are known shares, not estimates.
            Some(_) if at <= 0.0 || at >= bins => false,
            Some((share, error)) => p_value(share, probability, error, (0.0, 1.0)) > miss,
            None => true,
        };
        let identified = self.below(middle).is_some();
        let (low, high) = ends(bins, middle, 1e-9 * bins, accepted);
        let standard_error = (self.below(middle.clamp(1e-6, bins - 1e-6)))
            .map(|(_, error)| error / self.density(middle, edges));
        Estimate {
            value: place(middle),
            low: place(low),
            high: place(high),
            standard_error: standard_error.filter(|error| error.is_finite()),
            identified,
        }
    }

    /// The fitted share per unit of width at a position.
    fn density(&self, at: f64, edges: &[f64]) -> f64 {
        let bin = (at.floor() as usize).min(self.symbols() - 1);
        self.fit().shares[bin] / (edges[bin + 1] - edges[bin])
    }

    fn among_points(&self, values: &[f64], probability: f64) -> Estimate {
        let last = self.symbols() - 1;
        let middle =
            (position(&self.fit().shares, probability).ceil() as usize).clamp(1, last + 1) - 1;
        let tail = self.settings().miss(1) / 2.0;
        let mut identified = true;
        // Whether the share of the first `count` symbols is refused to be at least the asked one (or,
        // reversed, to be below it).
        let mut refused = |count: usize, reversed: bool| {
            if count == 0 || count > last {
                return (count == 0) != reversed;
            }
            let Some((share, error)) = self.below(count as f64) else {
                identified = false;
                return false;
            };
            let away = if reversed { share - probability } else { probability - share };
            away > 0.0 && (error == 0.0 || normal_upper(away / error) < tail)
        };
        // The first symbol from below whose share up to it may be large enough, and the last from above
        // whose share strictly below it may be small enough; on a grid, then between its neighbours.
        let step = self.symbols().div_ceil(GRID);
        let grid: Vec<usize> = (0..=last).step_by(step).collect();
        let mut low = grid.iter().copied().find(|&x| x >= middle || !refused(x + 1, false));
        let mut high = grid.iter().rev().map(|&x| (x + step - 1).min(last));
        let mut high = high.find(|&x| x <= middle || !refused(x, true));
        for _ in 1..step {
            low = low.map(|x| if x > 0 && !refused(x, false) { x - 1 } else { x });
            high = high.map(|x| if x < last && !refused(x + 1, true) { x + 1 } else { x });
        }
        let (low, high) = (low.unwrap_or(middle).min(middle), high.unwrap_or(middle).max(middle));
        let (value, low, high) = (values[middle], values[low], values[high]);
        Estimate { value, low, high, standard_error: None, identified }
    }
}

/// Where a distribution reaches a probability, in symbols and fractions of the next.
fn position(shares: &[f64], probability: f64) -> f64 {
    let mut sum = 0.0;
    for (x, &share) in shares.iter().enumerate() {
        if sum + share >= probability {
            let inside = if share > 0.0 { (probability - sum) / share } else { 1.0 };
            return x as f64 + inside.clamp(0.0, 1.0);
        }
        sum += share;
    }
    shares.len() as f64
}

/// The hull of the accepted positions between 0 and `last`, `middle` always being one.
fn ends(last: f64, middle: f64, exact: f64, accepted: impl Fn(f64) -> bool) -> (f64, f64) {
    let cells = (last as usize).clamp(1, GRID);
    let mut tried: Vec<f64> = (0..=cells).map(|i| last * i as f64 / cells as f64).collect();
    tried.push(middle);
    tried.sort_unstable_by(f64::total_cmp);
    let good: Vec<bool> = tried.iter().map(|&at| at == middle || accepted(at)).collect();
    let first = good.iter().position(|&good| good).unwrap_or(0);
    let end = good.iter().rposition(|&good| good).unwrap_or(cells);
    let refine = |mut inside: f64, mut outside: f64| {
        while (outside - inside).abs() > exact {
            let between = inside + (outside - inside) / 2.0;
            if accepted(between) { inside = between } else { outside = between }
        }
        inside
    };
    let low = if first == 0 { tried[0] } else { refine(tried[first], tried[first - 1]) };
    let high = match tried.get(end + 1) {
        Some(&outside) => refine(tried[end], outside),
        None => tried[end],
    };
    (low, high)
}
