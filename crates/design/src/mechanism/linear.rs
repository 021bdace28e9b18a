//! The cheapest channel under a conjunction of claims, for losses linear in the channel.
//!
//! **Claim.** [`optimal`] minimises Σ P(x) q(y|x) loss(x,y) over all channels that satisfy every claim
//! of a promise in its context.
//!
//! **Proof.** Every claim is a set of inequalities linear in q, once the least and greatest likelihoods of
//! an output, and for a box of priors the dual variables of the worst prior, are variables too; so the
//! optimum is a linear program's. The rows, and the shift that removes half of them, are derived in
//! `linear/program.rs`. A dual solution bounds every feasible channel from below ([`Proposal::bound`]).
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

mod generate;
mod program;
mod rules;

pub use rules::{Belief, Limit, Rule, Rules};

use super::Proposal;
use crate::objective::check_losses;
use crate::quantize::{PolicySpec, Shipped, drop_ghosts};
use crate::{Channel, Distribution, Error, to_floats};

/// More cells than this are refused.
pub const MAX_CELLS: usize = 1 << 18;

/// Float noise of the bound, relative to what is at stake.
const NOISE: f64 = 1e-12;

/// The share of the blind guess that may be given up to be rid of outputs that earn nothing.
const IDLE: f64 = 1e-11;

/// A verified policy, and what rounding and repair cost.
#[derive(Debug, Clone)]
pub struct Design {
    /// The solver's channel.
    pub proposal: Proposal,
    /// The policy, over the outputs that are ever released.
    pub shipped: Shipped,
    /// Those outputs, as columns of the losses.
    pub outputs: Vec<usize>,
    /// The expected loss of the policy's integers.
    pub loss: f64,
}

/// The channel of least expected loss under all claims of `promise`, before rounding. `losses` has one
/// row per input of the promise and one column per output; `prior` weighs the rows, and need not be the
/// context's.
pub fn optimal(
    spec: &PolicySpec,
    prior: &Distribution,
    losses: &[Vec<f64>],
) -> Result<Proposal, Error> {
    optimal_under(&Rules::of(spec)?, &*spec.in_order(prior)?, losses)
}

/// The channel of least expected loss under rules in floats, before rounding.
pub fn optimal_under(
    rules: &Rules,
    prior: &Distribution,
    losses: &[Vec<f64>],
) -> Result<Proposal, Error> {
    check(rules.inputs, prior, losses)?;
    // What a row cannot avoid paying is taken out, and the rest scaled to one: the solver's
    // tolerances are then relative to what is at stake.
    let least = |row: &Vec<f64>| row.iter().copied().fold(f64::INFINITY, f64::min);
    let unavoidable: Vec<f64> = losses.iter().map(least).collect();
    let base: f64 = prior.as_slice().iter().zip(&unavoidable).map(|(p, l)| p * l).sum();
    let excess = |x: usize| {
        let row = losses[x].iter().map(|loss| prior[x] * (loss - unavoidable[x]));
        row.collect::<Vec<_>>()
    };
    let costs: Vec<Vec<f64>> = (0..prior.len()).map(excess).collect();
    let scale = costs.iter().flatten().copied().fold(0.0, f64::max);
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let costs: Vec<Vec<f64>> =
        costs.iter().map(|row| row.iter().map(|cost| cost / scale).collect()).collect();
    let generate::Optimum { mut rows, cost, bound } = generate::solve(rules, &costs)?;
    merge_idle(&mut rows, &costs);
    let row = |(x, row)| Distribution::normalised(&format!("channel row {x}"), row);
    let rows = rows.into_iter().enumerate().map(row).collect::<Result<_, _>>()?;
    Ok(Proposal {
        channel: Channel::from_rows(rows)?,
        optimum: base + scale * cost,
        bound: Some(base + scale * bound - NOISE * (base.abs() + scale)),
    })
}

/// Releases another output in place of one that earns nothing, as long as all such exchanges together
/// cost less than [`IDLE`] of the best blind guess.
///
/// An interior point leaves a little mass on every output. Where inputs are rare this can be more than a
/// ghost, yet its likelihoods are noise, and noise breaks ratios. An exchange of outputs is
/// post-processing, so every claim survives it.
fn merge_idle(rows: &mut [Vec<f64>], costs: &[Vec<f64>]) {
    let outputs = costs[0].len();
    // What the mass on output y would cost if k were released instead.
    let mut bills = vec![vec![0.0; outputs]; outputs];
    for (row, costs) in rows.iter().zip(costs) {
        for (bill, q) in bills.iter_mut().zip(row) {
            for (sum, cost) in bill.iter_mut().zip(costs) {
                *sum += q * cost;
            }
        }
    }
    let blind = (0..outputs).map(|y| costs.iter().map(|row| row[y]).sum());
    let mut budget = IDLE * blind.fold(f64::INFINITY, f64::min);
    let mut kept: Vec<usize> = (0..outputs).collect();
    while kept.len() > 1 {
        let price = |&(y, k): &(usize, usize)| bills[y][k] - bills[y][y];
        let pairs = kept.iter().flat_map(|&y| kept.iter().map(move |&k| (y, k)));
        let cheapest = pairs.filter(|(y, k)| y != k).min_by(|a, b| price(a).total_cmp(&price(b)));
        let Some((y, k)) = cheapest.filter(|pair| price(pair) <= budget) else { break };
        budget -= price(&(y, k)).max(0.0);
        for row in rows.iter_mut() {
            row[k] += std::mem::take(&mut row[y]);
        }
        let moved = std::mem::take(&mut bills[y]);
        for (sum, bill) in bills[k].iter_mut().zip(moved) {
            *sum += bill;
        }
        kept.retain(|&output| output != y);
    }
}

/// The optimal channel as a verified policy. Outputs that are never released are dropped.
pub fn design(
    spec: &PolicySpec,
    prior: &Distribution,
    losses: &[Vec<f64>],
) -> Result<Design, Error> {
    let prior = &*spec.in_order(prior)?;
    let proposal = optimal(spec, prior, losses)?;
    let (channel, outputs) = drop_ghosts(&proposal.channel)?;
    let shipped = spec.releasing(losses[0].len(), &outputs)?.ship(&channel)?;
    let integers = to_floats::channel(shipped.policy.draft().shape())?;
    let loss = expected(prior, &integers, losses, &outputs);
    Ok(Design { proposal, shipped, outputs, loss })
}

/// Σ P(x) q(j|x) loss(x, outputs(j)).
fn expected(
    prior: &Distribution,
    channel: &Channel,
    losses: &[Vec<f64>],
    outputs: &[usize],
) -> f64 {
    let row = |x: usize| {
        let cells = outputs.iter().enumerate();
        prior[x] * cells.map(|(j, &y)| channel.q(x, j) * losses[x][y]).sum::<f64>()
    };
    (0..prior.len()).map(row).sum()
}

fn check(inputs: usize, prior: &Distribution, losses: &[Vec<f64>]) -> Result<(), Error> {
    if prior.len() != inputs {
        return Err(Error::Size { what: "the prior".into(), expected: inputs, found: prior.len() });
    }
    check_losses(losses, inputs)?;
    let outputs = losses[0].len();
    if inputs.saturating_mul(outputs) > MAX_CELLS {
        return Err(Error::TooLarge {
            what: "the channel".into(),
            size: inputs.saturating_mul(outputs),
            limit: MAX_CELLS,
            fix: "use the keep-shaped design for large alphabets".into(),
        });
    }
    Ok(())
}
