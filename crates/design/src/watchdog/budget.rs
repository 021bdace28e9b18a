//! How far belief in a secret may fall and rise.

use undertone_core::Epsilon;

use crate::Error;

/// Belief in a secret may fall by a factor e^lower and rise by a factor e^upper; ZDS22 Definition 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    lower: f64,
    upper: f64,
}

impl Budget {
    /// Two finite numbers of nats, not negative.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        for (what, value) in [("the lower budget", lower), ("the upper budget", upper)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::range(what, value, "a finite number of nats, at least 0"));
            }
        }
        Ok(Self { lower, upper })
    }

    /// The share `lambda` of an LDP level goes to the lower side, the rest to the upper side; ZDS22
    /// Section III-B. Their sum bounds the LDP level of the secret (Proposition 1-1).
    pub fn split(ldp: f64, lambda: f64) -> Result<Self, Error> {
        if !(ldp >= 0.0 && ldp.is_finite()) {
            return Err(Error::range("the LDP level", ldp, "a finite number of nats, at least 0"));
        }
        if !(0.0..=1.0).contains(&lambda) {
            return Err(Error::range("the split", lambda, "from 0 to 1"));
        }
        Self::new(lambda * ldp, (1.0 - lambda) * ldp)
    }

    /// The levels as the kernel will check them.
    pub fn of_odds(lower: Epsilon, upper: Epsilon) -> Self {
        let nats = |epsilon: Epsilon| {
            let (numerator, denominator) = epsilon.odds();
            (f64::from(numerator) / f64::from(denominator)).ln()
        };
        Self { lower: nats(lower), upper: nats(upper) }
    }

    /// How far belief may fall, in nats.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// How far belief may rise, in nats.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// This budget a little inside; may turn negative, and then only merging everything is left.
    pub(super) fn tightened(self, by: f64) -> Self {
        Self { lower: self.lower - by, upper: self.upper - by }
    }

    /// The least and the largest deviation of a lift from one.
    pub(super) fn deviations(self) -> (f64, f64) {
        ((-self.lower).exp_m1(), self.upper.exp_m1())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bad_budgets_name_the_side() {
        for bad in [-0.1, f64::NAN, f64::INFINITY] {
            let error = Budget::new(bad, 1.0).unwrap_err().to_string();
            assert!(error.contains("lower budget") && error.contains(&bad.to_string()), "{error}");
            assert!(Budget::new(1.0, bad).unwrap_err().to_string().contains("upper budget"));
            assert!(Budget::split(bad, 0.5).is_err() && Budget::split(1.0, bad).is_err());
        }
        assert!(Budget::split(1.0, 1.1).is_err());
    }

    #[test]
    fn a_split_adds_up() {
        let budget = Budget::split(1.5, 0.65).unwrap();
        assert!((budget.lower() - 0.975).abs() < 1e-15 && (budget.upper() - 0.525).abs() < 1e-15);
    }
}
