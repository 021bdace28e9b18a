//! Independent bits of a one-hot symbol.

use undertone_core::WEIGHT_ONE;

/// The probability of a set bit: the input's own, and every other.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    symbols: usize,
    pub(crate) own: f64,
    pub(crate) other: f64,
}

impl Bits {
    pub(super) fn new(bits: &undertone_core::Bits) -> Self {
        let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
        Self { symbols: bits.symbols(), own: share(bits.own()), other: share(bits.other()) }
    }

    pub(crate) fn symbols(&self) -> usize {
        self.symbols
    }

    /// How much likelier a bit is to be set when it is the input's own.
    pub(crate) fn gap(&self) -> f64 {
        self.own - self.other
    }

    pub(super) fn at(&self, x: usize, y: usize) -> f64 {
        if x == y { self.own } else { self.other }
    }

    pub(super) fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        let total: f64 = p.iter().sum();
        for (law, p) in law.iter_mut().zip(p) {
            *law = self.other * total + self.gap() * p;
        }
    }

    pub(super) fn back_into(&self, r: &[f64], means: &mut [f64]) {
        let all: f64 = self.other * r.iter().sum::<f64>();
        for (mean, r) in means.iter_mut().zip(r) {
            *mean = all + self.gap() * r;
        }
    }

    /// The variance of Σ weights over the set bits, given every x.
    pub(super) fn variances(&self, weights: &[f64]) -> Vec<f64> {
        let (own, other) = (self.own * (1.0 - self.own), self.other * (1.0 - self.other));
        let all: f64 = other * weights.iter().map(|w| w * w).sum::<f64>();
        weights.iter().map(|w| (all + (own - other) * w * w).max(0.0)).collect()
    }
}
