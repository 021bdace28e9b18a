//! Gaussian elimination of small dense matrices.

use crate::vector::subtract_multiple;

/// Pivots up to this, in a matrix whose entries are about one, are rounding.
const SINGULAR: f64 = 1e-13;

/// The inverse of a square matrix given by its rows, by elimination with partial pivoting; `None` if it is
/// singular.
pub fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        debug_assert_eq!(row.len(), size, "a square matrix");
        row.extend((0..size).map(|k| f64::from(u8::from(i == k))));
    }
    for k in 0..size {
        let pivot = (k..size).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))?;
        if !(matrix[pivot][k].abs() > SINGULAR) {
            return None;
        }
        matrix.swap(k, pivot);
        let mut head = std::mem::take(&mut matrix[k]);
        let scale = head[k];
        head.iter_mut().for_each(|v| *v /= scale);
        for row in matrix.iter_mut().filter(|row| !row.is_empty()) {
            let factor = row[k];
            if factor != 0.0 {
                subtract_multiple(row, factor, &head);
            }
        }
        matrix[k] = head;
    }
    Some(matrix.into_iter().map(|mut row| row.split_off(size)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::{Dice, unit};
    use crate::vector::dot;

    #[test]
    fn inverses_multiply_to_the_identity() {
        let mut dice = Dice::new(5);
        for size in 1..20usize {
            let row = |dice: &mut Dice| (0..size).map(|_| unit(dice) - 0.5).collect::<Vec<_>>();
            let matrix: Vec<Vec<f64>> = (0..size).map(|_| row(&mut dice)).collect();
            let inverse = inverse(matrix.clone()).unwrap();
            for (i, row) in matrix.iter().enumerate() {
                for j in 0..size {
                    let column: Vec<f64> = inverse.iter().map(|row| row[j]).collect();
                    let expected = f64::from(u8::from(i == j));
                    assert!((dot(row, &column) - expected).abs() < 1e-10, "{size} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn zeros_on_the_diagonal_and_singular_matrices() {
        let swapped = vec![vec![0.0, 2.0], vec![4.0, 0.0]];
        assert_eq!(inverse(swapped).unwrap(), vec![vec![0.0, 0.25], vec![0.5, 0.0]]);
        assert_eq!(inverse(vec![vec![1.0, 2.0], vec![2.0, 4.0]]), None);
        assert_eq!(inverse(vec![vec![f64::NAN]]), None);
        assert_eq!(inverse(vec![]), Some(vec![]));
    }
}
