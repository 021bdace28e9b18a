//! What is assumed about the data before anything is released.

use crate::mass::{Prior, WEIGHT_ONE};
use crate::wide::Wide;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The context a policy was designed for. It is part of the policy's identity, because a wrong
/// prior is the one thing no checker can see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Context {
    /// Nothing is assumed; only LDP can be claimed.
    Unknown,
    /// One prior is believed.
    Known(Prior),
    /// Any of several priors; claims hold for each.
    Each(Priors),
    /// Any prior in a box; claims hold for all of them.
    Within(PriorBox),
    /// A secret S behind the data: P(s) and P(x|s). The prior of X follows and is not stored.
    Secret(Secret),
}

/// At least one prior, all over the same alphabet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Priors(Box<[Prior]>);

/// All priors with `lower(x) <= P(x) <= upper(x)`; at least one exists. Units of 2^-32, the lower
/// ends rounded down and the upper ends rounded up by whoever made them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriorBox {
    lower: Box<[u64]>,
    upper: Box<[u64]>,
    /// How much of 2^32 is left above the lower ends.
    slack: u64,
    /// The sum of the upper ends.
    reach: u128,
}

/// A secret with a name, its prior P(s), and one row P(x|s) for each of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secret {
    name: String,
    prior: Prior,
    rows: Box<[Prior]>,
}

/// Why a context was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// An empty list of priors.
    #[error("the list of priors is empty: give at least one")]
    NoPriors,
    /// Lists over different alphabets.
    #[error("{what} has {found} entries where {expected} are needed")]
    Sizes {
        /// The part that does not fit.
        what: &'static str,
        /// The number of entries needed.
        expected: usize,
        /// The number of entries found.
        found: usize,
    },
    /// A lower end above its upper end.
    #[error("the prior box is reversed at symbol {at}: lower {lower} is above upper {upper}")]
    Reversed {
        /// The index of the symbol.
        at: usize,
        /// The symbol's lower end, in units of 2^-32.
        lower: u64,
        /// The symbol's upper end, in units of 2^-32.
        upper: u64,
    },
    /// No distribution lies in the box.
    #[error(
        "no prior lies in the box: its lower ends sum to {lower} and its upper ends to {upper}, and {WEIGHT_ONE} must lie between"
    )]
    EmptyBox {
        /// The sum of the lower ends, in units of 2^-32.
        lower: u128,
        /// The sum of the upper ends, in units of 2^-32.
        upper: u128,
    },
    /// The secret's name is empty or longer than 200 bytes.
    #[error("the secret's name must have 1 to 200 bytes")]
    Name,
}

fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), ContextError> {
    let fits = expected == found;
    if fits { Ok(()) } else { Err(ContextError::Sizes { what, expected, found }) }
}

impl Priors {
    /// Checks that there is at least one prior and that all have one alphabet.
    pub fn new(priors: Vec<Prior>) -> Result<Self, ContextError> {
        let expected = priors.first().ok_or(ContextError::NoPriors)?.len();
        priors.iter().try_for_each(|prior| check_size("a prior", expected, prior.len()))?;
        Ok(Self(priors.into()))
    }

    /// The priors in their order.
    pub fn as_slice(&self) -> &[Prior] {
        &self.0
    }
}

impl PriorBox {
    /// Checks that the ends are in order and that a distribution lies between them. Upper ends
    /// above one are cut to one.
    pub fn new(lower: Vec<u64>, mut upper: Vec<u64>) -> Result<Self, ContextError> {
        if lower.is_empty() {
            return Err(ContextError::NoPriors);
        }
        check_size("the upper end of the prior box", lower.len(), upper.len())?;
        for (at, (&lower, upper)) in lower.iter().zip(&mut upper).enumerate() {
            *upper = (*upper).min(WEIGHT_ONE);
            if lower > *upper {
                return Err(ContextError::Reversed { at, lower, upper: *upper });
            }
        }
        let sum = |ends: &[u64]| ends.iter().map(|&e| u128::from(e)).sum::<u128>();
        let (low, high, one) = (sum(&lower), sum(&upper), u128::from(WEIGHT_ONE));
        if low > one || high < one {
            return Err(ContextError::EmptyBox { lower: low, upper: high });
        }
        let slack = (one - low) as u64;
        Ok(Self { lower: lower.into(), upper: upper.into(), slack, reach: high })
    }

    /// The lower end of every symbol, in units of 2^-32.
    pub fn lower(&self) -> &[u64] {
        &self.lower
    }

    /// The upper end of every symbol, in units of 2^-32.
    pub fn upper(&self) -> &[u64] {
        &self.upper
    }

    /// How much of 2^32 is left to distribute above the lower ends.
    pub(crate) fn slack(&self) -> u64 {
        self.slack
    }

    /// The least and the greatest Σ_x P(x) entries(x) over the box. Linear in the prior, so the worst prior
    /// fills the box greedily, the smallest (or largest) entries first.
    pub(crate) fn range(&self, entries: Vec<Wide>) -> (Wide, Wide) {
        let mut order: Vec<(Wide, usize)> = entries.into_iter().zip(0..).collect();
        order.sort_unstable();
        let base = order
            .iter()
            .fold(Wide::ZERO, |sum, &(entry, x)| sum + Wide::from(self.lower[x]) * entry);
        let fill = |first_to_fill: &mut dyn Iterator<Item = &(Wide, usize)>| {
            let (mut left, mut sum) = (self.slack, base);
            for &(entry, x) in first_to_fill {
                let taken = left.min(self.upper[x] - self.lower[x]);
                sum += Wide::from(taken) * entry;
                left -= taken;
                if left == 0 {
                    break;
                }
            }
            sum
        };
        (fill(&mut order.iter()), fill(&mut order.iter().rev()))
    }

    /// The smallest weight a prior of the box can give to `x`.
    pub(crate) fn least(&self, x: usize) -> u64 {
        let others = self.reach - u128::from(self.upper[x]);
        let forced = u128::from(WEIGHT_ONE).saturating_sub(others) as u64;
        self.lower[x].max(forced)
    }
}

impl Secret {
    /// Checks that there is one row for each value of the secret, all over one alphabet.
    pub fn new(name: String, prior: Prior, rows: Vec<Prior>) -> Result<Self, ContextError> {
        if name.is_empty() || name.len() > 200 {
            return Err(ContextError::Name);
        }
        check_size("the list of rows P(x|s)", prior.len(), rows.len())?;
        let expected = rows.first().ok_or(ContextError::NoPriors)?.len();
        rows.iter().try_for_each(|row| check_size("a row P(x|s)", expected, row.len()))?;
        Ok(Self { name, prior, rows: rows.into() })
    }

    /// The secret's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The secret's prior P(s).
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The data's laws P(x|s), one row per value of the secret.
    pub fn rows(&self) -> &[Prior] {
        &self.rows
    }
}

impl Context {
    /// This context with its symbols in another order: symbol i is symbol `order[i]` of this one.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let pick = |ends: &[u64]| order.iter().map(|&x| ends[x]).collect::<Box<[u64]>>();
        let reorder = |prior: &Prior| prior.reordered(order);
        match self {
            Self::Unknown => Self::Unknown,
            Self::Known(prior) => Self::Known(reorder(prior)),
            Self::Each(priors) => Self::Each(Priors(priors.0.iter().map(reorder).collect())),
            Self::Within(within) => Self::Within(PriorBox {
                lower: pick(&within.lower),
                upper: pick(&within.upper),
                ..*within
            }),
            Self::Secret(secret) => Self::Secret(Secret {
                name: secret.name.clone(),
                prior: secret.prior.clone(),
                rows: secret.rows.iter().map(reorder).collect(),
            }),
        }
    }

    /// The size of the data's alphabet, where the context fixes it.
    pub fn inputs(&self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Known(prior) => Some(prior.len()),
            Self::Each(priors) => Some(priors.0[0].len()),
            Self::Within(prior_box) => Some(prior_box.lower.len()),
            Self::Secret(secret) => Some(secret.rows[0].len()),
        }
    }
}
