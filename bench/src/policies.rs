//! The policies that are measured.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Delta, Draft, Epsilon, Keep, MASS_ONE, Policy, Prior,
    Provenance, Shape, Table, WEIGHT_ONE,
};

/// A generator with a fixed seed.
pub fn generator(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

/// The level of a decimal.
pub fn epsilon(text: &str) -> Epsilon {
    Epsilon::parse(text).expect("a level")
}

/// A draft on bare indices.
pub fn draft(shape: Shape, context: Context, claims: Vec<Claim>) -> Draft {
    let inputs = Alphabet::indices(shape.inputs()).expect("a size");
    Draft::new(inputs, None, shape, context, claims, Provenance::default()).expect("a draft")
}

/// A policy that claims what hardly can be missed, for measuring draws.
pub fn policy(shape: Shape) -> Policy {
    let delta = Delta::from_units(MASS_ONE - 1).expect("below one");
    let claim = match shape {
        Shape::Bits(_) | Shape::Incidence(_) => Claim::ldp(Epsilon::LARGEST),
        _ => Claim::ldp(Epsilon::LARGEST).with_delta(delta),
    };
    draft(shape, Context::Unknown, vec![claim]).verify().expect("a loose claim")
}

/// Weights rounded to integers that sum to `one`: the largest takes what rounding left.
pub fn rounded(weights: &[f64], one: u64) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let mut parts: Vec<u64> = weights.iter().map(|w| (w / total * one as f64) as u64).collect();
    let largest = (0..parts.len()).max_by_key(|&at| parts[at]).expect("weights");
    let others: u64 = parts.iter().sum::<u64>() - parts[largest];
    parts[largest] = one - others;
    parts
}

/// A point drawn uniformly from the simplex: Dirichlet(1).
pub fn dirichlet(size: usize, rng: &mut ChaCha12Rng) -> Vec<f64> {
    let uniform = |rng: &mut ChaCha12Rng| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..size).map(|_| -(1.0 - uniform(rng)).ln()).collect()
}

/// Randomised response on `size` symbols at ε = 1, as rows of masses.
pub fn response(size: usize) -> Vec<Vec<u64>> {
    let other = (MASS_ONE as f64 / (1f64.exp() + size as f64 - 1.0)) as u64;
    let own = MASS_ONE - (size as u64 - 1) * other;
    let row = |x: usize| (0..size).map(|y| if x == y { own } else { other }).collect();
    (0..size).map(row).collect()
}

/// Rows drawn from Dirichlet(1).
pub fn random_rows(inputs: usize, outputs: usize) -> Vec<Vec<u64>> {
    let mut rng = generator(1);
    (0..inputs).map(|_| rounded(&dirichlet(outputs, &mut rng), MASS_ONE)).collect()
}

/// Rows mixed from a random distribution and the uniform one, so that LDP stays small.
pub fn mild_rows(inputs: usize, outputs: usize) -> Vec<Vec<u64>> {
    let mut rng = generator(2);
    (0..inputs).map(|_| mixed(outputs, 0.75, &mut rng)).collect()
}

/// Masses of a random distribution mixed with a share of the uniform one.
fn mixed(size: usize, uniform: f64, rng: &mut ChaCha12Rng) -> Vec<u64> {
    let weights = dirichlet(size, rng);
    let total: f64 = weights.iter().sum();
    let mix = |w: &f64| (1.0 - uniform) * w / total + uniform / size as f64;
    rounded(&weights.iter().map(mix).collect::<Vec<_>>(), MASS_ONE)
}

/// A table from rows.
pub fn table(rows: &[Vec<u64>]) -> Shape {
    Shape::Table(Table::from_masses(rows.to_vec()).expect("a table"))
}

/// A `Keep` of random keep probabilities around a half; its base is random, with a share of the
/// uniform distribution.
pub fn keep(size: usize, uniform: f64) -> Keep {
    let mut rng = generator(3);
    let kept = (0..size).map(|_| (1 << 38) + (rng.next_u64() >> 25)).collect();
    Keep::new(kept, mixed(size, uniform, &mut rng)).expect("a keep")
}

/// A random prior.
pub fn prior(size: usize) -> Prior {
    Prior::new(rounded(&dirichlet(size, &mut generator(4)), WEIGHT_ONE)).expect("a prior")
}

/// Optimised unary encoding at ε = 1.
pub fn unary(size: usize) -> Shape {
    let other = (WEIGHT_ONE as f64 / (1f64.exp() + 1.0)) as u64 + 1;
    Shape::Bits(Bits::new(size, WEIGHT_ONE / 2, other).expect("bits"))
}
