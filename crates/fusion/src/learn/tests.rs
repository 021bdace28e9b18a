//! The terms of a block: against finite differences, and against the regressions they stand for.
#![allow(clippy::unwrap_used)]

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::Alphabet;

use super::barrier::Convex;
use super::block::{Block, Multipliers};
use super::data::Data;
use crate::{Hypothesis, Sample, Samples};
use undertone_numeric::dice::unit;
use undertone_numeric::symmetric::Symmetric;

/// Random samples of three sensors with four readings; three values of H and of G.
fn samples(seed: u64) -> (Samples, ChaCha12Rng) {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut below = |n: usize| (unit(&mut rng) * n as f64) as usize;
    let sample = |i: usize| Sample {
        public: if i < 3 { i } else { below(3) },
        private: if i < 3 { i } else { below(3) },
        readings: vec![below(4), below(4), below(3)],
    };
    let list = (0..25).map(sample).collect();
    let sensors = ["a", "b", "c"].map(|name| (name.to_owned(), Alphabet::indices(4).unwrap()));
    let (h, g) = (Hypothesis::indexed("h", 3), Hypothesis::indexed("g", 3));
    (Samples::new(h, g, sensors.to_vec(), list).unwrap(), rng)
}

fn random_map(size: usize, outputs: usize, rng: &mut ChaCha12Rng) -> Vec<f64> {
    let row = |_| {
        let weights: Vec<f64> = (0..outputs).map(|_| 0.1 + unit(rng)).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(move |w| w / total)
    };
    (0..size).flat_map(row).collect()
}

fn check(f: &dyn Convex, x: &[f64]) {
    let n = x.len();
    let (mut gradient, mut hessian) = (vec![0.0; n], Symmetric::zero(n));
    f.derivatives(x, &mut gradient, 2.0, &mut hessian);
    let h = 1e-5;
    for j in 0..n {
        let moved = |by: f64| {
            let mut x = x.to_vec();
            x[j] += by;
            x
        };
        let slope = (f.value(&moved(h)) - f.value(&moved(-h))) / (2.0 * h);
        assert!((slope - gradient[j]).abs() < 1e-7 * (1.0 + slope.abs()), "{j}: {slope}");
        let side = |by: f64| {
            let mut gradient = vec![0.0; n];
            f.derivatives(&moved(by), &mut gradient, 0.0, &mut Symmetric::zero(n));
            gradient
        };
        let (up, down) = (side(h), side(-h));
        for i in 0..n {
            let bend = 2.0 * (up[i] - down[i]) / (2.0 * h);
            assert!((bend - hessian.at(i, j)).abs() < 1e-5 * (1.0 + bend.abs()), "{i} {j}");
        }
    }
}

#[test]
fn blocks_have_the_right_values_and_derivatives() {
    let ridge = 0.05;
    for seed in 0..6 {
        let (samples, mut rng) = samples(seed);
        let outputs = 2 + seed as usize % 2;
        let data = Data::new(&samples, outputs);
        let maps: Vec<Vec<f64>> =
            data.inputs.iter().map(|&size| random_map(size, outputs, &mut rng)).collect();
        let features = data.features(&maps);
        let mut vector =
            |size: usize| -> Vec<f64> { (0..size).map(|_| 2.0 * unit(&mut rng) - 1.0).collect() };
        let rules: Vec<Vec<f64>> = data.tasks.signs.iter().map(|_| vector(data.size())).collect();
        let rows: Vec<Vec<f64>> =
            data.contrasts.iter().map(|contrast| data.members(&features, contrast)).collect();
        let any: Vec<Vec<f64>> = data
            .contrasts
            .iter()
            .map(|contrast| {
                vector(contrast.members.len()).iter().map(|a| (a + 1.0) / 2.0).collect()
            })
            .collect();
        for (t, map) in maps.iter().enumerate() {
            for odds in [None, Some(5.0)] {
                let block = Block::new(&data, t, odds);
                let mut point = block.point(map);
                // The risk is that of the regressions, averaged over the tasks.
                let risk = block.risk(&features, &rules, ridge, 0.25);
                let tasks = rules.iter().enumerate();
                let direct: f64 =
                    tasks.map(|(task, w)| data.public(&features, task, ridge).risk(w)).sum();
                let direct = direct / rules.len() as f64 - 0.25;
                assert!((risk.value(&point) - direct).abs() < 1e-12);
                check(&risk, &point);
                // The leak is the level minus the dual value.
                let fixed = block.leaks(&features, &Multipliers(any.clone()), ridge, Some(0.6));
                for ((leak, contrast), (rows, a)) in
                    fixed.iter().zip(&data.contrasts).zip(rows.iter().zip(&any))
                {
                    let dual = data.private(rows, contrast, ridge).dual(a);
                    assert!((leak.value(&point) - (0.6 - dual)).abs() < 1e-12);
                    check(leak, &point);
                }
                point.push(0.3);
                let free = block.leaks(&features, &Multipliers(any.clone()), ridge, None);
                for (leak, other) in free.iter().zip(&fixed) {
                    let fixed = other.value(&point[..point.len() - 1]);
                    assert!((leak.value(&point) - (fixed - 0.6 + 0.3)).abs() < 1e-12);
                    check(leak, &point);
                }
            }
        }
    }
}
