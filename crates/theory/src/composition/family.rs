//! Composition for mechanisms that keep their promise under every prior of a list.

use super::given::lift_ends;
use super::{confirmed, ldp_to_lip, printed_ldp, sharpened};
use crate::relation::forms;
use undertone_design::distribution::in_one_order;
use undertone_design::extremal::{LiftRange, family_lifts, family_witness};
use undertone_design::{Distribution, Error};

/// How many products of rays are examined at most.
const MAX_PRODUCTS: usize = 4_000_000;

/// What releases that are ε_k-LIP under every listed prior can leak together, under the worst of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyComposition {
    /// JSTL21 Corollary 4 as printed; true but loose.
    pub published: f64,
    /// The smaller, per prior, of the single-prior sharpened bound and the sum of the best exact LDP
    /// levels any listed prior certifies.
    pub sharpened: f64,
    /// The exact worst case over all such mechanisms and all listed priors, unless too large or beyond what
    /// floats can confirm.
    pub exact: Option<f64>,
}

/// Composition over a list of priors (BP-LIP for a finite set), JSTL21 Corollary 4.
pub fn family(priors: &[Distribution], ranges: &[LiftRange]) -> Result<FamilyComposition, Error> {
    if priors.is_empty() {
        return Err(Error::Empty { what: "the list of priors".into() });
    }
    let priors = &*in_one_order("a prior of the list", priors)?;
    let exact = match worst_case(priors, ranges) {
        Ok(worst) => Some(worst),
        Err(error) if error.leaves_a_bound() => None,
        Err(other) => return Err(other),
    };
    Ok(FamilyComposition {
        published: published(priors, ranges),
        sharpened: bound(priors, ranges)?,
        exact,
    })
}

/// The printed form: the smallest minimum of the list outside, the largest minimum inside ω_k.
fn published(priors: &[Distribution], ranges: &[LiftRange]) -> f64 {
    let minima = || priors.iter().map(Distribution::min);
    let (least, most) = (minima().fold(1.0, f64::min), minima().fold(0.0, f64::max));
    ldp_to_lip(least, ranges.iter().map(|range| printed_ldp(most, range.epsilon())).sum())
}

/// Each release is LDP at the lowest exact level that any listed prior gives, and LDP adds up.
fn bound(priors: &[Distribution], ranges: &[LiftRange]) -> Result<f64, Error> {
    let exact = |range: &LiftRange| {
        priors.iter().map(|prior| exact_ldp(prior, range)).fold(f64::INFINITY, f64::min)
    };
    let ldp: f64 = ranges.iter().map(exact).sum();
    let mut most = 0.0f64;
    for prior in priors {
        let of_prior = ldp_to_lip(prior.min(), ldp).min(sharpened(prior, ranges)?);
        most = most.max(of_prior);
    }
    Ok(most)
}

/// The exact LDP level of a promise under a prior.
pub(crate) fn exact_ldp(prior: &Distribution, range: &LiftRange) -> f64 {
    forms::exact_ldp(prior, range.epsilon_lower(), range.epsilon_upper())
}

/// Every product of extreme rays, under every prior.
fn worst_case(priors: &[Distribution], ranges: &[LiftRange]) -> Result<f64, Error> {
    let mut rays: Vec<(LiftRange, Vec<Vec<f64>>)> = Vec::new();
    let mut sequence = Vec::new();
    for range in ranges.iter().filter(|range| !range.reveals_nothing()) {
        let at = match rays.iter().position(|(known, _)| known == range) {
            Some(at) => at,
            None => {
                rays.push((*range, family_lifts(priors, *range)?));
                rays.len() - 1
            }
        };
        sequence.push(at);
    }
    sequence.sort_unstable();
    let size = sequence.iter().fold(1usize, |n, &at| n.saturating_mul(rays[at].1.len()));
    if size > MAX_PRODUCTS {
        return Err(Error::TooLarge {
            what: "the number of products of lift vectors".into(),
            size,
            limit: MAX_PRODUCTS,
            fix: "use the sharpened bound".into(),
        });
    }
    let mut walk =
        Walk { priors, rays: &rays, sequence: &sequence, choice: Vec::new(), best: None };
    walk.extend(&vec![1.0; priors[0].len()]);
    let Some((claimed, choice)) = walk.best else { return Ok(0.0) };
    let (mut channels, mut kept) = (Vec::new(), Vec::new());
    for (&at, ray) in sequence.iter().zip(choice) {
        let (range, all) = &rays[at];
        channels.push(family_witness(&all[ray], priors, *range)?);
        kept.push(*range);
    }
    confirmed(claimed, &channels, &kept, priors)
}

/// Every product of rays, one per release; equal releases take their rays in order.
struct Walk<'a> {
    priors: &'a [Distribution],
    rays: &'a [(LiftRange, Vec<Vec<f64>>)],
    /// For each release, which of `rays` are its own.
    sequence: &'a [usize],
    choice: Vec<usize>,
    /// The largest leakage so far, and the rays that attain it.
    best: Option<(f64, Vec<usize>)>,
}

impl Walk<'_> {
    fn extend(&mut self, so_far: &[f64]) {
        let done = self.choice.len();
        let Some(&at) = self.sequence.get(done) else {
            let ends = self.priors.iter().map(|prior| lift_ends(prior, so_far));
            let leakage = ends.map(|(raised, lowered)| raised.max(lowered)).fold(0.0, f64::max);
            if self.best.as_ref().is_none_or(|(most, _)| leakage > *most) {
                self.best = Some((leakage, self.choice.clone()));
            }
            return;
        };
        let repeated = done > 0 && self.sequence[done - 1] == at;
        let from = if repeated { self.choice[done - 1] } else { 0 };
        let rays = self.rays;
        for (i, ray) in rays[at].1.iter().enumerate().skip(from) {
            let next: Vec<f64> = so_far.iter().zip(ray).map(|(a, b)| a * b).collect();
            self.choice.push(i);
            self.extend(&next);
            self.choice.pop();
        }
    }
}
