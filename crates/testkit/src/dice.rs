//! Seeded numbers for tests.

use std::convert::Infallible;

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};
use undertone_numeric::dice;

/// A seeded generator with the draws that tests ask for. It is a cryptographic one, so that policies can draw
/// from it too.
#[derive(Debug, Clone)]
pub struct Dice(ChaCha12Rng);

impl Dice {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        dice::unit(&mut self.0)
    }

    /// A number in (0, 1).
    pub fn open_unit(&mut self) -> f64 {
        dice::open_unit(&mut self.0)
    }

    /// A number in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        dice::between(low, high, &mut self.0)
    }

    /// A number between two positive others, its logarithm uniform.
    pub fn log_between(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + (most / least).ln() * self.unit()).exp()
    }

    /// A budget in nats: often tiny or large.
    pub fn budget(&mut self) -> f64 {
        if self.unit() < 0.5 { self.log_between(1e-6, 20.0) } else { 0.05 + 4.0 * self.unit() }
    }

    /// A number in 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        dice::below(n, &mut self.0)
    }

    /// A number from `low` to `high`, both included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// The numbers 0..n in random order.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        dice::shuffled(n, &mut self.0)
    }

    /// An index, drawn with a probability proportional to its weight.
    pub fn draw(&mut self, weights: &[f64]) -> usize {
        dice::draw(weights, &mut self.0)
    }
}

/// How many rounds a search takes: `n`, or what UNDERTONE_ROUNDS says, for a longer look.
pub fn rounds(n: usize) -> usize {
    std::env::var("UNDERTONE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(n)
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Dice {}
