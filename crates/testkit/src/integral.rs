//! Slow integrals.

/// `steps` + 1 numbers from `low` to `high`, evenly apart.
pub fn grid(low: f64, high: f64, steps: usize) -> Vec<f64> {
    (0..=steps).map(|i| low + (high - low) * i as f64 / steps as f64).collect()
}

/// ∫ f from `low` to `high` by Simpson's rule.
pub fn simpson(f: impl Fn(f64) -> f64, low: f64, high: f64, panels: usize) -> f64 {
    let h = (high - low) / (2 * panels) as f64;
    let at = |i: usize| f(low + h * i as f64);
    let inner: f64 = (1..2 * panels).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * at(i)).sum();
    (at(0) + inner + at(2 * panels)) * h / 3.0
}
