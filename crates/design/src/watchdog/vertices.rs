//! Every corner of the polytope of posteriors, for small alphabets.

use super::problem::{FLAT, WatchdogProblem};
use undertone_numeric::cone::extreme_rays;

/// A constraint that nothing misses by more than this cuts nothing off.
const TOLERANCE: f64 = 1e-11;

/// More constraints than this and the corners are not listed.
const MAX_CONSTRAINTS: usize = 128;

/// The corners of {q in the simplex : every lift within the budget}: the extreme rays of the cone over it. `None` if
/// there are too many constraints or corners.
pub(super) fn vertices(problem: &WatchdogProblem, most: usize) -> Option<Vec<Vec<f64>>> {
    let symbols = problem.len();
    let cuts = cuts(problem);
    if symbols + cuts.len() > MAX_CONSTRAINTS {
        return None;
    }
    let mut corners = extreme_rays(symbols, &cuts, most).ok()?;
    for q in &mut corners {
        let sum: f64 = q.iter().sum();
        q.iter_mut().for_each(|q| *q /= sum);
    }
    Some(corners)
}

/// Each constraint on the lifts as a vector c with c·q >= 0 on the simplex, scaled to unit size; only
/// those that cut something off.
fn cuts(problem: &WatchdogProblem) -> Vec<Vec<f64>> {
    let (floor, ceiling) = problem.budget.deviations();
    let sides = (0..problem.secrets()).flat_map(|s| [(s, 1.0, floor), (s, -1.0, ceiling)]);
    let cut = |(s, sign, limit): (usize, f64, f64)| {
        let deviations = problem.deviations(s);
        let scale = deviations.iter().fold(limit.abs(), |most, d| most.max(d.abs()));
        let cut: Vec<f64> = deviations.iter().map(|d| sign * (d - limit) / scale).collect();
        (scale > FLAT && cut.iter().any(|&c| c < -TOLERANCE)).then_some(cut)
    };
    sides.filter_map(cut).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Joint;
    use crate::watchdog::Budget;
    use crate::watchdog::polytope::Polytope;
    use undertone_numeric::dense::inverse;
    use undertone_numeric::vector::dot;

    /// A law with no pattern to speak of.
    fn problem(secrets: usize, symbols: usize, seed: usize) -> WatchdogProblem {
        let weight =
            |k: usize| 0.05 + ((k * k + seed * 31) as f64 * 0.618_033_988_749_894_9).fract();
        let total: f64 = (1..=secrets * symbols).map(weight).sum();
        let row = |s: usize| (0..symbols).map(|x| weight(s * symbols + x + 1) / total).collect();
        let joint = Joint::new((0..secrets).map(row).collect()).unwrap();
        WatchdogProblem::new(&joint, Budget::new(0.2 + 0.1 * (seed % 4) as f64, 0.25).unwrap())
            .unwrap()
    }

    /// The point where the given constraints and Σq = 1 hold with equality, if there is exactly one.
    fn meet(constraints: &[Vec<f64>], chosen: &[usize]) -> Option<Vec<f64>> {
        let n = constraints[0].len();
        let rows = chosen.iter().map(|&at| constraints[at].clone()).chain([vec![1.0; n]]);
        Some(inverse(rows.collect())?.iter().map(|row| row[n - 1]).collect())
    }

    /// All corners by trying every choice of n - 1 constraints.
    fn brute_force(problem: &WatchdogProblem) -> Vec<Vec<f64>> {
        let n = problem.len();
        let unit = |x: usize| (0..n).map(|y| f64::from(u8::from(x == y))).collect();
        let constraints: Vec<Vec<f64>> = (0..n).map(unit).chain(cuts(problem)).collect();
        let mut corners: Vec<Vec<f64>> = Vec::new();
        for choice in 0u32..1 << constraints.len() {
            if choice.count_ones() as usize != n - 1 {
                continue;
            }
            let chosen: Vec<usize> =
                (0..constraints.len()).filter(|at| choice >> at & 1 == 1).collect();
            let Some(q) = meet(&constraints, &chosen) else { continue };
            let feasible = constraints.iter().all(|c| dot(c, &q) >= -1e-10);
            if feasible && !corners.iter().any(|other| same(other, &q)) {
                corners.push(q);
            }
        }
        corners
    }

    fn same(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-8)
    }

    #[test]
    fn every_corner_is_found_and_nothing_else() {
        for seed in 0..12 {
            let problem = problem(2 + seed % 3, 3 + seed % 3, seed);
            let expected = brute_force(&problem);
            let found = vertices(&problem, 10_000).unwrap();
            assert!(expected.len() >= 3);
            assert_eq!(found.len(), expected.len(), "seed {seed}");
            assert!(expected.iter().all(|q| found.iter().any(|other| same(other, q))));
        }
    }

    #[test]
    fn the_simplex_finds_the_lowest_corner() {
        for seed in 0..8 {
            let problem = problem(4, 6, seed);
            let corners = vertices(&problem, 10_000).unwrap();
            let mut polytope = Polytope::new(&problem);
            for direction in 0..40usize {
                let slope = |x: usize| ((direction * 7 + x * x + 3) as f64 * 0.754_877_666).fract();
                let cost: Vec<f64> = (0..6).map(|x| slope(x) - 0.5).collect();
                let lowest = corners.iter().map(|q| dot(q, &cost)).fold(f64::INFINITY, f64::min);
                let found = polytope.lowest(&cost).unwrap();
                assert!((dot(&found, &cost) - lowest).abs() < 1e-11);
                // The bound over the whole box is the same value from below.
                let (_, bound) = polytope.within(&cost, &[0.0; 6], &[1.0; 6]).unwrap();
                assert!(bound <= lowest + 1e-14 && bound > lowest - 1e-11);
                polytope.restart();
            }
        }
    }
}
