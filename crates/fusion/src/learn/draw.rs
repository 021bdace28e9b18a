//! Samples drawn from a model, and symbols from a distribution: seeded, for studies and tests. A device
//! draws from its policy.

use rand_core::Rng;
use undertone_design::Error;

use crate::{Model, Sample, Samples};

/// A number in [0, 1).
pub fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A symbol drawn with these probabilities.
pub fn symbol(p: &[f64], rng: &mut impl Rng) -> usize {
    let mut rest = uniform(rng);
    for (at, p) in p.iter().enumerate() {
        if rest < *p {
            return at;
        }
        rest -= p;
    }
    // Rounding may leave a hair: it belongs to the last symbol that can occur.
    p.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}

/// The numbers 0..n in random order.
pub fn shuffled(n: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        order.swap(at, (uniform(rng) * (at + 1) as f64) as usize);
    }
    order
}

/// `n` independent samples of a model.
pub fn samples(model: &Model, n: usize, rng: &mut impl Rng) -> Result<Samples, Error> {
    let weights: Vec<f64> = model.atoms().iter().map(|atom| atom.weight).collect();
    let draw = |_| {
        let k = symbol(&weights, rng);
        let atom = model.atoms()[k];
        let readings = model.sensors().iter().map(|s| symbol(s.given(k).as_slice(), rng)).collect();
        Sample { public: atom.public, private: atom.private, readings }
    };
    let drawn = (0..n).map(draw).collect();
    let sensors = model.sensors().iter().map(|s| (s.name().to_owned(), s.readings().clone()));
    Samples::new(model.public().clone(), model.private().clone(), sensors.collect(), drawn)
}
