//! A bound on belief along any tree, from how far apart any two values of a variable can be told.
//!
//! D(a, b) bounds the ratio of the likelihoods of two values over everything one side of the tree can say. Through an
//! edge, where the laws of the neighbour given a and given b share the mass c, a ratio of at most g becomes at most
//! c + (1-c)g: what is shared cannot tell them apart.

use super::belief::{Belief, by_ldp};
use super::law::Node;
use super::scope::Scope;
use super::walk;
use crate::magnitude::{Bounds, Magnitude, Round};
use crate::ratio::Ratio;
use crate::shape::Shape;
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;

/// More steps than this for one variable, and all its pairs share one number.
const MAX_STEPS: usize = 1 << 16;

/// How far apart the values of a variable can be told; `None` is without bound.
enum Apart {
    /// By pairs, row by row.
    Pairs(Vec<Option<Magnitude>>),
    /// Any two.
    Any(Option<Magnitude>),
}

impl Apart {
    fn largest(&self) -> Option<Magnitude> {
        match self {
            Self::Pairs(pairs) => {
                pairs.iter().try_fold(Magnitude::ONE, |largest, &pair| Some(largest.max(pair?)))
            }
            Self::Any(ratio) => *ratio,
        }
    }

    fn at(&self, size: usize, a: usize, b: usize) -> Option<Magnitude> {
        match self {
            _ if a == b => Some(Magnitude::ONE),
            Self::Pairs(pairs) => pairs[a * size + b],
            Self::Any(ratio) => *ratio,
        }
    }

    /// Multiplies the entry of every pair of different values.
    fn times(&mut self, size: usize, by: impl Fn(usize, usize) -> Option<Magnitude>) {
        let multiply = |entry: &mut Option<Magnitude>, by: Option<Magnitude>| {
            *entry = match (*entry, by) {
                (Some(entry), Some(by)) => Some(entry.times(by, Round::Up)),
                _ => None,
            };
        };
        match self {
            Self::Any(entry) => multiply(entry, by(0, 0)),
            Self::Pairs(pairs) => {
                for (at, entry) in pairs.iter_mut().enumerate() {
                    let (a, b) = (at / size, at % size);
                    if a != b {
                        multiply(entry, by(a, b));
                    }
                }
            }
        }
    }
}

/// Bounds on the most that belief in the target rises and falls; `None` if the law is no tree or an item combines questions.
pub(super) fn bounds(scope: &Scope<'_>, marginal: &[Bounds]) -> Option<Belief> {
    let nodes = scope.tree()?;
    if !scope.is_single() {
        return None;
    }
    let size = marginal.len();
    let apart = Tree { scope, nodes }.side(scope.target, None);
    if let Apart::Any(ratio) = apart {
        return Some(by_ldp(ratio, marginal));
    }
    let (mut upper, mut lower) = (Some(Magnitude::ONE), Some(Magnitude::ONE));
    for a in 0..size {
        let below = (0..size).fold(Magnitude::ZERO, |sum, b| {
            let term = apart.at(size, a, b).map(|d| marginal[b].low.over(d, Round::Down));
            sum.plus(term.unwrap_or(Magnitude::ZERO), Round::Down)
        });
        let rise = Magnitude::ONE.over(below, Round::Up);
        upper = upper.map(|upper| upper.max(rise));
        let fall = (0..size).try_fold(Magnitude::ZERO, |sum, b| {
            Some(sum.plus(marginal[b].high.times(apart.at(size, b, a)?, Round::Up), Round::Up))
        });
        lower = lower.and_then(|lower| Some(lower.max(fall?)));
    }
    let (upper, lower) = (upper.map(Magnitude::ln_up), lower.map(Magnitude::ln_up));
    Some(Belief { upper, lower, ..Belief::default() })
}

struct Tree<'a> {
    scope: &'a Scope<'a>,
    nodes: &'a [Node],
}

impl Tree<'_> {
    /// How far apart everything but the side towards `to` tells the values of a variable.
    fn side(&self, v: usize, to: Option<usize>) -> Apart {
        let (scope, size) = (self.scope, self.scope.sizes[v]);
        let neighbours = scope.neighbours(v);
        let items: Vec<usize> = scope.items_of(v).map(|(item, _)| item).collect();
        let shape = |item: usize| scope.plan.policy_of(item).draft().shape();
        let most = items.iter().map(|&item| shape(item).outputs());
        let most = most.chain(neighbours.iter().map(|&n| scope.sizes[n])).max().unwrap_or(1);
        let steps = size.saturating_mul(size).saturating_mul(most);
        let mut apart = match steps > MAX_STEPS {
            true => Apart::Any(Some(Magnitude::ONE)),
            false => Apart::Pairs(vec![Some(Magnitude::ONE); size * size]),
        };
        let coarse = matches!(apart, Apart::Any(_));
        for item in items {
            let whole = scope.plan.ratio_up(item);
            match shape(item) {
                Shape::Table(_) | Shape::Keep(_) if !coarse => {
                    apart.times(size, |a, b| largest_ratio(shape(item), a, b));
                }
                _ => apart.times(size, |_, _| whole),
            }
        }
        for neighbour in neighbours.into_iter().filter(|&n| Some(n) != to) {
            let largest = self.side(neighbour, Some(v)).largest();
            let law = self.law_given(neighbour, v);
            let shared = |least: &dyn Fn(usize) -> Magnitude| {
                (0..scope.sizes[neighbour])
                    .fold(Magnitude::ZERO, |sum, z| sum.plus(least(z), Round::Down))
            };
            let any = |z: usize| (0..size).map(|a| law(z, a)).min().unwrap_or(Magnitude::ZERO);
            let of_all = coarse.then(|| through(shared(&any), largest)).flatten();
            apart.times(size, |a, b| match coarse {
                true => of_all,
                false => through(shared(&|z| law(z, a).min(law(z, b))), largest),
            });
        }
        apart
    }

    /// P(z | a) of a neighbour given a value of a variable, rounded down.
    fn law_given(&self, neighbour: usize, v: usize) -> impl Fn(usize, usize) -> Magnitude {
        let is_child = self.nodes[neighbour].parent() == Some(v);
        let law = &self.scope.plan.parts().law;
        let (above, own) = match is_child {
            true => (Vec::new(), Vec::new()),
            false => (
                law.marginal(neighbour, self.scope.sizes[neighbour]),
                law.marginal(v, self.scope.sizes[v]),
            ),
        };
        move |z, a| match is_child {
            true => self.nodes[neighbour].probability(z, a).low,
            false => {
                let joint = above[z].low.times(self.nodes[v].probability(a, z).low, Round::Down);
                joint.over(own[a].high, Round::Down)
            }
        }
    }
}

/// c + (1-c)g.
fn through(shared: Magnitude, largest: Option<Magnitude>) -> Option<Magnitude> {
    let rest = shared.from_one(Round::Up);
    if rest.is_zero() {
        return Some(Magnitude::ONE);
    }
    Some(rest.times(largest?, Round::Up).plus(shared, Round::Up))
}

/// The largest w(y|a)/w(y|b) of a channel whose outputs are listed.
fn largest_ratio(shape: &Shape, a: usize, b: usize) -> Option<Magnitude> {
    let ratio = |y: usize| {
        let (above, below) = (walk::likelihood(shape, a, y).1, walk::likelihood(shape, b, y).0);
        Ratio::new(Wide::from(above), Wide::from(below))
    };
    let ratios = (0..shape.outputs()).filter_map(ratio);
    ratios.max().unwrap_or(Ratio::ONE).magnitude_up()
}
