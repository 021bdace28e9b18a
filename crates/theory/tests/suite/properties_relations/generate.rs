//! Settings to try laws and channels in.

use undertone_design::{Channel, Distribution};
use undertone_theory::relation::{Guarantee, Notion, Setting, Subject};

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
