//! Samples drawn from a model: seeded, for studies and tests. A device draws from its policy.

use rand_core::Rng;
use undertone_design::Error;

use crate::{Model, Sample, Samples};
use undertone_numeric::dice;

/// `n` independent samples of a model.
pub fn samples(model: &Model, n: usize, rng: &mut impl Rng) -> Result<Samples, Error> {
    let weights: Vec<f64> = model.atoms().iter().map(|atom| atom.weight).collect();
    let draw = |_| {
        let k = dice::draw(&weights, rng);
        let atom = model.atoms()[k];
        let readings =
            model.sensors().iter().map(|s| dice::draw(s.given(k).as_slice(), rng)).collect();
        Sample { public: atom.public, private: atom.private, readings }
    };
    let drawn = (0..n).map(draw).collect();
    let sensors = model.sensors().iter().map(|s| (s.name().to_owned(), s.readings().clone()));
    Samples::new(model.public().clone(), model.private().clone(), sensors.collect(), drawn)
}
