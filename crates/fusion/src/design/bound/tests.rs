//! The bounds against every network of a grid, and against what is known exactly.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::performance::Performance;
use crate::{Evaluation, FusionRule, Maps};
use undertone_design::Channel;
use undertone_testkit::channel::rows;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

fn law(n: usize, dice: &mut Dice) -> Vec<f64> {
    level(n, 0.03, dice)
}

fn random_model(sensors: usize, readings: usize, dice: &mut Dice) -> Model {
    let (h, g) = (2 + dice.below(2), 2);
    let prior = law(h * g, dice).chunks(g).map(<[f64]>::to_vec).collect();
    let given = |dice: &mut Dice| (0..h).map(|_| rows(g, readings, law, dice)).collect();
    Model::independent(prior, (0..sensors).map(|_| given(dice)).collect()).unwrap()
}

/// Every network of binary maps whose probabilities are multiples of 1/`parts`.
fn grid(model: &Model, parts: usize, mut visit: impl FnMut(&Maps)) {
    let sizes: Vec<usize> = model.sensors().iter().map(crate::Sensor::inputs).collect();
    let free: usize = sizes.iter().sum();
    let mut digits = vec![0usize; free];
    loop {
        let mut at = 0;
        let map = |&size: &usize| {
            let own = &digits[at..at + size];
            at += size;
            let row = |&d: &usize| vec![d as f64 / parts as f64, 1.0 - d as f64 / parts as f64];
            Channel::new(own.iter().map(row).collect()).unwrap()
        };
        visit(&Maps::new(sizes.iter().map(map).collect()).unwrap());
        let Some(place) = digits.iter().position(|&d| d < parts) else { return };
        digits[place] += 1;
        digits[..place].fill(0);
    }
}

/// The least loss over the grid within budgets, straight from the definitions, and the most information.
fn best(
    model: &Model,
    objective: &Objective,
    information: f64,
    ldp: f64,
    parts: usize,
) -> [f64; 3] {
    let goal = Goal::new(objective, model.public_law()).unwrap();
    let mut best = [1.0f64, f64::INFINITY, 0.0];
    grid(model, parts, |maps| {
        let seen = Evaluation::new(model, maps).unwrap();
        if !(seen.information.nats <= information && seen.ldp.iter().all(|&nats| nats <= ldp)) {
            return;
        }
        best[0] = best[0].min(seen.error_public);
        best[2] = best[2].max(seen.public_information);
        let rule = FusionRule::with_objective(model, maps, objective).unwrap();
        let performance = Performance::new(&rule, model, maps).unwrap();
        let loss = match (goal.costs(), goal.false_alarm()) {
            (Some(costs), _) => performance.cost(&costs),
            (_, Some(rate)) => {
                assert!(performance.false_alarm() <= rate + 1e-9);
                1.0 - performance.detection()
            }
            _ => -seen.public_information,
        };
        best[1] = best[1].min(loss);
    });
    best
}

#[test]
fn no_network_of_a_grid_passes_the_bounds() {
    let mut dice = Dice::new(31);
    let (mut useful, mut close, mut informative) = (0, 0, 0);
    for case in 0..24 {
        let (sensors, readings, parts) = [(1, 3, 12), (2, 2, 6), (1, 4, 6)][case % 3];
        let model = random_model(sensors, readings, &mut dice);
        let information = [0.02, 0.1, 0.3, f64::INFINITY][dice.below(4)];
        let ldp = [0.3, 1.0, 2.5, f64::INFINITY][dice.below(4)];
        let objective = match case % 4 {
            0 => Objective::Balanced,
            1 => Objective::Information,
            2 => Objective::Detection { false_alarm: 0.1 },
            _ => {
                let row = |d: usize| {
                    (0..model.public().size())
                        .map(|h| if h == d { 0.0 } else { 1.0 + 3.0 * h as f64 })
                        .collect()
                };
                let rows = (0..model.public().size()).map(row).collect();
                Objective::Cost(Costs::new(rows).unwrap())
            }
        };
        let budgets = Budgets::new(information, ldp).unwrap();
        let found = limits(&model, Method::Joint, budgets, &objective, &|| false).unwrap();
        let [error, loss, told] = best(&model, &objective, information, ldp, parts);
        assert!(found.error <= error + 1e-9, "{case}: {found:?} {error}");
        assert!(found.loss <= loss + 1e-9, "{case} {objective}: {found:?} {loss}");
        assert!(found.information >= told - 1e-9, "{case}: {found:?} {told}");
        let blind = 1.0 - model.public_law().iter().copied().fold(0.0, f64::max);
        useful += usize::from(found.error > 0.25 * blind);
        close += usize::from(error - found.error < 0.05 * blind);
        informative += usize::from(found.information < 0.9 * entropy(&model));
    }
    assert!(useful >= 20 && close >= 12 && informative >= 18, "{useful} {close} {informative}");
}

fn entropy(model: &Model) -> f64 {
    model.public_law().iter().map(|p| -p * p.ln()).sum()
}

/// One sensor, two scenarios: the bound is the optimum of the linear program that it is.
#[test]
fn what_one_sensor_can_do_is_bounded_exactly() {
    // H = G, so that hiding G hides H: the lift budget decides.
    let given = vec![vec![vec![0.8, 0.2], vec![0.5, 0.5]], vec![vec![0.5, 0.5], vec![0.3, 0.7]]];
    let model = Model::independent(vec![vec![0.5, 0.0], vec![0.0, 0.5]], vec![given]).unwrap();
    let budgets = Budgets::new(f64::INFINITY, f64::INFINITY).unwrap();
    let open = limits(&model, Method::Joint, budgets, &Objective::Error, &|| false).unwrap();
    // The readings themselves: P(0|0) = .8 and P(1|1) = .7.
    assert!((open.error - 0.25).abs() < 1e-3 && open.error <= 0.25, "{open:?}");
    let budgets = Budgets::new(0.1, f64::INFINITY).unwrap();
    let hidden = limits(&model, Method::Joint, budgets, &Objective::Error, &|| false).unwrap();
    // No belief falls below e^-.1/2, so no guess is wrong less often.
    let exact = (-0.1f64).exp() / 2.0;
    assert!((hidden.error - exact).abs() < 1e-6 && hidden.error <= exact, "{hidden:?} {exact}");
    let stopped = limits(&model, Method::Joint, budgets, &Objective::Error, &|| true).unwrap();
    assert!(stopped.error <= hidden.error + 1e-12, "stopping only weakens the bound");
}

/// A bound that forgot a sensor, or an epoch, would be passed.
#[test]
fn every_sensor_counts() {
    let given = vec![vec![vec![0.8, 0.2]; 2], vec![vec![0.3, 0.7]; 2]];
    let prior = vec![vec![0.25; 2]; 2];
    let with = |sensors: usize| {
        let model = Model::independent(prior.clone(), vec![given.clone(); sensors]).unwrap();
        let budgets = Budgets::new(f64::INFINITY, 1.0).unwrap();
        let found = limits(&model, Method::Joint, budgets, &Objective::Error, &|| false).unwrap();
        let row = |x: usize| {
            let p = 1f64.exp() / (1.0 + 1f64.exp());
            if x == 0 { vec![p, 1.0 - p] } else { vec![1.0 - p, p] }
        };
        let maps = Maps::same(&model, &Channel::new((0..2).map(row).collect()).unwrap()).unwrap();
        (found.error, Evaluation::new(&model, &maps).unwrap().error_public)
    };
    let mut last = 1.0;
    for sensors in [1, 2, 3, 6] {
        let (bound, attained) = with(sensors);
        // Every permitted map is randomised response with something after it, so this is the optimum.
        assert!(
            bound <= attained + 1e-9 && bound > attained - 0.01,
            "{sensors}: {bound} {attained}"
        );
        assert!(bound < last);
        last = bound;
    }
}

#[test]
fn many_scenarios_are_merged() {
    use crate::{Hypothesis, Point};
    let mut dice = Dice::new(5);
    let weights = law(40, &mut dice);
    let points: Vec<Point> = weights
        .iter()
        .enumerate()
        .map(|(at, &weight)| Point {
            weight,
            public: at % 2,
            private: at / 2 % 2,
            readings: vec![at % 8, (at / 3 + at % 5) % 8],
        })
        .collect();
    let readings = undertone_core::Alphabet::indices(8).unwrap();
    let sensors = vec![("a".into(), readings.clone()), ("b".into(), readings)];
    let names = (Hypothesis::indexed("h", 2), Hypothesis::indexed("g", 2));
    let model = Model::joint(names.0, names.1, sensors, &points).unwrap();
    assert!(model.atoms().len() > MAX_SCENARIOS);
    let budgets = Budgets::new(0.2, 0.3).unwrap();
    let found = limits(&model, Method::Joint, budgets, &Objective::Error, &|| false).unwrap();
    let request = crate::design::Request {
        method: Method::Joint,
        budgets,
        outputs: vec![2; 2],
        restarts: 8,
        seed: 1,
    };
    let best = crate::design::design(&model, &request, &crate::design::Watch::PATIENT).unwrap();
    assert!(found.error <= best.error + 1e-9 && found.error > 0.5 * best.error, "{found:?}");
}
