//! The policies that are measured.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Delta, Draft, Epsilon, Family, Geometry, Incidence,
    IncidenceError, Keep, MASS_ONE, Policy, Prior, Provenance, Shape, Subsets, Table, WEIGHT_ONE,
};

/// A million symbols, the most that blocks are measured on.
pub const MILLION: usize = 1_000_000;

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

/// A prior in which the n-th symbol is as likely as 1/n.
pub fn zipf(size: usize) -> Prior {
    let weights: Vec<f64> = (1..=size).map(|rank| 1.0 / rank as f64).collect();
    Prior::new(rounded(&weights, WEIGHT_ONE)).expect("a prior")
}

/// Blocks at ε = 1: one with the input is e times as likely as one without.
pub fn blocks(symbols: usize, family: Family) -> Incidence {
    let even = Incidence::new(symbols, MASS_ONE / 2, family.clone()).expect("blocks");
    let (inside, all) = match (&family, even.replication(), even.blocks()) {
        (Family::Subsets(subsets), ..) => (subsets.size(), symbols),
        (_, Some(inside), Some(all)) => (inside, all),
        _ => panic!("a family whose blocks have no numbers"),
    };
    let with = 1f64.exp() * inside as f64;
    let coin = (MASS_ONE as f64 * with / (with + (all - inside) as f64)) as u64;
    Incidence::new(symbols, coin, family).expect("blocks")
}

/// Families whose blocks have numbers, by name: a Hadamard matrix, a projective geometry, blocks of
/// ten in 37 symbols and hashing, each the smallest of its order with room for so many symbols.
pub fn numbered(symbols: usize) -> Vec<(&'static str, Family)> {
    vec![
        ("hadamard", smallest(symbols, |dimension| Geometry::new(2, dimension, 1, 0, true))),
        (
            "projective, order 4",
            smallest(symbols, |dimension| Geometry::new(4, dimension, 1, 0, true)),
        ),
        (
            "blocks of 10/37",
            smallest(symbols, |dimension| Geometry::new(37, dimension, 4, 1, true)),
        ),
        ("hashing into 4", smallest(symbols, |dimension| Geometry::hashing(4, dimension))),
    ]
}

fn smallest(symbols: usize, geometry: impl Fn(u32) -> Result<Geometry, IncidenceError>) -> Family {
    let room = |found: &Geometry| found.points() >= symbols as u64;
    let found = (2..25).filter_map(|dimension| geometry(dimension).ok()).find(room);
    Family::Geometry(found.expect("a geometry with room"))
}

/// All subsets of the size that tells most at ε = 1.
pub fn subsets(symbols: usize) -> Family {
    Family::Subsets(Subsets::new((symbols as f64 / (1f64.exp() + 1.0)).round() as usize))
}
