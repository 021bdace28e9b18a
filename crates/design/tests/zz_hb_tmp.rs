#![allow(clippy::unwrap_used)]
use undertone_core::*;
use undertone_design::mechanism::posterior;
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, Promise};
use undertone_design::{Distribution, realise};
fn zipf(symbols: usize, power: f64) -> Distribution {
    Distribution::normalised("prior", (1..=symbols).map(|i| (i as f64).powf(-power)).collect()).unwrap()
}
#[test]
fn timing() {
    let e = |t: &str| Epsilon::parse(t).unwrap();
    for m in [5, 6, 7, 8] {
        for (name, claims) in [("lip1&ldp1.5", vec![Claim::lip(e("1")), Claim::ldp(e("1.5"))]), ("lip.5&ldp.8", vec![Claim::lip(e("0.5")), Claim::ldp(e("0.8"))])] {
            let rounded = quantize::prior(&zipf(m, 1.0)).unwrap();
            let prior = realise::distribution(&rounded.prior).unwrap();
            let promise = Promise { inputs: Alphabet::indices(m).unwrap(), outputs: None, context: Context::Known(rounded.prior), claims, provenance: Provenance::default() };
            for o in [Objective::MutualInformation, Objective::Frequency] {
                let t = std::time::Instant::now();
                match posterior::optimal(&promise, &prior, &o) {
                    Ok(f) => println!("{m} {name} {} {:.9} {:?} {:?}", o.name(), f.optimum, f.bound, t.elapsed()),
                    Err(x) => println!("{m} {name} {x} {:?}", t.elapsed()),
                }
            }
        }
    }
    for m in [24, 40, 64] {
        let range = undertone_design::extremal::LiftRange::symmetric(1.0).unwrap();
        for o in [Objective::Hamming, Objective::Mmse((0..m).map(|v| v as f64).collect()), Objective::MutualInformation, Objective::Frequency] {
            if m > 24 && o == Objective::Frequency { continue; }
            let t = std::time::Instant::now();
            match posterior::optimal_lifts(&zipf(m, 1.0), range, &o) {
                Ok(f) => println!("{m} {} {:.9} {:?} {:?}", o.name(), f.optimum, f.bound, t.elapsed()),
                Err(x) => println!("{m} {x} {:?}", t.elapsed()),
            }
        }
    }
}
