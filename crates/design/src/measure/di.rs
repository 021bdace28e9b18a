//! Differential identifiability: the largest posterior odds between two inputs.
//!
//! JSTL21 Definition 3, read on singletons (on sets even a constant channel over four equal
//! symbols has odds of 3): ln max P(x|y)/P(x'|y). A channel that reveals nothing still has
//! ln(Pmax/Pmin), and a zero-mass symbol makes it infinite.

use super::{Leakage, Pair, worst_spread};
use crate::{Channel, Distribution, Error};

/// ln max over x, x', y of P(x)q(y|x) / (P(x')q(y|x')).
pub fn leakage(prior: &Distribution, channel: &Channel) -> Result<Leakage<Pair>, Error> {
    let channel = &*channel.under(prior)?;
    let joint = |y| channel.column(y).zip(prior.as_slice()).map(|(q, p)| p * q).enumerate();
    Ok(worst_spread((0..channel.outputs()).map(|y| (y, joint(y)))))
}
