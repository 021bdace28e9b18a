//! Block steps: the centre's rule, the adversaries' multipliers, one sensor's map at a time.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_design::Error;

use super::block::{Block, Multipliers};
use super::data::Data;
use super::{Settings, Threshold};
use crate::design::Watch;
use undertone_numeric::dice::{below, unit};

/// A sweep that gains less than this is the last (the risk of H).
const RISK_GAIN: f64 = 1e-5;
/// A sweep that gains less than this is the last (the adversaries' risk).
const LEAK_GAIN: f64 = 1e-6;
/// A constraint that holds up to this holds.
const TOLERANCE: f64 = 1e-7;

pub(crate) struct Search<'a> {
    pub(crate) data: &'a Data,
    pub(crate) settings: &'a Settings,
    /// e^ε.
    pub(crate) odds: Option<f64>,
    pub(crate) watch: &'a Watch<'a>,
}

/// Maps, what they make of the samples, and the best rules for them.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) maps: Vec<Vec<f64>>,
    pub(crate) features: Vec<f64>,
    /// The centre's rule, one per task.
    pub(crate) rules: Vec<Vec<f64>>,
    /// The risk of H under them.
    pub(crate) risk: f64,
    /// The adversaries' rules.
    adversaries: Vec<Vec<f64>>,
}

impl State {
    pub(crate) fn new(data: &Data, maps: Vec<Vec<f64>>, ridge: f64) -> Self {
        let features = data.features(&maps);
        let rules = vec![Vec::new(); data.tasks.signs.len()];
        let adversaries = vec![Vec::new(); data.contrasts.len()];
        let mut state = Self { maps, features, rules, risk: 0.0, adversaries };
        state.refit(data, ridge);
        state
    }

    /// This state with another map for sensor `t`; the rules stay.
    fn with(&self, data: &Data, t: usize, map: Vec<f64>) -> Self {
        let mut next = self.clone();
        data.write(&mut next.features, t, &map);
        next.maps[t] = map;
        next
    }

    /// The best rules of the centre.
    fn refit(&mut self, data: &Data, ridge: f64) {
        let mut sum = 0.0;
        for (task, rule) in self.rules.iter_mut().enumerate() {
            let regression = data.public(&self.features, task, ridge);
            *rule = regression.minimise(rule);
            sum += regression.risk(rule);
        }
        self.risk = sum / data.tasks.signs.len() as f64;
    }

    /// The least risk of any adversary, whose best rules are refitted.
    fn hidden(&mut self, data: &Data, ridge: f64) -> f64 {
        let mut least = f64::INFINITY;
        for (contrast, rule) in data.contrasts.iter().zip(&mut self.adversaries) {
            let rows = data.members(&self.features, contrast);
            let regression = data.private(&rows, contrast, ridge);
            *rule = regression.minimise(rule);
            least = least.min(regression.risk(rule));
        }
        least
    }

    /// The multipliers of the adversaries' rules as they stand.
    fn multipliers(&self, data: &Data, ridge: f64) -> Multipliers {
        let own = |(contrast, rule): (&super::data::Contrast, &Vec<f64>)| {
            let rows = data.members(&self.features, contrast);
            data.private(&rows, contrast, ridge).multipliers(rule)
        };
        Multipliers(data.contrasts.iter().zip(&self.adversaries).map(own).collect())
    }
}

impl Search<'_> {
    /// The risk of H when all outputs say nothing.
    pub(crate) fn blind(&self) -> f64 {
        let Data { inputs, outputs, .. } = self.data;
        let silent = inputs.iter().map(|size| vec![1.0 / *outputs as f64; size * outputs]);
        State::new(self.data, silent.collect(), self.settings.ridge).risk
    }

    /// E-LDP: the centre's rule and the maps in turn, the best of several starts.
    pub(crate) fn least_risk(&self) -> Result<State, Error> {
        let Settings { ridge, restarts, seed, sweeps, .. } = *self.settings;
        let mut best: Option<State> = None;
        for start in 0..restarts {
            if best.is_some() && (self.watch.stop)() {
                break;
            }
            let mut rng = ChaCha12Rng::seed_from_u64(seed.wrapping_add(u64::from(start)));
            let maps = (0..self.data.inputs.len()).map(|t| {
                let noise = if start == 0 { 0.0 } else { 1.5 };
                self.start(t, noise, &mut rng)
            });
            let mut state = State::new(self.data, maps.collect(), ridge);
            for _ in 0..sweeps {
                let before = state.risk;
                for t in 0..self.data.inputs.len() {
                    let block = Block::new(self.data, t, self.odds);
                    let risk = block.risk(&state.features, &state.rules, ridge, 0.0);
                    if let Some(map) = block.least_risk(&risk, &[], &state.maps[t]) {
                        let mut next = state.with(self.data, t, map);
                        next.refit(self.data, ridge);
                        if next.risk < state.risk {
                            state = next;
                        }
                    }
                    (self.watch.step)();
                }
                if !(before - state.risk >= RISK_GAIN) || (self.watch.stop)() {
                    break;
                }
            }
            if best.as_ref().is_none_or(|best| state.risk < best.risk) {
                best = Some(state);
            }
        }
        best.ok_or_else(|| Error::range("restarts", 0.0, "at least 1"))
    }

    /// EPIC and NPO, from the maps of [`Search::least_risk`]: first the largest threshold that leaves
    /// H detectable, then the least risk of H at a share of it.
    pub(crate) fn hide(&self, mut state: State) -> (State, Threshold) {
        let Settings { ridge, ratio, slack, .. } = *self.settings;
        let limit = state.risk + slack * (self.blind() - state.risk).max(0.0);
        let most = self.most_hidden(&mut state, limit);
        let kept = ratio * most;
        self.least_risk_hidden(&mut state, kept);
        state.refit(self.data, ridge);
        (state, Threshold { most, kept })
    }

    /// θ*: makes the least risk of an adversary large while that of H stays within `limit`.
    fn most_hidden(&self, state: &mut State, limit: f64) -> f64 {
        let Settings { ridge, sweeps, .. } = *self.settings;
        let mut hidden = state.hidden(self.data, ridge);
        for _ in 0..sweeps {
            let before = hidden;
            for t in 0..self.data.inputs.len() {
                let block = Block::new(self.data, t, self.odds);
                let risk = block.risk(&state.features, &state.rules, ridge, limit);
                let mut best = None;
                for multipliers in self.candidates(state) {
                    let leaks = block.leaks(&state.features, &multipliers, ridge, None);
                    let Some(map) = block.least_leak(&risk, &leaks, &state.maps[t]) else {
                        continue;
                    };
                    let mut next = state.with(self.data, t, map);
                    next.refit(self.data, ridge);
                    let found = next.hidden(self.data, ridge);
                    if next.risk <= limit + TOLERANCE && found > hidden {
                        hidden = found;
                        best = Some(next);
                    }
                }
                if let Some(next) = best {
                    *state = next;
                }
                (self.watch.step)();
            }
            if !(hidden - before >= LEAK_GAIN) || (self.watch.stop)() {
                break;
            }
        }
        hidden
    }

    /// Makes the risk of H small while every adversary's stays above `theta`.
    fn least_risk_hidden(&self, state: &mut State, theta: f64) {
        let Settings { ridge, sweeps, .. } = *self.settings;
        state.hidden(self.data, ridge);
        for _ in 0..sweeps {
            let before = state.risk;
            for t in 0..self.data.inputs.len() {
                let block = Block::new(self.data, t, self.odds);
                let risk = block.risk(&state.features, &state.rules, ridge, 0.0);
                let mut best: Option<State> = None;
                for multipliers in self.candidates(state) {
                    let leaks = block.leaks(&state.features, &multipliers, ridge, Some(theta));
                    let Some(map) = block.least_risk(&risk, &leaks, &state.maps[t]) else {
                        continue;
                    };
                    let mut next = state.with(self.data, t, map);
                    next.refit(self.data, ridge);
                    let most = best.as_ref().map_or(state.risk, |best| best.risk);
                    if next.risk < most && next.hidden(self.data, ridge) >= theta - TOLERANCE {
                        best = Some(next);
                    }
                }
                if let Some(next) = best {
                    *state = next;
                }
                (self.watch.step)();
            }
            if !(before - state.risk >= RISK_GAIN) || (self.watch.stop)() {
                break;
            }
        }
    }

    /// Multipliers to hold while a map moves: all alike, which compares means, and the adversaries'
    /// own. Alternating on their own alone zig-zags.
    fn candidates(&self, state: &State) -> [Multipliers; 2] {
        let equal = self.data.loss.slope(0.0);
        let equal = self.data.contrasts.iter().map(|contrast| vec![equal; contrast.members.len()]);
        [Multipliers(equal.collect()), state.multipliers(self.data, self.settings.ridge)]
    }

    /// A first map: readings sorted by how they lean, cut into as many shares as there are outputs,
    /// and sent by randomised response. Constant maps would be stationary.
    fn start(&self, t: usize, noise: f64, rng: &mut ChaCha12Rng) -> Vec<f64> {
        let Data { inputs, outputs, readings, tasks, .. } = self.data;
        let (size, k) = (inputs[t], *outputs);
        let (mut plus, mut all) = (vec![0.5f64; size], vec![1.0f64; size]);
        // With several tasks every start leans towards another one.
        let task = if tasks.signs.len() > 1 { below(tasks.signs.len(), rng) } else { 0 };
        let signs = &tasks.signs[task.min(tasks.signs.len() - 1)];
        for (&x, sign) in readings[t].iter().zip(signs) {
            all[x] += 1.0;
            plus[x] += if *sign > 0.0 { 1.0 } else { 0.0 };
        }
        let lean: Vec<f64> = (0..size)
            .map(|x| (plus[x] / (all[x] - plus[x])).ln() + noise * (2.0 * unit(rng) - 1.0))
            .collect();
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&a, &b| lean[a].total_cmp(&lean[b]));
        let odds = self.odds.unwrap_or(1e3).min(1e3);
        let (high, low) = (odds / (odds + k as f64 - 1.0), 1.0 / (odds + k as f64 - 1.0));
        let total: f64 = all.iter().sum();
        let mut below = 0.0;
        let mut map = vec![low; size * k];
        for x in order {
            let middle = (below + all[x] / 2.0) / total;
            map[x * k + ((middle * k as f64) as usize).min(k - 1)] = high;
            below += all[x];
        }
        map
    }
}
