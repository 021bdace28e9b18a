//! Composition for mechanisms that keep their promise under every prior of a list.

use super::{ldp_to_lip, printed_ldp, sharpened};
use crate::distribution::in_one_order;
use crate::extremal::{LiftRange, family_lifts};
use crate::{Distribution, Error};

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
    /// The exact worst case over all such mechanisms and all listed priors, unless too large.
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
        Err(Error::TooLarge { .. }) => None,
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

/// The exact LDP level of a promise under a prior: the largest pair ratio. It falls in both masses,
/// so the two rarest symbols attain it.
pub(crate) fn exact_ldp(prior: &Distribution, range: &LiftRange) -> f64 {
    let mut masses = prior.as_slice().to_vec();
    masses.sort_by(f64::total_cmp);
    match masses[..] {
        [a, b, ..] => range.log_ratio(a, b).max(range.log_ratio(b, a)),
        _ => 0.0,
    }
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
    let mut most = 0.0;
    let start = vec![1.0; priors[0].len()];
    walk(priors, &rays, &sequence, 0, &start, &mut most);
    Ok(most)
}

/// Extends a product by the next release; equal releases take their rays in order.
fn walk(
    priors: &[Distribution],
    rays: &[(LiftRange, Vec<Vec<f64>>)],
    sequence: &[usize],
    from: usize,
    so_far: &[f64],
    most: &mut f64,
) {
    let Some((&at, rest)) = sequence.split_first() else {
        let high = so_far.iter().copied().fold(0.0, f64::max);
        let low = so_far.iter().copied().fold(f64::INFINITY, f64::min);
        for prior in priors {
            let total: f64 = so_far.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
            *most = most.max((high / total).ln()).max((total / low).ln());
        }
        return;
    };
    for (i, ray) in rays[at].1.iter().enumerate().skip(from) {
        let next: Vec<f64> = so_far.iter().zip(ray).map(|(a, b)| a * b).collect();
        let from = if rest.first() == Some(&at) { i } else { 0 };
        walk(priors, rays, rest, from, &next, most);
    }
}
