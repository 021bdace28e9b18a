//! Priors at the edges of what is allowed, and how long a search takes.

use undertone_design::Distribution;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{distribution, extreme};

/// How many rounds a search takes: `n`, or what UNDERTONE_ROUNDS says, for a longer look.
pub(crate) fn rounds(n: usize) -> usize {
    std::env::var("UNDERTONE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(n)
}

/// A prior of `n` symbols: flat, skewed, with tiny masses, or with masses of nought.
pub(crate) fn prior(dice: &mut Dice, n: usize) -> Distribution {
    distribution(&extreme(n, dice))
}

/// A budget in nats.
pub(crate) fn budget(dice: &mut Dice) -> f64 {
    if dice.unit() < 0.5 { dice.log_between(1e-6, 20.0) } else { 0.05 + 4.0 * dice.unit() }
}

/// An order above one.
pub(crate) fn order(dice: &mut Dice) -> f64 {
    1.0 + dice.log_between(1e-4, 1e4)
}
