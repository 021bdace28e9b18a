//! Likelihoods of a whole sequence of releases: what was released, times one more output.
//!
//! A *factor* is one number per symbol, the likelihood of everything released so far. All numbers of one
//! object share a unit that nobody asks for, because only ratios leave this module.

use crate::context::PriorBox;
use crate::incidence::Incidence;
use crate::mass::{KEEP_ONE, MASS_ONE};
use crate::shape::{Keep, Table};
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;

/// factor(x) w(y|x) for every output y that has to be looked at.
pub(crate) trait Columns {
    /// The largest and the smallest entry of every column.
    fn extremes(&self) -> Vec<(Wide, Wide)>;
    /// Σ_x weights(x) times the entry, for every column.
    fn mixture(&self, weights: &[Wide]) -> Vec<Wide>;
    /// The least and the greatest mixture of every column, over all priors of a box.
    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)>;
}

/// A table's rows, each times its factor.
pub(crate) struct Scaled<'a> {
    rows: Vec<&'a [u64]>,
    factor: &'a [Wide],
}

impl<'a> Scaled<'a> {
    pub(crate) fn table(table: &'a Table, factor: &'a [Wide]) -> Self {
        Self { rows: table.rows().iter().map(|row| row.masses()).collect(), factor }
    }

    /// One column: the factor itself.
    pub(crate) fn alone(factor: &'a [Wide]) -> Self {
        Self { rows: factor.iter().map(|_| &[1][..]).collect(), factor }
    }

    fn outputs(&self) -> usize {
        self.rows.first().map_or(0, |row| row.len())
    }
}

impl Columns for Scaled<'_> {
    fn extremes(&self) -> Vec<(Wide, Wide)> {
        let mut extremes: Vec<Option<(Wide, Wide)>> = vec![None; self.outputs()];
        for (row, &factor) in self.rows.iter().zip(self.factor) {
            for (seen, &mass) in extremes.iter_mut().zip(*row) {
                let entry = factor * Wide::from(mass);
                let (high, low) = seen.unwrap_or((entry, entry));
                *seen = Some((high.max(entry), low.min(entry)));
            }
        }
        extremes.into_iter().flatten().collect()
    }

    fn mixture(&self, weights: &[Wide]) -> Vec<Wide> {
        let mut sums = vec![Wide::ZERO; self.outputs()];
        let rows = self.rows.iter().zip(self.factor).zip(weights);
        for ((row, &factor), &weight) in rows.filter(|(_, weight)| !weight.is_zero()) {
            let weighted = weight * factor;
            for (sum, &mass) in sums.iter_mut().zip(*row) {
                *sum += weighted * Wide::from(mass);
            }
        }
        sums
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        let entry = |x: usize, y: usize| self.factor[x] * Wide::from(self.rows[x][y]);
        let column = |y: usize| within.range((0..self.rows.len()).map(|x| entry(x, y)).collect());
        (0..self.outputs()).map(column).collect()
    }
}

/// Numbered blocks, one column each: factor(x) times the likelihood from inside or from outside.
pub(crate) struct Blocks<'a> {
    incidence: &'a Incidence,
    inside: Wide,
    outside: Wide,
    factor: &'a [Wide],
}

impl<'a> Blocks<'a> {
    /// With likelihoods from below, or from above.
    pub(crate) fn new(incidence: &'a Incidence, above: bool, factor: &'a [Wide]) -> Self {
        let end = |(low, high): (u128, u128)| Wide::from(if above { high } else { low });
        let levels = incidence.levels();
        Self { incidence, inside: end(levels.inside), outside: end(levels.outside), factor }
    }

    fn column(&self, block: usize) -> impl Iterator<Item = Wide> {
        self.factor.iter().enumerate().map(move |(x, &factor)| {
            let inside = self.incidence.contains(block as u32, x as u32);
            factor * if inside { self.inside } else { self.outside }
        })
    }

    fn blocks(&self) -> core::ops::Range<usize> {
        0..self.incidence.blocks().unwrap_or(0)
    }
}

impl Columns for Blocks<'_> {
    fn extremes(&self) -> Vec<(Wide, Wide)> {
        let ends = |block| {
            let first = self.column(block).next().unwrap_or(Wide::ZERO);
            let wider = |(high, low): (Wide, Wide), entry: Wide| (high.max(entry), low.min(entry));
            self.column(block).fold((first, first), wider)
        };
        self.blocks().map(ends).collect()
    }

    fn mixture(&self, weights: &[Wide]) -> Vec<Wide> {
        let sum = |block| {
            let terms = self.column(block).zip(weights);
            terms.fold(Wide::ZERO, |sum, (entry, &weight)| sum + entry * weight)
        };
        self.blocks().map(sum).collect()
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        self.blocks().map(|block| within.range(self.column(block).collect())).collect()
    }
}

/// Columns that single out one symbol each: entry(x, y) is rest(x) base(y), but own(y) where x = y.
///
/// `Keep` is of this form; so are the patterns of `Bits` in which one symbol's bit differs from all others. Entries are worked out
/// where they are asked for: with a million symbols, lists of them are what would fill memory.
pub(crate) struct Singled<'a> {
    factor: &'a [Wide],
    kind: Kind<'a>,
    /// The symbols ordered by their rest, ascending.
    by_rest: Vec<u32>,
}

/// What the entries are, over the factor.
enum Kind<'a> {
    Keep(&'a Keep),
    /// One symbol alone has the likelihood `own`, all others `rest`.
    Pattern {
        own: Wide,
        rest: Wide,
    },
}

impl<'a> Singled<'a> {
    pub(crate) fn keep(keep: &'a Keep, factor: &'a [Wide]) -> Self {
        Self::new(Kind::Keep(keep), factor)
    }

    /// The patterns in which one symbol alone has the likelihood `high`, or (`against`) alone has `low`.
    pub(crate) fn patterns(high: u128, low: u128, factor: &'a [Wide], against: bool) -> Self {
        let (own, rest) = if against { (low, high) } else { (high, low) };
        Self::new(Kind::Pattern { own: Wide::from(own), rest: Wide::from(rest) }, factor)
    }

    fn new(kind: Kind<'a>, factor: &'a [Wide]) -> Self {
        let mut columns = Self { factor, kind, by_rest: Vec::new() };
        let mut by_rest: Vec<u32> = (0..factor.len() as u32).collect();
        match columns.kind {
            Kind::Keep(_) => by_rest.sort_by_cached_key(|&x| columns.rest(x as usize)),
            // Times the same number: in the order of the factor, or all nought.
            Kind::Pattern { .. } => by_rest.sort_by_key(|&x| factor[x as usize]),
        }
        columns.by_rest = by_rest;
        columns
    }

    fn own(&self, y: usize) -> Wide {
        self.factor[y]
            * match self.kind {
                Kind::Keep(keep) => {
                    let (kept, rest) = (keep.keep()[y], KEEP_ONE - keep.keep()[y]);
                    let base = keep.base().masses()[y];
                    Wide::from(
                        u128::from(kept) * u128::from(MASS_ONE)
                            + u128::from(rest) * u128::from(base),
                    )
                }
                Kind::Pattern { own, .. } => own,
            }
    }

    fn rest(&self, x: usize) -> Wide {
        self.factor[x]
            * match self.kind {
                Kind::Keep(keep) => Wide::from(KEEP_ONE - keep.keep()[x]),
                Kind::Pattern { rest, .. } => rest,
            }
    }

    fn base(&self, y: usize) -> Wide {
        match self.kind {
            Kind::Keep(keep) => Wide::from(keep.base().masses()[y]),
            Kind::Pattern { .. } => Wide::from(1u64),
        }
    }
}

impl Columns for Singled<'_> {
    fn extremes(&self) -> Vec<(Wide, Wide)> {
        let column = |y: usize| {
            let own = self.own(y);
            let other = |&&x: &&u32| x as usize != y;
            let entry = |x: Option<&u32>| x.map_or(own, |&x| self.rest(x as usize) * self.base(y));
            let highest = entry(self.by_rest.iter().rev().find(other));
            let lowest = entry(self.by_rest.iter().find(other));
            (highest.max(own), lowest.min(own))
        };
        (0..self.factor.len()).map(column).collect()
    }

    fn mixture(&self, weights: &[Wide]) -> Vec<Wide> {
        let weighted = |x: usize| weights[x] * self.rest(x);
        let all = (0..self.factor.len()).fold(Wide::ZERO, |sum, x| sum + weighted(x));
        let column = |y: usize| (all - weighted(y)) * self.base(y) + weights[y] * self.own(y);
        (0..self.factor.len()).map(column).collect()
    }

    fn box_ranges(&self, within: &PriorBox) -> Vec<(Wide, Wide)> {
        let lower: Vec<Wide> = within.lower().iter().map(|&end| Wide::from(end)).collect();
        let (least, greatest) =
            (BoxFill::new(self, within, false), BoxFill::new(self, within, true));
        let range = |(y, base): (usize, Wide)| {
            (base + least.above_lower(y), base + greatest.above_lower(y))
        };
        self.mixture(&lower).into_iter().enumerate().map(range).collect()
    }
}

/// Filling a box greedily, for every column at once.
///
/// All symbols but y have entry rest(x) base(y), so their order is the same for every column and prefix sums answer for
/// it; y itself is met where its own entry puts it.
struct BoxFill<'a> {
    columns: &'a Singled<'a>,
    within: &'a PriorBox,
    /// The symbols, the first to fill first, and where each stands.
    order: Vec<u32>,
    position: Vec<u32>,
    /// Room in the first i symbols, and room x rest of them.
    room: Vec<u64>,
    filled: Vec<Wide>,
    greatest: bool,
}

impl<'a> BoxFill<'a> {
    fn new(columns: &'a Singled<'a>, within: &'a PriorBox, greatest: bool) -> Self {
        let mut order = columns.by_rest.clone();
        if greatest {
            order.reverse();
        }
        let mut position = vec![0; order.len()];
        let (mut room, mut filled) = (vec![0u64], vec![Wide::ZERO]);
        let (mut room_sum, mut filled_sum) = (0, Wide::ZERO);
        for (at, &x) in order.iter().enumerate() {
            position[x as usize] = at as u32;
            let here = within.upper()[x as usize] - within.lower()[x as usize];
            room_sum += here;
            filled_sum += Wide::from(here) * columns.rest(x as usize);
            room.push(room_sum);
            filled.push(filled_sum);
        }
        Self { columns, within, order, position, room, filled, greatest }
    }

    /// Σ taken x rest when `amount` is filled in order.
    fn fill(&self, amount: u64) -> Wide {
        let full = self.room.partition_point(|&room| room <= amount) - 1;
        let left = Wide::from(amount - self.room[full]);
        let next = self.order.get(full).map_or(Wide::ZERO, |&x| self.columns.rest(x as usize));
        self.filled[full] + left * next
    }

    /// What the weight above the lower ends adds to column y at worst.
    fn above_lower(&self, y: usize) -> Wide {
        let (own, base) = (self.columns.own(y), self.columns.base(y));
        let sooner = |&x: &u32| {
            let entry = self.columns.rest(x as usize) * base;
            if self.greatest { entry > own } else { entry < own }
        };
        let before = self.order.partition_point(sooner);
        let at = self.position[y] as usize;
        let own_room = self.within.upper()[y] - self.within.lower()[y];
        let room_before = self.room[before] - if at < before { own_room } else { 0 };
        let own_taken = own_room.min(self.within.slack().saturating_sub(room_before));
        let others = self.within.slack() - own_taken;
        let filled = if others <= self.room[at] {
            self.fill(others)
        } else {
            let own_rest = Wide::from(own_room) * self.columns.rest(y);
            self.fill(others + own_room) - own_rest
        };
        Wide::from(own_taken) * own + filled * base
    }
}
