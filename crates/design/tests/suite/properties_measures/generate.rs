//! Random priors and channels from fixed seeds.

use undertone_design::{Channel, Distribution};
use undertone_testkit::channel::{channel, rows};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{self, distribution};

pub(crate) const CASES: u64 = 300;
pub(crate) const SLACK: f64 = 1e-12;

/// Runs `check` on [`CASES`] dice with fixed seeds.
pub(crate) fn for_cases(check: impl Fn(&mut Dice)) {
    (0..CASES).for_each(|seed| check(&mut Dice::new(seed)));
}

/// A distribution with every probability positive, sometimes very uneven.
pub(crate) fn positive(dice: &mut Dice, n: usize) -> Distribution {
    distribution(&law::uneven(n, dice))
}

/// A distribution some of whose probabilities may be zero.
pub(crate) fn sparse(dice: &mut Dice, n: usize) -> Distribution {
    distribution(&law::sparse(n, dice))
}

pub(crate) fn channel_of(
    dice: &mut Dice,
    inputs: usize,
    outputs: usize,
    row: fn(usize, &mut Dice) -> Vec<f64>,
) -> Channel {
    channel(&rows(inputs, outputs, row, dice))
}

/// A prior and a channel of random small sizes, all cells positive.
pub(crate) fn positive_pair(dice: &mut Dice) -> (Distribution, Channel) {
    let (inputs, outputs) = (dice.count(1, 6), dice.count(1, 6));
    (positive(dice, inputs), channel_of(dice, inputs, outputs, law::uneven))
}

/// A prior and a channel of random small sizes, with zeros in both.
pub(crate) fn sparse_pair(dice: &mut Dice) -> (Distribution, Channel) {
    let (inputs, outputs) = (dice.count(1, 5), dice.count(1, 5));
    (sparse(dice, inputs), channel_of(dice, inputs, outputs, law::sparse))
}

#[track_caller]
pub(crate) fn assert_close(ours: f64, expected: f64) {
    let same = ours == expected || (ours - expected).abs() <= SLACK * expected.abs().max(1.0);
    assert!(same, "ours {ours:e}, expected {expected:e}");
}
