//! Random priors and channels from fixed seeds.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_design::{Channel, Distribution};

pub(crate) const CASES: u64 = 300;
pub(crate) const SLACK: f64 = 1e-12;

/// Runs `check` on [`CASES`] generators with fixed seeds.
pub(crate) fn for_cases(check: impl Fn(&mut ChaCha12Rng)) {
    (0..CASES).for_each(|seed| check(&mut ChaCha12Rng::seed_from_u64(seed)));
}

pub(crate) fn unit(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
}

pub(crate) fn between(rng: &mut ChaCha12Rng, low: usize, high: usize) -> usize {
    low + (rng.next_u64() % (high - low + 1) as u64) as usize
}

/// A distribution with every probability positive, sometimes very uneven.
pub(crate) fn positive(rng: &mut ChaCha12Rng, n: usize) -> Distribution {
    let power = [0.3, 1.0, 4.0][between(rng, 0, 2)];
    let weights = (0..n).map(|_| (unit(rng) + 1e-3).powf(power)).collect();
    Distribution::normalised("random", weights).unwrap()
}

/// The same, but some probabilities may be zero.
pub(crate) fn sparse(rng: &mut ChaCha12Rng, n: usize) -> Distribution {
    let full = positive(rng, n);
    let kept = between(rng, 0, n - 1);
    let zeroed = |(x, &p): (usize, &f64)| if x != kept && unit(rng) < 0.3 { 0.0 } else { p };
    let weights = full.as_slice().iter().enumerate().map(zeroed).collect();
    Distribution::normalised("random", weights).unwrap()
}

pub(crate) fn channel_of(
    rng: &mut ChaCha12Rng,
    inputs: usize,
    outputs: usize,
    row: fn(&mut ChaCha12Rng, usize) -> Distribution,
) -> Channel {
    Channel::from_rows((0..inputs).map(|_| row(rng, outputs)).collect()).unwrap()
}

/// A prior and a channel of random small sizes, all cells positive.
pub(crate) fn positive_pair(rng: &mut ChaCha12Rng) -> (Distribution, Channel) {
    let (inputs, outputs) = (between(rng, 1, 6), between(rng, 1, 6));
    (positive(rng, inputs), channel_of(rng, inputs, outputs, positive))
}

/// The same with zeros in both.
pub(crate) fn sparse_pair(rng: &mut ChaCha12Rng) -> (Distribution, Channel) {
    let (inputs, outputs) = (between(rng, 1, 5), between(rng, 1, 5));
    (sparse(rng, inputs), channel_of(rng, inputs, outputs, sparse))
}

#[track_caller]
pub(crate) fn assert_close(ours: f64, expected: f64) {
    let same = ours == expected || (ours - expected).abs() <= SLACK * expected.abs().max(1.0);
    assert!(same, "ours {ours:e}, expected {expected:e}");
}
