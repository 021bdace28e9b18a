//! A small revised simplex: maximise Σ c_j w_j over w >= 0 with Σ_j w_j a_j = b.
//!
//! Few rows (symbols), many columns (extremal lift vectors). The basis inverse is rebuilt at every
//! step, which costs nothing at this size and keeps the answer accurate to rounding.

use crate::{Distribution, Error};

/// An optimum: the weights that are not zero, the value, and the dual prices that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Σ c_j w_j.
    pub value: f64,
    /// Columns in use with their weights, at most one per row.
    pub weights: Vec<(usize, f64)>,
    /// One price per row: no column costs more than its worth, and Σ price·b equals the value.
    pub prices: Vec<f64>,
}

/// Weights below this count as zero, and reduced costs unless another tolerance is asked for.
const TOLERANCE: f64 = 1e-11;

/// Smaller pivots than this would make the basis singular.
const PIVOT: f64 = 1e-9;

/// After this many steps the smallest-index rule takes over, which cannot cycle.
const DANTZIG_STEPS: usize = 500;

/// Far more steps than any problem here takes.
const MOST_STEPS: usize = 50_000;

/// Solves the program; columns are as long as `rhs`, whose entries are not negative.
pub fn maximise(columns: &[Vec<f64>], costs: &[f64], rhs: &[f64]) -> Result<Optimum, Error> {
    maximise_within(columns, costs, rhs, TOLERANCE)
}

/// Solves the program until no column is worth more than it costs by this much.
pub(super) fn maximise_within(
    columns: &[Vec<f64>],
    costs: &[f64],
    rhs: &[f64],
    tolerance: f64,
) -> Result<Optimum, Error> {
    let rows = rhs.len();
    if rows == 0 || columns.is_empty() {
        return Err(Error::Empty { what: "the linear program".into() });
    }
    if costs.len() != columns.len() {
        return Err(Error::Size {
            what: "costs".into(),
            expected: columns.len(),
            found: costs.len(),
        });
    }
    for column in columns {
        if column.len() != rows {
            let what = "a column of the linear program".into();
            return Err(Error::Size { what, expected: rows, found: column.len() });
        }
    }
    if let Some(&value) = rhs.iter().find(|b| b.is_nan() || **b < 0.0) {
        return Err(Error::range("the right-hand side", value, "not negative"));
    }
    // Phase one drives the artificial columns (one per row, after the real ones) to zero.
    let program = Program { columns, rows, tolerance };
    let mut basis: Vec<usize> = (columns.len()..columns.len() + rows).collect();
    let shortfall = |j: usize| if j < columns.len() { 0.0 } else { -1.0 };
    let first = program.climb(&mut basis, &shortfall, rhs)?;
    let scale = rhs.iter().fold(1.0f64, |m, b| m.max(*b));
    if first.value < -1e-9 * scale {
        return Err(Error::other("the linear program", "no weights satisfy the constraints"));
    }
    let cost = |j: usize| costs.get(j).copied().unwrap_or(0.0);
    program.climb(&mut basis, &cost, rhs)
}

/// Whether `point` is a mixture of `set`, up to 1e-9 in total.
///
/// A mixture is decided by as many symbols as there are independent laws, however many symbols there are:
/// those are picked by elimination, the program is solved on them, and its mixture compared everywhere.
pub fn in_hull(set: &[Distribution], point: &Distribution) -> bool {
    if set.is_empty() || set.iter().any(|p| p.len() != point.len()) {
        return false;
    }
    let picked = deciding_symbols(set);
    // Masses of a large alphabet are small: every row is scaled to entries of at most one.
    let scale = |x: usize| set.iter().map(|p| p[x]).fold(0.0, f64::max);
    // The weights sum to one, which the picked symbols alone may not say.
    let entries = |p: &Distribution| picked.iter().map(|&x| p[x] / scale(x)).chain([1.0]).collect();
    let columns: Vec<Vec<f64>> = set.iter().map(entries).collect();
    let rhs: Vec<f64> = entries(point);
    let Ok(found) = maximise(&columns, &vec![0.0; set.len()], &rhs) else { return false };
    let mixed = |x: usize| found.weights.iter().map(|&(j, w)| w * set[j][x]).sum::<f64>();
    let apart: f64 = (0..point.len()).map(|x| (mixed(x) - point[x]).abs()).sum();
    apart <= 1e-9
}

/// Symbols on which the laws are as independent as they are anywhere: Gaussian elimination over the laws,
/// each time at the symbol where what is left of them is largest.
fn deciding_symbols(set: &[Distribution]) -> Vec<usize> {
    let mut left: Vec<Vec<f64>> = set.iter().map(|p| p.as_slice().to_vec()).collect();
    let mut picked = Vec::new();
    let noise = 1e-12 * set.iter().map(Distribution::max).fold(0.0, f64::max);
    while let Some((at, x)) = largest_entry(&left, noise) {
        let pivot = left.swap_remove(at);
        for row in &mut left {
            let factor = row[x] / pivot[x];
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
            row[x] = 0.0;
        }
        picked.push(x);
    }
    picked
}

/// Row and column of the largest entry, unless nothing above `noise` is left.
fn largest_entry(rows: &[Vec<f64>], noise: f64) -> Option<(usize, usize)> {
    let entries = rows.iter().enumerate().flat_map(|(i, row)| (0..row.len()).map(move |x| (i, x)));
    let size = |&(i, x): &(usize, usize)| rows[i][x].abs();
    let most = entries.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    (size(&most) > noise).then_some(most)
}

struct Program<'a> {
    columns: &'a [Vec<f64>],
    rows: usize,
    tolerance: f64,
}

impl Program<'_> {
    fn is_artificial(&self, j: usize) -> bool {
        j >= self.columns.len()
    }

    fn entry(&self, row: usize, j: usize) -> f64 {
        match self.columns.get(j) {
            Some(column) => column[row],
            None => f64::from(u8::from(j - self.columns.len() == row)),
        }
    }

    /// Improves from a feasible basis to an optimal one.
    fn climb(
        &self,
        basis: &mut [usize],
        cost: &dyn Fn(usize) -> f64,
        rhs: &[f64],
    ) -> Result<Optimum, Error> {
        for step in 0..MOST_STEPS {
            let inverse = self.inverse(basis)?;
            let weights: Vec<f64> =
                inverse.iter().map(|row| dot(row, rhs)).map(|w| w.max(0.0)).collect();
            let prices: Vec<f64> = (0..self.rows)
                .map(|i| basis.iter().zip(&inverse).map(|(&j, row)| cost(j) * row[i]).sum())
                .collect();
            let careful = step >= DANTZIG_STEPS;
            let Some(entering) = self.entering(basis, cost, &prices, careful) else {
                let value = basis.iter().zip(&weights).map(|(&j, w)| cost(j) * w).sum();
                let used = basis
                    .iter()
                    .zip(&weights)
                    .filter(|(j, w)| !self.is_artificial(**j) && **w > 0.0);
                return Ok(Optimum {
                    value,
                    weights: used.map(|(&j, &w)| (j, w)).collect(),
                    prices,
                });
            };
            let direction: Vec<f64> =
                inverse.iter().map(|row| dot(row, &self.columns[entering])).collect();
            let Some(leaving) = self.leaving(basis, &weights, &direction, careful) else {
                return Err(Error::other("the linear program", "is unbounded"));
            };
            basis[leaving] = entering;
        }
        Err(Error::other("the linear program", "did not settle; use the closed-form bound"))
    }

    /// A column worth more than it costs: the best one, or the first once `careful`.
    fn entering(
        &self,
        basis: &[usize],
        cost: &dyn Fn(usize) -> f64,
        prices: &[f64],
        careful: bool,
    ) -> Option<usize> {
        let mut best = None;
        let mut gain = self.tolerance;
        for (j, column) in self.columns.iter().enumerate() {
            let reduced = cost(j) - dot(prices, column);
            if reduced > gain && !basis.contains(&j) {
                if careful {
                    return Some(j);
                }
                (best, gain) = (Some(j), reduced);
            }
        }
        best
    }

    /// A row that reaches zero first: of those that do so within the tolerance, the one with the
    /// largest pivot, or the first column once `careful`. An artificial column at zero leaves at
    /// once, so that it cannot grow again.
    fn leaving(
        &self,
        basis: &[usize],
        weights: &[f64],
        direction: &[f64],
        careful: bool,
    ) -> Option<usize> {
        let rows = || {
            let all = weights.iter().zip(direction).enumerate();
            all.filter_map(|(i, (&w, &d))| {
                let idle = self.is_artificial(basis[i]) && w <= TOLERANCE;
                let falls = d > PIVOT || (idle && d < -PIVOT);
                falls.then_some((i, if idle { 0.0 } else { w }, d.abs()))
            })
        };
        let least = rows().map(|(_, w, d)| (w + TOLERANCE) / d).fold(f64::INFINITY, f64::min);
        let first = rows().filter(|&(_, w, d)| w / d <= least);
        let chosen = if careful {
            first.min_by_key(|&(i, _, _)| basis[i])
        } else {
            first.max_by(|a, b| a.2.total_cmp(&b.2))
        };
        chosen.map(|(i, _, _)| i)
    }

    /// The inverse of the basis matrix, by elimination with pivoting.
    fn inverse(&self, basis: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let n = self.rows;
        let mut work: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let left = basis.iter().map(|&j| self.entry(i, j));
                left.chain((0..n).map(|k| f64::from(u8::from(i == k)))).collect()
            })
            .collect();
        for k in 0..n {
            let pivot = (k..n).max_by(|&a, &b| work[a][k].abs().total_cmp(&work[b][k].abs()));
            let Some(pivot) = pivot.filter(|&row| work[row][k].abs() > 1e-13) else {
                return Err(Error::other("the linear program", "its basis became singular"));
            };
            work.swap(k, pivot);
            let head = work[k][k];
            work[k].iter_mut().for_each(|v| *v /= head);
            let row = work[k].clone();
            for (i, other) in work.iter_mut().enumerate() {
                let factor = other[k];
                if i != k && factor != 0.0 {
                    other.iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
                }
            }
        }
        Ok(work.into_iter().map(|row| row[n..].to_vec()).collect())
    }
}

/// Σ a(i)·b(i).
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_solved_by_hand() {
        // max 3a + 2b with a + b + s = 4, a + 3b + t = 6, a, b, s, t >= 0: a = 4.
        let columns = vec![vec![1.0, 1.0], vec![1.0, 3.0], vec![1.0, 0.0], vec![0.0, 1.0]];
        let optimum = maximise(&columns, &[3.0, 2.0, 0.0, 0.0], &[4.0, 6.0]).unwrap();
        assert!((optimum.value - 12.0).abs() < 1e-12);
        assert!((dot(&optimum.prices, &[4.0, 6.0]) - 12.0).abs() < 1e-12);
    }

    #[test]
    fn infeasible_unbounded_and_malformed_programs_are_refused() {
        assert!(maximise(&[vec![1.0, 1.0]], &[1.0], &[1.0, 2.0]).is_err());
        assert!(maximise(&[vec![1.0], vec![-1.0]], &[1.0, 1.0], &[1.0]).is_err());
        assert!(maximise(&[vec![1.0]], &[1.0, 2.0], &[1.0]).is_err());
        assert!(maximise(&[vec![1.0, 2.0]], &[1.0], &[1.0]).is_err());
        assert!(maximise(&[vec![1.0]], &[1.0], &[f64::NAN]).is_err());
        assert!(maximise(&[], &[], &[1.0]).is_err());
    }

    #[test]
    fn redundant_rows_are_harmless() {
        let columns = vec![vec![1.0, 2.0], vec![2.0, 4.0], vec![0.5, 1.0]];
        let optimum = maximise(&columns, &[1.0, 3.0, 0.1], &[1.0, 2.0]).unwrap();
        assert!((optimum.value - 1.5).abs() < 1e-12);
    }

    #[test]
    fn hull_membership() {
        let d = |p: &[f64]| Distribution::new("p", p.to_vec()).unwrap();
        let set = [d(&[0.1, 0.9]), d(&[0.4, 0.6])];
        assert!(in_hull(&set, &d(&[0.25, 0.75])));
        assert!(in_hull(&set, &d(&[0.4, 0.6])));
        assert!(!in_hull(&set, &d(&[0.5, 0.5])));
        assert!(!in_hull(&set, &d(&[0.2, 0.3, 0.5])));
        assert!(!in_hull(&[], &d(&[0.5, 0.5])));
    }

    #[test]
    fn hull_membership_of_many_symbols() {
        // A million symbols: a table of them times themselves would not fit any memory.
        let n = 1_000_000;
        let law = |f: fn(f64) -> f64| {
            let weights = (0..n).map(|x| f(x as f64 / n as f64)).collect();
            Distribution::normalised("p", weights).unwrap()
        };
        let set = [law(|_| 1.0), law(|x| 1.0 + x), law(|x| 1.0 + x * x)];
        let mix = |w: [f64; 3]| {
            let at = |x: usize| w.iter().zip(&set).map(|(w, p)| w * p[x]).sum();
            Distribution::normalised("p", (0..n).map(at).collect()).unwrap()
        };
        assert!(in_hull(&set, &mix([0.2, 0.5, 0.3])));
        assert!(!in_hull(&set, &law(|x| 1.0 + x * x * x)));
        assert!(!in_hull(&set, &mix([1.4, -0.2, -0.2])));
    }
}
