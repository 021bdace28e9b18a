//! A small dense dual simplex whose rows are made on demand.
//!
//! Minimise c·x over the unit box and rows a·x <= b that an [`Oracle`] hands out one violated row at
//! a time. The box vertex that minimises the cost starts the dual method, so there is no first
//! phase; adding a row keeps it dual feasible, so cutting planes cost nothing extra. A sensor's
//! block has few variables and very many rows, which is what this is good at.

/// Rows whose largest coefficient is one are satisfied up to this.
pub(crate) const TOLERANCE: f64 = 1e-11;

/// Rows that contradict each other by less than this do so because of rounding.
const ROUNDING: f64 = 1e-9;

/// Coefficients below this are no pivots.
const PIVOT: f64 = 1e-9;

/// The basis is inverted afresh after this many pivots.
const REFACTOR: usize = 64;

/// Knows all rows.
pub(crate) trait Oracle {
    /// Writes the row most violated at `x`, scaled to a largest coefficient of one, and returns how
    /// far it is violated and its bound; `None` if no row is violated by more than [`TOLERANCE`].
    fn worst(&mut self, x: &[f64], row: &mut [f64]) -> Option<Cut>;
}

/// How far a row is violated, and its right-hand side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) violation: f64,
    pub(crate) bound: f64,
}

/// The point, or nothing if the method stalled or no point satisfies all rows.
pub(crate) fn minimise(cost: &[f64], oracle: &mut impl Oracle) -> Option<Vec<f64>> {
    if !cost.iter().all(|c| c.is_finite()) {
        return None;
    }
    let size = cost.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    let mut tableau = Tableau::new(cost, if size > 0.0 { size } else { 1.0 });
    let mut row = vec![0.0; cost.len()];
    let mut fresh = true;
    for pivot in 1..=200 + 60 * cost.len() {
        if pivot % REFACTOR == 0 {
            tableau.refactor()?;
            fresh = true;
        }
        let Some(cut) = tableau.worst(oracle, &mut row) else {
            if fresh {
                return Some(tableau.x);
            }
            // Verify the vertex with a fresh inverse before it is believed.
            tableau.refactor()?;
            fresh = true;
            continue;
        };
        if tableau.enter(&row, cut).is_none() {
            // No point satisfies all rows; if this one nearly does, rounding is to blame.
            return (cut.violation < ROUNDING).then_some(tableau.x);
        }
        fresh = false;
    }
    None
}

/// A vertex: n rows that hold with equality, their inverse, and their prices.
struct Tableau {
    n: usize,
    cost: Vec<f64>,
    /// The active rows, one after another, and their bounds.
    rows: Vec<f64>,
    bounds: Vec<f64>,
    /// Column j of the inverse is contiguous.
    inverse: Vec<f64>,
    prices: Vec<f64>,
    x: Vec<f64>,
    /// The entering row in terms of the active ones.
    weights: Vec<f64>,
}

impl Tableau {
    fn new(cost: &[f64], size: f64) -> Self {
        let n = cost.len();
        // A hair of deterministic noise: equal costs would make every step of the dual method idle.
        let hair = |j: usize| 1e-9 * (0.5 + (j as f64 * 0.618_033_988_749_894_9).fract());
        let cost: Vec<f64> = cost.iter().enumerate().map(|(j, c)| c / size + hair(j)).collect();
        let mut rows = vec![0.0; n * n];
        for (j, &c) in cost.iter().enumerate() {
            rows[j * n + j] = if c < 0.0 { 1.0 } else { -1.0 };
        }
        let at = |c: &f64| f64::from(u8::from(*c < 0.0));
        Self {
            n,
            inverse: rows.clone(),
            rows,
            bounds: cost.iter().map(at).collect(),
            prices: cost.iter().map(|c| c.abs()).collect(),
            x: cost.iter().map(at).collect(),
            weights: vec![0.0; n],
            cost,
        }
    }

    /// The most violated row, of the box or of the oracle.
    fn worst(&self, oracle: &mut impl Oracle, row: &mut [f64]) -> Option<Cut> {
        let found = oracle.worst(&self.x, row);
        let mut beyond = None;
        let mut violation = found.map_or(TOLERANCE, |cut| cut.violation.max(TOLERANCE));
        for (at, &x) in self.x.iter().enumerate() {
            let outside = (-x).max(x - 1.0);
            if outside > violation {
                (beyond, violation) = (Some(at), outside);
            }
        }
        let Some(at) = beyond else { return found };
        row.fill(0.0);
        let below = self.x[at] < 0.0;
        row[at] = if below { -1.0 } else { 1.0 };
        Some(Cut { violation, bound: if below { 0.0 } else { 1.0 } })
    }

    /// Makes `row` active in place of the active row whose price would turn negative first.
    fn enter(&mut self, row: &[f64], cut: Cut) -> Option<()> {
        let n = self.n;
        for (weight, column) in self.weights.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *weight = column.iter().zip(row).map(|(a, b)| a * b).sum();
        }
        // Two passes: among rows that would leave at nearly the same step, the largest pivot.
        let leaving = || self.weights.iter().zip(&self.prices).filter(|(w, _)| **w > PIVOT);
        let most = leaving().map(|(w, y)| (y + 1e-12) / w).fold(f64::INFINITY, f64::min);
        if !most.is_finite() {
            return None;
        }
        let mut out = None;
        for (j, (&w, &y)) in self.weights.iter().zip(&self.prices).enumerate() {
            if w > PIVOT && y / w <= most && out.is_none_or(|(_, best)| w > best) {
                out = Some((j, w));
            }
        }
        let (out, pivot) = out?;
        let step = (self.prices[out] / pivot).max(0.0);
        let excess: f64 = row.iter().zip(&self.x).map(|(a, x)| a * x).sum::<f64>() - cut.bound;
        self.inverse[out * n..(out + 1) * n].iter_mut().for_each(|v| *v /= pivot);
        let fresh: Vec<f64> = self.inverse[out * n..(out + 1) * n].to_vec();
        for (j, column) in self.inverse.chunks_exact_mut(n).enumerate() {
            let weight = self.weights[j];
            if j != out && weight != 0.0 {
                column.iter_mut().zip(&fresh).for_each(|(v, f)| *v -= weight * f);
                self.prices[j] = (self.prices[j] - step * weight).max(0.0);
            }
        }
        self.prices[out] = step;
        self.x.iter_mut().zip(&fresh).for_each(|(x, f)| *x -= excess * f);
        self.rows[out * n..(out + 1) * n].copy_from_slice(row);
        self.bounds[out] = cut.bound;
        Some(())
    }

    /// Inverts the active rows afresh (Gauss-Jordan with partial pivoting) and recomputes the point.
    fn refactor(&mut self) -> Option<()> {
        let n = self.n;
        let mut left = self.rows.clone();
        // Row i of `right` becomes row i of the inverse.
        let mut right = vec![0.0; n * n];
        (0..n).for_each(|i| right[i * n + i] = 1.0);
        for at in 0..n {
            let best = (at..n)
                .max_by(|&a, &b| left[a * n + at].abs().total_cmp(&left[b * n + at].abs()))?;
            if !(left[best * n + at].abs() > 1e-13) {
                return None;
            }
            if best != at {
                for j in 0..n {
                    left.swap(at * n + j, best * n + j);
                    right.swap(at * n + j, best * n + j);
                }
            }
            let pivot = left[at * n + at];
            for j in 0..n {
                left[at * n + j] /= pivot;
                right[at * n + j] /= pivot;
            }
            for i in (0..n).filter(|&i| i != at) {
                let factor = left[i * n + at];
                if factor != 0.0 {
                    for j in 0..n {
                        left[i * n + j] -= factor * left[at * n + j];
                        right[i * n + j] -= factor * right[at * n + j];
                    }
                }
            }
        }
        for j in 0..n {
            for i in 0..n {
                self.inverse[j * n + i] = right[i * n + j];
            }
        }
        self.x.fill(0.0);
        for (column, bound) in self.inverse.chunks_exact(n).zip(&self.bounds) {
            self.x.iter_mut().zip(column).for_each(|(x, v)| *x += v * bound);
        }
        for (price, column) in self.prices.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *price = -column.iter().zip(&self.cost).map(|(v, c)| v * c).sum::<f64>();
            *price = price.max(0.0);
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};
    use undertone_design::solve::Program;

    /// A plain list of rows.
    struct List(Vec<(Vec<f64>, f64)>);

    impl Oracle for List {
        fn worst(&mut self, x: &[f64], row: &mut [f64]) -> Option<Cut> {
            let dot = |a: &[f64]| a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            let violation = |(a, b): &(Vec<f64>, f64)| dot(a) - b;
            let worst = self.0.iter().max_by(|a, b| violation(a).total_cmp(&violation(b)))?;
            let cut = Cut { violation: violation(worst), bound: worst.1 };
            row.copy_from_slice(&worst.0);
            (cut.violation > TOLERANCE).then_some(cut)
        }
    }

    #[test]
    fn agrees_with_the_interior_point_method() {
        let mut rng = ChaCha12Rng::seed_from_u64(6);
        let mut uniform = move || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        for case in 0..60 {
            let n = 1 + case % 12;
            let cost: Vec<f64> = (0..n).map(|_| uniform() - 0.5).collect();
            let inside: Vec<f64> = (0..n).map(|_| uniform()).collect();
            let mut rows = Vec::new();
            for _ in 0..3 * n {
                let mut row: Vec<f64> = (0..n).map(|_| uniform() - 0.5).collect();
                let most = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                row.iter_mut().for_each(|v| *v /= most);
                let at: f64 = row.iter().zip(&inside).map(|(a, x)| a * x).sum();
                // Some rows pass through the point, so vertices are degenerate.
                rows.push((row, if uniform() < 0.3 { at } else { at + 0.2 * uniform() }));
            }
            let mut program = Program::new();
            let variables: Vec<usize> = cost.iter().map(|&c| program.non_negative(c)).collect();
            variables.iter().for_each(|&v| program.at_most([(v, 1.0)], 1.0));
            for (row, bound) in &rows {
                program.at_most(variables.iter().copied().zip(row.iter().copied()), *bound);
            }
            let expected = program.solve().unwrap().cost;
            let mut list = List(rows);
            let x = minimise(&cost, &mut list).unwrap();
            let found: f64 = cost.iter().zip(&x).map(|(c, x)| c * x).sum();
            assert!((found - expected).abs() < 1e-7, "case {case}: {found} {expected}");
            assert!(list.worst(&x, &mut vec![0.0; n]).is_none());
            assert!(x.iter().all(|x| (-TOLERANCE..=1.0 + TOLERANCE).contains(x)));
        }
    }

    #[test]
    fn contradictory_rows_have_no_point() {
        let rows = vec![(vec![1.0, 1.0], -0.5)];
        assert!(minimise(&[1.0, -1.0], &mut List(rows)).is_none());
        assert!(minimise(&[f64::NAN], &mut List(vec![])).is_none());
    }

    #[test]
    fn without_rows_the_box_decides() {
        assert_eq!(minimise(&[1.0, -2.0, 0.0], &mut List(vec![])).unwrap(), vec![0.0, 1.0, 0.0]);
    }
}
