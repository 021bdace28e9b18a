//! Policies to test with, and the shapes they are made of.

use undertone_core::{
    Alphabet, Context, Decimal, Delta, Draft, KEEP_ONE, Keep, MASS_ONE, Policy, Provenance, Shape,
    Table,
};
use undertone_design::Distribution;
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::mechanism::{randomized_response, staircase, unary};
use undertone_design::objective::Objective;
use undertone_design::quantize::largest_remainder;

use crate::claim::{epsilon, ldp, lip};
use crate::spec::{known, spec};

fn context(prior: Option<&[f64]>) -> Context {
    prior.map_or(Context::Unknown, known)
}

/// The LIP optimum for a yes/no question.
pub fn binary(rare: f64, level: &str) -> Policy {
    let prior = [1.0 - rare, rare];
    let inputs = Alphabet::indices(2).unwrap();
    let spec = spec(inputs, known(&prior), vec![lip(level)]);
    let prior = Distribution::new("prior", prior.to_vec()).unwrap();
    let channel = randomized_response::binary_optimal(&prior, level.parse().unwrap()).unwrap();
    spec.ship(&channel).unwrap().policy
}

/// k-ary randomised response under LDP, with a prior to compare with if one is given.
pub fn krr(inputs: Alphabet, prior: Option<&[f64]>, level: &str) -> Policy {
    let spec = spec(inputs, context(prior), vec![ldp(level)]);
    staircase::randomized_response(&spec).unwrap().policy
}

/// Optimised unary encoding under LDP.
pub fn oue(size: usize, prior: Option<&[f64]>, level: &str) -> Policy {
    let inputs = Alphabet::indices(size).unwrap();
    let spec = spec(inputs, context(prior), vec![ldp(level)]);
    unary::design(&spec, unary::Encoding::Optimised).unwrap().policy
}

/// The optimal table for estimating frequencies under LIP.
pub fn optimal(prior: &[f64], level: &str) -> Policy {
    let inputs = Alphabet::indices(prior.len()).unwrap();
    let request = DesignProblem {
        spec: spec(inputs, known(prior), vec![lip(level)]),
        prior: Distribution::new("prior", prior.to_vec()).unwrap(),
        objective: Objective::Frequency,
        method: Method::Optimal,
        accept: false,
        max_bits: None,
    };
    match designer::design(&request).unwrap() {
        DesignOutcome::Shipped(designed) => designed.policy,
        DesignOutcome::Missed(_) => panic!("the optimum is never missed"),
    }
}

/// Any shape, with the weakest claim.
pub fn loose(inputs: Alphabet, outputs: Option<Alphabet>, shape: Shape) -> Policy {
    assumed(inputs, outputs, shape, Context::Unknown)
}

/// Any shape and context, claiming as little as there is: (22, δ)-LDP.
pub fn assumed(
    inputs: Alphabet,
    outputs: Option<Alphabet>,
    shape: Shape,
    context: Context,
) -> Policy {
    let delta = match shape {
        Shape::Bits(_) | Shape::Incidence(_) => Delta::ZERO,
        _ => Delta::from_units(MASS_ONE - 1).unwrap(),
    };
    let claim = undertone_core::Claim { delta, ..undertone_core::Claim::ldp(epsilon("22")) };
    let draft =
        Draft::new(inputs, outputs, shape, context, vec![claim], Provenance::default()).unwrap();
    draft.verify().unwrap()
}

/// A table from floats.
pub fn table(rows: &[Vec<f64>]) -> Shape {
    let rows = rows.iter().map(|row| largest_remainder(row, MASS_ONE)).collect();
    Shape::Table(Table::from_masses(rows).unwrap())
}

/// A keep channel from floats.
pub fn keep(keep: &[f64], base: &[f64]) -> Shape {
    let keep = keep.iter().map(|k| (k * KEEP_ONE as f64) as u64).collect();
    Shape::Keep(Keep::new(keep, largest_remainder(base, MASS_ONE)).unwrap())
}

/// Bins with these edges, each represented by its middle.
pub fn bins(edges: &[f64]) -> Alphabet {
    let decimal = |value: f64| format!("{value:.6}").parse::<Decimal>().unwrap();
    let middle = |pair: &[f64]| decimal((pair[0] + pair[1]) / 2.0);
    Alphabet::bins(
        edges.iter().map(|&e| decimal(e)).collect(),
        edges.windows(2).map(middle).collect(),
    )
    .unwrap()
}

/// w(y|x) as floats, where outputs are listed.
pub fn row(shape: &Shape, x: usize) -> Vec<f64> {
    match shape {
        Shape::Table(table) => {
            table.rows()[x].masses().iter().map(|&m| m as f64 / MASS_ONE as f64).collect()
        }
        Shape::Keep(keep) => {
            let kept = keep.keep()[x] as f64 / KEEP_ONE as f64;
            let base = keep.base().masses().iter();
            let drawn = base.map(|&m| (1.0 - kept) * m as f64 / MASS_ONE as f64);
            drawn.enumerate().map(|(y, d)| if x == y { kept + d } else { d }).collect()
        }
        Shape::Incidence(incidence) if !incidence.releases_bits() => {
            let inside = incidence.coin() as f64 / MASS_ONE as f64;
            let (all, each) = (shape.outputs(), incidence.replication().unwrap());
            let (own, other) = (inside / each as f64, (1.0 - inside) / (all - each) as f64);
            let holds = |block: usize| incidence.contains(block as u32, x as u32);
            (0..all).map(|block| if holds(block) { own } else { other }).collect()
        }
        Shape::Bits(_) | Shape::Incidence(_) => panic!("bits have no rows"),
    }
}
