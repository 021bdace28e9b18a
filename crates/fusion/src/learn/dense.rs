//! Small dense symmetric matrices: what Newton steps and eigenvectors need.

/// A square matrix, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Square {
    pub(crate) n: usize,
    pub(crate) cells: Vec<f64>,
}

impl Square {
    pub(crate) fn zero(n: usize) -> Self {
        Self { n, cells: vec![0.0; n * n] }
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.n + j]
    }

    pub(crate) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.cells[i * self.n + j] += value;
    }

    /// Adds `scale` v vᵀ.
    pub(crate) fn add_outer(&mut self, v: &[f64], scale: f64) {
        for (row, &a) in self.cells.chunks_exact_mut(self.n).zip(v) {
            if a != 0.0 {
                row.iter_mut().zip(v).for_each(|(cell, b)| *cell += scale * a * b);
            }
        }
    }

    /// Adds `scale` times another matrix.
    pub(crate) fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(a, b)| *a += scale * b);
    }

    /// The lower factor L of L Lᵀ; `None` unless positive definite.
    pub(crate) fn factor(&self) -> Option<Lower> {
        let n = self.n;
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (above, below) = (&l[i * n..i * n + j], &l[j * n..j * n + j]);
                let sum: f64 = above.iter().zip(below).map(|(a, b)| a * b).sum();
                let rest = self.at(i, j) - sum;
                if i == j {
                    if !(rest > 0.0 && rest.is_finite()) {
                        return None;
                    }
                    l[i * n + i] = rest.sqrt();
                } else {
                    l[i * n + j] = rest / l[j * n + j];
                }
            }
        }
        Some(Lower { n, cells: l })
    }

    /// Eigenvalues, largest first, with their eigenvectors, of a symmetric matrix: Jacobi's method.
    pub(crate) fn eigen(mut self) -> Vec<(f64, Vec<f64>)> {
        let n = self.n;
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
        let n = self.n;
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

/// A lower triangle with a positive diagonal.
pub(crate) struct Lower {
    n: usize,
    cells: Vec<f64>,
}

impl Lower {
    /// Solves L y = b in place.
    pub(crate) fn forward(&self, b: &mut [f64]) {
        for i in 0..self.n {
            let row = &self.cells[i * self.n..i * self.n + i];
            let sum: f64 = row.iter().zip(&*b).map(|(l, y)| l * y).sum();
            b[i] = (b[i] - sum) / self.cells[i * self.n + i];
        }
    }

    /// Solves Lᵀ x = y in place.
    pub(crate) fn backward(&self, y: &mut [f64]) {
        for i in (0..self.n).rev() {
            let sum: f64 = (i + 1..self.n).map(|k| self.cells[k * self.n + i] * y[k]).sum();
            y[i] = (y[i] - sum) / self.cells[i * self.n + i];
        }
    }

    /// Solves L Lᵀ x = b.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.forward(&mut x);
        self.backward(&mut x);
        x
    }
}

/// The inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sample() -> Square {
        Square { n: 3, cells: vec![4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0] }
    }

    #[test]
    fn factors_solve_and_refuse() {
        let x = sample().factor().unwrap().solve(&[1.0, 2.0, 3.0]);
        for (i, b) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let row = &sample().cells[3 * i..3 * i + 3];
            assert!((dot(row, &x) - b).abs() < 1e-14);
        }
        assert!(Square { n: 2, cells: vec![1.0, 2.0, 2.0, 1.0] }.factor().is_none());
        assert!(Square { n: 1, cells: vec![f64::NAN] }.factor().is_none());
    }

    #[test]
    fn eigenvectors_are_eigenvectors() {
        let pairs = sample().eigen();
        assert!(pairs.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        for (value, vector) in &pairs {
            for i in 0..3 {
                let image = dot(&sample().cells[3 * i..3 * i + 3], vector);
                assert!((image - value * vector[i]).abs() < 1e-13);
            }
        }
        let trace: f64 = pairs.iter().map(|pair| pair.0).sum();
        assert!((trace - 9.0).abs() < 1e-13);
    }
}
