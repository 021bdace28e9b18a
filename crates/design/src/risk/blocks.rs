//! Channels that release a block: beliefs depend on it through its mass alone.
//!
//! With likelihoods h from inside a block and l from outside, an input of probability p in a block of mass m has the posterior
//! p h / (m h + (1 - m) l), and one outside it p l / (m h + (1 - m) l). So of the blocks with an input, and of those without
//! it, the lightest and the heaviest decide.

use super::interval::Interval;
use super::listed::Listed;
use super::{BOX_STEPS, Belief, LISTED_BITS};
use crate::plan::coins::{binomial, subsets};
use undertone_core::MASS_ONE;
use undertone_core::incidence::{Family, Incidence, Subsets};
use undertone_numeric::round::{add_down, add_up, mul_down, mul_up};

/// Up to so many pairs of a block and a symbol are gone through.
const MOST_PAIRS: usize = 1 << 24;

/// The likelihoods of a block from inside and from outside.
#[derive(Clone, Copy)]
struct Likelihoods {
    inside: Interval,
    outside: Interval,
}

impl Likelihoods {
    /// Up to a common factor, from the integers: `inside` and `outside` blocks are taken by an index that is uneven by at
    /// most `unevenness` over 2^64.
    fn new(incidence: &Incidence, with: f64, without: f64, unevenness: f64) -> Self {
        let coin = Interval::exact(incidence.coin() as f64 / MASS_ONE as f64);
        let slack = mul_up(unevenness, 2f64.powi(-63));
        let about = Interval { low: 1.0 - slack, high: 1.0 + slack };
        let of = |chance: Interval, blocks: f64| chance.over(Interval::exact(blocks)) * about;
        Self { inside: of(coin, with), outside: of(coin.complement(), without) }
    }

    fn of_subsets(incidence: &Incidence, subsets: &Subsets) -> Self {
        let (symbols, size) = (incidence.symbols() as f64, subsets.size() as f64);
        // There are size / (symbols - size) times as many subsets with a symbol as without.
        Self::new(incidence, size, symbols - size, size * symbols)
    }

    fn of_numbered(incidence: &Incidence) -> Option<Self> {
        let (all, each) = (incidence.blocks()? as f64, incidence.replication()? as f64);
        Some(Self::new(incidence, each, all - each, all))
    }

    /// The posterior of an input in a block of a mass, or outside it.
    fn posterior(&self, before: Interval, mass: Interval, inside: bool) -> Interval {
        let own = if inside { self.inside } else { self.outside };
        let all = self.inside * mass + self.outside * mass.complement();
        (before * own).over(all)
    }
}

/// The beliefs under one prior; `None` where there are too many blocks to go through for every symbol.
pub(super) fn under(incidence: &Incidence, prior: &[Interval]) -> Option<Vec<Belief>> {
    match incidence.family() {
        Family::Subsets(subsets) => Some(under_subsets(incidence, subsets, prior)),
        Family::Geometry(_) | Family::Listed(_) => under_numbered(incidence, prior),
    }
}

/// The lightest subset with a symbol has the lightest others beside it, and so on; sums are of sorted weights.
fn under_subsets(incidence: &Incidence, subsets: &Subsets, prior: &[Interval]) -> Vec<Belief> {
    let likelihoods = Likelihoods::of_subsets(incidence, subsets);
    let (symbols, size) = (prior.len(), subsets.size());
    let mut order: Vec<usize> = (0..symbols).collect();
    order.sort_by(|&a, &b| prior[a].high.total_cmp(&prior[b].high).then(a.cmp(&b)));
    let mut rank = vec![0; symbols];
    order.iter().enumerate().for_each(|(at, &x)| rank[x] = at);
    let mut before = vec![Interval::ZERO];
    for &x in &order {
        before.push(before[before.len() - 1] + prior[x]);
    }
    let between = |from: usize, to: usize| without(before[to], before[from]);
    // The lightest, or the heaviest, so many symbols other than one.
    let lightest = |x: usize, count: usize| {
        if rank[x] >= count { between(0, count) } else { without(between(0, count + 1), prior[x]) }
    };
    let heaviest = |x: usize, count: usize| {
        let from = symbols - count;
        if rank[x] < from {
            between(from, symbols)
        } else {
            without(between(from - 1, symbols), prior[x])
        }
    };
    let belief = |x: usize| {
        let mut found = known(prior[x]);
        for mass in [lightest(x, size - 1), heaviest(x, size - 1)] {
            let mass = cut(mass + prior[x]);
            widen(&mut found, likelihoods.posterior(prior[x], mass, true), None);
        }
        for mass in [lightest(x, size), heaviest(x, size)] {
            widen(&mut found, likelihoods.posterior(prior[x], cut(mass), false), None);
        }
        found
    };
    (0..symbols).map(belief).collect()
}

fn under_numbered(incidence: &Incidence, prior: &[Interval]) -> Option<Vec<Belief>> {
    let blocks = incidence.blocks()?;
    if prior.len().saturating_mul(blocks) > MOST_PAIRS {
        return None;
    }
    let likelihoods = Likelihoods::of_numbered(incidence)?;
    let sums = |end: &dyn Fn(&Interval) -> f64| {
        incidence.block_sums(&prior.iter().map(end).collect::<Vec<f64>>())
    };
    // Sums of floats in any order are off by less than a unit in the last place of one for every term.
    let slack = prior.len() as f64 * f64::EPSILON;
    let (low, high) = (sums(&|p| p.low), sums(&|p| p.high));
    let mass = |block: usize| {
        cut(Interval {
            low: mul_down(low[block], 1.0 - slack),
            high: mul_up(high[block], 1.0 + slack),
        })
    };
    let masses: Vec<Interval> = (0..blocks).map(mass).collect();
    let belief = |x: usize| {
        let mut found = known(prior[x]);
        for (block, &mass) in masses.iter().enumerate() {
            let inside = incidence.contains(block as u32, x as u32);
            widen(&mut found, likelihoods.posterior(prior[x], mass, inside), Some(block));
        }
        found
    };
    Some((0..prior.len()).map(belief).collect())
}

/// The channel, gone through block by block, for so many sums over each; `None` where that takes too long.
pub(super) fn listed(incidence: &Incidence, sums: usize) -> Option<Listed<'_>> {
    let symbols = incidence.symbols();
    let few = |blocks: usize| symbols.saturating_mul(sums).saturating_mul(blocks) <= BOX_STEPS;
    if let Family::Subsets(family) = incidence.family() {
        let count = binomial(symbols, family.size());
        if symbols > LISTED_BITS || !few(count) {
            return None;
        }
        let sets = subsets(symbols, family.size());
        let Likelihoods { inside, outside } = Likelihoods::of_subsets(incidence, family);
        let cell = move |x: usize, y: usize| if sets[y].contains(&x) { inside } else { outside };
        return Some(Listed::by_cell(symbols, count, false, cell));
    }
    let blocks = incidence.blocks().filter(|&blocks| few(blocks))?;
    let Likelihoods { inside, outside } = Likelihoods::of_numbered(incidence)?;
    let cell = move |x: usize, y: usize| {
        if incidence.contains(y as u32, x as u32) { inside } else { outside }
    };
    Some(Listed::by_cell(symbols, blocks, true, cell))
}

/// A mass without a part of it.
fn without(mass: Interval, part: Interval) -> Interval {
    Interval {
        low: add_down(mass.low, -part.high).max(0.0),
        high: add_up(mass.high, -part.low).max(0.0),
    }
}

/// A mass is at most one.
fn cut(mass: Interval) -> Interval {
    Interval { low: mass.low.clamp(0.0, 1.0), high: mass.high.clamp(0.0, 1.0) }
}

/// What is believed before.
fn known(before: Interval) -> Belief {
    Belief {
        before_least: before.low,
        before_most: before.high,
        least: before.low,
        most: before.high,
        most_after: None,
        least_after: None,
    }
}

fn widen(belief: &mut Belief, posterior: Interval, block: Option<usize>) {
    if posterior.high > belief.most {
        (belief.most, belief.most_after) = (posterior.high.min(1.0), block);
    }
    if posterior.low < belief.least {
        (belief.least, belief.least_after) = (posterior.low, block);
    }
}
