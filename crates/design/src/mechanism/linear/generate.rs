//! Large alphabets: a program over the few outputs that matter, and the proof that the others do not.
//!
//! An optimum releases few outputs. Given prices λ(x) of the rows Σ_y q(y|x) = 1, an output y is worth
//! adding only if some column that obeys the claim has Σ_x (c(x,y) - λ(x)) q(x) < 0. For one pure
//! claim about the input the least such sum has a closed form:
//!
//! * LIP: with the output's probability as the unit, q(x) is a lift in `[1/L, U]` with Σ P(x)q(x) = 1, a
//!   fractional knapsack: fill the cheapest (c - λ)/P first;
//! * LDP: with the floor as the unit, q(x) is E where c - λ is negative and 1 elsewhere.
//!
//! If v is the least over all outputs, then every channel costs Σ_y Σ_x c q = Σ λ + Σ_y Σ_x (c - λ) q, at
//! least Σ λ + v, since the units sum to one (to at most one for LDP): any prices give a bound, and no
//! tolerance of the solver is in it. Its prices are a little off, though, and large odds magnify that in v;
//! lowering all of them by the hair's breadth that makes v zero costs only their sum.

use undertone_core::Subject;

use super::program;
use super::rules::{Belief, Limit, Rules};
use crate::{Distribution, Error};

/// Fewer outputs than this are solved at once.
const FEW: usize = 24;

/// How many outputs to begin with.
const START: usize = 12;

/// How many to add in a round, at most.
const STEP: usize = 8;

/// Tolerance of the solver while outputs are still being added.
const ROUGH: f64 = 1e-6;

/// Rows of a channel, what it costs, and what every channel costs at least.
pub(super) struct Optimum {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) cost: f64,
    pub(super) bound: f64,
}

/// The cheapest channel under `rules`.
pub(super) fn solve(rules: &Rules, costs: &[Vec<f64>]) -> Result<Optimum, Error> {
    let outputs = costs[0].len();
    match Pricing::of(rules) {
        Some(pricing) if outputs >= FEW => few_outputs(rules, &pricing, costs),
        pricing => {
            let all: Vec<usize> = (0..outputs).collect();
            let (found, prices) = over(rules, costs, &all, None)?;
            let bound = match pricing {
                Some(pricing) => pricing.bound(&prices, costs).max(found.bound),
                None => found.bound,
            };
            Ok(Optimum { bound, ..found })
        }
    }
}

/// Adds outputs until none is worth adding.
fn few_outputs(rules: &Rules, pricing: &Pricing<'_>, costs: &[Vec<f64>]) -> Result<Optimum, Error> {
    let mut chosen = medians(costs);
    let mut tolerance = Some(ROUGH);
    loop {
        let (found, prices) = over(rules, costs, &chosen, tolerance)?;
        let worth: Vec<f64> =
            pricing.least(&prices, costs).iter().map(|least| least.cost).collect();
        let slack = tolerance.map_or(found.cost.abs().max(1e-3) * 1e-10, |rough| 10.0 * rough);
        let added = worth_adding(&worth, &chosen, slack);
        if added.is_empty() && tolerance.is_none() {
            let bound = pricing.bound(&prices, costs);
            return Ok(Optimum { bound, ..found });
        }
        if added.is_empty() {
            // Once more, to the last digit, over those that are used. What is still missing then is
            // added without going back to rough solutions, so this ends.
            tolerance = None;
            chosen.retain(|&y| found.rows.iter().any(|row| row[y] > 10.0 * ROUGH));
        }
        chosen.extend(added);
    }
}

/// The cheapest channel over the `chosen` outputs, with the prices of its rows.
fn over(
    rules: &Rules,
    costs: &[Vec<f64>],
    chosen: &[usize],
    tolerance: Option<f64>,
) -> Result<(Optimum, Vec<f64>), Error> {
    let few = |row: &Vec<f64>| chosen.iter().map(|&y| row[y]).collect();
    let few: Vec<Vec<f64>> = costs.iter().map(few).collect();
    let layout = program::program(rules, &few)?;
    let found = match tolerance {
        Some(tolerance) => layout.program.solve_roughly(tolerance)?,
        None => layout.program.solve()?,
    };
    let widen = |narrow: Vec<f64>| {
        let mut row = vec![0.0; costs[0].len()];
        for (&y, q) in chosen.iter().zip(narrow) {
            row[y] = q;
        }
        row
    };
    let rows = layout.channel(&found.values, rules.inputs).into_iter().map(widen).collect();
    let bound = layout.lower_bound(&found);
    // The rows' equations are the first of the program.
    let prices = found.equal_prices[..rules.inputs].to_vec();
    Ok((Optimum { rows, cost: found.cost, bound }, prices))
}

/// A few outputs to begin with: each the one that helps a careless designer most, who may map every
/// input to its best output so far.
fn medians(costs: &[Vec<f64>]) -> Vec<usize> {
    let mut best = vec![f64::INFINITY; costs.len()];
    let mut chosen: Vec<usize> = Vec::with_capacity(START);
    while chosen.len() < START {
        let total = |y: &usize| -> f64 {
            costs.iter().zip(&best).map(|(row, best)| row[*y].min(*best)).sum()
        };
        let rest = (0..costs[0].len()).filter(|y| !chosen.contains(y));
        let Some((y, _)) = rest.map(|y| (y, total(&y))).min_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        for (best, row) in best.iter_mut().zip(costs) {
            *best = best.min(row[y]);
        }
        chosen.push(y);
    }
    chosen
}

/// The outputs most worth adding. Neighbours are often nearly the same, so of a run only its best.
fn worth_adding(worth: &[f64], chosen: &[usize], slack: f64) -> Vec<usize> {
    let is_best = |y: usize| {
        let better = |other: Option<&f64>| other.is_some_and(|&other| other < worth[y]);
        !better(worth.get(y + 1)) && !better(y.checked_sub(1).and_then(|y| worth.get(y)))
    };
    let new = |y: &usize| worth[*y] < -slack && !chosen.contains(y);
    let mut added: Vec<usize> = (0..worth.len()).filter(new).collect();
    if added.iter().any(|&y| is_best(y)) {
        added.retain(|&y| is_best(y));
    }
    added.sort_by(|&a, &b| worth[a].total_cmp(&worth[b]));
    added.truncate(STEP);
    added
}

/// The one pure claim about the input, where it is all there is.
enum Pricing<'a> {
    Lip { lower: f64, upper: f64, prior: &'a Distribution },
    Ldp(f64),
}

impl<'a> Pricing<'a> {
    fn of(rules: &'a Rules) -> Option<Self> {
        let [rule] = rules.all.as_slice() else { return None };
        if rule.about != Subject::Input || !rule.is_pure() {
            return None;
        }
        match &rule.limit {
            Limit::Ldp(odds) => Some(Self::Ldp(*odds)),
            Limit::Lip { lower, upper, belief: Belief::Prior(prior) } => {
                Some(Self::Lip { lower: *lower, upper: *upper, prior })
            }
            Limit::Lip { .. } | Limit::Di { .. } => None,
        }
    }

    /// For each output, the column of least Σ_x (c(x,y) - λ(x)) q(x) in its unit.
    fn least(&self, prices: &[f64], costs: &[Vec<f64>]) -> Vec<Least> {
        let column = |y: usize| -> Vec<f64> {
            costs.iter().zip(prices).map(|(row, price)| row[y] - price).collect()
        };
        (0..costs[0].len()).map(|y| self.least_of(&column(y))).collect()
    }

    fn least_of(&self, costs: &[f64]) -> Least {
        let mut least = Least::default();
        let mut take = |q: f64, cost: f64| {
            least.cost += q * cost;
            least.mass += q;
        };
        let (lower, upper, prior) = match self {
            Self::Ldp(odds) => {
                costs.iter().for_each(|&cost| take(if cost < 0.0 { *odds } else { 1.0 }, cost));
                return least;
            }
            Self::Lip { lower, upper, prior } => (1.0 / lower, *upper, prior.as_slice()),
        };
        // A symbol without mass is raised for free.
        let free = |x: usize| prior[x] <= 0.0;
        let mut order: Vec<usize> = (0..costs.len()).filter(|&x| !free(x)).collect();
        order.sort_by(|&a, &b| (costs[a] / prior[a]).total_cmp(&(costs[b] / prior[b])));
        for (x, &cost) in costs.iter().enumerate() {
            take(if free(x) && cost < 0.0 { upper } else { lower }, cost);
        }
        let mut left = 1.0 - lower;
        for x in order {
            let mass = ((upper - lower) * prior[x]).min(left);
            take(mass / prior[x], costs[x]);
            left -= mass;
        }
        least
    }

    /// What every channel costs at least, by these prices or by slightly lower ones.
    fn bound(&self, prices: &[f64], costs: &[Vec<f64>]) -> f64 {
        let mut prices = prices.to_vec();
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..3 {
            let least = self.least(&prices, costs);
            let worst = least.iter().map(|least| least.cost).fold(f64::INFINITY, f64::min);
            let units = match self {
                Self::Ldp(_) => worst.min(0.0),
                Self::Lip { .. } => worst,
            };
            bound = bound.max(prices.iter().sum::<f64>() + units);
            if worst >= 0.0 {
                break;
            }
            // Newton's step towards v = 0.
            let lowered = least.iter().map(|least| -least.cost / least.mass).fold(0.0, f64::max);
            prices.iter_mut().for_each(|price| *price -= lowered);
        }
        bound
    }
}

/// The cheapest column of an output: its cost, and its likelihoods' sum over the inputs.
#[derive(Default)]
struct Least {
    cost: f64,
    mass: f64,
}
