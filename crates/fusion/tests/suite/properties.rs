//! Properties of evaluation, design and the printed condition on random small networks.
use crate::common::ga;
use dashu::rational::RBig;
use proptest::prelude::*;
use undertone_core::Alphabet;
use undertone_design::Channel;
use undertone_fusion::design::{Budgets, Method, Request, Theta, Watch, design};
use undertone_fusion::{Evaluation, FusionRule, Hypothesis, Maps, Model, Point};

/// Small integer weights, so that everything is a rational number with a small denominator.
#[derive(Debug, Clone)]
struct Small {
    /// Weight, h, g and readings of every point.
    points: Vec<(u64, usize, usize, Vec<usize>)>,
    /// For every sensor and reading, weights of its outputs; every row sums to 8.
    maps: Vec<Vec<Vec<u64>>>,
}

const READINGS: usize = 3;

/// Rows of weights that sum to eight.
fn row() -> impl Strategy<Value = Vec<u64>> {
    (0u64..=8, 0u64..=8).prop_map(|(a, b)| {
        let (a, b) = (a.min(b), a.max(b));
        vec![a, b - a, 8 - b]
    })
}

fn small(sensors: usize) -> impl Strategy<Value = Small> {
    let point = (1u64..20, 0usize..2, 0usize..3, prop::collection::vec(0..READINGS, sensors));
    let map = prop::collection::vec(row(), READINGS);
    (prop::collection::vec(point, 6..14), prop::collection::vec(map, sensors)).prop_map(
        |(mut points, maps)| {
            // Both labels take at least two values.
            (points[0].1, points[0].2) = (0, 0);
            (points[1].1, points[1].2) = (1, 1);
            Small { points, maps }
        },
    )
}

impl Small {
    fn model(&self) -> Model {
        let total: u64 = self.points.iter().map(|point| point.0).sum();
        let point = |(weight, public, private, readings): &(u64, usize, usize, Vec<usize>)| Point {
            weight: *weight as f64 / total as f64,
            public: *public,
            private: *private,
            readings: readings.clone(),
        };
        let points: Vec<Point> = self.points.iter().map(point).collect();
        let alphabet = Alphabet::indices(READINGS).unwrap();
        let sensors = (0..self.maps.len()).map(|t| (t.to_string(), alphabet.clone())).collect();
        let (h, g) = (Hypothesis::indexed("h", 2), Hypothesis::indexed("g", 3));
        Model::joint(h, g, sensors, &points).unwrap()
    }

    fn maps(&self) -> Maps {
        let row = |row: &Vec<u64>| row.iter().map(|&w| w as f64 / 8.0).collect();
        let map = |rows: &Vec<Vec<u64>>| Channel::new(rows.iter().map(row).collect()).unwrap();
        Maps::new(self.maps.iter().map(map).collect()).unwrap()
    }

    /// P(h, g, z) for every vector z, as rationals, by summing over the points.
    fn joint(&self) -> Vec<Vec<Vec<RBig>>> {
        let total: u64 = self.points.iter().map(|point| point.0).sum();
        let sensors = self.maps.len();
        let vectors = 3usize.pow(sensors as u32);
        let cell = |z: usize, h: usize, g: usize| {
            let mut sum = RBig::ZERO;
            for (weight, public, private, readings) in &self.points {
                if (*public, *private) != (h, g) {
                    continue;
                }
                let mut mass = RBig::from(*weight) / RBig::from(total);
                let mut rest = z;
                for t in (0..sensors).rev() {
                    mass *= RBig::from(self.maps[t][readings[t]][rest % 3]) / RBig::from(8u8);
                    rest /= 3;
                }
                sum += mass;
            }
            sum
        };
        (0..vectors)
            .map(|z| (0..2).map(|h| (0..3).map(|g| cell(z, h, g)).collect()).collect())
            .collect()
    }
}

fn float(value: &RBig) -> f64 {
    value.to_f64().value()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn evaluation_is_what_its_definitions_say(case in small(2)) {
        let (model, maps, joint) = (case.model(), case.maps(), case.joint());
        let seen = Evaluation::new(&model, &maps).unwrap();
        let sum = |values: Vec<RBig>| values.into_iter().fold(RBig::ZERO, |a, b| a + b);
        let public = |cell: &Vec<Vec<RBig>>, h: usize| sum(cell[h].clone());
        let private = |cell: &Vec<Vec<RBig>>, g: usize| &cell[0][g] + &cell[1][g];
        let kept = sum(joint.iter().map(|c| public(c, 0).max(public(c, 1))).collect());
        prop_assert!((seen.error_public - (1.0 - float(&kept))).abs() < 1e-12);
        let most = |c: &Vec<Vec<RBig>>| (0..3).map(|g| private(c, g)).max().unwrap();
        let kept = sum(joint.iter().map(most).collect());
        prop_assert!((seen.error_private - (1.0 - float(&kept))).abs() < 1e-12);
        let prior: Vec<RBig> =
            (0..3).map(|g| sum(joint.iter().map(|c| private(c, g)).collect())).collect();
        let (mut worst, mut information) = (0.0f64, 0.0);
        for cell in &joint {
            let evidence = sum((0..3).map(|g| private(cell, g)).collect());
            if evidence == RBig::ZERO {
                continue;
            }
            for (g, prior) in prior.iter().enumerate().filter(|(_, p)| **p > RBig::ZERO) {
                let mass = private(cell, g);
                if mass == RBig::ZERO {
                    worst = f64::INFINITY;
                    continue;
                }
                let lift = float(&(&mass / (&evidence * prior))).ln();
                worst = worst.max(lift.abs());
                information += float(&mass) * lift;
            }
        }
        prop_assert!((seen.private_information - information).abs() < 1e-12);
        prop_assert!(
            seen.information.nats == worst || (seen.information.nats - worst).abs() < 1e-12
        );
        // The rule's decisions make the error that was computed.
        let rule = FusionRule::new(&model, &maps).unwrap();
        let mut right = 0.0;
        for (z, cell) in joint.iter().enumerate() {
            let decision = rule.decide(&[Some(z / 3), Some(z % 3)], 0.5).unwrap();
            right += float(&public(cell, decision));
        }
        prop_assert!((1.0 - right - seen.error_public).abs() < 1e-12);
    }

    #[test]
    fn a_missing_sensor_is_averaged_over(case in small(2)) {
        let (model, maps, joint) = (case.model(), case.maps(), case.joint());
        let rule = FusionRule::new(&model, &maps).unwrap();
        for z in 0..3 {
            let posterior = rule.posterior(&[None, Some(z)]).unwrap();
            let total = |h: usize| -> f64 {
                (0..3).flat_map(|a| &joint[a * 3 + z][h]).map(float).sum()
            };
            let evidence = total(0) + total(1);
            prop_assert!((posterior.evidence - evidence).abs() < 1e-12);
            if evidence > 0.0 {
                prop_assert!((posterior.public[1] - total(1) / evidence).abs() < 1e-12);
            }
        }
        let blind = rule.posterior(&[None, None]).unwrap();
        prop_assert!((blind.public[0] - model.public_law()[0]).abs() < 1e-12);
        prop_assert!(rule.posterior(&[Some(3), None]).is_err());
        prop_assert!(rule.posterior(&[None]).is_err());
    }

    #[test]
    fn mixing_and_pushing_are_post_processing(case in small(2), share in 0.0f64..1.0) {
        let (model, maps) = (case.model(), case.maps());
        let before = Evaluation::new(&model, &maps).unwrap();
        let after = Evaluation::new(&model, &maps.mixed(&model, share).unwrap()).unwrap();
        prop_assert!(after.information.nats <= before.information.nats + 1e-9);
        prop_assert!(after.error_public >= before.error_public - 1e-12);
        for (a, b) in after.ldp.iter().zip(&before.ldp) {
            prop_assert!(*a <= b + 1e-9);
        }
        // Evaluating the pushed model with maps that change nothing is the same.
        let pushed = model.through(&maps).unwrap();
        let same = Evaluation::new(&pushed, &Maps::identity(&pushed).unwrap()).unwrap();
        prop_assert!((same.error_private - before.error_private).abs() < 1e-12);
        prop_assert!((same.public_information - before.public_information).abs() < 1e-12);
    }

    #[test]
    fn the_condition_implies_privacy_at_its_own_maps(case in small(2), nats in 0.05f64..2.0) {
        let (model, maps) = (case.model(), case.maps());
        for share in [0.0, 0.9, 0.99, 0.999] {
            let maps = maps.mixed(&model, share).unwrap();
            let theta = Theta::new(&model, &maps, nats).unwrap();
            if theta.holds() {
                let seen = Evaluation::new(&model, &maps).unwrap();
                prop_assert!(seen.information.nats <= nats + 1e-9);
            }
        }
    }
}

fn run(model: &Model, information: f64, ldp: f64) -> (f64, Maps) {
    let budgets = Budgets::new(information, ldp).unwrap();
    let outputs = vec![2; model.sensors().len()];
    let request = Request { method: Method::Joint, budgets, outputs, restarts: 16, seed: 5 };
    let found = design(model, &request, &Watch::PATIENT).unwrap();
    (found.error, found.maps)
}

/// Two sensors with two readings each.
fn tiny(case: usize) -> Model {
    let shift = case as f64 * 0.05;
    let law = |p: f64| vec![p, 1.0 - p];
    let first = vec![vec![law(0.9 - shift), law(0.6)], vec![law(0.35), law(0.15 + shift)]];
    let second = vec![vec![law(0.8), law(0.7 - shift)], vec![law(0.4), law(0.2)]];
    Model::independent(vec![vec![0.3, 0.2], vec![0.2, 0.3]], vec![first, second]).unwrap()
}

#[test]
fn tiny_networks_against_a_grid() {
    // Every pair of binary maps on a grid: the Bayes error already takes the best fusion rule.
    const STEPS: u32 = 16;
    let map = |a: u32, b: u32| {
        let row =
            |n: u32| vec![f64::from(n) / f64::from(STEPS), 1.0 - f64::from(n) / f64::from(STEPS)];
        Channel::new(vec![row(a), row(b)]).unwrap()
    };
    for (case, information, ldp) in [(0, 0.1, f64::INFINITY), (1, 0.15, 1.5), (2, 0.05, 3.0)] {
        let model = tiny(case);
        let mut grid = f64::INFINITY;
        // Swapping a sensor's outputs changes nothing, so its first row is the larger.
        let pairs: Vec<(u32, u32)> =
            (0..=STEPS).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
        for &(a, b) in &pairs {
            for &(c, d) in &pairs {
                let maps = Maps::new(vec![map(a, b), map(c, d)]).unwrap();
                let seen = Evaluation::new(&model, &maps).unwrap();
                let ldp_kept = seen.ldp.iter().all(|&nats| nats <= ldp + 1e-12);
                if ldp_kept && seen.information.nats <= information + 1e-12 {
                    grid = grid.min(seen.error_public);
                }
            }
        }
        let (error, _) = run(&model, information, ldp);
        assert!(error <= grid + 1e-9, "case {case}: {error} {grid}");
        assert!(error >= grid - 0.02, "case {case}: {error} {grid}: too good for the grid's step");
    }
}

#[test]
fn larger_budgets_never_hurt_and_budgets_are_kept() {
    let model = ga(3);
    let mut before = 0.5 + 1e-9;
    for (information, ldp) in
        [(0.02, 0.5), (0.05, 0.5), (0.05, 1.0), (0.2, 1.0), (0.2, 4.0), (1.0, 4.0)]
    {
        let (error, maps) = run(&model, information, ldp);
        assert!(error <= before + 1e-4, "{information} {ldp}: {error} after {before}");
        before = error;
        let seen = Evaluation::new(&model, &maps).unwrap();
        assert!(seen.information.nats <= information + 1e-8);
        assert!(seen.ldp.iter().all(|&nats| nats <= ldp + 1e-8));
    }
}

#[test]
fn the_result_is_repeatable() {
    let model = ga(3);
    assert_eq!(run(&model, 0.1, 1.0), run(&model, 0.1, 1.0));
}

#[test]
fn nothing_is_said_at_zero_budgets() {
    let model = ga(2);
    let (error, maps) = run(&model, 0.0, 0.0);
    assert!((error - 0.5).abs() < 1e-9);
    let seen = Evaluation::new(&model, &maps).unwrap();
    assert!(seen.information.nats < 1e-8 && seen.ldp.iter().all(|&nats| nats < 1e-8));
}

#[test]
fn stopping_at_once_still_gives_maps_within_the_budgets() {
    let model = ga(4);
    let budgets = Budgets::new(0.1, 1.0).unwrap();
    let request =
        Request { method: Method::Joint, budgets, outputs: vec![2; 4], restarts: 4, seed: 5 };
    let watch = Watch { stop: &|| true, step: &|| {} };
    let found = design(&model, &request, &watch).unwrap();
    let seen = Evaluation::new(&model, &found.maps).unwrap();
    assert!(seen.information.nats <= 0.1 + 1e-9 && seen.ldp.iter().all(|&nats| nats <= 1.0 + 1e-9));
}

#[test]
fn bad_requests_are_refused_in_words() {
    let model = ga(2);
    let base = Request {
        method: Method::Joint,
        budgets: Budgets::new(0.1, 1.0).unwrap(),
        outputs: vec![2; 2],
        restarts: 1,
        seed: 1,
    };
    let refused = |request: Request, word: &str| {
        let error = design(&model, &request, &Watch::PATIENT).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refused(Request { outputs: vec![2; 3], ..base.clone() }, "output sizes has 3 entries where 2");
    refused(Request { outputs: vec![1, 2], ..base.clone() }, "from 2 to 256");
    let epochs = Budgets { epochs: 3, ..base.budgets };
    refused(Request { method: Method::PaperTheta, budgets: epochs, ..base.clone() }, "one epoch");
    for bad in [-0.1, f64::NAN, 25.0] {
        assert!(Budgets::new(bad, 1.0).is_err() && Budgets::new(1.0, bad).is_err(), "{bad}");
    }
    let large = ga(30);
    let request = Request { outputs: vec![2; 30], ..base };
    let error = design(&large, &request, &Watch::PATIENT).unwrap_err().to_string();
    assert!(error.contains("1073741824") && error.contains("fewer sensors"), "{error}");
}
