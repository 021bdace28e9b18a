//! The best mixture of columns: a linear program solved at a vertex, so that few columns are used.

use crate::simplex::{Bounds, Row, Simplex, TOLERANCE, Verdict};

/// Right-hand sides that no weights reach by less than this, relative to the largest, are missed because of
/// rounding.
const ROUNDING: f64 = 1e-9;

/// The optimum of a [`maximise_mixture`] and the dual prices that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureOptimum {
    /// Σ c_j w_j.
    pub value: f64,
    /// Columns in use with their weights, at most one per row.
    pub weights: Vec<(usize, f64)>,
    /// One price per row: no column costs more than its worth, and Σ price·b equals the value.
    pub prices: Vec<f64>,
}

/// Why a linear program has no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LinearProgramError {
    /// No rows or no columns.
    #[error("has no rows or no columns")]
    Empty,
    /// A list of the wrong length.
    #[error("{what} has {found} entries instead of {expected}")]
    Length {
        /// Which list.
        what: &'static str,
        /// How many entries it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A right-hand side that is negative or no number.
    #[error("the right-hand side {0} is not a number from 0 on")]
    RightSide(f64),
    /// The rows contradict each other.
    #[error("no weights satisfy the constraints")]
    Infeasible,
    /// The value grows for ever.
    #[error("is unbounded")]
    Unbounded,
    /// The simplex stopped without an answer.
    #[error("did not settle; use the closed-form bound")]
    Unsettled,
}

/// Maximises Σ c_j w_j over w >= 0 with Σ_j w_j a_j = b, for b >= 0: few rows, many columns.
///
/// ```
/// use undertone_numeric::mixture::maximise_mixture;
/// // 3a + 2b with a + b + s = 4 and a + 3b + t = 6: all of a.
/// let columns = [vec![1.0, 1.0], vec![1.0, 3.0], vec![1.0, 0.0], vec![0.0, 1.0]];
/// let optimum = maximise_mixture(&columns, &[3.0, 2.0, 0.0, 0.0], &[4.0, 6.0])?;
/// assert_eq!(optimum.value, 12.0);
/// # Ok::<(), undertone_numeric::mixture::LinearProgramError>(())
/// ```
pub fn maximise_mixture(
    columns: &[Vec<f64>],
    costs: &[f64],
    rhs: &[f64],
) -> Result<MixtureOptimum, LinearProgramError> {
    maximise_mixture_within(columns, costs, rhs, TOLERANCE)
}

/// [`maximise_mixture`] until no column is worth more than it costs by `tolerance`.
pub fn maximise_mixture_within(
    columns: &[Vec<f64>],
    costs: &[f64],
    rhs: &[f64],
    tolerance: f64,
) -> Result<MixtureOptimum, LinearProgramError> {
    check(columns, costs, rhs)?;
    let mut simplex = Simplex::new(&rhs.iter().map(|&b| Row::equal(b)).collect::<Vec<_>>());
    simplex.set_tolerance(tolerance);
    simplex.always_refresh();
    for (column, cost) in columns.iter().zip(costs) {
        simplex.add_column(column, Bounds::NON_NEGATIVE, -cost);
    }
    let mut verdict = simplex.minimise();
    let scale = rhs.iter().fold(1.0f64, |most, b| most.max(*b));
    if verdict == Verdict::Infeasible && simplex.violation() <= ROUNDING * scale {
        simplex.forgive();
        verdict = simplex.minimise();
    }
    match verdict {
        Verdict::Optimal => {}
        Verdict::Infeasible => return Err(LinearProgramError::Infeasible),
        Verdict::Unbounded { .. } => return Err(LinearProgramError::Unbounded),
        Verdict::Unsettled => return Err(LinearProgramError::Unsettled),
    }
    let weights: Vec<(usize, f64)> = simplex.basic_columns().filter(|&(_, w)| w > 0.0).collect();
    let value = weights.iter().map(|&(j, w)| costs[j] * w).sum();
    let prices = simplex.prices().into_iter().map(|price| -price).collect();
    Ok(MixtureOptimum { value, weights, prices })
}

fn check(columns: &[Vec<f64>], costs: &[f64], rhs: &[f64]) -> Result<(), LinearProgramError> {
    let rows = rhs.len();
    if rows == 0 || columns.is_empty() {
        return Err(LinearProgramError::Empty);
    }
    let length = |what, expected: usize, found: usize| {
        let wrong = LinearProgramError::Length { what, expected, found };
        if expected == found { Ok(()) } else { Err(wrong) }
    };
    length("the list of costs", columns.len(), costs.len())?;
    columns.iter().try_for_each(|column| length("a column", rows, column.len()))?;
    match rhs.iter().find(|b| !(**b >= 0.0)) {
        Some(&b) => Err(LinearProgramError::RightSide(b)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::inverse;
    use crate::dice::{Dice, below, unit};
    use crate::vector::dot;

    #[test]
    fn a_program_solved_by_hand() {
        // max 3a + 2b with a + b + s = 4, a + 3b + t = 6, a, b, s, t >= 0: a = 4.
        let columns = vec![vec![1.0, 1.0], vec![1.0, 3.0], vec![1.0, 0.0], vec![0.0, 1.0]];
        let optimum = maximise_mixture(&columns, &[3.0, 2.0, 0.0, 0.0], &[4.0, 6.0]).unwrap();
        assert!((optimum.value - 12.0).abs() < 1e-12);
        assert!((dot(&optimum.prices, &[4.0, 6.0]) - 12.0).abs() < 1e-12);
    }

    #[test]
    fn infeasible_unbounded_and_malformed_programs_are_refused() {
        use LinearProgramError::*;
        let refused = |columns: &[Vec<f64>], costs: &[f64], rhs: &[f64]| {
            maximise_mixture(columns, costs, rhs).unwrap_err()
        };
        assert_eq!(refused(&[vec![1.0, 1.0]], &[1.0], &[1.0, 2.0]), Infeasible);
        assert_eq!(refused(&[vec![1.0], vec![-1.0]], &[1.0, 1.0], &[1.0]), Unbounded);
        assert!(matches!(refused(&[vec![1.0]], &[1.0, 2.0], &[1.0]), Length { found: 2, .. }));
        assert!(matches!(refused(&[vec![1.0, 2.0]], &[1.0], &[1.0]), Length { found: 2, .. }));
        assert!(matches!(refused(&[vec![1.0]], &[1.0], &[f64::NAN]), RightSide(_)));
        assert_eq!(refused(&[vec![1.0]], &[1.0], &[-1.0]), RightSide(-1.0));
        assert_eq!(refused(&[], &[], &[1.0]), Empty);
    }

    #[test]
    fn redundant_rows_are_harmless() {
        let columns = vec![vec![1.0, 2.0], vec![2.0, 4.0], vec![0.5, 1.0]];
        let optimum = maximise_mixture(&columns, &[1.0, 3.0, 0.1], &[1.0, 2.0]).unwrap();
        assert!((optimum.value - 1.5).abs() < 1e-12);
    }

    #[test]
    fn right_sides_missed_by_rounding_are_forgiven() {
        let columns = vec![vec![1.0, 1.0], vec![0.5, 0.5]];
        let optimum = maximise_mixture(&columns, &[1.0, 0.0], &[1.0, 1.0 + 1e-10]).unwrap();
        assert!((optimum.value - 1.0).abs() < 1e-9);
        assert!(maximise_mixture(&columns, &[1.0, 0.0], &[1.0, 1.0 + 1e-8]).is_err());
    }

    /// Every basis in turn: the largest value of those with weights from 0 on.
    fn slowly(columns: &[Vec<f64>], costs: &[f64], rhs: &[f64]) -> Option<f64> {
        let rows = rhs.len();
        let mut best: Option<f64> = None;
        for choice in (0u32..1 << columns.len()).filter(|c| c.count_ones() as usize == rows) {
            let chosen: Vec<usize> = (0..columns.len()).filter(|j| choice >> j & 1 == 1).collect();
            let matrix = (0..rows).map(|i| chosen.iter().map(|&j| columns[j][i]).collect());
            let Some(inverse) = inverse(matrix.collect()) else { continue };
            let weights: Vec<f64> = inverse.iter().map(|row| dot(row, rhs)).collect();
            if weights.iter().all(|w| *w >= -1e-9) {
                let value = chosen.iter().zip(&weights).map(|(&j, w)| costs[j] * w).sum();
                best = Some(best.map_or(value, |best| best.max(value)));
            }
        }
        best
    }

    #[test]
    fn agrees_with_trying_every_basis() {
        let mut dice = Dice::new(11);
        let (mut solved, mut infeasible) = (0, 0);
        for case in 0..300 {
            let (rows, count) = (1 + case % 4, 4 + case % 7);
            // Lists of few distinct numbers, so that vertices are degenerate; a first entry of at least one
            // keeps every program bounded.
            let entry = |dice: &mut Dice, i: usize| match i {
                0 => 1.0 + (3.0 * unit(dice)).floor(),
                _ => (5.0 * unit(dice)).floor() - 2.0,
            };
            let columns: Vec<Vec<f64>> =
                (0..count).map(|_| (0..rows).map(|i| entry(&mut dice, i)).collect()).collect();
            let costs: Vec<f64> = (0..count).map(|_| unit(&mut dice) - 0.3).collect();
            let rhs: Vec<f64> = (0..rows)
                .map(|i| if i == 0 { 2.0 } else { (2.0 * unit(&mut dice)).floor() })
                .collect();
            let full_rank = slowly(&columns, &costs, &rhs);
            match (maximise_mixture(&columns, &costs, &rhs), full_rank) {
                (Ok(found), Some(expected)) => {
                    assert!((found.value - expected).abs() < 1e-9, "{case}: {found:?} {expected}");
                    assert!((dot(&found.prices, &rhs) - expected).abs() < 1e-9);
                    let worth = columns.iter().zip(&costs).map(|(a, c)| c - dot(&found.prices, a));
                    assert!(worth.fold(f64::MIN, f64::max) < 1e-9);
                    solved += 1;
                }
                (Err(LinearProgramError::Infeasible), None) => infeasible += 1,
                // Dependent rows have no basis of columns alone.
                (Ok(found), None) => assert!(found.weights.len() < rows, "{case}: {found:?}"),
                other => panic!("{case}: {other:?}"),
            }
        }
        assert!(solved > 100 && infeasible > 20, "{solved} {infeasible}");
    }

    #[test]
    fn the_simplex_closes_its_duality_gap() {
        let mut rng = Dice::new(8);
        for _ in 0..200 {
            let m = 2 + below(7, &mut rng);
            let n = m + 10 + below(300, &mut rng);
            let mut columns: Vec<Vec<f64>> =
                (0..n).map(|_| (0..m).map(|_| 0.1 + 3.0 * unit(&mut rng)).collect()).collect();
            columns.push(vec![1.0; m]);
            let costs: Vec<f64> = (0..=n).map(|_| unit(&mut rng)).collect();
            let optimum = maximise_mixture(&columns, &costs, &vec![1.0; m]).unwrap();
            let mut sums = vec![0.0; m];
            for &(column, weight) in &optimum.weights {
                for (sum, entry) in sums.iter_mut().zip(&columns[column]) {
                    *sum += weight * entry;
                }
            }
            assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-10), "{sums:?}");
            assert!(optimum.weights.len() <= m && optimum.weights.iter().all(|w| w.1 >= 0.0));
            let dual: f64 = optimum.prices.iter().sum();
            assert!((dual - optimum.value).abs() < 1e-9 * (1.0 + dual.abs()), "{dual} {optimum:?}");
            for (column, cost) in columns.iter().zip(&costs) {
                let price: f64 = optimum.prices.iter().zip(column).map(|(a, b)| a * b).sum();
                assert!(price >= cost - 1e-9);
            }
        }
    }
}
