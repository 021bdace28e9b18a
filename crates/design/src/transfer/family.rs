//! Mechanisms that keep their promise under a list of priors, used under yet another one.

use super::{eta_at, worst_case};
use crate::distribution::in_one_order;
use crate::extremal::{LiftRange, family_lifts};
use crate::{Distribution, Error};

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
    /// too large. It is at most ε when the truth is a mixture of the list (JSTL21 Lemma 2).
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
        Ok(rays) => Some(rays.iter().map(|ray| leakage(truth, ray)).fold(0.0, f64::max)),
        Err(Error::TooLarge { .. }) => None,
        Err(other) => return Err(other),
    };
    Ok(FamilyTransfer { eta, published: range.epsilon() + eta, sharpened, exact })
}

/// Both lifts of one output under a prior, as the larger |ln|.
fn leakage(prior: &Distribution, column: &[f64]) -> f64 {
    let total: f64 = column.iter().zip(prior.as_slice()).map(|(v, p)| v * p).sum();
    column.iter().map(|v| (v / total).ln().abs()).fold(0.0, f64::max)
}
