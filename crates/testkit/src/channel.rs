//! Channels of few symbols, as rows that sum to one.

use undertone_design::Channel;
use undertone_numeric::bisection::Bracket;

use crate::dice::Dice;
use crate::law::{normalised, spiked};

/// Rows, each over its sum, as a channel; for integration tests.
#[track_caller]
pub fn channel(rows: &[Vec<f64>]) -> Channel {
    let rows = rows.iter().map(|row| crate::law::distribution(row));
    Channel::from_rows(rows.collect()).unwrap()
}

/// Rows drawn one after another from one kind of law.
pub fn rows(
    inputs: usize,
    outputs: usize,
    law: impl Fn(usize, &mut Dice) -> Vec<f64>,
    dice: &mut Dice,
) -> Vec<Vec<f64>> {
    (0..inputs).map(|_| law(outputs, dice)).collect()
}

/// Randomised response on one bit.
pub fn response(epsilon: f64) -> Vec<Vec<f64>> {
    let a = epsilon.exp() / (1.0 + epsilon.exp());
    vec![vec![a, 1.0 - a], vec![1.0 - a, a]]
}

/// Up to five outputs; a common part pulls the rows together, so that small budgets occur too.
pub fn pulled(inputs: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let (outputs, spike) = (2 + dice.below(4), 4.0 * dice.open_unit());
    let (common, share) = (spiked(outputs, spike, dice), dice.open_unit());
    let row = |dice: &mut Dice| {
        let own = spiked(outputs, spike, dice);
        own.iter().zip(&common).map(|(a, b)| share * b + (1.0 - share) * a).collect()
    };
    (0..inputs).map(|_| row(dice)).collect()
}

/// Some channels sharp and some flat.
pub fn sharpened(inputs: usize, outputs: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let power = 1.0 + 8.0 * dice.open_unit();
    let law = |n: usize, dice: &mut Dice| {
        normalised((0..n).map(|_| dice.open_unit().powf(power)).collect())
    };
    rows(inputs, outputs, law, dice)
}

/// Channels that printed bounds tend to forget: one symbol that says its name, or never gives an output;
/// the identity with a little noise; nothing at all but for one symbol.
pub fn special(inputs: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let t = if dice.unit() < 0.3 { 1.0 } else { dice.log_between(1e-9, 1.0) };
    let odd = dice.below(inputs);
    let (one, others) = match dice.below(4) {
        0 => (vec![t, 1.0 - t], vec![0.0, 1.0]),
        1 => (vec![0.0, 1.0], vec![t, 1.0 - t]),
        2 => {
            let row = |x: usize| {
                let own = |y: usize| if x == y { 1.0 - t } else { 0.0 };
                (0..inputs).map(|y| own(y) + t / inputs as f64).collect()
            };
            return (0..inputs).map(row).collect();
        }
        _ => (vec![0.5 + t / 2.0, 0.5 - t / 2.0], vec![0.5, 0.5]),
    };
    (0..inputs).map(|x| if x == odd { one.clone() } else { others.clone() }).collect()
}

/// A cone of columns that holds the constant one.
pub trait Cone {
    /// A random extreme column.
    fn ray(&self, dice: &mut Dice) -> Vec<f64>;
    /// Whether a column is in the cone, up to rounding.
    fn holds(&self, column: &[f64]) -> bool;
}

/// Lifts under `prior` between e^-lower and e^upper.
#[derive(Debug, Clone, Copy)]
pub struct Lifts<'a> {
    /// The prior.
    pub prior: &'a [f64],
    /// How far a lift may fall, in nats.
    pub lower: f64,
    /// How far a lift may rise, in nats.
    pub upper: f64,
}

/// Likelihoods, or posteriors, within e^epsilon of each other.
#[derive(Debug, Clone)]
pub struct Odds {
    /// What every entry is multiplied by before it is compared.
    pub weights: Vec<f64>,
    /// The distance allowed, in nats.
    pub epsilon: f64,
}

impl Cone for Lifts<'_> {
    fn ray(&self, dice: &mut Dice) -> Vec<f64> {
        let p = self.prior;
        let (low, high) = ((-self.lower).exp(), self.upper.exp());
        let mut lift: Vec<f64> =
            p.iter().map(|p| if *p == 0.0 && dice.unit() < 0.5 { high } else { low }).collect();
        let mut left = -(-self.lower).exp_m1();
        let mut order: Vec<usize> = dice.order(p.len());
        order.retain(|&x| p[x] > 0.0);
        // Often the rarest first: they are what most bounds turn on.
        if dice.unit() < 0.5 {
            order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        }
        for x in order {
            let step = (high - low).min(left / p[x]);
            lift[x] += step;
            left = (left - step * p[x]).max(0.0);
        }
        lift
    }

    fn holds(&self, column: &[f64]) -> bool {
        let mean: f64 = column.iter().zip(self.prior).map(|(v, p)| v * p).sum();
        let (low, high) = ((-self.lower).exp() * mean, self.upper.exp() * mean);
        column.iter().all(|v| low <= *v && *v <= high)
    }
}

impl Cone for Odds {
    fn ray(&self, dice: &mut Dice) -> Vec<f64> {
        let high = self.epsilon.exp();
        let end = |w: &f64| (if dice.unit() < 0.5 { high } else { 1.0 }) / w;
        self.weights.iter().map(end).collect()
    }

    fn holds(&self, column: &[f64]) -> bool {
        let weighed = || column.iter().zip(&self.weights).map(|(v, w)| v * w);
        let least = weighed().fold(f64::INFINITY, f64::min);
        let most = weighed().fold(0.0, f64::max);
        least >= 0.0 && most <= self.epsilon.exp() * least
    }
}

/// A channel of up to six outputs whose columns lie in the cone, all but the last of them extreme: each takes as
/// much as the rest can give. Rows sum to one up to rounding.
pub fn extreme(cone: &dyn Cone, inputs: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let mut rest = vec![1.0; inputs];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..1 + dice.below(5) {
        let ray = cone.ray(dice);
        let without =
            |t: f64| -> Vec<f64> { rest.iter().zip(&ray).map(|(r, v)| r - t * v).collect() };
        let most = rest.iter().zip(&ray).map(|(r, v)| r / v).fold(f64::INFINITY, f64::min);
        let bracket = Bracket { holds: 0.0, fails: most };
        let all = bracket.halve(60, |t| cone.holds(&without(t))).holds;
        // Take all of it, or leave room for others.
        let taken = if dice.unit() < 0.6 { all } else { all * dice.unit() };
        if taken > 0.0 {
            columns.push(ray.iter().map(|v| taken * v).collect());
            rest = without(taken);
        }
    }
    columns.push(rest);
    let row = |x: usize| columns.iter().map(|column| column[x].max(0.0)).collect();
    (0..inputs).map(row).collect()
}
