//! Arimoto's mutual information of order α, also called α-leakage.
//!
//! ZDS22 Definition 3 (11): α/(α-1) · ln(E_Y‖P(·|Y)‖_α / ‖P‖_α), which is Sibson's information
//! under the escort prior P^α/ΣP^α. α = 1 is I(X;Y); α = ∞ is (16), ln Σ_y max_x P(x,y) - ln Pmax.

use super::{check_order, sibson};
use crate::{Channel, Distribution, Error};

/// Above this order the escort prior may underflow on rare symbols that matter; norms are taken directly.
const LARGEST_ESCORT: f64 = 2.0;

/// I_α(X;Y) for α from 1 to infinity.
pub fn leakage(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<f64, Error> {
    check_order(alpha)?;
    let channel = &*channel.under(prior)?;
    if alpha <= LARGEST_ESCORT {
        let escort = prior.as_slice().iter().map(|p| p.powf(alpha)).collect();
        return sibson::leakage(&prior.reweighed("escort prior", escort)?, channel, alpha);
    }
    let joint = |y| channel.column(y).zip(prior.as_slice()).map(|(q, p)| p * q);
    let guess: f64 = (0..channel.outputs()).map(|y| norm(joint(y), alpha)).sum();
    let factor = if alpha == f64::INFINITY { 1.0 } else { alpha / (alpha - 1.0) };
    let blind = norm(prior.as_slice().iter().copied(), alpha);
    Ok((factor * (guess / blind).ln()).max(0.0))
}

/// ‖v‖_α of non-negative numbers, scaled by the largest so that no power underflows altogether.
fn norm(values: impl Iterator<Item = f64> + Clone, alpha: f64) -> f64 {
    let top = values.clone().fold(0.0, f64::max);
    if top == 0.0 || alpha == f64::INFINITY {
        return top;
    }
    top * values.map(|v| (v / top).powf(alpha)).sum::<f64>().powf(1.0 / alpha)
}
