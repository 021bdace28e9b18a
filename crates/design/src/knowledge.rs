//! What is known about the data, in floats, and as the integers of a policy's context.

use undertone_core::{
    Bound, Claim, Context, PriorBox as IntegerBox, Priors, Secret, Subject, WEIGHT_ONE,
};

use crate::distribution::in_one_order;
use crate::prior_region::PriorBox;
use crate::quantize::{self, RoundedPrior};
use crate::{Distribution, Error, Joint, Symbols};

/// What a designer is told about the data.
#[derive(Debug, Clone, PartialEq)]
pub enum Knowledge {
    /// Nothing: every promise must hold for any prior.
    Nothing,
    /// One prior.
    Known(Distribution),
    /// Several priors over the same symbols, under each of which every promise must hold.
    Each(Vec<Distribution>),
    /// Any prior in a box.
    Within(PriorBox),
    /// A secret behind the data, with its name.
    Secret(String, Joint),
}

/// A context in integers, in the order of [`Knowledge::symbols`], and how far rounding moved its priors.
#[derive(Debug, Clone)]
pub struct RoundedContext {
    /// The integers.
    pub context: Context,
    /// The largest total variation distance of a prior to its floats, in units of 2^-48, rounded up.
    pub moved: u64,
}

fn refused(what: &str) -> impl Fn(undertone_core::ContextError) -> Error {
    move |error| Error::other(what, error.to_string())
}

impl Knowledge {
    /// Rounds to the integers a policy carries: priors to the nearest multiples of 2^-32, boxes outward.
    pub fn context(&self) -> Result<RoundedContext, Error> {
        let (context, moved) = match self {
            Self::Nothing => (Context::Unknown, 0),
            Self::Known(prior) => {
                let RoundedPrior { prior, moved } = quantize::prior(prior)?;
                (Context::Known(prior), moved)
            }
            Self::Each(priors) => {
                let (priors, moved) = each(&in_one_order("a prior of the list", priors)?)?;
                (Context::Each(Priors::new(priors).map_err(refused("priors"))?), moved)
            }
            Self::Within(within) => {
                let end = |what: &str, ends: &[f64], round: fn(f64) -> f64| {
                    let integer = |(at, &value): (usize, &f64)| {
                        if (0.0..=1.0).contains(&value) {
                            Ok(round(value * WEIGHT_ONE as f64) as u64)
                        } else {
                            Err(Error::range(format!("{what}[{at}]"), value, "between 0 and 1"))
                        }
                    };
                    ends.iter().enumerate().map(integer).collect::<Result<Vec<u64>, _>>()
                };
                let lower = end("the prior's lower end", within.lower(), f64::floor)?;
                let upper = end("the prior's upper end", within.upper(), f64::ceil)?;
                (Context::Within(IntegerBox::new(lower, upper).map_err(refused("prior box"))?), 0)
            }
            Self::Secret(name, joint) => {
                let RoundedPrior { prior, moved } = quantize::prior(joint.secret())?;
                let (rows, rows_moved) = each(joint.given_secret().rows())?;
                let secret = Secret::new(name.clone(), prior, rows).map_err(refused("secret"))?;
                (Context::Secret(secret), moved.max(rows_moved))
            }
        };
        Ok(RoundedContext { context, moved })
    }

    /// The symbols of the data, where they are known; of several priors, in the order of the first.
    pub fn symbols(&self) -> Option<&Symbols> {
        match self {
            Self::Nothing => None,
            Self::Known(prior) => Some(prior.symbols()),
            Self::Each(priors) => priors.first().map(Distribution::symbols),
            Self::Within(within) => Some(within.symbols()),
            Self::Secret(_, joint) => Some(joint.symbols()),
        }
    }

    /// The prior that weighs the objective when none is given for it: the prior itself, the average of
    /// several, the law of the data behind a secret, the point of a box that divides its width evenly.
    pub fn typical_prior(&self) -> Result<Option<Distribution>, Error> {
        match self {
            Self::Nothing => Ok(None),
            Self::Known(prior) => Ok(Some(prior.clone())),
            Self::Each(priors) => {
                let Some(first) = priors.first() else { return Ok(None) };
                let priors = in_one_order("a prior of the list", priors)?;
                let mean = |x: usize| priors.iter().map(|p| p[x]).sum::<f64>();
                first.reweighed("priors", (0..first.len()).map(mean).collect()).map(Some)
            }
            Self::Within(within) => within.middle().map(Some),
            Self::Secret(_, joint) => joint.data().map(Some),
        }
    }

    /// Who a promise is about when it does not say.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Secret(..) => Subject::Secret,
            _ => Subject::Input,
        }
    }

    /// A claim as it must be made in this context: with nothing known, LIP for every prior is LDP (a
    /// prior may put nearly all its weight on the less likely of two inputs), at the smaller side.
    pub fn claim(&self, claim: Claim) -> Claim {
        match (self, claim.bound) {
            (Self::Nothing, Bound::Lip { lower, upper }) => {
                let least = if lower.ratio() < upper.ratio() { lower } else { upper };
                Claim { bound: Bound::Ldp(least), ..claim }
            }
            _ => claim,
        }
    }
}

/// The corners of a box of priors: all coordinates but one at an end, the last fixed by the sum. `None` if
/// there are more than `most`.
pub fn corners(within: &IntegerBox, most: usize) -> Option<Vec<Distribution>> {
    let (lower, upper) = (within.lower(), within.upper());
    let size = lower.len();
    if size > 12 {
        return None;
    }
    let mut found: Vec<Vec<u64>> = Vec::new();
    for free in 0..size {
        for choice in 0..1usize << (size - 1) {
            let end = |x: usize| {
                let bit = if x > free { x - 1 } else { x };
                if choice >> bit & 1 == 1 { upper[x] } else { lower[x] }
            };
            let others: u64 = (0..size).filter(|&x| x != free).map(end).sum();
            let Some(left) = WEIGHT_ONE.checked_sub(others) else { continue };
            if (lower[free]..=upper[free]).contains(&left) {
                let corner: Vec<u64> =
                    (0..size).map(|x| if x == free { left } else { end(x) }).collect();
                if !found.contains(&corner) {
                    found.push(corner);
                    if found.len() > most {
                        return None;
                    }
                }
            }
        }
    }
    let floats = |corner: Vec<u64>| {
        let p = corner.into_iter().map(|w| w as f64 / WEIGHT_ONE as f64).collect();
        Distribution::new("a corner of the box", p).ok()
    };
    found.into_iter().map(floats).collect()
}

fn each(priors: &[Distribution]) -> Result<(Vec<undertone_core::Prior>, u64), Error> {
    let mut moved = 0;
    let round = |prior: &Distribution| {
        let rounded = quantize::prior(prior)?;
        moved = moved.max(rounded.moved);
        Ok::<_, Error>(rounded.prior)
    };
    let rounded = priors.iter().map(round).collect::<Result<Vec<_>, _>>()?;
    Ok((rounded, moved))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use undertone_core::Epsilon;

    fn within(lower: Vec<f64>, upper: Vec<f64>) -> Knowledge {
        Knowledge::Within(PriorBox::new(lower, upper).unwrap())
    }

    #[test]
    fn a_box_is_rounded_outward_and_its_middle_is_a_prior() {
        let third = vec![0.1, 1.0 / 3.0, 0.3];
        let knowledge = within(third.clone(), vec![0.3, 0.4, 0.6]);
        let Context::Within(within) = knowledge.context().unwrap().context else { panic!() };
        assert!(within.lower()[1] as f64 <= third[1] * WEIGHT_ONE as f64);
        let middle = knowledge.typical_prior().unwrap().unwrap();
        assert!((middle.as_slice().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(middle[1] > third[1]);
    }

    #[test]
    fn an_empty_box_is_refused() {
        let refused = PriorBox::new(vec![0.6, 0.6], vec![0.7, 0.7]).unwrap_err();
        assert!(refused.to_string().contains("the sum of the lower limits is 1.2"), "{refused}");
        // Within float error of a prior, and none once rounded outward.
        let knowledge = within(vec![0.5, 0.5], vec![0.5, 0.5]);
        assert!(knowledge.context().is_ok());
    }

    #[test]
    fn several_priors_are_taken_symbol_by_symbol() {
        let law = |names: &str, p: Vec<f64>| {
            let symbols = Symbols::names(names.split(' ').map(String::from).collect()).unwrap();
            Distribution::new("p", p).unwrap().over(&symbols).unwrap()
        };
        let both = |second| Knowledge::Each(vec![law("a b c", vec![0.8, 0.1, 0.1]), second]);
        let turned = both(law("c b a", vec![0.5, 0.3, 0.2]));
        let plain = both(law("a b c", vec![0.2, 0.3, 0.5]));
        assert_eq!(turned.context().unwrap().context, plain.context().unwrap().context);
        assert_eq!(turned.typical_prior().unwrap(), plain.typical_prior().unwrap());
        for odd in [law("a b d", vec![0.2, 0.3, 0.5]), law("a b", vec![0.5, 0.5])] {
            assert!(both(odd.clone()).context().is_err());
            assert!(both(odd).typical_prior().is_err());
        }
        let lengths = Knowledge::Each(vec![Distribution::uniform(3), Distribution::uniform(2)]);
        assert!(matches!(lengths.typical_prior(), Err(Error::Size { .. })));
        assert!(matches!(lengths.context(), Err(Error::Size { .. })));
    }

    #[test]
    fn with_nothing_known_lip_becomes_ldp() {
        let epsilon = Epsilon::parse("1").unwrap();
        let claim = Knowledge::Nothing.claim(Claim::lip(epsilon));
        assert_eq!(claim.bound, Bound::Ldp(epsilon));
    }

    #[test]
    fn the_corners_of_a_box() {
        let knowledge = within(vec![0.1; 3], vec![0.6, 0.6, 0.6]);
        let Context::Within(within) = knowledge.context().unwrap().context else { panic!() };
        // Three ways to put .6 on one symbol, times two for who gets the lower end beside .3.
        let found = corners(&within, 64).unwrap();
        assert_eq!(found.len(), 6);
        for corner in &found {
            let inside = |p: &f64| *p > 0.1 - 1e-6 && *p < 0.6 + 1e-6;
            assert!(corner.as_slice().iter().all(inside));
        }
        assert!(corners(&within, 5).is_none());
    }
}
