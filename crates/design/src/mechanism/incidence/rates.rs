//! How often a symbol is in the block that is released.

use undertone_core::MASS_ONE;
use undertone_core::incidence::Incidence;

use crate::Distribution;

/// The chance that the released block contains a symbol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// If it is the input: P.
    pub own: f64,
    /// If it is not: Q.
    pub other: f64,
}

impl Rates {
    /// From the integers of a family; `None` if it differs from pair to pair how many blocks two symbols share.
    pub fn of(incidence: &Incidence) -> Option<Self> {
        let own = incidence.coin() as f64 / MASS_ONE as f64;
        let [with, without] = incidence.together()?.map(|(part, of)| part as f64 / of as f64);
        Some(Self { own, other: own * with + (1.0 - own) * without })
    }

    /// Where a block is `ratio` times as likely from inside as from outside, `share` of all blocks contain a symbol, and a block
    /// with one symbol, or without it, contains another with the chances given.
    pub(super) fn at_ratio(ratio: f64, share: f64, with: f64, without: f64) -> Self {
        let weight = share * ratio;
        let own = if weight.is_infinite() { 1.0 } else { weight / (weight + 1.0 - share) };
        Self { own, other: own * with + (1.0 - own) * without }
    }

    /// All subsets of one size.
    pub(super) fn of_subsets(ratio: f64, symbols: usize, size: usize) -> Self {
        let others = symbols as f64 - 1.0;
        let (with, without) = ((size as f64 - 1.0) / others, size as f64 / others);
        Self::at_ratio(ratio, size as f64 / symbols as f64, with, without)
    }

    /// n times the variance of the unbiased estimate of a share that is nought: Q (1 - Q) / (P - Q)².
    pub fn variance_at_zero(self) -> f64 {
        self.variance_at(0.0)
    }

    /// n times the variance of the unbiased estimate of a share. Infinite where blocks say nothing.
    pub fn variance_at(self, share: f64) -> f64 {
        let gap = self.own - self.other;
        let set = self.other + share * gap;
        if gap == 0.0 { f64::INFINITY } else { set * (1.0 - set) / (gap * gap) }
    }

    /// n times the variances of the estimates of all shares, summed. An efficient estimate, which also uses how symbols go
    /// together in blocks, does at least as well.
    pub fn variance(self, prior: &Distribution) -> f64 {
        let squares = prior.as_slice().iter().map(|share| share * share).sum();
        self.total(prior.len(), squares)
    }

    /// n times the variances of the estimates of all shares, summed, from the sum of the squares of the shares.
    pub(super) fn total(self, symbols: usize, squares: f64) -> f64 {
        let (gap, other) = (self.own - self.other, self.other);
        if gap == 0.0 {
            return f64::INFINITY;
        }
        let noise = symbols as f64 * other * (1.0 - other) + gap * (1.0 - 2.0 * other);
        noise / (gap * gap) - squares
    }
}
