//! The exact confidence interval of a binomial probability (Clopper and Pearson, 1934).
//!
//! Tails are regularised incomplete beta functions: P(Bin(n,p) >= c) = I_p(c, n-c+1). The continued
//! fraction is scaled by one point probability in Loader's saddle-point form, which takes no
//! difference of large logarithms, so that counts of 10^12 lose no digits.

/// How far each end is moved outward, relative to itself, to cover the arithmetic.
const OUTWARD: f64 = 1e-10;

/// The interval after `count` hits in `n` trials; each end is missed with probability at most `tail`.
/// Needs `count <= n`, `n >= 1` and `0 < tail < 1`.
pub(super) fn interval(count: u64, n: u64, tail: f64) -> (f64, f64) {
    let misses = n - count;
    let middle = count as f64 / n as f64;
    let lower = match (count, misses) {
        (0, _) => 0.0,
        (_, 0) => (tail.ln() / n as f64).exp(),
        _ => crossing(0.0, middle, tail, |p| {
            let (probability, lead) = incomplete_beta(count, misses + 1, p, 1.0 - p);
            (probability, lead * count as f64 / (1.0 - p))
        }),
    };
    let upper = match (count, misses) {
        (_, 0) => 1.0,
        (0, _) => -(tail.ln() / n as f64).exp_m1(),
        _ => crossing(middle, 1.0, tail, |p| {
            let (probability, lead) = incomplete_beta(misses, count + 1, 1.0 - p, p);
            (probability, -lead * misses as f64 / (1.0 - p))
        }),
    };
    (lower * (1.0 - OUTWARD), (upper * (1.0 + OUTWARD)).min(1.0))
}

/// The p between `low` and `high` where a monotone probability equals `tail`.
///
/// `at` gives the probability and its derivative by ln p. Newton's method on the logarithms, which
/// are nearly straight lines, kept inside a shrinking bracket.
fn crossing(mut low: f64, mut high: f64, tail: f64, at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut p = if low > 0.0 { low } else { high };
    for _ in 0..400 {
        let (probability, slope) = at(p);
        let rising = slope > 0.0;
        if (probability > tail) == rising {
            high = high.min(p);
        } else {
            low = low.max(p);
        }
        let step = (probability.ln() - tail.ln()) * probability / slope;
        let newton = p * (-step).exp();
        let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
        if (next - p).abs() <= 1e-15 * p || high - low <= 1e-15 * high {
            return next;
        }
        p = next;
    }
    p
}

/// I_x(a,b) with y = 1 - x, and the factor x^a y^b / (a B(a,b)) in front of its continued fraction.
fn incomplete_beta(a: u64, b: u64, x: f64, y: f64) -> (f64, f64) {
    let (af, bf) = (a as f64, b as f64);
    let lead = point_probability(a, b, x, y) * bf / (af + bf);
    let value = if x < (af + 1.0) / (af + bf + 2.0) {
        lead * continued_fraction(af, bf, x)
    } else {
        1.0 - lead * af / bf * continued_fraction(bf, af, y)
    };
    (value, lead)
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..10_000_000u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() <= 1e-16 {
            break;
        }
    }
    value
}

/// The probability of exactly `hits` hits and `misses` misses, both at least 1, where a hit has
/// probability x and a miss y = 1 - x (Loader, 2000).
fn point_probability(hits: u64, misses: u64, x: f64, y: f64) -> f64 {
    let (a, b) = (hits as f64, misses as f64);
    let n = a + b;
    // Written with the smaller of x and y, so that nothing cancels.
    let excess = if x < y { a - n * x } else { n * y - b };
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x, excess)
        - deviance(b, n * y, -excess);
    (n / (std::f64::consts::TAU * a * b)).sqrt() * exponent.exp()
}

/// v ln(v/mean) + mean - v, given v - mean.
fn deviance(v: f64, mean: f64, excess: f64) -> f64 {
    let relative = excess / (v + mean);
    if relative.abs() >= 0.1 {
        return v * (v / mean).ln() - excess;
    }
    // ln(v/mean) = 2 artanh(relative), so the leading terms cancel on paper and not in floats.
    let square = relative * relative;
    let mut sum = excess * relative;
    let mut term = 2.0 * v * relative;
    for odd in (3..60).step_by(2) {
        term *= square;
        let next = sum + term / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// ln n! minus Stirling's formula (n + 1/2) ln n - n + ln(2π)/2, for whole n of at least 1.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let factorial: f64 = (2..=n as u32).map(f64::from).product();
        return factorial.ln() - (n + 0.5) * n.ln() + n - 0.5 * std::f64::consts::TAU.ln();
    }
    let square = n * n;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / n
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
                    let (lower, upper) = interval(count, n, tail);
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
            let (lower, upper) = interval(count, n, tail);
            assert!((lower / low - 1.0).abs() < 3e-10, "{count}/{n}: {lower} {low}");
            assert!((upper / high - 1.0).abs() < 3e-10, "{count}/{n}: {upper} {high}");
        }
    }

    #[test]
    fn huge_counts_stay_finite_and_tight() {
        let n = 1_000_000_000_000;
        let (lower, upper) = interval(n / 4, n, 0.025);
        let half = 1.959_963_984_540_054 * (0.25 * 0.75 / n as f64).sqrt();
        assert!(((upper - lower) / (2.0 * half) - 1.0).abs() < 1e-3, "{lower} {upper}");
    }
}
