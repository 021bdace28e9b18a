//! Seeded chance for searches, studies and tests. Nothing here is secret: a device draws from its policy.

use std::convert::Infallible;

use rand_core::{Rng, SeedableRng, TryRng};

/// Steele, Lea and Flood's SplitMix64: a small generator for search directions and starting points, so that the
/// same input gets the same answer.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.roll() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.roll())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let rolled = self.roll().to_le_bytes();
            chunk.copy_from_slice(&rolled[..chunk.len()]);
        }
        Ok(())
    }
}

impl SeedableRng for Dice {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Self {
        Self::new(u64::from_le_bytes(seed))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed)
    }
}

/// A number in [0, 1), with 53 random bits.
pub fn unit(rng: &mut (impl Rng + ?Sized)) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number in (0, 1), with 52 random bits: it and what it lacks of one have finite logarithms.
pub fn open_unit(rng: &mut (impl Rng + ?Sized)) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// A number between -1 and 1.
pub fn signed_unit(rng: &mut (impl Rng + ?Sized)) -> f64 {
    rng.next_u64() as f64 / (1u64 << 63) as f64 - 1.0
}

/// A number in [low, high).
pub fn between(low: f64, high: f64, rng: &mut (impl Rng + ?Sized)) -> f64 {
    low + (high - low) * unit(rng)
}

/// A number in 0..n; 0 if there is none. Biased by less than n/2^53, which no study notices.
pub fn below(n: usize, rng: &mut (impl Rng + ?Sized)) -> usize {
    (unit(rng) * n as f64) as usize
}

/// An index, drawn with a probability proportional to its weight.
pub fn draw(weights: &[f64], rng: &mut (impl Rng + ?Sized)) -> usize {
    let mut left = unit(rng) * weights.iter().sum::<f64>();
    for (at, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return at;
        }
    }
    // Rounding may leave a hair: it belongs to the last index that can occur.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

/// The numbers 0..n in random order.
pub fn shuffled(n: usize, rng: &mut (impl Rng + ?Sized)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    shuffle(&mut order, rng);
    order
}

/// Puts a list in random order.
pub fn shuffle<T>(items: &mut [T], rng: &mut (impl Rng + ?Sized)) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(at + 1, rng));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567 in the reference implementation (Vigna, splitmix64.c).
    #[test]
    fn the_reference_sequence() {
        let mut dice = Dice::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| dice.next_u64()), expected);
        let mut bytes = [0; 12];
        Dice::from_seed(1_234_567u64.to_le_bytes()).fill_bytes(&mut bytes);
        assert_eq!(bytes[..8], expected[0].to_le_bytes());
        assert_eq!(bytes[8..], expected[1].to_le_bytes()[..4]);
        assert_eq!(Dice::new(1_234_567).next_u32(), (expected[0] >> 32) as u32);
    }

    /// A generator that always gives the same number.
    struct Fixed(u64);

    impl TryRng for Fixed {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(self.0 as u32)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(self.0)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            bytes.fill(self.0 as u8);
            Ok(())
        }
    }

    #[test]
    fn ranges_hold_at_both_ends() {
        let (mut least, mut most) = (Fixed(0), Fixed(u64::MAX));
        assert_eq!((unit(&mut least), unit(&mut most)), (0.0, 1.0 - f64::EPSILON / 2.0));
        assert!(open_unit(&mut least) > 0.0 && open_unit(&mut most) < 1.0);
        assert_eq!((signed_unit(&mut least), signed_unit(&mut most)), (-1.0, 1.0));
        assert_eq!((below(7, &mut least), below(7, &mut most), below(0, &mut most)), (0, 6, 0));
        assert_eq!(
            (between(2.0, 3.0, &mut least), between(2.0, 3.0, &mut most) <= 3.0),
            (2.0, true)
        );
        assert_eq!(draw(&[0.0, 0.5, 0.5, 0.0], &mut least), 1);
        // What rounding leaves is the last possible index's.
        let thirds = [1.0 / 3.0, 0.1, 0.1, 0.1, 1.0 - 1.0 / 3.0 - 0.3, 0.0];
        assert_eq!((draw(&thirds, &mut most), draw(&[3.0, 5.0, 0.0], &mut most)), (4, 1));
        assert_eq!(draw(&[0.0; 3], &mut most), 0);
    }

    #[test]
    fn every_order_is_reached() {
        let mut dice = Dice::new(3);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            seen.insert(shuffled(4, &mut dice));
        }
        assert_eq!(seen.len(), 24);
    }
}
