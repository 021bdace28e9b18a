//! Mechanisms that keep their promise under a list of priors, used under yet another one.

use super::{eta_at, worst_case};
use crate::relation::audited::TOLERANCE;
use undertone_design::distribution::in_one_order;
use undertone_design::extremal::{LiftRange, family_lifts, family_witness};
use undertone_design::measure::lip;
use undertone_design::{Distribution, Error};

/// What a mechanism that keeps its promise under every listed prior can leak under the true one.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyTransfer {
    /// JSTL21 Corollary 8 (17): ln(1 + max TV / smallest mass); infinite if a mass is zero.
    pub eta: f64,
    /// ε + η as printed; true but loose, since one close prior of the list is enough.
    pub published: f64,
    /// The least, over the list, of the exact transfer from one prior alone.
    pub sharpened: f64,
    /// The exact worst case over all mechanisms that keep the promise under the whole list, unless
    /// too large or beyond what floats can confirm. It is at most ε when the truth is a mixture of the list (JSTL21 Lemma 2).
    pub exact: Option<f64>,
}

/// Transfer from a list of priors to the true one, JSTL21 Corollary 8.
pub fn family(
    priors: &[Distribution],
    truth: &Distribution,
    range: LiftRange,
) -> Result<FamilyTransfer, Error> {
    let Some(first) = priors.first() else {
        return Err(Error::Empty { what: "the list of priors".into() });
    };
    let truth = &*truth.in_order_of("the true prior", first.symbols())?;
    let priors = &*in_one_order("a prior of the list", priors)?;
    let (mut distance, mut floor, mut sharpened) = (0.0f64, truth.min(), f64::INFINITY);
    for prior in priors {
        distance = distance.max(prior.total_variation(truth)?);
        floor = floor.min(prior.min());
        sharpened = sharpened.min(worst_case(prior, truth, range)?.0);
    }
    let eta = eta_at(distance, floor);
    let exact = match family_lifts(priors, range) {
        Ok(rays) => attained(&rays, priors, truth, range)?,
        Err(error) if error.leaves_a_bound() => None,
        Err(other) => return Err(other),
    };
    Ok(FamilyTransfer { eta, published: range.epsilon() + eta, sharpened, exact })
}

/// The largest leakage of a ray under `truth`, if a channel with that ray as an output keeps the promise
/// under every prior and is measured to leak as much.
fn attained(
    rays: &[Vec<f64>],
    priors: &[Distribution],
    truth: &Distribution,
    range: LiftRange,
) -> Result<Option<f64>, Error> {
    let largest =
        rays.iter().map(|ray| (leakage(truth, ray), ray)).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((claimed, ray)) = largest else { return Ok(None) };
    let channel = family_witness(ray, priors, range)?;
    for prior in priors {
        if !range.keeps(prior, &channel, TOLERANCE)? {
            return Ok(None);
        }
    }
    let reached = lip::leakage(truth, &channel)?.nats;
    let confirmed = (reached - claimed).abs() <= TOLERANCE * claimed;
    Ok(confirmed.then_some(claimed.max(reached)))
}

/// Both lifts of one output under a prior, as the larger |ln|.
fn leakage(prior: &Distribution, column: &[f64]) -> f64 {
    let total: f64 = column.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
    column.iter().map(|v| (v / total).ln().abs()).fold(0.0, f64::max)
}
