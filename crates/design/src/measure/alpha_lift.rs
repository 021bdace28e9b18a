//! α-lift: the norm of order α of one output's lifts under the prior.
//!
//! ZDS22 Definition 5: ℓ_α(y) = (Σ P(x) lift(x,y)^α)^(1/α), from 1 at α = 1 to the largest lift
//! on the support at α = ∞. It is a lift, at least 1; the quantity comparable with an ε is its
//! logarithm (ZDS22 Proposition 1-2 as printed compares ℓ_α itself).

use super::moment::{Weighed, log_moment};
use super::{check_order, ln_ratio};
use crate::{Channel, Distribution, Error};

/// The largest α-lift over the outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlphaLift {
    /// max over y of ℓ_α(y), at least 1.
    pub lift: f64,
    /// Its logarithm, in nats.
    pub nats: f64,
    /// The output that attains it.
    pub at: usize,
}

/// max over y with P(y) > 0 of ℓ_α(y).
pub fn leakage(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<AlphaLift, Error> {
    let mut worst = AlphaLift { lift: 1.0, nats: f64::NEG_INFINITY, at: 0 };
    for (y, nats) in log_lifts(prior, channel, alpha)?.into_iter().enumerate() {
        if nats > worst.nats {
            worst = AlphaLift { lift: 1.0, nats, at: y };
        }
    }
    worst.nats = worst.nats.max(0.0);
    worst.lift = worst.nats.exp();
    Ok(worst)
}

/// ln ℓ_α(y) for every output, -∞ where P(y) = 0.
fn log_lifts(prior: &Distribution, channel: &Channel, alpha: f64) -> Result<Vec<f64>, Error> {
    check_order(alpha)?;
    let channel = channel.under(prior)?;
    let law = channel.output_law(prior)?;
    let logs: Vec<f64> = prior.as_slice().iter().map(|p| p.ln()).collect();
    let one_output = |y: usize| log_norm(weighed(&logs, channel.column(y), law[y]), alpha);
    Ok((0..law.len())
        .map(|y| if law[y] > 0.0 { one_output(y) } else { f64::NEG_INFINITY })
        .collect())
}

/// The lifts of one output of mass `mass`, each with the logarithm of its input's weight.
pub(super) fn weighed(
    log_weights: &[f64],
    column: impl Iterator<Item = f64> + Clone,
    mass: f64,
) -> impl Iterator<Item = Weighed> + Clone {
    log_weights.iter().zip(column).filter(|(log, _)| **log > f64::NEG_INFINITY).map(
        move |(&log_weight, q)| {
            let deviation = (q - mass) / mass;
            let near = deviation.abs() < 0.5;
            let log_lift = if near { deviation.ln_1p() } else { ln_ratio(q, mass) };
            Weighed { log_weight, deviation, log_lift }
        },
    )
}

/// ln (Σ w L^α)^(1/α), or the largest ln L where α is infinite.
pub(super) fn log_norm(lifts: impl Iterator<Item = Weighed> + Clone, alpha: f64) -> f64 {
    if alpha == f64::INFINITY {
        return lifts.map(|l| l.log_lift).fold(f64::NEG_INFINITY, f64::max);
    }
    log_moment(lifts, alpha) / alpha
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_one_two_and_infinity() {
        let (p, q) = ([0.2f64, 0.3, 0.5], [2.0, 0.5, 0.9]);
        let logs = p.map(f64::ln);
        let at = |alpha: f64| log_norm(weighed(&logs, q.into_iter(), 1.0), alpha);
        assert!((at(2.0) - (0.2f64 * 4.0 + 0.3 * 0.25 + 0.5 * 0.81).ln() / 2.0).abs() < 1e-15);
        assert!(at(1.0).abs() < 1e-16);
        assert_eq!(at(f64::INFINITY), 2f64.ln());
        assert!((at(1e6) - 2f64.ln()).abs() < 1e-5);
    }
}
