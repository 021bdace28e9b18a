//! Block descent from many starts (JOINT).
//!
//! Every block step is an exact optimum, so the loss never rises; but where it ends depends on
//! where it began, and no search gives a bound on what might be better. Starts differ in their
//! random tilt and order, in how many sensors speak, and in whether they first descend within a part
//! of the budgets; the best ends are perturbed and descend again. Every start has its own stream of
//! randomness, so the result does not depend on the number of threads.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;

use super::Watch;
use super::block::{Network, State};
use super::limits::Limits;
use undertone_numeric::dice::{below, shuffle, unit};

/// A sweep that gains less than this ends the descent.
const GAIN: f64 = 1e-9;
/// So does this many sweeps.
const SWEEPS: usize = 40;
/// How many of the best ends are perturbed, at most.
const CHAINS: usize = 4;
/// How many starts are made before the worst ends are forgotten, and how many ends are kept.
const BATCH: u32 = 256;
const KEPT: usize = 64;
/// Ends closer than this are taken for the same.
const APART: f64 = 1e-6;

/// A state and its loss.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) state: State,
    pub(crate) loss: f64,
}

/// What to search, how long, and from which seed.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) network: &'a Network,
    pub(crate) outputs: &'a [usize],
    pub(crate) limits: &'a Limits,
    pub(crate) restarts: u32,
    pub(crate) seed: u64,
    pub(crate) watch: &'a Watch<'a>,
}

/// The ends of a search, best first, and what each part of it reached.
pub(crate) struct Ends {
    pub(crate) found: Vec<Found>,
    /// The best of the cold starts.
    pub(crate) cold: Option<f64>,
    /// The best after perturbation.
    pub(crate) perturbed: Option<f64>,
}

impl Ends {
    /// The best end; a search has at least one start.
    pub(crate) fn best(self) -> Option<Found> {
        self.found.into_iter().next()
    }
}

impl Search<'_> {
    /// Cold starts and the given warm ones, then perturbations of the best.
    pub(crate) fn run(&self, warm: Vec<State>) -> Ends {
        // Warm ends first: of equals, sorting keeps the first.
        let warm = warm.into_par_iter().map(|state| self.descend(state, self.limits));
        let mut found: Vec<Found> = warm.collect();
        let mut best: Option<f64> = None;
        let restarts = self.restarts.max(1);
        for from in (0..restarts).step_by(BATCH as usize) {
            // The first start is made even if time is up: silence is within every budget.
            let wanted = |start: &u32| *start == 0 || !(self.watch.stop)();
            let starts = (from..restarts.min(from + BATCH)).into_par_iter().filter(wanted);
            let cold: Vec<Found> = starts.map(|start| self.cold(start)).collect();
            best = cold.iter().map(|found| found.loss).chain(best).reduce(f64::min);
            found.extend(cold);
            found.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            found.truncate(KEPT);
        }
        // A few steps from one end do more than one step from each of several.
        let chains = (restarts as usize / 8).clamp(1, CHAINS);
        let mut tops: Vec<Found> = Vec::new();
        for candidate in &found {
            let known = tops.iter().any(|top| (top.loss - candidate.loss).abs() < APART);
            if !known && tops.len() < chains {
                tops.push(candidate.clone());
            }
        }
        let steps = self.restarts.div_ceil(2 * tops.len().max(1) as u32);
        let chains: Vec<Found> = tops
            .into_par_iter()
            .enumerate()
            .map(|(chain, top)| self.chain(chain as u64, top, steps))
            .collect();
        let perturbed = chains.iter().map(|found| found.loss).reduce(f64::min);
        found.extend(chains);
        found.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        Ends { found, cold: best, perturbed }
    }

    fn dice(&self, stream: u64) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::seed_from_u64(self.seed);
        rng.set_stream(stream);
        rng
    }

    /// Block steps over all sensors until a sweep gains nothing.
    pub(crate) fn descend(&self, mut state: State, limits: &Limits) -> Found {
        let network = self.network;
        let mut loss = network.loss(&state);
        for _ in 0..SWEEPS {
            let before = loss;
            for t in 0..network.sensors.len() {
                if (self.watch.stop)() {
                    return Found { state, loss };
                }
                let around = network.surroundings(&state, t);
                let cost = network.cost(&state, &around);
                let map = network.solve(&mut state, &around, &cost, limits, self.watch.stop);
                if let Some(map) = map {
                    loss = network.improve(&mut state, &around, map, loss);
                }
            }
            if before - loss < GAIN {
                break;
            }
        }
        Found { state, loss }
    }

    /// Silence, then all sensors or a random few speak.
    fn cold(&self, start: u32) -> Found {
        let mut dice = self.dice(u64::from(start));
        let mut order: Vec<usize> = (0..self.outputs.len()).collect();
        shuffle(&mut order, &mut dice);
        if start % 2 == 1 {
            order.truncate(1 + below(order.len(), &mut dice));
        }
        // Part of the budgets first: the detour often ends lower.
        let part = |dice: &mut ChaCha12Rng| 0.25 + 0.5 * unit(dice);
        let first = match start / 2 % 4 {
            0 => None,
            1 => Some((part(&mut dice), 1.0)),
            2 => Some((1.0, part(&mut dice))),
            _ => Some((part(&mut dice), part(&mut dice))),
        };
        let mut state = self.network.silent(self.outputs);
        let limits = first.map(|(information, ldp)| self.limits.shared(information, ldp));
        let limits = limits.as_ref().unwrap_or(self.limits);
        self.speak(&mut state, &order, limits, &mut dice);
        let mut found = self.descend(state, limits);
        if first.is_some() {
            found = self.descend(found.state, self.limits);
        }
        (self.watch.step)();
        found
    }

    /// Lets the sensors in `order` speak one after another: each takes the map that separates the
    /// values of H best (randomly tilted) within its share of the information budget.
    fn speak(&self, state: &mut State, order: &[usize], limits: &Limits, dice: &mut ChaCha12Rng) {
        for (k, &t) in order.iter().enumerate() {
            let limits = limits.shared((k + 1) as f64 / order.len() as f64, 1.0);
            self.separate(state, t, &limits, dice);
        }
    }

    /// Gives sensor `t` the map that separates the values of H best, randomly tilted.
    fn separate(&self, state: &mut State, t: usize, limits: &Limits, dice: &mut ChaCha12Rng) {
        if (self.watch.stop)() {
            return;
        }
        let around = self.network.surroundings(state, t);
        let cost = separating_cost(self.network, t, state.outputs[t], dice).into();
        if let Some(map) = self.network.solve(state, &around, &cost, limits, self.watch.stop) {
            self.network.set(state, t, map);
        }
    }

    /// Perturbs again and again, from the best so far.
    fn chain(&self, chain: u64, top: Found, steps: u32) -> Found {
        let mut dice = self.dice(1 << 32 | chain);
        let mut best = top;
        for _ in 0..steps {
            if (self.watch.stop)() {
                break;
            }
            let next = self.perturbed(&best.state, &mut dice);
            if next.loss < best.loss {
                best = next;
            }
            (self.watch.step)();
        }
        best
    }

    /// Silences one to three sensors, mostly lets them speak anew in another way, and descends.
    fn perturbed(&self, state: &State, dice: &mut ChaCha12Rng) -> Found {
        let mut state = state.clone();
        let mut order: Vec<usize> = (0..state.outputs.len()).collect();
        shuffle(&mut order, dice);
        order.truncate(1 + below(3.min(order.len()), dice));
        for &t in &order {
            let outputs = state.outputs[t];
            let map = vec![1.0 / outputs as f64; self.network.sensors[t].inputs * outputs];
            self.network.set(&mut state, t, map);
        }
        if unit(dice) < 0.8 {
            order.iter().for_each(|&t| self.separate(&mut state, t, self.limits, dice));
        }
        self.descend(state, self.limits)
    }
}

/// Output z stands for a value of H; sending it for x pays the tilted P(x|h). The laws are
/// normalised for each h: with the unbalanced P(x,h) a strict LDP limit makes constants optimal.
fn separating_cost(
    network: &Network,
    t: usize,
    outputs: usize,
    dice: &mut ChaCha12Rng,
) -> Vec<f64> {
    let inputs = network.sensors[t].inputs;
    let mut values: Vec<usize> = (0..outputs.max(network.publics)).collect();
    values.iter_mut().for_each(|value| *value %= network.publics);
    if outputs < network.publics {
        shuffle(&mut values, dice);
    }
    let law = |h: usize, dice: &mut ChaCha12Rng| {
        let mut law = vec![0.0; inputs];
        for g in 0..network.privates() {
            let tilt = 0.3 + 1.4 * unit(dice);
            law.iter_mut().zip(network.joint(t, h, g)).for_each(|(sum, p)| *sum += tilt * p);
        }
        let total: f64 = law.iter().sum();
        if total > 0.0 {
            law.iter_mut().for_each(|p| *p /= total);
        }
        law
    };
    let laws: Vec<Vec<f64>> = (0..outputs).map(|z| law(values[z], dice)).collect();
    (0..inputs).flat_map(|x| laws.iter().map(move |law| -law[x])).collect()
}
