//! Orthogonal factors of a dense matrix, with its rank and condition number.

use crate::symmetric::largest_eigenvalue;
use crate::vector::{long_dot, subtract_multiple as subtract};

/// Columns below this fraction of the first pivot depend on the others. Whatever is weaker than
/// this would need 10^18 reports to show.
const DEPENDENT: f64 = 1e-9;

/// The factors of a dense matrix, A = Q R Pᵀ, by Householder reflections with column pivoting.
#[derive(Debug, Clone)]
pub struct Qr {
    rows: usize,
    /// Column after column: reflectors below the diagonal, R above; `diagonal` holds R's own.
    columns: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
    /// Two over each reflector's squared length.
    scales: Vec<f64>,
    /// The original index of each pivoted column.
    order: Vec<usize>,
    rank: usize,
}

impl Qr {
    /// Factors a matrix given by its columns, all of the same length.
    pub fn new(mut columns: Vec<Vec<f64>>) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        let steps = rows.min(columns.len());
        let mut order: Vec<usize> = (0..columns.len()).collect();
        let mut norms: Vec<f64> = columns.iter().map(|column| long_dot(column, column)).collect();
        let mut diagonal = Vec::with_capacity(steps);
        let mut scales = Vec::with_capacity(steps);
        let mut first = 0.0;
        let mut rank = 0;
        for step in 0..steps {
            // Norms are updated by subtraction; where that cancelled, the pivot's is taken afresh.
            let pivot = (step..norms.len()).max_by(|&a, &b| norms[a].total_cmp(&norms[b]));
            let pivot = pivot.unwrap_or(step);
            columns.swap(step, pivot);
            order.swap(step, pivot);
            norms.swap(step, pivot);
            let (done, rest) = columns.split_at_mut(step + 1);
            let head = &mut done[step][step..];
            let norm = long_dot(head, head).sqrt();
            if step == 0 {
                first = norm;
            }
            if !(norm > DEPENDENT * first) {
                break;
            }
            rank += 1;
            let turned = if head[0] > 0.0 { -norm } else { norm };
            head[0] -= turned;
            diagonal.push(turned);
            let scale = 2.0 / long_dot(head, head);
            scales.push(scale);
            for (column, norm) in rest.iter_mut().zip(&mut norms[step + 1..]) {
                let tail = &mut column[step..];
                let amount = scale * long_dot(head, tail);
                subtract(tail, amount, head);
                let left = *norm - tail[0] * tail[0];
                *norm = if left > 1e-6 * *norm { left } else { long_dot(&tail[1..], &tail[1..]) };
            }
        }
        Self { rows, columns, diagonal, scales, order, rank }
    }

    /// How many columns are independent.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// R(i,j) for i < rank.
    fn r(&self, i: usize, j: usize) -> f64 {
        if i == j { self.diagonal[i] } else { self.columns[j][i] }
    }

    /// The first `rank` entries of Qᵀv.
    pub fn turn(&self, mut v: Vec<f64>) -> Vec<f64> {
        for step in 0..self.rank {
            self.reflect(step, &mut v);
        }
        v.truncate(self.rank);
        v
    }

    /// Q times a vector of `rank` entries.
    fn turn_back(&self, mut v: Vec<f64>) -> Vec<f64> {
        v.resize(self.rows, 0.0);
        for step in (0..self.rank).rev() {
            self.reflect(step, &mut v);
        }
        v
    }

    fn reflect(&self, step: usize, v: &mut [f64]) {
        let head = &self.columns[step][step..];
        let tail = &mut v[step..];
        let amount = self.scales[step] * long_dot(head, tail);
        subtract(tail, amount, head);
    }

    /// Solves R11 v = b in place, R11 being the leading square of R.
    fn solve(&self, b: &mut [f64]) {
        for j in (0..self.rank).rev() {
            b[j] /= self.diagonal[j];
            let value = b[j];
            subtract(&mut b[..j], value, &self.columns[j][..j]);
        }
    }

    /// Solves R11ᵀ v = b in place.
    fn solve_transposed(&self, b: &mut [f64]) {
        for j in 0..self.rank {
            b[j] = (b[j] - long_dot(&b[..j], &self.columns[j][..j])) / self.diagonal[j];
        }
    }

    /// For every dependent column, its combination of independent ones: (dependent, [(independent,
    /// coefficient)]), in original indices.
    pub fn dependencies(&self) -> Vec<(usize, Vec<(usize, f64)>)> {
        let one = |j: usize| {
            let mut coefficients: Vec<f64> = (0..self.rank).map(|i| self.r(i, j)).collect();
            self.solve(&mut coefficients);
            let named = self.order.iter().copied().zip(coefficients);
            (self.order[j], named.filter(|(_, c)| c.abs() > 1e-7).collect())
        };
        (self.rank..self.order.len()).map(one).collect()
    }

    /// The least-squares inverse of least norm.
    pub fn inverse(&self) -> PseudoInverse {
        let (rank, size) = (self.rank, self.order.len());
        if rank == size {
            return PseudoInverse {
                rows: self.full_inverse(),
                second: None,
                order: self.order.clone(),
            };
        }
        // [R11 R12]ᵀ = U S, so that A⁺ = P U S⁻ᵀ Q1ᵀ.
        let transposed: Vec<Vec<f64>> = (0..rank)
            .map(|i| (0..size).map(|j| if j < i { 0.0 } else { self.r(i, j) }).collect())
            .collect();
        let second = Qr::new(transposed);
        let mut rows = vec![Vec::new(); size];
        for (at, &original) in self.order.iter().enumerate() {
            // Row `at` of U S⁻ᵀ is (S⁻¹ Uᵀ e_at)ᵀ, with U's columns in the second order.
            let mut unit = vec![0.0; size];
            unit[at] = 1.0;
            let mut v = second.turn(unit);
            second.solve(&mut v);
            let mut unpivoted = vec![0.0; rank];
            for (value, &i) in v.iter().zip(&second.order) {
                unpivoted[i] = *value;
            }
            rows[original] = self.turn_back(unpivoted);
        }
        PseudoInverse { rows, second: Some(second), order: self.order.clone() }
    }

    fn full_inverse(&self) -> Vec<Vec<f64>> {
        let mut rows = vec![Vec::new(); self.rank];
        for (at, &original) in self.order.iter().enumerate() {
            let mut unit = vec![0.0; self.rank];
            unit[at] = 1.0;
            self.solve_transposed(&mut unit);
            rows[original] = self.turn_back(unit);
        }
        rows
    }

    /// The ratio of the largest to the smallest singular value of what is inverted, by power
    /// iteration; accurate to a few per cent, which is all a condition number is read to.
    pub fn condition(&self) -> f64 {
        let start: Vec<f64> = (0..self.rank).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect();
        let grow = |v: &[f64]| {
            // R11ᵀ R11 v.
            let mut image = vec![0.0; self.rank];
            for (j, &value) in v.iter().enumerate() {
                for (i, image) in image.iter_mut().enumerate().take(j + 1) {
                    *image += self.r(i, j) * value;
                }
            }
            (0..self.rank)
                .map(|j| (0..=j).map(|i| self.r(i, j) * image[i]).sum())
                .collect::<Vec<f64>>()
        };
        let shrink = |v: &[f64]| {
            let mut v = v.to_vec();
            self.solve_transposed(&mut v);
            self.solve(&mut v);
            v
        };
        (largest_eigenvalue(&start, grow) * largest_eigenvalue(&start, shrink)).sqrt()
    }
}

/// The least-squares inverse A⁺ of least norm, and what it determines.
#[derive(Debug, Clone)]
pub struct PseudoInverse {
    /// The rows of A⁺, one per column of A.
    pub rows: Vec<Vec<f64>>,
    /// The factors of [R11 R12]ᵀ where A's columns depend on each other.
    second: Option<Qr>,
    order: Vec<usize>,
}

impl PseudoInverse {
    /// Whether Σ a(x) v(x) is the same for all least-squares solutions v.
    pub fn determines(&self, a: &[f64]) -> bool {
        let Some(second) = &self.second else { return true };
        let pivoted: Vec<f64> = self.order.iter().map(|&at| a[at]).collect();
        let size = long_dot(a, a);
        let inside = second.turn(pivoted);
        size - long_dot(&inside, &inside) <= 1e-12 * size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::dot;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-11 * (1.0 + b.abs()), "{a} {b}");
    }

    fn check_penrose(columns: &[Vec<f64>], rank: usize) {
        let qr = Qr::new(columns.to_vec());
        assert_eq!(qr.rank(), rank);
        let inverse = qr.inverse().rows;
        let (rows, cols) = (columns[0].len(), columns.len());
        let product = |i: usize, j: usize| dot(&inverse[i], &columns[j]); // A⁺A
        let outer = |i: usize, j: usize| -> f64 {
            (0..cols).map(|c| columns[c][i] * inverse[c][j]).sum() // AA⁺
        };
        for i in 0..cols {
            for j in 0..cols {
                close(product(i, j), product(j, i));
            }
            for y in 0..rows {
                let back: f64 = (0..cols).map(|j| product(i, j) * inverse[j][y]).sum();
                close(back, inverse[i][y]);
                let same: f64 = (0..cols).map(|j| columns[j][y] * product(j, i)).sum();
                close(same, columns[i][y]);
            }
        }
        for i in 0..rows {
            for j in 0..rows {
                close(outer(i, j), outer(j, i));
            }
        }
    }

    #[test]
    fn inverses_satisfy_penrose() {
        check_penrose(&[vec![0.6, 0.3, 0.1], vec![0.2, 0.5, 0.3], vec![0.25, 0.25, 0.5]], 3);
        check_penrose(&[vec![0.6, 0.3, 0.1, 0.0], vec![0.2, 0.5, 0.1, 0.2]], 2);
        // Two equal columns, and a column that is the mean of two others.
        check_penrose(&[vec![0.6, 0.4], vec![0.6, 0.4], vec![0.1, 0.9]], 2);
        let a = vec![0.7, 0.2, 0.1, 0.0];
        let b = vec![0.1, 0.1, 0.4, 0.4];
        let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect();
        check_penrose(&[a, middle, b], 2);
    }

    #[test]
    fn dependencies_are_named() {
        let qr = Qr::new(vec![vec![0.6, 0.4], vec![0.1, 0.9], vec![0.6, 0.4]]);
        let found = qr.dependencies();
        assert_eq!(found.len(), 1);
        let (dependent, combination) = &found[0];
        assert_eq!(combination.len(), 1);
        close(combination[0].1, 1.0);
        assert_eq!(*dependent + combination[0].0, 2, "the first and the third");
        let inverse = qr.inverse();
        assert!(!inverse.determines(&[1.0, 0.0, 0.0]));
        assert!(inverse.determines(&[0.0, 1.0, 0.0]));
        assert!(inverse.determines(&[1.0, 0.0, 1.0]));
    }

    #[test]
    fn condition_numbers_of_known_matrices() {
        let diagonal = Qr::new(vec![vec![8.0, 0.0, 0.0], vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 0.5]]);
        assert!((diagonal.condition() / 16.0 - 1.0).abs() < 0.02);
        let response = Qr::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]]);
        assert!((response.condition() / 2.0 - 1.0).abs() < 0.02);
    }
}
