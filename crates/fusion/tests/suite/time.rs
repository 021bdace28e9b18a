//! Certificates over time against every path and every sequence of outputs, in exact rationals.

use std::collections::BTreeMap;

use crate::common::{ga, threshold};
use dashu::rational::RBig;
use serde_json::{Value, json};
use undertone_core::{Epsilon, Nats, Shape};
use undertone_design::Channel;
use undertone_fusion::design::Budgets;
use undertone_fusion::time::{Chain, ExactChain, Filter, Horizon, Leak, Secret, horizons, track};
use undertone_fusion::{Bundle, CourseRequest, ExactModel, Maps, Model, Objective, Origin};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

const ONE: f64 = (1u64 << 48) as f64;

fn units(p: f64) -> RBig {
    RBig::from((p * ONE) as u64) / RBig::from(1u64 << 48)
}

fn matrix(n: usize, floor: f64, dice: &mut Dice) -> Vec<Vec<f64>> {
    (0..n).map(|_| level(n, floor, dice)).collect()
}

/// One of the ways in which hypotheses may move.
fn transition(kind: usize, (h, g): (usize, usize), dice: &mut Dice) -> Value {
    let (public, private) = (matrix(h, 0.05, dice), matrix(g, 0.05, dice));
    match kind {
        0 => json!({ "public": "fresh", "private": "persists" }),
        1 => json!({ "public": "fresh", "private": private }),
        2 => json!({ "public": public, "private": "persists" }),
        3 => json!({ "public": public, "private": private }),
        4 => json!({ "public": "persists", "private": "fresh" }),
        _ => json!(matrix(h * g, 0.05, dice)),
    }
}

fn random(sensors: usize, g: usize, dice: &mut Dice) -> (Model, Maps) {
    let prior: Vec<Vec<f64>> = level(2 * g, 0.05, dice).chunks(g).map(<[f64]>::to_vec).collect();
    let law = |dice: &mut Dice| level(3, 0.02, dice);
    let given = |dice: &mut Dice| (0..2).map(|_| (0..g).map(|_| law(dice)).collect()).collect();
    let given: Vec<Vec<Vec<Vec<f64>>>> = (0..sensors).map(|_| given(dice)).collect();
    let map =
        |dice: &mut Dice| Channel::new((0..3).map(|_| level(2, 0.1, dice)).collect()).unwrap();
    let maps = Maps::new((0..sensors).map(|_| map(dice)).collect()).unwrap();
    (Model::independent(prior, given).unwrap(), maps)
}

fn shipped(model: &Model, maps: &Maps) -> Bundle {
    let budgets = Budgets::new(f64::INFINITY, f64::INFINITY).unwrap();
    let exact = ExactModel::new(model).unwrap();
    Bundle::ship(&exact, maps, budgets, &Origin::default()).unwrap()
}

fn request(
    bundle: &Bundle,
    model: &Model,
    moves: &Value,
    secret: Secret,
    epochs: u32,
) -> CourseRequest {
    let chain = Chain::read(model, moves).unwrap();
    let chain = ExactChain::new(bundle.model(), &chain).unwrap();
    CourseRequest { chain, secret, epochs, budget: None }
}

/// P(z | pair) of every vector of outputs, from the integers that ship.
fn emissions(bundle: &Bundle, pairs: &[(usize, usize)]) -> (Vec<Vec<RBig>>, Vec<RBig>) {
    let model = bundle.float_model().unwrap();
    let outputs: Vec<usize> = bundle.maps().unwrap().outputs();
    let vectors: usize = outputs.iter().product();
    let mut joint = vec![vec![RBig::ZERO; pairs.len()]; vectors];
    let mut law = vec![RBig::ZERO; pairs.len()];
    for (k, atom) in model.atoms().iter().enumerate() {
        let s = pairs.iter().position(|&pair| pair == (atom.public, atom.private)).unwrap();
        law[s] += units(atom.weight);
        for (index, row) in joint.iter_mut().enumerate() {
            let mut rest = index;
            let mut mass = units(atom.weight);
            for ((sensor, policy), size) in
                model.sensors().iter().zip(bundle.policies()).zip(&outputs)
            {
                let Shape::Table(table) = policy.draft().shape() else { panic!("not a table") };
                let z = rest % size;
                rest /= size;
                let given = sensor.given(k).as_slice().iter().zip(table.rows());
                let terms = given.map(|(&p, row)| {
                    units(p) * RBig::from(row.masses()[z]) / RBig::from(1u64 << 48)
                });
                mass *= terms.fold(RBig::ZERO, |sum, term| sum + term);
            }
            row[s] += mass;
        }
    }
    for row in &mut joint {
        row.iter_mut().zip(&law).for_each(|(p, whole)| *p /= whole);
    }
    (joint, law)
}

/// The largest lift of a function of the path, over all outputs, by going through every path of pairs.
fn slowly(
    bundle: &Bundle,
    chain: &ExactChain,
    epochs: usize,
    secret: &dyn Fn(&[usize]) -> Vec<usize>,
) -> f64 {
    let pairs = chain.states();
    let (emissions, law) = emissions(bundle, pairs);
    let sequences = emissions.len().pow(epochs as u32);
    let mut prior: BTreeMap<Vec<usize>, RBig> = BTreeMap::new();
    let mut joint: BTreeMap<(usize, Vec<usize>), RBig> = BTreeMap::new();
    for path in 0..pairs.len().pow(epochs as u32) {
        let mut rest = path;
        let states: Vec<usize> = (0..epochs)
            .map(|_| {
                let s = rest % pairs.len();
                rest /= pairs.len();
                s
            })
            .collect();
        let mut mass = law[states[0]].clone();
        for step in states.windows(2) {
            mass *= RBig::from(chain.rows()[step[0]][step[1]]) / RBig::from(1u64 << 48);
        }
        if mass == RBig::ZERO {
            continue;
        }
        let private: Vec<usize> = states.iter().map(|&s| pairs[s].1).collect();
        let key = secret(&private);
        *prior.entry(key.clone()).or_insert(RBig::ZERO) += &mass;
        for z in 0..sequences {
            let mut rest = z;
            let mut with = mass.clone();
            for &s in &states {
                with *= &emissions[rest % emissions.len()][s];
                rest /= emissions.len();
            }
            *joint.entry((z, key.clone())).or_insert(RBig::ZERO) += with;
        }
    }
    let mut total = vec![RBig::ZERO; sequences];
    joint.iter().for_each(|((z, _), mass)| total[*z] += mass);
    let lift = |((z, key), mass): (&(usize, Vec<usize>), &RBig)| {
        let lift = (mass / (&prior[key] * &total[*z])).to_f64().value();
        lift.ln().abs()
    };
    joint.iter().map(lift).fold(0.0, f64::max)
}

fn float(nats: Nats) -> f64 {
    nats.units() as f64 * 1e-10
}

/// A certificate is never below the truth; exact ones are not above it either, and what is attained is.
#[track_caller]
fn check(leak: &Leak, truth: f64, what: &str) {
    let found = float(leak.information.unwrap());
    assert!(found >= truth - 1e-13, "{what}: {found} is below {truth}");
    if leak.exact {
        assert!(found <= truth + 5e-10, "{what}: {found} is not {truth}");
    }
    if let Some(attained) = leak.at_least {
        assert!(float(attained) <= truth + 5e-10, "{what}: {truth} is below {}", float(attained));
    }
}

#[test]
fn certificates_over_time_against_all_paths_and_outputs() {
    let mut dice = Dice::new(19);
    let mut inexact = 0;
    for case in 0..18 {
        let (kind, g) = (case % 6, if case >= 12 { 3 } else { 2 });
        let (model, maps) = random(1 + case % 2, g, &mut dice);
        let bundle = shipped(&model, &maps);
        let epochs = if case % 2 == 0 && g == 2 { 3 } else { 2 };
        let moves = transition(kind, (2, g), &mut dice);
        let asked = request(&bundle, &model, &moves, Secret::Any, epochs as u32);
        let course = bundle.clone().over_time(asked.clone()).unwrap();
        let line = course.course().unwrap().horizons().last().unwrap();
        let chain = &asked.chain;
        let truth =
            |secret: &dyn Fn(&[usize]) -> Vec<usize>| slowly(&bundle, chain, epochs, secret);
        let each = (0..epochs).map(|at| truth(&|path| vec![path[at]]));
        let any = each.fold(0.0, f64::max);
        let what = format!("case {case} {moves}");
        check(&line.any, any, &format!("{what}: any"));
        check(&line.kept, any, &format!("{what}: kept"));
        check(&line.now, truth(&|path| vec![path[epochs - 1]]), &format!("{what}: now"));
        check(&line.path, truth(&|path| path.to_vec()), &format!("{what}: path"));
        assert!(line.path.exact && line.any.exact, "{what}");
        for (secret, of) in [
            (
                Secret::Ever(1),
                &(|path: &[usize]| vec![usize::from(path.contains(&1))])
                    as &dyn Fn(&[usize]) -> Vec<usize>,
            ),
            (Secret::Changed, &|path: &[usize]| {
                vec![usize::from(path.windows(2).any(|two| two[0] != two[1]))]
            }),
        ] {
            let asked = CourseRequest { secret, ..asked.clone() };
            let course = bundle.clone().over_time(asked).unwrap();
            let line = course.course().unwrap().horizons().last().unwrap();
            inexact += usize::from(!line.kept.exact);
            check(&line.kept, truth(of), &format!("{what}: {secret:?}"));
        }
    }
    // Few outputs and epochs are all gone through.
    assert_eq!(inexact, 0);
}

/// Forward and backward over all sequences of outputs, in floats.
fn all_sequences(bundle: &Bundle, chain: &ExactChain, epochs: usize) -> (f64, f64) {
    let pairs = chain.states();
    let (emissions, law) = emissions(bundle, pairs);
    let float = |p: &RBig| p.to_f64().value();
    let emissions: Vec<Vec<f64>> =
        emissions.iter().map(|row| row.iter().map(float).collect()).collect();
    let law: Vec<f64> = law.iter().map(float).collect();
    let rows: Vec<Vec<f64>> =
        chain.rows().iter().map(|row| row.iter().map(|&p| p as f64 / ONE).collect()).collect();
    let next = |law: &[f64]| -> Vec<f64> {
        (0..law.len()).map(|to| law.iter().zip(&rows).map(|(p, row)| p * row[to]).sum()).collect()
    };
    let mut laws = vec![law];
    for at in 1..epochs {
        laws.push(next(&laws[at - 1]));
    }
    let labels = 1 + pairs.iter().map(|pair| pair.1).max().unwrap();
    let by_label = |masses: &[f64]| {
        let mut sums = vec![0.0; labels];
        pairs.iter().zip(masses).for_each(|(pair, p)| sums[pair.1] += p);
        sums
    };
    let (mut any, mut now) = (0.0f64, 0.0f64);
    for index in 0..emissions.len().pow(epochs as u32) {
        let mut rest = index;
        let heard: Vec<&Vec<f64>> = (0..epochs)
            .map(|_| {
                let z = rest % emissions.len();
                rest /= emissions.len();
                &emissions[z]
            })
            .collect();
        let times =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
        let mut past = vec![times(&laws[0], heard[0])];
        for at in 1..epochs {
            past.push(times(&next(&past[at - 1]), heard[at]));
        }
        let mut later = vec![1.0; pairs.len()];
        for at in (0..epochs).rev() {
            let joint = by_label(&times(&past[at], &later));
            let (total, prior): (f64, _) = (joint.iter().sum(), by_label(&laws[at]));
            for (p, before) in joint.iter().zip(prior) {
                let moved = (p / total / before).ln().abs();
                any = any.max(moved);
                if at + 1 == epochs {
                    now = now.max(moved);
                }
            }
            let with = times(&later, heard[at]);
            later =
                rows.iter().map(|row| row.iter().zip(&with).map(|(p, q)| p * q).sum()).collect();
        }
    }
    (any, now)
}

#[test]
fn many_epochs_are_exact_where_h_is_fresh_and_bounded_elsewhere() {
    let mut dice = Dice::new(20);
    let (mut bounded, mut gap) = (0, 0.0f64);
    for kind in 0..6 {
        let (model, maps) = random(2, 2, &mut dice);
        let bundle = shipped(&model, &maps);
        let moves = transition(kind, (2, 2), &mut dice);
        // 4^8 sequences of outputs.
        let asked = request(&bundle, &model, &moves, Secret::Now, 8);
        let (any, now) = all_sequences(&bundle, &asked.chain, 8);
        let course = bundle.over_time(asked).unwrap();
        let line = course.course().unwrap().horizons().last().unwrap();
        let what = format!("{moves}");
        check(&line.any, any, &what);
        check(&line.now, now, &what);
        assert!(line.kept.information == line.now.information);
        assert_eq!(line.any.exact, [0, 1, 4].contains(&kind), "{what}");
        if !line.any.exact {
            bounded += 1;
            let (most, least) =
                (float(line.any.information.unwrap()), float(line.any.at_least.unwrap()));
            gap = gap.max(most - least);
        }
        // Every path tells at least as much as each of its values.
        assert!(line.path.information >= line.any.information || line.path.exact);
    }
    assert_eq!(bounded, 3);
    assert!(gap < 0.2, "{gap}");
}

#[test]
fn a_value_that_stays_is_what_the_network_certifies_for_repetition() {
    let mut dice = Dice::new(21);
    for _ in 0..5 {
        let (model, maps) = random(2, 2, &mut dice);
        let bundle = shipped(&model, &maps);
        let moves = json!({ "public": "fresh", "private": "persists" });
        let asked = request(&bundle, &model, &moves, Secret::Any, 50);
        let course = bundle.over_time(asked).unwrap();
        for line in course.course().unwrap().horizons() {
            let (here, there) = (line.any.information.unwrap(), line.constant.unwrap());
            // The law of H given G is rounded to units of 2^-48 here.
            assert!((float(here) - float(there)).abs() < 1e-7 * f64::from(line.epochs), "{line:?}");
            assert!(line.any.exact);
        }
    }
}

#[test]
fn what_bounds_more_epochs_bounds_fewer() {
    let mut dice = Dice::new(23);
    let mut bounded = 0;
    // Cones around what is reached differ from horizon to horizon, by more or less than what later epochs tell.
    for kind in [3, 5] {
        let (model, maps) = random(2, 2, &mut dice);
        let bundle = shipped(&model, &maps);
        let moves = transition(kind, (2, 2), &mut dice);
        for secret in [Secret::Any, Secret::Path] {
            let asked = request(&bundle, &model, &moves, secret, 60);
            let alone = |epochs: u32| {
                let asked = CourseRequest { epochs, ..asked.clone() };
                let bundle = bundle.clone().over_time(asked).unwrap();
                *bundle.course().unwrap().horizons().last().unwrap()
            };
            let course = bundle.clone().over_time(asked.clone()).unwrap();
            let lines = course.course().unwrap().horizons();
            for pair in lines.windows(2) {
                let leaks: [fn(&Horizon) -> Leak; 2] = [|line| line.any, |line| line.path];
                for leak in leaks {
                    let (fewer, more) = (leak(&pair[0]), leak(&pair[1]));
                    // What is exact is rounded by itself.
                    let slack = Nats::from_units(2 + more.information.unwrap().units());
                    assert!(fewer.information.unwrap() <= slack, "{moves}: {pair:?}");
                    assert!(fewer.exact || more.exact || fewer.at_least <= more.at_least);
                    bounded += usize::from(!fewer.exact);
                }
                assert!(pair[0].any.at_least <= pair[0].any.information);
                let kept = if secret == Secret::Any { pair[0].any } else { pair[0].path };
                assert_eq!(pair[0].kept, kept);
            }
            // A number of epochs by itself is bounded no better than beside larger ones.
            for line in lines.iter().filter(|line| [20, 50].contains(&line.epochs)) {
                let alone = alone(line.epochs);
                assert!(line.any.information <= alone.any.information, "{moves}");
                assert!(line.path.information <= alone.path.information, "{moves}");
                assert_eq!((line.now, line.alone), (alone.now, alone.alone));
            }
        }
    }
    assert!(bounded > 0);
}

#[test]
fn what_independence_would_certify_is_too_little_where_values_persist() {
    let model = ga(3);
    let bundle =
        shipped(&model, &Maps::same(&model, &threshold().then(&noise(1.0)).unwrap()).unwrap());
    let moves = json!({ "public": "persists", "private": [[0.95, 0.05], [0.05, 0.95]] });
    let course =
        bundle.clone().over_time(request(&bundle, &model, &moves, Secret::Any, 20)).unwrap();
    let line = course.course().unwrap().horizons().last().unwrap();
    let one = bundle.certificate().after(1).unwrap().information.unwrap();
    assert!(float(line.alone.information.unwrap()) < float(one) + 1e-9);
    assert!(line.any.at_least.unwrap() > line.alone.information.unwrap(), "{line:?}");
    // And more than the certificate for a value that never changes would say of one that hardly does, with a fresh H.
    assert!(line.constant.unwrap() > line.alone.information.unwrap());
}

fn noise(level: f64) -> Channel {
    let p = 1.0 / (1.0 + (-level).exp());
    Channel::new(vec![vec![p, 1.0 - p], vec![1.0 - p, p]]).unwrap()
}

#[test]
fn a_budget_of_the_path_is_kept_or_refused() {
    let model = ga(3);
    let bundle =
        shipped(&model, &Maps::same(&model, &threshold().then(&noise(1.0)).unwrap()).unwrap());
    let moves =
        json!({ "public": [[0.9, 0.1], [0.1, 0.9]], "private": [[0.95, 0.05], [0.05, 0.95]] });
    for (secret, nats) in
        [(Secret::Any, 0.5), (Secret::Now, 0.3), (Secret::Ever(1), 0.3), (Secret::Path, 1.0)]
    {
        let budget = Some(Epsilon::parse(&nats.to_string()).unwrap());
        let asked = CourseRequest { budget, ..request(&bundle, &model, &moves, secret, 10) };
        assert!(bundle.clone().over_time(asked.clone()).is_err());
        let balanced = bundle.clone().deciding(Objective::Balanced).unwrap();
        let kept = balanced.ship_over_time(&asked, || {}).unwrap();
        assert_eq!(*kept.objective(), Objective::Balanced);
        let told =
            float(kept.course().unwrap().horizons().last().unwrap().kept.information.unwrap());
        assert!(told <= nats && told > 0.8 * nats, "{secret:?}: {told} of {nats}");
        let again = Bundle::from_json(&kept.to_json()).unwrap();
        assert_eq!(again, kept);
        assert_ne!(again.id(), bundle.id());
    }
    let budget = Some(Epsilon::parse("0").unwrap());
    let asked = CourseRequest { budget, ..request(&bundle, &model, &moves, Secret::Any, 10) };
    let refused = bundle.ship_over_time(&asked, || {}).unwrap_err().to_string();
    assert!(refused.contains("0 nats for `any` over 10 epochs"), "{refused}");
}

#[test]
fn a_changed_course_is_refused() {
    let mut dice = Dice::new(22);
    let (model, maps) = random(2, 2, &mut dice);
    let bundle = shipped(&model, &maps);
    let moves = transition(3, (2, 2), &mut dice);
    let asked = request(&bundle, &model, &moves, Secret::Any, 5);
    let text = bundle.over_time(asked).unwrap().to_json();
    let change = |pointer: &str, value: Value| {
        let mut file: Value = serde_json::from_str(&text).unwrap();
        *file.pointer_mut(pointer).unwrap() = value;
        Bundle::from_json(&file.to_string()).unwrap_err().to_string()
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    let nats = file.pointer("/course/certified/1/kept/information").unwrap().as_str().unwrap();
    let less = Nats::from_units((nats.parse::<f64>().unwrap() * 1e10) as u64 - 5).to_string();
    assert!(change("/course/certified/1/kept/information", json!(less)).contains("was changed"));
    assert!(change("/course/transition/0/0", json!(1)).contains("does not sum"));
    assert!(change("/course/pairs/0", json!([1, 1])).contains("pairs"));
    assert!(change("/course/secret", json!("never")).contains("secret"));
    assert!(change("/course/epochs", json!(0)).contains("from 1 to"));
    assert!(change("/course/epochs", json!(6)).contains("was changed"));
    let budget = json!({ "nats": "0.0953101799", "odds": [11, 10] });
    let refused = change("/course/budget", budget);
    assert!(refused.contains("allowed") || refused.contains("written beside"), "{refused}");
}

#[test]
fn transitions_that_cannot_be_are_refused_by_name() {
    let text = |transition: Value| {
        json!({
            "hypotheses": [[0.5, 0.0], [0.2, 0.3]],
            "sensors": [{ "name": "lamp", "given": [[[0.8, 0.2], [0.3, 0.7]], [[0.7, 0.3], [0.2, 0.8]]] }],
            "transition": transition
        })
        .to_string()
    };
    let refused = |transition: Value| {
        undertone_fusion::model::read_moving(&text(transition)).unwrap_err().to_string()
    };
    assert!(refused(json!({ "public": "fresh" })).contains("private"));
    assert!(refused(json!({ "public": "fresh", "private": "drifts" })).contains("drifts"));
    assert!(
        refused(json!({ "public": "fresh", "private": "fresh", "other": 1 })).contains("other")
    );
    assert!(
        refused(json!({ "public": [[0.5, 0.4], [0.5, 0.5]], "private": "persists" }))
            .contains("public[0]")
    );
    assert!(refused(json!([[1.0]])).contains("4"));
    assert!(refused(json!("persists")).contains("square matrix"));
    // (0,1) has no readings of its own.
    let unknown = refused(json!({ "public": "persists", "private": [[0.5, 0.5], [0.5, 0.5]] }));
    assert!(unknown.contains("(0,0) to (0,1)"), "{unknown}");
    assert!(
        undertone_fusion::model::read_moving(&text(
            json!({ "public": "fresh", "private": "persists" })
        ))
        .is_ok()
    );
}

#[test]
fn numbers_of_epochs_are_round_and_end_with_the_last() {
    assert_eq!(horizons(1), [1]);
    assert_eq!(horizons(7), [1, 2, 5, 7]);
    assert_eq!(horizons(100), [1, 2, 5, 10, 20, 50, 100]);
}

#[test]
fn a_filter_is_bayes_rule_over_all_paths_in_any_order() {
    let mut dice = Dice::new(23);
    for kind in 0..6 {
        let (model, maps) = random(2, 2, &mut dice);
        let bundle = shipped(&model, &maps);
        let moves = transition(kind, (2, 2), &mut dice);
        let chain = request(&bundle, &model, &moves, Secret::Any, 3).chain;
        let pairs = chain.states().to_vec();
        let (emissions, law) = emissions(&bundle, &pairs);
        let heard: Vec<[usize; 2]> = (0..4).map(|_| [dice.below(2), dice.below(2)]).collect();
        // Epochs 5, 6, 8 of a chain that begins with 5; 7 is missing.
        let truth = |until: u64| -> Vec<f64> {
            let mut belief: Vec<f64> = law.iter().map(|p| p.to_f64().value()).collect();
            for epoch in 5..=until {
                if epoch > 5 {
                    belief = (0..pairs.len())
                        .map(|to| {
                            belief
                                .iter()
                                .zip(chain.rows())
                                .map(|(p, row)| p * row[to] as f64 / ONE)
                                .sum()
                        })
                        .collect();
                }
                if epoch != 7 {
                    let [a, b] = heard[(epoch - 5) as usize];
                    let row = &emissions[a + 2 * b];
                    belief.iter_mut().zip(row).for_each(|(p, e)| *p *= e.to_f64().value());
                }
            }
            let mut public = vec![0.0; 2];
            let total: f64 = belief.iter().sum();
            pairs.iter().zip(belief).for_each(|(pair, p)| public[pair.0] += p / total);
            public
        };
        let mut filter = Filter::new(bundle.model(), &chain, bundle.rule().unwrap(), 5);
        let mut hear = |epoch: u64| {
            let outputs = heard[(epoch - 5) as usize].map(Some);
            filter.hear(epoch, &outputs).unwrap().public
        };
        let close = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(hear(5), truth(5)));
        // 8 before 6: what is said of 8 then does not know of 6, but a later epoch does.
        assert!(!close(hear(8), truth(8)) || kind == 4);
        assert!(close(hear(6), truth(6)));
        let [_, _, _, last] = heard[..] else { panic!("four were drawn") };
        let after = filter.hear(8, &last.map(Some)).unwrap().public;
        assert!(close(after, truth(8)));
    }
}

#[test]
fn a_centre_that_remembers_errs_less_where_the_public_value_persists() {
    let model = ga(3);
    let bundle =
        shipped(&model, &Maps::same(&model, &threshold().then(&noise(0.5)).unwrap()).unwrap());
    let moves = json!({ "public": [[0.95, 0.05], [0.05, 0.95]], "private": "fresh" });
    let chain = request(&bundle, &model, &moves, Secret::Any, 1).chain;
    let mut rng = <rand_chacha::ChaCha20Rng as rand_core::SeedableRng>::seed_from_u64(1);
    let seen = track(&bundle, &chain, (400, 40), &mut rng).unwrap();
    // Five standard errors on each side.
    assert!(seen.gain.0 > 0.05 && seen.gain.0 > 5.0 * seen.gain.1, "{seen:?}");
    let moves = json!({ "public": "fresh", "private": "fresh" });
    let chain = request(&bundle, &model, &moves, Secret::Any, 1).chain;
    let seen = track(&bundle, &chain, (200, 40), &mut rng).unwrap();
    assert!(seen.gain.0.abs() < 1e-12, "{seen:?}");
}
