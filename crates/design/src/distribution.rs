//! A finite probability distribution in floats.

use crate::Error;

/// How far from 1 a list of probabilities may sum and still be accepted (and rescaled).
pub const SUM_TOLERANCE: f64 = 1e-9;

/// Finite, non-negative numbers that sum to one; never empty. Zero entries are legal.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution(Vec<f64>);

impl Distribution {
    /// Checks `p` and rescales it to sum to one; it must already do so within [`SUM_TOLERANCE`].
    ///
    /// `what` names the field in errors, for example `prior`.
    pub fn new(what: &str, p: Vec<f64>) -> Result<Self, Error> {
        check_weights(what, &p)?;
        let sum: f64 = p.iter().sum();
        // A little more than the tolerance, so that a sum written as 1.000000001 is within it.
        if !((sum - 1.0).abs() <= SUM_TOLERANCE * (1.0 + 1e-6)) {
            return Err(Error::Sum { what: what.into(), sum });
        }
        Ok(Self(if sum == 1.0 { p } else { p.iter().map(|v| v / sum).collect() }))
    }

    /// Divides non-negative weights by their total, which must be positive.
    pub fn normalised(what: &str, weights: Vec<f64>) -> Result<Self, Error> {
        check_weights(what, &weights)?;
        let sum: f64 = weights.iter().sum();
        if !sum.is_finite() {
            return Err(Error::Sum { what: what.into(), sum });
        }
        if !(sum > 0.0) {
            return Err(Error::other(what, "all weights are 0; at least one must be positive"));
        }
        Ok(Self(weights.iter().map(|v| v / sum).collect()))
    }

    /// Equal probabilities on `n` symbols (`n` of 0 is taken as 1).
    pub fn uniform(n: usize) -> Self {
        let n = n.max(1);
        Self(vec![1.0 / n as f64; n])
    }

    /// The probabilities.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// How many symbols, zero-mass ones included.
    #[expect(clippy::len_without_is_empty, reason = "a distribution is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest probability (zero if a symbol has none).
    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The largest probability.
    pub fn max(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// Shannon entropy in nats.
    pub fn entropy(&self) -> f64 {
        self.0.iter().filter(|&&p| p > 0.0).map(|&p| -p * p.ln()).sum()
    }

    /// Total variation distance: half the l1 distance.
    pub fn total_variation(&self, other: &Self) -> Result<f64, Error> {
        self.check_len("the second distribution", other.len())?;
        Ok(self.0.iter().zip(&other.0).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0)
    }

    /// Refuses a length other than this distribution's.
    pub fn check_len(&self, what: &str, found: usize) -> Result<(), Error> {
        if found == self.len() {
            Ok(())
        } else {
            Err(Error::Size { what: what.into(), expected: self.len(), found })
        }
    }
}

impl std::ops::Index<usize> for Distribution {
    type Output = f64;
    fn index(&self, at: usize) -> &f64 {
        &self.0[at]
    }
}

/// Refuses an empty list, NaN, infinities and negative entries.
pub(crate) fn check_weights(what: &str, weights: &[f64]) -> Result<(), Error> {
    if weights.is_empty() {
        return Err(Error::Empty { what: what.into() });
    }
    for (at, &value) in weights.iter().enumerate() {
        let what = format!("{what}[{at}]");
        if !value.is_finite() {
            return Err(Error::NotFinite { what, value });
        }
        if !(value >= 0.0) {
            return Err(Error::Negative { what, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lists_are_refused_by_name() {
        assert!(matches!(Distribution::new("prior", vec![]), Err(Error::Empty { .. })));
        let nan = Distribution::new("prior", vec![0.5, f64::NAN]).unwrap_err().to_string();
        assert!(nan.contains("prior[1]"), "{nan}");
        assert!(matches!(Distribution::new("p", vec![1.5, -0.5]), Err(Error::Negative { .. })));
        assert!(matches!(Distribution::new("p", vec![0.5, 0.4]), Err(Error::Sum { .. })));
        assert!(Distribution::normalised("p", vec![0.0, 0.0]).is_err());
    }

    #[test]
    fn entropy_of_a_fair_coin_is_ln_2() {
        assert!((Distribution::uniform(2).entropy() - 2f64.ln()).abs() < 1e-15);
    }
}
