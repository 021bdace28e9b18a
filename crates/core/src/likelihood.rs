//! A channel as the checker sees it: likelihoods per output, and mixtures of them.

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
    /// Of a list that is never empty; the first of equals is named.
    pub(crate) fn of(mut cells: impl Iterator<Item = (Wide, usize)>) -> Self {
        let first = cells.next().unwrap_or((Wide::ZERO, 0));
        cells.fold(Self { high: first, low: first }, |seen, cell| Self {
            high: if cell.0 > seen.high.0 { cell } else { seen.high },
            low: if cell.0 < seen.low.0 { cell } else { seen.low },
        })
    }
}

/// A channel whose outputs can be listed. Likelihoods are in units of 2^-`unit`.
pub(crate) trait Likelihoods {
    fn unit(&self) -> u32;
    fn inputs(&self) -> usize;
    fn outputs(&self) -> usize;
    /// w(y|x).
    fn at(&self, x: usize, y: usize) -> u128;
    fn extremes(&self, y: usize) -> Extremes;
    /// The largest and smallest weights(x) w(y|x) for every y.
    fn weighted_extremes(&self, weights: &[u64]) -> Vec<Extremes>;
    /// Σ_x weights(x) w(y|x) for every y, in units of 2^-(unit + 32).
    fn mixture(&self, weights: &[u64]) -> Vec<Wide>;
    /// The least and the greatest such sum for every y, over all priors of a box.
    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)>;
}

/// A table, or the product of two: what one input's two releases look like together.
pub(crate) struct Dense<'a> {
    unit: u32,
    rows: Vec<Cells<'a>>,
    extremes: Vec<(u128, u32, u128, u32)>,
}

enum Cells<'a> {
    Single(&'a [u64]),
    Pair(Vec<u128>),
}

impl Cells<'_> {
    fn at(&self, y: usize) -> u128 {
        match self {
            Self::Single(row) => u128::from(row[y]),
            Self::Pair(row) => row[y],
        }
    }
}

impl<'a> Dense<'a> {
    pub(crate) fn table(table: &'a Table) -> Self {
        let rows = table.rows().iter().map(|row| Cells::Single(row.masses())).collect();
        Self::new(48, rows, table.outputs())
    }

    /// Two releases of one input: outputs are pairs, the second index fastest.
    pub(crate) fn pair(a: &dyn Likelihoods, b: &dyn Likelihoods) -> Self {
        let product = |x: usize| {
            let row = (0..a.outputs()).flat_map(|y| (0..b.outputs()).map(move |z| (y, z)));
            Cells::Pair(row.map(|(y, z)| a.at(x, y) * b.at(x, z)).collect())
        };
        let rows = (0..a.inputs()).map(product).collect();
        Self::new(a.unit() + b.unit(), rows, a.outputs() * b.outputs())
    }

    fn new(unit: u32, rows: Vec<Cells<'a>>, outputs: usize) -> Self {
        // Row by row, so that a large table is read in memory order.
        let mut extremes = vec![(0u128, 0u32, u128::MAX, 0u32); outputs];
        for (x, row) in rows.iter().enumerate() {
            for (y, seen) in extremes.iter_mut().enumerate() {
                let w = row.at(y);
                if w > seen.0 {
                    (seen.0, seen.1) = (w, x as u32);
                }
                if w < seen.2 {
                    (seen.2, seen.3) = (w, x as u32);
                }
            }
        }
        Self { unit, rows, extremes }
    }
}

impl Dense<'_> {
    /// Linear in the prior, so the worst prior fills the box greedily, the cheapest inputs first.
    fn box_range(&self, y: usize, within: &PriorBox) -> (Wide, Wide) {
        let mut order: Vec<(u128, usize)> =
            (0..self.inputs()).map(|x| (self.at(x, y), x)).collect();
        order.sort_unstable();
        let base = order
            .iter()
            .fold(Wide::ZERO, |sum, &(w, x)| sum + Wide::from(within.lower()[x]) * Wide::from(w));
        let fill = |cheapest_first: &mut dyn Iterator<Item = &(u128, usize)>| {
            let (mut left, mut sum) = (within.slack(), base);
            for &(w, x) in cheapest_first {
                let taken = left.min(within.upper()[x] - within.lower()[x]);
                sum += Wide::from(taken) * Wide::from(w);
                left -= taken;
                if left == 0 {
                    break;
                }
            }
            sum
        };
        (fill(&mut order.iter()), fill(&mut order.iter().rev()))
    }
}

impl Likelihoods for Dense<'_> {
    fn unit(&self) -> u32 {
        self.unit
    }

    fn inputs(&self) -> usize {
        self.rows.len()
    }

    fn outputs(&self) -> usize {
        self.extremes.len()
    }

    fn at(&self, x: usize, y: usize) -> u128 {
        self.rows[x].at(y)
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
        // 48 + 33 bits per term fit u128 with room for 2^24 of them; products of releases do not.
        let mut narrow = vec![0u128; self.outputs()];
        let mut wide = vec![Wide::ZERO; if self.unit == 48 { 0 } else { self.outputs() }];
        for (row, &weight) in self.rows.iter().zip(weights).filter(|&(_, &weight)| weight > 0) {
            match row {
                Cells::Single(row) => {
                    for (sum, &w) in narrow.iter_mut().zip(*row) {
                        *sum += u128::from(weight) * u128::from(w);
                    }
                }
                Cells::Pair(row) => {
                    for (sum, &w) in wide.iter_mut().zip(row) {
                        *sum += Wide::from(weight) * Wide::from(w);
                    }
                }
            }
        }
        if wide.is_empty() { narrow.into_iter().map(Wide::from).collect() } else { wide }
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        (0..self.outputs()).map(|y| self.box_range(y, within)).collect()
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

    /// w(x|x).
    pub(crate) fn own(&self, x: usize) -> u128 {
        u128::from(self.keep.keep()[x]) * u128::from(MASS_ONE)
            + u128::from(self.rest(x)) * u128::from(self.base(x))
    }
}

/// Filling a box greedily, for every output of a `Keep` channel at once.
///
/// All inputs but y have likelihood rest(x)·base(y), so their order is the same for every output
/// and prefix sums answer for it; y itself is met where its own likelihood puts it.
struct BoxFill<'a> {
    view: &'a KeepView<'a>,
    within: &'a PriorBox,
    /// The inputs, the cheapest to fill first, and where each stands.
    order: Vec<u32>,
    position: Vec<u32>,
    /// Room in the first i inputs, and room x rest of them.
    room: Vec<u64>,
    filled: Vec<u128>,
    greatest: bool,
}

impl<'a> BoxFill<'a> {
    fn new(view: &'a KeepView<'a>, within: &'a PriorBox, greatest: bool) -> Self {
        let mut order = view.by_rest.clone();
        if greatest {
            order.reverse();
        }
        let mut position = vec![0; order.len()];
        let (mut room, mut filled) = (vec![0u64], vec![0u128]);
        let (mut room_sum, mut filled_sum) = (0, 0);
        for (at, &x) in order.iter().enumerate() {
            position[x as usize] = at as u32;
            let here = within.upper()[x as usize] - within.lower()[x as usize];
            room_sum += here;
            filled_sum += u128::from(here) * u128::from(view.rest(x as usize));
            room.push(room_sum);
            filled.push(filled_sum);
        }
        Self { view, within, order, position, room, filled, greatest }
    }

    /// Σ taken·rest when `amount` is filled in order.
    fn fill(&self, amount: u64) -> u128 {
        let full = self.room.partition_point(|&room| room <= amount) - 1;
        let left = u128::from(amount - self.room[full]);
        let next = self.order.get(full).map_or(0, |&x| self.view.rest(x as usize));
        self.filled[full] + left * u128::from(next)
    }

    /// The weight above the lower ends, worst for output y.
    fn above_lower(&self, y: usize) -> Wide {
        let (own, base) = (self.view.own(y), u128::from(self.view.base(y)));
        let cheaper = |&x: &u32| {
            let w = u128::from(self.view.rest(x as usize)) * base;
            if self.greatest { w > own } else { w < own }
        };
        let before = self.order.partition_point(cheaper);
        let at = self.position[y] as usize;
        let own_room = self.within.upper()[y] - self.within.lower()[y];
        let room_before = self.room[before] - if at < before { own_room } else { 0 };
        let own_taken = own_room.min(self.within.slack().saturating_sub(room_before));
        let others = self.within.slack() - own_taken;
        let filled = if others <= self.room[at] {
            self.fill(others)
        } else {
            self.fill(others + own_room) - u128::from(own_room) * u128::from(self.view.rest(y))
        };
        Wide::from(own_taken) * Wide::from(own) + Wide::from(filled) * Wide::from(base)
    }
}

impl Likelihoods for KeepView<'_> {
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
            Wide::from(kept * u128::from(MASS_ONE))
                + Wide::from(not_kept * u128::from(self.base(y)))
        };
        weights.iter().enumerate().map(one).collect()
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        let base = self.mixture(within.lower());
        let (least, greatest) =
            (BoxFill::new(self, within, false), BoxFill::new(self, within, true));
        let range = |(y, &base): (usize, &Wide)| {
            (base + least.above_lower(y), base + greatest.above_lower(y))
        };
        base.iter().enumerate().map(range).collect()
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
