//! Sensors of a few kinds: which of them are interchangeable, and a walk through how many of each kind sent what.
//!
//! Sensors with the same laws and the same map are interchangeable: what all of them say together depends on how many sent
//! each output and on nothing else. Two hundred sensors of two outputs have 2^200 vectors of outputs and 201 such counts.

use rayon::prelude::*;
use undertone_core::Bounds;

use crate::walk::SensorOutputs;

/// One kind's falls are kept in memory: no more than these.
const MAX_FALLS: usize = 1 << 18;
/// Products of atoms and counts above this are not walked through.
const MAX_WORK: usize = 1 << 27;

/// A quantity that multiplies over independent sensors.
pub(crate) trait Factor: Copy + Send + Sync {
    /// Of no sensor at all.
    const NONE: Self;
    /// Of two together.
    fn and(self, other: Self) -> Self;
    /// Of so many alike.
    fn times(self, count: u32) -> Self;
}

impl Factor for Bounds {
    const NONE: Self = Self::ONE;

    fn and(self, other: Self) -> Self {
        self * other
    }

    fn times(self, count: u32) -> Self {
        use undertone_core::Round;
        Self { low: self.low.power(count, Round::Down), high: self.high.power(count, Round::Up) }
    }
}

/// The logarithm of a likelihood, which does not underflow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Log(pub(crate) f64);

impl Factor for Log {
    const NONE: Self = Self(0.0);

    fn and(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    fn times(self, count: u32) -> Self {
        // Impossible outputs that nobody sent say nothing.
        if count == 0 { Self::NONE } else { Self(self.0 * f64::from(count)) }
    }
}

/// Sensors that are interchangeable.
#[derive(Debug, Clone)]
struct Kind<N> {
    members: Vec<usize>,
    outputs: SensorOutputs<N>,
}

/// The sensors of a network by kinds.
#[derive(Debug, Clone)]
pub(crate) struct Kinds<N> {
    weights: Vec<N>,
    sensors: usize,
    kinds: Vec<Kind<N>>,
}

/// One way in which a kind's outputs can fall: how many of each, the logarithm of the number of orders in which they can, and
/// the likelihood of one order in every atom.
struct Fall<N> {
    counts: Vec<u32>,
    orders: f64,
    likelihood: Vec<N>,
}

/// How many of each kind sent each output.
pub(crate) struct Counts<'a> {
    /// The logarithm of how many vectors of outputs these are.
    pub(crate) orders: f64,
    falls: &'a [&'a [u32]],
}

impl<N: Factor + PartialEq> Kinds<N> {
    /// Puts sensors together whose likelihoods are the same in every atom.
    pub(crate) fn new(weights: Vec<N>, sensors: Vec<SensorOutputs<N>>) -> Self {
        let count = sensors.len();
        let mut kinds: Vec<Kind<N>> = Vec::new();
        for (t, outputs) in sensors.into_iter().enumerate() {
            let alike = |kind: &&mut Kind<N>| {
                let own = &kind.outputs;
                own.size == outputs.size
                    && own.row_of == outputs.row_of
                    && own.likelihood == outputs.likelihood
            };
            match kinds.iter_mut().find(alike) {
                Some(kind) => kind.members.push(t),
                None => kinds.push(Kind { members: vec![t], outputs }),
            }
        }
        Self { weights, sensors: count, kinds }
    }

    /// How many counts there are, if they can be walked through.
    pub(crate) fn counts(&self) -> Option<usize> {
        let total = self.kinds.iter().try_fold(1usize, |total, kind| {
            let falls = falls_of(kind.members.len(), kind.outputs.size)?;
            total.checked_mul(falls).filter(|_| falls <= MAX_FALLS)
        });
        total.filter(|total| total.saturating_mul(self.weights.len()) <= MAX_WORK)
    }

    /// How many steps a walk takes, atoms included.
    #[cfg(feature = "runtime")]
    pub(crate) fn steps(&self) -> usize {
        self.counts().map_or(usize::MAX, |counts| counts.saturating_mul(self.weights.len()))
    }

    /// One vector of outputs with these counts: the first members of a kind send its first output.
    pub(crate) fn example(&self, counts: &Counts<'_>) -> Vec<usize> {
        let mut outputs = vec![0; self.sensors];
        for (kind, counts) in self.kinds.iter().zip(counts.falls) {
            let sent = counts.iter().enumerate();
            let sent = sent.flat_map(|(z, &count)| std::iter::repeat_n(z, count as usize));
            kind.members.iter().zip(sent).for_each(|(&t, z)| outputs[t] = z);
        }
        outputs
    }

    /// Calls `visit(state, counts, the likelihood of one vector with them and the atom, for every atom)` for all counts, in
    /// parallel over those of the first kinds; the states come back in order.
    pub(crate) fn fold<S: Send>(
        &self,
        new: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &Counts<'_>, &[N]) + Sync,
    ) -> Vec<S> {
        let atoms = self.weights.len();
        let falls: Vec<Vec<Fall<N>>> = self.kinds.iter().map(|kind| kind.falls(atoms)).collect();
        let Some((first, rest)) = falls.split_first() else { return Vec::new() };
        // A few hundred pieces at most, so that their states are few.
        let piece = first.len().div_ceil(256).max(1);
        let walk = |piece: &[Fall<N>]| {
            let mut state = new();
            let mut levels = vec![self.weights.clone(); falls.len() + 1];
            for fall in piece {
                let mut chosen: Vec<&[u32]> = Vec::with_capacity(falls.len());
                descend(fall, rest, &mut chosen, 0.0, &mut levels, &mut |counts, masses| {
                    visit(&mut state, counts, masses);
                });
            }
            state
        };
        first.par_chunks(piece).map(walk).collect()
    }
}

/// Joins one kind's fall and goes on with the kinds that follow.
fn descend<'a, N: Factor>(
    fall: &'a Fall<N>,
    rest: &'a [Vec<Fall<N>>],
    chosen: &mut Vec<&'a [u32]>,
    orders: f64,
    levels: &mut [Vec<N>],
    visit: &mut impl FnMut(&Counts<'_>, &[N]),
) {
    let orders = orders + fall.orders;
    chosen.push(&fall.counts);
    if let Some((before, after)) = levels.split_first_mut()
        && let Some(joined) = after.first_mut()
    {
        let factors = before.iter().zip(&fall.likelihood);
        joined.iter_mut().zip(factors).for_each(|(joined, (a, b))| *joined = a.and(*b));
        match rest.split_first() {
            None => visit(&Counts { orders, falls: chosen }, joined),
            Some((next, rest)) => {
                for fall in next {
                    descend(fall, rest, chosen, orders, after, visit);
                }
            }
        }
    }
    chosen.pop();
}

/// In how many ways `members` outputs out of `size` can fall.
fn falls_of(members: usize, size: usize) -> Option<usize> {
    let mut total = 1usize;
    for step in 1..size {
        total = total.checked_mul(members.checked_add(step)?)? / step;
    }
    Some(total)
}

impl<N: Factor> Kind<N> {
    fn falls(&self, atoms: usize) -> Vec<Fall<N>> {
        let members = self.members.len() as u32;
        let size = self.outputs.size;
        let factorial: Vec<f64> = (0..=members)
            .scan(0.0, |sum, n| {
                *sum += f64::from(n.max(1)).ln();
                Some(*sum)
            })
            .collect();
        let rows = self.outputs.likelihood.len() / size.max(1);
        let mut counts = vec![0u32; size];
        counts[0] = members;
        let mut falls = Vec::new();
        loop {
            let of_row = |row: usize| {
                let own = &self.outputs.likelihood[row * size..][..size];
                let sent = own.iter().zip(&counts);
                sent.fold(N::NONE, |product, (p, &count)| product.and(p.times(count)))
            };
            let of_rows: Vec<N> = (0..rows).map(of_row).collect();
            let likelihood = (0..atoms).map(|k| of_rows[self.outputs.row_of[k] as usize]);
            let orders: f64 = counts.iter().map(|&count| factorial[count as usize]).sum();
            falls.push(Fall {
                counts: counts.clone(),
                orders: factorial[members as usize] - orders,
                likelihood: likelihood.collect(),
            });
            // The next composition: one moves on from the first that has any, and the rest of it goes back to the start.
            let Some(from) = counts.iter().position(|&count| count > 0) else { return falls };
            if from + 1 >= size {
                return falls;
            }
            let moved = counts[from];
            counts[from] = 0;
            counts[from + 1] += 1;
            counts[0] = moved - 1;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_fall_is_visited_once_and_they_make_up_all_vectors() {
        let kind = |members: usize, size: usize| Kind {
            members: (0..members).collect(),
            outputs: SensorOutputs {
                size,
                likelihood: vec![Log((1.0 / size as f64).ln()); size],
                row_of: vec![0],
            },
        };
        for (members, size) in [(1, 2), (5, 1), (4, 3), (6, 2), (3, 4)] {
            let falls = kind(members, size).falls(1);
            assert_eq!(Some(falls.len()), falls_of(members, size));
            let mut seen: Vec<&Vec<u32>> = falls.iter().map(|fall| &fall.counts).collect();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), falls.len());
            let orders: f64 = falls.iter().map(|fall| fall.orders.exp()).sum();
            assert!((orders / (size as f64).powi(members as i32) - 1.0).abs() < 1e-12);
            let mass: f64 =
                falls.iter().map(|fall| (fall.orders + fall.likelihood[0].0).exp()).sum();
            assert!((mass - 1.0).abs() < 1e-12);
        }
        assert_eq!(falls_of(200, 2), Some(201));
        assert_eq!(falls_of(usize::MAX, 3), None);
    }
}
