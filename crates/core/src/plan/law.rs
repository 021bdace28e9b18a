//! What is assumed about a person's data.

use super::error::LawError;
use crate::magnitude::Bounds;
use crate::mass::{MASS_ONE, Row};
use alloc::vec;
use alloc::vec::Vec;

/// The most points of a law.
pub(crate) const MAX_POINTS: usize = 1 << 16;

/// A joint law of all variables, questions first. Every value of every variable has some probability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Law {
    /// Nothing is assumed; only LDP can be claimed.
    Unknown,
    /// Each variable alone or given one other; roots are independent.
    Tree(Vec<Node>),
    /// The combinations of values that can occur, in increasing order.
    Points(Vec<Point>),
}

/// One variable of a tree, in units of 2^-48.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A variable with a law of its own.
    Root(Row),
    /// A variable given another.
    Given {
        /// The other variable's number, questions first.
        parent: u32,
        /// One law for each value of the parent.
        rows: Vec<Row>,
    },
}

/// A combination of values, one for each variable, and its probability in units of 2^-48.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The probability, above 0.
    pub weight: u64,
    /// The indices of the values.
    pub values: Vec<u32>,
}

impl Node {
    /// The variable this one is given, if any.
    pub fn parent(&self) -> Option<usize> {
        match self {
            Self::Root(_) => None,
            Self::Given { parent, .. } => Some(*parent as usize),
        }
    }

    /// P(value | value of the parent), or P(value) of a root.
    pub(crate) fn probability(&self, value: usize, of_parent: usize) -> Bounds {
        let row = match self {
            Self::Root(row) => row,
            Self::Given { rows, .. } => &rows[of_parent],
        };
        Bounds::new(u128::from(row.masses()[value]), -48)
    }
}

impl Law {
    /// Whether this is a law of variables with these sizes.
    pub(crate) fn check(&self, sizes: &[usize], secrets: bool) -> Result<(), LawError> {
        match self {
            Self::Unknown if secrets => Err(LawError::Secrets),
            Self::Unknown => Ok(()),
            Self::Tree(nodes) => check_tree(nodes, sizes),
            Self::Points(points) => check_points(points, sizes),
        }
    }

    /// P(value) for every value of a variable; nothing if nothing is assumed.
    pub(crate) fn marginal(&self, variable: usize, size: usize) -> Vec<Bounds> {
        match self {
            Self::Unknown => Vec::new(),
            Self::Tree(nodes) => {
                let values = 0..size;
                match nodes[variable].parent() {
                    None => values.map(|value| nodes[variable].probability(value, 0)).collect(),
                    Some(parent) => {
                        let Node::Given { rows, .. } = &nodes[variable] else { return Vec::new() };
                        let above = self.marginal(parent, rows.len());
                        let sum = |value: usize| {
                            let terms = above.iter().enumerate();
                            terms.fold(Bounds::ZERO, |sum, (x, &p)| {
                                sum.plus(p * nodes[variable].probability(value, x))
                            })
                        };
                        values.map(sum).collect()
                    }
                }
            }
            Self::Points(points) => {
                let mut sums = vec![0u128; size];
                for point in points {
                    sums[point.values[variable] as usize] += u128::from(point.weight);
                }
                sums.into_iter().map(|sum| Bounds::new(sum, -48)).collect()
            }
        }
    }
}

fn check_tree(nodes: &[Node], sizes: &[usize]) -> Result<(), LawError> {
    let size = |variable, expected, found| {
        let fits = expected == found;
        if fits { Ok(()) } else { Err(LawError::Sizes { variable, expected, found }) }
    };
    size(nodes.len().min(sizes.len()), sizes.len(), nodes.len())?;
    for (variable, node) in nodes.iter().enumerate() {
        let rows = match node {
            Node::Root(row) => core::slice::from_ref(row),
            Node::Given { parent, rows } => {
                let Some(&expected) = sizes.get(*parent as usize) else {
                    return Err(LawError::Parent { variable });
                };
                size(variable, expected, rows.len())?;
                rows.as_slice()
            }
        };
        for row in rows {
            size(variable, sizes[variable], row.masses().len())?;
        }
        let nought = |&value: &usize| rows.iter().all(|row| row.masses()[value] == 0);
        if let Some(value) = (0..sizes[variable]).find(nought) {
            return Err(LawError::Nought { variable, value });
        }
    }
    // A chain of parents longer than the list is a circle.
    for variable in 0..nodes.len() {
        let mut at = Some(variable);
        for _ in 0..=nodes.len() {
            at = at.and_then(|node| nodes[node].parent());
        }
        if at.is_some() {
            return Err(LawError::Parent { variable });
        }
    }
    Ok(())
}

fn check_points(points: &[Point], sizes: &[usize]) -> Result<(), LawError> {
    if points.is_empty() || points.len() > MAX_POINTS {
        return Err(LawError::Count { found: points.len() });
    }
    for (at, point) in points.iter().enumerate() {
        let inside = |(&value, &size): (&u32, &usize)| (value as usize) < size;
        let whole = point.values.len() == sizes.len();
        if point.weight == 0 || !whole || !point.values.iter().zip(sizes).all(inside) {
            return Err(LawError::Point { point: at });
        }
        if at > 0 && points[at - 1].values >= point.values {
            return Err(LawError::Order { point: at });
        }
    }
    let found: u128 = points.iter().map(|point| u128::from(point.weight)).sum();
    if found != u128::from(MASS_ONE) {
        return Err(LawError::Sum { found });
    }
    for (variable, &size) in sizes.iter().enumerate() {
        let mut seen = vec![false; size];
        points.iter().for_each(|point| seen[point.values[variable] as usize] = true);
        if let Some(value) = seen.iter().position(|seen| !seen) {
            return Err(LawError::Nought { variable, value });
        }
    }
    Ok(())
}
