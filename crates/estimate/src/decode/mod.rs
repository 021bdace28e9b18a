//! From counts back to shares, linearly.
//!
//! A linear statistic is a score for every output, added up over the reports. Its mean given the
//! respondent's symbol and its variance are known exactly from the policy's integers, so it is
//! unbiased whatever the truth, and its spread covers sampling and perturbation without a model of
//! either.

mod bounding;
mod dense;
mod keep;
mod pivot;
mod shares;
pub(crate) mod spread;
mod structured;

pub(crate) use dense::Dense;
pub(crate) use spread::Spread;
pub(crate) use structured::Structured;

use crate::channel::Channel;
use crate::interval::Limits;
use crate::pool::Group;
use crate::{Error, Identification, Settings, Target};
use undertone_numeric::vector::long_dot;

/// How shares are read off the counts of a pool.
#[derive(Debug)]
pub(crate) enum Decoder {
    /// Closed forms, O(k) for each policy; policies are weighed by their precision.
    Structured(Structured),
    /// Weighted least squares over all outputs at once, by QR.
    Dense(Box<Dense>),
}

/// What the statistic of one symbol says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The unbiased share; where nothing determines it, what the anchor makes of the rest.
    pub(crate) value: f64,
    /// Its variance as a function of the true share; `None` where nothing determines it.
    pub(crate) spread: Option<Spread>,
}

impl Decoder {
    /// Statistics that are best if the population is `anchor`, and unbiased for any, as long as the
    /// anchor does not come from the same reports.
    pub(crate) fn new(groups: &[Group], anchor: &[f64]) -> Result<Self, Error> {
        if groups.iter().any(|group| matches!(group.channel, Channel::Table(_))) {
            Ok(Self::Dense(Box::new(Dense::new(groups, anchor)?)))
        } else {
            Ok(Self::Structured(Structured::new(groups, anchor)))
        }
    }

    /// Whether the statistics come from a system that was solved numerically.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self, Self::Dense(_))
    }

    /// Whether the share of any set of symbols is read off a binomial count.
    pub(crate) fn has_coins(&self, groups: &[Group]) -> bool {
        matches!(groups, [Group { channel: Channel::Keep(keep), .. }] if keep.constant().is_some())
    }

    /// Whether another anchor would give other statistics.
    pub(crate) fn depends_on_anchor(&self, groups: &[Group]) -> bool {
        match self {
            Self::Structured(_) => groups.len() > 1,
            Self::Dense(dense) => {
                let outputs: usize = groups.iter().map(|group| group.channel.outputs()).sum();
                outputs > dense.identification().rank
            }
        }
    }

    pub(crate) fn identification(&self) -> Identification {
        match self {
            Self::Structured(structured) => structured.identification(),
            Self::Dense(dense) => dense.identification().clone(),
        }
    }

    /// The unbiased share of every symbol.
    pub(crate) fn values(&self, groups: &[Group]) -> Vec<f64> {
        match self {
            Self::Structured(structured) => structured.values(groups),
            Self::Dense(dense) => dense.values(groups),
        }
    }

    /// The shares with their spreads, the other symbols' shares being as in `p`.
    pub(crate) fn readings(&self, groups: &[Group], p: &[f64], target: Target) -> Vec<Reading> {
        let p = soften(p);
        let spreads = match self {
            Self::Structured(structured) => structured.spreads(&p, target),
            Self::Dense(dense) => dense.spreads(groups, &p, target),
        };
        let readings = self.values(groups).into_iter().zip(spreads);
        readings.map(|(value, spread)| Reading { value, spread }).collect()
    }

    /// The statistic of Σ a(x) share(x); `None` where the reports do not determine it.
    pub(crate) fn functional(&self, a: &[f64]) -> Option<Score> {
        match self {
            Self::Structured(structured) => structured.functional(a),
            Self::Dense(dense) => dense.functional(a),
        }
    }

    /// The statistic of one symbol's share.
    pub(crate) fn share_score(&self, x: usize) -> Option<Score> {
        match self {
            Self::Structured(structured) => structured.share_score(x),
            Self::Dense(dense) => dense.share_score(x),
        }
    }

    /// Scores whose mean is at most, and scores whose mean is at least, Σ a(x) share(x) for every population; `z` is
    /// how many standard errors an end will be away from them. `None` where nothing is known of the number.
    pub(crate) fn bounds(
        &self,
        groups: &[Group],
        a: &[f64],
        z: f64,
        target: Target,
    ) -> Option<(Score, Score)> {
        match self {
            Self::Structured(structured) => {
                structured.functional(a).map(|score| (score.clone(), score))
            }
            Self::Dense(dense) => dense.bounds(groups, a, z, target),
        }
    }

    /// The limits of every share.
    pub(crate) fn share_limits(&self, groups: &[Group], settings: Settings) -> Vec<Limits> {
        match self {
            Self::Structured(structured) => structured.share_limits(groups, settings),
            Self::Dense(dense) => dense.share_limits(groups, settings),
        }
    }

    /// A bound for the probability of what was seen of each symbol, or more, if its share in the population is at
    /// most `threshold`; `z` as in [`Decoder::bounds`].
    pub(crate) fn share_tails(&self, groups: &[Group], threshold: f64, z: f64) -> Vec<f64> {
        match self {
            Self::Structured(structured) => structured.share_tails(groups, threshold),
            Self::Dense(dense) => dense.share_tails(groups, threshold, z),
        }
    }

    /// How far one report can move the share of each symbol; the worst policy counts.
    pub(crate) fn reach(&self, groups: &[Group]) -> Vec<f64> {
        match self {
            Self::Structured(structured) => structured.reach(),
            Self::Dense(dense) => dense.reach(groups),
        }
    }
}

/// A linear statistic: an offset, and a weight for every output of every group.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub(crate) offset: f64,
    pub(crate) weights: Vec<Vec<f64>>,
}

impl Score {
    pub(crate) fn value(&self, groups: &[Group]) -> f64 {
        let sums = groups.iter().zip(&self.weights).map(|(group, weights)| total(group, weights));
        self.offset + sums.sum::<f64>()
    }

    /// The exact variance, if the population is `p`, of its distance from the mean of `values` over
    /// the target. For respondents their own values are taken off, each with its share of all: what
    /// groups of different precision are weighed by is not how many they are.
    pub(crate) fn variance(
        &self,
        groups: &[Group],
        values: &[f64],
        p: &[f64],
        target: Target,
    ) -> f64 {
        let all: f64 = groups.iter().map(Group::reports).sum();
        let each = groups.iter().zip(&self.weights).map(|(group, weights)| {
            let (mut means, variances) = group.channel.moments(weights);
            if target == Target::Respondents {
                means.iter_mut().zip(values).for_each(|(mean, value)| *mean -= value / all);
            }
            group.reports() * (long_dot(p, &variances) + spread_of(p, &means))
        });
        each.sum()
    }
}

/// Σ_y weight(y) count(y).
fn total(group: &Group, weights: &[f64]) -> f64 {
    weights.iter().zip(group.tally.counts()).map(|(w, &count)| w * count as f64).sum()
}

/// The variance of a function of the symbol.
fn spread_of(p: &[f64], values: &[f64]) -> f64 {
    let mean = long_dot(p, values);
    p.iter().zip(values).map(|(p, value)| p * (value - mean) * (value - mean)).sum()
}

/// The population with a millionth of the uniform one mixed in, so that every symbol has others.
fn soften(p: &[f64]) -> Vec<f64> {
    let part = 1e-6;
    let uniform = part / p.len() as f64;
    p.iter().map(|p| (1.0 - part) * p + uniform).collect()
}

/// The mean over the other symbols, from the mean over all and the one given a symbol with a share. A
/// symbol without others stands for them.
fn others(all: f64, own: f64, share: f64) -> f64 {
    if share < 1.0 { (all - share * own) / (1.0 - share) } else { own }
}

/// The variance, per report, of a score minus what the target itself has of it, as a function of a
/// symbol's share. `own` is the score's mean and mean square given the symbol, `other` over all other
/// symbols; `taken` is what the target takes off given the symbol: nothing for a population, whose
/// share is a constant, and the respondent's own part of the respondents' share.
fn curve(own: (f64, f64), other: (f64, f64), taken: f64) -> Spread {
    let (mean, square) = (own.0 - taken, own.1 - own.0 * own.0 + (own.0 - taken).powi(2));
    let gap = mean - other.0;
    Spread {
        constant: other.1 - other.0 * other.0,
        linear: square - other.1 - 2.0 * other.0 * gap,
        square: -gap * gap,
    }
}
