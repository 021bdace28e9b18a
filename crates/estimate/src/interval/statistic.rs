//! The mean of a linear statistic: which values its reports do not refuse.

use crate::Target;
use crate::channel::Channel;
use crate::decode::Score;
use crate::interval::{IntervalMethod, Law, Problem};
use crate::pool::Group;
use undertone_numeric::binomial::{binomial_at_least, binomial_lower_limit};

/// Above this many cells the law of a score given every symbol is bounded by its first two moments.
const MOST_CELLS: usize = 1 << 14;

/// Above so many blocks, or symbols of a subset, sums of bits that go together have a wider bound instead of exact tilts.
const MOST_TERMS: usize = 1 << 15;

/// A score with two values: how often it was the greater one.
struct Coin {
    hits: u64,
    reports: u64,
    /// The statistic's mean is `start` + `slope` times the probability of a hit, give or take `slack`.
    start: f64,
    slope: f64,
    slack: f64,
}

impl Score {
    /// The statistic's mean if everybody had a symbol, for every symbol.
    pub(crate) fn means(&self, groups: &[Group]) -> Vec<f64> {
        let symbols = groups.first().map_or(0, |group| group.channel.inputs());
        let mut means = vec![self.offset; symbols];
        for (group, weights) in groups.iter().zip(&self.weights) {
            let back = group.channel.back(weights);
            means.iter_mut().zip(back).for_each(|(mean, back)| *mean += group.reports() * back);
        }
        means
    }

    /// The least mean that is not refused for being too small: smaller ones give what was seen, or more, with
    /// probability at most `tail`.
    pub(crate) fn least_mean(
        &self,
        groups: &[Group],
        target: Target,
        tail: f64,
    ) -> (f64, IntervalMethod) {
        if let Some(coin) = self.coin(groups, target) {
            let chance = binomial_lower_limit(coin.hits, coin.reports, tail);
            let mean = coin.start + coin.slope * chance - coin.slack;
            return (mean, IntervalMethod::ClopperPearson);
        }
        (self.problem(groups, target).least_mean(tail), IntervalMethod::Chernoff)
    }

    /// The greatest mean that is not refused for being too large.
    pub(crate) fn most_mean(
        &self,
        groups: &[Group],
        target: Target,
        tail: f64,
    ) -> (f64, IntervalMethod) {
        let (mean, method) = self.negated().least_mean(groups, target, tail);
        (-mean, method)
    }

    /// A bound for the probability of what was seen, or more, if the mean is at most t.
    pub(crate) fn upper_tail(&self, groups: &[Group], target: Target, t: f64) -> f64 {
        if let Some(coin) = self.coin(groups, target) {
            let room = t + coin.slack - coin.start;
            if !(coin.slope > 0.0) {
                // The statistic is the same whatever is reported.
                return f64::from(u8::from(room >= 0.0));
            }
            let chance = (room / coin.slope).clamp(0.0, 1.0);
            return binomial_at_least(coin.reports, chance, 1.0 - chance, coin.hits);
        }
        self.problem(groups, target).upper_tail(t)
    }

    pub(crate) fn negated(&self) -> Self {
        let negative = |weights: &Vec<f64>| weights.iter().map(|weight| -weight).collect();
        Self { offset: -self.offset, weights: self.weights.iter().map(negative).collect() }
    }

    /// The count of a score with two values, in a population: respondents who are fixed have different
    /// probabilities each, and their count is not binomial.
    fn coin(&self, groups: &[Group], target: Target) -> Option<Coin> {
        let ([group], [weights]) = (groups, &self.weights[..]) else { return None };
        if target != Target::Population {
            return None;
        }
        let (reports, counts) = (group.tally.reports(), group.tally.counts());
        if matches!(group.channel, Channel::Bits(_)) {
            let mut used = weights.iter().zip(counts).filter(|(weight, _)| **weight != 0.0);
            let (&weight, &set) = used.next()?;
            if used.next().is_some() {
                return None;
            }
            // A bit that counts against: its being clear counts for.
            let (hits, start) = if weight > 0.0 {
                (set, self.offset)
            } else {
                (reports - set, self.offset + reports as f64 * weight)
            };
            let slope = reports as f64 * weight.abs();
            return Some(Coin { hits, reports, start, slope, slack: 0.0 });
        }
        let (least, most) = crate::estimator::bounds(weights);
        let slack = 1e-9 * (most - least);
        let mut hits = 0;
        for (&weight, &count) in weights.iter().zip(counts) {
            if most - weight <= slack {
                hits += count;
            } else if weight - least > slack {
                return None;
            }
        }
        let all = reports as f64;
        let start = self.offset + all * least;
        Some(Coin { hits, reports, start, slope: all * (most - least), slack: all * slack })
    }

    pub(crate) fn problem<'a>(&self, groups: &'a [Group], target: Target) -> Problem<'a> {
        let points = self.means(groups);
        let part =
            |(group, weights): (&'a Group, &Vec<f64>)| (group.reports(), Law::of(group, weights));
        let parts = groups.iter().zip(&self.weights).map(part).collect();
        Problem::new(points, parts, target == Target::Respondents)
    }
}

impl<'a> Law<'a> {
    /// The law of one report's score, centred so that what the group's reports have scored is 0.
    pub(crate) fn of(group: &'a Group, weights: &[f64]) -> Self {
        let seen = group.tally.counts().iter().zip(weights);
        let total: f64 = seen.map(|(&count, weight)| count as f64 * weight).sum();
        let offset = -total / group.reports();
        let channel = &group.channel;
        let large = channel.inputs().saturating_mul(channel.outputs()) > MOST_CELLS;
        let ends = match channel {
            Channel::Table(_) if large => Some(crate::estimator::bounds(weights)),
            Channel::Bits(bits) if bits.terms() > MOST_TERMS => Some(bits.ends(weights)),
            Channel::Table(_) | Channel::Keep(_) | Channel::Bits(_) => None,
        };
        if let Some((least, most)) = ends {
            let (means, variances) = channel.moments(weights);
            let centred = means.iter().map(|mean| mean + offset);
            Self::Bounded {
                ends: (least + offset, most + offset),
                moments: centred.zip(variances).collect(),
            }
        } else {
            Self::Channel { channel, scores: weights.to_vec(), offset }
        }
    }
}
