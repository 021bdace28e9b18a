//! The worst any mechanisms can do on a correlated sequence, each within its own promise.

use super::leakage::{SequenceLeakage, exact_leakage};
use super::process::Process;
use crate::relation::audited::TOLERANCE;
use undertone_design::extremal::{self, LiftRange};
use undertone_design::{Distribution, Error};

/// How many trajectories, and how many products times trajectories, are examined at most.
const MAX_TRAJECTORIES: usize = 4096;
const MAX_WORK: usize = 50_000_000;

/// The largest leakage over all mechanisms where Y_k is ε_k-LIP about X_k, and how it is attained.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceWorstCase {
    /// About the whole trajectory, in nats.
    pub sequence: f64,
    /// About each X_k, from all outputs together; the worst mechanisms may differ between them.
    pub each: Vec<f64>,
    /// One lift vector per step, under that step's marginal, attaining `sequence`.
    pub lifts: Vec<Vec<f64>>,
}

/// The exact worst case of JSTL21 Corollary 5 for a known joint law, by enumeration.
///
/// The lift of a trajectory, Π L_k(x_k)/Σ P(x') Π L_k(x'_k), and that of one datum are ratios of
/// functions linear in each L_k, so vertices of the steps' lift polytopes attain the supremum.
/// Trajectories that cannot occur do not count.
pub fn worst_case(process: &Process, ranges: &[LiftRange]) -> Result<SequenceWorstCase, Error> {
    process.check_len("the list of promises", ranges.len())?;
    let trajectories = process.trajectories(MAX_TRAJECTORIES)?;
    let mut vertices = Vec::with_capacity(ranges.len());
    for (range, law) in ranges.iter().zip(process.marginals()) {
        vertices.push(if range.reveals_nothing() {
            vec![vec![1.0; law.len()]]
        } else {
            extremal::lifts(law, range.low(), range.high())?
        });
    }
    let size = vertices.iter().fold(trajectories.len(), |n, v| n.saturating_mul(v.len()));
    if size > MAX_WORK {
        return Err(Error::TooLarge {
            what: "the number of products of lift vectors, times trajectories,".into(),
            size,
            limit: MAX_WORK,
            fix: "shorten the sequence, or use the bound of Corollary 5".into(),
        });
    }
    let weights = trajectories.iter().map(|(_, mass)| *mass).collect();
    let mut walk = Walk {
        process,
        trajectories: &trajectories,
        vertices: &vertices,
        choice: vec![],
        best: vec![],
        best_each: vec![vec![]; process.len()],
        worst: SequenceWorstCase { sequence: 0.0, each: vec![0.0; process.len()], lifts: vec![] },
    };
    walk.step(vec![1.0; trajectories.len()], weights);
    let Walk { mut worst, best, best_each, .. } = walk;
    let lifts = |choice: &[usize]| -> Vec<Vec<f64>> {
        let at = |k: usize| choice.get(k).copied().unwrap_or(0);
        (0..process.len()).map(|k| vertices[k][at(k)].clone()).collect()
    };
    worst.lifts = lifts(&best);
    let reached = measured(process, ranges, &worst.lifts)?.sequence.lip();
    worst.sequence = agreed(worst.sequence, reached)?;
    for (k, choice) in best_each.iter().enumerate() {
        let reached = measured(process, ranges, &lifts(choice))?.each[k].lip();
        worst.each[k] = agreed(worst.each[k], reached)?;
    }
    Ok(worst)
}

/// What channels with these lifts leak, once they are seen to keep their promises.
fn measured(
    process: &Process,
    ranges: &[LiftRange],
    lifts: &[Vec<f64>],
) -> Result<SequenceLeakage, Error> {
    let mut channels = Vec::with_capacity(lifts.len());
    for ((lift, range), law) in lifts.iter().zip(ranges).zip(process.marginals()) {
        let channel = extremal::witness(lift, range.low(), range.high())?;
        if !range.keeps(law, &channel, TOLERANCE)? {
            return Err(unconfirmed());
        }
        channels.push(channel);
    }
    exact_leakage(process, &channels)
}

/// The claimed level, raised to what was measured, if both agree.
fn agreed(claimed: f64, reached: f64) -> Result<f64, Error> {
    let agrees = (reached - claimed).abs() <= TOLERANCE * claimed;
    if agrees { Ok(claimed.max(reached)) } else { Err(unconfirmed()) }
}

fn unconfirmed() -> Error {
    let what = "the exact worst case of this sequence".into();
    Error::Unconfirmed { what, fix: "use the bound of Corollary 5".into() }
}

struct Walk<'a> {
    process: &'a Process,
    trajectories: &'a [(Vec<usize>, f64)],
    vertices: &'a [Vec<Vec<f64>>],
    choice: Vec<usize>,
    best: Vec<usize>,
    best_each: Vec<Vec<usize>>,
    worst: SequenceWorstCase,
}

impl Walk<'_> {
    /// Multiplies in one more step's lift vector; `values` are products, `weights` times probabilities.
    fn step(&mut self, values: Vec<f64>, weights: Vec<f64>) {
        let vertices = self.vertices;
        let k = self.choice.len();
        let Some(of_step) = vertices.get(k) else {
            return self.finish(&values, &weights);
        };
        for (at, lift) in of_step.iter().enumerate() {
            let factors = || self.trajectories.iter().map(|(state, _)| lift[state[k]]);
            let next_values = values.iter().zip(factors()).map(|(v, l)| v * l).collect();
            let next_weights = weights.iter().zip(factors()).map(|(w, l)| w * l).collect();
            self.choice.push(at);
            self.step(next_values, next_weights);
            self.choice.pop();
        }
    }

    fn finish(&mut self, values: &[f64], weights: &[f64]) {
        let total: f64 = weights.iter().sum();
        let top = values.iter().map(|v| (v / total).ln().abs()).fold(0.0, f64::max);
        if top > self.worst.sequence {
            self.worst.sequence = top;
            self.best = self.choice.clone();
        }
        for (k, law) in self.process.marginals().iter().enumerate() {
            let mut sums = vec![0.0; law.len()];
            for ((state, _), weight) in self.trajectories.iter().zip(weights) {
                sums[state[k]] += weight;
            }
            for (sum, p) in sums.iter().zip(law.as_slice()).filter(|(_, p)| **p > 0.0) {
                let leakage = (sum / (p * total)).ln().abs();
                if leakage > self.worst.each[k] {
                    self.worst.each[k] = leakage;
                    self.best_each[k] = self.choice.clone();
                }
            }
        }
    }
}

/// The exact worst case for independent data: lifts multiply, so the best single lifts add up.
///
/// Closed form for any length; the largest of Σ ln highest and Σ -ln lowest over the symbols.
pub fn independent_worst_case(
    marginals: &[Distribution],
    ranges: &[LiftRange],
) -> Result<f64, Error> {
    if ranges.len() != marginals.len() {
        let what = "the list of promises".into();
        return Err(Error::Size { what, expected: marginals.len(), found: ranges.len() });
    }
    let (mut raised, mut lowered) = (0.0, 0.0);
    for (range, law) in ranges.iter().zip(marginals) {
        let p = law.as_slice();
        let possible = || (0..p.len()).filter(|&x| p[x] > 0.0);
        let lowest = |x: usize| range.lowest(p[x], extremal::rest_of(p, x));
        raised += possible().map(|x| range.highest(p[x]).ln()).fold(0.0, f64::max);
        lowered += possible().map(|x| -lowest(x).ln()).fold(0.0, f64::max);
    }
    Ok(raised.max(lowered))
}
