//! Blocks against an interior-point method that is given every row, written out from the model.
#![allow(clippy::unwrap_used)]

use undertone_core::Alphabet;
use undertone_design::Channel;
use undertone_design::solve::Program;

use super::block::{Cost, Network};
use super::limits::Limits;
use super::vertex;
use crate::lift::LiftBounds;
use crate::objective::Goal;
use crate::{Hypothesis, Maps, Model, Objective, Point};
use undertone_numeric::cutting_planes::{RowOracle, minimise_over_box};
use undertone_testkit::channel::rows;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

fn goal(model: &Model) -> Goal {
    Goal::new(&Objective::Error, model.public_law()).unwrap()
}

fn law(n: usize, dice: &mut Dice) -> Vec<f64> {
    level(n, 0.01, dice)
}

/// A network whose sensors are independent given (H,G), or any joint law.
fn random_model(sensors: usize, readings: usize, dependent: bool, dice: &mut Dice) -> Model {
    let (h, g) = (2 + dice.below(2), 2 + dice.below(2));
    if !dependent {
        let prior = law(h * g, dice).chunks(g).map(<[f64]>::to_vec).collect();
        let given = |dice: &mut Dice| (0..h).map(|_| rows(g, readings, law, dice)).collect();
        let given = (0..sensors).map(|_| given(dice)).collect();
        return Model::independent(prior, given).unwrap();
    }
    let count = 24;
    let weights = law(count, dice);
    let point = |(i, weight): (usize, f64)| Point {
        weight,
        public: if i < h { i } else { dice.below(h) },
        private: if i < g { i } else { dice.below(g) },
        readings: (0..sensors).map(|_| dice.below(readings)).collect(),
    };
    let points: Vec<Point> = weights.into_iter().enumerate().map(point).collect();
    let alphabet = Alphabet::indices(readings).unwrap();
    let sensors = (0..sensors).map(|t| (t.to_string(), alphabet.clone())).collect();
    let (h, g) = (Hypothesis::indexed("h", h), Hypothesis::indexed("g", g));
    Model::joint(h, g, sensors, &points).unwrap()
}

fn random_maps(model: &Model, outputs: usize, dice: &mut Dice) -> Maps {
    let map =
        |sensor: &crate::Sensor| Channel::new(rows(sensor.inputs(), outputs, law, dice)).unwrap();
    Maps::new(model.sensors().iter().map(map).collect()).unwrap()
}

/// P(x_t = x, g, r) of the last sensor for all r, straight from the definition.
fn table(model: &Model, maps: &Maps) -> Vec<Vec<Vec<f64>>> {
    let last = maps.len() - 1;
    let sizes: Vec<usize> = maps.outputs()[..last].to_vec();
    let reach: usize = sizes.iter().product();
    let inputs = model.sensors()[last].inputs();
    let mut table = vec![vec![vec![0.0; inputs]; model.private().size()]; reach];
    for (r, place) in table.iter_mut().enumerate() {
        let mut rest = r;
        for (k, atom) in model.atoms().iter().enumerate() {
            let mut mass = atom.weight;
            rest = r;
            for (t, &size) in sizes.iter().enumerate() {
                let z = rest % size;
                rest /= size;
                let law = model.sensors()[t].given(k).as_slice();
                mass *= law
                    .iter()
                    .enumerate()
                    .map(|(x, p)| p * maps.channels()[t].q(x, z))
                    .sum::<f64>();
            }
            let law = model.sensors()[last].given(k).as_slice();
            place[atom.private].iter_mut().zip(law).for_each(|(sum, p)| *sum += mass * p);
        }
        assert_eq!(rest, 0);
    }
    table
}

/// The least cost of the last sensor's map, with every row written out.
fn written_out(model: &Model, maps: &Maps, cost: &[f64], nats: f64, odds: f64) -> f64 {
    let outputs = maps.outputs()[maps.len() - 1];
    let inputs = cost.len() / outputs;
    let prior = model.private_law();
    let mut program = Program::new();
    let p: Vec<usize> = cost.iter().map(|&c| program.non_negative(c)).collect();
    for x in 0..inputs {
        program.equal((0..outputs).map(|z| (p[x * outputs + z], 1.0)), 1.0);
    }
    for z in 0..outputs {
        let floor = program.non_negative(0.0);
        for x in 0..inputs {
            program.at_most([(floor, 1.0), (p[x * outputs + z], -1.0)], 0.0);
            program.at_most([(p[x * outputs + z], 1.0), (floor, -odds)], 0.0);
        }
        for laws in table(model, maps) {
            for (g, &prior) in prior.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                let total = |x: usize| laws.iter().map(|law| law[x]).sum::<f64>();
                for sign in [1.0, -1.0] {
                    let bound = (sign * nats).exp();
                    let row: Vec<f64> = (0..inputs)
                        .map(|x| sign * (laws[g][x] / prior - bound * total(x)))
                        .collect();
                    let most = row.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                    if most > 0.0 {
                        let row = row.iter().enumerate();
                        program.at_most(row.map(|(x, v)| (p[x * outputs + z], v / most)), 0.0);
                    }
                }
            }
        }
    }
    program.solve().unwrap().cost
}

fn compare(dice: &mut Dice, sensors: usize, readings: usize, outputs: usize, dependent: bool) {
    let model = random_model(sensors, readings, dependent, dice);
    // The others must themselves be within the limits, or no map of the last sensor is: a budget
    // above what they leak leaves room.
    let nats = 0.05 + 0.3 * dice.unit();
    let odds = (0.2 + 2.0 * dice.unit()).exp();
    let mut maps = random_maps(&model, outputs, dice);
    let leak = |maps: &Maps| {
        let seen = crate::Evaluation::new(&model, &maps.mixed(&model, 0.0).unwrap());
        seen.unwrap().information.nats
    };
    let mut share = 0.5;
    while leak(&maps) > nats {
        maps = maps.mixed(&model, share).unwrap();
        share = (share + 1.0) / 2.0;
    }
    let network = Network::new(&model, &goal(&model));
    let mut state = network.load(&maps);
    let t = sensors - 1;
    let around = network.surroundings(&state, t);
    let cost = if dice.unit() < 0.5 {
        network.cost(&state, &around)
    } else {
        let each: Vec<f64> = (0..readings * outputs).map(|_| dice.unit() - 0.5).collect();
        each.into()
    };
    let lift = LiftBounds::new(&model.private_law(), nats, 1).unwrap();
    let limits = Limits { lift: Some(lift), ldp: Some(odds), spread: None };
    let map = network.solve(&mut state, &around, &cost, &limits, &|| false).unwrap();
    let found: f64 = map.iter().zip(&cost.each).map(|(p, c)| p * c).sum();
    let expected = written_out(&model, &maps, &cost.each, nats, odds);
    assert!((found - expected).abs() < 2e-7, "{sensors} {readings} {outputs}: {found} {expected}");
    network.set(&mut state, t, map);
    let after = network.unload(&state).unwrap();
    assert!(leak(&after) <= nats + 1e-7, "{} {nats}", leak(&after));
}

#[test]
fn blocks_agree_with_all_rows_written_out() {
    let mut dice = Dice::new(7);
    for case in 0..60 {
        let (sensors, readings) = (1 + dice.below(4), 2 + dice.below(6));
        compare(&mut dice, sensors, readings, 2 + case % 2, case % 3 == 0);
    }
}

#[test]
fn blocks_that_look_at_few_rows_agree_too() {
    // 2 sides x 2 outputs x 2^10 vectors are more than are looked at at once.
    let mut dice = Dice::new(8);
    compare(&mut dice, 11, 5, 2, false);
}

#[test]
fn the_best_of_three_vertices_is_the_optimum() {
    let mut dice = Dice::new(9);
    let mut printed_worse = 0;
    for _ in 0..400 {
        let d: Vec<f64> = (0..1 + dice.below(6)).map(|_| dice.unit() - 0.4).collect();
        let odds = (0.01 + 3.0 * dice.unit()).exp();
        let mut program = Program::new();
        let p: Vec<usize> = d.iter().map(|&d| program.non_negative(d)).collect();
        for &a in &p {
            program.at_most([(a, 1.0)], 1.0);
            for &b in &p {
                program.at_most([(a, 1.0), (b, -odds)], 0.0);
                // 1 - p(a) <= odds (1 - p(b)).
                program.at_most([(a, -1.0), (b, odds)], odds - 1.0);
            }
        }
        let cost = |p: &[f64]| p.iter().zip(&d).map(|(p, d)| p * d).sum::<f64>();
        let expected = program.solve().unwrap().cost;
        assert!((cost(&vertex::best(&d, odds)) - expected).abs() < 1e-8);
        printed_worse += u32::from(cost(&vertex::printed(&d, odds)) > expected + 1e-7);
    }
    assert!(printed_worse > 200, "the printed rule is often not the optimum: {printed_worse}");
}

#[test]
fn without_limits_the_map_that_costs_least_is_found() {
    let mut dice = Dice::new(10);
    let model = random_model(2, 4, false, &mut dice);
    let network = Network::new(&model, &goal(&model));
    let mut state = network.silent(&[3, 3]);
    let around = network.surroundings(&state, 1);
    let cost: Vec<f64> = (0..12).map(|_| dice.unit()).collect();
    let limits = Limits::default();
    let map = network.solve(&mut state, &around, &Cost::from(cost.clone()), &limits, &|| false);
    let map = map.unwrap();
    for (row, cost) in map.chunks_exact(3).zip(cost.chunks_exact(3)) {
        let best = (0..3).min_by(|&a, &b| cost[a].total_cmp(&cost[b])).unwrap();
        assert!((row[best] - 1.0).abs() < 1e-9);
    }
}

/// A plain list of rows.
struct List(Vec<(Vec<f64>, f64)>);

impl RowOracle for List {
    fn most_violated(&mut self, x: &[f64], row: &mut [f64]) -> Option<f64> {
        let dot = |a: &[f64]| a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        let violation = |(a, b): &(Vec<f64>, f64)| dot(a) - b;
        let worst = self.0.iter().max_by(|a, b| violation(a).total_cmp(&violation(b)))?;
        row.copy_from_slice(&worst.0);
        (violation(worst) > 1e-11).then_some(worst.1)
    }
}

/// A list that is stopped after so many rows.
struct Stopped(List, usize);

impl RowOracle for Stopped {
    fn most_violated(&mut self, x: &[f64], row: &mut [f64]) -> Option<f64> {
        self.1 = self.1.checked_sub(1)?;
        self.0.most_violated(x, row)
    }

    fn stopped(&self) -> bool {
        self.1 == 0
    }
}

#[test]
fn a_linear_program_is_given_up_between_rows() {
    // Each step takes one row more.
    let rows: Vec<(Vec<f64>, f64)> =
        (0..5).map(|at| ((0..5).map(|j| f64::from(u8::from(j == at))).collect(), 0.5)).collect();
    let solve =
        |patience: usize| minimise_over_box(&[-1.0; 5], &mut Stopped(List(rows.clone()), patience));
    assert!((0..=5).all(|patience| solve(patience).is_none()), "half a program is no answer");
    assert!(solve(7).unwrap().iter().all(|x| (x - 0.5).abs() < 1e-9));
}

#[test]
fn cutting_planes_agree_with_the_interior_point_method() {
    let mut dice = Dice::new(6);
    let mut uniform = move || dice.unit();
    for case in 0..60 {
        let n = 1 + case % 12;
        let cost: Vec<f64> = (0..n).map(|_| uniform() - 0.5).collect();
        let inside: Vec<f64> = (0..n).map(|_| uniform()).collect();
        let mut rows = Vec::new();
        for _ in 0..3 * n {
            let mut row: Vec<f64> = (0..n).map(|_| uniform() - 0.5).collect();
            let most = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            row.iter_mut().for_each(|v| *v /= most);
            let at: f64 = row.iter().zip(&inside).map(|(a, x)| a * x).sum();
            // Some rows pass through the point, so vertices are degenerate.
            rows.push((row, if uniform() < 0.3 { at } else { at + 0.2 * uniform() }));
        }
        let mut program = Program::new();
        let variables: Vec<usize> = cost.iter().map(|&c| program.non_negative(c)).collect();
        variables.iter().for_each(|&v| program.at_most([(v, 1.0)], 1.0));
        for (row, bound) in &rows {
            program.at_most(variables.iter().copied().zip(row.iter().copied()), *bound);
        }
        let expected = program.solve().unwrap().cost;
        let mut list = List(rows);
        let x = minimise_over_box(&cost, &mut list).unwrap();
        let found: f64 = cost.iter().zip(&x).map(|(c, x)| c * x).sum();
        assert!((found - expected).abs() < 1e-7, "case {case}: {found} {expected}");
        assert!(list.most_violated(&x, &mut vec![0.0; n]).is_none());
        assert!(x.iter().all(|x| (-1e-11..=1.0 + 1e-11).contains(x)));
    }
}
