//! Extremal lift vectors of mechanisms that keep their promise under several priors at once.

use std::collections::HashSet;

use super::LiftRange;
use crate::distribution::in_one_order;
use crate::{Distribution, Error};

/// Above this many choices of tight constraints the vertices are no longer enumerated.
const MAX_CHOICES: usize = 2_000_000;

/// All extreme rays of {v : low·(P·v) <= v(x) <= high·(P·v) for every listed prior P and every x},
/// scaled so that the first prior gives P·v = 1, in the order of its symbols.
///
/// v is one column q(y|·) of a mechanism, up to scale. At a ray, M-1 independent constraints are
/// tight; every choice is tried. [`super::lifts`] is the case of a single prior.
pub fn family_lifts(priors: &[Distribution], range: LiftRange) -> Result<Vec<Vec<f64>>, Error> {
    let Some(first) = priors.first() else {
        return Err(Error::Empty { what: "the list of priors".into() });
    };
    let m = first.len();
    let priors = &*in_one_order("a prior of the list", priors)?;
    if range.reveals_nothing() || m == 1 {
        return Ok(vec![vec![1.0; m]]);
    }
    let constraints = constraints(priors, range);
    let choices = choose(constraints.len(), m - 1);
    if choices > MAX_CHOICES {
        return Err(Error::TooLarge {
            what: "the number of ways to pick tight constraints".into(),
            size: choices,
            limit: MAX_CHOICES,
            fix: "give fewer priors or fewer symbols, or use the closed-form bound".into(),
        });
    }
    let mut search =
        Search { constraints: &constraints, first, seen: HashSet::new(), rays: Vec::new() };
    search.extend(0, &mut Vec::new());
    Ok(search.rays)
}

/// Vectors a with a·v >= 0 for every allowed v, without repetitions.
fn constraints(priors: &[Distribution], range: LiftRange) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for prior in priors {
        for x in 0..prior.len() {
            let unit = |z: usize| f64::from(u8::from(z == x));
            let p = prior.as_slice().iter().enumerate();
            let above = p.clone().map(|(z, p)| unit(z) - range.low() * p).collect();
            let below = p.map(|(z, p)| range.high() * p - unit(z)).collect();
            for row in [above, below] {
                if !all.contains(&row) {
                    all.push(row);
                }
            }
        }
    }
    all
}

/// Binomial coefficient, saturating.
fn choose(n: usize, k: usize) -> usize {
    (0..k).try_fold(1usize, |sum, i| Some(sum.checked_mul(n - i)? / (i + 1))).unwrap_or(usize::MAX)
}

/// A tight constraint after elimination, and the column it was solved for.
struct Pivot {
    row: Vec<f64>,
    column: usize,
}

struct Search<'a> {
    constraints: &'a [Vec<f64>],
    first: &'a Distribution,
    seen: HashSet<Vec<i64>>,
    rays: Vec<Vec<f64>>,
}

impl Search<'_> {
    /// Adds one more tight constraint in every independent way; with M-1 of them, reads off the ray.
    fn extend(&mut self, from: usize, pivots: &mut Vec<Pivot>) {
        let m = self.first.len();
        if pivots.len() == m - 1 {
            return self.keep(null_vector(pivots, m));
        }
        for at in from..self.constraints.len() {
            let mut row = self.constraints[at].clone();
            for pivot in pivots.iter() {
                let factor = row[pivot.column];
                row.iter_mut().zip(&pivot.row).for_each(|(r, p)| *r -= factor * p);
            }
            let Some(column) = (0..m).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs())) else {
                return;
            };
            let scale = row[column];
            if scale.abs() < 1e-11 {
                continue; // depends on the constraints chosen already
            }
            row.iter_mut().for_each(|r| *r /= scale);
            pivots.push(Pivot { row, column });
            self.extend(at + 1, pivots);
            pivots.pop();
        }
    }

    /// Keeps a direction, in whichever orientation satisfies every constraint.
    fn keep(&mut self, direction: Vec<f64>) {
        let total: f64 = direction.iter().zip(self.first.as_slice()).map(|(v, p)| v * p).sum();
        let ray: Vec<f64> = direction.iter().map(|v| v / total).collect();
        if !ray.iter().all(|v| *v > 0.0 && v.is_finite()) {
            return;
        }
        let top = ray.iter().copied().fold(0.0, f64::max);
        let holds =
            |a: &Vec<f64>| a.iter().zip(&ray).map(|(a, v)| a * v).sum::<f64>() >= -1e-11 * top;
        let key = ray.iter().map(|v| (v.ln() * 1e9).round() as i64).collect();
        if self.constraints.iter().all(holds) && self.seen.insert(key) {
            self.rays.push(ray);
        }
    }
}

/// The direction orthogonal to M-1 independent rows: the one column without a pivot is set to one.
fn null_vector(pivots: &[Pivot], m: usize) -> Vec<f64> {
    let mut v = vec![0.0; m];
    if let Some(free) = (0..m).find(|&z| pivots.iter().all(|pivot| pivot.column != z)) {
        v[free] = 1.0;
    }
    // A later row has zeros in the earlier pivots' columns, so solve from the last one back.
    for pivot in pivots.iter().rev() {
        let rest: f64 = pivot.row.iter().zip(&v).map(|(a, v)| a * v).sum::<f64>() - v[pivot.column];
        v[pivot.column] = -rest;
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extremal::lifts;

    #[test]
    fn one_prior_gives_the_ordinary_vertices() {
        for (p, epsilon) in
            [(vec![0.5, 0.3, 0.2], 0.7), (vec![0.1, 0.1, 0.1, 0.7], 2.0), (vec![0.9, 0.1], 1.0)]
        {
            let prior = Distribution::new("p", p).unwrap();
            let range = LiftRange::symmetric(epsilon).unwrap();
            let expected = lifts(&prior, range.low(), range.high()).unwrap();
            let found = family_lifts(std::slice::from_ref(&prior), range).unwrap();
            assert_eq!(found.len(), expected.len());
            for ray in found {
                let near = |v: &Vec<f64>| v.iter().zip(&ray).all(|(a, b)| (a - b).abs() < 1e-9);
                assert!(expected.iter().any(near), "{ray:?}");
            }
        }
    }

    #[test]
    fn rays_keep_the_promise_under_every_prior() {
        let priors = [vec![0.5, 0.3, 0.2], vec![0.2, 0.3, 0.5], vec![0.3, 0.4, 0.3]]
            .map(|p| Distribution::new("p", p).unwrap());
        let range = LiftRange::asymmetric(0.6, 0.9).unwrap();
        let rays = family_lifts(&priors, range).unwrap();
        assert!(rays.len() >= 3);
        for ray in &rays {
            let mut tight = 0;
            for prior in &priors {
                let total: f64 = ray.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
                for v in ray {
                    assert!((range.low() - 1e-10..=range.high() + 1e-10).contains(&(v / total)));
                    tight += usize::from((v / total - range.low()).abs() < 1e-9);
                    tight += usize::from((v / total - range.high()).abs() < 1e-9);
                }
            }
            assert!(tight >= 2, "a ray in three dimensions has two tight constraints: {ray:?}");
        }
    }
}
