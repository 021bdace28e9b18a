//! What everything a person sends tells about one variable.
//!
//! `vectors/v1/plans.md` numbers the cases. The largest change of a belief over all outcomes is strongly NP-hard to find in
//! general (one variable with three values and leaves is enough), so it is exact where it can be enumerated or
//! followed along a tree of yes/no variables, and a safe bound elsewhere.

use super::claim::Given;
use super::law::{Law, Node};
use super::scope::Scope;
use super::walk::{self, Likelihoods, Walk};
use super::{Plan, Variable, binary_tree, pairwise};
use crate::certificate::{self, Strength};
use crate::magnitude::{Bounds, Magnitude, Round};
use crate::nats::Nats;
use crate::symbol::Token;
use crate::transcript::{listed_tokens, token_at};
use alloc::vec;
use alloc::vec::Vec;

/// How far belief in the values of one variable can move. The default is without bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Belief {
    /// The most that belief in a value rises, as a logarithm; `None` if nothing bounds it.
    pub upper: Option<Nats>,
    /// The most that belief in a value falls; `None` if nothing bounds it.
    pub lower: Option<Nats>,
    /// Whether both are attained, or one is only a bound.
    pub exact: bool,
    /// The place where belief rises most, where it was found.
    pub rise: Option<Outcome>,
    /// The place where belief falls most, where it was found.
    pub fall: Option<Outcome>,
}

/// What could be released, and the value that belief moves about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The index of the value.
    pub value: u32,
    /// What each item that counts releases.
    pub tokens: Vec<(u32, Token)>,
}

impl Belief {
    /// Belief that does not move.
    const STILL: Self = Self {
        upper: Some(Nats::ZERO),
        lower: Some(Nats::ZERO),
        exact: true,
        rise: None,
        fall: None,
    };

    /// The two-sided level: the worse of both sides; `None` if one has no bound.
    pub fn lip(&self) -> Option<Nats> {
        Some(self.upper?.max(self.lower?))
    }

    /// Each side at its worse.
    fn worse(self, other: Self) -> Self {
        // Nothing is above what has no bound.
        let above = |a: Option<Nats>, b: Option<Nats>| b.is_some_and(|b| a.is_none_or(|a| a > b));
        let (upper, rise) = if above(other.upper, self.upper) {
            (other.upper, other.rise)
        } else {
            (self.upper, self.rise)
        };
        let (lower, fall) = if above(other.lower, self.lower) {
            (other.lower, other.fall)
        } else {
            (self.lower, self.fall)
        };
        Self { upper, lower, exact: self.exact && other.exact, rise, fall }
    }
}

/// What the plan tells about a variable, in at most so many steps where it is exact; `None` if nothing is assumed about it.
pub(super) fn belief(plan: &Plan, about: Variable, given: Given, steps: usize) -> Option<Belief> {
    match given {
        Given::All => Some(judged(&Scope::all(plan, about)?, steps)),
        Given::Own => {
            let (parts, Variable::Question(question)) = (plan.parts(), about) else {
                return Some(Belief::STILL);
            };
            let of = |&item: &usize| parts.items[item].questions.contains(&question);
            let mut worst = Belief::STILL;
            for item in (0..parts.items.len()).filter(of) {
                worst = worst.worse(judged(&Scope::alone(plan, about, item)?, steps));
            }
            Some(worst)
        }
    }
}

/// What a scope tells. What is kept is told in full by no number of reports, only approached, so it is a bound.
fn judged(scope: &Scope<'_>, steps: usize) -> Belief {
    let found = found(scope, steps);
    let items = &scope.plan.parts().items;
    let repeats = scope.items().iter().any(|&item| items[item].fresh.is_some());
    let rounded = scope.items().iter().any(|&item| !scope.plan.is_exact(item));
    Belief { exact: found.exact && !repeats && !rounded, ..found }
}

/// The first case that applies.
fn found(scope: &Scope<'_>, steps: usize) -> Belief {
    let (plan, items) = (scope.plan, scope.items());
    let marginal = plan.parts().law.marginal(scope.target, scope.sizes[scope.target]);
    if plan.parts().periods > 1 {
        return by_ldp(plan.whole_ratio(), &marginal);
    }
    if items.is_empty() {
        return Belief::STILL;
    }
    if let ([item], [_]) = (&items[..], &scope.variables[..]) {
        return alone(scope, *item);
    }
    if let Some(exact) = Enumeration::new(scope, steps) {
        return exact.worst(&marginal);
    }
    if let Some((upper, lower)) = binary_tree::extremes(scope, &marginal, steps) {
        return Belief { upper, lower, exact: true, rise: None, fall: None };
    }
    let all = plan.most_telling(|item| items.binary_search(&item).is_ok());
    let mut bound = by_ldp(plan.product(&all), &marginal);
    if let Some(pairs) = pairwise::bounds(scope, &marginal) {
        let smaller = |a: Option<Nats>, b: Option<Nats>| [a, b].into_iter().flatten().min();
        bound.upper = smaller(bound.upper, pairs.upper);
        bound.lower = smaller(bound.lower, pairs.lower);
    }
    bound
}

/// What a likelihood ratio of g says about any belief: 1/(p + (1-p)/g) and p + (1-p)g, p the least probability.
pub(super) fn by_ldp(ratio: Option<Magnitude>, marginal: &[Bounds]) -> Belief {
    let least = marginal.iter().map(|p| p.low).min().unwrap_or(Magnitude::ZERO);
    let rest = |round| least.from_one(round);
    let (below, lower) = match ratio {
        None => (least, None),
        Some(g) => {
            let below = least.plus(rest(Round::Down).over(g, Round::Down), Round::Down);
            let lower = least.plus(rest(Round::Up).times(g, Round::Up), Round::Up);
            (below, Some(lower.ln_up()))
        }
    };
    let upper = (!below.is_zero()).then(|| Magnitude::ONE.over(below, Round::Up).ln_up());
    Belief { upper, lower, exact: false, rise: None, fall: None }
}

/// One item that is the only one to tell about a variable that nothing else tells about: the policy's own check.
fn alone(scope: &Scope<'_>, item: usize) -> Belief {
    let weights: Vec<u64> = match &scope.plan.parts().law {
        Law::Tree(nodes) => match &nodes[scope.target] {
            Node::Root(row) => row.masses().to_vec(),
            Node::Given { .. } => return Belief::default(),
        },
        Law::Points(points) => {
            let mut sums = vec![0; scope.sizes[scope.target]];
            points.iter().for_each(|p| sums[p.values[scope.target] as usize] += p.weight);
            sums
        }
        Law::Unknown => return Belief::default(),
    };
    let Strength { upper, lower, exact, .. } =
        certificate::attained_under(scope.plan.policy_of(item).draft().shape(), &weights);
    let shape = scope.plan.policy_of(item).draft().shape();
    let place = |value: Option<u32>, output: Option<u32>| {
        let token = match (shape, output) {
            (shape, Some(output)) if !shape.releases_bits() => vec![Token::Index(output)],
            _ => Vec::new(),
        };
        let tokens = token.into_iter().map(|token| (item as u32, token)).collect();
        value.map(|value| Outcome { value, tokens })
    };
    Belief {
        upper: upper.and_then(|worst| worst.ratio.ln_up()),
        lower: lower.and_then(|worst| worst.ratio.ln_up()),
        exact,
        rise: upper.and_then(|worst| place(worst.cell.high, worst.cell.output)),
        fall: lower.and_then(|worst| place(worst.cell.low, worst.cell.output)),
    }
}

/// The most outcomes that are enumerated.
const MAX_OUTCOMES: usize = 1 << 20;
/// The most outcomes times states, or steps along a tree, of everything that one plan claims.
pub(super) const MAX_STEPS: usize = 1 << 26;
/// The most combinations of values a tree is written out in.
const MAX_COMBINATIONS: usize = 1 << 16;

/// All outcomes of all sets of items that can be answered together, in a law that can be walked through.
struct Enumeration<'a> {
    scope: &'a Scope<'a>,
    /// The sets of items, each in order.
    sets: Vec<Vec<usize>>,
    /// Combinations of values with their weights, unless outcomes are followed along the tree.
    atoms: Option<Atoms>,
}

/// Combinations of the values of some variables, and their probabilities.
struct Atoms {
    weights: Vec<Bounds>,
    /// For every combination, the value of every variable of the plan; those outside the scope are 0.
    values: Vec<Vec<u32>>,
}

/// The worst that was seen of one side.
struct Worst {
    ratio: Option<Magnitude>,
    at: Option<(u32, usize, Vec<usize>)>,
}

impl Worst {
    const NOTHING: Self = Self { ratio: Some(Magnitude::ONE), at: None };

    fn see(&mut self, ratio: Option<Magnitude>, value: usize, set: usize, outcome: &[usize]) {
        let worse = match (self.ratio, ratio) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(worst), Some(ratio)) => ratio > worst,
        };
        if worse {
            *self = Self { ratio, at: Some((value as u32, set, outcome.to_vec())) };
        }
    }
}

impl<'a> Enumeration<'a> {
    /// `None` if there is too much to enumerate.
    fn new(scope: &'a Scope<'a>, steps: usize) -> Option<Self> {
        let states = match &scope.plan.parts().law {
            Law::Points(points) => points.len(),
            Law::Tree(nodes) if scope.is_single() => {
                let size = |&v: &usize| {
                    let above = nodes[v].parent().map_or(1, |parent| scope.sizes[parent]);
                    scope.sizes[v].checked_mul(above)
                };
                scope
                    .variables
                    .iter()
                    .map(size)
                    .try_fold(0usize, |sum, size| sum.checked_add(size?))?
            }
            Law::Tree(_) => {
                let sizes = scope.variables.iter().map(|&v| scope.sizes[v]);
                let product = sizes.into_iter().try_fold(1usize, usize::checked_mul)?;
                (product <= MAX_COMBINATIONS).then_some(product)?
            }
            Law::Unknown => return None,
        };
        let sets = scope.sets(MAX_OUTCOMES.min(steps / states.max(1)))?;
        let atoms = match &scope.plan.parts().law {
            Law::Points(points) => Some(Atoms {
                weights: points.iter().map(|p| Bounds::new(u128::from(p.weight), -48)).collect(),
                values: points.iter().map(|p| p.values.clone()).collect(),
            }),
            Law::Tree(_) if scope.is_single() => None,
            Law::Tree(nodes) => Some(Atoms::written_out(scope, nodes, states)),
            Law::Unknown => None,
        };
        Some(Self { scope, sets, atoms })
    }

    /// The largest rise and fall over all outcomes.
    fn worst(&self, marginal: &[Bounds]) -> Belief {
        let (mut rise, mut fall) = (Worst::NOTHING, Worst::NOTHING);
        let target = self.scope.target;
        for (number, set) in self.sets.iter().enumerate() {
            let mut see = |outcome: &[usize], joint: &[Bounds]| {
                let total = joint.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
                if total.high.is_zero() {
                    return;
                }
                for (value, (joint, prior)) in joint.iter().zip(marginal).enumerate() {
                    let expected = prior.low.times(total.low, Round::Down);
                    rise.see(Some(joint.high.over(expected, Round::Up)), value, number, outcome);
                    let above = total.high.times(prior.high, Round::Up);
                    let fell = (!joint.low.is_zero()).then(|| above.over(joint.low, Round::Up));
                    fall.see(fell, value, number, outcome);
                }
            };
            match &self.atoms {
                Some(atoms) => {
                    let mut joint = vec![Bounds::ZERO; marginal.len()];
                    let list = Listed { plan: self.scope.plan, set, atoms };
                    Walk(list).visit(&[], &mut |outcome, masses| {
                        joint.fill(Bounds::ZERO);
                        for (values, &mass) in atoms.values.iter().zip(masses) {
                            let sum = &mut joint[values[target] as usize];
                            *sum = sum.plus(mass);
                        }
                        see(outcome, &joint);
                    });
                }
                None => Along::new(self.scope, set).visit(&mut see),
            }
        }
        let place = |worst: &Worst| {
            let (value, set, outcome) = worst.at.as_ref()?;
            let told = self.sets[*set].iter().zip(outcome).map(|(&item, &outcome)| {
                let shape = self.scope.plan.policy_of(item).draft().shape();
                (item as u32, token_at(shape, outcome))
            });
            Some(Outcome { value: *value, tokens: told.collect() })
        };
        Belief {
            upper: rise.ratio.map(Magnitude::ln_up),
            lower: fall.ratio.map(Magnitude::ln_up),
            exact: true,
            rise: place(&rise),
            fall: place(&fall),
        }
    }
}

impl Scope<'_> {
    /// The sets of items that can be answered together, the largest ones only, in lexicographic order; `None` if they have more
    /// than `most` outcomes in all.
    fn sets(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        let outcomes = |set: &[usize]| {
            set.iter().try_fold(1usize, |product, &item| {
                let shape = self.plan.policy_of(item).draft().shape();
                product.checked_mul(listed_tokens(shape)?)
            })
        };
        let mut sets = Vec::new();
        let mut chosen: Vec<usize> = (0..self.asked).collect();
        let mut total = 0usize;
        loop {
            let mut set = self.everybody.clone();
            set.extend(chosen.iter().map(|&at| self.drawn[at]));
            set.sort_unstable();
            total = total.checked_add(outcomes(&set)?)?;
            if total > most {
                return None;
            }
            sets.push(set);
            // The next combination: the last one that can move on moves on.
            let last = self.drawn.len() - self.asked;
            let Some(at) = (0..self.asked).rev().find(|&at| chosen[at] < last + at) else {
                return Some(sets);
            };
            let next = chosen[at] + 1;
            chosen.iter_mut().skip(at).zip(next..).for_each(|(chosen, next)| *chosen = next);
        }
    }
}

impl Atoms {
    /// All combinations of the values of a scope's variables, the last variable fastest.
    fn written_out(scope: &Scope<'_>, nodes: &[Node], count: usize) -> Self {
        let mut atoms = Self { weights: Vec::new(), values: Vec::new() };
        for number in 0..count {
            let mut values = vec![0u32; scope.sizes.len()];
            let mut rest = number;
            for &variable in scope.variables.iter().rev() {
                values[variable] = (rest % scope.sizes[variable]) as u32;
                rest /= scope.sizes[variable];
            }
            let weight = scope.variables.iter().fold(Bounds::ONE, |weight, &variable| {
                let above = nodes[variable].parent().map_or(0, |parent| values[parent]);
                weight * nodes[variable].probability(values[variable] as usize, above as usize)
            });
            atoms.weights.push(weight);
            atoms.values.push(values);
        }
        atoms
    }
}

/// The likelihoods of a set of items in every combination of values.
struct Listed<'a> {
    plan: &'a Plan,
    set: &'a [usize],
    atoms: &'a Atoms,
}

impl Likelihoods for Listed<'_> {
    type Number = Bounds;

    fn weights(&self) -> Vec<Bounds> {
        self.atoms.weights.clone()
    }

    fn items(&self) -> usize {
        self.set.len()
    }

    fn outcomes(&self, item: usize) -> usize {
        let shape = self.plan.policy_of(self.set[item]).draft().shape();
        listed_tokens(shape).unwrap_or(0)
    }

    fn at(&self, item: usize, atom: usize, outcome: usize) -> Bounds {
        let item = self.set[item];
        let (parts, values) = (self.plan.parts(), &self.atoms.values[atom]);
        let symbol = parts.items[item].questions.iter().fold(0, |symbol, &question| {
            let question = question as usize;
            symbol * parts.questions[question].answers.len() + values[question] as usize
        });
        walk::enclosed(self.plan.policy_of(item).draft().shape(), symbol, outcome)
    }
}

/// Outcomes of items that have one question each, followed along the tree.
struct Along<'a> {
    scope: &'a Scope<'a>,
    nodes: &'a [Node],
    set: &'a [usize],
    /// From the root to the target.
    path: Vec<usize>,
    /// For every variable, the places in `set` of its items.
    own: Vec<Vec<usize>>,
    /// For every variable, the first place in `set` that is after all items of it and of what is below it.
    end: Vec<usize>,
    children: Vec<Vec<usize>>,
}

/// What every variable says to its parent, kept while the items at and below it come out as before.
struct Told {
    messages: Vec<Vec<Bounds>>,
    /// The first place in the set that came out otherwise than in the outcome before.
    changed: usize,
}

impl<'a> Along<'a> {
    fn new(scope: &'a Scope<'a>, set: &'a [usize]) -> Self {
        let nodes = scope.tree().unwrap_or(&[]);
        let mut path = vec![scope.target];
        while let Some(parent) = nodes[path[path.len() - 1]].parent() {
            path.push(parent);
        }
        path.reverse();
        let items = &scope.plan.parts().items;
        let own = |v: usize| {
            (0..set.len()).filter(|&at| items[set[at]].questions.contains(&(v as u32))).collect()
        };
        let own: Vec<Vec<usize>> = (0..nodes.len()).map(own).collect();
        let mut end = vec![0; nodes.len()];
        for (v, places) in own.iter().enumerate() {
            let after = places.last().map_or(0, |last| last + 1);
            let mut at = Some(v);
            while let Some(above) = at {
                end[above] = after.max(end[above]);
                at = nodes[above].parent();
            }
        }
        Self {
            scope,
            nodes,
            set,
            path,
            own,
            end,
            children: (0..nodes.len()).map(|v| scope.children(v).collect()).collect(),
        }
    }

    fn visit(&self, visit: &mut impl FnMut(&[usize], &[Bounds])) {
        let shape = |&item: &usize| self.scope.plan.policy_of(item).draft().shape();
        let sizes: Vec<usize> =
            self.set.iter().map(|item| listed_tokens(shape(item)).unwrap_or(0)).collect();
        let mut outcome = vec![0; self.set.len()];
        let mut told = Told { messages: vec![Vec::new(); self.nodes.len()], changed: 0 };
        loop {
            visit(&outcome, &self.joint(&outcome, &mut told));
            let Some(at) = (0..sizes.len()).rev().find(|&at| outcome[at] + 1 < sizes[at]) else {
                return;
            };
            outcome[at] += 1;
            outcome[at + 1..].fill(0);
            told.changed = at;
        }
    }

    /// P(outcome, value of the target).
    fn joint(&self, outcome: &[usize], told: &mut Told) -> Vec<Bounds> {
        let root = self.path[0];
        let mut front: Vec<Bounds> = (0..self.scope.sizes[root])
            .map(|x| self.nodes[root].probability(x, 0) * self.here(root, x, outcome))
            .collect();
        self.times_children(root, self.path.get(1).copied(), &mut front, outcome, told);
        for (at, &v) in self.path.iter().enumerate().skip(1) {
            let mut next: Vec<Bounds> = (0..self.scope.sizes[v])
                .map(|z| {
                    let terms = front.iter().enumerate();
                    let sum = terms.fold(Bounds::ZERO, |sum, (x, &f)| {
                        sum.plus(f * self.nodes[v].probability(z, x))
                    });
                    sum * self.here(v, z, outcome)
                })
                .collect();
            self.times_children(v, self.path.get(at + 1).copied(), &mut next, outcome, told);
            front = next;
        }
        front
    }

    /// The likelihood of what a variable's own items released.
    fn here(&self, v: usize, x: usize, outcome: &[usize]) -> Bounds {
        self.own[v].iter().fold(Bounds::ONE, |product, &at| {
            let shape = self.scope.plan.policy_of(self.set[at]).draft().shape();
            product * walk::enclosed(shape, x, outcome[at])
        })
    }

    /// Multiplies by what the children say, but for the next variable of the path.
    fn times_children(
        &self,
        v: usize,
        next: Option<usize>,
        to: &mut [Bounds],
        outcome: &[usize],
        told: &mut Told,
    ) {
        for &child in self.children[v].iter().filter(|&&child| Some(child) != next) {
            if told.messages[child].is_empty() || self.end[child] > told.changed {
                let mut below: Vec<Bounds> =
                    (0..self.scope.sizes[child]).map(|z| self.here(child, z, outcome)).collect();
                self.times_children(child, None, &mut below, outcome, told);
                let message = (0..to.len()).map(|x| {
                    let terms = below.iter().enumerate();
                    terms.fold(Bounds::ZERO, |sum, (z, &up)| {
                        sum.plus(self.nodes[child].probability(z, x) * up)
                    })
                });
                told.messages[child] = message.collect();
            }
            for (to, &message) in to.iter_mut().zip(&told.messages[child]) {
                *to = *to * message;
            }
        }
    }
}
