//! Random laws and channels, and the settings to try them in.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_design::relation::{Guarantee, Notion, Setting, Subject};
use undertone_design::{Channel, Distribution};

pub(crate) fn rng(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

pub(crate) fn unit(rng: &mut ChaCha12Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

pub(crate) fn below(rng: &mut ChaCha12Rng, n: usize) -> usize {
    (unit(rng) * n as f64) as usize
}

/// A distribution; the larger `spike`, the further from uniform.
pub(crate) fn random_law(rng: &mut ChaCha12Rng, n: usize, spike: f64) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..n).map(|_| (spike * unit(rng)).exp() * (0.05 + unit(rng))).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

pub(crate) fn random_channel(rng: &mut ChaCha12Rng, inputs: usize) -> Vec<Vec<f64>> {
    let (outputs, spike) = (2 + below(rng, 4), 4.0 * unit(rng));
    // A common part pulls the rows together, so that small budgets occur too.
    let (common, share) = (random_law(rng, outputs, spike), unit(rng));
    let row = |rng: &mut ChaCha12Rng| {
        let own = random_law(rng, outputs, spike);
        own.iter().zip(&common).map(|(a, b)| share * b + (1.0 - share) * a).collect()
    };
    (0..inputs).map(|_| row(rng)).collect()
}

pub(crate) fn law(p: &[f64]) -> Distribution {
    Distribution::normalised("p", p.to_vec()).unwrap()
}

pub(crate) fn rows(channel: &Channel) -> Vec<Vec<f64>> {
    channel.rows().iter().map(|row| row.as_slice().to_vec()).collect()
}

/// Whether `true_level` respects `bound`, up to rounding.
#[track_caller]
pub(crate) fn respects(bound: &Guarantee, true_level: &Guarantee, what: &str) {
    let ok = |a: f64, b: f64| a <= b + 1e-9 * (1.0 + b.abs());
    let fine = ok(true_level.lower(), bound.lower()) && ok(true_level.upper(), bound.upper());
    assert!(fine, "{what}: measured {true_level}, promised {bound}");
}

pub(crate) fn about_datum() -> impl Iterator<Item = Notion> {
    Notion::ALL.into_iter().filter(|notion| notion.subject() == Subject::Datum)
}

/// Sets of what may be known about a prior: all, its minimum and size, nothing.
pub(crate) fn settings(p: &Distribution, alpha: f64, priors: Vec<Distribution>) -> Vec<Setting> {
    let bare = Setting { alpha: Some(alpha), priors, ..Setting::new() };
    vec![
        Setting { prior: Some(p.clone()), ..bare.clone() },
        Setting { p_min: Some(p.min()), symbols: Some(p.len()), ..bare.clone() },
        Setting { p_min: Some(p.min()), ..bare.clone() },
        bare,
    ]
}
