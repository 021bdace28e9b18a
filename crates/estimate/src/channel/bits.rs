//! Reports that are sets of symbols: one bit for each, and the input's own likelier or less likely than the others.

use crate::channel::Blocks;
use undertone_core::incidence::{Family, Incidence};
use undertone_core::{MASS_ONE, WEIGHT_ONE};
use undertone_numeric::vector::long_dot;

/// The probability of a set bit: the input's own, and every other; and how the bits of one report go together.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    symbols: usize,
    pub(crate) own: f64,
    pub(crate) other: f64,
    pub(crate) joint: Joint,
}

/// How the bits of one report go together.
#[derive(Clone, Debug)]
pub(crate) enum Joint {
    /// Each by itself.
    Independent,
    /// So many are set, all choices of the others' being equally likely.
    Subset(usize),
    /// They are a numbered block, which is what a report says.
    Blocks(Blocks),
}

impl Bits {
    pub(super) fn new(bits: &undertone_core::Bits) -> Self {
        let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
        let (own, other) = (share(bits.own()), share(bits.other()));
        Self { symbols: bits.symbols(), own, other, joint: Joint::Independent }
    }

    /// `None` if two symbols are together more often than two others.
    pub(super) fn of_incidence(incidence: &Incidence) -> Option<Self> {
        let [inside, outside] = incidence.together()?.map(|(some, all)| some as f64 / all as f64);
        let own = incidence.coin() as f64 / MASS_ONE as f64;
        let joint = match incidence.family() {
            Family::Subsets(subsets) => Joint::Subset(subsets.size()),
            Family::Geometry(_) | Family::Listed(_) => Joint::Blocks(Blocks::new(incidence)?),
        };
        let other = own * inside + (1.0 - own) * outside;
        Some(Self { symbols: incidence.symbols(), own, other, joint })
    }

    /// The blocks, where a report is the number of one.
    pub(crate) fn blocks(&self) -> Option<&Blocks> {
        match &self.joint {
            Joint::Blocks(blocks) => Some(blocks),
            Joint::Independent | Joint::Subset(_) => None,
        }
    }

    /// With the symbols in another order: only numbered blocks tell them apart.
    pub(crate) fn reordered(self, order: &[usize]) -> Self {
        let joint = match self.joint {
            Joint::Blocks(blocks) => Joint::Blocks(blocks.reordered(order)),
            alike => alike,
        };
        Self { joint, ..self }
    }

    pub(crate) fn symbols(&self) -> usize {
        self.symbols
    }

    /// How much likelier a bit is to be set when it is the input's own.
    pub(crate) fn gap(&self) -> f64 {
        self.own - self.other
    }

    /// The likelihoods of an input whose own bit is set and of one whose own is not, up to a common factor.
    pub(crate) fn likelihoods(&self) -> (f64, f64) {
        match &self.joint {
            Joint::Independent => (self.own * (1.0 - self.other), self.other * (1.0 - self.own)),
            Joint::Subset(size) => {
                let (size, rest) = (*size as f64, (self.symbols - size) as f64);
                (self.own * rest, (1.0 - self.own) * size)
            }
            Joint::Blocks(blocks) => (blocks.inside, blocks.outside),
        }
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

    /// The variance of Σ weights over the set bits, given every x; `means` are the means.
    pub(super) fn variances(&self, weights: &[f64], means: &[f64]) -> Vec<f64> {
        match &self.joint {
            Joint::Independent => {
                let (own, other) = (self.own * (1.0 - self.own), self.other * (1.0 - self.other));
                let all: f64 = other * weights.iter().map(|w| w * w).sum::<f64>();
                weights.iter().map(|w| (all + (own - other) * w * w).max(0.0)).collect()
            }
            Joint::Subset(size) => self.subset_variances(*size, weights),
            Joint::Blocks(blocks) => {
                let variance = |(square, mean): (f64, &f64)| (square - mean * mean).max(0.0);
                blocks.squares(weights).into_iter().zip(means).map(variance).collect()
            }
        }
    }

    /// The probability that two bits are both set, given a third symbol and given one of the two; `None` where it depends on which.
    pub(crate) fn pairs(&self) -> Option<(f64, f64)> {
        match &self.joint {
            Joint::Independent => Some((self.other * self.other, self.own * self.other)),
            Joint::Subset(size) => {
                let (size, others) = (*size as f64, (self.symbols - 1) as f64);
                // With two symbols there is no third.
                let two = (others * (others - 1.0)).max(1.0);
                let (with, without) =
                    ((size - 1.0) * (size - 2.0) / two, size * (size - 1.0) / two);
                let third = self.own * with + (1.0 - self.own) * without;
                Some((third, self.own * (size - 1.0) / others))
            }
            Joint::Blocks(_) => None,
        }
    }

    /// The covariance, for a population `p`, of Σ weights over the set bits with each bit.
    pub(super) fn covariances(&self, weights: &[f64], p: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; p.len()];
        self.forward_into(p, &mut theta);
        let mean = long_dot(weights, &theta);
        if let Joint::Blocks(blocks) = &self.joint {
            let law = blocks.forward(p);
            let products = blocks.block_sums(weights).into_iter().zip(law);
            let both =
                blocks.symbol_sums(&products.map(|(sum, law)| sum * law).collect::<Vec<_>>());
            return both.iter().zip(&theta).map(|(both, theta)| both - mean * theta).collect();
        }
        // Two bits: `third` + `own` times the shares of both symbols.
        let (third, mine) = self.pairs().unwrap_or_default();
        let own = mine - third;
        let (sum, shared) = (weights.iter().sum::<f64>(), long_dot(weights, p));
        let one = |((w, p), theta): ((&f64, &f64), &f64)| {
            let others = (sum - w) * (third + own * p) + own * (shared - w * p);
            w * theta + others - mean * theta
        };
        weights.iter().zip(p).zip(&theta).map(one).collect()
    }

    /// How many terms a sum over all reports of bits that go together has.
    pub(crate) fn terms(&self) -> usize {
        match &self.joint {
            Joint::Independent => 0,
            Joint::Subset(_) => self.symbols,
            Joint::Blocks(blocks) => blocks.outputs(),
        }
    }

    /// The least and the greatest Σ weights over the set bits of any report.
    pub(crate) fn ends(&self, weights: &[f64]) -> (f64, f64) {
        match &self.joint {
            Joint::Independent => {
                let sum = |part: fn(f64) -> f64| weights.iter().map(|w| part(*w)).sum::<f64>();
                (sum(|w| w.min(0.0)), sum(|w| w.max(0.0)))
            }
            Joint::Subset(size) => {
                let mut rising = weights.to_vec();
                rising.sort_unstable_by(f64::total_cmp);
                let (least, most) = (&rising[..*size], &rising[rising.len() - size..]);
                (least.iter().sum(), most.iter().sum())
            }
            Joint::Blocks(blocks) => crate::estimator::bounds(&blocks.block_sums(weights)),
        }
    }

    /// The input's own bit, and beside it so many of the others as are left, drawn without replacement.
    fn subset_variances(&self, size: usize, weights: &[f64]) -> Vec<f64> {
        let others = (self.symbols - 1) as f64;
        // As many bits are set in every report, so a common weight does not vary.
        let common = weights.iter().sum::<f64>() / weights.len() as f64;
        let all: f64 = weights.iter().map(|w| (w - common) * (w - common)).sum();
        let one = |w: &f64| {
            let own = w - common;
            // The others' weights sum to minus this one.
            let (mean, scatter) = (-own / others, (all - own * own - own * own / others).max(0.0));
            let drawn = |count: f64| {
                let apart = (others * (others - 1.0)).max(1.0);
                (count * mean, count * (others - count) / apart * scatter)
            };
            let (with, without) = (drawn(size as f64 - 1.0), drawn(size as f64));
            let gap = own + with.0 - without.0;
            let (hit, miss) = (self.own, 1.0 - self.own);
            hit * with.1 + miss * without.1 + hit * miss * gap * gap
        };
        weights.iter().map(one).collect()
    }
}
