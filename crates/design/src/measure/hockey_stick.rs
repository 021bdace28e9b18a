//! Hockey-stick curves: the least δ as a function of ε.
//!
//! Both curves are non-increasing in ε and, as functions of e^ε, convex and piecewise linear.

use super::{delta, ldp};
use crate::{Channel, Distribution, Error};

/// For each ε the least δ of LIP, `conditional` convention (JSTL21 Corollary 9).
pub fn lip(prior: &Distribution, channel: &Channel, epsilons: &[f64]) -> Result<Vec<f64>, Error> {
    epsilons.iter().map(|&epsilon| delta::conditional(prior, channel, epsilon)).collect()
}

/// For each ε the least δ of LDP (JSTL21 Definition 1).
pub fn ldp(channel: &Channel, epsilons: &[f64]) -> Result<Vec<f64>, Error> {
    epsilons.iter().map(|&epsilon| ldp::delta(channel, epsilon).map(|(delta, _)| delta)).collect()
}
