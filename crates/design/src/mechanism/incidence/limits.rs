//! How much claims let blocks say.
//!
//! With f the share of blocks that contain an input, a coin P makes a block ρ = P (1 - f) / ((1 - P) f) times as likely from an
//! input inside it as from one outside, and ρ is all that a family's blocks say. With m the mass of a block under the prior:
//!
//! * LDP at odds E asks ρ <= E, and DI asks ρ <= E w(least) / w(greatest).
//! * Belief in an input inside a block grows by ρ / (m ρ + 1 - m), most in the lightest block: at most E is
//!   ρ <= E (1 - m) / (1 - m E), and no bound if m E >= 1.
//! * Belief in an input outside it falls by m ρ + 1 - m, most in the heaviest: at most E is ρ <= 1 + (E - 1) / m.
//! * A secret whose values s and t give a block the masses a and b has odds (a ρ + 1 - a) / (b ρ + 1 - b), at most E for
//!   ρ (a - E b) <= E (1 - b) - (1 - a).
//!
//! All of it grows with ρ, so the least of the bounds is the answer. Floats find it; the kernel's integers decide.

use undertone_core::incidence::Incidence;
use undertone_core::{Bound, Context, Epsilon, Prior, Subject, WEIGHT_ONE};

use crate::quantize::PolicySpec;

/// Bounds on odds, and on how far belief may rise and fall; infinite where nothing is claimed.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    odds: f64,
    rise: f64,
    fall: f64,
}

/// The weights that blocks are weighed with, for one prior or for the ends of a box.
#[derive(Debug, Clone)]
struct Weights {
    low: Vec<f64>,
    /// The upper ends; nothing for a single prior.
    high: Option<Vec<f64>>,
}

/// The mass of the lightest block that has a member, and of the heaviest that lacks a symbol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Masses {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// What a promise allows blocks to say.
#[derive(Debug, Clone)]
pub struct Limits {
    input: Allowed,
    secret: Allowed,
    /// The priors that belief in the input is measured from.
    weights: Vec<Weights>,
    /// The laws of the data for every value of the secret, and the secret's own.
    rows: Vec<Vec<f64>>,
    law: Vec<f64>,
}

impl Limits {
    /// The limits of all claims of a promise.
    pub fn of(spec: &PolicySpec) -> Self {
        let nothing = Allowed { odds: f64::INFINITY, rise: f64::INFINITY, fall: f64::INFINITY };
        let (mut input, mut secret) = (nothing, nothing);
        let weights = weights(&spec.context);
        for claim in &spec.claims {
            let about = if claim.about == Subject::Input { &mut input } else { &mut secret };
            match claim.bound {
                Bound::Ldp(epsilon) => about.odds = about.odds.min(odds(epsilon)),
                Bound::Di(epsilon) => {
                    let spread = weights.iter().map(spread).fold(1.0, f64::min);
                    about.odds = about.odds.min(odds(epsilon) * spread);
                }
                Bound::Lip { lower, upper } => {
                    about.rise = about.rise.min(odds(upper));
                    about.fall = about.fall.min(odds(lower));
                }
            }
        }
        let (rows, law) = match &spec.context {
            Context::Secret(context) if secret.is_bound() => {
                (context.rows().iter().map(floats).collect(), floats(context.prior()))
            }
            _ => (Vec::new(), Vec::new()),
        };
        Self { input, secret, weights, rows, law }
    }

    /// Whether the masses of blocks matter, or every family may say as much as any other.
    pub fn are_about_belief(&self) -> bool {
        self.input.rise.min(self.input.fall).is_finite() || self.secret.is_bound()
    }

    /// No family whose blocks contain this share of the symbols' appearances may say more: over all blocks, the mean of their
    /// masses is that share under any prior, so none is better than blocks of that mass.
    pub fn best(&self, share: f64) -> f64 {
        self.input.odds.min(self.input.at(Masses { least: share, greatest: share }))
    }

    /// What blocks between two masses may say about the input, under a single prior.
    pub(super) fn at(&self, masses: Masses) -> f64 {
        self.input.at(masses)
    }

    /// What a family of numbered blocks may say.
    pub fn of_blocks(&self, incidence: &Incidence) -> f64 {
        let mut ratio = self.input.odds;
        if self.input.rise.min(self.input.fall).is_finite() {
            for weights in &self.weights {
                ratio = ratio.min(self.input.at(masses(incidence, weights)));
            }
        }
        ratio.min(self.of_secret(incidence))
    }

    /// What blocks may say about the secret.
    fn of_secret(&self, incidence: &Incidence) -> f64 {
        let rows: Vec<Vec<f64>> = self.rows.iter().map(|row| incidence.block_sums(row)).collect();
        let Some(blocks) = rows.first().map(Vec::len) else { return f64::INFINITY };
        let mut ratio = f64::INFINITY;
        for block in 0..blocks {
            let masses = rows.iter().map(|row| row[block]);
            let most = masses.clone().fold(0.0, f64::max);
            let least = masses.clone().fold(1.0, f64::min);
            let mean: f64 = masses.zip(&self.law).map(|(mass, part)| mass * part).sum();
            ratio = ratio
                .min(between(most, least, self.secret.odds))
                .min(between(most, mean, self.secret.rise))
                .min(between(mean, least, self.secret.fall));
        }
        ratio
    }

    /// What all subsets of every size from one to all but one of the symbols may say, in that order. About a secret, what LDP
    /// at the same odds allows, which is enough; the kernel may accept more.
    pub fn of_subsets(&self, symbols: usize) -> Vec<f64> {
        let implied = self.secret.odds.min(self.secret.rise).min(self.secret.fall);
        let mut ratios = vec![self.input.odds.min(implied); symbols - 1];
        if !self.input.rise.min(self.input.fall).is_finite() {
            return ratios;
        }
        for weights in &self.weights {
            let (low, high) = (sorted_sums(&weights.low), weights.high.as_deref().map(sorted_sums));
            let high = high.as_ref().unwrap_or(&low);
            let top = |sums: &[f64], count: usize| sums[symbols] - sums[symbols - count];
            for (at, ratio) in ratios.iter_mut().enumerate() {
                let (size, rest) = (at + 1, symbols - at - 1);
                let masses = Masses {
                    least: low[size].max(1.0 - top(high, rest)),
                    greatest: top(high, size).min(1.0 - low[rest]),
                };
                *ratio = ratio.min(self.input.at(masses));
            }
        }
        ratios
    }
}

impl Allowed {
    fn is_bound(&self) -> bool {
        self.odds.min(self.rise).min(self.fall).is_finite()
    }

    /// What blocks between two masses may say.
    fn at(&self, masses: Masses) -> f64 {
        let Masses { least, greatest } = masses;
        let rises = if self.rise.is_infinite() || least * self.rise >= 1.0 {
            f64::INFINITY
        } else {
            self.rise * (1.0 - least) / (1.0 - least * self.rise)
        };
        let falls = if greatest > 0.0 { 1.0 + (self.fall - 1.0) / greatest } else { f64::INFINITY };
        self.odds.min(rises).min(falls)
    }
}

/// The largest ρ at which (a ρ + 1 - a) / (b ρ + 1 - b) is at most `odds`.
fn between(a: f64, b: f64, odds: f64) -> f64 {
    if odds.is_infinite() || a <= odds * b {
        return f64::INFINITY;
    }
    (odds * (1.0 - b) - (1.0 - a)) / (a - odds * b)
}

/// The masses of a family's blocks at their ends.
fn masses(incidence: &Incidence, weights: &Weights) -> Masses {
    let low = incidence.block_sums(&weights.low);
    let all: f64 = weights.low.iter().sum();
    let ends: Vec<(f64, f64)> = match &weights.high {
        None => low.into_iter().map(|mass| (mass, mass)).collect(),
        Some(high) => {
            let reach: f64 = high.iter().sum();
            let high = incidence.block_sums(high);
            let range = |(low, high): (f64, f64)| {
                (low.max(1.0 - (reach - high)), high.min(1.0 - (all - low)))
            };
            low.into_iter().zip(high).map(range).collect()
        }
    };
    let ends_of = |keep: &dyn Fn(usize) -> [bool; 2]| {
        let mut found = Masses { least: 1.0, greatest: 0.0 };
        for (block, &(low, high)) in ends.iter().enumerate() {
            let [with, without] = keep(block);
            if with {
                found.least = found.least.min(low);
            }
            if without {
                found.greatest = found.greatest.max(high);
            }
        }
        found
    };
    let found = ends_of(&|_| [true, true]);
    if found.least > 0.0 && found.greatest < 1.0 - 1e-9 {
        return found;
    }
    // Blocks without members, and blocks of everything, tell nobody anything.
    let sizes = incidence.block_sums(&vec![1u32; incidence.symbols()]);
    ends_of(&|block| [sizes[block] > 0, (sizes[block] as usize) < incidence.symbols()])
}

fn weights(context: &Context) -> Vec<Weights> {
    let single = |prior: &Prior| Weights { low: floats(prior), high: None };
    let ends = |ends: &[u64]| ends.iter().map(|&end| end as f64 / WEIGHT_ONE as f64).collect();
    match context {
        Context::Unknown => Vec::new(),
        Context::Known(prior) => vec![single(prior)],
        Context::Each(priors) => priors.as_slice().iter().map(single).collect(),
        Context::Within(within) => {
            vec![Weights { low: ends(within.lower()), high: Some(ends(within.upper())) }]
        }
        Context::Secret(secret) => {
            let mut data = vec![0.0; secret.rows().first().map_or(0, Prior::len)];
            for (row, part) in secret.rows().iter().zip(floats(secret.prior())) {
                data.iter_mut().zip(floats(row)).for_each(|(sum, weight)| *sum += part * weight);
            }
            vec![Weights { low: data, high: None }]
        }
    }
}

fn floats(prior: &Prior) -> Vec<f64> {
    prior.weights().iter().map(|&weight| weight as f64 / WEIGHT_ONE as f64).collect()
}

/// The least weight over the greatest.
fn spread(weights: &Weights) -> f64 {
    let high = weights.high.as_ref().unwrap_or(&weights.low);
    let least = weights.low.iter().copied().fold(f64::INFINITY, f64::min);
    least / high.iter().copied().fold(0.0, f64::max)
}

/// The sums of the least 0, 1, 2, .. of some numbers.
fn sorted_sums(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sums = sorted.iter().scan(0.0, |sum, number| {
        *sum += number;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

fn odds(epsilon: Epsilon) -> f64 {
    let (numerator, denominator) = epsilon.odds();
    f64::from(numerator) / f64::from(denominator)
}
