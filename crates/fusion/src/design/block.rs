//! One sensor's map with all others fixed: an exact linear program (JOINT's block).
//!
//! With the other sensors' maps fixed, P(z,g) is linear in sensor t's map, so both budgets of ST20
//! (P0) are linear rows ([`Rows`]); with the fusion rule fixed as well, so is the error.

use super::limits::Limits;
use super::rows::{LiftRow, Rows};
use super::vertex;
use crate::exact::ONE_UNIT;
use crate::objective::{Goal, Test};
use crate::{Maps, Model};
use undertone_design::{Channel, Distribution, Error};
use undertone_numeric::cutting_planes::minimise_over_box;

/// An output sent with at most this probability whatever is read is not sent.
const GHOST: f64 = 1e-7;

/// A model prepared for block steps. Readings without mass get the average row in the end.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    weights: Vec<f64>,
    pub(crate) publics: usize,
    privates: usize,
    pub(crate) sensors: Vec<Prepared>,
    goal: Goal,
}

/// What a block's linear program minimises: the cost of sending z for x, row after row.
#[derive(Debug, Clone)]
pub(crate) struct Cost {
    pub(crate) each: Vec<f64>,
    /// For detection, how often an alarm is false when z is sent for x, and how often it may be in all.
    pub(crate) alarms: Option<(Vec<f64>, f64)>,
}

impl From<Vec<f64>> for Cost {
    fn from(each: Vec<f64>) -> Self {
        Self { each, alarms: None }
    }
}

/// One sensor: its laws, and the distinct combinations of labels and law.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) inputs: usize,
    /// Row after row.
    pub(super) laws: Vec<f64>,
    rows: usize,
    row_of: Vec<u32>,
    /// (h, g, row), each once.
    cells: Vec<(usize, usize, usize)>,
    cell_of: Vec<u32>,
    /// (g, row), each once, and which of them every cell belongs to.
    pub(super) groups: Vec<(usize, usize)>,
    pub(super) group_of: Vec<usize>,
    /// P(x).
    reading: Vec<f64>,
    /// P(x, h, g), indexed by h, g and x.
    joint: Vec<f64>,
}

/// Maps under construction: p_t(z|x) row after row, and their likelihoods per law.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) outputs: Vec<usize>,
    pub(crate) maps: Vec<Vec<f64>>,
    likelihoods: Vec<Vec<f64>>,
    /// For every sensor, the lift rows that mattered when its block was last solved.
    hot: Vec<Vec<LiftRow>>,
}

impl Network {
    pub(crate) fn new(model: &Model, goal: &Goal) -> Self {
        let atoms = model.atoms();
        let (publics, privates) = (model.public().size(), model.private().size());
        let sensors = model.sensors().iter().enumerate().map(|(t, sensor)| {
            let mut cells: Vec<(usize, usize, usize)> = Vec::new();
            let mut index = std::collections::HashMap::new();
            let mut joint = vec![0.0; publics * privates * sensor.inputs()];
            let mut cell_of = Vec::with_capacity(atoms.len());
            for (atom, &row) in atoms.iter().zip(sensor.row_of()) {
                let key = (atom.public, atom.private, row as usize);
                let at = *index.entry(key).or_insert_with(|| {
                    cells.push(key);
                    cells.len() - 1
                });
                cell_of.push(at as u32);
                let from = (atom.public * privates + atom.private) * sensor.inputs();
                let law = sensor.rows()[row as usize].as_slice();
                let place = &mut joint[from..from + sensor.inputs()];
                place.iter_mut().zip(law).for_each(|(sum, p)| *sum += atom.weight * p);
            }
            let mut groups: Vec<(usize, usize)> = Vec::new();
            let group = |&(_, g, row): &(usize, usize, usize)| {
                groups.iter().position(|&known| known == (g, row)).unwrap_or_else(|| {
                    groups.push((g, row));
                    groups.len() - 1
                })
            };
            let group_of = cells.iter().map(group).collect();
            Prepared {
                inputs: sensor.inputs(),
                laws: sensor.rows().iter().flat_map(Distribution::as_slice).copied().collect(),
                rows: sensor.rows().len(),
                row_of: sensor.row_of().to_vec(),
                cells,
                cell_of,
                groups,
                group_of,
                reading: model.reading_law(t),
                joint,
            }
        });
        let weights = atoms.iter().map(|atom| atom.weight).collect();
        Self { weights, publics, privates, sensors: sensors.collect(), goal: goal.clone() }
    }

    /// P(x, h, g) of sensor `t`.
    pub(crate) fn joint(&self, t: usize, h: usize, g: usize) -> &[f64] {
        let sensor = &self.sensors[t];
        let from = (h * self.privates + g) * sensor.inputs;
        &sensor.joint[from..from + sensor.inputs]
    }

    pub(crate) fn privates(&self) -> usize {
        self.privates
    }

    /// Every sensor sends a uniform output whatever it reads.
    pub(crate) fn silent(&self, outputs: &[usize]) -> State {
        let map =
            |(sensor, &size): (&Prepared, &usize)| vec![1.0 / size as f64; sensor.inputs * size];
        let maps = self.sensors.iter().zip(outputs).map(map).collect();
        self.state(outputs.to_vec(), maps)
    }

    fn state(&self, outputs: Vec<usize>, maps: Vec<Vec<f64>>) -> State {
        let sensors = maps.len();
        let mut state = State {
            likelihoods: vec![Vec::new(); sensors],
            hot: vec![Vec::new(); sensors],
            outputs,
            maps,
        };
        (0..self.sensors.len()).for_each(|t| self.refresh(&mut state, t));
        state
    }

    /// The state of given maps.
    pub(crate) fn load(&self, maps: &Maps) -> State {
        let flat = |map: &Channel| -> Vec<f64> {
            map.rows().iter().flat_map(Distribution::as_slice).copied().collect()
        };
        self.state(maps.outputs(), maps.channels().iter().map(flat).collect())
    }

    /// The maps of a state. A reading that never occurs, but for rounding, gets the output's own law.
    pub(crate) fn unload(&self, state: &State) -> Result<Maps, Error> {
        let channel = |(t, sensor): (usize, &Prepared)| {
            let size = state.outputs[t];
            let rows: Vec<&[f64]> = state.maps[t].chunks_exact(size).collect();
            let mut average = vec![0.0; size];
            for (row, p) in rows.iter().zip(&sensor.reading) {
                average.iter_mut().zip(*row).for_each(|(sum, q)| *sum += p * q);
            }
            let row = |(row, &p): (&&[f64], &f64)| {
                let row = if p > ONE_UNIT { row.to_vec() } else { average.clone() };
                Distribution::normalised("a sensor's map", row)
            };
            Channel::from_rows(rows.iter().zip(&sensor.reading).map(row).collect::<Result<_, _>>()?)
        };
        Maps::new(self.sensors.iter().enumerate().map(channel).collect::<Result<_, _>>()?)
    }

    /// Recomputes the likelihoods of sensor `t` after its map changed.
    fn refresh(&self, state: &mut State, t: usize) {
        let (sensor, size) = (&self.sensors[t], state.outputs[t]);
        state.likelihoods[t] = sensor.push(&state.maps[t], size);
    }

    /// The sensor's surroundings: everything a block needs to know of the others.
    pub(crate) fn surroundings(&self, state: &State, t: usize) -> Surroundings {
        let sensor = &self.sensors[t];
        let others: Vec<usize> = (0..self.sensors.len()).filter(|&i| i != t).collect();
        let reach: usize = others.iter().map(|&i| state.outputs[i]).product();
        let mut masses = vec![0.0; sensor.cells.len() * reach];
        let (mut here, mut next) = (Vec::with_capacity(reach), Vec::with_capacity(reach));
        for (k, &weight) in self.weights.iter().enumerate() {
            here.clear();
            here.push(weight);
            for &i in &others {
                let size = state.outputs[i];
                let row = self.sensors[i].row_of[k] as usize;
                let likelihood = &state.likelihoods[i][row * size..(row + 1) * size];
                next.clear();
                next.extend(here.iter().flat_map(|m| likelihood.iter().map(move |q| m * q)));
                std::mem::swap(&mut here, &mut next);
            }
            let from = sensor.cell_of[k] as usize * reach;
            masses[from..from + reach].iter_mut().zip(&here).for_each(|(sum, m)| *sum += m);
        }
        Surroundings { t, reach, masses }
    }

    /// The loss: for the usual objective the Bayes error of H.
    pub(crate) fn loss(&self, state: &State) -> f64 {
        let around = self.surroundings(state, 0);
        self.loss_with(&around, &state.likelihoods[0], state.outputs[0])
    }

    fn loss_with(&self, around: &Surroundings, likelihood: &[f64], outputs: usize) -> f64 {
        if let Some(test) = self.test(around, likelihood, outputs) {
            return test.missed;
        }
        let mut kept = 0.0;
        let mut masses = vec![0.0; self.publics];
        self.each_output(around, likelihood, outputs, |_, publics| {
            let gain = |r: usize| {
                masses.iter_mut().zip(publics).for_each(|(mass, p)| *mass = p[r]);
                self.goal.gain(&masses)
            };
            kept += (0..around.reach).map(gain).sum::<f64>();
        });
        self.goal.offset() - kept
    }

    /// For detection, the best test.
    fn test(&self, around: &Surroundings, likelihood: &[f64], outputs: usize) -> Option<Test> {
        let false_alarm = self.goal.false_alarm()?;
        let mut cells = Vec::with_capacity(outputs * around.reach);
        self.each_output(around, likelihood, outputs, |_, publics| {
            cells.extend((0..around.reach).map(|r| two(publics, r)));
        });
        Some(Test::new(cells, false_alarm))
    }

    /// Calls `visit(z, P(h, z, r) for every h and r)` for every output z of the sensor.
    fn each_output(
        &self,
        around: &Surroundings,
        likelihood: &[f64],
        outputs: usize,
        mut visit: impl FnMut(usize, &[Vec<f64>]),
    ) {
        let sensor = &self.sensors[around.t];
        let mut publics = vec![vec![0.0; around.reach]; self.publics];
        for z in 0..outputs {
            publics.iter_mut().for_each(|p| p.fill(0.0));
            for (cell, masses) in sensor.cells.iter().zip(around.masses.chunks_exact(around.reach))
            {
                let q = likelihood[cell.2 * outputs + z];
                publics[cell.0].iter_mut().zip(masses).for_each(|(p, m)| *p += q * m);
            }
            visit(z, &publics);
        }
    }

    /// The cost of sending z for x while the centre decides as is best for the present maps: the loss is what it adds up
    /// to, and a constant.
    pub(crate) fn cost(&self, state: &State, around: &Surroundings) -> Cost {
        let t = around.t;
        let (sensor, outputs) = (&self.sensors[t], state.outputs[t]);
        let test = self.test(around, &state.likelihoods[t], outputs);
        let mut each = vec![0.0; sensor.inputs * outputs];
        let mut alarms = test.map(|_| vec![0.0; sensor.inputs * outputs]);
        let mut prices = vec![vec![0.0; around.reach]; self.publics];
        let (mut masses, mut price) = (vec![0.0; self.publics], vec![0.0; self.publics]);
        let public = self.goal.public();
        let event: f64 = public[1..].iter().sum();
        self.each_output(around, &state.likelihoods[t], outputs, |z, publics| {
            for r in 0..around.reach {
                if let Some(test) = &test {
                    let (nothing, something) = two(publics, r);
                    let alarm = test.alarm(nothing, something);
                    prices[0][r] = alarm / public[0];
                    prices[1..].iter_mut().for_each(|prices| prices[r] = -alarm / event);
                    continue;
                }
                masses.iter_mut().zip(publics).for_each(|(mass, p)| *mass = p[r]);
                self.goal.prices(&masses, &mut price);
                prices.iter_mut().zip(&price).for_each(|(place, price)| place[r] = *price);
            }
            for (&(h, _, row), masses) in
                sensor.cells.iter().zip(around.masses.chunks_exact(around.reach))
            {
                let total: f64 = prices[h].iter().zip(masses).map(|(price, m)| price * m).sum();
                let law = &sensor.laws[row * sensor.inputs..(row + 1) * sensor.inputs];
                let place = match &mut alarms {
                    Some(alarms) if h == 0 => alarms,
                    _ => &mut each,
                };
                for (x, p) in law.iter().enumerate() {
                    place[x * outputs + z] += p * total;
                }
            }
        });
        Cost { each, alarms: alarms.zip(self.goal.false_alarm()) }
    }

    /// The map of sensor `around.t` that minimises `cost` within `limits`; `None` if the solver stalls
    /// or is stopped.
    pub(crate) fn solve(
        &self,
        state: &mut State,
        around: &Surroundings,
        cost: &Cost,
        limits: &Limits,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<f64>> {
        let (sensor, outputs) = (&self.sensors[around.t], state.outputs[around.t]);
        let free_of_rows = limits.lift.is_none() && limits.spread.is_none();
        if free_of_rows && cost.alarms.is_none() && outputs == 2 {
            let difference: Vec<f64> = cost.each.chunks_exact(2).map(|c| c[0] - c[1]).collect();
            let best = vertex::best(&difference, limits.ldp.unwrap_or(f64::INFINITY));
            return Some(best.iter().flat_map(|&p| [p, 1.0 - p]).collect());
        }
        let mut rows = Rows::new(sensor, around, outputs, limits, &state.hot[around.t]);
        rows.alarms = cost.alarms.as_ref();
        rows.stop = Some(stop);
        let free = outputs - 1;
        let mut reduced = Vec::with_capacity(rows.variables());
        for c in cost.each.chunks_exact(outputs) {
            reduced.extend(c[..free].iter().map(|v| v - c[free]));
        }
        reduced.resize(rows.variables(), 0.0);
        let x = minimise_over_box(&reduced, &mut rows);
        state.hot[around.t] = rows.used;
        let x = x?;
        let mut map = Vec::with_capacity(cost.each.len());
        for p in x[..sensor.inputs * free].chunks_exact(free.max(1)) {
            let p: Vec<f64> = p.iter().map(|p| p.clamp(0.0, 1.0)).collect();
            let rest = (1.0 - p.iter().sum::<f64>()).max(0.0);
            let total = p.iter().sum::<f64>() + rest;
            map.extend(p.iter().chain([&rest]).map(|p| p / total));
        }
        drop_ghosts(&mut map, outputs);
        Some(map)
    }

    /// Puts a new map in place if it does not make things worse; returns the loss.
    pub(crate) fn improve(
        &self,
        state: &mut State,
        around: &Surroundings,
        map: Vec<f64>,
        loss: f64,
    ) -> f64 {
        let (sensor, size) = (&self.sensors[around.t], state.outputs[around.t]);
        let likelihood = sensor.push(&map, size);
        let found = self.loss_with(around, &likelihood, size);
        if !(found <= loss) {
            return loss;
        }
        state.maps[around.t] = map;
        state.likelihoods[around.t] = likelihood;
        found
    }

    /// Puts a new map in place.
    pub(crate) fn set(&self, state: &mut State, t: usize, map: Vec<f64>) {
        state.maps[t] = map;
        self.refresh(state, t);
    }
}

impl Prepared {
    /// The law of the output for every law of the reading.
    pub(super) fn push(&self, map: &[f64], outputs: usize) -> Vec<f64> {
        let mut pushed = vec![0.0; self.rows * outputs];
        for (law, place) in
            self.laws.chunks_exact(self.inputs).zip(pushed.chunks_exact_mut(outputs))
        {
            for (&p, row) in law.iter().zip(map.chunks_exact(outputs)) {
                if p > 0.0 {
                    place.iter_mut().zip(row).for_each(|(sum, q)| *sum += p * q);
                }
            }
        }
        pushed
    }
}

/// Sends the most common output in place of one that is hardly ever sent: post-processing, so nothing
/// leaks more. A solver's tolerance leaves such traces, and their ratios are anything.
fn drop_ghosts(map: &mut [f64], outputs: usize) {
    let most = |map: &[f64], z: usize| {
        map.iter().skip(z).step_by(outputs).fold(0.0f64, |most, &p| most.max(p))
    };
    let total = |map: &[f64], z: usize| map.iter().skip(z).step_by(outputs).sum::<f64>();
    for ghost in 0..outputs {
        let largest = most(map, ghost);
        if !(largest > 0.0 && largest <= GHOST) {
            continue;
        }
        let common = (0..outputs).max_by(|&a, &b| total(map, a).total_cmp(&total(map, b)));
        let Some(common) = common.filter(|&common| common != ghost) else { continue };
        for row in map.chunks_exact_mut(outputs) {
            row[common] += row[ghost];
            row[ghost] = 0.0;
        }
    }
}

/// The masses of H's first value and of all others.
fn two(publics: &[Vec<f64>], r: usize) -> (f64, f64) {
    (publics[0][r], publics[1..].iter().map(|p| p[r]).sum())
}

/// P(r, cell) for every vector r of the other sensors' outputs.
pub(crate) struct Surroundings {
    t: usize,
    pub(super) reach: usize,
    /// Cell after cell.
    pub(super) masses: Vec<f64>,
}
