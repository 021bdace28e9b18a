//! What a plan tells, by definition: every combination of values, every set of items, every outcome.

use crate::common::{Q, binary, rows, sum};
use undertone_core::{Given, Law, Node, PlanParts, Shape, Variable};

/// Posterior over prior and prior over posterior at worst; `None` is without bound.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    pub(crate) upper: Option<Q>,
    pub(crate) lower: Option<Q>,
}

/// All combinations of values with their probabilities.
pub(crate) fn joint(parts: &PlanParts) -> Vec<(Vec<usize>, Q)> {
    let sizes: Vec<usize> = parts
        .questions
        .iter()
        .map(|q| q.answers.len())
        .chain(parts.secrets.iter().map(|s| s.values.len()))
        .collect();
    match &parts.law {
        Law::Unknown => Vec::new(),
        Law::Points(points) => points
            .iter()
            .map(|p| (p.values.iter().map(|&v| v as usize).collect(), binary(p.weight, 48)))
            .collect(),
        Law::Tree(nodes) => {
            let probability = |x: &[usize]| {
                nodes.iter().enumerate().fold(Q::ONE, |product, (v, node)| {
                    let row = match node {
                        Node::Root(row) => row,
                        Node::Given { parent, rows } => &rows[x[*parent as usize]],
                    };
                    product * binary(row.masses()[x[v]], 48)
                })
            };
            combinations(&sizes).into_iter().map(|x| (x.clone(), probability(&x))).collect()
        }
    }
}

/// All lists with entries below the given ends, the last fastest.
pub(crate) fn combinations(ends: &[usize]) -> Vec<Vec<usize>> {
    ends.iter().fold(vec![Vec::new()], |lists, &end| {
        let longer = |list: &Vec<usize>| {
            let list = list.clone();
            (0..end).map(move |value| [&list[..], &[value]].concat())
        };
        lists.iter().flat_map(longer).collect()
    })
}

/// All sets of items one person can answer, also those that are not the largest.
pub(crate) fn sets(parts: &PlanParts) -> Vec<Vec<usize>> {
    let drawn = |set: &[usize]| set.iter().filter(|&&i| parts.items[i].weight > 0).count();
    (0..1usize << parts.items.len())
        .map(|mask| (0..parts.items.len()).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>())
        .filter(|set| drawn(set) <= parts.asked as usize)
        .collect()
}

/// The likelihoods of an item's outputs, by the values of all variables.
fn channel(parts: &PlanParts, item: usize) -> impl Fn(&[usize], usize) -> Q {
    let item = &parts.items[item];
    let shape: &Shape = parts.policies[item.policy as usize].shape();
    let table = rows(shape);
    let questions: Vec<(usize, usize)> = item
        .questions
        .iter()
        .map(|&q| (q as usize, parts.questions[q as usize].answers.len()))
        .collect();
    move |x, y| {
        let symbol = questions.iter().fold(0, |symbol, &(q, size)| symbol * size + x[q]);
        table[symbol][y].clone()
    }
}

fn outputs(parts: &PlanParts, item: usize) -> usize {
    let shape = parts.policies[parts.items[item].policy as usize].shape();
    if shape.releases_bits() { 1 << shape.inputs() } else { shape.outputs() }
}

/// What a plan tells about a variable, over every outcome of every set of items (one period).
pub(crate) fn belief(parts: &PlanParts, about: Variable, given: Given) -> Exact {
    let target = match about {
        Variable::Question(at) => at as usize,
        Variable::Secret(at) => parts.questions.len() + at as usize,
    };
    let atoms = joint(parts);
    let size = atoms.iter().map(|(x, _)| x[target]).max().unwrap() + 1;
    let prior: Vec<Q> = (0..size)
        .map(|a| sum(atoms.iter().filter(|(x, _)| x[target] == a).map(|(_, p)| p.clone())))
        .collect();
    let sets = match given {
        Given::All => sets(parts),
        Given::Own => (0..parts.items.len())
            .filter(|&i| parts.items[i].questions.contains(&(target as u32)))
            .map(|i| vec![i])
            .collect(),
    };
    let mut worst = Exact { upper: Some(Q::ONE), lower: Some(Q::ONE) };
    let raise = |level: &mut Option<Q>, numerator: &Q, denominator: &Q| {
        if let Some(seen) = level {
            if denominator.is_zero() {
                *level = None;
            } else if *numerator > &*seen * denominator {
                *seen = numerator / denominator;
            }
        }
    };
    for set in sets {
        let channels: Vec<_> = set.iter().map(|&item| channel(parts, item)).collect();
        let ends: Vec<usize> = set.iter().map(|&item| outputs(parts, item)).collect();
        for y in combinations(&ends) {
            let mut by_value = vec![Q::ZERO; size];
            for (x, p) in &atoms {
                let mass = channels.iter().zip(&y).fold(p.clone(), |mass, (w, &y)| mass * w(x, y));
                by_value[x[target]] += mass;
            }
            let total = sum(by_value.iter().cloned());
            if total.is_zero() {
                continue;
            }
            for (joint, prior) in by_value.iter().zip(&prior) {
                raise(&mut worst.upper, joint, &(prior * &total));
                raise(&mut worst.lower, &(prior * &total), joint);
            }
        }
    }
    worst
}

/// LDP of everything one person sends: any two combinations of answers, whatever the law says.
pub(crate) fn ldp(parts: &PlanParts) -> Option<Q> {
    let sizes: Vec<usize> = parts.questions.iter().map(|q| q.answers.len()).collect();
    let people = combinations(&sizes);
    let mut worst = Some(Q::ONE);
    for set in sets(parts) {
        let channels: Vec<_> = set.iter().map(|&item| channel(parts, item)).collect();
        let ends: Vec<usize> = set.iter().map(|&item| outputs(parts, item)).collect();
        for y in combinations(&ends) {
            let likelihoods: Vec<Q> = people
                .iter()
                .map(|x| channels.iter().zip(&y).fold(Q::ONE, |mass, (w, &y)| mass * w(x, y)))
                .collect();
            let high = likelihoods.iter().max().unwrap();
            let low = likelihoods.iter().min().unwrap();
            if high.is_zero() {
                continue;
            }
            if let Some(seen) = &worst {
                if low.is_zero() {
                    worst = None;
                } else if *high > seen * low {
                    worst = Some(high / low);
                }
            }
        }
    }
    worst
}
