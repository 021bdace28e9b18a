//! Leakage in nats, as a decimal that is never below the truth.

use crate::wide::Wide;
use core::fmt;

/// A leakage in units of 10^-10 nats.
///
/// This is both what people read and what budgets are kept in, so that what is printed is what is
/// accounted. Converting from a ratio rounds up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Nats(u64);

/// Fixed point of the logarithm: 120 fractional bits, values below 2^8.
const FRACTION: u32 = 120;
const ONE: Wide = Wide::power_of_two(FRACTION);
/// ⌊2^120 ln 2⌋.
const LN_2_DOWN: u128 = 0x00b1_7217_f7d1_cf79_abc9_e3b3_9803_f2f6;
/// Decimal places kept.
const PLACES: u32 = 10;
const UNIT: u64 = 10u64.pow(PLACES);
/// Above this many nats e^x no longer fits the kernel's integers.
const LARGEST_POWER: Nats = Nats(120 * UNIT);

/// Text that is not a plain decimal number of nats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a number of nats: write a plain decimal such as 0.5, at least 0 and below 1000000000")]
pub struct NotNats;

impl Nats {
    /// No leakage at all.
    pub const ZERO: Self = Self(0);

    /// A leakage from its number of units of 10^-10 nats.
    pub const fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// The leakage in units of 10^-10 nats.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// Reads a plain decimal such as `0.5`; digits past the tenth are dropped, that is, a budget
    /// is rounded down.
    pub fn parse_down(text: &str) -> Result<Self, NotNats> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0
            || whole.len() > 9
            || !digits(whole)
            || !digits(fraction)
        {
            return Err(NotNats);
        }
        let mut units: u64 = whole.bytes().fold(0, |sum, b| 10 * sum + u64::from(b - b'0'));
        let mut places = fraction.bytes();
        for _ in 0..PLACES {
            units = 10 * units + places.next().map_or(0, |b| u64::from(b - b'0'));
        }
        Ok(Self(units))
    }

    /// The sum, or `None` past the largest value.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// ln(numerator/denominator) rounded up; ratios up to one give zero. The denominator is not zero.
    ///
    /// With the ratio scaled into [1, 2) by a power of two, ln m = 2 artanh((m-1)/(m+1)) is summed in
    /// fixed point, every step rounded up; the total excess stays below 2^-110 before the final
    /// rounding to ten places.
    pub(crate) fn ln_up(numerator: Wide, denominator: Wide) -> Self {
        assert!(!denominator.is_zero(), "the logarithm of a ratio without bound");
        if numerator <= denominator {
            return Self::ZERO;
        }
        let mut doublings = numerator.bits() - denominator.bits();
        if numerator < denominator << doublings {
            doublings -= 1;
        }
        let scaled = denominator << doublings;
        let z = divide_up(numerator - scaled, numerator + scaled);
        let square = multiply_up(z, z);
        let mut sum = Wide::ZERO;
        let mut power = z;
        // z <= 1/3, so 40 terms leave a tail below 2^-125; two units cover it.
        for odd in (1u64..80).step_by(2) {
            sum += divide_small_up(power, odd);
            power = multiply_up(power, square);
        }
        let ln_2_up = Wide::from(LN_2_DOWN + 1);
        let total = (sum << 1) + ln_2_up * Wide::from(u64::from(doublings)) + Wide::from(2u64);
        let units = (total * Wide::from(UNIT)).shift_up(FRACTION);
        Self(units.low_u128() as u64)
    }

    /// e^self rounded up, as a multiple of 2^-120; `None` above 120 nats.
    pub(crate) fn exp_up(self) -> Option<Wide> {
        if self > LARGEST_POWER {
            return None;
        }
        let x = (Wide::from(self.0) << FRACTION).div(Wide::from(UNIT)) + Wide::from(1u64);
        let ln_2 = Wide::from(LN_2_DOWN);
        let doublings = x.div(ln_2).low_u128() as u32;
        let rest = x - ln_2 * Wide::from(u64::from(doublings));
        let (mut sum, mut term) = (ONE, ONE);
        for n in 1u64..=40 {
            term = divide_small_up(multiply_up(term, rest), n);
            sum += term;
        }
        // The tail after 40 terms of e^r, r <= ln 2 + 2^-110, is below 2^-170; two units cover it.
        Some((sum + Wide::from(2u64)) << doublings)
    }
}

/// a/b in fixed point, rounded up; a < b.
fn divide_up(a: Wide, b: Wide) -> Wide {
    let (mut rest, mut quotient) = (a, Wide::ZERO);
    for _ in 0..FRACTION {
        rest = rest << 1;
        quotient = quotient << 1;
        if rest >= b {
            rest = rest - b;
            quotient += Wide::from(1u64);
        }
    }
    if rest.is_zero() { quotient } else { quotient + Wide::from(1u64) }
}

fn divide_small_up(a: Wide, by: u64) -> Wide {
    (a + Wide::from(by - 1)).div(Wide::from(by))
}

fn multiply_up(a: Wide, b: Wide) -> Wide {
    (a * b).shift_up(FRACTION)
}

impl core::str::FromStr for Nats {
    type Err = NotNats;

    /// Reads a plain decimal as [`Nats::parse_down`] does.
    fn from_str(text: &str) -> Result<Self, NotNats> {
        Self::parse_down(text)
    }
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nats({self})")
    }
}

impl fmt::Display for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = alloc::format!("{}.{:010}", self.0 / UNIT, self.0 % UNIT);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::{Nats, Wide};

    #[test]
    #[should_panic(expected = "a ratio without bound")]
    fn a_ratio_without_bound_has_no_logarithm() {
        let _ = Nats::ln_up(Wide::from(1u64), Wide::ZERO);
    }
}
