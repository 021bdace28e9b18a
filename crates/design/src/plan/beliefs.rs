//! How far the answers to one group move belief in a variable, under a joint law.
//!
//! Randomised response over K symbols at level ε has other = 1/(e^ε+K-1) and gap = (e^ε-1) other. If y is released, belief in
//! value a of a variable moves by the factor (other + gap P(y|a)) / (other + gap P(y)), P(y) and P(y|a) the symbol's own
//! probabilities: so it rises by at most e^u iff (e^ε-1)(P(y|a) - e^u P(y)) <= e^u - 1, and falls by at most e^l iff
//! (e^ε-1)(P(y) - e^l P(y|a)) <= e^l - 1, for all a and y. Anything else at ε-LDP moves belief in a value of probability p by at most
//! 1/(p + (1-p)e^-ε) up and p + (1-p)e^ε down. These are floats: they say where to look, and the kernel's plan decides.

use undertone_core::MASS_ONE;
use undertone_core::plan::{Law, Node};

use super::search::Limits;

/// Belief in a variable may rise and fall by so much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// The variable: questions first, then secrets.
    pub variable: usize,
    /// The most it may fall, in nats.
    pub lower: f64,
    /// The most it may rise, in nats.
    pub upper: f64,
}

/// A law of a person's data, and what is promised about it.
#[derive(Debug, Clone)]
pub struct Beliefs {
    sizes: Vec<usize>,
    known: Known,
    promises: Vec<Promise>,
}

/// A law as far as it can be written out.
#[derive(Debug, Clone)]
enum Known {
    /// Combinations with their probabilities.
    Points(Vec<(f64, Vec<u32>)>),
    /// A tree with too many combinations: each variable's parent, and its rows.
    Tree(Vec<(Option<usize>, Vec<Vec<f64>>)>),
    /// Nothing is assumed.
    Nothing,
}

/// A tree is written out up to this many combinations.
const MOST_POINTS: usize = 1 << 16;

fn part(mass: u64) -> f64 {
    mass as f64 / MASS_ONE as f64
}

impl Beliefs {
    /// The law over variables of these sizes.
    pub fn new(law: &Law, sizes: Vec<usize>, promises: Vec<Promise>) -> Self {
        let known = match law {
            Law::Unknown => Known::Nothing,
            Law::Points(points) => Known::Points(
                points.iter().map(|point| (part(point.weight), point.values.clone())).collect(),
            ),
            Law::Tree(nodes) => tree(nodes, &sizes),
        };
        Self { sizes, known, promises }
    }

    /// What is promised.
    pub fn promises(&self) -> &[Promise] {
        &self.promises
    }

    /// How many combinations the law is written out in; nothing where it is not.
    pub fn states(&self) -> Option<usize> {
        match &self.known {
            Known::Points(points) => Some(points.len()),
            _ => None,
        }
    }

    /// P of every value of a variable; nothing if nothing is known.
    pub fn marginal(&self, variable: usize) -> Option<Vec<f64>> {
        Some(self.rows(variable, &[variable])?.iter().map(|row| row.iter().sum()).collect())
    }

    /// The sum of the squared joint shares of two variables.
    pub fn squares(&self, one: usize, other: usize) -> Option<f64> {
        Some(self.rows(one, &[other])?.iter().flatten().map(|p| p * p).sum())
    }

    /// P(a, s) for every value a of a variable and every combination s of some others, the first most significant.
    fn rows(&self, variable: usize, chosen: &[usize]) -> Option<Vec<Vec<f64>>> {
        let symbols = chosen.iter().map(|&at| self.sizes[at]).product();
        let mut rows = vec![vec![0.0; symbols]; self.sizes[variable]];
        match (&self.known, chosen) {
            (Known::Points(points), _) => {
                for (p, values) in points {
                    let digit =
                        |index: usize, &at: &usize| index * self.sizes[at] + values[at] as usize;
                    rows[values[variable] as usize][chosen.iter().fold(0, digit)] += p;
                }
            }
            (Known::Tree(nodes), &[other]) => rows = along(nodes, variable, other),
            _ => return None,
        }
        Some(rows)
    }

    /// At which levels, of at most this one, a group may be asked alone.
    pub fn limits(&self, chosen: &[usize], level: f64) -> Limits {
        let mut limits = Limits { kept: level, other: level };
        for promise in &self.promises {
            let anyhow = self.whatever(promise);
            limits.other = limits.other.min(anyhow);
            let kept = match self.rows(promise.variable, chosen) {
                Some(rows) => kept_limit(&rows, promise).max(anyhow),
                None => anyhow,
            };
            limits.kept = limits.kept.min(kept);
        }
        limits
    }

    /// The level of LDP that keeps a promise, whatever is sent.
    pub fn whatever(&self, promise: &Promise) -> f64 {
        let law = self.marginal(promise.variable);
        let least = law.map_or(0.0, |law| law.into_iter().fold(1.0, f64::min));
        let (up, down) = (promise.upper.exp(), promise.lower.exp());
        let rises =
            if least * up < 1.0 { (1.0 - least) / (1.0 / up - least) } else { f64::INFINITY };
        let falls = (down - least) / (1.0 - least);
        rises.min(falls).max(1.0).ln()
    }

    /// The largest part of a promise that a group uses up alone, by randomised response at a level; belief that moves by the
    /// whole of what it may is 1.
    pub fn used(&self, chosen: &[usize], level: f64) -> f64 {
        let gap = level.exp() - 1.0;
        let one = |promise: &Promise| {
            let Some(rows) = self.rows(promise.variable, chosen) else {
                return level / self.whatever(promise).max(1e-9);
            };
            let mut used = 0.0f64;
            each_symbol(&rows, |given, seen| {
                let moved = ((1.0 + gap * given) / (1.0 + gap * seen)).ln();
                used = used.max(moved / promise.upper.max(1e-9));
                used = used.max(-moved / promise.lower.max(1e-9));
            });
            used
        };
        self.promises.iter().map(one).fold(0.0, f64::max)
    }
}

/// Calls back with P(s|a) and P(s) for every value and combination.
fn each_symbol(rows: &[Vec<f64>], mut visit: impl FnMut(f64, f64)) {
    let totals: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    for symbol in 0..rows[0].len() {
        let seen: f64 = rows.iter().map(|row| row[symbol]).sum();
        for (row, total) in rows.iter().zip(&totals).filter(|(_, total)| **total > 0.0) {
            visit(row[symbol] / total, seen);
        }
    }
}

/// The level of randomised response at which a promise is just kept.
fn kept_limit(rows: &[Vec<f64>], promise: &Promise) -> f64 {
    let (up, down) = (promise.upper.exp(), promise.lower.exp());
    let mut most = f64::INFINITY;
    each_symbol(rows, |given, seen| {
        for (excess, room) in [(given - up * seen, up - 1.0), (seen - down * given, down - 1.0)] {
            if excess > 0.0 {
                most = most.min(room / excess);
            }
        }
    });
    most.ln_1p()
}

fn tree(nodes: &[Node], sizes: &[usize]) -> Known {
    let floats = |node: &Node| match node {
        Node::Root(row) => (None, vec![row.masses().iter().map(|&mass| part(mass)).collect()]),
        Node::Given { parent, rows } => {
            let row = |row: &undertone_core::Row| row.masses().iter().map(|&m| part(m)).collect();
            (Some(*parent as usize), rows.iter().map(row).collect())
        }
    };
    let nodes: Vec<(Option<usize>, Vec<Vec<f64>>)> = nodes.iter().map(floats).collect();
    let states = sizes.iter().try_fold(1usize, |product, &size| {
        product.checked_mul(size).filter(|&product| product <= MOST_POINTS)
    });
    let Some(states) = states else { return Known::Tree(nodes) };
    let mut points = Vec::with_capacity(states);
    let mut values = vec![0u32; sizes.len()];
    for _ in 0..states {
        let p: f64 = nodes
            .iter()
            .zip(&values)
            .map(|((parent, rows), &value)| {
                rows[parent.map_or(0, |at| values[at] as usize)][value as usize]
            })
            .product();
        if p > 0.0 {
            points.push((p, values.clone()));
        }
        for at in (0..sizes.len()).rev() {
            values[at] += 1;
            if (values[at] as usize) < sizes[at] {
                break;
            }
            values[at] = 0;
        }
    }
    Known::Points(points)
}

/// The joint law of two variables of a tree: P(root ancestor) pushed down both paths.
fn along(nodes: &[(Option<usize>, Vec<Vec<f64>>)], one: usize, other: usize) -> Vec<Vec<f64>> {
    let path = |mut at: usize| {
        let mut path = vec![at];
        while let Some(parent) = nodes[at].0 {
            at = parent;
            path.push(at);
        }
        path.reverse();
        path
    };
    // P(end | start) down a path whose first variable is the start.
    let down = |path: &[usize]| {
        let size = nodes[path[0]].1[0].len();
        let mut rows: Vec<Vec<f64>> =
            (0..size).map(|x| (0..size).map(|z| f64::from(u8::from(x == z))).collect()).collect();
        for &next in &path[1..] {
            let step = &nodes[next].1;
            let push = |row: &Vec<f64>| {
                let to = |z: usize| row.iter().zip(step).map(|(p, law)| p * law[z]).sum();
                (0..step[0].len()).map(to).collect()
            };
            rows = rows.iter().map(push).collect();
        }
        rows
    };
    let (to_one, to_other) = (path(one), path(other));
    let shared = to_one.iter().zip(&to_other).take_while(|(a, b)| a == b).count();
    let (rows_one, rows_other, prior) = if shared == 0 {
        // Two roots are independent: both laws from one point.
        let law = |path: &[usize]| {
            let root = &nodes[path[0]].1[0];
            let rows = down(path);
            let to = |z: usize| root.iter().zip(&rows).map(|(p, row)| p * row[z]).sum();
            vec![(0..rows[0].len()).map(to).collect::<Vec<f64>>()]
        };
        (law(&to_one), law(&to_other), vec![1.0])
    } else {
        let top = &to_one[..shared];
        let root = &nodes[top[0]].1[0];
        let rows = down(top);
        let to = |z: usize| root.iter().zip(&rows).map(|(p, row)| p * row[z]).sum::<f64>();
        let prior = (0..rows[0].len()).map(to).collect();
        (down(&to_one[shared - 1..]), down(&to_other[shared - 1..]), prior)
    };
    let cell = |a: usize, b: usize| {
        let parts = prior.iter().zip(rows_one.iter().zip(&rows_other));
        parts.map(|(p, (one, other))| p * one[a] * other[b]).sum()
    };
    (0..rows_one[0].len()).map(|a| (0..rows_other[0].len()).map(|b| cell(a, b)).collect()).collect()
}
