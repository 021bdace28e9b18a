//! Upper bounds on what an output can be worth for mutual information: L ln L lies below its chords.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::region::{Region, RegionForm, fill};
use super::utility::{Found, GAIN, Utility};
use crate::Error;
use undertone_numeric::vector::dot;

/// Branch and bound stops after this many nodes; its bound is valid wherever it stops.
const MAX_NODES: usize = 2000;

/// No output is worth more than this beyond its price. What is met on the way goes to `found`.
pub(super) fn bound(
    utility: &Utility,
    region: &Region,
    prices: &[f64],
    found: &mut Found<'_>,
) -> Result<f64, Error> {
    match &region.form {
        RegionForm::Range { low, high } => {
            // What the first boxes suggest is climbed from; that settles most of the others.
            let (bound, points) = branch(region, prices, *low, *high, found);
            for point in points {
                utility.climb(region, prices, point, found)?;
            }
            Ok(bound.max(found.best))
        }
        RegionForm::Odds { weights, odds } => Ok(odds_bound(region, prices, weights, *odds)),
        RegionForm::Cone(_) => cone_bound(region, prices),
    }
}

/// Between the least and the greatest value of each lift the chord is above L ln L.
fn cone_bound(region: &Region, prices: &[f64]) -> Result<f64, Error> {
    let symbols = region.symbols();
    let end = |x: usize, sign: f64| {
        let mut c = vec![0.0; symbols];
        c[x] = sign;
        Ok::<_, Error>(region.support(&c)?[x])
    };
    let (mut c, mut constant) = (Vec::new(), 0.0);
    for (x, price) in prices.iter().enumerate() {
        let (slope, offset) = chord(end(x, -1.0)?, end(x, 1.0)?);
        c.push(region.prior[x] * slope - price);
        constant += region.prior[x] * offset;
    }
    Ok(constant + dot(&c, &region.support(&c)?))
}

/// L ln L.
pub(super) fn entropy(lift: f64) -> f64 {
    if lift > 0.0 { lift * lift.ln() } else { 0.0 }
}

/// Slope and offset of the line through L ln L at `low` and `high`.
fn chord(low: f64, high: f64) -> (f64, f64) {
    let slope = match high - low > 1e-14 * high {
        true => (entropy(high) - entropy(low)) / (high - low),
        false => low.max(f64::MIN_POSITIVE).ln() + 1.0,
    };
    (slope, entropy(low) - slope * low)
}

/// A box of lifts with its relaxation: the chords' optimum, and the coordinate at neither end.
struct Node {
    low: Vec<f64>,
    high: Vec<f64>,
    bound: f64,
    at: Vec<f64>,
    split: Option<usize>,
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Node {}

/// Branch and bound. On a box the chords make a fractional knapsack, exact but for the one coordinate
/// that is at neither end; the box is split there.
fn branch(
    region: &Region,
    prices: &[f64],
    low: f64,
    high: f64,
    found: &mut Found<'_>,
) -> (f64, Vec<Vec<f64>>) {
    let p = region.prior.as_slice();
    let relax = |low: Vec<f64>, high: Vec<f64>| {
        let lines: Vec<(f64, f64)> = low.iter().zip(&high).map(|(l, h)| chord(*l, *h)).collect();
        let c: Vec<f64> = (0..p.len()).map(|x| p[x] * lines[x].0 - prices[x]).collect();
        let (at, split) = fill(p, &low, &high, &c);
        let offset: f64 = p.iter().zip(&lines).map(|(p, line)| p * line.1).sum();
        Node { bound: offset + dot(&c, &at), low, high, at, split }
    };
    // A box that the hyperplane P·L = 1 misses holds nothing.
    let meets = |low: &[f64], high: &[f64]| dot(p, low) <= 1.0 && dot(p, high) >= 1.0;
    let mut open = BinaryHeap::from([relax(vec![low; p.len()], vec![high; p.len()])]);
    let mut settled = f64::NEG_INFINITY;
    let mut points = Vec::new();
    for _ in 0..MAX_NODES {
        let Some(node) = open.pop() else { break };
        found.see(node.at.clone());
        if points.len() < 64 {
            points.push(node.at.clone());
        }
        let Some(x) = node.split.filter(|_| node.bound > found.best + GAIN) else {
            settled = settled.max(node.bound);
            break; // every other box is bounded by less
        };
        let (mut below, mut above) = (node.high.clone(), node.low.clone());
        below[x] = node.at[x];
        above[x] = node.at[x];
        for (low, high) in [(node.low, below), (above, node.high)] {
            if meets(&low, &high) {
                open.push(relax(low, high));
            }
        }
    }
    (open.peek().map_or(settled, |node| node.bound.max(settled)), points)
}

/// With s(x) = 1 or the odds, d = P/w and D = Σ d s, an output is worth N/D - ln D beyond its price,
/// N and D sums over symbols. Allowing a symbol to be raised in part, N is at most a concave, piecewise
/// linear function of D; on each piece (α + βD)/D - ln D rises up to D = -α and falls after it.
fn odds_bound(region: &Region, prices: &[f64], weights: &[f64], odds: f64) -> f64 {
    let p = region.prior.as_slice();
    let plain = |x: usize| (-p[x] * weights[x].ln() - prices[x]) / weights[x];
    let raised = |x: usize| odds * (p[x] * (odds / weights[x]).ln() - prices[x]) / weights[x];
    let step = |x: usize| (odds - 1.0) * p[x] / weights[x];
    let gain: Vec<f64> = (0..p.len()).map(|x| raised(x) - plain(x)).collect();
    let mut order: Vec<usize> = (0..p.len()).filter(|&x| step(x) > 0.0).collect();
    order.sort_by(|&a, &b| (gain[b] / step(b)).total_cmp(&(gain[a] / step(a))));
    // A symbol without mass moves N only.
    let free: f64 = (0..p.len()).filter(|&x| step(x) <= 0.0).map(|x| gain[x].max(0.0)).sum();
    let mut worth = (0..p.len()).map(plain).sum::<f64>() + free;
    let mut mass: f64 = p.iter().zip(weights).map(|(p, w)| p / w).sum();
    let at = |worth: f64, mass: f64| worth / mass - mass.ln();
    let mut best = at(worth, mass);
    for x in order {
        let (slope, next) = (gain[x] / step(x), mass + step(x));
        let offset = worth - slope * mass;
        if (mass..=next).contains(&-offset) {
            best = best.max(at(worth + slope * (-offset - mass), -offset));
        }
        (worth, mass) = (worth + gain[x], next);
        best = best.max(at(worth, mass));
    }
    best
}
