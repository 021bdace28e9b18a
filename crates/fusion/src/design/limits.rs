//! What one block must not exceed.

use crate::lift::LiftBounds;

/// Limits of one block: on the lifts of G, and on the odds between two likelihoods of an output.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Limits {
    /// `None`: G need not be hidden.
    pub(crate) lift: Option<LiftBounds>,
    /// e^ε of the readings; `None`: they need not be hidden.
    pub(crate) ldp: Option<f64>,
    /// The distance between laws that ST20's own condition allows.
    pub(crate) spread: Option<Spread>,
}

/// The laws of all outputs given any two values of G, one of which is the first with mass, are within
/// this total variation distance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    pub(crate) most: f64,
    pub(crate) prior: Vec<f64>,
}

impl Limits {
    /// These limits with shares of both levels, on a logarithmic scale.
    pub(crate) fn shared(&self, information: f64, ldp: f64) -> Self {
        let spread = |spread: &Spread| Spread { most: spread.most * information, ..spread.clone() };
        Self {
            lift: self.lift.as_ref().map(|lift| lift.scaled(information)),
            ldp: self.ldp.map(|odds| odds.powf(ldp)),
            spread: self.spread.as_ref().map(spread),
        }
    }
}

impl Spread {
    fn reference(&self) -> usize {
        self.prior.iter().position(|&p| p > 0.0).unwrap_or(0)
    }

    /// The values compared with the reference.
    pub(crate) fn compared(&self) -> impl Iterator<Item = usize> + '_ {
        (self.reference() + 1..self.prior.len()).filter(|&g| self.prior[g] > 0.0)
    }

    /// How mass with label `own` counts in the difference between the laws given g and the reference.
    pub(crate) fn factor(&self, own: usize, g: usize) -> f64 {
        if own == g {
            1.0 / self.prior[g]
        } else if own == self.reference() {
            -1.0 / self.prior[own]
        } else {
            0.0
        }
    }
}
