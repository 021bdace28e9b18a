//! Non-negative numbers of any size with outward rounding, in integers.
//!
//! Products of many masses do not fit the kernel's integers. A [`Bounds`] encloses such a number
//! between two [`Magnitude`]s of 64 significant bits; it never underflows, and zero is exact.

use crate::nats::Nats;
use crate::ratio::Ratio;
use crate::wide::Wide;
use core::cmp::Ordering;

/// mantissa·2^exponent; the mantissa's top bit is set, or the number is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Magnitude {
    mantissa: u64,
    exponent: i64,
}

/// Which way to round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Towards zero.
    Down,
    /// Away from zero.
    Up,
}

impl Round {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

impl Magnitude {
    /// The number zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    /// The number one.
    pub const ONE: Self = Self { mantissa: 1 << 63, exponent: -63 };

    /// Whether this number is zero.
    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The mantissa and the exponent of two: the number is their product.
    pub fn parts(self) -> (u64, i64) {
        (self.mantissa, self.exponent)
    }

    /// value·2^exponent; bits below the 64 significant ones are rounded.
    pub fn new(value: u128, exponent: i64, round: Round) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let bits = 128 - value.leading_zeros();
        if bits <= 64 {
            let shift = 64 - bits;
            let mantissa = (value as u64) << shift;
            return Self { mantissa, exponent: exponent - i64::from(shift) };
        }
        let shift = bits - 64;
        let lost = value & ((1 << shift) - 1) != 0;
        Self::cut((value >> shift) as u64, lost, exponent + i64::from(shift), round)
    }

    /// value·2^exponent for a wide integer; bits below the 64 significant ones are rounded.
    pub fn from_wide(value: Wide, exponent: i64, round: Round) -> Self {
        let bits = value.bits();
        if bits <= 128 {
            return Self::new(value.low_u128(), exponent, round);
        }
        let shift = bits - 64;
        let kept = value >> shift;
        let lost = kept << shift != value;
        Self::cut(kept.low_u128() as u64, lost, exponent + i64::from(shift), round)
    }

    /// A mantissa below which something may have been lost.
    fn cut(mantissa: u64, lost: bool, exponent: i64, round: Round) -> Self {
        if round == Round::Down || !lost {
            return Self { mantissa, exponent };
        }
        match mantissa.checked_add(1) {
            Some(mantissa) => Self { mantissa, exponent },
            None => Self { mantissa: 1 << 63, exponent: exponent + 1 },
        }
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self, round: Round) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Self::new(product, self.exponent + other.exponent, round)
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self, round: Round) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self };
        }
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let apart = (large.exponent - small.exponent) as u64;
        // The larger one is moved up by at most 63 bits, so the sum fits 128 bits.
        if apart <= 63 {
            let sum = (u128::from(large.mantissa) << apart) + u128::from(small.mantissa);
            return Self::new(sum, small.exponent, round);
        }
        // The smaller one is below the last bit of the larger.
        let sticky = u128::from(round == Round::Up);
        Self::new((u128::from(large.mantissa) << 1) + sticky, large.exponent - 1, round)
    }

    /// self/other; the divisor is not zero.
    #[must_use]
    pub fn over(self, other: Self, round: Round) -> Self {
        let (numerator, divisor) = (u128::from(self.mantissa) << 64, u128::from(other.mantissa));
        let rest = numerator % divisor;
        let quotient = ((numerator / divisor) << 1) | u128::from(rest != 0);
        Self::new(quotient, self.exponent - other.exponent - 65, round)
    }

    /// 1 - self, rounded; zero from one upwards.
    #[must_use]
    pub fn from_one(self, round: Round) -> Self {
        if self >= Self::ONE {
            return Self::ZERO;
        }
        // Below one the exponent is at most -64.
        let shift = -self.exponent - 64;
        if self.is_zero() || shift > 63 {
            let least = Self::new((1 << 64) - 1, -64, Round::Down);
            return if self.is_zero() || round == Round::Up { Self::ONE } else { least };
        }
        let one = 1u128 << (64 + shift);
        Self::new(one - u128::from(self.mantissa), self.exponent, round)
    }

    /// self^times by repeated squaring, every step rounded.
    #[must_use]
    pub fn power(self, mut times: u32, round: Round) -> Self {
        let (mut base, mut power) = (self, Self::ONE);
        while times > 0 {
            if times & 1 == 1 {
                power = power.times(base, round);
            }
            base = base.times(base, round);
            times >>= 1;
        }
        power
    }

    /// ln of the number, rounded up to the kernel's ten places; zero up to one.
    pub fn ln_up(self) -> Nats {
        let whole = self.exponent + 63;
        if self.is_zero() || whole < 0 {
            return Nats::ZERO;
        }
        // The number is m·2^whole with m in [1, 2); 2^whole is taken in steps the kernel can hold.
        let one = Wide::power_of_two(0);
        let power = |exponent: i64| Nats::ln_up(Wide::power_of_two(exponent as u32), one).units();
        let mantissa = Nats::ln_up(Wide::from(self.mantissa), Wide::power_of_two(63)).units();
        let (steps, rest) = (whole / STEP, power(whole % STEP) + mantissa);
        let units = (steps as u64).checked_mul(power(STEP)).and_then(|u| u.checked_add(rest));
        Nats::from_units(units.unwrap_or(u64::MAX))
    }
}

/// Bits taken off at a time by [`Magnitude::ln_up`].
const STEP: i64 = 256;

impl Ord for Magnitude {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa)),
        }
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ratio {
    /// A magnitude that is not below this ratio; `None` if the ratio has no bound.
    pub fn magnitude_up(self) -> Option<Magnitude> {
        let (numerator, denominator) = self.parts();
        if denominator.is_zero() {
            return None;
        }
        let above = Magnitude::from_wide(numerator, 0, Round::Up);
        Some(above.over(Magnitude::from_wide(denominator, 0, Round::Down), Round::Up))
    }
}

/// An enclosure: the exact number is at least `low` and at most `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Not above the exact number.
    pub low: Magnitude,
    /// Not below the exact number.
    pub high: Magnitude,
}

impl Bounds {
    /// The number zero.
    pub const ZERO: Self = Self { low: Magnitude::ZERO, high: Magnitude::ZERO };
    /// The number one.
    pub const ONE: Self = Self { low: Magnitude::ONE, high: Magnitude::ONE };

    /// value·2^exponent.
    pub fn new(value: u128, exponent: i64) -> Self {
        Self {
            low: Magnitude::new(value, exponent, Round::Down),
            high: Magnitude::new(value, exponent, Round::Up),
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.plus(other.low, Round::Down),
            high: self.high.plus(other.high, Round::Up),
        }
    }

    /// The quotient; `None` if the divisor may be zero.
    #[must_use]
    pub fn over(self, other: Self) -> Option<Self> {
        (!other.low.is_zero()).then(|| Self {
            low: self.low.over(other.high, Round::Down),
            high: self.high.over(other.low, Round::Up),
        })
    }
}

impl core::ops::Mul for Bounds {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            low: self.low.times(other.low, Round::Down),
            high: self.high.times(other.high, Round::Up),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu::base::Abs;
    use dashu::integer::{IBig, UBig};
    use dashu::rational::RBig;
    use proptest::prelude::*;

    fn exact(value: Magnitude) -> RBig {
        let mantissa = RBig::from(value.mantissa);
        let power = RBig::from(IBig::from(2).pow(value.exponent.unsigned_abs() as usize));
        if value.exponent < 0 { mantissa / power } else { mantissa * power }
    }

    fn magnitude() -> impl Strategy<Value = Magnitude> {
        (any::<u64>(), 0u32..64, -200i64..200)
            .prop_map(|(m, drop, e)| Magnitude::new(u128::from(m >> drop), e, Round::Down))
    }

    /// The enclosure holds the exact value and is a few units wide.
    fn encloses(low: Magnitude, high: Magnitude, truth: &RBig, units: u64) -> bool {
        let width = (exact(high) - exact(low)).abs();
        let unit = truth.clone() / RBig::from(1u64 << 63);
        exact(low) <= *truth && *truth <= exact(high) && width <= unit * RBig::from(units)
    }

    proptest! {
        #[test]
        fn results_are_enclosed(a in magnitude(), b in magnitude(), times in 0u32..40) {
            let (x, y) = (exact(a), exact(b));
            let both = |f: &dyn Fn(Round) -> Magnitude| (f(Round::Down), f(Round::Up));
            let (low, high) = both(&|round| a.times(b, round));
            prop_assert!(encloses(low, high, &(&x * &y), 1));
            let (low, high) = both(&|round| a.plus(b, round));
            prop_assert!(encloses(low, high, &(&x + &y), 1));
            if !b.is_zero() {
                let (low, high) = both(&|round| a.over(b, round));
                prop_assert!(encloses(low, high, &(&x / &y), 2));
            }
            let (low, high) = both(&|round| a.power(times, round));
            prop_assert!(encloses(low, high, &x.pow(times as isize), 200));
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        }

        #[test]
        fn what_is_left_of_one_is_enclosed(m in any::<u64>(), e in -300i64..-60) {
            let value = Magnitude::new(u128::from(m), e, Round::Down);
            let rest = RBig::ONE - exact(value);
            let (low, high) = (value.from_one(Round::Down), value.from_one(Round::Up));
            if rest <= RBig::ZERO {
                prop_assert_eq!((low, high), (Magnitude::ZERO, Magnitude::ZERO));
            } else {
                prop_assert!(encloses(low, high, &rest, 2), "{:?} {:?} {:?}", value, low, high);
            }
        }

        #[test]
        fn wide_integers_are_enclosed(a in any::<u128>(), b in any::<u128>(), c in any::<u64>()) {
            let value = Wide::from(a) * Wide::from(b) * Wide::from(c);
            let truth = RBig::from(UBig::from(a) * UBig::from(b) * UBig::from(c));
            let low = Magnitude::from_wide(value, 0, Round::Down);
            let high = Magnitude::from_wide(value, 0, Round::Up);
            prop_assert!(encloses(low, high, &truth, 1));
        }

        #[test]
        fn logarithms_are_never_below(m in any::<u64>(), e in -80i64..4000) {
            let value = Magnitude::new(u128::from(m | 1 << 63), e, Round::Down);
            // 2^e' <= value < 2^(e'+1), and ln 2 lies between these decimals.
            let doublings = e + 63;
            let (low, high) = (6_931_471_805u64, 6_931_471_806u64);
            let found = value.ln_up().units();
            let whole = doublings.max(0) as u64;
            // A unit for every step of 256 bits and two more.
            prop_assert!(found >= whole * low, "{found}");
            prop_assert!(found <= (whole + 1) * high + 20, "{found}");
        }
    }

    #[test]
    fn logarithms_are_the_nearest_above() {
        // ln(3 · 2^599) = 416.29377344407..: 2^600 in three steps, each rounded up.
        let value = Magnitude::new(3, 599, Round::Down);
        let truth = 4_162_937_734_441u64;
        assert!((truth..truth + 4).contains(&value.ln_up().units()), "{}", value.ln_up());
    }

    #[test]
    fn tiny_numbers_do_not_vanish() {
        let tiny = Magnitude::new(1, -48, Round::Down).power(100, Round::Down);
        assert!(!tiny.is_zero());
        assert_eq!(Magnitude::ZERO.times(tiny, Round::Up), Magnitude::ZERO);
        assert_eq!(Magnitude::ZERO.plus(tiny, Round::Up), tiny);
        assert_eq!(Magnitude::ZERO.ln_up(), Nats::ZERO);
    }
}
