//! The normal distribution, accurate in its tails.

use crate::Error;

/// A normal law: a finite mean and a positive, finite standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    mean: f64,
    deviation: f64,
}

impl Normal {
    /// Checks that the mean is finite and the deviation positive and finite.
    pub fn new(mean: f64, deviation: f64) -> Result<Self, Error> {
        if !mean.is_finite() {
            return Err(Error::NotFinite { what: "the mean".into(), value: mean });
        }
        if !(deviation > 0.0 && deviation.is_finite()) {
            return Err(Error::range(
                "the standard deviation",
                deviation,
                "a finite number above 0",
            ));
        }
        Ok(Self { mean, deviation })
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// How many deviations `y` lies above the mean.
    pub fn score(&self, y: f64) -> f64 {
        (y - self.mean) / self.deviation
    }

    /// The density at `y`.
    pub fn density(&self, y: f64) -> f64 {
        let z = self.score(y);
        (-z * z / 2.0).exp() / (self.deviation * std::f64::consts::TAU.sqrt())
    }

    /// The logarithm of the density at `y`, which does not underflow.
    pub fn ln_density(&self, y: f64) -> f64 {
        let z = self.score(y);
        -z * z / 2.0 - (self.deviation * std::f64::consts::TAU.sqrt()).ln()
    }

    /// P(Y <= y).
    pub fn below(&self, y: f64) -> f64 {
        cdf(self.score(y))
    }

    /// P(Y > y).
    pub fn above(&self, y: f64) -> f64 {
        cdf(-self.score(y))
    }

    /// P(low < Y <= high), as a difference of whichever tails are smaller; ends may be infinite.
    pub fn between(&self, low: f64, high: f64) -> f64 {
        if !(low < high) {
            return 0.0;
        }
        if self.score(low) > 0.0 {
            self.above(low) - self.above(high)
        } else {
            self.below(high) - self.below(low)
        }
    }
}

/// Φ(z), the standard normal distribution function, to a relative 1e-14 down to z = -37.
pub fn cdf(z: f64) -> f64 {
    0.5 * erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The step of the trapezoidal rule in [`erfc`].
const STEP: f64 = 0.5;

/// e^(-(n/2)²) for n = 1, 2, ..., until nothing of it is left beside 1.
const WEIGHTS: [f64; 12] = [
    7.788_007_830_714_049e-1,
    3.678_794_411_714_423_3e-1,
    1.053_992_245_618_643_3e-1,
    1.831_563_888_873_418e-2,
    1.930_454_136_227_709_3e-3,
    1.234_098_040_866_795_5e-4,
    4.785_117_392_129_009e-6,
    1.125_351_747_192_591_1e-7,
    1.605_228_055_185_611_6e-9,
    1.388_794_386_496_402e-11,
    7.287_724_095_819_692e-14,
    2.319_522_830_243_569_4e-16,
];

/// The complementary error function.
///
/// Below 0.75 the series of erf, whose terms are all of one sign. Above, the trapezoidal rule on
/// erfc(x) = (x e^(-x²)/π) ∫ e^(-t²)/(t²+x²) dt with step h: its error falls like e^(-π²/h²), below
/// 1e-17 here, once the residue 2/(1 - e^(2πx/h)) of the pole at t = ix is taken off.
pub fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x > 27.3 {
        return 0.0;
    }
    let square = x * x;
    if x < 0.75 {
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > 1e-18 * sum {
            odd += 2.0;
            term *= 2.0 * square / odd;
            sum += term;
        }
        return 1.0 - std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * sum;
    }
    let mut sum = 1.0 / square;
    for (n, weight) in WEIGHTS.iter().enumerate() {
        let at = STEP * (n + 1) as f64;
        sum += 2.0 * weight / (at * at + square);
    }
    let rule = STEP * x * (-square).exp() / std::f64::consts::PI * sum;
    // Beyond π/h the pole is too far away to matter, and the formula no longer holds.
    if x < std::f64::consts::PI / STEP {
        rule - 2.0 / (std::f64::consts::TAU * x / STEP).exp_m1()
    } else {
        rule
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// mpmath, 25 digits of working precision.
    const ERFC: [(f64, f64); 9] = [
        (0.1, 8.875_370_839_817_152e-1),
        (0.5, 4.795_001_221_869_535e-1),
        (0.75, 2.888_443_663_464_848_7e-1),
        (1.0, 1.572_992_070_502_851_3e-1),
        (2.0, 4.677_734_981_047_266e-3),
        (3.5, 7.430_983_723_414_127e-7),
        (6.25, 9.672_204_131_876_254e-19),
        (6.3, 5.124_221_687_395_716e-19),
        (20.0, 5.395_865_611_607_901e-176),
    ];

    #[test]
    fn erfc_agrees_with_a_reference() {
        for (x, expected) in ERFC {
            let found = erfc(x);
            assert!((found - expected).abs() <= 1e-13 * expected, "{x}: {found:e} {expected:e}");
            assert!((erfc(-x) - (2.0 - expected)).abs() < 1e-15);
        }
        assert!(erfc(f64::NAN).is_nan());
        assert_eq!((erfc(f64::INFINITY), erfc(f64::NEG_INFINITY)), (0.0, 2.0));
    }

    #[test]
    fn the_series_and_the_rule_meet() {
        for x in [0.749_999_999_9f64, 0.75, 0.750_000_000_1] {
            let slope = -std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
            let line = erfc(0.75) + slope * (x - 0.75);
            assert!((erfc(x) - line).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn intervals_keep_their_digits_in_both_tails() {
        let law = Normal::new(1.0, 2.0).unwrap();
        assert_eq!(law.between(9.0, 11.0), law.between(-9.0, -7.0));
        let far = law.between(21.0, f64::INFINITY);
        assert!((far / law.between(f64::NEG_INFINITY, -19.0) - 1.0).abs() < 1e-14 && far > 0.0);
        assert_eq!(law.between(3.0, 3.0), 0.0);
        assert!((law.ln_density(4.0) - law.density(4.0).ln()).abs() < 1e-14);
        let whole = law.between(f64::NEG_INFINITY, f64::INFINITY);
        assert!((whole - 1.0).abs() < 1e-15);
    }

    #[test]
    fn bad_parameters_are_refused() {
        for (mean, deviation) in [(f64::NAN, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, f64::NAN)] {
            assert!(Normal::new(mean, deviation).is_err());
        }
        assert!(Normal::new(0.0, f64::INFINITY).is_err());
    }
}
