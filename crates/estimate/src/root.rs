//! Where a falling function crosses zero.

/// The root between `low` and `high` of a falling function, to `exact`, or the end nearer to it: false
/// position in the Illinois form, with a bisection after a step that gained less than that would
/// have. What is returned is on the side where the function is not positive.
pub(crate) fn falling_root(mut low: f64, mut high: f64, exact: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    if !(at_low > 0.0) {
        return low;
    }
    if at_high > 0.0 {
        return high;
    }
    let (mut last_was_low, mut slow) = (None, false);
    for _ in 0..300 {
        if high - low <= exact || at_high == 0.0 {
            break;
        }
        let guess = high - at_high * (high - low) / (at_high - at_low);
        let usable = guess > low && guess < high && !slow;
        let next = if usable { guess } else { low + (high - low) / 2.0 };
        if next <= low || next >= high {
            break;
        }
        let (value, width) = (f(next), high - low);
        // An end that stays twice counts half.
        if value > 0.0 {
            (low, at_low) = (next, value);
            at_high /= if last_was_low == Some(true) { 2.0 } else { 1.0 };
        } else {
            (high, at_high) = (next, value);
            at_low /= if last_was_low == Some(false) { 2.0 } else { 1.0 };
        }
        last_was_low = Some(value > 0.0);
        slow = high - low > 0.5 * width;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn roots_are_found_in_few_steps() {
        for (low, high, root) in [(0.0, 10.0, 3.0), (-1e6, 1e9, 12.5), (0.0, 1.0, 1e-9)] {
            let calls = Cell::new(0);
            let found = falling_root(low, high, 1e-14 * (high - low), |x| {
                calls.set(calls.get() + 1);
                (root - x) * (1.0 + (x - root).abs())
            });
            assert!((found - root).abs() <= 1e-13 * (high - low), "{found} {root}");
            assert!(calls.get() < 100, "{}", calls.get());
        }
        // Beyond either end, the end.
        assert_eq!(falling_root(0.0, 1.0, 1e-12, |_| 1.0), 1.0);
        assert_eq!(falling_root(0.0, 1.0, 1e-12, |_| -1.0), 0.0);
        // Infinite values and jumps.
        let found = falling_root(0.0, 4.0, 1e-12, |x| if x < 1.0 { f64::INFINITY } else { -1.0 });
        assert!((found - 1.0).abs() < 1e-11);
    }
}
