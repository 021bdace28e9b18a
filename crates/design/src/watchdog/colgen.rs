//! Column generation: posteriors made as the linear program asks for them.

use super::optimum::Mixture;
use super::polytope::{Polytope, dot, entropy};
use super::scene::Scene;
use super::subset;
use crate::Error;
use crate::solve::Program;

/// Rounds of asking; far more than are needed.
const MOST_ROUNDS: usize = 200;

/// A column must be worth this much more than it costs.
const LEAST_GAIN: f64 = 1e-9;

/// Random directions tried in a round.
const RANDOM_STARTS: usize = 8;

/// Slope of the entropy at a symbol without mass: infinite in truth, which would never let it in.
const EDGE: f64 = 1e-9;

/// A small generator (splitmix64) for search directions: the same release from the same input.
struct Directions(u64);

impl Directions {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn cost(&mut self, symbols: usize) -> Vec<f64> {
        (0..symbols).map(|_| self.uniform() - 0.5).collect()
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
    /// simplex's jump about because many bases are optimal.
    fn prices(&self, data: &[f64]) -> Result<Vec<f64>, Error> {
        let mut master = Program::new();
        let variables: Vec<usize> =
            self.columns.iter().map(|q| master.non_negative(entropy(q))).collect();
        for (x, &p) in data.iter().enumerate() {
            let row = variables.iter().zip(&self.columns).map(|(&at, q)| (at, q[x]));
            master.equal(row.filter(|(_, q)| *q > 0.0), p);
        }
        Ok(master.solve()?.equal_prices)
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

/// The best mixture of the corners found. Feasible whenever it stops.
pub(super) fn generate(scene: &Scene, polytope: &mut Polytope) -> Result<Mixture, Error> {
    let (symbols, data) = (scene.len(), scene.data());
    let mut directions = Directions(symbols as u64);
    let mut pool = Pool { columns: vec![data.clone()] };
    for block in subset::merged(scene) {
        let inside = |x: usize| if block.members.contains(&x) { data[x] / block.mass } else { 0.0 };
        if scene.allows(&block) {
            pool.add((0..symbols).map(inside).collect());
        }
    }
    // Started from groups alone the master program is so degenerate that nothing improves it.
    let flat = vec![0.0; symbols];
    let toward = |x: usize, sign: f64| {
        (0..symbols).map(|y| if x == y { sign } else { 0.0 }).collect::<Vec<_>>()
    };
    for start in 0..3 * symbols {
        let cost = match start {
            at if at < symbols => toward(at, -1.0),
            _ => directions.cost(symbols),
        };
        polytope.restart();
        if let Some(corner) = polytope.lowest(&cost) {
            pool.add(descend(polytope, &flat, corner).0);
        }
    }
    for _ in 0..MOST_ROUNDS {
        let prices = pool.prices(&data)?;
        let mut fresh = false;
        for start in 0..symbols + RANDOM_STARTS {
            let mut cost: Vec<f64> = match start {
                at if at < symbols => toward(at, -1.0),
                _ => directions.cost(symbols),
            };
            cost.iter_mut().zip(&prices).for_each(|(cost, price)| *cost -= price);
            polytope.restart();
            let Some(corner) = polytope.lowest(&cost) else { continue };
            let (corner, reduced) = descend(polytope, &prices, corner);
            if reduced < -LEAST_GAIN {
                fresh |= pool.add(corner);
            }
        }
        if !fresh {
            break;
        }
    }
    Mixture::of(&pool.columns, &data)
}
