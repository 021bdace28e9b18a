//! Sibson's mutual information of order α: α/(α-1) · ln E_Y[ℓ_α(Y)].
//!
//! ZDS22 Definition 4 (13) and (15). α = 1 is I(X;Y), α = ∞ is maximal leakage, and it never
//! decreases in between.

use super::alpha_lift::{log_norm, weighed};
use super::{check_order, maximal_leakage, mutual_information};
use crate::{Channel, Distribution, Error};
use undertone_numeric::vector::log_sum_exp;

/// I_α(X;Y) for α from 1 to infinity.
pub fn leakage(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<f64, Error> {
    check_order(alpha)?;
    let channel = &*channel.under(prior)?;
    if alpha == 1.0 {
        return mutual_information::leakage(prior, channel);
    }
    if alpha == f64::INFINITY {
        return maximal_leakage::leakage(prior, channel);
    }
    let logs: Vec<f64> = prior.as_slice().iter().map(|p| p.ln()).collect();
    Ok(of_log_weights(&logs, channel, alpha))
}

/// I_α under the law whose probabilities have these logarithms, 1 < α < ∞.
///
/// `E[ℓ]` - 1 is summed output by output as (Σ w q^α)^(1/α) - Σ w q, each through its deviations: near α = 1,
/// and for small leakages, it is far smaller than its terms.
pub(super) fn of_log_weights(log_weights: &[f64], channel: &Channel, alpha: f64) -> f64 {
    let mut excess = 0.0;
    for y in 0..channel.outputs() {
        let column = || channel.column(y);
        let mass: f64 = log_weights.iter().zip(column()).map(|(log, q)| log.exp() * q).sum();
        excess += if mass > f64::MIN_POSITIVE {
            mass * log_norm(weighed(log_weights, column(), mass), alpha).exp_m1()
        } else {
            // Every weight that meets this output has underflowed; its norm need not have.
            let powers = log_weights.iter().zip(column()).map(|(log, q)| log + alpha * q.ln());
            (log_sum_exp(powers) / alpha).exp() - mass
        };
    }
    (alpha / (alpha - 1.0) * excess.ln_1p()).max(0.0)
}
