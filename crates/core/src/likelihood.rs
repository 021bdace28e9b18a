//! A channel as the checker sees it: likelihoods per output, and mixtures of them.

use crate::columns::{Columns, Singled};
use crate::context::PriorBox;
use crate::mass::{KEEP_ONE, MASS_ONE};
use crate::shape::{Keep, Table};
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;

/// The largest and smallest likelihood of one output, and the inputs that have them.
#[derive(Clone, Copy)]
pub(crate) struct Extremes {
    pub(crate) high: (Wide, usize),
    pub(crate) low: (Wide, usize),
}

impl Extremes {
    /// The extremes of a list, the first of equals named. An empty list, which no channel has, bounds nothing.
    pub(crate) fn of(cells: impl Iterator<Item = (Wide, usize)>) -> Self {
        let wider = |seen: Self, cell: Self| Self {
            high: if cell.high.0 > seen.high.0 { cell.high } else { seen.high },
            low: if cell.low.0 < seen.low.0 { cell.low } else { seen.low },
        };
        let unbounded = Self { high: (Wide::from(1u64), 0), low: (Wide::ZERO, 0) };
        cells.map(|cell| Self { high: cell, low: cell }).reduce(wider).unwrap_or(unbounded)
    }
}

/// A channel whose outputs can be listed. Likelihoods are in units of 2^-`unit`.
pub(crate) trait Likelihoods {
    /// The channel as a `Keep`, if it is one: its δ has a faster exact form.
    fn as_keep(&self) -> Option<&KeepView<'_>> {
        None
    }
    fn unit(&self) -> u32;
    fn inputs(&self) -> usize;
    fn outputs(&self) -> usize;
    /// The likelihood w(y|x).
    fn at(&self, x: usize, y: usize) -> u128;
    fn extremes(&self, y: usize) -> Extremes;
    /// The largest and smallest weights(x) w(y|x) for every y.
    fn weighted_extremes(&self, weights: &[u64]) -> Vec<Extremes>;
    /// Σ_x weights(x) w(y|x) for every y, in the product of both units. Weights have at most 48 bits in all.
    fn mixture(&self, weights: &[u64]) -> Vec<Wide>;
    /// The least and the greatest such sum for every y, over all priors of a box.
    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)>;
}

/// A table with the extremes of every column worked out once.
pub(crate) struct Dense<'a> {
    rows: Vec<&'a [u64]>,
    extremes: Vec<(u64, u32, u64, u32)>,
}

impl<'a> Dense<'a> {
    pub(crate) fn table(table: &'a Table) -> Self {
        let rows: Vec<&[u64]> = table.rows().iter().map(|row| row.masses()).collect();
        // Row by row, so that a large table is read in memory order.
        let mut extremes = vec![(0u64, 0u32, u64::MAX, 0u32); table.outputs()];
        for (x, row) in rows.iter().enumerate() {
            for (seen, &w) in extremes.iter_mut().zip(*row) {
                if w > seen.0 {
                    (seen.0, seen.1) = (w, x as u32);
                }
                if w < seen.2 {
                    (seen.2, seen.3) = (w, x as u32);
                }
            }
        }
        Self { rows, extremes }
    }
}

impl Likelihoods for Dense<'_> {
    fn unit(&self) -> u32 {
        48
    }

    fn inputs(&self) -> usize {
        self.rows.len()
    }

    fn outputs(&self) -> usize {
        self.extremes.len()
    }

    fn at(&self, x: usize, y: usize) -> u128 {
        u128::from(self.rows[x][y])
    }

    fn extremes(&self, y: usize) -> Extremes {
        let (high, high_at, low, low_at) = self.extremes[y];
        Extremes {
            high: (Wide::from(high), high_at as usize),
            low: (Wide::from(low), low_at as usize),
        }
    }

    fn weighted_extremes(&self, weights: &[u64]) -> Vec<Extremes> {
        let column = |y: usize| {
            let cell = |x: usize| Wide::from(weights[x]) * Wide::from(self.at(x, y));
            Extremes::of((0..self.inputs()).map(|x| (cell(x), x)))
        };
        (0..self.outputs()).map(column).collect()
    }

    fn mixture(&self, weights: &[u64]) -> Vec<Wide> {
        // Masses and weights of at most 48 bits each: their products sum to at most 2^96.
        let mut sums = vec![0u128; self.outputs()];
        for (row, &weight) in self.rows.iter().zip(weights).filter(|&(_, &weight)| weight > 0) {
            for (sum, &w) in sums.iter_mut().zip(*row) {
                *sum += u128::from(weight) * u128::from(w);
            }
        }
        sums.into_iter().map(Wide::from).collect()
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        let column = |y: usize| (0..self.inputs()).map(|x| Wide::from(self.at(x, y))).collect();
        (0..self.outputs()).map(|y| within.range(column(y))).collect()
    }
}

/// A `Keep` channel with what every output shares worked out once.
pub(crate) struct KeepView<'a> {
    keep: &'a Keep,
    /// The inputs ordered by how rarely they are kept: rest(x) = 1 - λ(x), ascending.
    by_rest: Vec<u32>,
}

impl<'a> KeepView<'a> {
    pub(crate) fn new(keep: &'a Keep) -> Self {
        let mut by_rest: Vec<u32> = (0..keep.keep().len() as u32).collect();
        by_rest.sort_unstable_by_key(|&x| (KEEP_ONE - keep.keep()[x as usize], x));
        Self { keep, by_rest }
    }

    /// 1 - λ(x), in units of 2^-40.
    pub(crate) fn rest(&self, x: usize) -> u64 {
        KEEP_ONE - self.keep.keep()[x]
    }

    pub(crate) fn base(&self, y: usize) -> u64 {
        self.keep.base().masses()[y]
    }

    /// The inputs, rest ascending.
    pub(crate) fn by_rest(&self) -> &[u32] {
        &self.by_rest
    }

    /// The likelihood w(x|x) of an input's own symbol.
    pub(crate) fn own(&self, x: usize) -> u128 {
        u128::from(self.keep.keep()[x]) * u128::from(MASS_ONE)
            + u128::from(self.rest(x)) * u128::from(self.base(x))
    }
}

impl Likelihoods for KeepView<'_> {
    fn as_keep(&self) -> Option<&KeepView<'_>> {
        Some(self)
    }

    fn unit(&self) -> u32 {
        88
    }

    fn inputs(&self) -> usize {
        self.by_rest.len()
    }

    fn outputs(&self) -> usize {
        self.by_rest.len()
    }

    fn at(&self, x: usize, y: usize) -> u128 {
        if x == y { self.own(x) } else { u128::from(self.rest(x)) * u128::from(self.base(y)) }
    }

    fn extremes(&self, y: usize) -> Extremes {
        let own = (Wide::from(self.own(y)), y);
        let other = |order: &mut dyn Iterator<Item = &u32>| {
            let x = order.map(|&x| x as usize).find(|&x| x != y)?;
            Some((Wide::from(self.at(x, y)), x))
        };
        let low =
            other(&mut self.by_rest.iter()).map_or(own, |o| if o.0 < own.0 { o } else { own });
        let high = other(&mut self.by_rest.iter().rev())
            .map_or(own, |o| if o.0 > own.0 { o } else { own });
        Extremes { high, low }
    }

    fn weighted_extremes(&self, weights: &[u64]) -> Vec<Extremes> {
        // Away from the diagonal the order of weights(x) rest(x) decides, the same for every output.
        let weight = |x: usize| u128::from(weights[x]) * u128::from(self.rest(x));
        let mut order: Vec<usize> = (0..self.inputs()).collect();
        order.sort_unstable_by_key(|&x| weight(x));
        let column = |y: usize| {
            let other = |x: &&usize| **x != y;
            let (least, most) = (order.iter().find(other), order.iter().rev().find(other));
            let others = least.into_iter().chain(most);
            let own = (Wide::from(weights[y]) * Wide::from(self.own(y)), y);
            let base = Wide::from(self.base(y));
            let others = others.map(|&x| (Wide::from(weight(x)) * base, x));
            Extremes::of(core::iter::once(own).chain(others))
        };
        (0..self.outputs()).map(column).collect()
    }

    fn mixture(&self, weights: &[u64]) -> Vec<Wide> {
        let rest = |(x, &weight): (usize, &u64)| u128::from(weight) * u128::from(self.rest(x));
        let not_kept: u128 = weights.iter().enumerate().map(rest).sum();
        let one = |(y, &weight): (usize, &u64)| {
            let kept = u128::from(weight) * u128::from(self.keep.keep()[y]);
            // Weights of a plan's law have 48 bits, which products of three factors do not fit u128 with.
            Wide::from(kept) * Wide::from(MASS_ONE)
                + Wide::from(not_kept) * Wide::from(self.base(y))
        };
        weights.iter().enumerate().map(one).collect()
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        let factor = vec![Wide::from(1u64); self.inputs()];
        Singled::keep(self.keep, &factor).box_ranges(within)
    }
}

/// Σ_s P(s) c(y|s) for every y.
pub(crate) fn marginal(prior: &[u64], rows: &[Vec<Wide>]) -> Vec<Wide> {
    let mut sums = vec![Wide::ZERO; rows.first().map_or(0, Vec::len)];
    for (row, &weight) in rows.iter().zip(prior).filter(|&(_, &weight)| weight > 0) {
        for (sum, &c) in sums.iter_mut().zip(row) {
            *sum += Wide::from(weight) * c;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{Extremes, Wide};
    use crate::ratio::Ratio;

    #[test]
    fn nothing_has_no_bound() {
        let Extremes { high, low } = Extremes::of(core::iter::empty());
        assert_eq!(Ratio::new(high.0, low.0), Some(Ratio::UNBOUNDED));
    }

    #[test]
    fn the_first_of_equals_is_named() {
        let cells = [3u64, 5, 2, 5, 2].map(Wide::from).into_iter().zip(0..);
        let Extremes { high, low } = Extremes::of(cells);
        assert_eq!((high, low), ((Wide::from(5u64), 1), (Wide::from(2u64), 2)));
    }
}
