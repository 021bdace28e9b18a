//! Policies whose inverses have closed forms, weighed by their precision.

use crate::channel::Channel;
use crate::decode::keep::KeepInverse;
use crate::decode::spread::Spread;
use crate::decode::{Score, curve};
use crate::pool::Group;
use crate::{Identification, Target};
use undertone_numeric::symmetric::largest_eigenvalue;
use undertone_numeric::vector::long_dot;

/// One inverse per group. For every question, groups are weighed by the inverse of the variance
/// their answer would have if the population were the anchor.
#[derive(Debug)]
pub(crate) struct Structured {
    pub(super) anchor: Vec<f64>,
    pub(super) parts: Vec<Part>,
    /// For every group, the weight of its answer about each symbol; 0 where it has none.
    pub(super) weights: Vec<Vec<f64>>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) channel: Channel,
    pub(super) reports: f64,
    pub(super) inverse: PartInverse,
    /// The one λ of a `Keep` that has only one.
    pub(super) kept: Option<f64>,
}

#[derive(Debug)]
pub(super) enum PartInverse {
    Keep(KeepInverse),
    /// (set/n - other)/gap.
    Bits {
        own: f64,
        other: f64,
    },
    /// Nothing can be read off: both probabilities of `Bits` are the same.
    Silent,
}

impl Part {
    fn new(group: &Group) -> Self {
        let inverse = match &group.channel {
            Channel::Keep(keep) => PartInverse::Keep(KeepInverse::new(keep)),
            Channel::Bits(bits) if bits.gap() != 0.0 => {
                PartInverse::Bits { own: bits.own, other: bits.other }
            }
            Channel::Bits(_) | Channel::Table(_) => PartInverse::Silent,
        };
        let kept = match &group.channel {
            Channel::Keep(keep) => keep.constant(),
            Channel::Bits(_) | Channel::Table(_) => None,
        };
        Self { channel: group.channel.clone(), reports: group.reports(), inverse, kept }
    }

    pub(super) fn determines(&self, x: usize) -> bool {
        match &self.inverse {
            PartInverse::Keep(keep) => keep.determines(x),
            PartInverse::Bits { .. } => true,
            PartInverse::Silent => false,
        }
    }

    pub(super) fn shares(&self, law: &[f64]) -> Vec<Option<f64>> {
        match &self.inverse {
            PartInverse::Keep(keep) => keep.shares(law),
            PartInverse::Bits { own, other } => {
                law.iter().map(|law| Some((law - other) / (own - other))).collect()
            }
            PartInverse::Silent => vec![None; law.len()],
        }
    }

    /// For the statistic of every symbol it determines, the mean square given the symbol and given
    /// another one.
    fn squares(&self, p: &[f64]) -> Vec<Option<(f64, f64)>> {
        match &self.inverse {
            PartInverse::Keep(keep) => keep.squares(&self.channel.forward(p), p),
            PartInverse::Bits { own, other } => {
                let gap2 = (own - other) * (own - other);
                let squares = (own * (1.0 - own) / gap2 + 1.0, other * (1.0 - other) / gap2);
                vec![Some(squares); p.len()]
            }
            PartInverse::Silent => vec![None; p.len()],
        }
    }

    /// An offset and weights per report whose mean is Σ a(x) p(x).
    fn functional(&self, a: &[f64]) -> Option<(f64, Vec<f64>)> {
        match &self.inverse {
            PartInverse::Keep(keep) => keep.functional(a).map(|weights| (0.0, weights)),
            PartInverse::Bits { own, other } => {
                // Σ a (set - other)/gap; what is common to all symbols needs no bits.
                let common = a.iter().sum::<f64>() / a.len() as f64;
                let weights: Vec<f64> = a.iter().map(|a| (a - common) / (own - other)).collect();
                let offset = common - other * weights.iter().sum::<f64>();
                Some((offset, weights))
            }
            PartInverse::Silent => {
                let common = a.first().copied().unwrap_or(0.0);
                a.iter().all(|&a| a == common).then(|| (common, vec![0.0; a.len()]))
            }
        }
    }

    fn ranges(&self) -> Vec<f64> {
        match &self.inverse {
            PartInverse::Keep(keep) => keep.ranges(),
            PartInverse::Bits { own, other } => {
                vec![1.0 / (own - other).abs(); self.channel.inputs()]
            }
            PartInverse::Silent => vec![0.0; self.channel.inputs()],
        }
    }

    fn variance(&self, weights: &[f64], p: &[f64]) -> f64 {
        let (means, variances) = self.channel.moments(weights);
        long_dot(p, &variances) + super::spread_of(p, &means)
    }

    /// The condition number of the channel, by power iteration on it and on its inverse.
    fn condition(&self) -> f64 {
        match &self.inverse {
            PartInverse::Bits { .. } => 1.0,
            PartInverse::Silent => 1.0,
            PartInverse::Keep(keep) => {
                let size = self.channel.inputs();
                let start: Vec<f64> =
                    (0..size).map(|i| 1.0 + 0.5 * (i as f64 * 0.7).sin()).collect();
                let grow = |v: &[f64]| self.channel.back(&self.channel.forward(v));
                let shrink = |v: &[f64]| {
                    let Some(scores) = keep.functional(v) else { return vec![0.0; size] };
                    keep.shares(&scores).into_iter().map(|share| share.unwrap_or(0.0)).collect()
                };
                (largest_eigenvalue(&start, grow) * largest_eigenvalue(&start, shrink))
                    .sqrt()
                    .max(1.0)
            }
        }
    }
}

impl Structured {
    pub(super) fn new(groups: &[Group], anchor: &[f64]) -> Self {
        let parts: Vec<Part> = groups.iter().map(Part::new).collect();
        let anchor = super::soften(anchor);
        let mut weights: Vec<Vec<f64>> = parts
            .iter()
            .map(|part| {
                let precision = |(squares, p): (Option<(f64, f64)>, &f64)| {
                    squares.map_or(0.0, |(own, other)| {
                        let spread = curve((1.0, own), (0.0, other), 0.0);
                        part.reports / spread.at(*p).max(1e-30)
                    })
                };
                part.squares(&anchor).into_iter().zip(&anchor).map(precision).collect()
            })
            .collect();
        for x in 0..anchor.len() {
            let total: f64 = weights.iter().map(|weights| weights[x]).sum();
            if total > 0.0 {
                weights.iter_mut().for_each(|weights| weights[x] /= total);
            }
        }
        Self { anchor, parts, weights }
    }

    pub(super) fn determines(&self, x: usize) -> bool {
        self.parts.iter().any(|part| part.determines(x))
    }

    pub(super) fn identification(&self) -> Identification {
        let symbols = self.anchor.len();
        let unidentified: Vec<usize> = (0..symbols).filter(|&x| !self.determines(x)).collect();
        let rank = self.parts.iter().map(|part| match &part.inverse {
            PartInverse::Keep(keep) => keep.rank(),
            PartInverse::Bits { .. } => symbols,
            PartInverse::Silent => 1,
        });
        let combinations = match (&self.parts[..], unidentified.is_empty()) {
            ([part], false) => match &part.inverse {
                PartInverse::Keep(keep) => keep.combinations(Identification::MOST_COMBINATIONS),
                _ => Identification::swaps(&unidentified),
            },
            (_, false) => Identification::swaps(&unidentified),
            (_, true) => Vec::new(),
        };
        Identification {
            rank: rank.max().unwrap_or(0),
            symbols,
            condition: self.parts.iter().map(Part::condition).fold(f64::INFINITY, f64::min),
            unidentified,
            combinations,
        }
    }

    pub(super) fn values(&self, groups: &[Group]) -> Vec<f64> {
        let mut values = vec![0.0; self.anchor.len()];
        for ((part, weights), group) in self.parts.iter().zip(&self.weights).zip(groups) {
            let shares = part.shares(&group.law());
            for ((value, share), weight) in values.iter_mut().zip(shares).zip(weights) {
                *value += weight * share.unwrap_or(0.0);
            }
        }
        // What nobody determines shares the rest as the anchor has it.
        let open: Vec<usize> = (0..values.len()).filter(|&x| !self.determines(x)).collect();
        let rest = 1.0 - values.iter().sum::<f64>();
        let total: f64 = open.iter().map(|&x| self.anchor[x]).sum();
        for x in open {
            values[x] = rest * self.anchor[x] / total;
        }
        values
    }

    pub(super) fn spreads(&self, p: &[f64], target: Target) -> Vec<Option<Spread>> {
        let all: f64 = self.parts.iter().map(|part| part.reports).sum();
        let mut sums = vec![None; p.len()];
        for (part, weights) in self.parts.iter().zip(&self.weights) {
            for (x, squares) in part.squares(p).into_iter().enumerate() {
                // The score per report, and its square.
                let score = weights[x] / part.reports;
                let taken = if target == Target::Respondents { 1.0 / all } else { 0.0 };
                let (own, other) = squares.unwrap_or((0.0, 0.0));
                let own = (score, own * score * score);
                let spread = curve(own, (0.0, other * score * score), taken);
                if self.determines(x) {
                    sums[x].get_or_insert_with(Spread::default).add(spread.scaled(part.reports));
                }
            }
        }
        sums
    }

    pub(super) fn share_score(&self, x: usize) -> Option<Score> {
        if !self.determines(x) {
            return None;
        }
        let mut score = Score { offset: 0.0, weights: Vec::new() };
        let mut unit = vec![0.0; self.anchor.len()];
        unit[x] = 1.0;
        for (part, weights) in self.parts.iter().zip(&self.weights) {
            let share = weights[x] / part.reports;
            let per_report = match &part.inverse {
                PartInverse::Keep(keep) => keep.functional(&unit),
                PartInverse::Bits { own, other } => {
                    score.offset -= weights[x] * other / (own - other);
                    Some(unit.iter().map(|u| u / (own - other)).collect())
                }
                PartInverse::Silent => None,
            };
            let per_report = per_report.unwrap_or_else(|| vec![0.0; unit.len()]);
            score.weights.push(per_report.iter().map(|w| w * share).collect());
        }
        Some(score)
    }

    pub(super) fn functional(&self, a: &[f64]) -> Option<Score> {
        let answers: Vec<Option<(f64, Vec<f64>)>> =
            self.parts.iter().map(|part| part.functional(a)).collect();
        let precision = |(part, answer): (&Part, &Option<(f64, Vec<f64>)>)| {
            answer.as_ref().map_or(0.0, |(_, weights)| {
                part.reports / part.variance(weights, &self.anchor).max(1e-30)
            })
        };
        let precisions: Vec<f64> = self.parts.iter().zip(&answers).map(precision).collect();
        let total: f64 = precisions.iter().sum();
        if !(total > 0.0) {
            return None;
        }
        let mut score = Score { offset: 0.0, weights: Vec::new() };
        for ((part, answer), precision) in self.parts.iter().zip(answers).zip(precisions) {
            let share = precision / total;
            let (offset, weights) = answer.unwrap_or((0.0, vec![0.0; a.len()]));
            score.offset += share * offset;
            score.weights.push(weights.iter().map(|w| w * share / part.reports).collect());
        }
        Some(score)
    }

    pub(super) fn reach(&self) -> Vec<f64> {
        let mut reach = vec![0.0f64; self.anchor.len()];
        for (part, weights) in self.parts.iter().zip(&self.weights) {
            for ((reach, range), weight) in reach.iter_mut().zip(part.ranges()).zip(weights) {
                *reach = reach.max(range * weight / part.reports);
            }
        }
        reach
    }
}
