//! The kernel's walk through every vector of outputs, shared out over threads.

use std::ops::Mul;

use rayon::prelude::*;
use undertone_core::plan::{Likelihoods, Walk};
use undertone_design::Error;

use crate::{Maps, Model};

/// More vectors of outputs than this are not enumerated.
pub(crate) const MAX_VECTORS: usize = 1 << 28;

/// Likelihoods of every sensor's outputs in every atom, as floats or as enclosures.
#[derive(Debug, Clone)]
pub(crate) struct Outputs<N = f64> {
    weights: Vec<N>,
    sensors: Vec<SensorOutputs<N>>,
}

/// One sensor's likelihoods P(z | row), and each atom's row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SensorOutputs<N> {
    pub(crate) size: usize,
    /// Row after row.
    pub(crate) likelihood: Vec<N>,
    pub(crate) row_of: Vec<u32>,
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
            fix:
                "give many sensors of few kinds to `undertone fusion crowd`, use fewer sensors or \
                  fewer outputs per sensor, split the network into groups, \
                  or bound the leakage from a sample of outputs (`undertone fusion train`)"
                    .into(),
        }),
    }
}

impl Outputs<f64> {
    /// The weights and the sensors' likelihoods.
    pub(crate) fn parts(self) -> (Vec<f64>, Vec<SensorOutputs<f64>>) {
        (self.weights, self.sensors)
    }

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
            SensorOutputs { size: map.outputs(), likelihood, row_of: sensor.row_of().to_vec() }
        });
        let weights = model.atoms().iter().map(|atom| atom.weight).collect();
        Ok(Self { weights, sensors: sensors.collect() })
    }
}

impl<N: Copy + Mul<Output = N>> Likelihoods for Outputs<N> {
    type Number = N;

    fn weights(&self) -> Vec<N> {
        self.weights.clone()
    }

    fn items(&self) -> usize {
        self.sensors.len()
    }

    fn outcomes(&self, item: usize) -> usize {
        self.sensors[item].size
    }

    fn at(&self, item: usize, atom: usize, outcome: usize) -> N {
        let sensor = &self.sensors[item];
        sensor.likelihood[sensor.row_of[atom] as usize * sensor.size + outcome]
    }
}

impl<N: Copy + Send + Sync + Mul<Output = N>> Outputs<N> {
    pub(crate) fn from_parts(weights: Vec<N>, sensors: Vec<SensorOutputs<N>>) -> Self {
        Self { weights, sensors }
    }

    /// How many vectors there are.
    #[cfg(feature = "runtime")]
    pub(crate) fn vectors(&self) -> usize {
        self.sensors.iter().fold(1, |total, sensor| total.saturating_mul(sensor.size))
    }

    /// How many atoms there are.
    #[cfg(feature = "runtime")]
    pub(crate) fn atoms(&self) -> usize {
        self.weights.len()
    }

    /// Calls `visit(state, z, P(z, k) for every atom k)` for every vector z, in parallel over the
    /// first coordinates; the states come back in order, so sums do not depend on the threads.
    pub(crate) fn fold<S: Send>(
        self,
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
        let walk = Walk(self);
        let piece = |index: usize| {
            let mut rest = index;
            let mut first = vec![0; split];
            for (t, at) in first.iter_mut().enumerate().rev() {
                *at = rest % walk.0.outcomes(t);
                rest /= walk.0.outcomes(t);
            }
            let mut state = new();
            walk.visit(&first, &mut |z, masses| visit(&mut state, z, masses));
            state
        };
        (0..pieces).into_par_iter().map(piece).collect()
    }
}
