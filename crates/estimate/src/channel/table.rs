//! Dense rows.

use undertone_core::MASS_ONE;
use undertone_numeric::vector::long_dot;

/// One row per input, row after row.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    outputs: usize,
    cells: Vec<f64>,
}

impl Table {
    pub(super) fn new(table: &undertone_core::Table) -> Self {
        let masses = table.rows().iter().flat_map(|row| row.masses());
        let cells = masses.map(|&mass| mass as f64 / MASS_ONE as f64).collect();
        Self { outputs: table.outputs(), cells }
    }

    /// From cells, row after row; there is at least one output.
    pub(crate) fn of_cells(outputs: usize, cells: Vec<f64>) -> Self {
        Self { outputs, cells }
    }

    /// The rows in another order: `order[x]` is the place of what becomes row x.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let cells = order.iter().flat_map(|&x| self.row(x)).copied().collect();
        Self { outputs: self.outputs, cells }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.cells.len() / self.outputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(crate) fn row(&self, x: usize) -> &[f64] {
        &self.cells[x * self.outputs..(x + 1) * self.outputs]
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.outputs)
    }

    pub(super) fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        law.fill(0.0);
        // Four rows at a time, so that the sums are fetched and stored a quarter as often.
        let (fours, rest) = p.as_chunks::<4>();
        let mut blocks = self.cells.chunks_exact(4 * self.outputs);
        for (p, block) in fours.iter().zip(&mut blocks) {
            let (a, b) = block.split_at(2 * self.outputs);
            let ((a, b), (c, d)) = (a.split_at(self.outputs), b.split_at(self.outputs));
            for ((((sum, a), b), c), d) in law.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum += (p[0] * a + p[1] * b) + (p[2] * c + p[3] * d);
            }
        }
        for (row, p) in blocks.remainder().chunks_exact(self.outputs).zip(rest) {
            law.iter_mut().zip(row).for_each(|(sum, cell)| *sum += p * cell);
        }
    }

    pub(super) fn back_into(&self, r: &[f64], means: &mut [f64]) {
        for (mean, row) in means.iter_mut().zip(self.rows()) {
            *mean = long_dot(row, r);
        }
    }

    pub(super) fn back_squares(&self, r: &[f64]) -> Vec<f64> {
        let square = |row: &[f64]| row.iter().zip(r).map(|(cell, r)| cell * cell * r).sum();
        self.rows().map(square).collect()
    }
}
