//! Objectives against every network of their kind, the rules they ship, and searches that begin from others.
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::ga;
use undertone_design::Channel;
use undertone_fusion::design::{
    Aim, Budgets, Method, Request, Watch, bound, design, design_for, design_in_turn,
};
use undertone_fusion::{
    Bundle, Costs, Evaluation, ExactModel, FusionRule, Maps, Model, Objective, Origin, Performance,
};
use undertone_testkit::channel::rows;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

fn law(n: usize, dice: &mut Dice) -> Vec<f64> {
    level(n, 0.02, dice)
}

/// Two sensors; H is rare.
fn rare(readings: usize, dice: &mut Dice) -> Model {
    let prior = vec![vec![0.5, 0.44], vec![0.03, 0.03]];
    let given = |dice: &mut Dice| (0..2).map(|_| rows(2, readings, law, dice)).collect();
    Model::independent(prior, (0..2).map(|_| given(dice)).collect()).unwrap()
}

fn request(model: &Model, information: f64, ldp: f64, restarts: u32) -> Request {
    let budgets = Budgets::new(information, ldp).unwrap();
    let outputs = vec![2; model.sensors().len()];
    Request { method: Method::Joint, budgets, outputs, restarts, seed: 3 }
}

/// Every binary map within an LDP level that is a corner of their polytope: randomised response to a yes/no question
/// about the reading, and silence.
fn corners(readings: usize, ldp: f64) -> Vec<Channel> {
    let high = if ldp.is_finite() { ldp.exp() / (1.0 + ldp.exp()) } else { 1.0 };
    let map = |set: usize| {
        let row = |x: usize| {
            let p = if set >> x & 1 == 1 { high } else { 1.0 - high };
            vec![p, 1.0 - p]
        };
        Channel::new((0..readings).map(row).collect()).unwrap()
    };
    let silence = Channel::new(vec![vec![1.0, 0.0]; readings]).unwrap();
    (0..1 << readings).map(map).chain([silence]).collect()
}

/// What maps are worth, straight from the law of the outputs: cost, minus information, or missed.
fn slowly(model: &Model, maps: &Maps, objective: &Objective) -> f64 {
    let public = model.public_law();
    let sizes = maps.outputs();
    let count: usize = sizes.iter().product();
    let mut cells = vec![vec![0.0; public.len()]; count];
    for (z, cell) in cells.iter_mut().enumerate() {
        for (k, atom) in model.atoms().iter().enumerate() {
            let (mut rest, mut mass) = (z, atom.weight);
            for (t, sensor) in model.sensors().iter().enumerate() {
                let given = sensor.given(k).as_slice();
                let map = &maps.channels()[t];
                mass *= given
                    .iter()
                    .enumerate()
                    .map(|(x, p)| p * map.q(x, rest % sizes[t]))
                    .sum::<f64>();
                rest /= sizes[t];
            }
            cell[atom.public] += mass;
        }
    }
    let cheapest = |cost: &dyn Fn(usize, usize) -> f64| -> f64 {
        let of = |cell: &Vec<f64>| {
            (0..public.len())
                .map(|d| cell.iter().enumerate().map(|(h, p)| p * cost(d, h)).sum::<f64>())
                .fold(f64::INFINITY, f64::min)
        };
        cells.iter().map(of).sum()
    };
    match objective {
        Objective::Error => cheapest(&|d, h| f64::from(u8::from(d != h))),
        Objective::Balanced => {
            cheapest(&|d, h| if d == h { 0.0 } else { 1.0 / (public.len() as f64 * public[h]) })
        }
        Objective::Cost(costs) => cheapest(&|d, h| costs.rows()[d][h]),
        Objective::Information => {
            let mut sum = 0.0;
            for cell in &cells {
                let total: f64 = cell.iter().sum();
                for (p, prior) in cell.iter().zip(&public).filter(|(p, _)| **p > 0.0) {
                    sum -= p * (p / total / prior).ln();
                }
            }
            sum
        }
        Objective::Detection { false_alarm } => {
            // The dual of the most powerful test: the least over all thresholds.
            let event: f64 = public[1..].iter().sum();
            let odds =
                cells.iter().map(|c| (c[1..].iter().sum::<f64>() / event) / (c[0] / public[0]));
            let power = |threshold: f64| {
                let gain = |c: &Vec<f64>| {
                    (c[1..].iter().sum::<f64>() / event - threshold * c[0] / public[0]).max(0.0)
                };
                threshold * false_alarm + cells.iter().map(gain).sum::<f64>()
            };
            1.0 - odds.map(power).fold(power(0.0), f64::min)
        }
    }
}

#[test]
fn the_search_finds_what_enumeration_finds() {
    let mut dice = Dice::new(12);
    for case in 0..12 {
        let readings = 2 + case % 2;
        let model = rare(readings, &mut dice);
        let ldp = [0.5, 1.5, f64::INFINITY][case % 3];
        let costs = Costs::new(vec![vec![0.0, 9.0], vec![1.0, 0.5]]).unwrap();
        for objective in [
            Objective::Error,
            Objective::Balanced,
            Objective::Information,
            Objective::Detection { false_alarm: 0.07 },
            Objective::Cost(costs),
        ] {
            let aim = Aim::from(objective.clone());
            let request = request(&model, f64::INFINITY, ldp, 24);
            let found = design_for(&model, &request, &aim, &Watch::PATIENT).unwrap();
            assert!(
                (found.loss - slowly(&model, &found.maps, &objective)).abs() < 1e-9,
                "{objective}"
            );
            let all = corners(readings, ldp);
            let mut best = f64::INFINITY;
            for a in &all {
                for b in &all {
                    let maps = Maps::new(vec![a.clone(), b.clone()]).unwrap();
                    best = best.min(slowly(&model, &maps, &objective));
                }
            }
            // Sums of concave functions are least at corners. A test's power need not be: it may be better elsewhere, and
            // descent may end beside the best.
            let tested = matches!(objective, Objective::Detection { .. });
            let most = best + if tested { 0.005 } else { 1e-7 };
            assert!(found.loss <= most, "{case} {objective}: {} {best}", found.loss);
            assert!(
                tested || found.loss >= best - 1e-7,
                "{case} {objective}: {} {best}",
                found.loss
            );
            let limits =
                bound::limits(&model, Method::Joint, request.budgets, &objective, &|| false)
                    .unwrap();
            assert!(
                limits.loss <= found.loss + 1e-9,
                "{case} {objective}: {limits:?} {}",
                found.loss
            );
        }
    }
}

#[test]
fn a_test_has_its_rate_of_false_alarms_whoever_is_missing() {
    let mut dice = Dice::new(4);
    let model = rare(3, &mut dice);
    let maps = Maps::new(vec![corners(3, 1.0)[1].clone(), corners(3, 2.0)[4].clone()]).unwrap();
    for false_alarm in [0.01, 0.2, 0.6, 0.999] {
        let objective = Objective::Detection { false_alarm };
        let rule = FusionRule::with_objective(&model, &maps, &objective).unwrap();
        for heard in [[true, true], [true, false], [false, true], [false, false]] {
            // P(alarm | nothing), over outputs and a fine comb of coins.
            let (mut alarms, mut nothing) = (0.0, 0.0);
            for z in 0..4 {
                let all = [z / 2, z % 2];
                let outputs: Vec<Option<usize>> =
                    (0..2).map(|t| heard[t].then_some(all[t])).collect();
                let full: Vec<Option<usize>> = all.iter().copied().map(Some).collect();
                let seen = FusionRule::new(&model, &maps).unwrap().posterior(&full).unwrap();
                let mass = seen.evidence * seen.public[0];
                nothing += mass;
                let coins = (0..2000).map(|at| (f64::from(at) + 0.5) / 2000.0);
                let share = coins.filter(|&coin| rule.decide(&outputs, coin).unwrap() != 0).count();
                alarms += mass * share as f64 / 2000.0;
            }
            let found = alarms / nothing;
            assert!((found - false_alarm).abs() < 1e-3, "{heard:?}: {found} {false_alarm}");
        }
    }
}

#[test]
fn objectives_ship_and_only_as_they_were_written() {
    let model = ga(2);
    let exact = ExactModel::new(&model).unwrap();
    let request = request(&model, 0.3, 1.0, 4);
    let maps = design(&exact.model().unwrap(), &request, &Watch::PATIENT).unwrap().maps;
    let plain = Bundle::ship(&exact, &maps, request.budgets, &Origin::default()).unwrap();
    assert!(!plain.to_json().contains("objective"), "what decides by Bayes' rule is as before");
    let mut ids = vec![plain.id().to_owned()];
    for objective in [
        Objective::Balanced,
        Objective::Information,
        Objective::Detection { false_alarm: 0.1 + 0.2 },
        Objective::Cost(Costs::new(vec![vec![0.0, 1.0 / 3.0], vec![1e-9, 0.25]]).unwrap()),
    ] {
        let bundle = plain.clone().deciding(objective.clone()).unwrap();
        let read = Bundle::from_json(&bundle.to_json()).unwrap();
        assert_eq!((&read, read.objective()), (&bundle, &objective));
        assert_eq!(read.certificate(), plain.certificate());
        ids.push(read.id().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "another objective is another network");
    let detecting = plain.clone().deciding(Objective::Detection { false_alarm: 0.25 }).unwrap();
    let text = detecting.to_json();
    for (from, to, said) in [
        ("\"0.25\"", "\"0.250\"", "is written 0.25"),
        ("\"0.25\"", "\"0.5\"", "content was changed"),
        ("\"0.25\"", "\"1.5\"", "below 1"),
        ("\"detection\"", "\"balanced\"", "is not known here"),
    ] {
        let error = Bundle::from_json(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let three = Costs::new(vec![vec![0.0; 3]; 3]).unwrap();
    assert!(plain.deciding(Objective::Cost(three)).is_err());
    for bad in [
        vec![vec![0.0, 1.0]],
        vec![vec![0.0, -1.0], vec![1.0, 0.0]],
        vec![vec![0.0, f64::NAN], vec![1.0, 0.0]],
    ] {
        assert!(Costs::new(bad).is_err());
    }
}

#[test]
fn a_rule_is_blind_where_it_does_not_listen() {
    let mut dice = Dice::new(9);
    let model = rare(2, &mut dice);
    let maps = Maps::new(vec![corners(2, 0.2)[1].clone(), corners(2, 0.2)[2].clone()]).unwrap();
    let of = |objective: &Objective| {
        let rule = FusionRule::with_objective(&model, &maps, objective).unwrap();
        Performance::new(&rule, &model, &maps).unwrap()
    };
    let plain = of(&Objective::Error);
    assert!(plain.is_blind() && (plain.error() - 0.06).abs() < 1e-12);
    let balanced = of(&Objective::Balanced);
    assert!(!balanced.is_blind() && balanced.error() > 0.06);
    let silence = Maps::same(&model, &corners(2, 1.0)[4]).unwrap();
    let rule =
        FusionRule::with_objective(&model, &silence, &Objective::Detection { false_alarm: 0.3 });
    // A coin alone decides: that is blind too.
    assert!(Performance::new(&rule.unwrap(), &model, &silence).unwrap().is_blind());
}

#[test]
fn a_looser_problem_begins_where_a_tighter_one_ended() {
    let model = ga(3);
    let levels = [(0.05, 0.5), (0.05, 1.0), (0.1, 1.0), (0.1, 3.0), (0.4, 3.0)];
    let methods = [Method::Joint, Method::Lip, Method::Ill];
    for method in methods {
        // One start each, from another seed: alone they would often be worse than the one before.
        let requests: Vec<Request> = (1..)
            .zip(levels)
            .map(|(seed, (information, ldp))| Request {
                method,
                seed,
                ..request(&model, information, ldp, 1)
            })
            .collect();
        let found = design_in_turn(&model, &requests, &Aim::default(), &Watch::PATIENT).unwrap();
        for (pair, (information, ldp)) in found.windows(2).zip(&levels[1..]) {
            assert!(
                pair[1].error <= pair[0].error + 1e-9,
                "{method:?}: {} {}",
                pair[0].error,
                pair[1].error
            );
            let seen = Evaluation::new(&model, &pair[1].maps).unwrap();
            assert!(seen.information.nats <= information + 1e-8);
            assert!(seen.ldp.iter().all(|nats| *nats <= ldp + 1e-8));
        }
    }
    // Maps beyond the budgets, or of other outputs, are no start.
    let open = Aim { warm: vec![Maps::identity(&model).unwrap()], ..Aim::default() };
    let tight = request(&model, 0.05, 0.5, 2);
    let found = design_for(&model, &tight, &open, &Watch::PATIENT).unwrap();
    assert_eq!(found, design(&model, &tight, &Watch::PATIENT).unwrap());
}

#[test]
fn relaxations_are_no_worse_than_joint() {
    let model = ga(4);
    let joint = design(&model, &request(&model, 0.05, 8.0, 6), &Watch::PATIENT).unwrap();
    let open =
        Request { method: Method::InformationOnly, ..request(&model, 0.05, f64::INFINITY, 6) };
    let relaxed = design(&model, &open, &Watch::PATIENT).unwrap();
    assert!(relaxed.error <= joint.error + 1e-9, "{} {}", relaxed.error, joint.error);
    let mut last = 1.0;
    for ldp in [1.0, 2.0, 3.0, 4.0] {
        let lip = Request { method: Method::Lip, ..request(&model, 0.18, ldp, 6) };
        let error = design(&model, &lip, &Watch::PATIENT).unwrap().error;
        assert!(error <= last + 1e-9, "{ldp}: {error} after {last}");
        last = error;
    }
}

#[test]
fn whenever_the_search_is_stopped_its_maps_are_within_the_budgets() {
    // 12 outputs: one block has 16 x 11 variables, so most questions fall within a linear program.
    let model = ga(1);
    for patience in [0, 1, 7, 60, 400] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
        let mut request = request(&model, 0.1, 1.0, 4);
        request.outputs = vec![12];
        let found = design(&model, &request, &Watch { stop: &stop, step: &|| {} }).unwrap();
        let seen = Evaluation::new(&model, &found.maps).unwrap();
        assert!(seen.information.nats <= 0.1 + 1e-8 && seen.ldp[0] <= 1.0 + 1e-8, "{patience}");
    }
}
