//! Decimal numbers for edges, representative values and confidences: the kernel has no floats.

use core::cmp::Ordering;
use core::fmt;

/// `digits` x 10^-`scale`: at most 18 digits, a scale of at most 18, and no trailing zeros behind
/// the point, so that equal numbers have equal bytes and every number has a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    digits: i64,
    scale: u8,
}

/// Text or parts that are not a decimal number the kernel can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a decimal number: write digits with at most one point, at most 18 digits in all")]
pub struct NotDecimal;

impl Decimal {
    /// The most digits behind the point, and in all.
    pub const MAX_SCALE: u8 = 18;

    /// The number zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };
    /// The number one.
    pub const ONE: Self = Self { digits: 1, scale: 0 };

    /// Checks the scale, drops trailing zeros and counts the digits that are left.
    pub fn new(mut digits: i64, mut scale: u8) -> Result<Self, NotDecimal> {
        if scale > Self::MAX_SCALE {
            return Err(NotDecimal);
        }
        while scale > 0 && digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        if digits.unsigned_abs() >= 10u64.pow(u32::from(Self::MAX_SCALE)) {
            return Err(NotDecimal);
        }
        Ok(Self { digits, scale })
    }

    /// The digits, without the point.
    pub const fn digits(self) -> i64 {
        self.digits
    }

    /// How many of the digits stand behind the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    fn in_units_of_largest_scale(self) -> i128 {
        i128::from(self.digits) * 10i128.pow(u32::from(Self::MAX_SCALE - self.scale))
    }
}

impl core::str::FromStr for Decimal {
    type Err = NotDecimal;

    fn from_str(text: &str) -> Result<Self, NotDecimal> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        // Neither part is longer than a number can be; `new` counts the digits that matter.
        let most = usize::from(Self::MAX_SCALE);
        let bare_point = fraction.is_empty() && unsigned.contains('.');
        if unsigned.is_empty() || bare_point || whole.len() > most || fraction.len() > most {
            return Err(NotDecimal);
        }
        let mut digits = 0i128;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return Err(NotDecimal);
            }
            digits = 10 * digits + i128::from(byte - b'0');
        }
        let digits = i64::try_from(if negative { -digits } else { digits });
        Self::new(digits.map_err(|_| NotDecimal)?, fraction.len() as u8)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let one = 10u64.pow(u32::from(self.scale));
        let size = self.digits.unsigned_abs();
        if self.scale == 0 {
            return write!(f, "{sign}{size}");
        }
        write!(f, "{sign}{}.{:0width$}", size / one, size % one, width = usize::from(self.scale))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.in_units_of_largest_scale().cmp(&other.in_units_of_largest_scale())
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
