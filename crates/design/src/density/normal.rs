//! The normal distribution, accurate in its tails.

use crate::Error;
use undertone_numeric::normal::normal_cdf;

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
        normal_cdf(self.score(y))
    }

    /// P(Y > y).
    pub fn above(&self, y: f64) -> f64 {
        normal_cdf(-self.score(y))
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
