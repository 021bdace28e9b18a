//! A policy's channel in floats, with the operations estimation needs.
//!
//! Masses are multiples of 2^-48 and so exact as floats. Everything here costs O(k) for `Keep` and
//! `Bits` and one pass over the cells for `Table`; only what depends on which bits of a numbered block go together
//! takes a sum over all blocks.

mod bits;
mod blocks;
mod keep;
mod table;

pub(crate) use bits::{Bits, Joint};
pub(crate) use blocks::Blocks;
pub(crate) use keep::Keep;
pub(crate) use table::Table;

use crate::Error;
use std::borrow::Cow;
use undertone_core::Shape;
use undertone_numeric::vector::long_dot;

/// The most cells of listed blocks that are written out as a table.
const MOST_CELLS: usize = 1 << 22;

const UNEVEN: &str =
    "a list of blocks in which some pairs of symbols are together more often than others";

/// The shapes. Blocks of symbols are bits that go together.
#[derive(Clone, Debug)]
pub(crate) enum Channel {
    Table(Table),
    Keep(Keep),
    Bits(Bits),
}

impl Channel {
    /// Refuses blocks that neither treat all pairs of symbols alike nor are few.
    pub(crate) fn new(shape: &Shape) -> Result<Self, Error> {
        Ok(match shape {
            Shape::Table(table) => Self::Table(Table::new(table)),
            Shape::Keep(keep) => Self::Keep(Keep::new(keep)),
            Shape::Bits(bits) => Self::Bits(Bits::new(bits)),
            Shape::Incidence(incidence) => {
                match (Bits::of_incidence(incidence), Blocks::new(incidence)) {
                    (Some(bits), _) => Self::Bits(bits),
                    (None, Some(blocks)) => Self::Table(written(&blocks, UNEVEN)?),
                    // Subsets treat all pairs alike.
                    (None, None) => return Err(Error::malformed("blocks without numbers")),
                }
            }
        })
    }

    /// The bits, where reports are sets of symbols.
    pub(crate) fn bits(&self) -> Option<&Bits> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::Table(_) | Self::Keep(_) => None,
        }
    }

    /// Numbered blocks as a table of single outputs; other channels as they are.
    pub(crate) fn one_output(&self) -> Result<Cow<'_, Self>, Error> {
        match self.bits().and_then(Bits::blocks) {
            Some(blocks) => written(blocks, "blocks").map(|table| Cow::Owned(Self::Table(table))),
            None => Ok(Cow::Borrowed(self)),
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        match self {
            Self::Table(table) => table.inputs(),
            Self::Keep(keep) => keep.symbols(),
            Self::Bits(bits) => bits.symbols(),
        }
    }

    /// How many outputs; for `Bits`, how many bits.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Table(table) => table.outputs(),
            Self::Keep(_) | Self::Bits(_) => self.inputs(),
        }
    }

    /// w(y|x); for `Bits` the probability that bit y is set.
    pub(crate) fn at(&self, x: usize, y: usize) -> f64 {
        match self {
            Self::Table(table) => table.row(x)[y],
            Self::Keep(keep) => keep.at(x, y),
            Self::Bits(bits) => bits.at(x, y),
        }
    }

    /// The law of the outputs, or the probability of every bit, for a population `p`.
    pub(crate) fn forward(&self, p: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; self.outputs()];
        self.forward_into(p, &mut law);
        law
    }

    /// Writes the law of the outputs, or the probability of every bit, for a population `p` into `law`.
    pub(crate) fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        match self {
            Self::Table(table) => table.forward_into(p, law),
            Self::Keep(keep) => keep.forward_into(p, law),
            Self::Bits(bits) => bits.forward_into(p, law),
        }
    }

    /// Σ_y w(y|x) r(y) for every x: for `Table` and `Keep` the mean of r given x.
    pub(crate) fn back(&self, r: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.inputs()];
        self.back_into(r, &mut means);
        means
    }

    /// Writes Σ_y w(y|x) r(y) for every x into `means`.
    pub(crate) fn back_into(&self, r: &[f64], means: &mut [f64]) {
        match self {
            Self::Table(table) => table.back_into(r, means),
            Self::Keep(keep) => keep.back_into(r, means),
            Self::Bits(bits) => bits.back_into(r, means),
        }
    }

    /// The covariance, for a population `p`, of a report's score with each of its outputs or bits.
    pub(crate) fn covariances(&self, weights: &[f64], p: &[f64]) -> Vec<f64> {
        if let Self::Bits(bits) = self {
            return bits.covariances(weights, p);
        }
        let law = self.forward(p);
        let mean = long_dot(weights, &law);
        weights.iter().zip(&law).map(|(weight, law)| (weight - mean) * law).collect()
    }

    /// Σ_y w(y|x)² r(y) for every x (`Table` and `Keep`; zero for `Bits`).
    pub(crate) fn back_squares(&self, r: &[f64]) -> Vec<f64> {
        match self {
            Self::Table(table) => table.back_squares(r),
            Self::Keep(keep) => keep.back_squares(r),
            Self::Bits(bits) => vec![0.0; bits.symbols()],
        }
    }

    /// The mean and the variance, given every x, of a report's score: weight(y) of its output, or
    /// the sum of the weights of its set bits.
    pub(crate) fn moments(&self, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let means = self.back(weights);
        if let Self::Bits(bits) = self {
            let variances = bits.variances(weights, &means);
            return (means, variances);
        }
        let squares: Vec<f64> = weights.iter().map(|w| w * w).collect();
        let variance = |(square, mean): (&f64, &f64)| (square - mean * mean).max(0.0);
        let variances = self.back(&squares).iter().zip(&means).map(variance).collect();
        (means, variances)
    }
}

/// Numbered blocks as a table of all cells.
fn written(blocks: &Blocks, what: &'static str) -> Result<Table, Error> {
    let (symbols, outputs) = (blocks.inputs(), blocks.outputs());
    let cells = symbols.saturating_mul(outputs);
    if cells > MOST_CELLS {
        return Err(Error::TooLarge { what, cells, limit: MOST_CELLS });
    }
    let row = |x: usize| (0..outputs).map(move |y| blocks.at(x, y));
    Ok(Table::of_cells(outputs, (0..symbols).flat_map(row).collect()))
}
