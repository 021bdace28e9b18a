//! How far a sum of independent numbers lies from its mean, when the mean and the variance are known.
//!
//! If the prior is right then, given the reports, the respondents' symbols are independent and their laws are
//! known. Both bounds below hold for such a sum; because all of this is given the reports, the smaller one does.
//!
//! * Bennett (1962): Pr(sum - mean ≥ a) ≤ exp(-(V/R²) φ(a R/V)), φ(u) = (1 + u) ln(1 + u) - u.
//! * Berry and Esseen, with Shevtsova's constant: Pr(sum - mean ≥ a) ≤ Pr(N(0,1) ≥ a/σ) + .56 R/σ.

use crate::interval::{IntervalMethod, Limits};
use crate::root::falling_root;
use crate::special::normal_quantile;

/// Limits that a sum with this mean and this variance, of independent parts that each deviate by at most
/// `range`, leaves with probability at most `miss`.
pub(crate) fn limits(mean: f64, variance: f64, range: f64, miss: f64) -> Limits {
    let away = deviation(variance, range, miss / 2.0);
    Limits { low: mean - away, high: mean + away, method: IntervalMethod::Posterior }
}

fn deviation(variance: f64, range: f64, tail: f64) -> f64 {
    if !(variance > 0.0 && range > 0.0) {
        return 0.0;
    }
    let error = variance.sqrt();
    let rest = tail * (1.0 - 1e-9) - 0.56 * range / error;
    let normal = if rest > 0.0 { error * normal_quantile(rest) } else { f64::INFINITY };
    let exponent = |away: f64| {
        let u = away * range / variance;
        tail.ln() - 1e-9 + (variance / (range * range)) * ((1.0 + u) * u.ln_1p() - u)
    };
    // Where the exponent reaches the tail at the latest: u² / (2 + u) is below twice φ(u).
    let needed = -tail.ln() + 1e-9;
    let most = needed * range + (2.0 * needed * variance + (needed * range).powi(2)).sqrt();
    let bennett = falling_root(0.0, most, 1e-12 * most, |away| -exponent(away));
    bennett.min(normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::binomial_at_least;

    #[test]
    fn both_bounds_are_above_the_binomial_tail() {
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
        // Half as wide again as the normal law for few, close to it for many.
        let width = |n: f64| deviation(n / 4.0, 1.0, 0.025) / (1.959_964 * (n / 4.0).sqrt());
        assert!(width(100.0) < 1.51 && width(1e4) < 1.13 && width(1e8) < 1.01);
    }

    #[test]
    fn without_variance_nothing_is_in_doubt() {
        let found = limits(0.25, 0.0, 1.0, 0.05);
        assert_eq!((found.low, found.high), (0.25, 0.25));
    }
}
