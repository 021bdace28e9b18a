//! Tilted laws of sums over a random subset of fixed size.
//!
//! With a(z) = e^{s score(z)}, the mass of all subsets of size d is the coefficient e_d of Π (1 + a(z) v), by Cauchy's formula
//! the mean of Π (1 + t a(z) e^{iθ}) (t e^{iθ})^{-d} over θ, for any t > 0. With the t at which π(z) = t a(z)/(1 + t a(z)) sum to d the
//! integrand falls like e^{-V θ²/2}, V = Σ π(1 - π), so that a few points on the circle give it to the last digits: with M points
//! what is added wrongly is the chance that so many independent bits with chances π(z) differ from d by M or more. Leaving out one
//! symbol divides by its factor, and moments come from the cumulants of the same bits, with complex chances.

use super::law::{Tilt, gather, of_powers};
use undertone_numeric::root::falling_root;

/// What is known of a channel that releases subsets.
#[derive(Clone, Copy)]
pub(super) struct Subset {
    /// How many symbols a subset has.
    pub(super) size: usize,
    /// The probability that it has the input.
    pub(super) own: f64,
}

/// A complex number.
#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };
    const ONE: Self = Self { re: 1.0, im: 0.0 };

    fn turn(angle: f64) -> Self {
        Self { re: angle.cos(), im: angle.sin() }
    }

    fn plus(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }

    fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    fn times(self, other: Self) -> Self {
        let re = self.re * other.re - self.im * other.im;
        Self { re, im: self.re * other.im + self.im * other.re }
    }

    fn scaled(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    fn inverse(self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        Self { re: self.re / square, im: -self.im / square }
    }
}

/// The integrals of one symbol: the others' subsets beside it, and without it; powers 0 to 4 of the score.
type Integrals = [[f64; 5]; 2];

/// The tilted law of `offset` plus the scores of a subset's symbols.
pub(super) fn subset_tilt(s: f64, subset: Subset, scores: &[f64], offset: f64) -> Tilt {
    let (all, size) = (scores.len() as f64, subset.size as f64);
    // A common score adds the same to every subset.
    let common = scores.iter().sum::<f64>() / all;
    let centred: Vec<f64> = scores.iter().map(|score| score - common).collect();
    let offset = offset + size * common;
    let even = size / (all - size);
    let level = level(s, &centred, size);
    // What each factor 1 + t a(z) has grown by since s = 0, where t was `even`.
    let growth: Vec<f64> = centred.iter().map(|score| grown(even, level + s * score)).collect();
    let total: f64 = growth.iter().sum();
    let tilted = |score: &f64| chance(even, level + s * score);
    let found = integrals(&centred.iter().map(tilted).collect::<Vec<_>>(), &centred, subset.size);
    let untilted = vec![size / all; scores.len()];
    let [[plain_with, ..], [plain_without, ..]] =
        integrals(&untilted, &vec![0.0; scores.len()], subset.size)[0];
    let point = |((score, growth), [with, without]): ((&f64, &f64), &Integrals)| {
        // The masses beside the symbol and without it, times the coin.
        let others = total - growth + s * offset;
        let beside = (others + s * score - (size - 1.0) * level).exp() / plain_with;
        let apart = (others - size * level).exp() / plain_without;
        let (beside, apart) = (subset.own * beside, (1.0 - subset.own) * apart);
        let powers: [f64; 5] =
            std::array::from_fn(|power| beside * with[power] + apart * without[power]);
        of_powers(powers, (powers[2] / powers[0]).sqrt())
    };
    gather(centred.iter().zip(&growth).zip(&found).map(point))
}

/// The logarithm of what t is multiplied by, beside its value without tilting, so that the chances sum to the size.
fn level(s: f64, centred: &[f64], size: f64) -> f64 {
    let (least, most) = crate::estimator::bounds(centred);
    let even = size / (centred.len() as f64 - size);
    let missing = |level: f64| {
        size - centred.iter().map(|score| chance(even, level + s * score)).sum::<f64>()
    };
    falling_root(-s * most, -s * least, 1e-9, missing)
}

/// Odds times e^u as a chance.
fn chance(odds: f64, u: f64) -> f64 {
    1.0 / (1.0 + (-u).exp() / odds)
}

/// ln((1 + odds e^u)/(1 + odds)).
fn grown(odds: f64, u: f64) -> f64 {
    if u > 30.0 {
        u - (1.0 / odds).ln_1p() + ((-u).exp() / odds).ln_1p()
    } else {
        (odds * u.exp_m1() / (1.0 + odds)).ln_1p()
    }
}

/// For every symbol, the chance that `size` - 1 of the others' bits are set, and that `size` are, and the moments of their scores
/// there; beside the symbol, with its own score added.
fn integrals(chances: &[f64], scores: &[f64], size: usize) -> Vec<Integrals> {
    let variance: f64 = chances.iter().map(|chance| chance * (1.0 - chance)).sum();
    // So many points are exact, and fewer are enough.
    let points = (chances.len() + 1).min((9.0 * variance.sqrt()) as usize + 30) | 1;
    let step = std::f64::consts::TAU / points as f64;
    let mut sums: Vec<Integrals> = vec![[[0.0; 5]; 2]; chances.len()];
    for at in 0..=points / 2 {
        let angle = step * at as f64;
        if variance * (1.0 - angle.cos()) > 40.0 {
            break;
        }
        // The points above and below the real line are each other's mirror images.
        let weight = if at == 0 { 1.0 } else { 2.0 } / points as f64;
        let turn = Complex::turn(angle);
        let factor = |chance: f64| turn.minus(Complex::ONE).scaled(chance).plus(Complex::ONE);
        let mut product = Complex::turn(-angle * size as f64).scaled(weight);
        let mut total = [Complex::ZERO; 4];
        for (chance, score) in chances.iter().zip(scores) {
            let factor = factor(*chance);
            product = product.times(factor);
            let own = cumulants(turn.scaled(*chance).times(factor.inverse()), *score);
            total.iter_mut().zip(own).for_each(|(sum, one)| *sum = sum.plus(one));
        }
        for ((chance, score), sums) in chances.iter().zip(scores).zip(&mut sums) {
            let inverse = factor(*chance).inverse();
            let own = cumulants(turn.scaled(*chance).times(inverse), *score);
            let mut rest: [Complex; 4] =
                std::array::from_fn(|order| total[order].minus(own[order]));
            let without = product.times(inverse);
            add(&mut sums[1], without, rest);
            rest[0] = rest[0].plus(Complex::ONE.scaled(*score));
            add(&mut sums[0], without.times(turn), rest);
        }
    }
    sums
}

/// The first four cumulants of a score that counts with a chance.
fn cumulants(chance: Complex, score: f64) -> [Complex; 4] {
    let clear = Complex::ONE.minus(chance);
    let both = chance.times(clear);
    let (square, skew) = (score * score, clear.minus(chance));
    [
        chance.scaled(score),
        both.scaled(square),
        both.times(skew).scaled(square * score),
        both.times(Complex::ONE.minus(both.scaled(6.0))).scaled(square * square),
    ]
}

/// Adds a mass and the moments that go with its cumulants.
fn add(sums: &mut [f64; 5], mass: Complex, [k1, k2, k3, k4]: [Complex; 4]) {
    let (first, second) = (k1.times(k1), k2.plus(k1.times(k1)));
    let third = k3.plus(k1.times(k2.scaled(3.0).plus(first)));
    let inner = k3.scaled(4.0).plus(k1.times(k2.scaled(6.0).plus(first)));
    let fourth = k4.plus(k2.times(k2).scaled(3.0)).plus(k1.times(inner));
    let moments = [Complex::ONE, k1, second, third, fourth];
    sums.iter_mut().zip(moments).for_each(|(sum, moment)| *sum += mass.times(moment).re);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masses and moments of all subsets, one by one.
    fn enumerated(s: f64, subset: Subset, scores: &[f64], offset: f64, x: usize) -> [f64; 5] {
        let mut sums = [[0.0; 5]; 2];
        let mut counts = [0.0; 2];
        for set in 0u32..1 << scores.len() {
            if set.count_ones() as usize != subset.size {
                continue;
            }
            let inside = (set >> x & 1) as usize;
            let score: f64 =
                (0..scores.len()).filter(|z| set >> z & 1 == 1).map(|z| scores[z]).sum();
            counts[inside] += 1.0;
            for (power, sum) in sums[inside].iter_mut().enumerate() {
                *sum += (s * (score + offset)).exp() * score.powi(power as i32);
            }
        }
        let part = |power: usize| {
            subset.own * sums[1][power] / counts[1]
                + (1.0 - subset.own) * sums[0][power] / counts[0]
        };
        std::array::from_fn(part)
    }

    #[test]
    fn tilted_laws_are_those_of_all_subsets() {
        let scores = [0.3, -1.2, 0.0, 2.0, 0.7, 0.7, -0.4, 0.1, 1.1];
        for (size, own) in [(1, 0.4), (3, 0.6), (4, 0.55), (8, 0.97)] {
            for s in [0.0, 0.01, 0.4, 3.0, 40.0] {
                let subset = Subset { size, own };
                let tilt = subset_tilt(s, subset, &scores, -0.35);
                let mut least = f64::INFINITY;
                for (x, mass) in tilt.masses.iter().enumerate() {
                    let sums = enumerated(s, subset, &scores, -0.35, x);
                    assert!(
                        (mass / sums[0] - 1.0).abs() < 1e-12,
                        "{size} {s} {x}: {mass} {}",
                        sums[0]
                    );
                    let mean = sums[1] / sums[0];
                    least = least.min(sums[2] / sums[0] - mean * mean);
                }
                // Where next to nothing is left of the variance it is taken to be nought.
                let off = (tilt.least_variance - least).abs();
                assert!(off <= 1e-9 * least || tilt.least_variance == 0.0, "{size} {s}: {least}");
            }
        }
    }

    #[test]
    fn few_points_are_enough_for_many_symbols() {
        let scores: Vec<f64> = (0..600).map(|z| f64::from(z % 7) - 2.0).collect();
        let subset = Subset { size: 161, own: 0.5 };
        // The mass at s and its first two logarithmic derivatives, which are mean and variance.
        let at = |s: f64| subset_tilt(s, subset, &scores, -161.0).masses[3].ln();
        let (s, h) = (0.02, 1e-3);
        let curvature = (at(s + h) - 2.0 * at(s) + at(s - h)) / (h * h);
        let tilt = subset_tilt(s, subset, &scores, -161.0);
        assert!((curvature / tilt.mean_variance - 1.0).abs() < 1e-2, "{curvature}");
        assert!((at(0.0)).abs() < 1e-12, "{}", at(0.0));
    }
}
