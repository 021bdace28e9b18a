//! How far the optimum can be from what was found: a bound no release can pass.
//!
//! For any prices λ, a release within the budget has H(X|Y) = Σ P(y) H(q_y) >= λ·P(x) + min_q [H(q) -
//! λ·q], the minimum over the polytope of posteriors. That minimum is bounded from below by branching:
//! on a box, -q ln q lies above its chord, which makes a linear program; the box is halved where the
//! chord misses most. Stopped at any time, the least bound over the open boxes is valid.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::polytope::{Polytope, entropy};
use super::problem::WatchdogProblem;
use undertone_numeric::vector::dot;

/// Gaps below this share of H(X) are not worth closing.
const CLOSED: f64 = 1e-8;

/// Boxes that are looked into whether or not corners have been found.
const PATIENCE: usize = 1_000;

/// A part of the polytope still to be looked into.
struct Part {
    bound: f64,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The point at which the relaxation is least.
    corner: Vec<f64>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Part {}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Part {
    /// The heap yields the lowest bound first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound)
    }
}

impl Part {
    /// Two boxes, cut at the corner in the symbol whose chord is furthest below the truth.
    fn halved(self) -> [(Vec<f64>, Vec<f64>); 2] {
        let miss = |x: usize| {
            let (constant, slope) = chord(self.lower[x], self.upper[x]);
            information(self.corner[x]) - constant - slope * self.corner[x]
        };
        let misses = (0..self.corner.len()).map(|x| (miss(x), x));
        let (_, x) = misses.fold((0.0, 0), |most, next| if next.0 > most.0 { next } else { most });
        let (low, high) = (self.lower[x], self.upper[x]);
        let margin = 0.1 * (high - low);
        let at = self.corner[x].clamp(low + margin, high - margin);
        let (mut ceiling, mut floor) = (self.upper.clone(), self.lower.clone());
        ceiling[x] = at;
        floor[x] = at;
        [(self.lower, ceiling), (floor, self.upper)]
    }
}

fn information(q: f64) -> f64 {
    if q > 0.0 { -q * q.ln() } else { 0.0 }
}

/// The chord of -q ln q from `low` to `high`: value at `low`, slope.
fn chord(low: f64, high: f64) -> (f64, f64) {
    let slope =
        if high > low { (information(high) - information(low)) / (high - low) } else { 0.0 };
    (information(low) - slope * low, slope)
}

/// Relaxes a box; `None` if it holds nothing of the polytope.
fn relax(
    polytope: &mut Polytope,
    prices: &[f64],
    lower: Vec<f64>,
    upper: Vec<f64>,
) -> Option<Part> {
    let chords: Vec<(f64, f64)> = lower.iter().zip(&upper).map(|(&l, &u)| chord(l, u)).collect();
    let cost: Vec<f64> =
        chords.iter().zip(prices).map(|((_, slope), price)| slope - price).collect();
    let (corner, bound) = polytope.within(&cost, &lower, &upper).ok()?;
    let constant: f64 = chords.iter().map(|(constant, _)| constant).sum();
    Some(Part { bound: bound + constant, lower, upper, corner })
}

/// The result of a search.
pub(super) struct Found {
    /// A lower bound on H(X|Y) over all releases within the budget.
    pub(super) least: f64,
    /// Corners with H(q) < λ·q, best first.
    pub(super) corners: Vec<Vec<f64>>,
    /// Boxes looked into.
    pub(super) boxes: usize,
}

/// Looks for corners worth more than the prices say, in at most `most` boxes. After [`PATIENCE`] boxes
/// it is content with what it has; without any corner it goes on until there can be none.
pub(super) fn search(
    problem: &WatchdogProblem,
    polytope: &mut Polytope,
    prices: &[f64],
    most: usize,
) -> Found {
    let symbols = problem.len();
    // The largest share of belief a single symbol can get.
    let unit = |x: usize| (0..symbols).map(|y| if x == y { -1.0 } else { 0.0 }).collect::<Vec<_>>();
    let (nothing, everything) = (vec![0.0; symbols], vec![1.0; symbols]);
    let largest = |x: usize, polytope: &mut Polytope| {
        polytope.within(&unit(x), &nothing, &everything).map_or(1.0, |(_, bound)| (-bound).min(1.0))
    };
    let upper: Vec<f64> = (0..symbols).map(|x| largest(x, polytope)).collect();
    let mut open = BinaryHeap::new();
    open.extend(relax(polytope, prices, nothing, upper));
    let mut corners: Vec<(f64, Vec<f64>)> = Vec::new();
    // The prices come from a mixture that attains zero.
    let mut attained = 0.0f64;
    let closed = CLOSED * problem.entropy;
    let mut boxes = 0;
    while let Some(part) = open.peek()
        && part.bound < attained - closed
        && boxes < most
        && (boxes < PATIENCE || corners.is_empty())
        && let Some(part) = open.pop()
    {
        boxes += 1;
        let reduced = entropy(&part.corner) - dot(prices, &part.corner);
        attained = attained.min(reduced);
        if reduced < -closed {
            corners.push((reduced, part.corner.clone()));
        }
        let [left, right] = part.halved();
        open.extend(relax(polytope, prices, left.0, left.1));
        open.extend(relax(polytope, prices, right.0, right.1));
    }
    let least = open.peek().map_or(attained, |part| part.bound.min(attained));
    corners.sort_by(|a, b| a.0.total_cmp(&b.0));
    Found {
        least: (dot(prices, &problem.data()) + least).max(0.0),
        corners: corners.into_iter().map(|(_, corner)| corner).collect(),
        boxes,
    }
}
