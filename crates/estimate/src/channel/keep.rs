//! Keep the input or draw from a base: one diagonal and one rank.

use undertone_core::{KEEP_ONE, MASS_ONE};

/// λ(x), the probability of keeping x, and the base distribution.
#[derive(Clone, Debug)]
pub(crate) struct Keep {
    pub(crate) keep: Vec<f64>,
    pub(crate) base: Vec<f64>,
}

impl Keep {
    pub(super) fn new(keep: &undertone_core::Keep) -> Self {
        Self {
            keep: keep.keep().iter().map(|&k| k as f64 / KEEP_ONE as f64).collect(),
            base: keep.base().masses().iter().map(|&b| b as f64 / MASS_ONE as f64).collect(),
        }
    }

    pub(crate) fn symbols(&self) -> usize {
        self.keep.len()
    }

    pub(super) fn at(&self, x: usize, y: usize) -> f64 {
        let drawn = (1.0 - self.keep[x]) * self.base[y];
        if x == y { self.keep[x] + drawn } else { drawn }
    }

    /// The one λ, if all are equal.
    pub(crate) fn constant(&self) -> Option<f64> {
        let first = *self.keep.first()?;
        self.keep.iter().all(|&k| k == first).then_some(first)
    }

    /// The share of a population that is not kept: Σ p(x)(1 - λ(x)).
    pub(crate) fn drawn(&self, p: &[f64]) -> f64 {
        self.keep.iter().zip(p).map(|(keep, p)| (1.0 - keep) * p).sum()
    }

    pub(super) fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        let drawn = self.drawn(p);
        for (((law, p), keep), base) in law.iter_mut().zip(p).zip(&self.keep).zip(&self.base) {
            *law = keep * p + drawn * base;
        }
    }

    pub(super) fn back_into(&self, r: &[f64], means: &mut [f64]) {
        let by_base: f64 = self.base.iter().zip(r).map(|(base, r)| base * r).sum();
        for ((mean, r), keep) in means.iter_mut().zip(r).zip(&self.keep) {
            *mean = keep * r + (1.0 - keep) * by_base;
        }
    }

    pub(super) fn back_squares(&self, r: &[f64]) -> Vec<f64> {
        let by_base: f64 = self.base.iter().zip(r).map(|(base, r)| base * base * r).sum();
        let one = |x: usize| {
            let rest = 1.0 - self.keep[x];
            let own = self.keep[x] + rest * self.base[x];
            rest * rest * (by_base - self.base[x] * self.base[x] * r[x]).max(0.0) + own * own * r[x]
        };
        (0..self.symbols()).map(one).collect()
    }
}
