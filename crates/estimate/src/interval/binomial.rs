//! The exact interval of a binomial probability (Clopper and Pearson, 1934).

use crate::root::falling_root;
use crate::special::binomial_at_least;

/// How far each end is moved outward, relative to itself, to cover the arithmetic.
const OUTWARD: f64 = 1e-10;

/// The least and the greatest probability under which `hits` of `trials`, or what lies beyond, still have a
/// probability above `tail`; at most `trials` hits, and a tail above 0 and below 1.
pub(crate) fn limits(hits: u64, trials: u64, tail: f64) -> (f64, f64) {
    (least(hits, trials, tail), most(hits, trials, tail))
}

/// The least probability that is not refused for being too small.
pub(crate) fn least(hits: u64, trials: u64, tail: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    // Logarithms, because the tail is nearly a power of the probability.
    let middle = (hits as f64 / trials as f64).ln();
    let excess = |by: f64| {
        let at = middle - by;
        (binomial_at_least(trials, at.exp(), -at.exp_m1(), hits) / tail).ln()
    };
    let below = falling_root(0.0, middle - LEAST, 1e-13, excess);
    (middle - below).exp() * (1.0 - OUTWARD)
}

/// The greatest probability that is not refused for being too large.
pub(crate) fn most(hits: u64, trials: u64, tail: f64) -> f64 {
    let misses = trials - hits;
    if misses == 0 {
        return 1.0;
    }
    if hits == 0 {
        let all_missed = tail.ln() / trials as f64;
        return (-all_missed.exp_m1() * (1.0 + OUTWARD)).min(1.0);
    }
    let middle = (hits as f64 / trials as f64).ln();
    let excess = |by: f64| {
        let at = (middle + by).min(0.0);
        (binomial_at_least(trials, -at.exp_m1(), at.exp(), misses) / tail).ln()
    };
    let above = falling_root(0.0, -middle, 1e-13, excess);
    ((middle + above).exp() * (1.0 + OUTWARD)).min(1.0)
}

/// Below any probability that can be told from nought: ln 1e-300.
const LEAST: f64 = -690.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values from SciPy 1.17: beta.ppf(tail, c, n-c+1) and beta.isf(tail, c+1, n-c).
    #[test]
    fn ends_agree_with_scipy_and_are_rounded_outward() {
        for (hits, trials, tail, low, high) in [
            (5, 100, 0.025, 0.016_431_879_182_052_155, 0.112_834_911_105_462_76),
            (1, 1000, 1e-6, 1.000_000_499_500_332_9e-9, 0.016_558_164_174_744_126),
            (500_000, 1_000_000, 0.025, 0.499_019_519_195_311_84, 0.500_980_480_804_688_2),
            (999_999, 1_000_000, 1e-4, 0.999_988_243_692_005_2, 0.999_999_999_899_995),
            (123_456, 10_000_000, 1e-7, 0.012_164_890_121_596_32, 0.012_528_100_817_563_7),
        ] {
            let (least, most) = limits(hits, trials, tail);
            assert!(least <= low && low - least < 4e-10 * low, "{hits}/{trials}: {least} {low}");
            assert!(most >= high && most - high < 4e-10 * high, "{hits}/{trials}: {most} {high}");
        }
    }

    /// All counts: each end cuts off its tail, and not much less.
    #[test]
    fn each_end_cuts_off_its_tail() {
        for trials in [1u64, 2, 7, 40, 300] {
            for hits in 0..=trials {
                for tail in [0.25, 0.025, 1e-6] {
                    let (least, most) = limits(hits, trials, tail);
                    let share = hits as f64 / trials as f64;
                    assert!(least <= share && share <= most, "{hits}/{trials}: {least} {most}");
                    if hits > 0 {
                        let cut = binomial_at_least(trials, least, 1.0 - least, hits) / tail;
                        assert!(cut <= 1.0 && cut > 1.0 - 1e-6, "{hits}/{trials}: {cut}");
                    }
                    if hits < trials {
                        let cut = binomial_at_least(trials, 1.0 - most, most, trials - hits) / tail;
                        // Close to one the outward step is large beside what is left.
                        let slack = 1e-6 + 2.0 * OUTWARD * trials as f64 / (1.0 - most);
                        assert!(cut <= 1.0 && cut > 1.0 - slack, "{hits}/{trials}: {cut}");
                    }
                }
            }
        }
    }
}
