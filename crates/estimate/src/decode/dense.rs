//! Weighted least squares over the outputs of all groups at once.
//!
//! Row (g, y) of the system says that output y of group g has law Σ_x p(x) w(y|x). Rows are weighed
//! by the variance they would have if the population were the anchor, and the system is solved by
//! QR, without forming its square.

use crate::channel::Channel;
use crate::decode::bounding::{Bounding, shifted};
use crate::decode::keep::range;
use crate::decode::spread::Spread;
use crate::decode::{Score, curve, others};
use crate::interval::Limits;
use crate::pool::Group;
use crate::{Error, Identification, Settings, Target};
use undertone_numeric::normal::normal_quantile;
use undertone_numeric::qr::{PseudoInverse, Qr};
use undertone_numeric::vector::long_dot;

#[derive(Debug)]
pub(crate) struct Dense {
    /// For every symbol, the weights of all outputs of all groups, in order.
    weights: Vec<Vec<f64>>,
    offsets: Vec<f64>,
    /// Where each group's outputs end.
    ends: Vec<usize>,
    inverse: PseudoInverse,
    determined: Vec<bool>,
    identification: Identification,
    /// Scores for ends of intervals; `None` for large systems, which use the unbiased ones.
    bounding: Option<Bounding>,
}

/// The most cells of a system: 64 million, half a gigabyte.
const MOST_CELLS: usize = 1 << 26;

impl Dense {
    pub(super) fn new(groups: &[Group], anchor: &[f64]) -> Result<Self, Error> {
        let symbols = anchor.len();
        let anchor = super::soften(anchor);
        let outputs: usize = groups.iter().map(|group| group.channel.outputs()).sum();
        let cells = outputs.saturating_mul(symbols);
        if cells > MOST_CELLS {
            return Err(Error::TooLarge { what: "the inverse", cells, limit: MOST_CELLS });
        }
        // The weight of every row, and what the response has beside shares (bits of other symbols).
        let mut scales = Vec::with_capacity(outputs);
        let mut ends = Vec::with_capacity(groups.len());
        for group in groups {
            let bits = matches!(group.channel, Channel::Bits(_));
            let scale = |law: f64| {
                let variance = group.reports() * if bits { law * (1.0 - law) } else { law };
                if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 }
            };
            scales.extend(group.channel.forward(&anchor).into_iter().map(scale));
            ends.push(scales.len());
        }
        let column = |x: usize| {
            let mut column = Vec::with_capacity(outputs);
            for group in groups {
                let cells = (0..group.channel.outputs()).map(|y| cell(&group.channel, x, y));
                column.extend(cells.map(|cell| cell * group.reports()));
            }
            column.iter_mut().zip(&scales).for_each(|(cell, scale)| *cell *= scale);
            column
        };
        let columns: Vec<Vec<f64>> = (0..symbols).map(column).collect();
        let expected: Vec<f64> = (0..outputs)
            .map(|row| columns.iter().zip(&anchor).map(|(column, p)| column[row] * p).sum())
            .collect();
        let bounding = Bounding::new(&columns, &scales, &anchor);
        let qr = Qr::new(columns);
        let mut inverse = qr.inverse();
        let mut weights = std::mem::take(&mut inverse.rows);
        let determined: Vec<bool> = (0..symbols)
            .map(|x| {
                let mut unit = vec![0.0; symbols];
                unit[x] = 1.0;
                inverse.determines(&unit)
            })
            .collect();
        // Where several populations fit, the one nearest to the anchor is taken.
        let mut offsets: Vec<f64> = if qr.rank() == symbols {
            vec![0.0; symbols]
        } else {
            let back = weights.iter().map(|row| long_dot(row, &expected));
            back.zip(&anchor).map(|(back, p)| p - back).collect()
        };
        for (row, offset) in weights.iter_mut().zip(&mut offsets) {
            row.iter_mut().zip(&scales).for_each(|(weight, scale)| *weight *= scale);
            for (group, slice) in groups.iter().zip(split(row, &ends)) {
                if let Channel::Bits(bits) = &group.channel {
                    *offset -= group.reports() * bits.other * slice.iter().sum::<f64>();
                }
            }
        }
        let unidentified = (0..symbols).filter(|&x| !determined[x]).collect();
        let shift = |(dependent, combination): (usize, Vec<(usize, f64)>)| {
            let negative = combination.into_iter().map(|(x, amount)| (x, -amount));
            std::iter::once((dependent, 1.0)).chain(negative).collect()
        };
        let dependencies = qr.dependencies().into_iter().take(Identification::MOST_COMBINATIONS);
        let identification = Identification {
            rank: qr.rank(),
            symbols,
            condition: qr.condition(),
            unidentified,
            combinations: dependencies.map(shift).collect(),
        };
        Ok(Self { weights, offsets, ends, inverse, determined, identification, bounding })
    }

    pub(super) fn identification(&self) -> &Identification {
        &self.identification
    }

    pub(super) fn values(&self, groups: &[Group]) -> Vec<f64> {
        let value = |(row, offset): (&Vec<f64>, &f64)| {
            let parts = groups.iter().zip(split(row, &self.ends));
            offset + parts.map(|(group, weights)| super::total(group, weights)).sum::<f64>()
        };
        self.weights.iter().zip(&self.offsets).map(value).collect()
    }

    pub(super) fn spreads(
        &self,
        groups: &[Group],
        p: &[f64],
        target: Target,
    ) -> Vec<Option<Spread>> {
        let laws: Vec<Vec<f64>> = groups.iter().map(|group| group.channel.forward(p)).collect();
        let all: f64 = groups.iter().map(Group::reports).sum();
        let taken = if target == Target::Respondents { 1.0 / all } else { 0.0 };
        let one = |x: usize| {
            let mut sum = Spread::default();
            for ((group, weights), law) in
                groups.iter().zip(split(&self.weights[x], &self.ends)).zip(&laws)
            {
                let (own, all) = match &group.channel {
                    channel @ Channel::Bits(_) => by_symbols(channel, weights, x, p),
                    channel => by_outputs(channel, weights, law, x),
                };
                let other = (others(all.0, own.0, p[x]), others(all.1, own.1, p[x]));
                sum.add(curve(own, other, taken).scaled(group.reports()));
            }
            sum
        };
        (0..p.len()).map(|x| self.determined[x].then(|| one(x))).collect()
    }

    pub(super) fn share_score(&self, x: usize) -> Option<Score> {
        let weights = split(&self.weights[x], &self.ends).map(<[f64]>::to_vec).collect();
        self.determined[x].then(|| Score { offset: self.offsets[x], weights })
    }

    pub(super) fn functional(&self, a: &[f64]) -> Option<Score> {
        if !self.inverse.determines(a) {
            return None;
        }
        let mut row = vec![0.0; self.ends.last().copied().unwrap_or(0)];
        let mut offset = 0.0;
        for ((weights, o), &a) in self.weights.iter().zip(&self.offsets).zip(a) {
            offset += a * o;
            row.iter_mut().zip(weights).for_each(|(sum, w)| *sum += a * w);
        }
        Some(Score { offset, weights: split(&row, &self.ends).map(<[f64]>::to_vec).collect() })
    }

    pub(super) fn bounds(
        &self,
        groups: &[Group],
        a: &[f64],
        z: f64,
        target: Target,
    ) -> Option<(Score, Score)> {
        self.bounded(groups, a, self.functional(a), (z, target))
    }

    /// The scores of a lower and of an upper end, from the unbiased ones or better ones.
    fn bounded(
        &self,
        groups: &[Group],
        a: &[f64],
        unbiased: Option<Score>,
        aim: (f64, Target),
    ) -> Option<(Score, Score)> {
        let negative: Vec<f64> = a.iter().map(|a| -a).collect();
        let opposite = unbiased.as_ref().map(Score::negated);
        let (lower, upper) = match &self.bounding {
            Some(bounding) => (
                bounding.majorant(groups, &self.ends, &negative, opposite, aim),
                bounding.majorant(groups, &self.ends, a, unbiased, aim),
            ),
            // However well conditioned the system is, rounding is accounted for.
            None => (shifted(opposite?, groups, &negative).0, shifted(unbiased?, groups, a).0),
        };
        Some((lower.negated(), upper))
    }

    /// The scores of both ends of the share of x.
    fn share_bounds(
        &self,
        groups: &[Group],
        x: usize,
        aim: (f64, Target),
    ) -> Option<(Score, Score)> {
        let mut unit = vec![0.0; self.determined.len()];
        unit[x] = 1.0;
        self.bounded(groups, &unit, self.share_score(x), aim)
    }

    pub(super) fn share_limits(&self, groups: &[Group], settings: Settings) -> Vec<Limits> {
        let (size, target) = (self.determined.len(), settings.target());
        let tail = settings.miss(size) / 2.0;
        let aim = (normal_quantile(tail), target);
        let one = |x: usize| match self.share_bounds(groups, x, aim) {
            Some(scores) => Limits::of(&scores, groups, target, tail),
            None => Limits::EVERYTHING,
        };
        (0..size).map(one).collect()
    }

    pub(super) fn share_tails(&self, groups: &[Group], threshold: f64, z: f64) -> Vec<f64> {
        let aim = (z, Target::Population);
        let one = |x: usize| {
            let scores = self.share_bounds(groups, x, aim);
            scores.map_or(1.0, |(lower, _)| lower.upper_tail(groups, Target::Population, threshold))
        };
        (0..self.determined.len()).map(one).collect()
    }

    pub(super) fn reach(&self, groups: &[Group]) -> Vec<f64> {
        let one = |x: usize| {
            if !self.determined[x] {
                return 0.0;
            }
            let parts = groups.iter().zip(split(&self.weights[x], &self.ends));
            let ranges = parts.map(|(group, weights)| match group.channel {
                Channel::Bits(_) => weights.iter().map(|w| w.abs()).sum(),
                Channel::Table(_) | Channel::Keep(_) => range(weights),
            });
            ranges.fold(0.0, f64::max)
        };
        (0..self.weights.len()).map(one).collect()
    }
}

/// The part of output y's law that is due to x's share; for `Bits`, above the other bits' common one.
fn cell(channel: &Channel, x: usize, y: usize) -> f64 {
    match channel {
        Channel::Bits(bits) if x == y => bits.gap(),
        Channel::Bits(_) => 0.0,
        channel => channel.at(x, y),
    }
}

pub(super) fn split<'a>(row: &'a [f64], ends: &'a [usize]) -> impl Iterator<Item = &'a [f64]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| &row[start..end])
}

/// The mean and the mean square of a score: given x, and over the population.
type Moments = ((f64, f64), (f64, f64));

/// From the laws of the outputs.
fn by_outputs(channel: &Channel, weights: &[f64], law: &[f64], x: usize) -> Moments {
    let (mut own, mut all) = ((0.0, 0.0), (0.0, 0.0));
    for (y, (w, law)) in weights.iter().zip(law).enumerate() {
        let mine = channel.at(x, y);
        own = (own.0 + mine * w, own.1 + mine * w * w);
        all = (all.0 + law * w, all.1 + law * w * w);
    }
    (own, all)
}

/// From the moments given every symbol.
fn by_symbols(channel: &Channel, weights: &[f64], x: usize, p: &[f64]) -> Moments {
    let (means, variances) = channel.moments(weights);
    let square = |z: usize| variances[z] + means[z] * means[z];
    let squares: f64 = p.iter().enumerate().map(|(z, p)| p * square(z)).sum();
    ((means[x], square(x)), (long_dot(p, &means), squares))
}
