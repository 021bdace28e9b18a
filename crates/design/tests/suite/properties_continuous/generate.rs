//! Seeded chance, and slow integrals.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_design::Distribution;

pub(crate) struct Dice(ChaCha12Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub(crate) fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.0.next_u64() % (high - low + 1) as u64) as usize
    }

    /// Exponential weights: a uniform draw from the simplex, now and then with a zero.
    pub(crate) fn prior(&mut self, n: usize) -> Distribution {
        let mut weights: Vec<f64> = (0..n).map(|_| -(1.0 - self.unit()).ln() + 1e-3).collect();
        if n > 2 && self.unit() < 0.2 {
            let at = self.count(0, n - 1);
            weights[at] = 0.0;
        }
        Distribution::normalised("prior", weights).unwrap()
    }

    /// Increasing numbers in [low, high], the ends included in half the cases.
    pub(crate) fn points(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        let mut points: Vec<f64> = (0..n).map(|_| self.between(low, high)).collect();
        points.sort_by(f64::total_cmp);
        if self.unit() < 0.5 {
            (points[0], points[n - 1]) = (low, high);
        }
        points.dedup();
        points
    }
}

pub(crate) fn grid(low: f64, high: f64, steps: usize) -> Vec<f64> {
    (0..=steps).map(|i| low + (high - low) * i as f64 / steps as f64).collect()
}

/// Simpson's rule.
pub(crate) fn integral(f: impl Fn(f64) -> f64, low: f64, high: f64, panels: usize) -> f64 {
    let h = (high - low) / (2 * panels) as f64;
    let at = |i: usize| f(low + h * i as f64);
    let inner: f64 = (1..2 * panels).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * at(i)).sum();
    (at(0) + inner + at(2 * panels)) * h / 3.0
}
