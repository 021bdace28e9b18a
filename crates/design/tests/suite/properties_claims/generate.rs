//! Priors at the edges of what is allowed, and channels that sit on the edge of a premise.

use rand_chacha::ChaCha12Rng;
use undertone_design::{Channel, Distribution};

pub(crate) use crate::properties_relations::generate::{below, law, random_channel, rng, unit};

/// How many rounds a search takes: `n`, or what UNDERTONE_ROUNDS says, for a longer look.
pub(crate) fn rounds(n: usize) -> usize {
    std::env::var("UNDERTONE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(n)
}

/// A number between two others, its logarithm uniform.
pub(crate) fn log_uniform(rng: &mut ChaCha12Rng, least: f64, most: f64) -> f64 {
    (least.ln() + (most / least).ln() * unit(rng)).exp()
}

/// A prior of `n` symbols: flat, skewed, with tiny masses, or with masses of nought.
pub(crate) fn prior(rng: &mut ChaCha12Rng, n: usize) -> Distribution {
    let style = below(rng, 5);
    let mut weights: Vec<f64> = (0..n)
        .map(|_| match style {
            0 => 1.0,
            1 => 0.2 + unit(rng),
            2 => unit(rng).powi(4) + 1e-4,
            3 => log_uniform(rng, 1e-12, 1.0),
            _ if unit(rng) < 0.3 => 0.0,
            _ => 0.1 + unit(rng),
        })
        .collect();
    // At least one symbol has mass.
    weights[below(rng, n)] += 0.5;
    law(&weights)
}

/// A budget in nats.
pub(crate) fn budget(rng: &mut ChaCha12Rng) -> f64 {
    if unit(rng) < 0.5 { log_uniform(rng, 1e-6, 20.0) } else { 0.05 + 4.0 * unit(rng) }
}

/// An order above one.
pub(crate) fn order(rng: &mut ChaCha12Rng) -> f64 {
    1.0 + log_uniform(rng, 1e-4, 1e4)
}

/// A cone of columns, by the multiple of one column that another column can give up: the largest t with
/// `rest` - t·`column` still in the cone. The constant column is in it.
pub(crate) trait Cone {
    /// A random extreme column.
    fn ray(&self, rng: &mut ChaCha12Rng) -> Vec<f64>;
    /// Whether a column is in the cone, up to rounding.
    fn holds(&self, column: &[f64]) -> bool;
}

/// Lifts under `prior` between e^-lower and e^upper.
pub(crate) struct Lifts<'a> {
    pub(crate) prior: &'a Distribution,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// Likelihoods, or posteriors, within e^epsilon of each other.
pub(crate) struct Odds {
    pub(crate) weights: Vec<f64>,
    pub(crate) epsilon: f64,
}

impl Cone for Lifts<'_> {
    fn ray(&self, rng: &mut ChaCha12Rng) -> Vec<f64> {
        let p = self.prior.as_slice();
        let (low, high) = ((-self.lower).exp(), self.upper.exp());
        let mut lift: Vec<f64> =
            p.iter().map(|p| if *p == 0.0 && unit(rng) < 0.5 { high } else { low }).collect();
        let mut left = -(-self.lower).exp_m1();
        let mut order: Vec<usize> = (0..p.len()).filter(|&x| p[x] > 0.0).collect();
        // Often the rarest first: they are what most bounds turn on.
        if unit(rng) < 0.5 {
            order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        } else {
            for at in (1..order.len()).rev() {
                order.swap(at, below(rng, at + 1));
            }
        }
        for x in order {
            let step = (high - low).min(left / p[x]);
            lift[x] += step;
            left = (left - step * p[x]).max(0.0);
        }
        lift
    }

    fn holds(&self, column: &[f64]) -> bool {
        let mean: f64 = column.iter().zip(self.prior.as_slice()).map(|(v, p)| v * p).sum();
        let (low, high) = ((-self.lower).exp() * mean, self.upper.exp() * mean);
        column.iter().all(|v| low <= *v && *v <= high)
    }
}

impl Cone for Odds {
    fn ray(&self, rng: &mut ChaCha12Rng) -> Vec<f64> {
        let high = self.epsilon.exp();
        let end = |w: &f64| (if unit(rng) < 0.5 { high } else { 1.0 }) / w;
        self.weights.iter().map(end).collect()
    }

    fn holds(&self, column: &[f64]) -> bool {
        let weighed = || column.iter().zip(&self.weights).map(|(v, w)| v * w);
        let least = weighed().fold(f64::INFINITY, f64::min);
        let most = weighed().fold(0.0, f64::max);
        least >= 0.0 && most <= self.epsilon.exp() * least
    }
}

/// A channel of up to six outputs, all but the last of them extreme: each takes as much as the rest can give.
pub(crate) fn extreme_channel(
    rng: &mut ChaCha12Rng,
    cone: &dyn Cone,
    inputs: usize,
) -> Option<Channel> {
    let mut rest = vec![1.0; inputs];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..1 + below(rng, 5) {
        let ray = cone.ray(rng);
        let without =
            |t: f64| -> Vec<f64> { rest.iter().zip(&ray).map(|(r, v)| r - t * v).collect() };
        let (mut good, mut bad) =
            (0.0, rest.iter().zip(&ray).map(|(r, v)| r / v).fold(f64::INFINITY, f64::min));
        for _ in 0..60 {
            let middle = f64::midpoint(good, bad);
            if cone.holds(&without(middle)) { good = middle } else { bad = middle }
        }
        // Take all of it, or leave room for others.
        let taken = if unit(rng) < 0.6 { good } else { good * unit(rng) };
        if taken > 0.0 {
            columns.push(ray.iter().map(|v| taken * v).collect());
            rest = without(taken);
        }
    }
    columns.push(rest);
    let row = |x: usize| columns.iter().map(|column| column[x].max(0.0)).collect();
    Channel::new((0..inputs).map(row).collect()).ok()
}

/// Channels that printed bounds tend to forget: one symbol that says its name, or never gives an output;
/// the identity with a little noise; nothing at all but for one symbol.
pub(crate) fn special_channel(rng: &mut ChaCha12Rng, inputs: usize) -> Channel {
    let t = if unit(rng) < 0.3 { 1.0 } else { log_uniform(rng, 1e-9, 1.0) };
    let odd = below(rng, inputs);
    let rows: Vec<Vec<f64>> = match below(rng, 4) {
        0 => {
            (0..inputs).map(|x| if x == odd { vec![t, 1.0 - t] } else { vec![0.0, 1.0] }).collect()
        }
        1 => {
            (0..inputs).map(|x| if x == odd { vec![0.0, 1.0] } else { vec![t, 1.0 - t] }).collect()
        }
        2 => (0..inputs)
            .map(|x| {
                let own = |y: usize| if x == y { 1.0 - t } else { 0.0 };
                (0..inputs).map(|y| own(y) + t / inputs as f64).collect()
            })
            .collect(),
        _ => (0..inputs)
            .map(|x| if x == odd { vec![0.5 + t / 2.0, 0.5 - t / 2.0] } else { vec![0.5, 0.5] })
            .collect(),
    };
    Channel::new(rows).unwrap()
}
