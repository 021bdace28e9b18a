//! Cholesky's factors of symmetric positive definite matrices.

use crate::vector::{dot, subtract_multiple};

/// The lower triangle L of A = L Lᵀ; rows are as long as their index plus one.
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// The factor of the matrix with these cells, of which only the lower triangle is read; `None` if a pivot
    /// is not above `floor` times the largest diagonal cell, or not finite.
    pub fn new(size: usize, cell: impl Fn(usize, usize) -> f64, floor: f64) -> Option<Self> {
        let scale = (0..size).map(|i| cell(i, i)).fold(0.0, f64::max);
        Self::with_pivots(size, cell, |_, rest| {
            (rest > floor * scale && rest.is_finite()).then(|| rest.sqrt())
        })
    }

    /// The factor of a matrix that may be singular: an unknown whose pivot is not above `floor` times its
    /// diagonal cell gets an infinite pivot, which makes it zero in every solution.
    pub fn skipping(size: usize, cell: impl Fn(usize, usize) -> f64, floor: f64) -> Self {
        let pivot = |i: usize, rest: f64| {
            Some(if rest > floor * cell(i, i) { rest.sqrt() } else { f64::INFINITY })
        };
        Self::with_pivots(size, &cell, pivot).unwrap_or(Self(Vec::new()))
    }

    fn with_pivots(
        size: usize,
        cell: impl Fn(usize, usize) -> f64,
        pivot: impl Fn(usize, f64) -> Option<f64>,
    ) -> Option<Self> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
        for i in 0..size {
            let mut row = Vec::with_capacity(i + 1);
            for (j, above) in rows.iter().enumerate() {
                row.push((cell(i, j) - dot(&row, &above[..j])) / above[j]);
            }
            row.push(pivot(i, cell(i, i) - dot(&row, &row))?);
            rows.push(row);
        }
        Some(Self(rows))
    }

    /// Solves L y = b in place.
    pub fn forward(&self, b: &mut [f64]) {
        for (i, row) in self.0.iter().enumerate() {
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
    }

    /// Solves Lᵀ x = y in place.
    pub fn backward(&self, y: &mut [f64]) {
        for (i, row) in self.0.iter().enumerate().rev() {
            y[i] /= row[i];
            let value = y[i];
            subtract_multiple(&mut y[..i], value, row);
        }
    }

    /// The solution of A x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.forward(&mut x);
        self.backward(&mut x);
        x
    }

    /// The columns of A⁻¹, which are its rows as well.
    pub fn inverse(&self) -> Vec<Vec<f64>> {
        let size = self.0.len();
        let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
        (0..size).map(|i| self.solve(&unit(i))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts() {
        let a = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
        let factor = Cholesky::new(3, |i, j| a[i][j], 0.0).unwrap();
        let x = factor.solve(&[1.0, 2.0, 3.0]);
        for (row, b) in a.iter().zip([1.0, 2.0, 3.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-14);
        }
        for (i, column) in factor.inverse().iter().enumerate() {
            for (j, row) in a.iter().enumerate() {
                assert!((dot(row, column) - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn half_solutions_are_solutions_of_the_triangles() {
        // L = [[2, 0], [1, 3]].
        let factor = Cholesky::new(2, |i, j| [[4.0, 2.0], [2.0, 10.0]][i][j], 0.0).unwrap();
        let (mut y, mut x) = ([4.0, 8.0], [4.0, 9.0]);
        factor.forward(&mut y);
        factor.backward(&mut x);
        assert_eq!((y, x), ([2.0, 2.0], [0.5, 3.0]));
    }

    #[test]
    fn singular_matrices_are_refused_or_skipped() {
        let ones = |_: usize, _: usize| 1.0;
        assert_eq!(Cholesky::new(2, ones, 1e-13), None);
        assert_eq!(Cholesky::new(1, |_, _| f64::NAN, 0.0), None);
        assert_eq!(Cholesky::new(1, |_, _| f64::INFINITY, 0.0), None);
        assert_eq!(Cholesky::skipping(2, ones, 1e-14).solve(&[3.0, 3.0]), [3.0, 0.0]);
    }
}
