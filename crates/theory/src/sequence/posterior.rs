//! What one observed sequence of outputs says: forward-backward.

use super::process::{Law, Process};
use undertone_design::{Channel, Distribution, Error};

/// The observer's knowledge after seeing y_1..y_T.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// ln P(y_1..y_T).
    pub log_likelihood: f64,
    /// P(x_k|y)/P(x_k), per step and symbol; one where P(x_k) = 0, which is no constraint.
    pub lifts: Vec<Vec<f64>>,
    /// ln of the largest P(x_1..x_T|y)/P(x_1..x_T) over the trajectories that can occur.
    pub max_sequence_lift: f64,
    /// ln of the smallest; minus infinity if an output rules a trajectory out.
    pub min_sequence_lift: f64,
}

/// The exact posterior after the outputs `outputs`, one per step, each from its own channel.
///
/// Work grows linearly with the length for a Markov chain (forward-backward, and Viterbi for the
/// whole trajectory), and with the number of trajectories for a listed law.
pub fn posterior(
    process: &Process,
    channels: &[Channel],
    outputs: &[usize],
) -> Result<Posterior, Error> {
    let channels = &*process.matched(channels)?;
    process.check_len("the list of outputs", outputs.len())?;
    for (k, (channel, &y)) in channels.iter().zip(outputs).enumerate() {
        if y >= channel.outputs() {
            let range = format!("below {}", channel.outputs());
            return Err(Error::range(format!("output {k}"), y as f64, range));
        }
    }
    let evidence: Vec<Vec<f64>> =
        channels.iter().zip(outputs).map(|(channel, &y)| channel.column(y).collect()).collect();
    weigh(process, &evidence).ok_or_else(|| {
        Error::other(
            "the outputs",
            "they cannot occur together under this process and these channels",
        )
    })
}

/// The posterior after likelihoods `evidence[k][x_k]`; nothing if they are impossible together.
pub(super) fn weigh(process: &Process, evidence: &[Vec<f64>]) -> Option<Posterior> {
    match &process.law {
        Law::Listed { states, masses } => listed(states, masses, process.marginals(), evidence),
        Law::Markov { initial, steps } => markov(initial, steps, process.marginals(), evidence),
    }
}

fn listed(
    states: &[Vec<usize>],
    masses: &Distribution,
    marginals: &[Distribution],
    evidence: &[Vec<f64>],
) -> Option<Posterior> {
    let log = |state: &Vec<usize>| state.iter().zip(evidence).map(|(&x, e)| e[x].ln()).sum::<f64>();
    let logs: Vec<f64> = states.iter().map(log).collect();
    let (top, bottom) = ends(&logs);
    if top == f64::NEG_INFINITY {
        return None;
    }
    let weights: Vec<f64> =
        logs.iter().zip(masses.as_slice()).map(|(l, p)| (l - top).exp() * p).collect();
    let total: f64 = weights.iter().sum();
    let mut lifts: Vec<Vec<f64>> = marginals.iter().map(|law| vec![0.0; law.len()]).collect();
    for (state, weight) in states.iter().zip(&weights) {
        for (lift, &x) in lifts.iter_mut().zip(state) {
            lift[x] += weight / total;
        }
    }
    divide(&mut lifts, marginals);
    let log_likelihood = top + total.ln();
    Some(Posterior {
        log_likelihood,
        lifts,
        max_sequence_lift: top - log_likelihood,
        min_sequence_lift: bottom - log_likelihood,
    })
}

fn markov(
    initial: &Distribution,
    steps: &[Channel],
    marginals: &[Distribution],
    evidence: &[Vec<f64>],
) -> Option<Posterior> {
    let mut log_likelihood = 0.0;
    let mut forward: Vec<Vec<f64>> = Vec::with_capacity(evidence.len());
    for (k, seen) in evidence.iter().enumerate() {
        let predicted = match k.checked_sub(1) {
            None => initial.as_slice().to_vec(),
            Some(before) => push(&forward[before], &steps[before]),
        };
        let mut weights: Vec<f64> = predicted.iter().zip(seen).map(|(p, e)| p * e).collect();
        log_likelihood += rescale(&mut weights)?.ln();
        forward.push(weights);
    }
    let mut backward = vec![1.0; evidence[evidence.len() - 1].len()];
    let mut lifts = forward;
    for k in (0..evidence.len()).rev() {
        if let Some(step) = steps.get(k) {
            let ahead: Vec<f64> =
                backward.iter().zip(&evidence[k + 1]).map(|(b, e)| b * e).collect();
            backward = pull(step, &ahead);
        }
        lifts[k].iter_mut().zip(&backward).for_each(|(f, b)| *f *= b);
        rescale(&mut lifts[k])?;
        // The backward message's scale cancels; keep it away from underflow.
        let top = backward.iter().copied().fold(0.0, f64::max);
        backward.iter_mut().for_each(|b| *b /= top);
    }
    divide(&mut lifts, marginals);
    let (top, bottom) = path_ends(initial, steps, evidence);
    Some(Posterior {
        log_likelihood,
        lifts,
        max_sequence_lift: top - log_likelihood,
        min_sequence_lift: bottom - log_likelihood,
    })
}

/// Viterbi over the trajectories that can occur: the largest and smallest Σ ln evidence.
fn path_ends(initial: &Distribution, steps: &[Channel], evidence: &[Vec<f64>]) -> (f64, f64) {
    let start = |x: usize, none: f64| if initial[x] > 0.0 { evidence[0][x].ln() } else { none };
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    // A state no possible path reaches is not the same as one reached with likelihood zero.
    let mut reached: Vec<bool> = initial.as_slice().iter().map(|&p| p > 0.0).collect();
    let mut most: Vec<f64> = (0..initial.len()).map(|x| start(x, low)).collect();
    let mut least: Vec<f64> = (0..initial.len()).map(|x| start(x, high)).collect();
    for (step, seen) in steps.iter().zip(&evidence[1..]) {
        let from = |x: usize| {
            let reached = &reached;
            (0..step.inputs()).filter(move |&z| reached[z] && step.q(z, x) > 0.0)
        };
        let next: Vec<bool> = (0..step.outputs()).map(|x| from(x).next().is_some()).collect();
        let best = |x: usize| from(x).map(|z| most[z]).fold(low, f64::max) + seen[x].ln();
        let worst = |x: usize| from(x).map(|z| least[z]).fold(high, f64::min) + seen[x].ln();
        let most_next = (0..step.outputs()).map(|x| if next[x] { best(x) } else { low }).collect();
        let least_next =
            (0..step.outputs()).map(|x| if next[x] { worst(x) } else { high }).collect();
        (reached, most, least) = (next, most_next, least_next);
    }
    (most.into_iter().fold(low, f64::max), least.into_iter().fold(high, f64::min))
}

/// One step forward: Σ_z weight(z) T(z,x).
fn push(weights: &[f64], step: &Channel) -> Vec<f64> {
    (0..step.outputs()).map(|x| step.column(x).zip(weights).map(|(t, w)| t * w).sum()).collect()
}

/// One step back: Σ_x T(z,x) value(x).
fn pull(step: &Channel, values: &[f64]) -> Vec<f64> {
    step.rows().iter().map(|row| mean(row, values)).collect()
}

/// The mean of `values`, which may be infinite where the law has no mass.
pub(super) fn mean(law: &Distribution, values: &[f64]) -> f64 {
    law.as_slice().iter().zip(values).filter(|(p, _)| **p > 0.0).map(|(p, v)| p * v).sum()
}

/// Divides by the sum and returns it; nothing if it is not positive.
fn rescale(weights: &mut [f64]) -> Option<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    (total > 0.0).then_some(total)
}

/// Posteriors to lifts; symbols without mass get one.
fn divide(posteriors: &mut [Vec<f64>], marginals: &[Distribution]) {
    for (posterior, law) in posteriors.iter_mut().zip(marginals) {
        for (value, &p) in posterior.iter_mut().zip(law.as_slice()) {
            *value = if p > 0.0 { *value / p } else { 1.0 };
        }
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (top, values.iter().copied().fold(f64::INFINITY, f64::min))
}
