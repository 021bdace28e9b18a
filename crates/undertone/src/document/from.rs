//! Priors from what programs have at hand.

use undertone_design::Distribution;

use super::Prior;
use crate::Error;

impl TryFrom<Vec<f64>> for Prior {
    type Error = Error;

    fn try_from(p: Vec<f64>) -> Result<Self, Error> {
        Self::new(p)
    }
}

impl TryFrom<&[f64]> for Prior {
    type Error = Error;

    fn try_from(p: &[f64]) -> Result<Self, Error> {
        Self::new(p)
    }
}

impl<const N: usize> TryFrom<[f64; N]> for Prior {
    type Error = Error;

    fn try_from(p: [f64; N]) -> Result<Self, Error> {
        Self::new(p)
    }
}

impl<S: Into<String>, const N: usize> TryFrom<[(S, f64); N]> for Prior {
    type Error = Error;

    fn try_from(entries: [(S, f64); N]) -> Result<Self, Error> {
        Self::named(entries)
    }
}

impl<S: Into<String>> TryFrom<Vec<(S, f64)>> for Prior {
    type Error = Error;

    fn try_from(entries: Vec<(S, f64)>) -> Result<Self, Error> {
        Self::named(entries)
    }
}

impl From<Distribution> for Prior {
    fn from(law: Distribution) -> Self {
        Self::of(law)
    }
}
