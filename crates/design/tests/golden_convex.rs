//! Golden values of the convex objectives and of the closed-form mechanisms.
#![allow(clippy::unwrap_used)]

mod common;

use common::assert_golden;
use undertone_core::{Alphabet, Claim, Context, Epsilon, Provenance};
use undertone_design::mechanism::posterior;
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, Promise};
use undertone_design::{Distribution, realise};

/// LIP at ε under a prior, and the prior as the integers have it.
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

#[test]
fn smoke() {
    let (promise, prior) = lip(&[0.1, 0.1, 0.1, 0.7], "2");
    for o in [Objective::Hamming, Objective::Mmse(vec![0.,1.,2.,3.]), Objective::MutualInformation, Objective::Frequency] {
        let t = std::time::Instant::now();
        let found = posterior::optimal(&promise, &prior, &o).unwrap();
        println!("{} {:.12} {:?} outputs {} {:?}", o.name(), found.optimum, found.bound, found.channel.outputs(), t.elapsed());
    }
    let (promise, prior) = lip(&[0.5,0.3,0.2], "1");
    let found = posterior::optimal(&promise, &prior, &Objective::MutualInformation).unwrap();
    println!("{}", found.optimum);
    for m in [6, 10, 12, 13, 16, 20, 40] {
        let w: Vec<f64> = (1..=m).map(|i| 1.0 / i as f64).collect();
        let s: f64 = w.iter().sum();
        let p: Vec<f64> = w.iter().map(|w| w / s).collect();
        let (promise, prior) = lip(&p, "1");
        for o in [Objective::Hamming, Objective::Mmse((0..m).map(|v| v as f64).collect()), Objective::MutualInformation, Objective::Frequency] {
            if m > 16 && o == Objective::Frequency { continue; }
            let t = std::time::Instant::now();
            match posterior::optimal(&promise, &prior, &o) {
                Ok(found) => println!("{m} {} {:.12} {:?} outputs {} {:?}", o.name(), found.optimum, found.bound, found.channel.outputs(), t.elapsed()),
                Err(e) => println!("{m} {} {e} {:?}", o.name(), t.elapsed()),
            }
        }
    }
}
