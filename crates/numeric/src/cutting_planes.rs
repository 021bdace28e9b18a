//! A linear program over the unit box whose rows are made on demand.
//!
//! Minimise c·x over 0 <= x <= 1 and rows a·x <= b that an oracle hands out one violated row at a time. Its
//! dual has a row per variable and a column per inequality, so this is column generation for the
//! [`Simplex`]: the box vertex that minimises the cost is its first basis, and a new row a new column. Good for
//! few variables and very many rows.

use crate::simplex::{Bounds, Row, Simplex, Verdict};
use crate::vector::dot;

/// Rows and bounds are met to this; an oracle's own tolerance should not be finer.
pub const ROW_TOLERANCE: f64 = 1e-12;

/// Rows that contradict each other by less than this do so because of rounding.
const ROUNDING: f64 = 1e-9;

/// Rows handed out per variable, beyond the first few hundred, before the search is given up.
const ROWS_PER_VARIABLE: usize = 60;

/// Knows all rows of a program.
pub trait RowOracle {
    /// Writes the row most violated at `x`, scaled to a largest coefficient of one, and returns its
    /// right-hand side; `None` if no row is violated by more than the oracle tolerates.
    fn most_violated(&mut self, x: &[f64], row: &mut [f64]) -> Option<f64>;

    /// Whether the search is to be given up: time is over. Asked before every row, and
    /// between steps on the way to it.
    fn stopped(&self) -> bool {
        false
    }
}

/// The vertex of the unit box and all rows where `cost` is least; nothing if no point satisfies all rows, the
/// method stalled or the oracle stopped it.
pub fn minimise_over_box(cost: &[f64], oracle: &mut impl RowOracle) -> Option<Vec<f64>> {
    if !cost.iter().all(|c| c.is_finite()) {
        return None;
    }
    let mut dual = Dual::new(cost);
    let mut row = vec![0.0; cost.len()];
    let mut x = dual.point();
    for _ in 0..200 + ROWS_PER_VARIABLE * cost.len() {
        if oracle.stopped() {
            return None;
        }
        let Some(bound) = oracle.most_violated(&x, &mut row) else { return Some(x) };
        if !(dot(&row, &x) - bound > ROW_TOLERANCE) {
            return Some(x);
        }
        dual.add(&row, bound);
        match dual.simplex.minimise_until(&|| oracle.stopped()) {
            Verdict::Optimal => x = dual.point(),
            // No point satisfies all rows; if this one nearly does, rounding is to blame.
            Verdict::Unbounded { slope } => return (-slope < ROUNDING).then(|| dual.point()),
            Verdict::Infeasible | Verdict::Unsettled => return None,
        }
    }
    None
}

/// min Σ b_i y_i + Σ u_k over Σ y_i a_i + u - v = -c and y, u, v >= 0, whose prices are the point x.
///
/// Rows are multiplied by a sign that makes their right-hand sides positive, so that one of u_k and v_k is the
/// row's own variable in the first basis.
struct Dual {
    simplex: Simplex,
    signs: Vec<f64>,
}

impl Dual {
    fn new(cost: &[f64]) -> Self {
        let size = cost.iter().fold(0.0f64, |most, c| most.max(c.abs()));
        let size = if size > 0.0 { size } else { 1.0 };
        // A hair of deterministic noise: equal costs would make every step idle.
        let hair = |j: usize| 1e-9 * (0.5 + (j as f64 * 0.618_033_988_749_894_9).fract());
        let cost: Vec<f64> = cost.iter().enumerate().map(|(j, c)| c / size + hair(j)).collect();
        let signs: Vec<f64> = cost.iter().map(|c| if *c < 0.0 { 1.0 } else { -1.0 }).collect();
        // An upper end of the box costs one, a lower end nothing.
        let upper = |negative: bool| f64::from(u8::from(negative));
        let row = |c: &f64| Row { rhs: c.abs(), own: Bounds::NON_NEGATIVE, cost: upper(*c < 0.0) };
        let mut simplex = Simplex::new(&cost.iter().map(row).collect::<Vec<_>>());
        simplex.set_tolerance(ROW_TOLERANCE);
        let mut entries = vec![0.0; cost.len()];
        for (j, c) in cost.iter().enumerate() {
            entries[j] = -1.0;
            simplex.add_column(&entries, Bounds::NON_NEGATIVE, upper(*c >= 0.0));
            entries[j] = 0.0;
        }
        Self { simplex, signs }
    }

    fn add(&mut self, row: &[f64], bound: f64) {
        let entries: Vec<f64> = row.iter().zip(&self.signs).map(|(a, s)| a * s).collect();
        self.simplex.add_column(&entries, Bounds::NON_NEGATIVE, bound);
    }

    fn point(&self) -> Vec<f64> {
        self.simplex.prices().iter().zip(&self.signs).map(|(price, s)| price * s).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::inverse;
    use crate::dice::{Dice, unit};

    /// A plain list of rows.
    struct List(Vec<(Vec<f64>, f64)>);

    impl RowOracle for List {
        fn most_violated(&mut self, x: &[f64], row: &mut [f64]) -> Option<f64> {
            let violation = |(a, b): &(Vec<f64>, f64)| dot(a, x) - b;
            let worst = self.0.iter().max_by(|a, b| violation(a).total_cmp(&violation(b)))?;
            row.copy_from_slice(&worst.0);
            (violation(worst) > 1e-11).then_some(worst.1)
        }
    }

    /// The least cost over all vertices, by trying every choice of tight rows.
    fn slowly(cost: &[f64], rows: &[(Vec<f64>, f64)]) -> Option<f64> {
        let n = cost.len();
        let side = |k: usize, sign: f64| (0..n).map(|j| if j == k { sign } else { 0.0 }).collect();
        let sides = (0..n).flat_map(|k| [(side(k, -1.0), 0.0), (side(k, 1.0), 1.0)]);
        let all: Vec<(Vec<f64>, f64)> = sides.chain(rows.iter().cloned()).collect();
        let mut least: Option<f64> = None;
        for choice in (0u32..1 << all.len()).filter(|c| c.count_ones() as usize == n) {
            let chosen: Vec<&(Vec<f64>, f64)> =
                (0..all.len()).filter(|at| choice >> at & 1 == 1).map(|at| &all[at]).collect();
            let Some(inverse) = inverse(chosen.iter().map(|(a, _)| a.clone()).collect()) else {
                continue;
            };
            let bounds: Vec<f64> = chosen.iter().map(|(_, b)| *b).collect();
            let x: Vec<f64> = inverse.iter().map(|row| dot(row, &bounds)).collect();
            if all.iter().all(|(a, b)| dot(a, &x) <= b + 1e-9) {
                let value = dot(cost, &x);
                least = Some(least.map_or(value, |least| least.min(value)));
            }
        }
        least
    }

    #[test]
    fn agrees_with_trying_every_vertex() {
        let mut dice = Dice::new(6);
        let (mut solved, mut empty) = (0, 0);
        for case in 0..120 {
            let n = 1 + case % 4;
            let cost: Vec<f64> = (0..n).map(|_| unit(&mut dice) - 0.5).collect();
            let inside: Vec<f64> = (0..n).map(|_| unit(&mut dice)).collect();
            let mut rows = Vec::new();
            for _ in 0..2 * n {
                let mut row: Vec<f64> = (0..n).map(|_| unit(&mut dice) - 0.5).collect();
                let most = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                row.iter_mut().for_each(|v| *v /= most);
                let at = dot(&row, &inside);
                // Some rows pass through one point, so that vertices are degenerate; a few miss it.
                let room = 0.4 * unit(&mut dice) - 0.05;
                rows.push((row, if unit(&mut dice) < 0.3 { at } else { at + room }));
            }
            let expected = slowly(&cost, &rows);
            let mut list = List(rows);
            let Some(x) = minimise_over_box(&cost, &mut list) else {
                assert_eq!(expected, None, "case {case}");
                empty += 1;
                continue;
            };
            let expected = expected.unwrap_or(f64::NAN);
            assert!((dot(&cost, &x) - expected).abs() < 1e-7, "case {case}: {x:?} {expected}");
            assert!(list.most_violated(&x, &mut vec![0.0; n]).is_none());
            assert!(x.iter().all(|x| (-1e-11..=1.0 + 1e-11).contains(x)));
            solved += 1;
        }
        assert!(solved > 60 && empty > 3, "{solved} {empty}");
    }

    #[test]
    fn contradictory_rows_have_no_point() {
        let rows = vec![(vec![1.0, 1.0], -0.5)];
        assert!(minimise_over_box(&[1.0, -1.0], &mut List(rows)).is_none());
        assert!(minimise_over_box(&[f64::NAN], &mut List(vec![])).is_none());
    }

    #[test]
    fn without_rows_the_box_decides() {
        let found = minimise_over_box(&[1.0, -2.0, 0.0], &mut List(vec![])).unwrap();
        assert_eq!(found, vec![0.0, 1.0, 0.0]);
    }
}
