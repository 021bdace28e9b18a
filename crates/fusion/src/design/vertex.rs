//! The best binary map under local differential privacy alone, in closed form.

/// The p(1|x) that minimise Σ_x d(x) p(1|x) when any two of p(1|x), and any two of 1 - p(1|x), are
/// within the factor `odds` of each other.
///
/// ST20 Theorem 2, corrected: the two levels (a for negative d, b for the others) lie in a triangle
/// with the vertices (0,0), (1,1) and (odds, 1)/(1 + odds); the printed rule is the third vertex only.
pub fn best(difference: &[f64], odds: f64) -> Vec<f64> {
    let negative: f64 = difference.iter().filter(|d| **d < 0.0).sum();
    let positive: f64 = difference.iter().filter(|d| **d >= 0.0).sum();
    let high = if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
    let low = 1.0 - high;
    let two_levels = high * negative + low * positive;
    let (a, b) = if two_levels <= 0.0 && two_levels <= negative + positive {
        (high, low)
    } else if negative + positive < 0.0 {
        (1.0, 1.0)
    } else {
        (0.0, 0.0)
    };
    difference.iter().map(|&d| if d < 0.0 { a } else { b }).collect()
}

/// The best vertex as printed (ST20 (3)): two levels always.
pub fn printed(difference: &[f64], odds: f64) -> Vec<f64> {
    let high = if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
    difference.iter().map(|&d| if d < 0.0 { high } else { 1.0 - high }).collect()
}
