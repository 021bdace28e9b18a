//! Arimoto's mutual information of order α, also called α-leakage.
//!
//! ZDS22 Definition 3 (11): α/(α-1) · ln(E_Y‖P(·|Y)‖_α / ‖P‖_α), which is Sibson's information
//! under the escort prior P^α/ΣP^α. α = 1 is I(X;Y); α = ∞ is (16), ln Σ_y max_x P(x,y) - ln Pmax.

use super::{check_order, mutual_information, sibson};
use crate::{Channel, Distribution, Error};

/// I_α(X;Y) for α from 1 to infinity.
pub fn leakage(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<f64, Error> {
    check_order(alpha)?;
    let channel = &*channel.under(prior)?;
    if alpha == 1.0 {
        return mutual_information::leakage(prior, channel);
    }
    if alpha == f64::INFINITY {
        let best = |y: usize| {
            channel.column(y).zip(prior.as_slice()).map(|(q, p)| p * q).fold(0.0, f64::max)
        };
        let guess: f64 = (0..channel.outputs()).map(best).sum();
        return Ok((guess / prior.max()).ln().max(0.0));
    }
    Ok(sibson::of_log_weights(&log_escort(prior, alpha), channel, alpha))
}

/// The logarithms of the escort law P^α/ΣP^α, -∞ outside the support.
///
/// As numbers the rare ones underflow at large orders, while P^α times a lift's power may be all that counts.
pub fn log_escort(prior: &Distribution, alpha: f64) -> Vec<f64> {
    let top = prior.max().ln();
    let powers: Vec<f64> = prior.as_slice().iter().map(|p| alpha * (p.ln() - top)).collect();
    let sum: f64 = powers.iter().map(|power| power.exp()).sum();
    powers.iter().map(|power| power - sum.ln()).collect()
}
