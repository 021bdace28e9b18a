//! Exact ratios, and what they are in nats.

use crate::nats::Nats;
use crate::wide::Wide;
use core::cmp::Ordering;
use core::fmt;

/// A non-negative ratio of integers, never 0/0. A zero denominator means "without bound".
///
/// Two ratios are compared by cross multiplication, which also puts every finite ratio below the
/// unbounded one.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    numerator: Wide,
    denominator: Wide,
}

impl Ratio {
    /// The ratio one: nothing leaks.
    pub const ONE: Self =
        Self { numerator: Wide::power_of_two(0), denominator: Wide::power_of_two(0) };

    /// The ratio zero.
    pub const ZERO: Self = Self { numerator: Wide::ZERO, denominator: Wide::power_of_two(0) };

    /// The ratio without bound.
    pub const UNBOUNDED: Self = Self { numerator: Wide::power_of_two(0), denominator: Wide::ZERO };

    /// The parts of a ratio that is at least `numerator / denominator` and can be compared with others like
    /// it, at most 192 bits each, and whether nothing was rounded.
    pub(crate) fn narrow_up(numerator: Wide, denominator: Wide) -> (Wide, Wide, bool) {
        let spare = numerator.trailing_zeros().min(denominator.trailing_zeros()).min(383);
        let longest = numerator.bits().max(denominator.bits());
        let lost = longest.saturating_sub(spare).saturating_sub(192);
        let shift = spare + lost;
        (numerator.shift_up(shift), denominator >> shift, lost == 0)
    }

    /// `numerator / denominator`; `None` for 0/0, which constrains nothing.
    pub fn new(numerator: Wide, denominator: Wide) -> Option<Self> {
        let undefined = numerator.is_zero() && denominator.is_zero();
        (!undefined).then_some(Self { numerator, denominator })
    }

    /// The numerator and the denominator.
    pub(crate) fn parts(self) -> (Wide, Wide) {
        (self.numerator, self.denominator)
    }

    /// Whether the ratio has no finite value.
    pub fn is_unbounded(self) -> bool {
        self.denominator.is_zero()
    }

    /// The natural logarithm, rounded up to [`Nats`]; `None` if unbounded. Ratios up to one give 0.
    pub fn ln_up(self) -> Option<Nats> {
        (!self.is_unbounded()).then(|| Nats::ln_up(self.numerator, self.denominator))
    }

    /// The ratio in lowest terms, as numerator and denominator.
    pub fn reduced(self) -> (Wide, Wide) {
        let shared = self.numerator.gcd(self.denominator);
        (self.numerator.div(shared), self.denominator.div(shared))
    }

    /// The value times 2^`bits`, rounded up; saturates at `u64::MAX`.
    pub fn scaled_up(self, bits: u32) -> u64 {
        if self.is_unbounded() {
            return u64::MAX;
        }
        let scaled = self.numerator << bits;
        let floor = scaled.div(self.denominator);
        let exact = floor * self.denominator == scaled;
        let up = if exact { floor } else { floor + Wide::from(1u64) };
        if up.bits() <= 64 { up.low_u128() as u64 } else { u64::MAX }
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unbounded() {
            return f.write_str("unbounded");
        }
        let (numerator, denominator) = self.reduced();
        write!(f, "{numerator}/{denominator}")
    }
}
