//! Where a function with one dip is least.

/// The golden section.
const SECTION: f64 = 0.618_033_988_749_894_9;

/// An interval around the place between `low` and `high` where a function with one dip is least, after
/// this many evaluations, two at least: each one after those shrinks it to 0.618 of its width.
///
/// ```
/// let (low, high) = undertone_numeric::golden_section::golden_section(0.0, 2.0, 40, |x| (x - 1.2f64).abs());
/// assert!(low <= 1.2 && 1.2 <= high && high - low < 1e-7);
/// ```
pub fn golden_section(
    low: f64,
    high: f64,
    evaluations: usize,
    mut f: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    let (mut low, mut high) = (low, high);
    let (mut left, mut right) = (high - SECTION * (high - low), low + SECTION * (high - low));
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 2..evaluations {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - SECTION * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + SECTION * (high - low);
            at_right = f(right);
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dips_anywhere_are_enclosed() {
        for dip in [-3.0, -0.2, 0.0, 1.0, 4.99, 5.0] {
            let mut calls = 0;
            let (low, high) = golden_section(-3.0, 5.0, 30, |x| {
                calls += 1;
                (x - dip).powi(2)
            });
            assert!(low <= dip && dip <= high, "{dip}: {low} {high}");
            assert!((high - low - 8.0 * SECTION.powi(28)).abs() < 1e-9);
            assert_eq!(calls, 30);
        }
    }
}
