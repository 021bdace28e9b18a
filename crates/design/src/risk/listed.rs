//! Channels whose outputs can be gone through one by one.

use super::Belief;
use super::interval::Interval;
use undertone_core::{Bits, KEEP_ONE, Keep, MASS_ONE, Table, WEIGHT_ONE};

/// A channel as a function: the likelihood of output y for input x.
pub(super) struct Listed<'a> {
    inputs: usize,
    outputs: usize,
    cell: Box<dyn Fn(usize, usize) -> Interval + 'a>,
    /// Whether an output's index means something to a reader.
    named: bool,
}

impl<'a> Listed<'a> {
    pub(super) fn table(table: &'a Table) -> Self {
        let rows = table.rows();
        // Masses are below 2^53: exact.
        let cell =
            |x: usize, y: usize| Interval::exact(rows[x].masses()[y] as f64 / MASS_ONE as f64);
        Self { inputs: rows.len(), outputs: table.outputs(), cell: Box::new(cell), named: true }
    }

    pub(super) fn keep(keep: &'a Keep) -> Self {
        let cell = |x: usize, y: usize| {
            let kept = Interval::exact(keep.keep()[x] as f64 / KEEP_ONE as f64);
            let drawn = kept.complement() * base(keep, y);
            if x == y { kept + drawn } else { drawn }
        };
        let symbols = keep.keep().len();
        Self { inputs: symbols, outputs: symbols, cell: Box::new(cell), named: true }
    }

    /// Every vector of bits is an output; for a few bits only.
    pub(super) fn bits(bits: &'a Bits) -> Self {
        let symbols = bits.symbols();
        let cell = move |x: usize, y: usize| {
            let factor = |at: usize| {
                let units = if at == x { bits.own() } else { bits.other() };
                let set = Interval::exact(units as f64 / WEIGHT_ONE as f64);
                if y >> at & 1 == 1 { set } else { set.complement() }
            };
            (0..symbols).map(factor).fold(Interval::exact(1.0), |product, f| product * f)
        };
        Self { inputs: symbols, outputs: 1 << symbols, cell: Box::new(cell), named: false }
    }

    /// A channel that is given by a function.
    pub(super) fn by_cell(
        inputs: usize,
        outputs: usize,
        named: bool,
        cell: impl Fn(usize, usize) -> Interval + 'a,
    ) -> Self {
        Self { inputs, outputs, cell: Box::new(cell), named }
    }

    /// The channel from the secret whose values have the laws `rows` over the inputs.
    pub(super) fn pushed(&self, rows: &[Vec<Interval>]) -> Listed<'static> {
        let column = |y: usize| {
            let likelihood = |row: &Vec<Interval>| {
                row.iter().enumerate().map(|(x, &p)| p * (self.cell)(x, y)).sum::<Interval>()
            };
            rows.iter().map(likelihood).collect()
        };
        let columns: Vec<Vec<Interval>> = (0..self.outputs).map(column).collect();
        Listed::from_columns(rows.len(), columns, self.named)
    }

    pub(super) fn from_columns(
        inputs: usize,
        columns: Vec<Vec<Interval>>,
        named: bool,
    ) -> Listed<'static> {
        let outputs = columns.len();
        Listed { inputs, outputs, cell: Box::new(move |x, y| columns[y][x]), named }
    }

    /// The range of every input's posterior over all outputs that can occur.
    pub(super) fn beliefs(&self, prior: &[Interval]) -> Vec<Belief> {
        let mut list: Vec<Belief> = prior.iter().map(|p| untouched(p.low, p.high)).collect();
        for y in 0..self.outputs {
            let joint: Vec<Interval> =
                prior.iter().enumerate().map(|(x, &p)| p * (self.cell)(x, y)).collect();
            let total: Interval = joint.iter().copied().sum();
            if total.high == 0.0 {
                continue;
            }
            for (belief, part) in list.iter_mut().zip(joint) {
                self.widen(belief, part.over(total), y);
            }
        }
        list.into_iter().map(settled).collect()
    }

    /// The range of every input's posterior over all outputs, for all priors of a box, whose ends are exact.
    ///
    /// A posterior grows with the input's own mass, and for a given mass it is largest when the others'
    /// mass sits where the output is least likely: a greedy fill finds the worst prior.
    pub(super) fn box_beliefs(&self, lower: &[Interval], upper: &[Interval]) -> Vec<Belief> {
        let ends: Vec<(f64, f64)> = lower.iter().zip(upper).map(|(l, u)| (l.low, u.high)).collect();
        let reach: Vec<(f64, f64)> = feasible(&ends);
        let mut list: Vec<Belief> =
            reach.iter().map(|&(least, most)| untouched(least, most)).collect();
        for y in 0..self.outputs {
            let column: Vec<Interval> = (0..self.inputs).map(|x| (self.cell)(x, y)).collect();
            if column.iter().all(|cell| cell.high == 0.0) {
                continue;
            }
            let mut order: Vec<usize> = (0..self.inputs).collect();
            order.sort_by(|&a, &b| column[a].high.total_cmp(&column[b].high));
            for (x, belief) in list.iter_mut().enumerate() {
                let (least, most) = reach[x];
                let others = |mass: f64, order: &mut dyn Iterator<Item = usize>| -> Interval {
                    fill(&ends, &column, x, 1.0 - mass, order)
                };
                let high = (Interval::exact(most) * column[x])
                    .share_of(others(most, &mut order.iter().copied()));
                let low = (Interval::exact(least) * column[x])
                    .share_of(others(least, &mut order.iter().rev().copied()));
                self.widen(belief, Interval { low: low.low, high: high.high }, y);
            }
        }
        list.into_iter().map(settled).collect()
    }

    fn widen(&self, belief: &mut Belief, posterior: Interval, y: usize) {
        let named = self.named.then_some(y);
        if posterior.high > belief.most {
            (belief.most, belief.most_after) = (posterior.high, named);
        }
        if posterior.low < belief.least {
            (belief.least, belief.least_after) = (posterior.low, named);
        }
    }
}

/// A range to be widened from nothing.
fn untouched(before_least: f64, before_most: f64) -> Belief {
    let (least, most) = (f64::INFINITY, 0.0);
    Belief { before_least, before_most, least, most, most_after: None, least_after: None }
}

/// The range cut to what is a probability and to what averages to the belief before.
fn settled(belief: Belief) -> Belief {
    let Belief { before_least, before_most, .. } = belief;
    Belief {
        least: belief.least.min(before_least),
        most: belief.most.max(before_most).min(1.0),
        ..belief
    }
}

/// The least and the most mass a prior of the box can give to each symbol. Weights are multiples of
/// 2^-32, so their sums and differences are exact.
pub(super) fn feasible(ends: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (low, high) = ends.iter().fold((0.0, 0.0), |(l, h), end| (l + end.0, h + end.1));
    let reach = |&(l, u): &(f64, f64)| (l.max(1.0 - (high - u)), u.min(1.0 - (low - l)));
    ends.iter().map(reach).collect()
}

/// Σ over z other than `x` of P(z) w(z), the masses filled up to `mass` in the order given.
fn fill(
    ends: &[(f64, f64)],
    column: &[Interval],
    x: usize,
    mass: f64,
    order: &mut dyn Iterator<Item = usize>,
) -> Interval {
    let forced: f64 = ends.iter().enumerate().filter(|&(z, _)| z != x).map(|(_, e)| e.0).sum();
    let mut left = mass - forced;
    let mut sum = Interval::ZERO;
    for z in order.filter(|&z| z != x) {
        let extra = left.min(ends[z].1 - ends[z].0).max(0.0);
        left -= extra;
        sum = sum + Interval::exact(ends[z].0 + extra) * column[z];
    }
    sum
}

/// Σ_s weight(s) row_s(x) for every x.
pub(super) fn blend(weights: &[Interval], rows: &[Vec<Interval>]) -> Vec<Interval> {
    let size = rows.first().map_or(0, Vec::len);
    let at = |x: usize| weights.iter().zip(rows).map(|(&w, row)| w * row[x]).sum();
    (0..size).map(at).collect()
}

pub(super) fn base(keep: &Keep, y: usize) -> Interval {
    Interval::exact(keep.base().masses()[y] as f64 / MASS_ONE as f64)
}
