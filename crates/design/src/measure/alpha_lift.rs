//! α-lift: the norm of order α of one output's lifts under the prior.
//!
//! ZDS22 Definition 5: ℓ_α(y) = (Σ P(x) lift(x,y)^α)^(1/α), from 1 at α = 1 to the largest lift
//! on the support at α = ∞. It is a lift, at least 1; the quantity comparable with an ε is its
//! logarithm (ZDS22 Proposition 1-2 as printed compares ℓ_α itself).

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
pub(super) fn log_lifts(
    prior: &Distribution,
    channel: &Channel,
    alpha: f64,
) -> Result<Vec<f64>, Error> {
    check_order(alpha)?;
    let channel = channel.under(prior)?;
    let law = channel.output_law(prior)?;
    let one_output = |y: usize| {
        let support = prior.as_slice().iter().zip(channel.column(y)).filter(|&(&p, _)| p > 0.0);
        log_norm(support.map(|(&p, q)| (p, ln_ratio(q, law[y]))), alpha)
    };
    Ok((0..law.len())
        .map(|y| if law[y] > 0.0 { one_output(y) } else { f64::NEG_INFINITY })
        .collect())
}

/// ln (Σ p L^α)^(1/α) from pairs (p, ln L) with Σ p L = 1.
fn log_norm(lifts: impl Iterator<Item = (f64, f64)> + Clone, alpha: f64) -> f64 {
    if alpha < 2.0 {
        // Σ p L^α - 1 = Σ p L (L^(α-1) - 1): small differences keep their digits down to α = 1.
        let t = alpha - 1.0;
        let term = |(p, log): (f64, f64)| (p.ln() + log).exp() * (t * log).exp_m1();
        return lifts.filter(|&(_, log)| log > f64::NEG_INFINITY).map(term).sum::<f64>().ln_1p()
            / alpha;
    }
    let top = lifts.clone().map(|(_, log)| log).fold(f64::NEG_INFINITY, f64::max);
    if alpha == f64::INFINITY {
        return top;
    }
    top + lifts.map(|(p, log)| p * (alpha * (log - top)).exp()).sum::<f64>().ln() / alpha
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_branches_agree_where_they_meet() {
        let lifts = [(0.2, 2f64.ln()), (0.3, 0.5f64.ln()), (0.5, 0.9f64.ln())];
        let below = log_norm(lifts.into_iter(), 2f64.next_down());
        let above = log_norm(lifts.into_iter(), 2.0);
        assert!((below - above).abs() < 1e-14, "{below} {above}");
        assert_eq!(log_norm(lifts.into_iter(), 1.0), 0.0);
        assert_eq!(log_norm(lifts.into_iter(), f64::INFINITY), 2f64.ln());
    }
}
