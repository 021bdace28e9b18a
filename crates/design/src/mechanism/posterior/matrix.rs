//! Just enough linear algebra for symmetric positive matrices.

use super::region::dot;

/// The lower triangle L of A = L Lᵀ; rows are as long as their index plus one.
pub(in crate::mechanism) struct Factor(Vec<Vec<f64>>);

impl Factor {
    /// `None` if a pivot falls below `floor` times the largest diagonal entry.
    pub(in crate::mechanism) fn of(a: &[Vec<f64>], floor: f64) -> Option<Self> {
        let scale = (0..a.len()).map(|i| a[i][i]).fold(0.0, f64::max);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(a.len());
        for (i, given) in a.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for j in 0..i {
                let above: &Vec<f64> = &rows[j];
                row.push((given[j] - dot(&row[..j], &above[..j])) / above[j]);
            }
            let rest = given[i] - dot(&row, &row);
            let sound = rest > floor * scale;
            if !sound {
                return None;
            }
            row.push(rest.sqrt());
            rows.push(row);
        }
        Some(Self(rows))
    }

    /// The solution of A x = b.
    pub(in crate::mechanism) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(b.len());
        for (row, b) in self.0.iter().zip(b) {
            let done = x.len();
            x.push((b - dot(&row[..done], &x)) / row[done]);
        }
        for i in (0..x.len()).rev() {
            x[i] /= self.0[i][i];
            let value = x[i];
            x[..i].iter_mut().zip(&self.0[i]).for_each(|(x, l)| *x -= l * value);
        }
        x
    }

    /// A⁻¹, one column at a time.
    pub(in crate::mechanism) fn inverse(&self) -> Vec<Vec<f64>> {
        let size = self.0.len();
        let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
        (0..size).map(|i| self.solve(&unit(i))).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts() {
        let a = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, 0.2], vec![0.5, 0.2, 2.0]];
        let factor = Factor::of(&a, 0.0).unwrap();
        let x = factor.solve(&[1.0, 2.0, 3.0]);
        for (row, b) in a.iter().zip([1.0, 2.0, 3.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-14);
        }
        for (i, column) in factor.inverse().iter().enumerate() {
            for (j, row) in a.iter().enumerate() {
                assert!((dot(row, column) - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert!(Factor::of(&[vec![1.0, 1.0], vec![1.0, 1.0]], 1e-13).is_none());
    }
}
