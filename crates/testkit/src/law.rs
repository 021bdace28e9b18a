//! Laws of few symbols, as lists that sum to one.

use undertone_design::Distribution;

use crate::dice::Dice;

/// Weights over their sum, as a law; for integration tests.
#[track_caller]
pub fn distribution(weights: &[f64]) -> Distribution {
    Distribution::normalised("a law", weights.to_vec()).unwrap()
}

/// Weights over their sum.
pub fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Probabilities that fall like a power of the rank.
pub fn zipf(n: usize, power: f64) -> Vec<f64> {
    normalised((1..=n).map(|rank| (rank as f64).powf(-power)).collect())
}

/// A point of the simplex, uniform if `floor` is zero, and the closer to the middle the larger it is.
pub fn dirichlet(n: usize, floor: f64, dice: &mut Dice) -> Vec<f64> {
    normalised((0..n).map(|_| floor - dice.open_unit().ln()).collect())
}

/// Weights from `floor` to `floor` + 1.
pub fn level(n: usize, floor: f64, dice: &mut Dice) -> Vec<f64> {
    normalised((0..n).map(|_| floor + dice.unit()).collect())
}

/// The larger `spike`, the further from uniform.
pub fn spiked(n: usize, spike: f64, dice: &mut Dice) -> Vec<f64> {
    let weight = |dice: &mut Dice| (spike * dice.open_unit()).exp() * (0.05 + dice.open_unit());
    normalised((0..n).map(|_| weight(dice)).collect())
}

/// All probabilities positive, sometimes very uneven.
pub fn uneven(n: usize, dice: &mut Dice) -> Vec<f64> {
    let power = [0.3, 1.0, 4.0][dice.below(3)];
    normalised((0..n).map(|_| (dice.unit() + 1e-3).powf(power)).collect())
}

/// An [`uneven`] law in which some probabilities, never all, may be zero.
pub fn sparse(n: usize, dice: &mut Dice) -> Vec<f64> {
    let full = uneven(n, dice);
    let kept = dice.below(n);
    let zeroed = |(x, p)| if x != kept && dice.unit() < 0.3 { 0.0 } else { p };
    normalised(full.into_iter().enumerate().map(zeroed).collect())
}

/// At the edges of what is allowed: flat, skewed, with tiny masses, or with masses of nought.
pub fn extreme(n: usize, dice: &mut Dice) -> Vec<f64> {
    let style = dice.below(5);
    let mut weights: Vec<f64> = (0..n)
        .map(|_| match style {
            0 => 1.0,
            1 => 0.2 + dice.unit(),
            2 => dice.unit().powi(4) + 1e-4,
            3 => dice.log_between(1e-12, 1.0),
            _ if dice.unit() < 0.3 => 0.0,
            _ => 0.1 + dice.unit(),
        })
        .collect();
    // At least one symbol has mass.
    weights[dice.below(n)] += 0.5;
    normalised(weights)
}

/// Uniform, Zipf, Dirichlet, or a Dirichlet so skewed that symbols nearly or wholly vanish.
pub fn any(n: usize, dice: &mut Dice) -> Vec<f64> {
    let kind = dice.below(4);
    let weight = |dice: &mut Dice, x: usize| match kind {
        0 => 1.0,
        1 => 1.0 / (x + 1) as f64,
        2 => -dice.open_unit().ln(),
        _ => (-dice.open_unit().ln()).powi(4) + f64::MIN_POSITIVE,
    };
    normalised((0..n).map(|x| weight(dice, x)).collect())
}

/// Multiples of 2^-10, none of them tiny, whose sums and halves are the same in any order; later symbols
/// are likelier, so that orders differ.
pub fn dyadic(n: usize, dice: &mut Dice) -> Vec<f64> {
    let mut parts = vec![20u64; n];
    for _ in 0..1024 - 20 * n {
        parts[dice.below(n * n).isqrt()] += 1;
    }
    parts.iter().map(|&part| part as f64 / 1024.0).collect()
}
