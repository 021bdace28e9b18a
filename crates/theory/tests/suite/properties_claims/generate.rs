//! Priors, orders and how long a search takes.

use undertone_design::Distribution;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{distribution, extreme};

/// A prior of `n` symbols: flat, skewed, with tiny masses, or with masses of nought.
pub(crate) fn prior(dice: &mut Dice, n: usize) -> Distribution {
    distribution(&extreme(n, dice))
}

/// An order above one.
pub(crate) fn order(dice: &mut Dice) -> f64 {
    1.0 + dice.log_between(1e-4, 1e4)
}
