//! Extreme rays of a polyhedral cone, by double description.

use std::collections::HashSet;

use super::region::dot;
use crate::Error;

/// More rays than this, at any stage, and the cone is not listed.
const MAX_RAYS: usize = 20_000;

/// Inequalities met to within this share of the ray's length count as tight.
const TIGHT: f64 = 1e-10;

struct Ray {
    /// Scaled to a largest entry of one.
    at: Vec<f64>,
    /// One bit per inequality seen so far, the orthant's first: whether it is tight.
    tight: Vec<u64>,
}

/// The extreme rays of {v >= 0 : a·v >= 0 for every row a}, scaled to a largest entry of one.
///
/// Inequalities are added one at a time; a ray cut off is replaced by its meeting points with the
/// rays on the right side it is adjacent to, that is, those that share a face with it on which no
/// third ray lies.
pub(super) fn rays(symbols: usize, rows: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, Error> {
    let words = (symbols + rows.len()).div_ceil(64);
    let axis = |x: usize| {
        let at = (0..symbols).map(|z| f64::from(u8::from(z == x))).collect();
        let mut tight = vec![0; words];
        (0..symbols).filter(|&z| z != x).for_each(|z| set(&mut tight, z));
        Ray { at, tight }
    };
    let mut rays: Vec<Ray> = (0..symbols).map(axis).collect();
    for (k, row) in rows.iter().enumerate() {
        let size = row.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let side: Vec<f64> = rays
            .iter()
            .map(|ray| dot(row, &ray.at) / size.max(f64::MIN_POSITIVE))
            .map(|value| if value.abs() <= TIGHT { 0.0 } else { value })
            .collect();
        let mut made = Vec::new();
        let on = |wanted: fn(f64) -> bool| {
            (0..side.len()).filter(|&i| wanted(side[i])).collect::<Vec<_>>()
        };
        for &i in &on(|s| s > 0.0) {
            for &j in &on(|s| s < 0.0) {
                let shared = common(&rays[i].tight, &rays[j].tight);
                if adjacent(&rays, i, j, &shared, symbols) {
                    made.push(meet(&rays[i], &rays[j], side[i], -side[j], shared, symbols + k));
                }
            }
        }
        let mut kept: Vec<Ray> = Vec::new();
        for (mut ray, side) in rays.into_iter().zip(side) {
            if side == 0.0 {
                set(&mut ray.tight, symbols + k);
            }
            if side >= 0.0 {
                kept.push(ray);
            }
        }
        kept.append(&mut made);
        if kept.len() > MAX_RAYS {
            return Err(Error::TooLarge {
                what: "the list of extremal outputs".into(),
                size: kept.len(),
                limit: MAX_RAYS,
                fix: "make fewer claims, or merge symbols".into(),
            });
        }
        rays = kept;
    }
    let mut seen = HashSet::new();
    let key = |at: &[f64]| at.iter().map(|v| (v * 1e9).round() as i64).collect::<Vec<_>>();
    Ok(rays.into_iter().map(|ray| ray.at).filter(|at| seen.insert(key(at))).collect())
}

/// Whether no third ray lies on every face the two share.
fn adjacent(rays: &[Ray], i: usize, j: usize, shared: &[u64], symbols: usize) -> bool {
    let count: u32 = shared.iter().map(|word| word.count_ones()).sum();
    let contains = |ray: &Ray| shared.iter().zip(&ray.tight).all(|(s, t)| s & t == *s);
    count as usize + 2 >= symbols
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Distribution, extremal};

    /// low·(P·v) <= v(x) <= high·(P·v).
    fn lip(prior: &Distribution, low: f64, high: f64) -> Vec<Vec<f64>> {
        let m = prior.len();
        let row = |x: usize, upper: bool| {
            let unit = |z: usize| f64::from(u8::from(z == x));
            let cell = |z: usize| {
                if upper { high * prior[z] - unit(z) } else { unit(z) - low * prior[z] }
            };
            (0..m).map(cell).collect::<Vec<_>>()
        };
        (0..m).flat_map(|x| [row(x, true), row(x, false)]).collect()
    }

    #[test]
    fn the_rays_of_one_lip_claim_are_the_extremal_lifts() {
        for (p, eps) in [
            (vec![0.5, 0.3, 0.2], 0.7f64),
            (vec![0.1, 0.1, 0.1, 0.7], 2.0),
            (vec![0.25; 4], 3f64.ln()),
        ] {
            let prior = Distribution::new("p", p).unwrap();
            let (low, high) = ((-eps).exp(), eps.exp());
            let mut ours: Vec<Vec<i64>> = rays(prior.len(), &lip(&prior, low, high))
                .unwrap()
                .iter()
                .map(|v| {
                    v.iter().map(|a| (a / dot(prior.as_slice(), v) * 1e6).round() as i64).collect()
                })
                .collect();
            let mut known: Vec<Vec<i64>> = extremal::lifts(&prior, low, high)
                .unwrap()
                .iter()
                .map(|v| v.iter().map(|a| (a * 1e6).round() as i64).collect())
                .collect();
            ours.sort();
            known.sort();
            assert_eq!(ours, known);
        }
    }

    #[test]
    fn the_rays_of_ldp_have_two_values() {
        let m = 5;
        let mut rows = Vec::new();
        for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let mut row = vec![0.0; m];
            (row[a], row[b]) = (-1.0, 3.0);
            rows.push(row);
        }
        let found = rays(m, &rows).unwrap();
        assert_eq!(found.len(), (1 << m) - 2);
        assert!(
            found.iter().flatten().all(|v| (v - 1.0).abs() < 1e-9 || (3.0 * v - 1.0).abs() < 1e-9)
        );
    }
}
