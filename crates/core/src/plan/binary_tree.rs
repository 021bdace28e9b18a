//! Belief along a tree of yes/no variables, exactly.
//!
//! For a variable with two values everything its side of the tree can say about it is one number, the ratio
//! f(1)/f(0), and over all outcomes that number fills the space between a least and a greatest value that are both
//! attained. Ratios of independent sides multiply, and an edge maps them monotonically, so ends go to ends: the
//! extremes at the target need no enumeration. With at most c drawn items answered, the ends are kept for
//! every c, and what is answered on one side is not answered on another.

use super::law::Node;
use super::scope::Scope;
use super::walk;
use crate::magnitude::{Bounds, Magnitude, Round};
use crate::mass::KEEP_ONE;
use crate::nats::Nats;
use crate::shape::{Bits, Keep, Shape};
use alloc::vec;
use alloc::vec::Vec;

/// A ratio between two ends; an end that is `None` is without bound.
#[derive(Clone, Copy)]
struct Range {
    low: Magnitude,
    high: Option<Magnitude>,
}

/// The larger, where nothing is larger than everything.
fn larger(a: Option<Magnitude>, b: Option<Magnitude>) -> Option<Magnitude> {
    Some(a?.max(b?))
}

impl Range {
    const ONE: Self = Self { low: Magnitude::ONE, high: Some(Magnitude::ONE) };

    fn times(self, other: Self) -> Self {
        let high = match (self.high, other.high) {
            (Some(a), Some(b)) => Some(a.times(b, Round::Up)),
            _ => None,
        };
        Self { low: self.low.times(other.low, Round::Down), high }
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: larger(self.high, other.high) }
    }
}

/// Two coefficients (of value 1, of value 0) for every value of a leaf, as integers in one unit, and their sums as enclosures.
struct Leaf {
    one: Vec<Bounds>,
    zero: Vec<Bounds>,
    /// The values ordered by one over zero, descending.
    order: Vec<usize>,
}

/// The most that belief in a target with two values rises and falls, exactly; `None` if the tree is of another kind or takes more
/// steps.
pub(super) fn extremes(
    scope: &Scope<'_>,
    marginal: &[Bounds],
    steps: usize,
) -> Option<(Option<Nats>, Option<Nats>)> {
    let tree = Tree { scope, nodes: scope.tree()? };
    if !tree.is_binary() || tree.steps() > steps {
        return None;
    }
    let at_target = tree.side(scope.target, None);
    let Range { low, high } = at_target[scope.asked];
    let (zero, one) = (marginal[0], marginal[1]);
    // R = P(1|y)/P(0|y): the rise of 1 is 1/(P(1)(1 + 1/R)), of 0 it is 1/(P(0)(1 + R)).
    let inverse = high.map_or(Magnitude::ZERO, |high| Magnitude::ONE.over(high, Round::Down));
    let rise = |p: Bounds, odds: Magnitude| {
        let below = p.low.times(Magnitude::ONE.plus(odds, Round::Down), Round::Down);
        Magnitude::ONE.over(below, Round::Up)
    };
    let upper = rise(one, inverse).max(rise(zero, low));
    let fall = |p: Bounds, odds: Option<Magnitude>| {
        Some(p.high.times(Magnitude::ONE.plus(odds?, Round::Up), Round::Up))
    };
    let inverse = (!low.is_zero()).then(|| Magnitude::ONE.over(low, Round::Up));
    let lower = larger(fall(one, inverse), fall(zero, high));
    Some((Some(upper.ln_up()), lower.map(Magnitude::ln_up)))
}

struct Tree<'a> {
    scope: &'a Scope<'a>,
    nodes: &'a [Node],
}

impl Tree<'_> {
    fn is_binary(&self) -> bool {
        let scope = self.scope;
        let fits = |&v: &usize| {
            scope.sizes[v] == 2
                || (v != scope.target
                    && scope.neighbours(v).len() <= 1
                    && scope.items_of(v).count() <= 1)
        };
        let shape = |item: usize| scope.plan.policy_of(item).draft().shape();
        // The many subsets of one size are not looked at one by one.
        let subsets = |item: usize| match shape(item) {
            Shape::Incidence(incidence) => incidence.releases_bits(),
            Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => false,
        };
        let listed = !scope.items().iter().any(|&item| subsets(item));
        listed && scope.is_single() && scope.variables.iter().all(fits)
    }

    /// The cells of the items' channels, and for every item and every variable the ways to share the drawn items.
    fn steps(&self) -> usize {
        let items = self.scope.items();
        let cells =
            items.iter().map(|&item| match self.scope.plan.policy_of(item).draft().shape() {
                shape @ (Shape::Table(_) | Shape::Incidence(_)) => {
                    shape.inputs().saturating_mul(shape.outputs())
                }
                shape @ (Shape::Keep(_) | Shape::Bits(_)) => shape.inputs(),
            });
        let shared = (self.scope.asked + 1).saturating_mul(self.scope.asked + 1);
        let places = items.len() + self.scope.variables.len();
        cells.fold(places.saturating_mul(shared), usize::saturating_add)
    }

    /// T(z|x): the law of a child given its parent.
    fn given(&self, child: usize, z: usize, x: usize) -> Bounds {
        self.nodes[child].probability(z, x)
    }

    /// For every number of drawn items, the ends of f(1)/f(0) of a variable with two values, from everything but the side
    /// towards `to`. The prior is part of it unless that is the parent.
    fn side(&self, v: usize, to: Option<usize>) -> Vec<Range> {
        let mut ends = vec![Range::ONE; self.scope.asked + 1];
        for (item, drawn) in self.scope.items_of(v) {
            let one = ratio_of(self.scope.plan.policy_of(item).draft().shape());
            self.combine(&mut ends, &self.optional(one, Range::ONE, drawn));
        }
        if self.nodes[v].parent().is_none() {
            let prior = |value| self.nodes[v].probability(value, 0);
            let prior = hull_of([quotient(prior(1), prior(0))]);
            ends.iter_mut().for_each(|end| *end = end.times(prior));
        }
        for neighbour in self.scope.neighbours(v) {
            if Some(neighbour) != to {
                self.combine(&mut ends, &self.message(neighbour, v));
            }
        }
        ends
    }

    /// The ends of what one item adds: always, or only where one more drawn item may be answered.
    fn optional(&self, with: Range, without: Range, drawn: bool) -> Vec<Range> {
        let mut ends = vec![if drawn { with.hull(without) } else { with }; self.scope.asked + 1];
        if drawn {
            ends[0] = without;
        }
        ends
    }

    /// The product of two independent sides that share the drawn items.
    fn combine(&self, ends: &mut Vec<Range>, with: &[Range]) {
        let sum = |c: usize| {
            let pairs = (0..=c).map(|first| ends[first].times(with[c - first]));
            pairs.reduce(Range::hull).unwrap_or(Range::ONE)
        };
        *ends = (0..ends.len()).map(sum).collect();
    }

    /// What a neighbour says about a variable with two values: the ends of the ratio, value 1 over value 0.
    fn message(&self, from: usize, v: usize) -> Vec<Range> {
        let is_child = self.nodes[from].parent() == Some(v);
        if self.scope.sizes[from] != 2 {
            return self.leaf_message(from, v, is_child);
        }
        // (a + b r)/(c + d r).
        let t = |z, x| if is_child { self.given(from, z, x) } else { self.given(v, z, x) };
        let [a, b, c, d] = match is_child {
            true => [t(0, 1), t(1, 1), t(0, 0), t(1, 0)],
            false => [t(1, 0), t(1, 1), t(0, 0), t(0, 1)],
        };
        let through = |end: Range| {
            let at = |r: Option<Magnitude>| mobius([a, b, c, d], r);
            hull_of([at(Some(end.low)), at(end.high)])
        };
        self.side(from, Some(v)).into_iter().map(through).collect()
    }

    /// A neighbour with other than two values, which is a leaf with at most one item.
    fn leaf_message(&self, from: usize, v: usize, is_child: bool) -> Vec<Range> {
        let leaf = self.leaf(from, v, is_child);
        let sum = |list: &[Bounds]| list.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
        let silent = match is_child {
            true => Range::ONE,
            false => hull_of([quotient(sum(&leaf.one), sum(&leaf.zero))]),
        };
        match self.scope.items_of(from).next() {
            None => vec![silent; self.scope.asked + 1],
            Some((item, drawn)) => {
                let shape = self.scope.plan.policy_of(item).draft().shape();
                self.optional(leaf.extremes(shape), silent, drawn)
            }
        }
    }

    fn leaf(&self, from: usize, v: usize, is_child: bool) -> Leaf {
        let size = self.scope.sizes[from];
        // The order is by exact integers: a parent's own probability cancels.
        let mass = |value: usize, z: usize| {
            let (child, z, x) = if is_child { (from, z, value) } else { (v, value, z) };
            match &self.nodes[child] {
                Node::Given { rows, .. } => u128::from(rows[x].masses()[z]),
                Node::Root(row) => u128::from(row.masses()[z]),
            }
        };
        let weight = |z: usize| match is_child {
            true => Bounds::ONE,
            false => self.nodes[from].probability(z, 0),
        };
        let list = |value: usize| {
            (0..size).map(|z| weight(z) * Bounds::new(mass(value, z), -48)).collect()
        };
        let mut order: Vec<usize> = (0..size).collect();
        let empty = |z: usize| mass(1, z) == 0 && mass(0, z) == 0;
        order.sort_by(|&x, &z| {
            let by_ratio = (mass(1, z) * mass(0, x)).cmp(&(mass(1, x) * mass(0, z)));
            empty(x).cmp(&empty(z)).then(by_ratio)
        });
        Leaf { one: list(1), zero: list(0), order }
    }
}

impl Leaf {
    /// The least and the greatest Σ_z one(z) w(y|z) / Σ_z zero(z) w(y|z) over the outputs.
    fn extremes(&self, shape: &Shape) -> Range {
        match shape {
            Shape::Bits(bits) => return self.of_bits(bits),
            Shape::Keep(keep) => return self.of_keep(keep),
            Shape::Table(_) | Shape::Incidence(_) => {}
        }
        let column = |y: usize| {
            let sum = |list: &[Bounds]| {
                let terms = list.iter().enumerate();
                terms.fold(Bounds::ZERO, |sum, (z, &p)| sum.plus(p * walk::enclosed(shape, z, y)))
            };
            (sum(&self.one), sum(&self.zero))
        };
        hull_of_columns((0..shape.outputs()).map(column))
    }

    /// Which bits speak for their symbols is an arbitrary set; a ratio of two measures of it is extreme at a prefix of the
    /// order by their ratio, from either end.
    fn of_bits(&self, bits: &Bits) -> Range {
        let (high, low) = bits.likelihoods();
        // Where a set bit speaks against its symbol, the sets are those of the other symbols: the same prefixes from the other end.
        let more = Bounds::new(high.abs_diff(low), -64);
        let least = Bounds::new(high.min(low), -64);
        let all = |list: &[Bounds]| least * list.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
        let (one, zero) = (all(&self.one), all(&self.zero));
        let sets = |order: &mut dyn Iterator<Item = usize>| {
            let columns = order.scan((one, zero), |(one, zero), z| {
                *one = one.plus(more * self.one[z]);
                *zero = zero.plus(more * self.zero[z]);
                Some((*one, *zero))
            });
            hull_of_columns(columns)
        };
        sets(&mut self.order.iter().copied()).hull(sets(&mut self.order.iter().rev().copied()))
    }

    /// What is kept speaks for one value alone; what is drawn adds the same to every output, as its base has it.
    fn of_keep(&self, keep: &Keep) -> Range {
        let (kept, base) = (keep.keep(), keep.base().masses());
        let drawn = |list: &[Bounds]| {
            let terms = list.iter().zip(kept);
            terms.fold(Bounds::ZERO, |sum, (&p, &kept)| {
                sum.plus(p * Bounds::new(u128::from(KEEP_ONE - kept), -40))
            })
        };
        let sides = [(&self.one, drawn(&self.one)), (&self.zero, drawn(&self.zero))];
        let column = |y: usize| {
            let [one, zero] = sides.each_ref().map(|(list, drawn)| {
                let own = list[y] * Bounds::new(u128::from(kept[y]), -40);
                own.plus(*drawn * Bounds::new(u128::from(base[y]), -48))
            });
            (one, zero)
        };
        hull_of_columns((0..base.len()).map(column))
    }
}

/// A quotient of two enclosures; an end that is `None` is without bound.
struct Quotient {
    low: Option<Magnitude>,
    high: Option<Magnitude>,
}

fn quotient(one: Bounds, zero: Bounds) -> Quotient {
    Quotient {
        low: (!zero.high.is_zero()).then(|| one.low.over(zero.high, Round::Down)),
        high: (!zero.low.is_zero()).then(|| one.high.over(zero.low, Round::Up)),
    }
}

/// The hull of some quotients. One without bound has no least value; they are never all without bound, because what has
/// probability nought in all rows of a law was refused, and every row of a channel sums to one.
fn hull_of(quotients: impl IntoIterator<Item = Quotient>) -> Range {
    let (mut low, mut high) = (None, Some(Magnitude::ZERO));
    for quotient in quotients {
        low = [low, quotient.low].into_iter().flatten().min();
        high = larger(high, quotient.high);
    }
    Range { low: low.unwrap_or(Magnitude::ZERO), high }
}

/// The hull of the quotients of an output's two likelihoods, for all outputs; 0/0 is one that cannot occur.
fn hull_of_columns(columns: impl Iterator<Item = (Bounds, Bounds)>) -> Range {
    let possible = columns.filter(|(one, zero)| !one.high.is_zero() || !zero.high.is_zero());
    hull_of(possible.map(|(one, zero)| quotient(one, zero)))
}

/// The least and the greatest w(y|1)/w(y|0) of a channel with two inputs.
fn ratio_of(shape: &Shape) -> Range {
    if let Shape::Bits(bits) = shape {
        let (high, low) = bits.likelihoods();
        let (high, low) = (Bounds::new(high, -64), Bounds::new(low, -64));
        return hull_of([quotient(high, low), quotient(low, high)]);
    }
    let column = |y: usize| (walk::enclosed(shape, 1, y), walk::enclosed(shape, 0, y));
    hull_of_columns((0..shape.outputs()).map(column))
}

/// (a + b r)/(c + d r) at one end; b/d where r has no bound.
fn mobius([a, b, c, d]: [Bounds; 4], r: Option<Magnitude>) -> Quotient {
    let Some(r) = r else { return quotient(b, d) };
    let r = Bounds { low: r, high: r };
    quotient(a.plus(b * r), c.plus(d * r))
}
