//! Small dense symmetric matrices: what Newton steps and eigenvectors need.

use crate::cholesky::Cholesky;
use crate::vector::dot;

/// A small symmetric matrix; both triangles are stored, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Symmetric {
    size: usize,
    cells: Vec<f64>,
}

impl Symmetric {
    /// The matrix of zeros.
    pub fn zero(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    /// How many rows and columns it has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The cell in row i and column j.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.size + j]
    }

    /// The rows, one after another.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.size.max(1))
    }

    /// Adds to the cell in row i and column j alone; the caller keeps the matrix symmetric.
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.cells[i * self.size + j] += value;
    }

    /// Adds `scale` v vᵀ.
    pub fn add_outer(&mut self, v: &[f64], scale: f64) {
        for (row, &a) in self.cells.chunks_exact_mut(self.size.max(1)).zip(v) {
            if a != 0.0 {
                row.iter_mut().zip(v).for_each(|(cell, b)| *cell += scale * a * b);
            }
        }
    }

    /// Adds `scale` times another matrix.
    pub fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(a, b)| *a += scale * b);
    }

    /// The factor L of L Lᵀ; `None` unless positive definite.
    pub fn cholesky(&self) -> Option<Cholesky> {
        Cholesky::new(self.size, |i, j| self.at(i, j), 0.0)
    }

    /// Eigenvalues, largest first, with their eigenvectors: Jacobi's method.
    pub fn eigenpairs(mut self) -> Vec<(f64, Vec<f64>)> {
        let n = self.size;
        let mut vectors = Self::zero(n);
        (0..n).for_each(|i| vectors.cells[i * n + i] = 1.0);
        for _ in 0..100 {
            let off: f64 = (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| self.at(i, j).powi(2))
                .sum();
            let all: f64 = self.cells.iter().map(|v| v * v).sum();
            if off <= 1e-30 * all {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    self.rotate(&mut vectors, p, q);
                }
            }
        }
        let mut pairs: Vec<(f64, Vec<f64>)> =
            (0..n).map(|j| (self.at(j, j), (0..n).map(|i| vectors.at(i, j)).collect())).collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        pairs
    }

    fn rotate(&mut self, vectors: &mut Self, p: usize, q: usize) {
        let n = self.size;
        let off = self.at(p, q);
        if off == 0.0 {
            return;
        }
        let theta = (self.at(q, q) - self.at(p, p)) / (2.0 * off);
        let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
        let c = 1.0 / t.hypot(1.0);
        let s = t * c;
        for k in 0..n {
            let (a, b) = (self.at(k, p), self.at(k, q));
            self.cells[k * n + p] = c * a - s * b;
            self.cells[k * n + q] = s * a + c * b;
        }
        for k in 0..n {
            let (a, b) = (self.at(p, k), self.at(q, k));
            self.cells[p * n + k] = c * a - s * b;
            self.cells[q * n + k] = s * a + c * b;
        }
        for k in 0..n {
            let (a, b) = (vectors.at(k, p), vectors.at(k, q));
            vectors.cells[k * n + p] = c * a - s * b;
            vectors.cells[k * n + q] = s * a + c * b;
        }
    }
}

/// The largest eigenvalue of a symmetric map without negative ones, to about 1e-4 of itself, by power
/// iteration from `start`.
pub fn largest_eigenvalue(start: &[f64], map: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mut v = start.to_vec();
    let mut value = 0.0;
    for _ in 0..200 {
        let size = dot(&v, &v).sqrt();
        if !(size > 0.0) {
            return 0.0;
        }
        v.iter_mut().for_each(|entry| *entry /= size);
        let image = map(&v);
        let next = dot(&v, &image);
        v = image;
        if (next - value).abs() <= 1e-4 * next.abs() {
            return next;
        }
        value = next;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Symmetric {
        Symmetric { size: 3, cells: vec![4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0] }
    }

    #[test]
    fn factors_solve_and_refuse() {
        let x = sample().cholesky().unwrap().solve(&[1.0, 2.0, 3.0]);
        for (row, b) in sample().rows().zip([1.0, 2.0, 3.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-14);
        }
        assert!(Symmetric { size: 2, cells: vec![1.0, 2.0, 2.0, 1.0] }.cholesky().is_none());
        assert!(Symmetric { size: 1, cells: vec![f64::NAN] }.cholesky().is_none());
    }

    #[test]
    fn sums_of_outer_products() {
        let mut sum = Symmetric::zero(2);
        sum.add_outer(&[1.0, 2.0], 3.0);
        sum.add_scaled(&sum.clone(), 1.0);
        sum.add(0, 0, -1.0);
        assert_eq!(sum.rows().collect::<Vec<_>>(), [[5.0, 12.0], [12.0, 24.0]]);
        assert_eq!((sum.size(), sum.at(1, 0)), (2, 12.0));
    }

    #[test]
    fn eigenvectors_are_eigenvectors() {
        let pairs = sample().eigenpairs();
        assert!(pairs.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        for (value, vector) in &pairs {
            for (row, v) in sample().rows().zip(vector) {
                assert!((dot(row, vector) - value * v).abs() < 1e-13);
            }
        }
        let trace: f64 = pairs.iter().map(|pair| pair.0).sum();
        assert!((trace - 9.0).abs() < 1e-13);
        let apply = |v: &[f64]| sample().rows().map(|row| dot(row, v)).collect();
        assert!((largest_eigenvalue(&[1.0, 0.5, 0.2], apply) / pairs[0].0 - 1.0).abs() < 1e-3);
        assert_eq!(largest_eigenvalue(&[0.0; 3], |v: &[f64]| v.to_vec()), 0.0);
    }
}
