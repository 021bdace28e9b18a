//! The strongest observer of a network: it knows the model and every map, hears all outputs, and
//! remembers them for as long as G stays the same.

use undertone_core::Nats;
use undertone_design::Error;

use crate::rule::Posterior;
use crate::{Bundle, FusionRule};

/// Bayes' rule for G over epochs that are independent given G: no attacker errs less often.
#[derive(Debug, Clone)]
pub struct Attacker {
    rule: FusionRule,
    prior: Vec<f64>,
    /// ln P(g) + Σ ln P(z_τ | g), up to a constant.
    belief: Vec<f64>,
}

impl Attacker {
    /// One that has heard nothing yet.
    pub fn new(bundle: &Bundle) -> Result<Self, Error> {
        let prior = bundle.float_model()?.private_law();
        let belief = prior.iter().map(|p| p.ln()).collect();
        Ok(Self { rule: bundle.rule()?, prior, belief })
    }

    /// Hears one epoch's outputs.
    pub fn hear(&mut self, outputs: &[Option<usize>]) -> Result<(), Error> {
        let Posterior { private, impossible, .. } = self.rule.posterior(outputs)?;
        if !impossible {
            for ((belief, after), before) in self.belief.iter_mut().zip(private).zip(&self.prior) {
                if *before > 0.0 {
                    *belief += (after / before).ln();
                }
            }
        }
        Ok(())
    }

    /// The most likely value of G; ties go to the lower one.
    pub fn guess(&self) -> usize {
        let better = |best: usize, g: usize| {
            if self.belief[g] > self.belief[best] { g } else { best }
        };
        (1..self.belief.len()).fold(0, better)
    }

    /// Forgets everything: G is a new one.
    pub fn forget(&mut self) {
        self.belief = self.prior.iter().map(|p| p.ln()).collect();
    }
}

/// Between what belief in a value of G of probability `prior` can lie when no belief moves by more than `information`: after
/// any outputs, P(g) e^-ε <= P(g|z) <= P(g) e^ε, and the same of all other values together. Never too narrow.
pub fn belief_range(prior: f64, information: Option<Nats>) -> (f64, f64) {
    let Some(information) = information else { return (0.0, 1.0) };
    let (factor, other) = ((information.units() as f64 * 1e-10).exp(), 1.0 - prior);
    let least = (prior / factor).max(1.0 - other * factor);
    let most = (prior * factor).min(1.0 - other / factor);
    // More than the rounding of these few steps.
    ((least - 1e-14).max(0.0), (most + 1e-14).min(1.0))
}

/// The least error any guess of G can have when no belief moves by more than `information`.
pub fn least_error(prior: &[f64], information: Option<Nats>) -> f64 {
    let possible = prior.iter().filter(|&&p| p > 0.0);
    possible.map(|&p| 1.0 - belief_range(p, information).1).fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_error_is_blind_at_zero_and_nothing_without_a_bound() {
        assert!((least_error(&[0.5, 0.5], Some(Nats::ZERO)) - 0.5).abs() < 1e-13);
        assert!((least_error(&[0.7, 0.3], Some(Nats::ZERO)) - 0.3).abs() < 1e-13);
        assert_eq!(least_error(&[0.5, 0.5], None), 0.0);
        // Randomised response at e^ε = 3 has error 1/4 and ε_I = ln 2 (falling belief).
        let two = Nats::from_units(6_931_471_806);
        assert!(least_error(&[0.5, 0.5], Some(two)) <= 0.25 + 1e-9);
    }
    #[test]
    fn belief_stays_where_the_certificate_says() {
        let (low, high) = belief_range(0.05, Some(Nats::from_units(6_931_471_806)));
        assert!(low <= 0.025 && low > 0.024_999, "{low}");
        assert!((0.1..0.100_001).contains(&high), "{high}");
        // What is likely is bounded by what becomes of the rest: one half in twenty.
        let (low, high) = belief_range(0.95, Some(Nats::from_units(6_931_471_806)));
        assert!(
            low <= 0.9 && low > 0.899_999 && (0.975..0.975_001).contains(&high),
            "{low} {high}"
        );
        assert_eq!(belief_range(0.3, None), (0.0, 1.0));
        let (low, high) = belief_range(0.3, Some(Nats::ZERO));
        assert!(low <= 0.3 && 0.3 <= high && high - low < 1e-13);
    }
}
