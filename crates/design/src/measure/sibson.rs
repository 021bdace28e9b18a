//! Sibson's mutual information of order α: α/(α-1) · ln E_Y[ℓ_α(Y)].
//!
//! ZDS22 Definition 4 (13) and (15). α = 1 is I(X;Y), α = ∞ is maximal leakage, and it never
//! decreases in between.

use super::{alpha_lift, mutual_information};
use crate::{Channel, Distribution, Error};

/// I_α(X;Y) for α from 1 to infinity.
pub fn leakage(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<f64, Error> {
    if alpha == 1.0 {
        return mutual_information::leakage(prior, channel);
    }
    let law = channel.output_law(prior)?;
    let lifts = alpha_lift::log_lifts(prior, channel, alpha)?;
    // E[ℓ] - 1 through expm1: near α = 1 it is of the size of α - 1, which divides it below.
    let seen = law.as_slice().iter().zip(lifts).filter(|&(&p, _)| p > 0.0);
    let excess: f64 = seen.map(|(p, log)| p * log.exp_m1()).sum();
    let factor = if alpha == f64::INFINITY { 1.0 } else { alpha / (alpha - 1.0) };
    Ok((factor * excess.ln_1p()).max(0.0))
}
