//! A quadratic form over numbers that have a floor.

use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::vector::long_dot;

/// Which numbers lie on their floor; kept from one problem to the next, because neighbours are alike.
pub(super) type OnFloor = Vec<bool>;

/// The d with d ≥ `floor` that makes dᵀ G d/2 - vᵀ d small, G positive definite: the minimum, or after too many
/// steps some d that is close to it.
///
/// Block principal pivoting (Júdice and Pires, 1994): guess which numbers are on their floor, solve for the
/// others, and exchange all that are on the wrong side; one at a time where that runs in circles.
pub(super) fn minimise(
    gram: &[Vec<f64>],
    v: &[f64],
    floor: &[f64],
    on_floor: &mut OnFloor,
) -> Vec<f64> {
    const STEPS: usize = 60;
    const PATIENCE: usize = 3;
    let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
    let mut d = floor.to_vec();
    for _ in 0..STEPS {
        d = solve(gram, v, floor, on_floor);
        let reach = 1.0 + d.iter().map(|d| d.abs()).fold(0.0, f64::max);
        let size = 1.0 + v.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let wrong: Vec<usize> = (0..v.len())
            .filter(|&x| {
                if on_floor[x] {
                    long_dot(&gram[x], &d) - v[x] < -1e-9 * size
                } else {
                    d[x] < floor[x] - 1e-9 * reach
                }
            })
            .collect();
        let Some(&last) = wrong.last() else { return d };
        if wrong.len() < fewest {
            (fewest, patience) = (wrong.len(), PATIENCE);
        } else if patience > 0 {
            patience -= 1;
        } else {
            on_floor[last] = !on_floor[last];
            continue;
        }
        wrong.iter().for_each(|&x| on_floor[x] = !on_floor[x]);
    }
    d.iter().zip(floor).map(|(d, floor)| d.max(*floor)).collect()
}

/// d on its floor where said, and G d = v elsewhere, by Cholesky's factors.
fn solve(gram: &[Vec<f64>], v: &[f64], floor: &[f64], on_floor: &OnFloor) -> Vec<f64> {
    let free: Vec<usize> = (0..v.len()).filter(|&x| !on_floor[x]).collect();
    let fixed: Vec<f64> =
        floor.iter().zip(on_floor).map(|(floor, on)| if *on { *floor } else { 0.0 }).collect();
    // Rounding can leave nothing of a pivot; such a number stays where it is.
    let factor = Cholesky::skipping(free.len(), |i, j| gram[free[i]][free[j]], 1e-14);
    let right = |&x: &usize| v[x] - long_dot(&gram[x], &fixed);
    let solution = factor.solve(&free.iter().map(right).collect::<Vec<_>>());
    let mut d = fixed;
    free.iter().zip(solution).for_each(|(&x, value)| d[x] = value);
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_satisfies_its_conditions() {
        let size = 12;
        let gram: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                let cell = |j: usize| {
                    let apart = (i as f64 - j as f64).abs();
                    (-0.3 * apart).exp() + if i == j { 0.01 } else { 0.0 }
                };
                (0..size).map(cell).collect()
            })
            .collect();
        let v: Vec<f64> = (0..size).map(|x| if x < 5 { 1.0 } else { -0.2 }).collect();
        for level in [0.0, -0.05, -0.5, -50.0] {
            let floor = vec![level; size];
            let d = minimise(&gram, &v, &floor, &mut vec![false; size]);
            for x in 0..size {
                let slope = long_dot(&gram[x], &d) - v[x];
                assert!(d[x] >= level - 1e-7, "{level} {x}: {}", d[x]);
                assert!(slope >= -1e-7, "{level} {x}: {slope}");
                assert!(slope * (d[x] - level) < 1e-6, "{level} {x}: {slope} {}", d[x]);
            }
        }
    }
}
