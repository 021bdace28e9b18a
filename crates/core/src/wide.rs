//! Integers wide enough for every product the kernel compares.
//!
//! By hand: six limbs on the stack and no dependency under a check, where a crate would bring a heap or a general width.

use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::fmt;

/// An unsigned integer below 2^384.
///
/// The widest numbers of the kernel are cross products of two ratios whose parts stay within 192 bits:
/// those of one policy by the units of its integers, those of a sequence of releases because they are
/// rounded there. So nothing here can overflow; the operations that could in principle are checked
/// and stop the program rather than wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wide([u64; 6]);

impl Wide {
    /// The number zero.
    pub const ZERO: Self = Self([0; 6]);

    /// 2^`exponent`, for exponents below 384.
    pub const fn power_of_two(exponent: u32) -> Self {
        let mut limbs = [0; 6];
        limbs[(exponent / 64) as usize] = 1 << (exponent % 64);
        Self(limbs)
    }

    /// Whether this number is zero.
    pub fn is_zero(self) -> bool {
        self.0 == [0; 6]
    }

    /// The number of significant bits; 0 for zero.
    pub fn bits(self) -> u32 {
        let top = self.0.iter().rposition(|&limb| limb != 0);
        top.map_or(0, |at| 64 * at as u32 + (64 - self.0[at].leading_zeros()))
    }

    /// `self - other`, or zero when `other` is larger.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        if self <= other { Self::ZERO } else { self - other }
    }

    /// A number below 2^128 as such.
    pub(crate) fn low_u128(self) -> u128 {
        assert!(self.bits() <= 128, "a number is longer than 128 bits");
        u128::from(self.0[0]) | u128::from(self.0[1]) << 64
    }

    /// `self` / 2^`by`, rounded up.
    pub(crate) fn shift_up(self, by: u32) -> Self {
        let down = self >> by;
        if down << by == self { down } else { down + Self::from(1u64) }
    }

    /// How many low bits are zero; 384 for zero.
    pub(crate) fn trailing_zeros(self) -> u32 {
        let first = self.0.iter().position(|&limb| limb != 0);
        first.map_or(384, |at| 64 * at as u32 + self.0[at].trailing_zeros())
    }

    /// The greatest common divisor, by halving and subtracting.
    pub(crate) fn gcd(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self };
        }
        let shared = self.trailing_zeros().min(other.trailing_zeros());
        let (mut a, mut b) = (self >> self.trailing_zeros(), other);
        while !b.is_zero() {
            b = b >> b.trailing_zeros();
            if a > b {
                (a, b) = (b, a);
            }
            b = b - a;
        }
        a << shared
    }

    /// The quotient, rounded down, bit by bit.
    pub(crate) fn div(self, divisor: Self) -> Self {
        let (mut rest, mut quotient) = (Self::ZERO, Self::ZERO);
        for at in (0..self.bits()).rev() {
            rest = rest << 1;
            rest.0[0] |= self.0[(at / 64) as usize] >> (at % 64) & 1;
            if rest >= divisor {
                rest = rest - divisor;
                quotient.0[(at / 64) as usize] |= 1 << (at % 64);
            }
        }
        quotient
    }
}

impl From<u128> for Wide {
    fn from(value: u128) -> Self {
        Self([value as u64, (value >> 64) as u64, 0, 0, 0, 0])
    }
}

impl From<u64> for Wide {
    fn from(value: u64) -> Self {
        Self([value, 0, 0, 0, 0, 0])
    }
}

impl core::ops::Add for Wide {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let mut limbs = [0; 6];
        let mut carry = 0u128;
        for (at, limb) in limbs.iter_mut().enumerate() {
            carry += u128::from(self.0[at]) + u128::from(other.0[at]);
            *limb = carry as u64;
            carry >>= 64;
        }
        assert!(carry == 0, "a sum left the kernel's widest integer");
        Self(limbs)
    }
}

impl core::ops::AddAssign for Wide {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl core::ops::Sub for Wide {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let mut limbs = [0; 6];
        let mut borrow = false;
        for (at, limb) in limbs.iter_mut().enumerate() {
            let (a, first) = self.0[at].overflowing_sub(other.0[at]);
            let (b, second) = a.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (b, first || second);
        }
        assert!(!borrow, "a difference fell below zero in the kernel's widest integer");
        Self(limbs)
    }
}

impl core::ops::Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let mut limbs = [0u64; 6];
        for (i, &a) in self.0.iter().enumerate().filter(|&(_, &a)| a != 0) {
            let mut carry = 0u128;
            for (j, &b) in other.0.iter().enumerate() {
                if i + j >= 6 {
                    assert!(b == 0 && carry == 0, "a product left the kernel's widest integer");
                    continue;
                }
                carry += u128::from(a) * u128::from(b) + u128::from(limbs[i + j]);
                limbs[i + j] = carry as u64;
                carry >>= 64;
            }
            assert!(carry == 0, "a product left the kernel's widest integer");
        }
        Self(limbs)
    }
}

impl core::ops::Shl<u32> for Wide {
    type Output = Self;
    fn shl(self, by: u32) -> Self {
        assert!(self.bits() + by <= 384, "a shift left the kernel's widest integer");
        let (skip, by) = ((by / 64) as usize, by % 64);
        let mut limbs = [0; 6];
        for (at, limb) in limbs.iter_mut().enumerate().skip(skip) {
            *limb = self.0[at - skip] << by;
            if by > 0 && at > skip {
                *limb |= self.0[at - skip - 1] >> (64 - by);
            }
        }
        Self(limbs)
    }
}

impl core::ops::Shr<u32> for Wide {
    type Output = Self;
    fn shr(self, by: u32) -> Self {
        let (skip, by) = ((by / 64) as usize, by % 64);
        let mut limbs = [0; 6];
        for (at, limb) in limbs.iter_mut().enumerate().take(6 - skip) {
            *limb = self.0[at + skip] >> by;
            if by > 0 && at + skip + 1 < 6 {
                *limb |= self.0[at + skip + 1] << (64 - by);
            }
        }
        Self(limbs)
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Eighteen digits at a time.
        let many = Self::from(10u64.pow(18));
        let (mut digits, mut rest) = (String::new(), *self);
        while rest >= many {
            let above = rest.div(many);
            digits.insert_str(0, &format!("{:018}", (rest - above * many).low_u128()));
            rest = above;
        }
        digits.insert_str(0, &format!("{}", rest.low_u128()));
        f.pad_integral(true, "", &digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use dashu::integer::UBig;
    use proptest::prelude::*;

    fn big(value: Wide) -> UBig {
        value.to_string().parse().expect("digits")
    }

    proptest! {
        #[test]
        fn agrees_with_big_integers(a: u128, b: u128, c: u64, by in 0u32..120) {
            let (x, y) = (Wide::from(a), Wide::from(b));
            prop_assert_eq!(big(x), UBig::from(a));
            prop_assert_eq!(big(x * y), UBig::from(a) * UBig::from(b));
            prop_assert_eq!(big(x + y), UBig::from(a) + UBig::from(b));
            prop_assert_eq!(big((x * y) << by), (UBig::from(a) * UBig::from(b)) << by as usize);
            prop_assert_eq!(big((x * y) >> by), (UBig::from(a) * UBig::from(b)) >> by as usize);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(big(x.saturating_sub(y)), UBig::from(a.saturating_sub(b)));
            prop_assert_eq!(big(x * y + x - x), UBig::from(a) * UBig::from(b));
            prop_assert_eq!(big(x.max(y) - x.min(y)), UBig::from(a.abs_diff(b)));
            let product = x * Wide::from(c);
            prop_assert_eq!(product.bits() as usize, (UBig::from(a) * UBig::from(c)).bit_len_or_zero());
            if c > 0 {
                prop_assert_eq!(product.div(Wide::from(c)), x);
                prop_assert_eq!(product.gcd(Wide::from(c)), Wide::from(c));
            }
        }
    }

    #[test]
    #[should_panic(expected = "a difference fell below zero")]
    fn a_difference_does_not_wrap() {
        let _ = Wide::power_of_two(200) - (Wide::power_of_two(200) + Wide::from(1u64));
    }

    #[test]
    #[should_panic(expected = "a number is longer than 128 bits")]
    fn bits_are_not_dropped() {
        let _ = Wide::power_of_two(128).low_u128();
    }

    trait BitLen {
        fn bit_len_or_zero(&self) -> usize;
    }
    impl BitLen for UBig {
        fn bit_len_or_zero(&self) -> usize {
            dashu::base::BitTest::bit_len(self)
        }
    }
}
