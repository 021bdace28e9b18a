//! How far a sum of independent numbers lies from its mean, when the mean and the variance are known.
//!
//! If the prior is right then, given the reports, the respondents' symbols are independent and their laws are
//! known. The sum is tilted as in [`chernoff`](super::chernoff), in units of the range of its parts: ln E[e^{s (sum - mean)}] is at
//! most V (e^s - 1 - s) (Bennett, 1962). A tilted part has at least e^{-s} times its variance, because no density falls below
//! e^{-s} times what it was, and its third absolute central moment is at most its variance.

use crate::interval::chernoff::stretch;
use crate::interval::{IntervalMethod, Limits};
use undertone_numeric::golden_section::golden_section;

/// Limits that a sum with this mean and this variance, of independent parts that each deviate by at most
/// `range`, leaves with probability at most `miss`.
pub(crate) fn limits(mean: f64, variance: f64, range: f64, miss: f64) -> Limits {
    let away = deviation(variance, range, miss / 2.0);
    Limits { low: mean - away, high: mean + away, method: IntervalMethod::Posterior }
}

/// What the sum exceeds its mean by with probability at most `tail`.
fn deviation(variance: f64, range: f64, tail: f64) -> f64 {
    if !(variance > 0.0 && range > 0.0) {
        return 0.0;
    }
    let variance = variance / (range * range);
    let needed = -tail.ln() + 1e-9;
    let mut least = f64::INFINITY;
    // Around the best s for the law of Poisson, whose tail is the heaviest.
    let start = (2.0 * needed / variance).sqrt().ln_1p();
    golden_section(-1.5, 1.5, 24, |log| {
        let s = start * log.exp();
        let factor = stretch(s, (variance * (-s).exp()).sqrt(), 1.0).ln();
        let away = (variance * (s.exp_m1() - s) + needed + factor) / s;
        least = least.min(away);
        away
    });
    least * range
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_numeric::binomial::binomial_at_least;

    #[test]
    fn tails_are_above_the_binomial_ones() {
        for n in [5u64, 30, 400, 20_000, 2_000_000] {
            for chance in [0.01, 0.3, 0.5] {
                let (mean, variance) = (n as f64 * chance, n as f64 * chance * (1.0 - chance));
                for miss in [0.2, 0.05, 1e-4] {
                    let found = limits(mean, variance, 1.0, miss);
                    let above = (found.high.floor() as u64 + 1).min(n + 1);
                    let outside = binomial_at_least(n, chance, 1.0 - chance, above);
                    assert!(outside <= miss / 2.0, "{n} {chance} {miss}: {outside}");
                }
            }
        }
        // The normal law's widths, and what holds.
        let width = |n: f64| deviation(n / 4.0, 1.0, 0.025) / (1.959_964 * (n / 4.0).sqrt());
        assert!(width(100.0) < 1.35 && width(1e4) < 1.05 && width(1e8) < 1.01);
    }

    #[test]
    fn without_variance_nothing_is_in_doubt() {
        let found = limits(0.25, 0.0, 1.0, 0.05);
        assert_eq!((found.low, found.high), (0.25, 0.25));
    }
}
