//! Extremal lift vectors of mechanisms that keep their promise under several priors at once.

use std::collections::HashSet;

use super::LiftRange;
use crate::distribution::in_one_order;
use crate::{Channel, Distribution, Error};

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
    // One prior alone gives two constraints per symbol: refuse before a table of them is made.
    let fewest = choose(2 * m, m - 1);
    if fewest > MAX_CHOICES {
        return Err(too_many(fewest));
    }
    let constraints = constraints(priors, range);
    let choices = choose(constraints.len(), m - 1);
    if choices > MAX_CHOICES {
        return Err(too_many(choices));
    }
    let mut search = Search {
        constraints: &constraints,
        seen: HashSet::new(),
        scale: range.epsilon().min(1.0),
        rays: Vec::new(),
    };
    // Scaled so that the first prior gives P·v = 1: its deviations have mean zero.
    let mut pivots: Vec<Pivot> =
        eliminated(first.as_slice().to_vec(), 0.0, &[]).into_iter().collect();
    search.extend(0, &mut pivots, m);
    Ok(search.rays)
}

fn too_many(choices: usize) -> Error {
    Error::TooLarge {
        what: "the number of ways to pick tight constraints".into(),
        size: choices,
        limit: MAX_CHOICES,
        fix: "give fewer priors or fewer symbols, or use the closed-form bound".into(),
    }
}

/// An inequality a·d >= -room in the deviations d = v - 1.
#[derive(Debug, Clone, PartialEq)]
struct Constraint {
    a: Vec<f64>,
    room: f64,
}

/// Every inequality of the promise, without repetitions.
///
/// In v they are homogeneous and, for small budgets, nearly parallel; in the deviations their right sides
/// are of the size of the budget, which keeps its digits.
fn constraints(priors: &[Distribution], range: LiftRange) -> Vec<Constraint> {
    let mut all: Vec<Constraint> = Vec::new();
    for prior in priors {
        for x in 0..prior.len() {
            let unit = |z: usize| f64::from(u8::from(z == x));
            let p = prior.as_slice().iter().enumerate();
            let above = p.clone().map(|(z, p)| unit(z) - range.low() * p).collect();
            let below = p.map(|(z, p)| range.high() * p - unit(z)).collect();
            let above = Constraint { a: above, room: range.room() };
            let below = Constraint { a: below, room: range.epsilon_upper().exp_m1() };
            for constraint in [above, below] {
                if !all.contains(&constraint) {
                    all.push(constraint);
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

/// An equation Σ row·d = value after elimination, and the column it was solved for.
struct Pivot {
    row: Vec<f64>,
    value: f64,
    column: usize,
}

struct Search<'a> {
    constraints: &'a [Constraint],
    seen: HashSet<Vec<i64>>,
    /// What a difference of logarithms is compared with: the budget, or one nat.
    scale: f64,
    rays: Vec<Vec<f64>>,
}

impl Search<'_> {
    /// Adds one more tight constraint in every independent way; with M equations, reads off the ray.
    fn extend(&mut self, from: usize, pivots: &mut Vec<Pivot>, symbols: usize) {
        if pivots.len() == symbols {
            return self.keep(&solution(pivots));
        }
        for at in from..self.constraints.len() {
            let Constraint { a, room } = &self.constraints[at];
            let Some(pivot) = eliminated(a.clone(), -room, pivots) else { continue };
            pivots.push(pivot);
            self.extend(at + 1, pivots, symbols);
            pivots.pop();
        }
    }

    /// Keeps a solution that satisfies every constraint.
    fn keep(&mut self, deviations: &[f64]) {
        let ray: Vec<f64> = deviations.iter().map(|d| 1.0 + d).collect();
        if !ray.iter().all(|v| *v > 0.0 && v.is_finite()) {
            return;
        }
        let holds = |constraint: &Constraint| {
            let products = || constraint.a.iter().zip(deviations).map(|(a, d)| a * d);
            let size: f64 = constraint.room + products().map(f64::abs).sum::<f64>();
            products().sum::<f64>() + constraint.room >= -1e-11 * size
        };
        let key =
            deviations.iter().map(|d| (d.ln_1p() / self.scale * 1e9).round() as i64).collect();
        if self.constraints.iter().all(holds) && self.seen.insert(key) {
            self.rays.push(ray);
        }
    }
}

/// The equation row·d = value solved for its largest coefficient, after the columns of `pivots` are taken
/// out; nothing if it depends on them.
fn eliminated(mut row: Vec<f64>, mut value: f64, pivots: &[Pivot]) -> Option<Pivot> {
    for pivot in pivots {
        let factor = row[pivot.column];
        row.iter_mut().zip(&pivot.row).for_each(|(r, p)| *r -= factor * p);
        value -= factor * pivot.value;
        row[pivot.column] = 0.0;
    }
    let column = (0..row.len()).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()))?;
    let scale = row[column];
    if scale.abs() < 1e-11 {
        return None;
    }
    row.iter_mut().for_each(|r| *r /= scale);
    Some(Pivot { row, value: value / scale, column })
}

/// The one solution of as many equations as unknowns.
fn solution(pivots: &[Pivot]) -> Vec<f64> {
    let mut d = vec![0.0; pivots.len()];
    // A later row has zeros in the earlier pivots' columns, so solve from the last one back.
    for pivot in pivots.iter().rev() {
        let others = pivot.row.iter().zip(&d).enumerate().filter(|(z, _)| *z != pivot.column);
        d[pivot.column] = pivot.value - others.map(|(_, (r, d))| r * d).sum::<f64>();
    }
    d
}

/// A two-output channel whose first output has likelihoods proportional to `ray`, released as often as the
/// second output can bear under every prior.
///
/// The second output has 1 - w·v(x), which must lie between low and high times 1 - w·(P·v).
pub fn family_witness(
    ray: &[f64],
    priors: &[Distribution],
    range: LiftRange,
) -> Result<Channel, Error> {
    let most = ray.iter().copied().fold(1.0, f64::max);
    let mut weight = 0.5 / most;
    for prior in priors {
        let total: f64 = ray.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
        for v in ray {
            let (rises, falls) = (v - range.low() * total, range.high() * total - v);
            if rises > 0.0 {
                weight = weight.min(range.room() / rises);
            }
            if falls > 0.0 {
                weight = weight.min(range.epsilon_upper().exp_m1() / falls);
            }
        }
    }
    Channel::new(ray.iter().map(|v| vec![weight * v, 1.0 - weight * v]).collect())
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
