//! Extreme rays of a polyhedral cone, by double description.

use std::collections::HashSet;

use crate::vector::dot;

/// Inequalities met to within this share of the ray's length count as tight.
const TIGHT: f64 = 1e-10;

struct Ray {
    /// Scaled to a largest entry of one.
    at: Vec<f64>,
    /// One bit per inequality seen so far, the orthant's first: whether it is tight.
    tight: Vec<u64>,
}

/// A cone has more extreme rays, before or after all of its rows are taken into account, than were allowed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} extreme rays")]
pub struct TooManyRays(
    /// How many there were when it gave up.
    pub usize,
);

/// The extreme rays of {v >= 0 : a·v >= 0 for every row a} in `size` dimensions, scaled to a largest entry of
/// one; refused once there are more than `most`.
///
/// Inequalities are added one at a time; a ray cut off is replaced by its meeting points with the
/// rays on the right side it is adjacent to, that is, those that share a face with it on which no
/// third ray lies.
pub fn extreme_rays(
    size: usize,
    rows: &[Vec<f64>],
    most: usize,
) -> Result<Vec<Vec<f64>>, TooManyRays> {
    let words = (size + rows.len()).div_ceil(64);
    let axis = |x: usize| {
        let at = (0..size).map(|z| f64::from(u8::from(z == x))).collect();
        let mut tight = vec![0; words];
        (0..size).filter(|&z| z != x).for_each(|z| set(&mut tight, z));
        Ray { at, tight }
    };
    let mut rays: Vec<Ray> = (0..size).map(axis).collect();
    for (k, row) in rows.iter().enumerate() {
        let scale = row.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let side: Vec<f64> = rays
            .iter()
            .map(|ray| dot(row, &ray.at) / scale.max(f64::MIN_POSITIVE))
            .map(|value| if value.abs() <= TIGHT { 0.0 } else { value })
            .collect();
        let mut made = Vec::new();
        let on = |wanted: fn(f64) -> bool| {
            (0..side.len()).filter(|&i| wanted(side[i])).collect::<Vec<_>>()
        };
        for &i in &on(|s| s > 0.0) {
            for &j in &on(|s| s < 0.0) {
                let shared = common(&rays[i].tight, &rays[j].tight);
                if adjacent(&rays, i, j, &shared, size) {
                    made.push(meet(&rays[i], &rays[j], side[i], -side[j], shared, size + k));
                }
            }
        }
        let mut kept: Vec<Ray> = Vec::new();
        for (mut ray, side) in rays.into_iter().zip(side) {
            if side == 0.0 {
                set(&mut ray.tight, size + k);
            }
            if side >= 0.0 {
                kept.push(ray);
            }
        }
        kept.append(&mut made);
        if kept.len() > most {
            return Err(TooManyRays(kept.len()));
        }
        rays = kept;
    }
    let mut seen = HashSet::new();
    let key = |at: &[f64]| at.iter().map(|v| (v * 1e9).round() as i64).collect::<Vec<_>>();
    Ok(rays.into_iter().map(|ray| ray.at).filter(|at| seen.insert(key(at))).collect())
}

/// Whether no third ray lies on every face the two share.
fn adjacent(rays: &[Ray], i: usize, j: usize, shared: &[u64], size: usize) -> bool {
    let count: u32 = shared.iter().map(|word| word.count_ones()).sum();
    let contains = |ray: &Ray| shared.iter().zip(&ray.tight).all(|(s, t)| s & t == *s);
    count as usize + 2 >= size
        && !rays.iter().enumerate().any(|(k, ray)| k != i && k != j && contains(ray))
}

fn meet(above: &Ray, below: &Ray, up: f64, down: f64, mut tight: Vec<u64>, row: usize) -> Ray {
    let at: Vec<f64> = above.at.iter().zip(&below.at).map(|(a, b)| down * a + up * b).collect();
    let top = at.iter().fold(0.0f64, |m, v| m.max(*v)).max(f64::MIN_POSITIVE);
    set(&mut tight, row);
    Ray { at: at.iter().map(|v| v / top).collect(), tight }
}

fn common(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::inverse;
    use crate::dice::{Dice, unit};

    fn scaled(ray: &[f64]) -> Vec<i64> {
        let top = ray.iter().fold(0.0f64, |m, v| m.max(*v));
        ray.iter().map(|v| (v / top * 1e6).round() as i64).collect()
    }

    /// Every choice of size - 1 tight constraints in turn.
    fn slowly(size: usize, rows: &[Vec<f64>]) -> Vec<Vec<i64>> {
        let axis = |x: usize| (0..size).map(|z| f64::from(u8::from(z == x))).collect();
        let all: Vec<Vec<f64>> = (0..size).map(axis).chain(rows.iter().cloned()).collect();
        let mut found = Vec::new();
        for choice in (0u32..1 << all.len()).filter(|c| c.count_ones() as usize == size - 1) {
            // The point with sum one on the chosen constraints.
            let chosen =
                (0..all.len()).filter(|at| choice >> at & 1 == 1).map(|at| all[at].clone());
            let Some(inverse) = inverse(chosen.chain([vec![1.0; size]]).collect()) else {
                continue;
            };
            let ray: Vec<f64> = inverse.iter().map(|row| row[size - 1]).collect();
            if all.iter().all(|a| dot(a, &ray) >= -1e-9) {
                found.push(scaled(&ray));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn agrees_with_trying_every_choice_of_tight_constraints() {
        let mut dice = Dice::new(21);
        for case in 0..60 {
            let (size, count) = (2 + case % 4, case % 7);
            // Every row leaves the even point inside; few distinct numbers make degenerate cones.
            let rows: Vec<Vec<f64>> = (0..count)
                .map(|_| {
                    let mut row: Vec<f64> =
                        (0..size).map(|_| (7.0 * unit(&mut dice)).floor() - 3.0).collect();
                    let short: f64 = row.iter().sum();
                    row[0] += (1.0 - short).max(0.0);
                    row
                })
                .collect();
            let found = extreme_rays(size, &rows, 10_000).unwrap();
            let mut found: Vec<Vec<i64>> = found.iter().map(|ray| scaled(ray)).collect();
            found.sort();
            assert_eq!(found, slowly(size, &rows), "{case}: {rows:?}");
        }
    }

    #[test]
    fn the_rays_of_bounded_ratios_have_two_values() {
        let m = 5;
        let mut rows = Vec::new();
        for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let mut row = vec![0.0; m];
            (row[a], row[b]) = (-1.0, 3.0);
            rows.push(row);
        }
        let found = extreme_rays(m, &rows, 1000).unwrap();
        assert_eq!(found.len(), (1 << m) - 2);
        assert!(
            found.iter().flatten().all(|v| (v - 1.0).abs() < 1e-9 || (3.0 * v - 1.0).abs() < 1e-9)
        );
        assert!(matches!(extreme_rays(m, &rows, 10), Err(TooManyRays(count)) if count > 10));
    }
}
