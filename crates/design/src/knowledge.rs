//! What is known about the data, in floats, and as the integers of a policy's context.

use undertone_core::{Bound, Claim, Context, PriorBox, Priors, Secret, Subject, WEIGHT_ONE};

use crate::quantize::{self, RoundedPrior};
use crate::{Distribution, Error, Joint};

/// What a designer is told about the data.
#[derive(Debug, Clone, PartialEq)]
pub enum Knowledge {
    /// Nothing: every promise must hold for any prior.
    Nothing,
    /// One prior.
    Known(Distribution),
    /// Several priors, under each of which every promise must hold.
    Each(Vec<Distribution>),
    /// Any prior between two lists of probabilities.
    Within {
        /// At least these.
        lower: Vec<f64>,
        /// At most these.
        upper: Vec<f64>,
    },
    /// A secret behind the data, with its name.
    Secret(String, Joint),
}

/// A context in integers, and how far rounding moved its priors.
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
                let (priors, moved) = each(priors)?;
                (Context::Each(Priors::new(priors).map_err(refused("priors"))?), moved)
            }
            Self::Within { lower, upper } => {
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
                let lower = end("the prior's lower end", lower, f64::floor)?;
                let upper = end("the prior's upper end", upper, f64::ceil)?;
                (Context::Within(PriorBox::new(lower, upper).map_err(refused("prior box"))?), 0)
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

    /// How many symbols the data has, where that is known.
    pub fn symbols(&self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Known(prior) => Some(prior.len()),
            Self::Each(priors) => priors.first().map(Distribution::len),
            Self::Within { lower, .. } => Some(lower.len()),
            Self::Secret(_, joint) => Some(joint.given_secret().outputs()),
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
                let mean = |x: usize| priors.iter().map(|p| p[x]).sum::<f64>();
                Distribution::normalised("priors", (0..first.len()).map(mean).collect()).map(Some)
            }
            Self::Within { lower, upper } => {
                let (low, high): (f64, f64) = (lower.iter().sum(), upper.iter().sum());
                let share = if high > low { (1.0 - low) / (high - low) } else { 0.0 };
                let point = lower.iter().zip(upper).map(|(l, u)| l + share * (u - l));
                Distribution::new("the box's middle", point.collect()).map(Some)
            }
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
pub fn corners(within: &PriorBox, most: usize) -> Option<Vec<Distribution>> {
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

    #[test]
    fn a_box_is_rounded_outward_and_its_middle_is_a_prior() {
        let third = vec![0.1, 1.0 / 3.0, 0.3];
        let upper = vec![0.3, 0.4, 0.6];
        let knowledge = Knowledge::Within { lower: third.clone(), upper };
        let Context::Within(within) = knowledge.context().unwrap().context else { panic!() };
        assert!(within.lower()[1] as f64 <= third[1] * WEIGHT_ONE as f64);
        let middle = knowledge.typical_prior().unwrap().unwrap();
        assert!((middle.as_slice().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(middle[1] > third[1]);
    }

    #[test]
    fn an_empty_box_is_refused() {
        let knowledge = Knowledge::Within { lower: vec![0.6, 0.6], upper: vec![0.7, 0.7] };
        assert!(knowledge.context().unwrap_err().to_string().contains("no prior lies in the box"));
    }

    #[test]
    fn with_nothing_known_lip_becomes_ldp() {
        let epsilon = Epsilon::parse("1").unwrap();
        let claim = Knowledge::Nothing.claim(Claim::lip(epsilon));
        assert_eq!(claim.bound, Bound::Ldp(epsilon));
    }

    #[test]
    fn the_corners_of_a_box() {
        let knowledge = Knowledge::Within { lower: vec![0.1; 3], upper: vec![0.6, 0.6, 0.6] };
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
