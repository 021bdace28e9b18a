//! The leakage of a whole sequence and of each of its data, for known channels.
//!
//! **Exact** when the joint outputs can be enumerated: every output sequence gets its forward-backward
//! posterior. **Bound** otherwise, by pairs: let d_k(a,b) be the largest ln q_k(y|a)/q_k(y|b).
//!
//! * Markov chain, one datum. The likelihood of the future given X_k = a against X_k = b is a ratio
//!   (T_a·v)/(T_b·v), where v(x) = q(y|x)·(likelihood of what follows) has ratios of at most e^γ by
//!   the previous step. Over all such v it is largest when v takes its two extremes on a set of x with
//!   the largest T_a(x)/T_b(x) (a linear-fractional function on a cone whose rays are two-valued), so
//!   scanning those sets is exact for the given γ, and the bound contracts when the chain mixes. The
//!   past is the same argument on the reversed chain. Then D(a,b) = d_k + past + future bounds the
//!   log-ratio of likelihoods, and the lift of a lies between 1/Σ_b P(b) e^D(b,a) and
//!   1/Σ_b P(b) e^-D(a,b).
//! * Whole trajectory x of a chain: 1/lift = Σ_x' P(x') Π_k q_k(y_k|x'_k)/q_k(y_k|x_k), at least
//!   Σ_x' P(x') e^-Σ d_k(x_k,x'_k), minimised over each x_k separately while summing over x' backwards.
//! * Listed trajectories: the same sum, trajectory by trajectory; one datum's likelihood is an average
//!   of its trajectories', so its lift is no larger than theirs.

use super::posterior::{mean, weigh};
use super::process::{Law, Process};
use crate::composition::{columns, each_output, log_ratios};
use undertone_design::{Channel, Distribution, Error};

/// How many output sequences are enumerated at most.
const MAX_OUTPUTS: usize = 1_000_000;

/// How many listed trajectories are compared pair by pair at most.
const MAX_LISTED: usize = 10_000;

/// The largest ln lift and the largest -ln lift, in nats; infinite where an output rules something out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lifts {
    /// The largest ln lift.
    pub max_lift: f64,
    /// The largest -ln lift.
    pub min_lift: f64,
}

impl Lifts {
    const NONE: Self = Self { max_lift: 0.0, min_lift: 0.0 };

    /// Two-sided LIP: the larger of the two.
    pub fn lip(&self) -> f64 {
        self.max_lift.max(self.min_lift)
    }

    fn include(&mut self, log_lift: f64) {
        self.max_lift = self.max_lift.max(log_lift);
        self.min_lift = self.min_lift.max(-log_lift);
    }
}

/// What Y_1..Y_T reveal about a correlated sequence. Only trajectories and symbols that can occur count.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceLeakage {
    /// About the whole trajectory X_1..X_T (JSTL21 Section III-B).
    pub sequence: Lifts,
    /// About each X_k, from all outputs together.
    pub each: Vec<Lifts>,
    /// Whether the numbers are exact; otherwise they are upper bounds.
    pub exact: bool,
}

/// The leakage of `channels`, one per step: exact if at most a million output sequences need to be
/// looked at, an upper bound otherwise.
pub fn leakage(process: &Process, channels: &[Channel]) -> Result<SequenceLeakage, Error> {
    match exact_leakage(process, channels) {
        Err(Error::TooLarge { .. }) => leakage_bound(process, channels),
        answer => answer,
    }
}

/// The exact leakage, refused when the output sequences are too many.
pub fn exact_leakage(process: &Process, channels: &[Channel]) -> Result<SequenceLeakage, Error> {
    let channels = &*process.matched(channels)?;
    let mut answer = SequenceLeakage {
        sequence: Lifts::NONE,
        each: vec![Lifts::NONE; process.len()],
        exact: true,
    };
    match &process.law {
        Law::Listed { states, masses } => {
            listed(process, states, masses, channels, &mut answer)?;
        }
        Law::Markov { .. } => {
            let distinct: Vec<Vec<Vec<f64>>> = channels.iter().map(columns).collect();
            let size = distinct.iter().fold(1usize, |n, columns| n.saturating_mul(columns.len()));
            if size > MAX_OUTPUTS {
                return Err(Error::TooLarge {
                    what: "the number of output sequences".into(),
                    size,
                    limit: MAX_OUTPUTS,
                    fix: "shorten the sequence, or use the bound".into(),
                });
            }
            for code in 0..size {
                let mut code = code;
                let evidence: Vec<Vec<f64>> = distinct
                    .iter()
                    .map(|columns| {
                        let y = code % columns.len();
                        code /= columns.len();
                        columns[y].clone()
                    })
                    .collect();
                let Some(posterior) = weigh(process, &evidence) else { continue };
                answer.sequence.include(posterior.max_sequence_lift);
                answer.sequence.include(posterior.min_sequence_lift);
                for (lifts, of_step) in answer.each.iter_mut().zip(&posterior.lifts) {
                    of_step.iter().for_each(|lift| lifts.include(lift.ln()));
                }
            }
        }
    }
    Ok(answer)
}

/// A listed law is one datum, the trajectory, released through every channel.
fn listed(
    process: &Process,
    states: &[Vec<usize>],
    masses: &Distribution,
    channels: &[Channel],
    answer: &mut SequenceLeakage,
) -> Result<(), Error> {
    let of_trajectory = |(k, channel): (usize, &Channel)| {
        Channel::from_rows(states.iter().map(|state| channel.rows()[state[k]].clone()).collect())
    };
    let lifted = channels.iter().enumerate().map(of_trajectory).collect::<Result<Vec<_>, _>>()?;
    let mut sums: Vec<Vec<f64>> = process.alphabets().iter().map(|&size| vec![0.0; size]).collect();
    each_output(&lifted, states.len(), |likelihood| {
        let total: f64 = likelihood.iter().zip(masses.as_slice()).map(|(v, p)| v * p).sum();
        sums.iter_mut().for_each(|sum| sum.fill(0.0));
        for ((state, value), mass) in states.iter().zip(likelihood).zip(masses.as_slice()) {
            answer.sequence.include((value / total).ln());
            for (sum, &x) in sums.iter_mut().zip(state) {
                sum[x] += mass * value;
            }
        }
        for ((lifts, sum), law) in answer.each.iter_mut().zip(&sums).zip(process.marginals()) {
            for (value, p) in sum.iter().zip(law.as_slice()).filter(|(_, p)| **p > 0.0) {
                lifts.include((value / (p * total)).ln());
            }
        }
    })
}

/// Upper bounds that need no enumeration; see the module's proof.
pub fn leakage_bound(process: &Process, channels: &[Channel]) -> Result<SequenceLeakage, Error> {
    let channels = &*process.matched(channels)?;
    let pairs: Vec<Vec<Vec<f64>>> = channels.iter().map(log_ratios).collect();
    let (sequence, each) = match &process.law {
        Law::Listed { states, .. } if states.len() > MAX_LISTED => {
            return Err(Error::TooLarge {
                what: "the number of trajectories".into(),
                size: states.len(),
                limit: MAX_LISTED,
                fix: "shorten the sequence, or describe it as a Markov chain".into(),
            });
        }
        Law::Listed { states, masses } => listed_bound(process, states, masses, &pairs),
        Law::Markov { steps, .. } => {
            let sequence = trajectory_bound(process.marginals(), steps, &pairs);
            (sequence, chain_bounds(process, steps, &pairs)?)
        }
    };
    Ok(SequenceLeakage { sequence, each, exact: false })
}

/// The lifts that pairwise log-ratios allow symbol a: D(a,b) against every b of mass P(b).
fn from_pairs(
    law: &[f64],
    a: usize,
    above: impl Fn(usize) -> f64,
    below: impl Fn(usize) -> f64,
) -> Lifts {
    let others = || law.iter().enumerate().filter(|(_, p)| **p > 0.0);
    let share = |b: usize, d: f64| if a == b { 1.0 } else { d.exp() };
    let least: f64 = others().map(|(b, p)| p * share(b, -above(b))).sum();
    let most: f64 = others().map(|(b, p)| p * share(b, below(b))).sum();
    Lifts { max_lift: -least.ln(), min_lift: most.ln() }
}

fn widest(all: impl Iterator<Item = Lifts>) -> Lifts {
    all.fold(Lifts::NONE, |a, b| Lifts {
        max_lift: a.max_lift.max(b.max_lift),
        min_lift: a.min_lift.max(b.min_lift),
    })
}

fn listed_bound(
    process: &Process,
    states: &[Vec<usize>],
    masses: &Distribution,
    pairs: &[Vec<Vec<f64>>],
) -> (Lifts, Vec<Lifts>) {
    let distance = |s: usize, t: usize| -> f64 {
        pairs.iter().enumerate().map(|(k, d)| d[states[s][k]][states[t][k]]).sum()
    };
    let of_state =
        |s: usize| from_pairs(masses.as_slice(), s, |t| distance(s, t), |t| distance(t, s));
    let bounds: Vec<Lifts> = (0..states.len()).map(of_state).collect();
    let all = widest(bounds.iter().copied());
    (all, vec![all; process.len()])
}

fn trajectory_bound(
    marginals: &[Distribution],
    steps: &[Channel],
    pairs: &[Vec<Vec<f64>>],
) -> Lifts {
    // Σ over x'_k.. of P(x'|x'_{k-1}) e^(-+d), extreme over x_k, for each x'_{k-1}.
    let last = pairs.len() - 1;
    let (mut least, mut most) = (vec![1.0; pairs[last].len()], vec![1.0; pairs[last].len()]);
    for k in (0..pairs.len()).rev() {
        let symbols = || (0..pairs[k].len()).filter(|&a| marginals[k][a] > 0.0);
        let weigh = |a: usize, values: &[f64], sign: f64| -> Vec<f64> {
            let ratio = |b: usize| if sign < 0.0 { pairs[k][a][b] } else { pairs[k][b][a] };
            values.iter().enumerate().map(|(b, v)| v * (sign * ratio(b)).exp()).collect()
        };
        let back = |values: &[f64]| -> Vec<f64> {
            match k.checked_sub(1) {
                Some(before) => steps[before].rows().iter().map(|row| mean(row, values)).collect(),
                None => vec![mean(&marginals[0], values)],
            }
        };
        let lower = symbols().map(|a| back(&weigh(a, &least, -1.0)));
        let lower = lower.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect());
        let upper = symbols().map(|a| back(&weigh(a, &most, 1.0)));
        let upper = upper.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect());
        (least, most) = (lower.unwrap_or_default(), upper.unwrap_or_default());
    }
    Lifts { max_lift: -least[0].ln(), min_lift: most[0].ln() }
}

/// Bounds for each datum of a chain from what past and future can say.
fn chain_bounds(
    process: &Process,
    steps: &[Channel],
    pairs: &[Vec<Vec<f64>>],
) -> Result<Vec<Lifts>, Error> {
    let marginals = process.marginals();
    let length = process.len();
    let nothing = |k: usize| vec![vec![0.0; marginals[k].len()]; marginals[k].len()];
    let mut future = vec![nothing(length - 1)];
    for k in (0..length - 1).rev() {
        let ahead = largest(&pairs[k + 1], &future[future.len() - 1], &marginals[k + 1]);
        future.push(contracted(steps[k].rows(), &marginals[k], ahead));
    }
    future.reverse();
    let mut past = vec![nothing(0)];
    for k in 1..length {
        let behind = largest(&pairs[k - 1], &past[k - 1], &marginals[k - 1]);
        let rows = reversed(&steps[k - 1], &marginals[k - 1], &marginals[k])?;
        past.push(contracted(&rows, &marginals[k], behind));
    }
    let of_step = |k: usize| {
        let total = |a: usize, b: usize| pairs[k][a][b] + past[k][a][b] + future[k][a][b];
        let law = marginals[k].as_slice();
        let possible = (0..law.len()).filter(|&a| law[a] > 0.0);
        widest(possible.map(|a| from_pairs(law, a, |b| total(a, b), |b| total(b, a))))
    };
    Ok((0..length).map(of_step).collect())
}

/// The largest combined log-ratio between two symbols that can occur.
fn largest(own: &[Vec<f64>], beyond: &[Vec<f64>], law: &Distribution) -> f64 {
    let possible: Vec<usize> = (0..law.len()).filter(|&x| law[x] > 0.0).collect();
    let pairs = possible.iter().flat_map(|&a| possible.iter().map(move |&b| (a, b)));
    pairs.map(|(a, b)| own[a][b] + beyond[a][b]).fold(0.0, f64::max)
}

/// P(x_{k-1}|x_k), one row per x_k; a symbol that cannot occur gets the marginal.
fn reversed(
    step: &Channel,
    before: &Distribution,
    now: &Distribution,
) -> Result<Vec<Distribution>, Error> {
    let row = |x: usize| {
        if now[x] > 0.0 {
            let weights = step.column(x).zip(before.as_slice()).map(|(t, p)| t * p).collect();
            Distribution::normalised("a reversed transition row", weights)
        } else {
            Ok(before.clone())
        }
    };
    (0..now.len()).map(row).collect()
}

/// The largest ln (T_a·v)/(T_b·v) over all v with ratios of at most e^gamma, for every pair of rows.
fn contracted(rows: &[Distribution], law: &Distribution, gamma: f64) -> Vec<Vec<f64>> {
    let pair = |a: usize, b: usize| {
        if a == b || law[a] == 0.0 || law[b] == 0.0 {
            return 0.0;
        }
        let (top, bottom) = (rows[a].as_slice(), rows[b].as_slice());
        let mut order: Vec<usize> =
            (0..top.len()).filter(|&x| top[x] > 0.0 || bottom[x] > 0.0).collect();
        // By top/bottom, descending, without dividing by zero.
        let share = |x: usize| top[x] / (top[x] + bottom[x]);
        order.sort_by(|&x, &z| share(z).total_cmp(&share(x)));
        let small = (-gamma).exp();
        let (mut high, mut low) = (0.0, 0.0);
        let mut best = 0.0f64;
        for x in order {
            high += top[x];
            low += bottom[x];
            best = best.max(((high + small * (1.0 - high)) / (low + small * (1.0 - low))).ln());
        }
        best
    };
    (0..rows.len()).map(|a| (0..rows.len()).map(|b| pair(a, b)).collect()).collect()
}
