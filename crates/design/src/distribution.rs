//! A finite probability distribution in floats.

use std::borrow::Cow;

use crate::{Error, Symbols};

/// How far from 1 a list of probabilities may sum and still be accepted (and rescaled).
pub const SUM_TOLERANCE: f64 = 1e-9;

/// Finite, non-negative numbers that sum to one, one per symbol; never empty. Zero entries are legal.
///
/// The symbols are part of it: two distributions are compared symbol by symbol, whatever their order,
/// and not at all if their symbols differ. [`Distribution::over`] names them.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    p: Vec<f64>,
    symbols: Symbols,
}

impl Distribution {
    fn unnamed(p: Vec<f64>) -> Self {
        let symbols = Symbols::unnamed(p.len());
        Self { p, symbols }
    }

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
        Ok(Self::unnamed(if sum == 1.0 { p } else { p.iter().map(|v| v / sum).collect() }))
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
        Ok(Self::unnamed(weights.iter().map(|v| v / sum).collect()))
    }

    /// Equal probabilities on `n` symbols (`n` of 0 is taken as 1).
    pub fn uniform(n: usize) -> Self {
        let n = n.max(1);
        Self::unnamed(vec![1.0 / n as f64; n])
    }

    /// These probabilities, place by place, of the given symbols.
    pub fn over(self, symbols: &Symbols) -> Result<Self, Error> {
        self.check_len("the list of symbols", symbols.len())?;
        Ok(Self { p: self.p, symbols: symbols.clone() })
    }

    /// What the probabilities are of.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// This law with its symbols in the `wanted` order; refuses other symbols than those wanted.
    /// `what` names this law in the refusal.
    pub fn in_order_of(&self, what: &str, wanted: &Symbols) -> Result<Cow<'_, Self>, Error> {
        Ok(match self.symbols.places(what, wanted)? {
            None => Cow::Borrowed(self),
            Some(places) => {
                let p = places.iter().map(|&at| self.p[at]).collect();
                Cow::Owned(Self { p, symbols: wanted.clone() })
            }
        })
    }

    /// The law of the same symbols proportional to other weights.
    pub fn reweighed(&self, what: &str, weights: Vec<f64>) -> Result<Self, Error> {
        Self::normalised(what, weights)?.over(&self.symbols)
    }

    /// The probabilities.
    pub fn as_slice(&self) -> &[f64] {
        &self.p
    }

    /// How many symbols, zero-mass ones included.
    #[expect(clippy::len_without_is_empty, reason = "a distribution is never empty")]
    pub fn len(&self) -> usize {
        self.p.len()
    }

    /// The smallest probability (zero if a symbol has none).
    pub fn min(&self) -> f64 {
        self.p.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The largest probability.
    pub fn max(&self) -> f64 {
        self.p.iter().copied().fold(0.0, f64::max)
    }

    /// Shannon entropy in nats.
    pub fn entropy(&self) -> f64 {
        self.p.iter().filter(|&&p| p > 0.0).map(|&p| -p * p.ln()).sum()
    }

    /// Total variation distance: half the l1 distance.
    pub fn total_variation(&self, other: &Self) -> Result<f64, Error> {
        let other = other.in_order_of("the second distribution", &self.symbols)?;
        Ok(self.p.iter().zip(&other.p).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0)
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

/// All laws in the order of the first one's symbols; refuses laws of other symbols.
pub fn in_one_order<'a>(
    what: &str,
    laws: &'a [Distribution],
) -> Result<Cow<'a, [Distribution]>, Error> {
    let Some(first) = laws.first() else { return Ok(Cow::Borrowed(laws)) };
    let ordered = laws
        .iter()
        .map(|law| law.in_order_of(what, first.symbols()))
        .collect::<Result<Vec<_>, _>>()?;
    let moved = ordered.iter().any(|law| matches!(law, Cow::Owned(_)));
    Ok(match moved {
        true => Cow::Owned(ordered.into_iter().map(Cow::into_owned).collect()),
        false => Cow::Borrowed(laws),
    })
}

impl std::ops::Index<usize> for Distribution {
    type Output = f64;
    fn index(&self, at: usize) -> &f64 {
        &self.p[at]
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
#[allow(clippy::unwrap_used)]
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
    #[test]
    fn laws_are_compared_by_symbol() {
        let law = |names: &str, p: Vec<f64>| {
            let symbols = Symbols::names(names.split(' ').map(String::from).collect()).unwrap();
            Distribution::new("p", p).unwrap().over(&symbols).unwrap()
        };
        let (first, second) =
            (law("a b c", vec![0.8, 0.1, 0.1]), law("c b a", vec![0.8, 0.1, 0.1]));
        assert!((first.total_variation(&second).unwrap() - 0.7).abs() < 1e-15);
        assert_eq!(first.total_variation(&law("c b a", vec![0.1, 0.1, 0.8])).unwrap(), 0.0);
        let both = [first, second];
        let both = in_one_order("a prior", &both).unwrap();
        assert_eq!(both[1].as_slice(), [0.1, 0.1, 0.8]);
        assert_eq!(both[1].symbols(), both[0].symbols());
        let odd = [both[0].clone(), Distribution::uniform(3)];
        assert!(matches!(in_one_order("a prior", &odd), Err(Error::Symbols { .. })));
        let short = [Distribution::uniform(2), Distribution::uniform(3)];
        assert!(matches!(in_one_order("a prior", &short), Err(Error::Size { .. })));
        assert!(Distribution::uniform(2).over(both[0].symbols()).is_err());
    }
}
