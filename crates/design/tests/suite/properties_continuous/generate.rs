//! Random priors and points.

use undertone_design::Distribution;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::distribution;

/// Exponential weights: a uniform draw from the simplex, now and then with a zero.
pub(crate) fn prior(n: usize, dice: &mut Dice) -> Distribution {
    let mut weights: Vec<f64> = (0..n).map(|_| -dice.open_unit().ln() + 1e-3).collect();
    if n > 2 && dice.unit() < 0.2 {
        weights[dice.below(n)] = 0.0;
    }
    distribution(&weights)
}

/// Increasing numbers in [low, high], the ends included in half the cases.
pub(crate) fn points(n: usize, low: f64, high: f64, dice: &mut Dice) -> Vec<f64> {
    let mut points: Vec<f64> = (0..n).map(|_| dice.between(low, high)).collect();
    points.sort_by(f64::total_cmp);
    if dice.unit() < 0.5 {
        (points[0], points[n - 1]) = (low, high);
    }
    points.dedup();
    points
}
