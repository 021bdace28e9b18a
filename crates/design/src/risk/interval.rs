//! A non-negative number known to lie between two floats.

use std::ops::{Add, Mul};
use undertone_numeric::round::{
    add_down, add_up, div_down, div_up, mul_down, mul_up, sub_down, sub_up,
};

/// A non-negative number between `low` and `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    pub(super) const ZERO: Self = Self::exact(0.0);

    pub(super) const fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// 1 - self, for a probability.
    pub(super) fn complement(self) -> Self {
        Self { low: sub_down(1.0, self.high).max(0.0), high: sub_up(1.0, self.low) }
    }

    /// self / other, for another number that is not zero.
    pub(super) fn over(self, other: Self) -> Self {
        if self.high == 0.0 {
            return Self::ZERO;
        }
        Self { low: div_down(self.low, other.high).max(0.0), high: div_up(self.high, other.low) }
    }

    /// self / (self + rest): a posterior. Without a rest it is one.
    pub(super) fn share_of(self, rest: Self) -> Self {
        if rest.high == 0.0 {
            return Self::exact(1.0);
        }
        if self.high == 0.0 {
            return Self::ZERO;
        }
        let low =
            if self.low == 0.0 { 0.0 } else { div_down(self.low, add_up(self.low, rest.high)) };
        Self { low: low.max(0.0), high: div_up(self.high, add_down(self.high, rest.low)).min(1.0) }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { low: add_down(self.low, other.low), high: add_up(self.high, other.high) }
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { low: mul_down(self.low, other.low), high: mul_up(self.high, other.high) }
    }
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}
