//! Known channels on the same datum: the leakage of their product, without building it.

use undertone_design::channel::under_each;
use undertone_design::{Channel, Distribution, Error};

/// How many distinct joint outputs, times inputs, are examined at most.
const MAX_CELLS: usize = 50_000_000;

/// What an observer of the outputs learns, in nats. Infinite where an output rules a symbol out.
///
/// Zero-mass symbols count too: their lift is q(y|x)/P(y), as for any other symbol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leakage {
    /// The largest ln lift.
    pub max_lift: f64,
    /// The largest -ln lift.
    pub min_lift: f64,
    /// The largest log-likelihood ratio between two inputs.
    pub ldp: f64,
}

impl Leakage {
    /// Two-sided LIP: the larger of the two lifts.
    pub fn lip(&self) -> f64 {
        self.max_lift.max(self.min_lift)
    }
}

/// The exact leakage of all `channels` together, independent given the input. They are matched with
/// the prior by symbol.
///
/// LDP separates over the channels for every pair of inputs. LIP needs every joint output, but
/// columns that are multiples of each other count once, and equal channels need only the multiset
/// of their outputs: fifty repetitions of a binary channel have 51 joint outputs.
pub fn given(prior: &Distribution, channels: &[Channel]) -> Result<Leakage, Error> {
    let channels = &*under_each(channels, std::iter::repeat(prior))?;
    let mut leakage = Leakage { max_lift: 0.0, min_lift: 0.0, ldp: ldp(channels, prior.len()) };
    each_output(channels, prior.len(), |likelihood| {
        let (max, min) = lift_ends(prior, likelihood);
        leakage.max_lift = leakage.max_lift.max(max);
        leakage.min_lift = leakage.min_lift.max(min);
    })?;
    Ok(leakage)
}

/// The largest ln lift and the largest -ln lift of one output with these likelihoods.
pub(super) fn lift_ends(prior: &Distribution, likelihood: &[f64]) -> (f64, f64) {
    let total: f64 = likelihood.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
    let high = likelihood.iter().copied().fold(0.0, f64::max);
    let low = likelihood.iter().copied().fold(f64::INFINITY, f64::min);
    if total > 0.0 { ((high / total).ln(), (total / low).ln()) } else { (f64::INFINITY, 0.0) }
}

/// max over pairs of inputs of Σ_k max_y ln q_k(y|x)/q_k(y|x'). Repetitions of one channel need no pairs.
fn ldp(channels: &[Channel], inputs: usize) -> f64 {
    let mut distinct: Vec<(&Channel, f64)> = Vec::new();
    for channel in channels {
        match distinct.iter_mut().find(|(known, _)| *known == channel) {
            Some((_, count)) => *count += 1.0,
            None => distinct.push((channel, 1.0)),
        }
    }
    if let [(channel, count)] = distinct[..] {
        return count * undertone_design::measure::ldp::leakage(channel).nats;
    }
    let pair = |x: usize, z: usize| {
        distinct.iter().map(|(channel, count)| count * log_ratio(channel, x, z)).sum::<f64>()
    };
    (0..inputs)
        .flat_map(|x| (0..inputs).map(move |z| (x, z)))
        .fold(0.0, |d: f64, (x, z)| d.max(pair(x, z)))
}

/// max_y ln q(y|x)/q(y|z) over the outputs possible under x; infinite if one is not under z.
fn log_ratio(channel: &Channel, x: usize, z: usize) -> f64 {
    let cells = channel.rows()[x].as_slice().iter().zip(channel.rows()[z].as_slice());
    cells.filter(|(q, _)| **q > 0.0).map(|(q, r)| (q / r).ln()).fold(0.0, f64::max)
}

/// d(x,x') = max_y ln q(y|x)/q(y|x') for every pair of inputs.
pub(crate) fn log_ratios(channel: &Channel) -> Vec<Vec<f64>> {
    let inputs = || 0..channel.inputs();
    inputs().map(|x| inputs().map(|z| log_ratio(channel, x, z)).collect()).collect()
}

/// Calls `visit` with the likelihood vector, scaled to a maximum of one, of every joint output that
/// is possible under some input. Outputs with proportional vectors may be visited once for all.
pub(crate) fn each_output(
    channels: &[Channel],
    inputs: usize,
    visit: impl FnMut(&[f64]),
) -> Result<(), Error> {
    let mut groups: Vec<(Vec<Vec<f64>>, usize)> = Vec::new();
    for columns in channels.iter().map(columns) {
        match groups.iter_mut().find(|(known, _)| *known == columns) {
            Some((_, count)) => *count += 1,
            None => groups.push((columns, 1)),
        }
    }
    let size = groups.iter().fold(1usize, |size, (columns, n)| {
        (1..=*n).fold(size, |size, i| size.saturating_mul(columns.len() - 1 + i) / i)
    });
    let cells = size.saturating_mul(inputs);
    if cells > MAX_CELLS {
        return Err(Error::TooLarge {
            what: "the joint channel of all releases".into(),
            size: cells,
            limit: MAX_CELLS,
            fix: "compose fewer channels, or use the worst case over all mechanisms".into(),
        });
    }
    Walk { groups: &groups, visit }.step(0, 0, 0, &vec![1.0; inputs]);
    Ok(())
}

/// The distinct columns of a channel, each scaled to a maximum of one; impossible outputs dropped.
pub(crate) fn columns(channel: &Channel) -> Vec<Vec<f64>> {
    let mut distinct: Vec<Vec<f64>> = Vec::new();
    for y in 0..channel.outputs() {
        let column: Vec<f64> = channel.column(y).collect();
        if let Some(column) = scaled(column)
            && !distinct.contains(&column)
        {
            distinct.push(column);
        }
    }
    distinct
}

/// Divides by the largest entry; nothing if that is zero.
fn scaled(mut vector: Vec<f64>) -> Option<Vec<f64>> {
    let top = vector.iter().copied().fold(0.0, f64::max);
    vector.iter_mut().for_each(|v| *v /= top);
    (top > 0.0).then_some(vector)
}

struct Walk<'a, V> {
    groups: &'a [(Vec<Vec<f64>>, usize)],
    visit: V,
}

impl<V: FnMut(&[f64])> Walk<'_, V> {
    /// Extends by release number `done` of group `g`, using columns from `from` on: equal channels
    /// take their outputs in order, so each multiset is met once.
    fn step(&mut self, g: usize, done: usize, from: usize, so_far: &[f64]) {
        let groups = self.groups;
        let Some((columns, count)) = groups.get(g) else {
            return (self.visit)(so_far);
        };
        for (y, column) in columns.iter().enumerate().skip(from) {
            let next = so_far.iter().zip(column).map(|(a, b)| a * b).collect();
            let Some(next) = scaled(next) else { continue };
            if done + 1 < *count {
                self.step(g, done + 1, y, &next);
            } else {
                self.step(g + 1, 0, 0, &next);
            }
        }
    }
}
