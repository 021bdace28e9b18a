//! The standard normal law, accurate in its tails.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Pr(N(0,1) <= z), to a relative 1e-13 down to z = -37.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Pr(N(0,1) > z), to a relative 1e-13 up to z = 37.
pub fn normal_upper_tail(z: f64) -> f64 {
    normal_cdf(-z)
}

/// The z with Pr(N(0,1) > z) = `tail`, to about 1e-13: infinite at 0 and 1, NaN outside.
pub fn normal_quantile(tail: f64) -> f64 {
    if !(tail > 0.0 && tail < 1.0) {
        return match tail {
            0.0 => f64::INFINITY,
            1.0 => f64::NEG_INFINITY,
            _ => f64::NAN,
        };
    }
    if tail > 0.5 {
        return -normal_quantile(1.0 - tail);
    }
    // Newton's method on the logarithm of the tail, which is nearly a parabola. Started from below,
    // where it overshoots nothing.
    let mut z = (-2.0 * (2.0 * tail).ln()).max(0.0).sqrt() * 0.8;
    for _ in 0..60 {
        let upper = normal_upper_tail(z);
        let density = (-z * z / 2.0).exp() / TAU.sqrt();
        let step = (upper / tail).ln() * upper / density;
        z += step;
        if !(step.abs() > 1e-14 * z.abs().max(1e-3)) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found:e} against {expected:e}");
    }

    /// Reference values from SciPy 1.17 (norm.sf, norm.isf) and mpmath 1.3 with 40 digits.
    #[test]
    fn tails_and_quantiles() {
        for (z, tail) in [
            (0.0, 0.5),
            (0.5, 0.3085375387259869),
            (5.0, 2.866515718791933e-07),
            (12.0, 1.776482112077653e-33),
            (37.0, 5.7255712225239266e-300),
        ] {
            close(normal_upper_tail(z), tail, 1e-12);
            close(normal_cdf(-z), tail, 1e-12);
            assert!((normal_cdf(z) - (1.0 - tail)).abs() < 1e-15);
        }
        for (tail, z) in [
            (0.4, 0.2533471031357997),
            (0.1, 1.281_551_565_544_600_4),
            (0.025, 1.9599639845400545),
            (0.005, 2.575_829_303_548_901),
            (1e-6, 4.753424308822899),
            (1e-9, 5.997_807_015_007_681),
            (1e-100, 21.273453560965322),
            (0.9, -1.2815515655446004),
        ] {
            close(normal_quantile(tail), z, 1e-12);
        }
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }

    /// erfc(x) = 2 Pr(N(0,1) > √2 x), from mpmath with 25 digits.
    #[test]
    fn tails_are_the_error_function() {
        for (x, erfc) in [
            (0.1, 8.875_370_839_817_152e-1),
            (0.5, 4.795_001_221_869_535e-1),
            (0.75, 2.888_443_663_464_848_7e-1),
            (1.0, 1.572_992_070_502_851_3e-1),
            (2.0, 4.677_734_981_047_266e-3),
            (3.5, 7.430_983_723_414_127e-7),
            (6.25, 9.672_204_131_876_254e-19),
            (6.3, 5.124_221_687_395_716e-19),
            (20.0, 5.395_865_611_607_901e-176),
        ] {
            close(2.0 * normal_upper_tail(x * std::f64::consts::SQRT_2), erfc, 2e-13);
        }
    }

    /// The quantile undoes the tail over all of its range.
    #[test]
    fn quantiles_undo_tails() {
        for step in 1..=3700 {
            let z = f64::from(step) / 100.0;
            close(normal_quantile(normal_upper_tail(z)), z, 1e-12);
        }
    }

    #[test]
    fn ends_and_what_is_no_probability() {
        assert_eq!(normal_quantile(0.0), f64::INFINITY);
        assert_eq!(normal_quantile(1.0), f64::NEG_INFINITY);
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(normal_quantile(bad).is_nan(), "{bad}");
        }
        assert_eq!((normal_cdf(f64::INFINITY), normal_cdf(f64::NEG_INFINITY)), (1.0, 0.0));
        assert!(normal_cdf(f64::NAN).is_nan());
    }
}
