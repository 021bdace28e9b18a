//! Averages of convex functions of a lift 1 + d, kept accurate where d is small and where powers overflow.
//!
//! Deviations of one output average to zero, so the part linear in d may be dropped from every term. What is
//! left is of the order of d² and is computed as such: summing the terms themselves would leave an error of
//! the order of d·10⁻¹⁶, which is everything once budgets are near 10⁻⁷.

use undertone_numeric::vector::log_sum_exp;

/// (1+d) ln(1+d) - d for d >= -1: what a lift adds to mutual information. Never negative.
pub fn information(d: f64) -> f64 {
    if d.abs() < 1e-2 {
        // Σ (-d)^k / (k(k-1)) from k = 2 on; the terms left out are below 10⁻¹⁸ of the first.
        let term = |tail: f64, k: u32| 1.0 / f64::from(k * (k - 1)) - d * tail;
        d * d * (2..11).rev().fold(0.0, term)
    } else if d > -1.0 {
        (1.0 + d) * d.ln_1p() - d
    } else {
        1.0
    }
}

/// (1+d)^α - 1 - αd for d >= -1 and α >= 1: what a lift adds to a moment of order α. Never negative;
/// infinite where the power leaves the floats.
fn beyond_linear(d: f64, alpha: f64) -> f64 {
    if (alpha + 4.0) * d.abs() < 1e-2 {
        let next = |k: f64, tail: f64| 1.0 + (alpha - k + 1.0) / k * d * tail;
        let tail = next(3.0, next(4.0, next(5.0, next(6.0, next(7.0, 1.0)))));
        alpha * (alpha - 1.0) / 2.0 * d * d * tail
    } else {
        // With t = α - 1 both terms are of the order of t, so orders near one keep their digits.
        let t = alpha - 1.0;
        ((1.0 + d) * (t * d.ln_1p()).exp_m1() - t * d).max(0.0)
    }
}

/// One lift with its weight in a mean.
#[derive(Debug, Clone, Copy)]
pub struct Weighed {
    /// The logarithm of its weight.
    pub log_weight: f64,
    /// Its difference to one.
    pub deviation: f64,
    /// Its logarithm.
    pub log_lift: f64,
}

/// Above this exponent e^x dwarfs everything that is linear in the deviation.
const LARGE: f64 = 30.0;

/// ln Σ w (1+d)^α, for weights that sum to one and deviations whose weighted mean is zero.
///
/// Weights come as logarithms because w (1+d)^α may matter where w alone underflows.
pub fn log_moment(lifts: impl Iterator<Item = Weighed> + Clone, alpha: f64) -> f64 {
    let known = || lifts.clone().filter(|l| l.log_weight > f64::NEG_INFINITY);
    let exponent = |l: Weighed| l.log_weight + alpha * l.log_lift;
    let top = known().map(exponent).fold(f64::NEG_INFINITY, f64::max);
    if top > LARGE {
        return log_sum_exp(known().map(exponent));
    }
    let term = |l: Weighed| {
        let weight = l.log_weight.exp();
        if alpha * l.log_lift <= LARGE {
            weight * beyond_linear(l.deviation, alpha)
        } else {
            let linear = weight + alpha * ((l.log_weight + l.log_lift).exp() - weight);
            exponent(l).exp() - linear
        }
    };
    known().map(term).sum::<f64>().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()), "{a} {b}");
    }

    #[test]
    fn series_meet_the_closed_forms() {
        for d in [-9.999_999e-3, 9.999_999e-3] {
            close(information(d), (1.0 + d) * f64::ln_1p(d) - d, 1e-12);
        }
        for alpha in [1.0001, 1.5, 2.0, 7.0, 300.0] {
            for sign in [-1.0, 1.0] {
                let d = sign * 9.999_999e-3 / (alpha + 4.0);
                let t = alpha - 1.0;
                close(beyond_linear(d, alpha), (1.0 + d) * (t * d.ln_1p()).exp_m1() - t * d, 1e-11);
            }
        }
        // (1+d)² - 1 - 2d = d² at every size.
        for d in [1e-9, 1e-5, 0.3, -1.0, 40.0] {
            close(beyond_linear(d, 2.0), d * d, 1e-14);
        }
        assert!(information(-1.0) == 1.0 && beyond_linear(-1.0, 3.5) == 2.5);
    }

    #[test]
    fn a_weight_that_underflows_still_counts() {
        // Weights 1 - e^-800 and e^-800, the rare lift e^2: at order 1000 the rare one is all there is.
        let rare = Weighed { log_weight: -800.0, deviation: 2f64.exp_m1(), log_lift: 2.0 };
        let common = Weighed { log_weight: 0.0, deviation: 0.0, log_lift: 0.0 };
        let found = log_moment([rare, common].into_iter(), 1000.0);
        close(found, 1200.0, 1e-14);
    }
}
