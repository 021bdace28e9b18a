//! Unbiased scores of joint cells: products of the columns' own.

use super::joint::JointCodes;
use crate::evidence::Inverse;
use crate::{Error, Evidence};

/// The Kronecker product of the columns' generalised inverses, row by row: every report is inverted with the design it was made under.
#[derive(Clone, Debug)]
pub(super) struct JointScores {
    /// For every column and code, a score per symbol.
    by_code: Vec<Vec<Vec<f64>>>,
    /// For every column, the inverse of each of its designs.
    inverses: Vec<Vec<Inverse>>,
    /// The combinations of designs that occur, one per column, with their share of the rows' weight.
    pub(super) combinations: Vec<(Vec<u32>, f64)>,
    sizes: Vec<usize>,
}

impl JointScores {
    pub(super) fn new(
        columns: &[&Evidence],
        joint: &JointCodes,
        weights: &[f64],
    ) -> Result<Self, Error> {
        let mut inverses = Vec::new();
        let mut by_code = Vec::new();
        for column in columns {
            let own: Vec<Inverse> =
                column.designs().iter().map(Inverse::new).collect::<Result<_, _>>()?;
            let scores = |code: u32| {
                let reading = column.reading(code);
                own[reading.design as usize].scores(reading)
            };
            by_code.push((0..column.distinct() as u32).map(scores).collect());
            inverses.push(own);
        }
        let total: f64 = weights.iter().sum();
        let mut combinations: Vec<(Vec<u32>, f64)> = Vec::new();
        for (codes, weight) in joint.codes.iter().zip(weights) {
            let designs: Vec<u32> = columns
                .iter()
                .zip(codes)
                .map(|(column, &code)| column.reading(code).design)
                .collect();
            match combinations.iter_mut().find(|(known, _)| *known == designs) {
                Some((_, share)) => *share += weight / total,
                None => combinations.push((designs, weight / total)),
            }
        }
        let sizes = columns.iter().map(|column| column.symbols()).collect();
        Ok(Self { by_code, inverses, combinations, sizes })
    }

    /// Writes the scores of one combination of codes, a number for every joint cell.
    pub(super) fn write(&self, codes: &[u32], out: &mut [f64]) {
        let mut filled = 1;
        out[0] = 1.0;
        for ((scores, &code), &size) in self.by_code.iter().zip(codes).zip(&self.sizes) {
            let scores = &scores[code as usize];
            // From behind, so that nothing is overwritten before it was used.
            for at in (0..filled).rev() {
                let before = out[at];
                for (x, score) in scores.iter().enumerate().rev() {
                    out[at * size + x] = before * score;
                }
            }
            filled *= size;
        }
    }

    /// The scores of one column's code.
    pub(super) fn of_column(&self, column: usize, code: u32) -> &[f64] {
        &self.by_code[column][code as usize]
    }

    /// E[u(cell)² | the row's true cell is `truth`], over the combinations of designs.
    pub(super) fn square(&self, cell: &[usize], truth: &[usize]) -> f64 {
        let one = |(designs, share): &(Vec<u32>, f64)| {
            let factors = self.inverses.iter().zip(designs).zip(cell.iter().zip(truth));
            share
                * factors
                    .map(|((own, &design), (&a, &x))| own[design as usize].square(a, x))
                    .product::<f64>()
        };
        self.combinations.iter().map(one).sum()
    }

    /// Whether every row's design determines a cell: what unbiased scores need.
    pub(super) fn always_determined(&self, cell: &[usize]) -> bool {
        self.combinations.iter().all(|(designs, _)| self.determines(designs, cell))
    }

    fn determines(&self, designs: &[u32], cell: &[usize]) -> bool {
        let mut all = self.inverses.iter().zip(designs).zip(cell);
        all.all(|((own, &design), &a)| own[design as usize].determined()[a])
    }

    /// Whether every row's design determines the share of a symbol of one column.
    pub(super) fn column_determined(&self, column: usize, a: usize) -> bool {
        let known =
            |designs: &[u32]| self.inverses[column][designs[column] as usize].determined()[a];
        self.combinations.iter().all(|(designs, _)| known(designs))
    }

    /// E[g(a)² | x] of one column, over the combinations of designs.
    pub(super) fn column_square(&self, column: usize, a: usize, x: usize) -> f64 {
        let square = |designs: &[u32]| self.inverses[column][designs[column] as usize].square(a, x);
        self.combinations.iter().map(|(designs, share)| share * square(designs)).sum()
    }

    /// Whether all inverses are the only ones there are: then maximum likelihood and unbiased shares agree where these are possible.
    pub(super) fn are_unique(&self) -> bool {
        let [(designs, _)] = &self.combinations[..] else { return false };
        self.inverses.iter().zip(designs).all(|(own, &design)| own[design as usize].is_square())
    }
}
