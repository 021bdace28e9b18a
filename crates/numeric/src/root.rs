//! Where a falling function crosses zero; of a rising one, take the negative.

/// The root between `low` and `high` of a falling function, to `exact`, or the end nearer to it: false
/// position in the Illinois form, with a bisection after a step that gained less than that would
/// have. What is returned is on the side where the function is not positive.
pub fn falling_root(mut low: f64, mut high: f64, exact: f64, f: impl Fn(f64) -> f64) -> f64 {
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

/// The root between `low` and `high` of a falling function given with its derivative, to `exact` or a relative
/// 1e-15, or the end nearer to it, and the derivative there: Newton's method from `guess`, kept inside a shrinking
/// bracket.
///
/// ```
/// let (root, slope) = undertone_numeric::root::falling_newton_root(0.0, 2.0, 0.0, 1.0, |x| (2.0 - x * x, -2.0 * x));
/// assert!((root - 2f64.sqrt()).abs() < 1e-15 && (slope + 8f64.sqrt()).abs() < 1e-14);
/// ```
pub fn falling_newton_root(
    mut low: f64,
    mut high: f64,
    exact: f64,
    guess: f64,
    f: impl Fn(f64) -> (f64, f64),
) -> (f64, f64) {
    let middle = |low: f64, high: f64| low + (high - low) / 2.0;
    let mut x = if guess >= low && guess <= high { guess } else { middle(low, high) };
    let mut slope = f64::NAN;
    for _ in 0..400 {
        let value;
        (value, slope) = f(x);
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high { newton } else { middle(low, high) };
        if !((next - x).abs() > exact.max(1e-15 * x.abs())) {
            return (next, slope);
        }
        x = next;
    }
    (x, slope)
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

    #[test]
    fn newton_agrees_with_false_position() {
        for (low, high, root) in [(0.0, 10.0, 3.0), (-1e3, 1e6, 12.5), (0.0, 1.0, 1e-9)] {
            let f = |x: f64| (root - x) * (1.0 + (x - root).abs());
            let slope = |x: f64| -1.0 - 2.0 * (x - root).abs();
            for guess in [low, high, f64::NAN, root] {
                let (found, at) = falling_newton_root(low, high, 0.0, guess, |x| (f(x), slope(x)));
                assert!((found - root).abs() <= 1e-14 * root.abs(), "{found} {root}");
                assert!((at + 1.0).abs() < 1e-6);
            }
        }
        // Beyond either end, the end.
        assert_eq!(falling_newton_root(0.0, 1.0, 1e-12, 0.0, |_| (-1.0, -1.0)).0, 0.0);
        assert!((falling_newton_root(0.0, 1.0, 1e-12, 0.0, |_| (1.0, -1.0)).0 - 1.0).abs() < 1e-11);
        // A derivative that says nothing leaves bisection.
        let (found, _) = falling_newton_root(0.0, 1.0, 1e-12, 0.0, |x| (0.3 - x, f64::NAN));
        assert!((found - 0.3).abs() < 1e-11);
    }
}
