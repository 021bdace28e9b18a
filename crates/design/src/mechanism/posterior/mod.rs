//! The best channel for objectives that are convex in the posterior.
//!
//! **Claim.** One output is a lift vector L(x) = q(y|x)/P(y), released with probability w. A pure claim
//! restricts each L to a polytope, Σ w L = 1 is all that ties them together, and mutual information,
//! explained variance and (after choosing the best reading) every expected loss add up as Σ w φ(L) with φ
//! convex. So some optimum uses vertices only, at most one per symbol, and is a linear program over them:
//! JSTL21's program (19) solved rightly (`extremal` lists the vertices of LIP; those of LDP and DI have two
//! values; those of a conjunction come from double description).
//!
//! **Proof.** A point of a polytope is a mixture of vertices, and replacing an output by that mixture keeps
//! Σ w L and does not lower Σ w φ. A basic solution of the program has at most one output per symbol.
//!
//! Up to [`MAX_LISTED`] symbols all vertices are listed and the answer is exact. Above, outputs are generated
//! as they are needed, and [`Proposal::bound`] is Lagrange's: for any prices π, Σ w φ(L) <= Σ π + max (φ(L) - π·L).
//! The maximum is exact for losses (a knapsack per reading) and for mmse (corners of a polygon); for mutual
//! information and `frequency` it is exact up to twenty symbols, by visiting every vertex; above, mutual
//! information is bounded by chords, exact up to the one lift that is at neither end, and branched on.
//!
//! `frequency` is a convex program over the same outputs; see `frequency.rs`.
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

mod carried;
mod chords;
mod corners;
mod frequency;
mod mixture;
mod region;
mod utility;

pub use region::{MAX_CORNERS, MAX_LISTED, MAX_LISTED_CONJUNCTION};

use mixture::{Mixture, Source};
use region::Region;
use utility::Utility;

use undertone_core::Delta;

use super::Proposal;
use crate::extremal::LiftRange;
use crate::objective::Objective;
use crate::quantize::PolicySpec;
use crate::{Channel, Distribution, Error};

/// Above this many symbols `frequency` visits no vertices, which would take minutes.
const VISITED: usize = 14;

/// Rounds of generation where `frequency` visits no vertices.
const HASTY: usize = 2;

/// The best channel for `objective` under the pure claims of `promise`. `prior` weighs the objective;
/// the beliefs of the claims come from the promise's context.
///
/// Outputs of the linear objectives are the loss's columns; of the others, one per vertex in use, in no
/// particular order. A claim with a δ is kept without it, and there is no bound then; a box of priors is taken as
/// the list of its corners, where these are few.
pub fn optimal(
    spec: &PolicySpec,
    prior: &Distribution,
    objective: &Objective,
) -> Result<Proposal, Error> {
    let prior = &*spec.in_order(prior)?;
    let region = Region::of(spec, prior)?;
    let found = optimal_in(region.clone(), objective)?;
    // What is claimed with a δ was kept without it: the optimum of that is no bound for others.
    let pure = spec.claims.iter().all(|claim| claim.delta == Delta::ZERO);
    let bound = match found.bound.filter(|_| pure) {
        Some(bound) => carried::carried(bound, objective, prior, &region)?,
        None => None,
    };
    let optimum = objective.value(prior, &found.channel)?;
    Ok(Proposal { optimum, bound, ..found })
}

/// The optimal channel for lifts in a given range, in floats: no rounding of the prior or the odds.
pub fn optimal_lifts(
    prior: &Distribution,
    range: LiftRange,
    objective: &Objective,
) -> Result<Proposal, Error> {
    optimal_in(Region::range(prior, range.low(), range.high()), objective)
}

/// The optimal channel under LDP at ε alone, in floats.
pub fn optimal_odds(
    prior: &Distribution,
    epsilon: f64,
    objective: &Objective,
) -> Result<Proposal, Error> {
    let odds = LiftRange::symmetric(epsilon)?.high();
    optimal_in(Region::odds(prior, odds), objective)
}

fn optimal_in(region: Region, objective: &Objective) -> Result<Proposal, Error> {
    let prior = region.prior.clone();
    // Checks the objective's own numbers before any work.
    let blind = Channel::new(vec![vec![1.0]; prior.len()])?;
    if !matches!(objective, Objective::Frequency) && objective.losses(prior.len())?.is_none() {
        objective.value(&prior, &blind)?;
    }
    let mut source = Source::new(region)?;
    match objective {
        Objective::Frequency => {
            if source.vertices.is_none() && (prior.len() > VISITED || source.region.is_cone()) {
                // Outputs are only climbed to, and those found in passing serve the design as well.
                source.rounds = HASTY;
            }
            frequent(&source)
        }
        Objective::MutualInformation => gain(&source, 1.0, objective),
        Objective::NormalisedMutualInformation => gain(&source, prior.entropy(), objective),
        Objective::Mmse(values) => squared_error(&source, values),
        Objective::Hamming
        | Objective::Absolute(_)
        | Objective::Squared(_)
        | Objective::Matrix(_) => expected_loss(&source, objective),
    }
}

/// No channel whose lifts under `prior` stay in `range` has a `frequency` value below this.
pub fn frequency_floor(prior: &Distribution, range: LiftRange) -> f64 {
    frequency::floor(prior, (range.high() - 1.0) * (1.0 - range.low()))
}

fn bounded(bound: f64) -> Option<f64> {
    bound.is_finite().then_some(bound)
}

fn gain(source: &Source, unit: f64, objective: &Objective) -> Result<Proposal, Error> {
    let best = source.best(&Utility::Entropy, &[])?;
    let channel = best.channel()?;
    let optimum = objective.value(&source.region.prior, &channel)?;
    Ok(Proposal { channel, optimum, bound: bounded(best.at_most / unit) })
}

fn squared_error(source: &Source, values: &[f64]) -> Result<Proposal, Error> {
    let p = source.region.prior.as_slice();
    // Measured from the mean, so that what is explained is not lost beside a large offset.
    let mean: f64 = p.iter().zip(values).map(|(p, v)| p * v).sum();
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let variance: f64 = p.iter().zip(&centred).map(|(p, v)| p * v * v).sum();
    let best = source.best(&Utility::Square(centred.clone()), &[])?;
    let channel = best.channel()?;
    let optimum = Objective::Mmse(centred).value(&source.region.prior, &channel)?;
    Ok(Proposal { channel, optimum, bound: bounded((variance - best.at_most).max(0.0)) })
}

fn expected_loss(source: &Source, objective: &Objective) -> Result<Proposal, Error> {
    let prior = &source.region.prior;
    let Some(losses) = objective.losses(prior.len())? else {
        return Err(Error::other("objective", "has no loss matrix"));
    };
    let readings: Vec<Vec<f64>> = (0..losses[0].len())
        .map(|y| losses.iter().zip(prior.as_slice()).map(|(row, p)| p * row[y]).collect())
        .collect();
    let utility = Utility::Loss(readings.clone());
    let best = source.best(&utility, &[])?;
    let channel = read(&best, &utility, &readings)?;
    let optimum = objective.value(prior, &channel)?;
    Ok(Proposal { channel, optimum, bound: bounded(-best.at_most) })
}

/// Merges outputs that are best read as the same y.
fn read(best: &Mixture, utility: &Utility, readings: &[Vec<f64>]) -> Result<Channel, Error> {
    let symbols = readings[0].len();
    let mut rows = vec![vec![0.0; readings.len()]; symbols];
    for (lift, w) in best.columns.iter().zip(&best.weights) {
        let y = utility.best_reading(readings, lift).0;
        rows.iter_mut().zip(lift).for_each(|(row, l)| row[y] += w * l);
    }
    let rows = rows.into_iter().map(|row| Distribution::normalised("channel row", row));
    Channel::from_rows(rows.collect::<Result<_, _>>()?)
}

fn frequent(source: &Source) -> Result<Proposal, Error> {
    let prior = &source.region.prior;
    let (best, trace_bound) = frequency::minimise(source)?;
    let channel = best.channel()?;
    let squares: f64 = prior.as_slice().iter().map(|p| p * p).sum();
    let floor = frequency::floor(prior, source.region.spread);
    Ok(Proposal {
        optimum: Objective::Frequency.value(prior, &channel)?,
        channel,
        bound: Some((trace_bound - squares).max(floor)).filter(|bound| *bound > 0.0),
    })
}
