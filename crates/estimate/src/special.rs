//! Tails of the normal, chi-squared and binomial laws.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Pr(N(0,1) > z).
pub(crate) fn normal_upper(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

/// The z with Pr(N(0,1) > z) = `tail`, for tails above 0 and below 1.
pub(crate) fn normal_quantile(tail: f64) -> f64 {
    if tail > 0.5 {
        return -normal_quantile(1.0 - tail);
    }
    // Newton's method on the logarithm of the tail, which is nearly a parabola. Started from below,
    // where it overshoots nothing.
    let mut z = (-2.0 * (2.0 * tail).ln()).max(0.0).sqrt() * 0.8;
    for _ in 0..60 {
        let upper = normal_upper(z);
        let density = (-z * z / 2.0).exp() / TAU.sqrt();
        let step = (upper / tail).ln() * upper / density;
        z += step;
        if !(step.abs() > 1e-14 * z.abs().max(1e-3)) {
            break;
        }
    }
    z
}

/// Pr(Gamma(shape, 1) > x), to about 1e-10 for shapes up to 10^6 and by Wilson and Hilferty's cube
/// root above.
pub(crate) fn gamma_upper(shape: f64, x: f64) -> f64 {
    if !(x > 0.0) {
        return 1.0;
    }
    if !x.is_finite() {
        return 0.0;
    }
    if shape > 1e6 {
        let spread = 1.0 / (9.0 * shape);
        return normal_upper(((x / shape).cbrt() - (1.0 - spread)) / spread.sqrt());
    }
    let lead = (shape * x.ln() - x - libm::lgamma(shape)).exp();
    if x < shape + 1.0 {
        let (mut term, mut sum, mut at) = (1.0 / shape, 1.0 / shape, shape);
        while term > 1e-16 * sum {
            at += 1.0;
            term *= x / at;
            sum += term;
        }
        return (1.0 - lead * sum).max(0.0);
    }
    // Lentz's method.
    let mut b = x + 1.0 - shape;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for i in 1..100_000u32 {
        let a = -f64::from(i) * (f64::from(i) - shape);
        b += 2.0;
        d = 1.0 / away(a * d + b);
        c = away(b + a / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() <= 1e-15 {
            break;
        }
    }
    (lead * fraction).min(1.0)
}

/// Pr(chi-squared > x) with any positive number of degrees of freedom; none leaves no doubt.
pub(crate) fn chi_squared_upper(degrees: f64, x: f64) -> f64 {
    if degrees > 0.0 {
        gamma_upper(degrees / 2.0, x / 2.0)
    } else {
        f64::from(u8::from(!(x > 1e-9)))
    }
}

/// Pr(Bin(n, p) >= count), to ten digits for any n that a float holds.
pub(crate) fn binomial_upper(n: u64, p: f64, count: u64) -> f64 {
    binomial_at_least(n, p, 1.0 - p, count)
}

/// Pr(Bin(n, p) >= count) with q = 1 - p given apart, so that neither loses digits beside the other.
pub(crate) fn binomial_at_least(n: u64, p: f64, q: f64, count: u64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if count > n || p <= 0.0 {
        return 0.0;
    }
    if q <= 0.0 {
        return 1.0;
    }
    // The incomplete beta function I_p(count, n - count + 1), scaled by one point probability: that of
    // `count` successes and n - count + 1 failures in n + 1 trials.
    let (a, b) = (count as f64, (n - count) as f64 + 1.0);
    let point = point_probability(a, b, p, q);
    if p < (a + 1.0) / (a + b + 2.0) {
        (point * b / (a + b) * beta_fraction(a, b, p)).min(1.0)
    } else {
        (1.0 - point * a / (a + b) * beta_fraction(b, a, q)).max(0.0)
    }
}

/// The probability of a successes and b failures, both whole and at least 1, in Loader's saddle-point form
/// (2000): it takes no difference of large logarithms, so that counts of 10^12 lose no digits.
fn point_probability(a: f64, b: f64, p: f64, q: f64) -> f64 {
    let n = a + b;
    // Written with the smaller of p and q, so that nothing cancels.
    let excess = if p < q { a - n * p } else { n * q - b };
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * p, excess)
        - deviance(b, n * q, -excess);
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

/// ln n! minus Stirling's formula (n + 1/2) ln n - n + ln(2π)/2, for whole n of at least 1.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
    }
    let square = n * n;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / n
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..1_000_000u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() <= 1e-15 {
            break;
        }
    }
    value
}

/// Keeps a denominator away from zero.
fn away(v: f64) -> f64 {
    if v.abs() < 1e-300 { 1e-300 } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found:e} against {expected:e}");
    }

    /// Reference values from SciPy 1.17: norm.sf, norm.isf.
    #[test]
    fn normal_tails_and_quantiles() {
        for (z, tail) in [
            (0.0, 0.5),
            (0.5, 0.3085375387259869),
            (5.0, 2.866515718791933e-07),
            (12.0, 1.776482112077653e-33),
            (37.0, 5.7255712225239266e-300),
        ] {
            close(normal_upper(z), tail, 1e-12);
        }
        for (tail, z) in [
            (0.4, 0.2533471031357997),
            (0.025, 1.9599639845400545),
            (1e-6, 4.753424308822899),
            (1e-100, 21.273453560965322),
            (0.9, -1.2815515655446004),
        ] {
            close(normal_quantile(tail), z, 1e-12);
        }
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }

    /// Reference values from SciPy 1.17: chi2.sf.
    #[test]
    fn chi_squared_tails() {
        for (degrees, x, tail) in [
            (1.0, 3.841458820694124, 0.05),
            (3.0, 0.5, 0.9188914116546758),
            (7.0, 100.0, 1.0787979671702833e-18),
            (999.0, 1100.0, 0.013818467525532353),
            (1e5, 101_000.0, 0.012868840377233648),
            (1e5, 99_000.0, 0.9875216843619172),
            (2.5, 1e-3, 0.999934027829081),
        ] {
            close(chi_squared_upper(degrees, x), tail, 1e-9);
        }
        // The cube root takes over where the series would be long.
        close(chi_squared_upper(4e6, 4_004_000.0), 0.07868416412156094, 1e-4);
        assert_eq!(chi_squared_upper(3.0, 0.0), 1.0);
        assert_eq!(chi_squared_upper(3.0, f64::INFINITY), 0.0);
        assert_eq!((chi_squared_upper(0.0, 0.0), chi_squared_upper(0.0, 1.0)), (1.0, 0.0));
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
            close(binomial_upper(n, p, count), tail, 1e-10);
        }
        assert_eq!(binomial_upper(5, 0.3, 0), 1.0);
        assert_eq!(binomial_upper(5, 0.3, 6), 0.0);
        assert_eq!((binomial_upper(5, 0.0, 1), binomial_upper(5, 1.0, 5)), (0.0, 1.0));
    }
}
