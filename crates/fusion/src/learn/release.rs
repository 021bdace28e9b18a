//! What leaves the network: outputs of maps, a projection of all readings, or the readings themselves.

use rand_core::Rng;
use undertone_design::{Error, measure};

use super::centralised::{Criterion, Encoding, Projection};
use crate::{Maps, Samples};
use undertone_numeric::dice::draw;

/// A way from one sample's readings to released symbols.
#[derive(Debug, Clone, PartialEq)]
pub enum Release {
    /// Every sensor randomises its own reading.
    Maps(Maps),
    /// Somebody sees all readings and publishes a projection.
    Projected(Projected),
    /// Everything is published; so many readings per sensor.
    Raw(Vec<usize>),
}

/// A projection whose numbers are told apart in a few levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Projected {
    encoding: Encoding,
    projection: Projection,
    /// The upper edges of all levels but the last, for every component.
    edges: Vec<Vec<f64>>,
}

impl Projected {
    /// A projection learned from the samples, cut at the quantiles of what it makes of them.
    pub fn fit(
        samples: &Samples,
        criterion: Criterion,
        ridge: f64,
        levels: usize,
    ) -> Result<Self, Error> {
        if levels < 2 {
            return Err(Error::range("the number of levels", levels as f64, "at least 2"));
        }
        let encoding = Encoding::fit(samples);
        let all = samples.samples();
        let rows: Vec<Vec<f64>> = all.iter().map(|s| encoding.encode(&s.readings)).collect();
        let public: Vec<usize> = all.iter().map(|sample| sample.public).collect();
        let components = samples.private().components();
        // Component j of a value counts in units of the components after it.
        let private: Vec<Vec<usize>> = (0..components.len())
            .map(|j| {
                let unit: usize = components[j + 1..].iter().product();
                all.iter().map(|sample| sample.private / unit % components[j]).collect()
            })
            .collect();
        // The scatter between the classes of H has rank |H| - 1.
        let rank = samples.public().size().saturating_sub(1);
        let projection = Projection::fit(&rows, &public, &private, criterion, ridge, rank)?;
        let released: Vec<Vec<f64>> = rows.iter().map(|row| projection.project(row)).collect();
        let edges = |component: usize| {
            let mut sorted: Vec<f64> = released.iter().map(|row| row[component]).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            let edge = |level: usize| sorted[(level * sorted.len() / levels).min(sorted.len() - 1)];
            (1..levels).map(edge).collect()
        };
        let edges = (0..projection.directions().len()).map(edges).collect();
        Ok(Self { encoding, projection, edges })
    }

    /// The levels released of one sample.
    pub fn levels(&self, readings: &[usize]) -> Vec<usize> {
        let released = self.projection.project(&self.encoding.encode(readings));
        let level = |(value, edges): (&f64, &Vec<f64>)| edges.partition_point(|edge| edge <= value);
        released.iter().zip(&self.edges).map(level).collect()
    }
}

impl Release {
    /// How many symbols each released feature has.
    pub fn sizes(&self) -> Vec<usize> {
        match self {
            Self::Maps(maps) => maps.outputs(),
            Self::Projected(projected) => {
                projected.edges.iter().map(|edges| edges.len() + 1).collect()
            }
            Self::Raw(sizes) => sizes.clone(),
        }
    }

    /// What is released of one sample; only maps use randomness.
    pub fn draw(&self, readings: &[usize], rng: &mut impl Rng) -> Vec<usize> {
        match self {
            Self::Maps(maps) => {
                let pairs = readings.iter().zip(maps.channels());
                pairs.map(|(&x, map)| draw(map.rows()[x].as_slice(), rng)).collect()
            }
            Self::Projected(projected) => projected.levels(readings),
            Self::Raw(_) => readings.to_vec(),
        }
    }

    /// What is released of every sample, `times` times.
    pub fn rows(&self, samples: &Samples, times: usize, rng: &mut impl Rng) -> Vec<Vec<usize>> {
        let times = if matches!(self, Self::Maps(_)) { times.max(1) } else { 1 };
        let mut rows = Vec::with_capacity(times * samples.samples().len());
        for _ in 0..times {
            rows.extend(samples.samples().iter().map(|sample| self.draw(&sample.readings, rng)));
        }
        rows
    }

    /// The LDP level of the worst sensor, ST20 (13); infinite for what is deterministic.
    pub fn ldp(&self) -> f64 {
        match self {
            Self::Maps(maps) => {
                let levels = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
                levels.fold(0.0, f64::max)
            }
            _ => f64::INFINITY,
        }
    }
}

/// The LDP level of a feature that speaks through the sensors `bits`, each of which reads 1 if the feature
/// has its value and 0 otherwise (ST20 Table II). A change of the feature changes two readings at once, so
/// this is up to twice the level of one sensor.
pub fn one_hot_ldp(maps: &Maps, bits: &[usize]) -> f64 {
    // The largest ln p(z|x)/p(z|x') of one sensor, by which of its readings is x.
    let most = |t: usize, x: usize| {
        let map = &maps.channels()[t];
        let ratio = |z: usize| match (map.q(x, z), map.q(1 - x, z)) {
            (p, _) if !(p > 0.0) => f64::NEG_INFINITY,
            (p, q) => (p / q).ln(),
        };
        (0..map.outputs()).map(ratio).fold(0.0, f64::max)
    };
    let mut worst = 0.0f64;
    for &a in bits {
        for &b in bits.iter().filter(|&&b| b != a) {
            worst = worst.max(most(a, 1) + most(b, 0));
        }
    }
    worst
}
