//! Tails of the binomial law, and the exact confidence interval of its probability.

use crate::beta::{incomplete_beta, scaled_incomplete_beta};
use crate::root::falling_newton_root;

/// How far each end of an interval is moved outward, relative to itself, to cover the arithmetic.
const OUTWARD: f64 = 1e-10;

/// Below any probability that can be told from nought: ln 1e-300.
const LEAST: f64 = -690.0;

/// Pr(Bin(n, p) >= count), with q = 1 - p given apart, so that neither loses digits beside the other; to ten
/// digits for any n that a float holds.
pub fn binomial_at_least(n: u64, p: f64, q: f64, count: u64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if count > n {
        return 0.0;
    }
    incomplete_beta(count as f64, (n - count) as f64 + 1.0, p, q)
}

/// The exact interval (Clopper and Pearson, 1934) after `hits` hits in `trials` trials; each end is missed with
/// probability at most `tail`, and moved outward by a relative 1e-10 to cover the arithmetic.
///
/// Needs at most `trials` hits, at least one trial and a tail above 0 and below 1.
pub fn binomial_interval(hits: u64, trials: u64, tail: f64) -> (f64, f64) {
    (binomial_lower_limit(hits, trials, tail), binomial_upper_limit(hits, trials, tail))
}

/// The lower end of [`binomial_interval`]: the least probability that is not refused for being too small.
pub fn binomial_lower_limit(hits: u64, trials: u64, tail: f64) -> f64 {
    let misses = trials - hits;
    let lower = match (hits, misses) {
        (0, _) => 0.0,
        (_, 0) => (tail.ln() / trials as f64).exp(),
        _ => {
            let (a, b) = (hits as f64, misses as f64 + 1.0);
            let middle = (hits as f64 / trials as f64).ln();
            // In logarithms, because the tail is nearly a power of the probability.
            let (below, _) = falling_newton_root(0.0, middle - LEAST, 1e-15, 0.0, |below| {
                let (x, y) = ((middle - below).exp(), -(middle - below).exp_m1());
                let (found, lead) = scaled_incomplete_beta(a, b, x, y);
                ((found / tail).ln(), -lead * a / y / found)
            });
            (middle - below).exp()
        }
    };
    lower * (1.0 - OUTWARD)
}

/// The upper end of [`binomial_interval`]: the greatest probability that is not refused for being too large.
pub fn binomial_upper_limit(hits: u64, trials: u64, tail: f64) -> f64 {
    let misses = trials - hits;
    let upper = match (hits, misses) {
        (_, 0) => 1.0,
        (0, _) => -(tail.ln() / trials as f64).exp_m1(),
        _ => {
            let (a, b) = (misses as f64, hits as f64 + 1.0);
            let middle = (hits as f64 / trials as f64).ln();
            let (above, _) = falling_newton_root(0.0, -middle, 1e-15, 0.0, |above| {
                let ln_y = (middle + above).min(0.0);
                let (x, y) = (-ln_y.exp_m1(), ln_y.exp());
                let (found, lead) = scaled_incomplete_beta(a, b, x, y);
                ((found / tail).ln(), -lead * a / x / found)
            });
            (middle + above).exp()
        }
    };
    (upper * (1.0 + OUTWARD)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu::integer::{IBig, UBig};
    use dashu::rational::RBig;

    /// P(Bin(n,p) >= count) in exact rationals.
    fn exact_upper_tail(count: u64, n: u64, p: f64) -> f64 {
        let p = RBig::try_from(p).unwrap();
        let q = RBig::ONE - &p;
        let mut choose = UBig::ONE;
        let mut sum = RBig::ZERO;
        for hits in 0..=n {
            if hits >= count {
                let (h, m) = (hits as isize, (n - hits) as isize);
                sum += RBig::from(IBig::from(choose.clone())) * p.pow(h) * q.pow(m);
            }
            choose = choose * (n - hits) / (hits + 1);
        }
        sum.to_f64().value()
    }

    #[test]
    fn both_ends_cut_off_exactly_their_tail() {
        for n in [1u64, 2, 3, 10, 37, 150] {
            for count in (0..=n).step_by(1 + n as usize / 12) {
                for tail in [0.25, 0.025, 1e-6] {
                    let (lower, upper) = binomial_interval(count, n, tail);
                    let mean = count as f64 / n as f64;
                    assert!(lower <= mean && mean <= upper, "{count} of {n}: {lower} {upper}");
                    if count > 0 {
                        let cut = exact_upper_tail(count, n, lower);
                        let ratio = cut / tail;
                        assert!(ratio <= 1.0 && ratio > 1.0 - 1e-7, "{count}/{n} {tail}: {ratio}");
                    }
                    if count < n {
                        let ratio = exact_upper_tail(n - count, n, 1.0 - upper) / tail;
                        // Near one, the outward step is large beside what is left.
                        let slack = 1e-7 + 2.0 * OUTWARD * n as f64 / (1.0 - upper);
                        assert!(ratio <= 1.0, "{count}/{n} {tail}: {ratio}");
                        assert!(ratio > 1.0 - slack, "{count}/{n} {tail}: {ratio}");
                    }
                }
            }
        }
    }

    /// Reference values from SciPy 1.17: beta.ppf(tail, c, n-c+1) and beta.isf(tail, c+1, n-c).
    #[test]
    fn large_counts_agree_with_scipy() {
        let reference = [
            (5u64, 100u64, 0.025, 0.016431879182052155, 0.11283491110546276),
            (1u64, 1000u64, 1e-06, 1.0000004995003329e-09, 0.016558164174744126),
            (
                30u64,
                1000000u64,
                0.0035714285714285718,
                1.7332669430373994e-05,
                4.8052591092704846e-05,
            ),
            (500000u64, 1000000u64, 0.025, 0.49901951919531184, 0.5009804808046882),
            (999999u64, 1000000u64, 0.0001, 0.9999882436920052, 0.999999999899995),
            (123456u64, 10000000u64, 1e-07, 0.01216489012159632, 0.0125281008175637),
            (20000000u64, 100000000u64, 0.005, 0.1998969761004242, 0.20010305244148993),
        ];
        for (count, n, tail, low, high) in reference {
            let (lower, upper) = binomial_interval(count, n, tail);
            assert!((lower / low - 1.0).abs() < 3e-10, "{count}/{n}: {lower} {low}");
            assert!((upper / high - 1.0).abs() < 3e-10, "{count}/{n}: {upper} {high}");
        }
    }

    #[test]
    fn huge_counts_stay_finite_and_tight() {
        let n = 1_000_000_000_000;
        let (lower, upper) = binomial_interval(n / 4, n, 0.025);
        let half = 1.959_963_984_540_054 * (0.25 * 0.75 / n as f64).sqrt();
        assert!(((upper - lower) / (2.0 * half) - 1.0).abs() < 1e-3, "{lower} {upper}");
    }

    /// Reference values from SciPy 1.17: binom.sf.
    #[test]
    fn binomial_tails() {
        for (n, p, count, tail) in [
            (10, 0.3, 5, 0.15026833259999992),
            (500, 0.2, 130, 0.0006829001908578945),
            (1_000_000, 1e-5, 25, 4.6944259537847814e-05),
            (1_000_000, 0.25, 251_000, 0.010515838611016097),
            (1_000_000_000, 0.5, 500_050_000, 0.0007827861305386242),
            (1_000_000_000, 1e-7, 160, 2.0506938174541875e-08),
            (1000, 0.999, 1000, 0.36769542477096373),
            (10_000_000, 0.3, 2_990_000, 0.9999999999974569),
        ] {
            let found = binomial_at_least(n, p, 1.0 - p, count);
            assert!((found / tail - 1.0).abs() < 1e-10, "{n} {p} {count}: {found:e} {tail:e}");
        }
        assert_eq!(binomial_at_least(5, 0.3, 1.0 - 0.3, 0), 1.0);
        assert_eq!(binomial_at_least(5, 0.3, 1.0 - 0.3, 6), 0.0);
        assert_eq!(
            (binomial_at_least(5, 0.0, 1.0 - 0.0, 1), binomial_at_least(5, 1.0, 1.0 - 1.0, 5)),
            (0.0, 1.0)
        );
    }

    /// Small tails, large tails and tails that the middle of the interval does not reach.
    #[test]
    fn any_tail_gives_an_interval_around_the_share() {
        for (hits, trials) in [(1u64, 2u64), (3, 7), (999, 1000), (1, 1_000_000)] {
            let mut last = (1.0, 0.0);
            for tail in [1e-280, 1e-100, 1e-12, 0.01, 0.3, 0.9, 0.999] {
                let share = hits as f64 / trials as f64;
                let (lower, upper) = binomial_interval(hits, trials, tail);
                assert!(0.0 < lower && lower <= share, "{hits}/{trials} {tail}: {lower}");
                assert!(share <= upper && upper <= 1.0, "{hits}/{trials} {tail}: {upper}");
                if tail > 1e-280 {
                    assert!(lower >= last.0 && upper <= last.1, "{hits}/{trials} {tail}");
                }
                last = (lower, upper);
            }
        }
    }
}
