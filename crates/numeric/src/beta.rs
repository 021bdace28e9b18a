//! The incomplete beta function, accurate in its tails and for parameters up to 10^12.

use std::f64::consts::TAU;

use crate::gamma::ln_gamma;
use crate::lentz::ContinuedFraction;

/// ln B(a,b), for a, b > 0.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// I_x(a,b), the regularised incomplete beta function for a, b > 0, with y = 1 - x given apart, so that
/// neither loses digits beside the other.
///
/// Its continued fraction, on whichever side of the mean converges fast, scaled by one point probability
/// in Loader's saddle-point form: that takes no difference of large logarithms.
pub fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    scaled_incomplete_beta(a, b, x, y).0
}

/// I_x(a,b), and the factor x^a y^b / (a B(a,b)) in front of its continued fraction: the derivative of
/// I_x(a,b) by ln x is a/y times that.
pub(crate) fn scaled_incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if !(x > 0.0) {
        return (0.0, 0.0);
    }
    if !(y > 0.0) {
        return (1.0, 0.0);
    }
    let lead = point_probability(a, b, x, y) * b / (a + b);
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        (lead * fraction(a, b, x)).min(1.0)
    } else {
        (1.0 - lead * a / b * fraction(b, a, y)).max(0.0)
    };
    (value, lead)
}

/// The continued fraction of the incomplete beta function.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut value = ContinuedFraction::one_over(1.0);
    value.extend(-(a + b) * x / (a + 1.0), 1.0);
    for m in 1..10_000_000u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        value.extend(even, 1.0);
        if value.extend(odd, 1.0) {
            break;
        }
    }
    value.value()
}

/// x^a y^b Γ(a+b+1)/(Γ(a+1)Γ(b+1)): for whole a and b the probability of a successes and b failures
/// (Loader, 2000).
fn point_probability(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    // Written with the smaller of x and y, and rounded once, so that nothing is lost where it cancels.
    let excess = if x < y { (-n).mul_add(x, a) } else { n.mul_add(y, -b) };
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x, excess)
        - deviance(b, n * y, -excess);
    (n / (TAU * a * b)).sqrt() * exponent.exp()
}

/// v ln(v/mean) + mean - v, given v - mean.
fn deviance(v: f64, mean: f64, excess: f64) -> f64 {
    let relative = excess / (v + mean);
    if relative.abs() >= 0.1 {
        return v * (v / mean).ln() - excess;
    }
    // ln(v/mean) = 2 artanh(relative): the leading terms cancel on paper and not in floats.
    let square = relative * relative;
    let (mut sum, mut term) = (excess * relative, 2.0 * v * relative);
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

/// ln Γ(n+1) minus Stirling's formula (n + 1/2) ln n - n + ln(2π)/2, for n > 0.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
    }
    let square = n * n;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_parameters_are_binomial_sums() {
        // I_x(a,b) = Pr(Bin(a+b-1, x) >= a).
        for (a, b) in [(1u32, 1u32), (2, 5), (5, 2), (7, 9)] {
            for x in [0.01f64, 0.2, 0.5, 0.77, 0.999] {
                let n = a + b - 1;
                let choose =
                    |k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
                let term = |k: u32| choose(k) * x.powi(k as i32) * (1.0 - x).powi((n - k) as i32);
                let sum: f64 = (a..=n).map(term).sum();
                let found = incomplete_beta(f64::from(a), f64::from(b), x, 1.0 - x);
                assert!((found - sum).abs() < 1e-13, "{a} {b} {x}: {found} {sum}");
            }
        }
        assert_eq!(incomplete_beta(2.0, 3.0, -1.0, 2.0), 0.0);
        assert_eq!(incomplete_beta(2.0, 3.0, 1.5, -0.5), 1.0);
    }

    /// a, b, x and I_x(a,b) from mpmath 1.3 with 50 digits.
    const REFERENCE: [(f64, f64, f64, f64); 8] = [
        (0.5, 2.5, 0.1, 0.510_410_255_435_572_5),
        (2.5, 0.25, 0.9, 0.271_572_577_660_731_5),
        (0.1, 0.1, 1e-09, 0.063_857_389_459_056_46),
        (33.25, 12.5, 0.5, 0.000_799_955_675_387_308),
        (500.5, 1000.75, 0.3, 0.002_647_693_887_118_824),
        (500.5, 1000.75, 0.2, 5.803_147_404_296_209e-34),
        (100000.5, 200000.0, 0.33, 5.214_937_561_846_045e-5),
        (100000000.5, 300000000.0, 0.24995, 0.010_457_155_719_999_948),
    ];

    #[test]
    fn parameters_that_are_not_whole() {
        for (a, b, x, expected) in REFERENCE {
            let found = incomplete_beta(a, b, x, 1.0 - x);
            assert!((found / expected - 1.0).abs() < 2e-12, "{a} {b} {x}: {found:e} {expected:e}");
        }
        // The arcsine law.
        let arcsine = 2.0 / std::f64::consts::PI * 0.3f64.sqrt().asin();
        assert!((incomplete_beta(0.5, 0.5, 0.3, 0.7) - arcsine).abs() < 1e-14);
    }

    #[test]
    fn the_two_sides_sum_to_one() {
        for (a, b) in [(0.3, 0.7), (2.5, 40.0), (300.5, 200.25), (1e6, 3e6)] {
            for x in [1e-6, 0.2, 0.25, 0.6, 0.999] {
                let (one, other) =
                    (incomplete_beta(a, b, x, 1.0 - x), incomplete_beta(b, a, 1.0 - x, x));
                assert!((one + other - 1.0).abs() < 1e-13, "{a} {b} {x}: {one} {other}");
            }
        }
    }

    #[test]
    fn complete_beta() {
        // B(a,1) = 1/a and B(1/2,1/2) = π.
        assert!((ln_beta(7.5, 1.0) + 7.5f64.ln()).abs() < 1e-14);
        assert!((ln_beta(0.5, 0.5) - std::f64::consts::PI.ln()).abs() < 1e-14);
    }
}
