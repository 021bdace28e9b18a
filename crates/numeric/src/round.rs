//! Outward-rounded float arithmetic: the direction is in the name.
//!
//! `*_up` never returns less than the exact result on its arguments, `*_down` never more. IEEE 754
//! rounds +, -, × and ÷ to the nearest float, so one step outward is enough; ln and exp come from
//! the platform's mathematical library, which is allowed [`LIBM_STEPS`] steps. NaN stays NaN.

/// How many floats away from the exact value the platform's ln and exp may land.
///
/// The usual libraries stay within one; four leaves room for the less usual.
pub const LIBM_STEPS: u32 = 4;

/// a + b, rounded up; exact sums stay exact.
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Not `error > 0`: an infinite sum has a NaN error and must not be taken as exact.
    if add_error(a, b) <= 0.0 { sum } else { sum.next_up() }
}

/// a + b, rounded down; exact sums stay exact.
pub fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if add_error(a, b) >= 0.0 { sum } else { sum.next_down() }
}

/// The exact a + b minus the rounded one (Knuth's two-sum); NaN where that overflows.
fn add_error(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (a - a_part) + (b - b_part)
}

/// a - b, rounded up.
pub fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// a - b, rounded down.
pub fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// a·b, rounded up; a zero factor gives exactly zero and the sign is kept.
pub fn mul_up(a: f64, b: f64) -> f64 {
    -mul_down(-a, b)
}

/// a·b, rounded down; a zero factor gives exactly zero and the sign is kept.
pub fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { a * b } else { step_down(a * b, (a > 0.0) == (b > 0.0)) }
}

/// a/b, rounded up; a zero numerator gives exactly zero and the sign is kept.
pub fn div_up(a: f64, b: f64) -> f64 {
    -div_down(-a, b)
}

/// a/b, rounded down; a zero numerator gives exactly zero and the sign is kept.
pub fn div_down(a: f64, b: f64) -> f64 {
    // Division by zero is an exact infinity.
    if a == 0.0 || b == 0.0 { a / b } else { step_down(a / b, (a > 0.0) == (b > 0.0)) }
}

/// One float down, but a positive value that underflowed stays at zero.
fn step_down(value: f64, positive: bool) -> f64 {
    let below = value.next_down();
    if positive && below < 0.0 { 0.0 } else { below }
}

/// ln a, rounded up.
pub fn ln_up(a: f64) -> f64 {
    (0..LIBM_STEPS).fold(a.ln(), |value, _| value.next_up())
}

/// ln a, rounded down.
pub fn ln_down(a: f64) -> f64 {
    (0..LIBM_STEPS).fold(a.ln(), |value, _| value.next_down())
}

/// e^a, rounded up.
pub fn exp_up(a: f64) -> f64 {
    (0..LIBM_STEPS).fold(a.exp(), |value, _| value.next_up())
}

/// e^a, rounded down; never below zero.
pub fn exp_down(a: f64) -> f64 {
    (0..LIBM_STEPS).fold(a.exp(), |value, _| step_down(value, true))
}

/// The sum, every addition rounded up.
pub fn sum_up(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, add_up)
}

/// The sum, every addition rounded down.
pub fn sum_down(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, add_down)
}

/// Bounds from below and above on a list of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Enclosure {
    /// Never above the exact numbers.
    pub lower: Vec<f64>,
    /// Never below them.
    pub upper: Vec<f64>,
}

impl Enclosure {
    /// Encloses the weights divided by their exact sum.
    ///
    /// Floats that are meant to sum to one seldom do so exactly. What they stand for here is the
    /// distribution proportional to them, and a zero is exactly zero.
    pub fn normalised(weights: &[f64]) -> Self {
        let least = sum_down(weights.iter().copied());
        let most = sum_up(weights.iter().copied());
        if least == 1.0 && most == 1.0 {
            return Self { lower: weights.to_vec(), upper: weights.to_vec() };
        }
        Self {
            lower: weights.iter().map(|&w| div_down(w, most)).collect(),
            upper: weights.iter().map(|&w| div_up(w, least)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_zeros_and_exact_sums_stay() {
        assert_eq!(mul_up(0.0, 0.3), 0.0);
        assert_eq!(div_up(0.0, 0.3), 0.0);
        assert_eq!((add_up(0.25, 0.5), add_down(0.25, 0.5)), (0.75, 0.75));
        assert_eq!(sum_up([0.25; 4]), 1.0);
        assert!(add_up(0.1, 0.2) > add_down(0.1, 0.2));
    }

    #[test]
    fn underflow_is_rounded_outward_and_keeps_its_sign() {
        let tiny = f64::MIN_POSITIVE;
        assert!(mul_up(tiny, tiny) > 0.0);
        assert_eq!(mul_down(tiny, tiny), 0.0);
        assert!(mul_down(-tiny, tiny) < 0.0);
        assert_eq!(mul_up(-tiny, tiny), 0.0);
        assert!(exp_up(-800.0) > 0.0);
        assert_eq!(exp_down(-800.0), 0.0);
    }

    #[test]
    fn infinities_are_bounds_too() {
        assert_eq!(div_up(1.0, 0.0), f64::INFINITY);
        assert_eq!(add_up(f64::MAX, f64::MAX), f64::INFINITY);
        assert_eq!(add_down(f64::MAX, f64::MAX), f64::MAX);
        assert_eq!(ln_up(f64::INFINITY), f64::INFINITY);
        assert!(ln_up(f64::NAN).is_nan() && add_up(f64::NAN, 1.0).is_nan());
    }
}
