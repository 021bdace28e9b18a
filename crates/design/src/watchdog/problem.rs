//! What there is to guard: a joint law and a budget, in the form every method works on.

use super::Budget;
use crate::{Error, Joint};

/// Lifts that differ from one by less than this are one.
pub(super) const FLAT: f64 = 1e-13;

/// A block may miss its budget by this many nats and count as within it: the float error of sums of
/// probabilities. The kernel, which decides what ships, allows nothing.
const FLOAT_ERROR: f64 = 1e-12;

/// A joint law P(s,x) seen symbol by symbol, with a budget. Only symbols with mass take part; here they
/// are numbered from 0 without gaps.
#[derive(Debug, Clone)]
pub struct WatchdogProblem {
    pub(super) joint: Joint,
    /// One block per symbol with mass.
    pub(super) singles: Vec<Block>,
    /// What each of them is called in the joint law.
    pub(super) names: Vec<usize>,
    /// Symbols of the joint law, those without mass included.
    pub(super) symbols: usize,
    /// H(X), positive.
    pub(super) entropy: f64,
    pub(super) budget: Budget,
    /// The least and largest lift that count as within the budget.
    floor: f64,
    ceiling: f64,
}

/// Symbols released as one: the members, P(block|s) for every s, and P(block).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    pub(super) members: Vec<usize>,
    given: Vec<f64>,
    pub(super) mass: f64,
}

impl Block {
    /// Both blocks released as one.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut members = [self.members.as_slice(), &other.members].concat();
        members.sort_unstable();
        let given = self.given.iter().zip(&other.given).map(|(a, b)| a + b).collect();
        Self { members, given, mass: self.mass + other.mass }
    }

    /// The least and the largest lift of any secret value: P(block|s)/P(block), ZDS22 (7), (8).
    pub(super) fn lifts(&self) -> (f64, f64) {
        let least = self.given.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = self.given.iter().copied().fold(0.0, f64::max);
        (least / self.mass, largest / self.mass)
    }

    /// What merging with `other` costs in I(X;Y): (a+b) h(a/(a+b)) for masses a and b.
    pub(super) fn loss_with(&self, other: &Self) -> f64 {
        term(self.mass + other.mass, self.mass, other.mass)
    }
}

fn term(whole: f64, a: f64, b: f64) -> f64 {
    a * (whole / a).ln() + b * (whole / b).ln()
}

impl WatchdogProblem {
    /// Refuses data without entropy: there is nothing to release, and NMI is undefined.
    pub fn new(joint: &Joint, budget: Budget) -> Result<Self, Error> {
        let data = joint.data()?;
        let entropy = data.entropy();
        let names: Vec<usize> = (0..data.len()).filter(|&x| data[x] > 0.0).collect();
        if names.len() < 2 || !(entropy > 0.0) {
            return Err(Error::other(
                "joint",
                "the data X takes one value only (H(X) = 0), so there is nothing to release: give a joint law with at least two columns of positive mass",
            ));
        }
        let single = |(at, &x): (usize, &usize)| {
            let given = joint.given_secret().column(x).collect();
            Block { members: vec![at], given, mass: data[x] }
        };
        let singles = names.iter().enumerate().map(single).collect();
        Ok(Self {
            joint: joint.clone(),
            singles,
            names,
            symbols: data.len(),
            entropy,
            budget,
            floor: (-budget.lower() - FLOAT_ERROR).exp(),
            ceiling: (budget.upper() + FLOAT_ERROR).exp(),
        })
    }

    /// I(X;Y) as a share of H(X); float error at the ends is cut off.
    pub(super) fn normalised(&self, information: f64) -> f64 {
        (information / self.entropy).clamp(0.0, 1.0)
    }

    /// How many symbols have mass.
    pub(super) fn len(&self) -> usize {
        self.singles.len()
    }

    /// P(x) of the symbols with mass.
    pub(super) fn data(&self) -> Vec<f64> {
        self.singles.iter().map(|single| single.mass).collect()
    }

    /// How many values the secret has.
    pub(super) fn secrets(&self) -> usize {
        self.joint.secret().len()
    }

    /// Lift minus one of secret value `s`, symbol by symbol: P(x|s)/P(x) - 1.
    ///
    /// As an average of differences between rows it keeps its digits where the lift is all but one,
    /// as it is for the likeliest value of a secret that is nearly always the same.
    pub(super) fn deviations(&self, s: usize) -> Vec<f64> {
        let prior = self.joint.secret().as_slice();
        let deviation = |single: &Block| {
            let others = prior.iter().zip(&single.given);
            others.map(|(p, given)| p * (single.given[s] - given)).sum::<f64>() / single.mass
        };
        self.singles.iter().map(deviation).collect()
    }

    /// How many nats the worst lift of a block is outside the budget; not positive within it, infinite
    /// where the block rules out a value of the secret.
    pub(super) fn excess(&self, block: &Block) -> f64 {
        let (least, largest) = block.lifts();
        (largest.ln() - self.budget.upper()).max(-least.ln() - self.budget.lower())
    }

    /// Whether a block may be released.
    pub(super) fn allows(&self, block: &Block) -> bool {
        let floor = self.floor * block.mass;
        let ceiling = self.ceiling * block.mass;
        block.given.iter().all(|given| *given >= floor && *given <= ceiling)
    }

    /// Some symbols released as one.
    pub(super) fn block(&self, members: impl IntoIterator<Item = usize>) -> Option<Block> {
        members.into_iter().map(|x| self.singles[x].clone()).reduce(|all, one| all.with(&one))
    }

    /// The symbols that may be released as they are, by their own names; ZDS22 Definition 2 (5). A
    /// symbol with P(s,x) = 0 for some s is not among them, nor is one without mass, of which the law
    /// says nothing.
    pub fn low_risk(&self) -> Vec<usize> {
        let low = self.singles.iter().zip(&self.names).filter(|(single, _)| self.allows(single));
        low.map(|(_, &name)| name).collect()
    }

    /// Low-risk and high-risk symbols, by position.
    pub(super) fn split(&self) -> (Vec<usize>, Vec<usize>) {
        (0..self.len()).partition(|&x| self.allows(&self.singles[x]))
    }
}
