//! The gamma function and the tails of the gamma and chi-squared laws.

use crate::lentz::ContinuedFraction;
use crate::normal::normal_upper_tail;

/// ln Γ(z) for z > 0.
pub fn ln_gamma(z: f64) -> f64 {
    libm::lgamma(z)
}

/// Pr(Gamma(shape, 1) > x), to about 1e-10 for shapes up to 10^6 and by Wilson and Hilferty's cube
/// root above.
pub fn gamma_upper_tail(shape: f64, x: f64) -> f64 {
    if !(x > 0.0) {
        return 1.0;
    }
    if !x.is_finite() {
        return 0.0;
    }
    if shape > 1e6 {
        let spread = 1.0 / (9.0 * shape);
        return normal_upper_tail(((x / shape).cbrt() - (1.0 - spread)) / spread.sqrt());
    }
    let lead = (shape * x.ln() - x - ln_gamma(shape)).exp();
    if x < shape + 1.0 {
        let (mut term, mut sum, mut at) = (1.0 / shape, 1.0 / shape, shape);
        while term > 1e-16 * sum {
            at += 1.0;
            term *= x / at;
            sum += term;
        }
        return (1.0 - lead * sum).max(0.0);
    }
    let mut b = x + 1.0 - shape;
    let mut fraction = ContinuedFraction::one_over(b);
    for i in 1..100_000u32 {
        let a = -f64::from(i) * (f64::from(i) - shape);
        b += 2.0;
        if fraction.extend(a, b) {
            break;
        }
    }
    (lead * fraction.value()).min(1.0)
}

/// Pr(chi-squared > x) with any positive number of degrees of freedom; with none all mass is at zero,
/// and an x below 1e-9 counts as zero.
pub fn chi_squared_upper_tail(degrees: f64, x: f64) -> f64 {
    if degrees > 0.0 {
        gamma_upper_tail(degrees / 2.0, x / 2.0)
    } else {
        f64::from(u8::from(!(x > 1e-9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found:e} against {expected:e}");
    }

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        for (z, expected) in [(5.0, 24.0f64), (0.5, std::f64::consts::PI.sqrt()), (11.0, 3628800.0)]
        {
            close(ln_gamma(z), expected.ln(), 1e-14);
        }
        assert_eq!(ln_gamma(1.0), 0.0);
        // Γ(z+1) = zΓ(z).
        for z in [0.1, 0.9, 3.7, 120.5, 1e6] {
            assert!(
                (ln_gamma(z + 1.0) - ln_gamma(z) - z.ln()).abs()
                    < 1e-15 * ln_gamma(z + 2.0).max(10.0)
            );
        }
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
            close(chi_squared_upper_tail(degrees, x), tail, 1e-9);
        }
        // The cube root takes over where the series would be long.
        close(chi_squared_upper_tail(4e6, 4_004_000.0), 0.07868416412156094, 1e-4);
        assert_eq!(chi_squared_upper_tail(3.0, 0.0), 1.0);
        assert_eq!(chi_squared_upper_tail(3.0, f64::INFINITY), 0.0);
        assert_eq!(
            (chi_squared_upper_tail(0.0, 0.0), chi_squared_upper_tail(0.0, 1.0)),
            (1.0, 0.0)
        );
    }

    /// Gamma laws with a whole shape are sums of Poisson probabilities: Pr(Gamma(k) > x) = Pr(Poisson(x) < k).
    #[test]
    fn whole_shapes_are_poisson_sums() {
        for shape in [1u32, 2, 5, 20] {
            for x in [0.01f64, 0.7, 3.0, 19.0, 60.0] {
                let mut term = (-x).exp();
                let mut sum = 0.0;
                for k in 0..shape {
                    sum += term;
                    term *= x / f64::from(k + 1);
                }
                close(gamma_upper_tail(f64::from(shape), x), sum, 1e-12);
            }
        }
    }
}
