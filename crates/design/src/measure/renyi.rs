//! Rényi divergence D_α(p||q) = ln(Σ p^α q^(1-α)) / (α - 1).
//!
//! ZDS22 Definition 4, for every order α > 0: 1 is the limit Σ p ln(p/q) and ∞ is ln max p/q.

use super::ln_ratio;
use crate::{Distribution, Error};

/// D_α(p||q); infinite where p has mass that q lacks and α >= 1, or where they are disjoint.
pub fn divergence(p: &Distribution, q: &Distribution, alpha: f64) -> Result<f64, Error> {
    let q = q.in_order_of("the second distribution", p.symbols())?;
    if alpha.is_nan() || alpha <= 0.0 {
        return Err(Error::range("alpha", alpha, "above 0 (infinity is allowed)"));
    }
    let support = p.as_slice().iter().zip(q.as_slice()).filter(|&(&p, _)| p > 0.0);
    let logs: Vec<(f64, f64)> = support.map(|(&p, &q)| (p, ln_ratio(p, q))).collect();
    let largest = logs.iter().map(|&(_, log)| log).fold(f64::NEG_INFINITY, f64::max);
    if alpha == f64::INFINITY || (largest == f64::INFINITY && alpha >= 1.0) {
        return Ok(largest.max(0.0));
    }
    if alpha == 1.0 {
        return Ok(logs.iter().map(|&(p, log)| p * log).sum::<f64>().max(0.0));
    }
    // Σ p (p/q)^t with t = α - 1 is the mean of e^(t·log) under p. Written through expm1 it keeps its
    // digits near α = 1; far from it the largest exponent is taken out first.
    let t = alpha - 1.0;
    let top = logs.iter().map(|&(_, log)| t * log).fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return Ok(f64::INFINITY);
    }
    let total = if top.abs() < 1.0 {
        logs.iter().map(|&(p, log)| p * (t * log).exp_m1()).sum::<f64>().ln_1p()
    } else {
        top + logs.iter().map(|&(p, log)| p * (t * log - top).exp()).sum::<f64>().ln()
    };
    Ok((total / t).max(0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_limits() {
        let p = Distribution::new("p", vec![0.5, 0.5]).unwrap();
        let q = Distribution::new("q", vec![0.25, 0.75]).unwrap();
        // Σ p²/q = 1 + 1/3.
        assert!((divergence(&p, &q, 2.0).unwrap() - (4.0f64 / 3.0).ln()).abs() < 1e-15);
        let kl = 0.5 * 2f64.ln() + 0.5 * (2.0f64 / 3.0).ln();
        for alpha in [1.0, 1.0 + 1e-9, 1.0 - 1e-9] {
            assert!((divergence(&p, &q, alpha).unwrap() - kl).abs() < 1e-9, "{alpha}");
        }
        assert!((divergence(&p, &q, f64::INFINITY).unwrap() - 2f64.ln()).abs() < 1e-15);
        assert!((divergence(&p, &q, 1e5).unwrap() - 2f64.ln()).abs() < 1e-4);
        let half = -2.0 * ((0.125f64).sqrt() + (0.375f64).sqrt()).ln();
        assert!((divergence(&p, &q, 0.5).unwrap() - half).abs() < 1e-14);
    }

    #[test]
    fn missing_mass_is_infinite_from_order_one() {
        let p = Distribution::new("p", vec![0.5, 0.5]).unwrap();
        let q = Distribution::new("q", vec![1.0, 0.0]).unwrap();
        let r = Distribution::new("r", vec![0.0, 1.0]).unwrap();
        assert_eq!(divergence(&p, &q, 2.0).unwrap(), f64::INFINITY);
        assert_eq!(divergence(&p, &q, 1.0).unwrap(), f64::INFINITY);
        assert!((divergence(&p, &q, 0.5).unwrap() - 2f64.ln()).abs() < 1e-15);
        assert_eq!(divergence(&q, &r, 0.5).unwrap(), f64::INFINITY);
        assert!(divergence(&p, &q, f64::NAN).is_err());
    }
}
