//! Climbing to the maximum of a log-likelihood.
//!
//! Newton's steps with the observed information while it is positive definite. Where it is not, some of the information is added
//! that the hidden answers would give, were they seen; that alone is the direction of an EM step, which is slow but never
//! wrong. A step is halved until the log-likelihood rises.

use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// Which second derivatives are wanted beside the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Curvature {
    /// The negative second derivatives of the log-likelihood.
    Observed,
    /// The information of the hidden answers; positive definite wherever the model matrix has full rank.
    Complete,
}

/// A log-likelihood at a point.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    pub(super) log_likelihood: f64,
    pub(super) score: Vec<f64>,
    pub(super) information: Symmetric,
}

/// A log-likelihood that can be climbed.
pub(super) trait Objective {
    /// The log-likelihood alone; -∞ or NaN where there is none.
    fn value(&self, at: &[f64]) -> f64;

    /// The log-likelihood with its derivatives.
    fn totals(&self, at: &[f64], curvature: Curvature) -> Totals;
}

/// Where climbing ended.
#[derive(Clone, Debug)]
pub(super) struct Climb {
    pub(super) at: Vec<f64>,
    pub(super) totals: Totals,
    pub(super) iterations: usize,
    pub(super) end: End,
}

/// How climbing ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// At a maximum.
    Converged,
    /// The log-likelihood rises no further, yet steps stay as long as this one: there is no finite maximum.
    Runaway(Vec<f64>),
    /// Neither.
    Stuck,
}

const MOST_STEPS: usize = 200;
/// The longest step, in units of the linear predictor.
const LONGEST: f64 = 4.0;
/// How much of the hidden answers' information is added where the observed one is not enough.
const MIXED: [f64; 4] = [0.02, 0.1, 0.3, 0.6];
/// Steps below this are the last.
const SMALL: f64 = 1e-7;
/// A rise of the log-likelihood that nobody can tell from none.
const FLAT: f64 = 1e-7;
/// A step, in units of the linear predictor, that no finite maximum has where the log-likelihood is flat.
const RUNAWAY: f64 = 0.3;

/// Climbs from `start` over the parameters that are `free`. `scales` says how much a linear predictor moves with each of them.
pub(super) fn maximise(
    objective: &impl Objective,
    start: Vec<f64>,
    free: &[usize],
    scales: &[f64],
) -> Climb {
    let mut at = start;
    let mut totals = objective.totals(&at, Curvature::Observed);
    for iterations in 1..=MOST_STEPS {
        let newton = step(&totals, free);
        let by_newton = newton.is_some();
        let taken = newton.or_else(|| {
            let complete = objective.totals(&at, Curvature::Complete);
            let mixed = |share: f64| {
                let mut mixed = totals.clone();
                mixed.information.add_scaled(&complete.information, share);
                step(&mixed, free)
            };
            MIXED.iter().find_map(|&share| mixed(share)).or_else(|| step(&complete, free))
        });
        let Some(mut step) = taken else {
            return Climb { at, totals, iterations, end: End::Stuck };
        };
        let gain = dot(&step, &totals.score);
        let length = |step: &[f64]| {
            step.iter().zip(scales).map(|(step, scale)| (step * scale).abs()).fold(0.0, f64::max)
        };
        let long = length(&step);
        if by_newton && gain.abs() < FLAT && long > RUNAWAY {
            return Climb { at, totals, iterations, end: End::Runaway(step) };
        }
        if long > LONGEST {
            step.iter_mut().for_each(|part| *part *= LONGEST / long);
        }
        let moved = halved(objective, &at, totals.log_likelihood, &step);
        let last = long < SMALL || moved.is_none();
        if let Some(next) = moved {
            at = next;
            totals = objective.totals(&at, Curvature::Observed);
        }
        if last {
            // A step that rounding stops near the top ends there too.
            let near = long < 1e-3 && gain.abs() < 1e-8 * (1.0 + totals.log_likelihood.abs());
            let end = if long < SMALL || near { End::Converged } else { End::Stuck };
            return Climb { at, totals, iterations, end };
        }
    }
    Climb { at, totals, iterations: MOST_STEPS, end: End::Stuck }
}

/// The first of ever shorter steps that does not lower the log-likelihood.
fn halved(objective: &impl Objective, at: &[f64], from: f64, step: &[f64]) -> Option<Vec<f64>> {
    let mut share = 1.0;
    for _ in 0..40 {
        let next: Vec<f64> = at.iter().zip(step).map(|(at, step)| at + share * step).collect();
        let slack = 1e-13 * (1.0 + from.abs());
        if objective.value(&next) >= from - slack {
            return Some(next);
        }
        share *= 0.5;
    }
    None
}

/// The step to the top of the parabola; `None` if it has none.
fn step(totals: &Totals, free: &[usize]) -> Option<Vec<f64>> {
    let score: Vec<f64> = free.iter().map(|&i| totals.score[i]).collect();
    let scaled = Scaled::new(&totals.information, free)?;
    let mut step = vec![0.0; totals.score.len()];
    for (&at, part) in free.iter().zip(scaled.solve(&score)) {
        step[at] = part;
    }
    step.iter().all(|part| part.is_finite()).then_some(step)
}

/// The inverse of an information over the parameters that are free, zero elsewhere; `None` if it is singular.
pub(super) fn inverse(information: &Symmetric, free: &[usize]) -> Option<Symmetric> {
    let scaled = Scaled::new(information, free)?;
    let mut inverse = Symmetric::zero(information.size());
    let mut unit = vec![0.0; free.len()];
    for (j, &at) in free.iter().enumerate() {
        unit[j] = 1.0;
        for (&i, cell) in free.iter().zip(scaled.solve(&unit)) {
            inverse.add(i, at, cell);
        }
        unit[j] = 0.0;
    }
    Some(inverse)
}

/// A positive definite matrix factored with a diagonal of ones, so that columns in thousands and in thousandths do no harm.
struct Scaled {
    roots: Vec<f64>,
    factor: Cholesky,
}

impl Scaled {
    fn new(matrix: &Symmetric, free: &[usize]) -> Option<Self> {
        let roots: Vec<f64> = free.iter().map(|&i| matrix.at(i, i).sqrt()).collect();
        if !roots.iter().all(|root| *root > 0.0 && root.is_finite()) {
            return None;
        }
        let cell = |i: usize, j: usize| matrix.at(free[i], free[j]) / (roots[i] * roots[j]);
        let factor = Cholesky::new(free.len(), cell, 1e-14)?;
        Some(Self { roots, factor })
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.roots).map(|(b, root)| b / root).collect();
        let mut x = self.factor.solve(&scaled);
        x.iter_mut().zip(&self.roots).for_each(|(x, root)| *x /= root);
        x
    }
}
