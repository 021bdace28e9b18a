//! The terms of a block: against finite differences, and against the regressions they stand for.
#![allow(clippy::unwrap_used)]

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::Alphabet;

use super::barrier::Convex;
use super::block::{Block, Multipliers};
use super::data::Data;
use super::kernel::Kernel;
use super::loss::Loss;
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

/// Against finite differences. The hinge bends suddenly where its rounded corner ends: a point so near to one has the bend of either side.
fn check(f: &dyn Convex, x: &[f64], loss: Loss) {
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
        let (up, here, down) = (side(h), side(0.0), side(-h));
        for i in 0..n {
            let fits =
                |bend: f64, part: f64| (bend - hessian.at(i, j)).abs() < part * (1.0 + bend.abs());
            let of_a_side = |ends: f64| loss == Loss::Hinge && fits(2.0 * ends / h, 1e-3);
            let bend = 2.0 * (up[i] - down[i]) / (2.0 * h);
            let sides = of_a_side(up[i] - here[i]) || of_a_side(here[i] - down[i]);
            assert!(fits(bend, 1e-5) || sides, "{loss:?} {i} {j}: {bend} {}", hessian.at(i, j));
        }
    }
}

#[test]
fn blocks_have_the_right_values_and_derivatives() {
    for kernel in Kernel::ALL {
        for loss in Loss::ALL {
            blocks_of(kernel, loss);
        }
    }
}

fn blocks_of(kernel: Kernel, loss: Loss) {
    let ridge = 0.05;
    for seed in 0..6 {
        let (samples, mut rng) = samples(seed);
        let outputs = 2 + seed as usize % 2;
        let data = Data::new(&samples, outputs, kernel, loss);
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
                check(&risk, &point, loss);
                // The leak is the level minus the dual value.
                let fixed = block.leaks(&features, &Multipliers(any.clone()), ridge, Some(0.6));
                for ((leak, contrast), (rows, a)) in
                    fixed.iter().zip(&data.contrasts).zip(rows.iter().zip(&any))
                {
                    let dual = data.private(rows, contrast, ridge).dual(a);
                    assert!((leak.value(&point) - (0.6 - dual)).abs() < 1e-12);
                    check(leak, &point, loss);
                }
                point.push(0.3);
                let free = block.leaks(&features, &Multipliers(any.clone()), ridge, None);
                for (leak, other) in free.iter().zip(&fixed) {
                    let fixed = other.value(&point[..point.len() - 1]);
                    assert!((leak.value(&point) - (fixed - 0.6 + 0.3)).abs() < 1e-12);
                    check(leak, &point, loss);
                }
            }
        }
    }
}

/// An independent, slow reading of ST20 (18): features by the kernel's definition, summed over all outputs of all sensors, and the risk
/// minimised by plain gradient steps.
#[test]
fn features_are_means_of_the_kernel_and_least_risks_are_least() {
    for (kernel, loss) in Kernel::ALL.into_iter().flat_map(|k| Loss::ALL.map(|loss| (k, loss))) {
        let (samples, mut rng) = samples(40);
        let data = Data::new(&samples, 2, kernel, loss);
        let maps: Vec<Vec<f64>> =
            data.inputs.iter().map(|&size| random_map(size, 2, &mut rng)).collect();
        let features = data.features(&maps);
        let size = data.size();
        // κ between means of Φ is the mean of κ over both rows' outputs.
        let same = |z: usize, y: usize| {
            let alike = (0..3).filter(|t| (z >> t) & 1 == (y >> t) & 1).count() as f64;
            alike + if kernel == Kernel::Pairs { alike * (alike - 1.0) / 2.0 } else { 0.0 }
        };
        let chance = |i: usize, z: usize| -> f64 {
            (0..3).map(|t| maps[t][2 * data.readings[t][i] + ((z >> t) & 1)]).product()
        };
        for (i, j) in [(0, 1), (3, 3), (7, 12), (24, 5)] {
            let own = &features[i * size..(i + 1) * size];
            let other = &features[j * size..(j + 1) * size];
            let inner: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
            let pairs = (0..8).flat_map(|z| (0..8).map(move |y| (z, y)));
            let mean: f64 = pairs.map(|(z, y)| chance(i, z) * chance(j, y) * same(z, y)).sum();
            assert!((inner - mean).abs() < 1e-12, "{kernel:?}: {inner} {mean}");
        }
        let ridge = 0.2;
        let task = data.public(&features, 0, ridge);
        let risk = |w: &[f64]| -> f64 {
            let fit = features.chunks(size).zip(&data.tasks.signs[0]).map(|(row, sign)| {
                let score: f64 = row.iter().zip(w).map(|(f, w)| f * w).sum();
                loss.value(sign * score) / data.n as f64
            });
            fit.sum::<f64>() + ridge / 2.0 * w.iter().map(|w| w * w).sum::<f64>()
        };
        let mut w = vec![0.0; size];
        for _ in 0..4000 {
            let slope = |j: usize| {
                let moved = |by: f64| {
                    let mut w = w.clone();
                    w[j] += by;
                    risk(&w)
                };
                (moved(1e-6) - moved(-1e-6)) / 2e-6
            };
            let slopes: Vec<f64> = (0..size).map(slope).collect();
            w.iter_mut().zip(slopes).for_each(|(w, slope)| *w -= 0.05 * slope);
        }
        let least = task.risk(&task.minimise(&[]));
        assert!(least <= risk(&w) + 1e-12 && risk(&w) - least < 1e-6, "{kernel:?} {loss:?}");
    }
}
