//! Properties of the convex and closed-form designs.
#![allow(clippy::unwrap_used)]

use undertone_core::{Alphabet, Claim, Context, Epsilon, Provenance};
use undertone_design::mechanism::{keep, posterior};
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, Promise};
use undertone_design::{Distribution, realise};

fn lip(p: &[f64], epsilon: &str) -> (Promise, Distribution) {
    let rounded = quantize::prior(&Distribution::new("prior", p.to_vec()).unwrap()).unwrap();
    let prior = realise::distribution(&rounded.prior).unwrap();
    let promise = Promise {
        inputs: Alphabet::indices(p.len()).unwrap(),
        outputs: None,
        context: Context::Known(rounded.prior),
        claims: vec![Claim::lip(Epsilon::parse(epsilon).unwrap())],
        provenance: Provenance::default(),
    };
    (promise, prior)
}
fn zipf(m: usize, a: f64) -> Vec<f64> {
    let w: Vec<f64> = (1..=m).map(|i| (i as f64).powf(-a)).collect();
    let s: f64 = w.iter().sum();
    w.iter().map(|w| w / s).collect()
}

#[test]
fn smoke() {
    for (m, a) in [(4, 1.0), (12, 1.0), (40, 1.0), (12, 0.0), (40, 0.5), (100_000, 1.0), (100_000, 1.5), (100_000, 0.0)] {
        for eps in ["0.5", "1", "2", "4", "8"] {
            let (promise, prior) = lip(&zipf(m, a), eps);
            let t = std::time::Instant::now();
            let kept = keep::design(&promise, &Objective::Hamming).unwrap();
            let took = t.elapsed();
            let exact = if m <= 40 { posterior::optimal(&promise, &prior, &Objective::Hamming).unwrap().optimum } else { f64::NAN };
            println!("{m} {a} {eps}: loss {:.9} bound {:.9} exact {exact:.9} blind {:.6} lambda {:.4} released {} {took:?}", kept.value, kept.bound, 1.0 - prior.max(), kept.lambda, kept.released);
        }
    }
    for (m, a) in [(2, 1.0), (4, 1.0), (10, 1.0), (10, 0.0), (100_000, 1.0), (100_000, 0.0)] {
        for eps in ["0.5", "1", "2", "4", "8"] {
            let (promise, prior) = lip(&zipf(m, a), eps);
            let t = std::time::Instant::now();
            let kept = keep::design(&promise, &Objective::Frequency).unwrap();
            let took = t.elapsed();
            let t = std::time::Instant::now();
            let exact = if m <= 40 { posterior::optimal(&promise, &prior, &Objective::Frequency).unwrap().optimum } else { f64::NAN };
            println!("{m} {a} {eps}: freq {:.6} bound {:.6} exact {exact:.6} lambda {:.4} {took:?} {:?}", kept.value, kept.bound, kept.lambda, t.elapsed());
        }
    }
}
#[test]
fn speed() {
    for (m, a) in [(10, 1.0), (12, 1.0)] {
        let (promise, prior) = lip(&zipf(m, a), "1");
        let t = std::time::Instant::now();
        let found = posterior::optimal(&promise, &prior, &Objective::Frequency).unwrap();
        println!("{m} {a}: {:?} {} {:?}", t.elapsed(), found.optimum, found.bound);
    }
    for (m, a) in [(13, 1.0), (40, 1.0), (40, 0.0), (40, 0.5), (40, 2.0), (40, 3.0), (100_000, 1.0), (100_000, 1.5), (100_000, 0.0)] {
        for eps in ["0.2", "0.5", "1", "2", "4", "8"] {
            let (promise, prior) = lip(&zipf(m, a), eps);
            let t = std::time::Instant::now();
            let kept = keep::design(&promise, &Objective::Hamming).unwrap();
            let took = t.elapsed();
            let range = undertone_design::extremal::LiftRange::symmetric(eps.parse().unwrap()).unwrap();
            let t = std::time::Instant::now();
            let b = keep::least_loss(&prior, range).unwrap();
            let tb = t.elapsed();
            let exact = if m <= 40 { posterior::optimal(&promise, &prior, &Objective::Hamming).unwrap().optimum } else { f64::NAN };
            println!("{m} {a} {eps}: loss {:.9} bound {b:.9} exact {exact:.9} {:.2e} blind {:.6} lambda {:.4} released {} {took:?} bound {tb:?}", kept.value, exact-b, 1.0 - prior.max(), kept.lambda, kept.released);
        }
    }
}
