//! Every vector of outputs with its probability in each atom, one at a time.
//!
//! Nothing is stored but one product per atom and sensor, so the number of vectors is limited by
//! patience and not by memory.

use std::ops::Mul;

use rayon::prelude::*;
use undertone_design::Error;

use crate::{Maps, Model};

/// More vectors of outputs than this are not enumerated.
pub(crate) const MAX_VECTORS: usize = 1 << 28;

/// Likelihoods of every sensor's outputs in every atom, as floats or as enclosures.
#[derive(Debug, Clone)]
pub(crate) struct Walk<N = f64> {
    weights: Vec<N>,
    sensors: Vec<Outputs<N>>,
}

/// One sensor's likelihoods P(z | row), and each atom's row.
#[derive(Debug, Clone)]
pub(crate) struct Outputs<N> {
    pub(crate) size: usize,
    /// Row after row.
    pub(crate) likelihood: Vec<N>,
    pub(crate) row_of: Vec<u32>,
}

impl<N: Copy> Outputs<N> {
    fn q(&self, k: usize, z: usize) -> N {
        self.likelihood[self.row_of[k] as usize * self.size + z]
    }
}

/// How many vectors of outputs there are, if they can be enumerated.
pub(crate) fn vectors(outputs: &[usize]) -> Result<usize, Error> {
    let total = outputs.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
    match total {
        Some(total) if total <= MAX_VECTORS => Ok(total),
        _ => Err(Error::TooLarge {
            what: format!("the set of output vectors of {} sensors", outputs.len()),
            size: total.unwrap_or(usize::MAX),
            limit: MAX_VECTORS,
            fix: "use fewer sensors or fewer outputs per sensor, split the network into groups, \
                  or bound the leakage from a sample of outputs (`undertone fusion train`)"
                .into(),
        }),
    }
}

impl Walk<f64> {
    pub(crate) fn new(model: &Model, maps: &Maps) -> Result<Self, Error> {
        maps.check(model)?;
        let sensors = model.sensors().iter().zip(maps.channels()).map(|(sensor, map)| {
            let mut likelihood = Vec::with_capacity(sensor.rows().len() * map.outputs());
            for row in sensor.rows() {
                let mut law = vec![0.0; map.outputs()];
                for (x, &p) in row.as_slice().iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    law.iter_mut().enumerate().for_each(|(z, sum)| *sum += p * map.q(x, z));
                }
                likelihood.extend(law);
            }
            Outputs { size: map.outputs(), likelihood, row_of: sensor.row_of().to_vec() }
        });
        let weights = model.atoms().iter().map(|atom| atom.weight).collect();
        Ok(Self { weights, sensors: sensors.collect() })
    }
}

impl<N: Copy + Send + Sync + Mul<Output = N>> Walk<N> {
    pub(crate) fn from_parts(weights: Vec<N>, sensors: Vec<Outputs<N>>) -> Self {
        Self { weights, sensors }
    }

    /// P(Z_t = z | atom k).
    pub(crate) fn q(&self, t: usize, k: usize, z: usize) -> N {
        self.sensors[t].q(k, z)
    }

    pub(crate) fn outputs(&self, t: usize) -> usize {
        self.sensors[t].size
    }

    /// Calls `visit(state, z, P(z, k) for every atom k)` for every vector z, in parallel over the
    /// first coordinates; the states come back in order, so sums do not depend on the threads.
    pub(crate) fn fold<S: Send>(
        &self,
        new: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &[usize], &[N]) + Sync,
    ) -> Vec<S> {
        // Enough pieces to share out, few enough to keep their states.
        let mut split = 0;
        let mut pieces = 1;
        while split < self.sensors.len() && pieces < 64 {
            pieces *= self.sensors[split].size;
            split += 1;
        }
        let piece = |index: usize| {
            let mut rest = index;
            let mut z = vec![0; self.sensors.len()];
            for t in (0..split).rev() {
                z[t] = rest % self.sensors[t].size;
                rest /= self.sensors[t].size;
            }
            let mut masses = self.weights.clone();
            for (t, &at) in z.iter().enumerate().take(split) {
                for (k, mass) in masses.iter_mut().enumerate() {
                    *mass = *mass * self.sensors[t].q(k, at);
                }
            }
            let mut levels = vec![masses.clone(); self.sensors.len() - split + 1];
            levels[0] = masses;
            let mut state = new();
            self.descend(split, &mut z, &mut levels, &mut |z, masses| visit(&mut state, z, masses));
            state
        };
        (0..pieces).into_par_iter().map(piece).collect()
    }

    fn descend(
        &self,
        t: usize,
        z: &mut [usize],
        levels: &mut [Vec<N>],
        visit: &mut impl FnMut(&[usize], &[N]),
    ) {
        let Some(sensor) = self.sensors.get(t) else {
            return visit(z, &levels[0]);
        };
        for at in 0..sensor.size {
            z[t] = at;
            let (here, below) = levels.split_at_mut(1);
            for (k, (next, mass)) in below[0].iter_mut().zip(&here[0]).enumerate() {
                *next = *mass * sensor.q(k, at);
            }
            self.descend(t + 1, z, below, visit);
        }
    }
}
