//! What every row of one column says about its true value.

mod builder;
mod design;
mod inverse;

pub use builder::{DesignId, EvidenceBuilder};
pub(crate) use design::{Design, Reading, Reported, is_set};
pub(crate) use inverse::Inverse;

use crate::{Error, Factor};
use undertone_core::Policy;

/// One column of n rows: for every row a code, and for every distinct code the likelihood of each of the column's symbols.
///
/// A clear value is the likelihood that is 1 at itself and 0 elsewhere; a randomised one has the policy's P(report | x). Rows
/// under several policies over one alphabet share one table of codes. Only codes that occur have a row in it, so that 10
/// million rows of a policy with 50 outputs are 10 million small integers and 50 rows of likelihoods.
///
/// Likelihoods of rows of bits are scaled to a largest of 1, which keeps a thousand bits from underflowing; the logarithm of
/// what was taken out is [`Evidence::log_factor`], and log-likelihoods stay true.
#[derive(Clone, Debug)]
pub struct Evidence {
    levels: Vec<String>,
    codes: Vec<u32>,
    /// Code after code, one likelihood for every symbol.
    likelihoods: Vec<f64>,
    log_factors: Vec<f64>,
    designs: Vec<Design>,
    readings: Vec<Reading>,
}

impl Evidence {
    /// A column that is not randomised: the symbols' names, and for every row the index of its own.
    pub fn clear(levels: Vec<String>, codes: Vec<u32>) -> Result<Self, Error> {
        let factor = Factor::new(levels, codes)?;
        let (levels, codes) = factor.into_parts();
        let mut builder = EvidenceBuilder::new(levels)?;
        let clear = builder.clear();
        for &code in &codes {
            builder.push_index(clear, code)?;
        }
        builder.finish()
    }

    /// A column of outputs of a policy that releases one symbol (`Table`, `Keep`), by their index.
    pub fn randomised(policy: &Policy, outputs: &[u32]) -> Result<Self, Error> {
        let mut builder = EvidenceBuilder::of_policy(policy)?;
        let design = builder.design(policy)?;
        for &output in outputs {
            builder.push_index(design, output)?;
        }
        builder.finish()
    }

    /// How many symbols the column's true values have.
    pub fn symbols(&self) -> usize {
        self.levels.len()
    }

    /// The symbols' names.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The code of every row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// How many distinct codes there are.
    pub fn distinct(&self) -> usize {
        self.log_factors.len()
    }

    /// The likelihood of every symbol given a code, up to the factor `exp(log_factor(code))`.
    pub fn likelihood(&self, code: u32) -> &[f64] {
        let size = self.symbols();
        &self.likelihoods[code as usize * size..][..size]
    }

    /// The logarithm of what [`Evidence::likelihood`] was divided by.
    pub fn log_factor(&self, code: u32) -> f64 {
        self.log_factors[code as usize]
    }

    /// Whether a code leaves no doubt, and of what.
    pub fn certain(&self, code: u32) -> Option<usize> {
        let mut positive = self.likelihood(code).iter().enumerate().filter(|(_, l)| **l > 0.0);
        match (positive.next(), positive.next()) {
            (Some((x, _)), None) => Some(x),
            _ => None,
        }
    }

    /// Whether every row is clear.
    pub fn is_clear(&self) -> bool {
        self.designs.iter().all(|design| matches!(design, Design::Clear { .. }))
    }

    pub(crate) fn designs(&self) -> &[Design] {
        &self.designs
    }

    /// What a code stands for, and under which design it was reported.
    pub(crate) fn reading(&self, code: u32) -> &Reading {
        &self.readings[code as usize]
    }
}
