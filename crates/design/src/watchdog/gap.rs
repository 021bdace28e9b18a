//! How far the optimum can be from what was found: a bound no release can pass.
//!
//! For any prices λ, a release within the budget has H(X|Y) = Σ P(y) H(q_y) >= λ·P(x) + min_q [H(q) -
//! λ·q], the minimum over the polytope of posteriors. That minimum is bounded from below by branching:
//! on a box, -q ln q lies above its chord, which makes a linear program; the box is halved where the
//! chord misses most. Stopped at any time, the least bound over the open boxes is valid.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::polytope::{Polytope, dot, entropy};
use super::scene::Scene;

/// Boxes looked into before the search stops.
const MOST_BOXES: usize = 3_000;

/// Gaps below this are not worth closing.
const CLOSED: f64 = 1e-9;

/// A part of the polytope still to be looked into.
struct Part {
    bound: f64,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Where the relaxation is least.
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

fn information(q: f64) -> f64 {
    if q > 0.0 { -q * q.ln() } else { 0.0 }
}

/// The chord of -q ln q from `low` to `high`: value at `low`, slope.
fn chord(low: f64, high: f64) -> (f64, f64) {
    let slope = if high > low {
        (information(high) - information(low)) / (high - low)
    } else {
        0.0
    };
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
    let cost: Vec<f64> = chords.iter().zip(prices).map(|((_, slope), price)| slope - price).collect();
    let (corner, bound) = polytope.within(&cost, &lower, &upper).ok()?;
    let constant: f64 = chords.iter().map(|(constant, _)| constant).sum();
    Some(Part { bound: bound + constant, lower, upper, corner })
}

/// A lower bound on H(X|Y) over all releases within the budget.
pub(super) fn least_equivocation(scene: &Scene, polytope: &mut Polytope, prices: &[f64]) -> f64 {
    let symbols = scene.len();
    let base = dot(prices, &scene.data());
    // The largest share of belief a single symbol can get.
    let unit = |x: usize| (0..symbols).map(|y| if x == y { -1.0 } else { 0.0 }).collect::<Vec<_>>();
    let (nothing, everything) = (vec![0.0; symbols], vec![1.0; symbols]);
    let most = |x: usize, polytope: &mut Polytope| {
        polytope.within(&unit(x), &nothing, &everything).map_or(1.0, |(_, bound)| (-bound).min(1.0))
    };
    let upper: Vec<f64> = (0..symbols).map(|x| most(x, polytope)).collect();
    let mut open = BinaryHeap::new();
    open.extend(relax(polytope, prices, nothing, upper));
    let mut attained = 0.0f64;
    for _ in 0..MOST_BOXES {
        let Some(part) = open.pop() else { break };
        attained = attained.min(entropy(&part.corner) - dot(prices, &part.corner));
        if part.bound >= attained - CLOSED {
            open.push(part);
            break;
        }
        // Halve at the corner, in the symbol whose chord is furthest below.
        let miss = |x: usize| {
            let (constant, slope) = chord(part.lower[x], part.upper[x]);
            information(part.corner[x]) - constant - slope * part.corner[x]
        };
        let widest = (0..symbols).map(|x| (miss(x), x)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        let x = widest.1;
        let (low, high) = (part.lower[x], part.upper[x]);
        let at = part.corner[x].clamp(low + 0.1 * (high - low), high - 0.1 * (high - low));
        let (mut left, mut right) = (part.upper.clone(), part.lower.clone());
        left[x] = at;
        right[x] = at;
        open.extend(relax(polytope, prices, part.lower, left));
        open.extend(relax(polytope, prices, right, part.upper));
    }
    let least = open.peek().map_or(attained, |part| part.bound.min(attained));
    (base + least).max(0.0)
}
