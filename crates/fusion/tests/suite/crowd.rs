//! Very many sensors: certificates and errors against counts in exact rationals, and designs that keep their budgets.

use crate::common::PRIOR;
use dashu::integer::UBig;
use dashu::rational::RBig;
use undertone_core::{Nats, Shape};
use undertone_design::Channel;
use undertone_fusion::design::{Budgets, Watch};
use undertone_fusion::report::{CrowdRequest, FusionModel, design_crowd};
use undertone_fusion::{Bundle, Evaluation, ExactModel, Maps, Model, Origin, model};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

type Given = Vec<Vec<Vec<f64>>>;

fn prior() -> Vec<Vec<f64>> {
    PRIOR.iter().map(|row| row.to_vec()).collect()
}

fn given(readings: usize, dice: &mut Dice) -> Given {
    (0..2).map(|_| (0..2).map(|_| level(readings, 0.05, dice)).collect()).collect()
}

fn noisy(readings: usize, dice: &mut Dice) -> Channel {
    Channel::new((0..readings).map(|_| level(2, 0.3, dice)).collect()).unwrap()
}

fn shipped(model: &Model, maps: &Maps) -> Bundle {
    let budgets = Budgets::new(f64::INFINITY, f64::INFINITY).unwrap();
    Bundle::ship(&ExactModel::new(model).unwrap(), maps, budgets, &Origin::default()).unwrap()
}

fn exact(p: f64) -> RBig {
    RBig::from((p * (1u64 << 48) as f64) as u64) / RBig::from(1u64 << 48)
}

fn power(base: &RBig, times: usize) -> RBig {
    (0..times).fold(RBig::ONE, |product, _| product * base)
}

fn choose(n: usize, k: usize) -> RBig {
    let product =
        |from: usize, to: usize| (from..=to).fold(UBig::ONE, |all, n| all * UBig::from(n));
    RBig::from(product(n - k + 1, n) / product(1, k))
}

/// P(1 | atom) of a sensor, from the integers that ship.
fn ones(bundle: &Bundle, t: usize) -> Vec<RBig> {
    let model = bundle.float_model().unwrap();
    let Shape::Table(table) = bundle.policies()[t].draft().shape() else { panic!("not a table") };
    let of = |k: usize| {
        let law = model.sensors()[t].given(k).as_slice().iter().zip(table.rows());
        let terms =
            law.map(|(&p, row)| exact(p) * RBig::from(row.masses()[1]) / RBig::from(1u64 << 48));
        terms.fold(RBig::ZERO, |sum, term| sum + term)
    };
    (0..model.atoms().len()).map(of).collect()
}

/// The largest lift of G and the Bayes error of H of two kinds of sensors, `counts` of each, by counts.
fn slowly(bundle: &Bundle, counts: [usize; 2]) -> (f64, f64) {
    let model = bundle.float_model().unwrap();
    let kinds = [ones(bundle, 0), ones(bundle, counts[0])];
    let (mut worst, mut kept) = (RBig::ONE, RBig::ZERO);
    let weights: Vec<RBig> = model.atoms().iter().map(|atom| exact(atom.weight)).collect();
    let law = |g: usize| {
        let own = model.atoms().iter().zip(&weights).filter(|(atom, _)| atom.private == g);
        own.fold(RBig::ZERO, |sum, (_, p)| sum + p)
    };
    for a in 0..=counts[0] {
        for b in 0..=counts[1] {
            let (mut h, mut g) = (vec![RBig::ZERO; 2], vec![RBig::ZERO; 2]);
            for (k, atom) in model.atoms().iter().enumerate() {
                let mut mass = weights[k].clone();
                for ((ones, count), n) in kinds.iter().zip([a, b]).zip(counts) {
                    mass *= power(&ones[k], count) * power(&(RBig::ONE - &ones[k]), n - count);
                }
                h[atom.public] += &mass;
                g[atom.private] += &mass;
            }
            let total = &g[0] + &g[1];
            for (at, p) in g.iter().enumerate() {
                let expected = law(at) * &total;
                worst = worst.max(p / &expected).max(&expected / p);
            }
            let [first, second] = &h[..] else { panic!("two values") };
            kept += first.max(second) * choose(counts[0], a) * choose(counts[1], b);
        }
    }
    (worst.to_f64().value().ln(), (RBig::ONE - kept).to_f64().value())
}

fn float(nats: Nats) -> f64 {
    nats.units() as f64 * 1e-10
}

#[test]
fn what_forty_sensors_tell_is_exact_through_counts() {
    let mut dice = Dice::new(40);
    for counts in [[28, 2], [12, 18]] {
        let kinds = [given(3, &mut dice), given(2, &mut dice)];
        let maps = [noisy(3, &mut dice), noisy(2, &mut dice)];
        let of = |t: usize| usize::from(t >= counts[0]);
        let sensors = 0..counts[0] + counts[1];
        let model =
            Model::independent(prior(), sensors.clone().map(|t| kinds[of(t)].clone()).collect());
        let model = model.unwrap();
        let maps = Maps::new(sensors.map(|t| maps[of(t)].clone()).collect()).unwrap();
        let bundle = shipped(&model, &maps);
        let (leak, error) = slowly(&bundle, counts);
        let line = bundle.certificate().after(1).unwrap();
        let found = float(line.information.unwrap());
        assert!(line.exact && found >= leak - 1e-13 && found <= leak + 3e-10, "{found} {leak}");
        let seen = Evaluation::new(&bundle.float_model().unwrap(), &bundle.maps().unwrap());
        // Few vectors are gone through one by one, with the same result.
        let seen = seen.unwrap();
        assert!((seen.error_public - error).abs() < 1e-9, "{} {error}", seen.error_public);
        assert!((seen.information.nats - leak).abs() < 1e-7);
        // The outputs named attain it.
        let outputs: Vec<Option<usize>> =
            seen.information.outputs.iter().copied().map(Some).collect();
        let belief = bundle.rule().unwrap().posterior(&outputs).unwrap().private;
        let before = bundle.float_model().unwrap().private_law();
        let g = seen.information.private;
        assert!(((belief[g] / before[g]).ln().abs() - leak).abs() < 1e-6);
    }
}

#[test]
fn sensors_that_all_differ_have_a_bound() {
    let mut dice = Dice::new(41);
    // Readings that depend on G alone: the worst outputs are each sensor's own, and the bound is attained.
    let laws: Vec<Vec<Vec<f64>>> =
        (0..40).map(|_| (0..2).map(|_| level(2, 0.6, &mut dice)).collect()).collect();
    let alone = laws.iter().map(|law| vec![law.clone(); 2]).collect();
    let model = Model::independent(prior(), alone).unwrap();
    let bundle = shipped(&model, &Maps::identity(&model).unwrap());
    let line = bundle.certificate().after(1).unwrap();
    assert!(!line.exact);
    let extreme = |g: usize| -> f64 {
        let each =
            laws.iter().map(|law| (0..2).map(|x| law[1 - g][x] / law[g][x]).fold(0.0, f64::max));
        each.map(f64::ln).sum()
    };
    let truth = (0..2).map(|g| (0.5 + 0.5 * f64::exp(extreme(g))).ln()).fold(0.0, f64::max);
    let found = float(line.information.unwrap());
    assert!((found - truth).abs() < 1e-6, "{found} {truth}");
    // Where they depend on both, it is never below what any outputs attain.
    let sensors: Vec<Given> = (0..40).map(|_| given(2, &mut dice)).collect();
    let model = Model::independent(prior(), sensors).unwrap();
    let maps = Maps::new((0..40).map(|_| noisy(2, &mut dice)).collect()).unwrap();
    let bundle = shipped(&model, &maps);
    let bound = float(bundle.certificate().after(1).unwrap().information.unwrap());
    let rule = bundle.rule().unwrap();
    let before = bundle.float_model().unwrap().private_law();
    let moved = |outputs: &[Option<usize>]| {
        let after = rule.posterior(outputs).unwrap().private;
        after.iter().zip(&before).map(|(p, q)| (p / q).ln().abs()).fold(0.0, f64::max)
    };
    let mut best = 0.0f64;
    for _ in 0..200 {
        let mut outputs: Vec<Option<usize>> = (0..40).map(|_| Some(dice.below(2))).collect();
        for t in dice.order(40) {
            let before = moved(&outputs);
            outputs[t] = outputs[t].map(|z| 1 - z);
            if moved(&outputs) < before {
                outputs[t] = outputs[t].map(|z| 1 - z);
            }
        }
        best = best.max(moved(&outputs));
    }
    assert!(bound >= best && bound < 30.0 * best, "{bound} {best}");
}

#[test]
fn a_posterior_of_hundreds_of_outputs_does_not_vanish() {
    let law = |p: f64| vec![p, 1.0 - p];
    let given = vec![vec![law(1e-3), law(2e-3)], vec![law(3e-3), law(4e-3)]];
    let model = Model::independent(prior(), vec![given; 256]).unwrap();
    let bundle = shipped(&model, &Maps::identity(&model).unwrap());
    // So many unlikely outputs have a probability below the least float.
    let seen = bundle.rule().unwrap().posterior(&vec![Some(0); 256]).unwrap();
    assert!(!seen.impossible && seen.evidence == 0.0);
    let weight = |p: f64, times: f64| p.ln() + 256.0 * (times / 4.0).ln();
    let masses =
        [weight(0.3, 1.0), weight(0.2, 2.0), weight(0.2, 3.0), weight(0.3, 4.0)].map(f64::exp);
    let expected = (masses[2] + masses[3]) / masses.iter().sum::<f64>();
    assert!((seen.public[1] - expected).abs() < 1e-9);
}

fn crowd(count: usize) -> Model {
    let text = include_str!("../../../../examples/fusion-crowd.json");
    let text = text.replace("\"count\": 30", &format!("\"count\": {}", count * 3 / 5));
    model::read(&text.replace("\"count\": 20", &format!("\"count\": {}", count * 2 / 5))).unwrap()
}

#[test]
fn fifty_and_two_hundred_sensors_keep_their_budgets() {
    let mut errors = Vec::new();
    for (count, information) in [(50, 0.5), (200, 0.5), (50, 0.05)] {
        let request = CrowdRequest {
            model: FusionModel::assumed(crowd(count), "a crowd"),
            information: Some(information),
            ldp: Some(1.0),
            restarts: 4,
            seed: 1,
        };
        let report = design_crowd(&request, &Watch::PATIENT).unwrap();
        let certificate = report.bundle.certificate();
        let line = certificate.after(1).unwrap();
        let told = float(line.information.unwrap());
        assert!(line.exact && told <= information && told > 0.5 * information, "{told}");
        assert!(certificate.ldp.iter().all(|&nats| float(nats) <= 1.0));
        let kinds = [count * 3 / 5, count * 2 / 5];
        let active: usize = report.kinds.iter().map(|kind| kind.active).sum();
        assert!(active > 0 && report.kinds.len() == 2);
        // Where all of a kind speak alike, against rationals; silent ones cancel in both.
        let whole = report.kinds.iter().zip(kinds).all(|(kind, n)| kind.active == n);
        if whole && count == 50 {
            let (leak, error) = slowly(&report.bundle, kinds);
            assert!((told - leak).abs() < 3e-10);
            assert!((report.figures.error_public - error).abs() < 1e-9);
        }
        assert_eq!(Bundle::from_json(&report.bundle.to_json()).unwrap(), report.bundle);
        errors.push(report.figures.error_public);
    }
    // More sensors and a larger budget help; half is blind.
    assert!(
        errors[1] <= errors[0] + 0.01 && errors[0] < errors[2] && errors[2] < 0.5,
        "{errors:?}"
    );
}

#[test]
fn a_file_may_say_how_many_there_are() {
    let model = crowd(50);
    let names: Vec<&str> = model.sensors().iter().map(|sensor| sensor.name()).collect();
    assert_eq!((names.len(), names[0], names[29], names[30]), (50, "heat-1", "heat-30", "smoke-1"));
    let refused = |count: &str| {
        let text = include_str!("../../../../examples/fusion-crowd.json");
        model::read(&text.replace("\"count\": 30", count)).unwrap_err().to_string()
    };
    assert!(
        refused("\"count\": 0").contains("heat") && refused("\"count\": 0").contains("1 or more")
    );
    assert!(refused("\"count\": 5000").contains("4096"));
}
