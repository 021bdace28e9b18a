//! Quantiles, by testing what lies below a value.
//!
//! The quantile at probability q is the smallest number that at least a share q of the population does not exceed. It
//! lies in some bin, or is some point: the first x for which the share F(x) of all symbols up to x is at least q. So x is
//! refused if limits of F(x), fixed for this x, say that F(x) is below q, or limits of F(x - 1) that it is at least q. The
//! true x is refused with probability at most β/2 + β/2, whatever happens at others, and the interval is the hull of
//! what is not refused: from the lower edge of the first bin to the upper edge of the last, since nothing is known of where
//! in a bin numbers lie. In alphabets above 512 symbols neighbours are taken together, and the interval is wider by that.

use crate::estimator::number;
use crate::interval::{IntervalMethod, Limits};
use crate::settings::Method;
use crate::{Answer, Error, Estimate, Estimator};
use std::sync::OnceLock;
use undertone_core::AlphabetView;

/// The most cells that are tested.
const CELLS: usize = 512;

/// The most cells where a test costs as much as the alphabet is long.
const FEW_CELLS: usize = 64;

impl Estimator {
    /// The smallest number that at least `probability` of the population does not exceed. The value is by maximum
    /// likelihood, the population being spread evenly inside a bin; the interval supposes nothing of the kind.
    pub fn quantile(&self, probability: f64) -> Result<Answer, Error> {
        if !(probability > 0.0 && probability < 1.0) {
            let range = "above 0 and below 1";
            return Err(Error::Range {
                what: "the quantile's probability",
                value: probability,
                range,
            });
        }
        let values = self.numbers("a quantile")?;
        // Where every symbol begins and ends.
        let ends: Vec<(f64, f64)> = match self.pool().inputs().view() {
            AlphabetView::Bins { edges, .. } => {
                edges.windows(2).map(|pair| (number(pair[0]), number(pair[1]))).collect()
            }
            _ => values.iter().map(|&value| (value, value)).collect(),
        };
        let (at, inside) = position(&self.fit().shares, probability);
        let value = ends[at].0 + inside * (ends[at].1 - ends[at].0);
        let (from, to, method) = self.quantile_symbols(probability);
        let limits = Limits { low: ends[from].0, high: ends[to].1, method };
        let identified = self.determines_below(at) && self.determines_below(at + 1);
        let estimate = Estimate::held(value, limits, (ends[0].0, ends[ends.len() - 1].1));
        Ok(self.label(Method::Mle, Estimate { identified, ..estimate }))
    }

    /// The first and the last symbol that may be the quantile.
    fn quantile_symbols(&self, probability: f64) -> (usize, usize, IntervalMethod) {
        let symbols = self.symbols();
        let cells = if symbols <= CELLS {
            symbols
        } else if self.decoder().has_coins(&self.groups) {
            CELLS
        } else {
            FEW_CELLS
        };
        // The symbols before each cell.
        let before = |cell: usize| cell * symbols / cells;
        let mut method = IntervalMethod::Everything;
        let mut below = |count: usize| {
            if count == 0 || count == symbols {
                let all = f64::from(u8::from(count == symbols));
                return (all, all);
            }
            let limits = self.limits_below(count);
            if limits.method != IntervalMethod::Everything {
                method = limits.method;
            }
            (limits.low, limits.high)
        };
        let from = (0..cells).find(|&cell| below(before(cell + 1)).1 >= probability);
        let from = before(from.unwrap_or(cells - 1));
        let to = (0..cells).rev().find(|&cell| below(before(cell)).0 < probability);
        let to = before(to.unwrap_or(0) + 1) - 1;
        (from.min(to), to.max(from), method)
    }

    /// The limits of the share of the first `count` symbols, which all quantiles have in common.
    fn limits_below(&self, count: usize) -> Limits {
        let symbols = self.symbols();
        let known =
            self.limits_below.get_or_init(|| (0..=symbols).map(|_| OnceLock::new()).collect());
        let miss = self.settings().miss(1);
        *known[count].get_or_init(|| self.limits(&first(count, symbols), miss))
    }

    /// Whether the reports determine the share of the first `count` symbols.
    fn determines_below(&self, count: usize) -> bool {
        if self.identification().complete() || count == 0 || count == self.symbols() {
            return true;
        }
        let indicator = first(count, self.symbols());
        let score = self.decoder().functional(&indicator);
        score.is_some_and(|score| self.is_exact(&score, &indicator))
    }
}

/// 1 for the first `count` symbols and 0 for the others.
fn first(count: usize, symbols: usize) -> Vec<f64> {
    (0..symbols).map(|x| f64::from(u8::from(x < count))).collect()
}

/// The symbol in which a distribution reaches a probability, and how much of it that takes.
fn position(shares: &[f64], probability: f64) -> (usize, f64) {
    let mut sum = 0.0;
    for (x, &share) in shares.iter().enumerate() {
        if sum + share >= probability {
            let inside = if share > 0.0 { (probability - sum) / share } else { 1.0 };
            return (x, inside.clamp(0.0, 1.0));
        }
        sum += share;
    }
    (shares.len() - 1, 1.0)
}
