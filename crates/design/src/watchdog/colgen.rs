//! Column generation: posteriors made as the linear program asks for them.

use super::gap;
use super::optimum::Mixture;
use super::polytope::{Polytope, entropy};
use super::problem::WatchdogProblem;
use super::subset;
use crate::Error;
use crate::solve::Program;
use undertone_numeric::dice::{Dice, unit};
use undertone_numeric::vector::dot;

/// Rounds of asking; far more than are needed.
const MOST_ROUNDS: usize = 200;

/// A column must be worth this much more than it costs, as a share of H(X).
const LEAST_GAIN: f64 = 1e-9;

/// Corners taken from one search.
const MOST_AT_ONCE: usize = 40;

/// Random directions tried in a round.
const RANDOM_STARTS: usize = 30;

/// Slope of the entropy at a symbol without mass: infinite in truth, which would never let it in.
const EDGE: f64 = 1e-9;

/// Search directions: the same release from the same input.
struct Directions(Dice);

impl Directions {
    /// A cost to start from: towards one symbol while there is one, then at random, less the prices.
    fn start(&mut self, at: usize, prices: &[f64]) -> Vec<f64> {
        let towards = |x: usize| if x == at { -1.0 } else { 0.0 };
        let mut random = |_| unit(&mut self.0) - 0.5;
        let symbols = 0..prices.len();
        let cost: Vec<f64> = if at < prices.len() {
            symbols.map(towards).collect()
        } else {
            symbols.map(&mut random).collect()
        };
        cost.iter().zip(prices).map(|(cost, price)| cost - price).collect()
    }
}

/// Corners collected so far.
struct Pool {
    columns: Vec<Vec<f64>>,
}

impl Pool {
    /// Whether it was new.
    fn add(&mut self, q: Vec<f64>) -> bool {
        let close = |other: &Vec<f64>| other.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-9);
        if self.columns.iter().any(close) {
            return false;
        }
        self.columns.push(q);
        true
    }

    /// λ from the master program, by an interior-point method: its prices are central, where a
    /// simplex's jump about because many bases are optimal. On laws with very rare symbols it may give
    /// up, and then the simplex has to do.
    fn prices(&self, data: &[f64]) -> Result<Vec<f64>, Error> {
        let mut master = Program::new();
        let variables: Vec<usize> =
            self.columns.iter().map(|q| master.non_negative(entropy(q))).collect();
        for (x, &p) in data.iter().enumerate() {
            let row = variables.iter().zip(&self.columns).map(|(&at, q)| (at, q[x]));
            master.equal(row.filter(|(_, q)| *q > 0.0), p);
        }
        match master.solve() {
            Ok(solution) => Ok(solution.equal_prices),
            Err(_) => Ok(Mixture::of(&self.columns, data)?.prices),
        }
    }
}

/// From a corner, follows the linearised reduced cost H(q) - λ·q downhill from corner to corner.
fn descend(polytope: &mut Polytope, prices: &[f64], start: Vec<f64>) -> (Vec<f64>, f64) {
    let reduced = |q: &[f64]| entropy(q) - dot(prices, q);
    let mut best = (reduced(&start), start);
    loop {
        let slope = |(q, price): (&f64, &f64)| -q.max(EDGE).ln() - price;
        let cost: Vec<f64> = best.1.iter().zip(prices).map(slope).collect();
        let Some(corner) = polytope.lowest(&cost) else { break };
        let value = reduced(&corner);
        if value >= best.0 - 1e-12 {
            break;
        }
        best = (value, corner);
    }
    (best.1, best.0)
}

/// The best mixture found, and how good any could be.
pub(super) struct Generated {
    /// Feasible, whenever the search stopped.
    pub(super) mixture: Mixture,
    /// A lower bound on H(X|Y) over all releases within the budget.
    pub(super) least: f64,
}

/// Generates corners until none is worth adding, or the effort of `boxes` boxes is spent.
pub(super) fn generate(problem: &WatchdogProblem, boxes: usize) -> Result<Generated, Error> {
    let mut polytope = Polytope::new(problem);
    let mut directions = Directions(Dice::new(problem.len() as u64));
    let mut pool = first(problem, &mut polytope, &mut directions);
    let (mut least, mut left) = (0.0f64, boxes);
    loop {
        let prices = settle(problem, &mut pool, &mut polytope, &mut directions)?;
        let found = gap::search(problem, &mut polytope, &prices, left);
        least = least.max(found.least);
        left -= found.boxes;
        let mut fresh = false;
        for corner in found.corners.into_iter().take(MOST_AT_ONCE) {
            polytope.restart();
            let (better, _) = descend(&mut polytope, &prices, corner.clone());
            fresh |= pool.add(better);
            fresh |= pool.add(corner);
        }
        if !fresh || left == 0 {
            return Ok(Generated { mixture: Mixture::of(&pool.columns, &problem.data())?, least });
        }
    }
}

/// The average belief, the groups of subset merging, and corners in many directions: started from
/// groups alone the master program is so degenerate that nothing improves it.
fn first(problem: &WatchdogProblem, polytope: &mut Polytope, directions: &mut Directions) -> Pool {
    let (symbols, data) = (problem.len(), problem.data());
    let mut pool = Pool { columns: vec![data.clone()] };
    for block in subset::merged(problem) {
        let inside = |x: usize| if block.members.contains(&x) { data[x] / block.mass } else { 0.0 };
        if problem.allows(&block) {
            pool.add((0..symbols).map(inside).collect());
        }
    }
    let flat = vec![0.0; symbols];
    for start in 0..3 * symbols {
        polytope.restart();
        if let Some(corner) = polytope.lowest(&directions.start(start, &flat)) {
            pool.add(descend(polytope, &flat, corner).0);
        }
    }
    pool
}

/// Prices under which no quick descent finds a corner worth adding.
fn settle(
    problem: &WatchdogProblem,
    pool: &mut Pool,
    polytope: &mut Polytope,
    directions: &mut Directions,
) -> Result<Vec<f64>, Error> {
    let data = problem.data();
    let mut prices = pool.prices(&data)?;
    for _ in 0..MOST_ROUNDS {
        let mut fresh = false;
        for start in 0..data.len() + RANDOM_STARTS {
            polytope.restart();
            let Some(corner) = polytope.lowest(&directions.start(start, &prices)) else { continue };
            let (corner, reduced) = descend(polytope, &prices, corner);
            if reduced < -LEAST_GAIN * problem.entropy {
                fresh |= pool.add(corner);
            }
        }
        if !fresh {
            break;
        }
        prices = pool.prices(&data)?;
    }
    Ok(prices)
}
