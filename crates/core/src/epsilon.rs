//! A privacy level as odds: e^ε, written as a ratio of two 32-bit integers.

use crate::nats::{Nats, NotNats};
use crate::ratio::Ratio;
use crate::wide::Wide;
use core::fmt;

/// e^ε as `numerator/denominator`, at least one. Its logarithm, as printed, is never above the ε asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Epsilon {
    numerator: u32,
    denominator: u32,
}

/// Why a privacy level was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EpsilonError {
    /// The text is not a number.
    #[error("{NotNats}")]
    NotNats,
    /// The odds e^ε do not fit.
    #[error("epsilon is {asked}: the largest level the kernel can express is {}; above it nothing is protected", Epsilon::LARGEST.nats())]
    TooLarge {
        /// The ε asked for.
        asked: Nats,
    },
    /// Odds below one, or with a zero denominator.
    #[error(
        "odds {numerator}/{denominator} are not at least one: write e^epsilon as [numerator, denominator]"
    )]
    NotOdds {
        /// The numerator that was given.
        numerator: u32,
        /// The denominator that was given.
        denominator: u32,
    },
}

impl Epsilon {
    /// ε = 0: every row of the channel is equal.
    pub const ZERO: Self = Self { numerator: 1, denominator: 1 };

    /// The weakest level that can be written: 2^32 - 1 to 1, about 22.18 nats.
    pub const LARGEST: Self = Self { numerator: u32::MAX, denominator: 1 };

    /// Odds as given; at least one.
    pub fn from_odds(numerator: u32, denominator: u32) -> Result<Self, EpsilonError> {
        if denominator == 0 || numerator < denominator {
            return Err(EpsilonError::NotOdds { numerator, denominator });
        }
        Ok(Self { numerator, denominator })
    }

    /// The largest odds whose logarithm, rounded up as printed, is at most the decimal `text`.
    pub fn parse(text: &str) -> Result<Self, EpsilonError> {
        Self::at_most(Nats::parse_down(text).map_err(|NotNats| EpsilonError::NotNats)?)
    }

    /// The largest odds whose logarithm, rounded up as printed, is at most `nats`.
    ///
    /// A walk down the Stern-Brocot tree: `low` always satisfies the bound, `high` never does, and
    /// no fraction with smaller terms lies between them.
    pub fn at_most(nats: Nats) -> Result<Self, EpsilonError> {
        if nats > Self::LARGEST.nats() {
            return Err(EpsilonError::TooLarge { asked: nats });
        }
        let holds = |(n, d): (u64, u64)| Nats::ln_up(Wide::from(n), Wide::from(d)) <= nats;
        let fits = |(n, d): (u64, u64)| n <= u64::from(u32::MAX) && d <= u64::from(u32::MAX);
        let along = |(n, d): (u64, u64), (a, b): (u64, u64), k: u64| (n + k * a, d + k * b);
        let (mut low, mut high) = ((1, 1), (1, 0));
        loop {
            let up = most_steps(|k| fits(along(low, high, k)) && holds(along(low, high, k)));
            low = along(low, high, up);
            let down = most_steps(|k| fits(along(high, low, k)) && !holds(along(high, low, k)));
            high = along(high, low, down);
            if up == 0 && down == 0 {
                return Ok(Self { numerator: low.0 as u32, denominator: low.1 as u32 });
            }
        }
    }

    /// e^ε as numerator and denominator.
    pub const fn odds(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// The odds e^ε as an exact ratio.
    pub fn ratio(self) -> Ratio {
        let (n, d) =
            (Wide::from(u64::from(self.numerator)), Wide::from(u64::from(self.denominator)));
        // A denominator is never zero, so this is never 0/0.
        Ratio::new(n, d).unwrap_or(Ratio::ONE)
    }

    /// The level ε in nats, rounded up, as it is printed.
    pub fn nats(self) -> Nats {
        let (n, d) = self.odds();
        Nats::ln_up(Wide::from(u64::from(n)), Wide::from(u64::from(d)))
    }
}

/// The largest k (at most 2^32) for which `possible(k)` holds, given that it holds up to some point
/// only; 0 if not even `possible(1)`.
fn most_steps(possible: impl Fn(u64) -> bool) -> u64 {
    let mut reach = 1u64;
    while reach <= 1 << 32 && possible(reach) {
        reach *= 2;
    }
    // possible(reach / 2) holds (or reach is 1), possible(reach) does not.
    let (mut good, mut bad) = (reach / 2, reach);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if possible(middle) { good = middle } else { bad = middle }
    }
    good
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nats().fmt(f)
    }
}
