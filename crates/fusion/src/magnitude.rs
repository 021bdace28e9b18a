//! Non-negative numbers of any size with outward rounding, in integers.
//!
//! Products of many masses do not fit the kernel's integers. A [`Bounds`] encloses such a number
//! between two [`Magnitude`]s of 64 significant bits; it never underflows, and zero is exact.

use std::cmp::Ordering;

use undertone_core::{Nats, Ratio, Wide};

/// mantissa·2^exponent; the mantissa's top bit is set, or the number is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Magnitude {
    mantissa: u64,
    exponent: i64,
}

/// Which way to round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    Down,
    Up,
}

impl Magnitude {
    pub(crate) const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1 << 63, exponent: -63 };

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// value·2^exponent; bits below the 64 significant ones are rounded.
    pub(crate) fn new(value: u128, exponent: i64, round: Round) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let bits = 128 - value.leading_zeros();
        if bits <= 64 {
            let shift = 64 - bits;
            return Self {
                mantissa: (value as u64) << shift,
                exponent: exponent - i64::from(shift),
            };
        }
        let shift = bits - 64;
        let (kept, lost) = (value >> shift, value & ((1 << shift) - 1));
        let mantissa = kept as u64;
        let exponent = exponent + i64::from(shift);
        if round == Round::Down || lost == 0 {
            return Self { mantissa, exponent };
        }
        match mantissa.checked_add(1) {
            Some(mantissa) => Self { mantissa, exponent },
            None => Self { mantissa: 1 << 63, exponent: exponent + 1 },
        }
    }

    pub(crate) fn times(self, other: Self, round: Round) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Self::new(product, self.exponent + other.exponent, round)
    }

    pub(crate) fn plus(self, other: Self, round: Round) -> Self {
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
    pub(crate) fn over(self, other: Self, round: Round) -> Self {
        let (numerator, divisor) = (u128::from(self.mantissa) << 64, u128::from(other.mantissa));
        let rest = numerator % divisor;
        let quotient = ((numerator / divisor) << 1) | u128::from(rest != 0);
        Self::new(quotient, self.exponent - other.exponent - 65, round)
    }

    pub(crate) fn power(self, mut times: u32, round: Round) -> Self {
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
    pub(crate) fn ln_up(self) -> Nats {
        let whole = self.exponent + 63;
        if self.is_zero() || whole < 0 {
            return Nats::ZERO;
        }
        // The number is m·2^whole with m in [1, 2); 2^whole is taken in steps the kernel can hold.
        let ratio = |numerator: Wide, denominator: Wide| {
            Ratio::new(numerator, denominator).and_then(Ratio::ln_up).unwrap_or_default().units()
        };
        let mantissa = ratio(Wide::from(self.mantissa), Wide::power_of_two(63));
        let one = Wide::power_of_two(0);
        let step = ratio(Wide::power_of_two(STEP as u32), one);
        let (steps, rest) = (whole / STEP, whole % STEP);
        let rest = ratio(Wide::power_of_two(rest as u32), one);
        let units = (steps as u64).checked_mul(step).and_then(|u| u.checked_add(rest + mantissa));
        Nats::from_units(units.unwrap_or(u64::MAX))
    }

    /// The nearest float, for people.
    pub(crate) fn approximate(self) -> f64 {
        let exponent = self.exponent.clamp(-2200, 2200) as i32;
        self.mantissa as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
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

/// An enclosure: the exact number is at least `low` and at most `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) low: Magnitude,
    pub(crate) high: Magnitude,
}

impl Bounds {
    pub(crate) const ZERO: Self = Self { low: Magnitude::ZERO, high: Magnitude::ZERO };

    /// value·2^exponent.
    pub(crate) fn new(value: u128, exponent: i64) -> Self {
        Self {
            low: Magnitude::new(value, exponent, Round::Down),
            high: Magnitude::new(value, exponent, Round::Up),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.plus(other.low, Round::Down),
            high: self.high.plus(other.high, Round::Up),
        }
    }
}

impl std::ops::Mul for Bounds {
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
    use dashu::integer::IBig;
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
        fn logarithms_are_never_below(m in any::<u64>(), e in -80i64..4000) {
            let value = Magnitude::new(u128::from(m | 1 << 63), e, Round::Down);
            let truth = value.mantissa as f64;
            let truth = (truth.ln() + e as f64 * std::f64::consts::LN_2).max(0.0);
            let found = value.ln_up().units() as f64 * 1e-10;
            // A unit for every step of 256 bits and two more.
            prop_assert!(found >= truth - 1e-11 && found <= truth + 20e-10, "{found} {truth}");
        }
    }

    #[test]
    fn tiny_numbers_do_not_vanish() {
        let tiny = Magnitude::new(1, -48, Round::Down).power(100, Round::Down);
        assert!(!tiny.is_zero());
        assert_eq!(Magnitude::ZERO.times(tiny, Round::Up), Magnitude::ZERO);
        assert_eq!(Magnitude::ZERO.plus(tiny, Round::Up), tiny);
        assert_eq!(Magnitude::ZERO.ln_up(), Nats::ZERO);
        assert_eq!(Magnitude::ONE.approximate(), 1.0);
        assert!((Magnitude::new(3, -2, Round::Up).approximate() - 0.75).abs() < 1e-15);
    }
}
