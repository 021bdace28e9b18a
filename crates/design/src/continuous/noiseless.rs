//! The two methods that add no noise: sampling, and the optimum.

use undertone_core::Alphabet;

use super::problem::{Level, Problem};
use super::{ContinuousOutcome, Parameter, Shipped};
use crate::measure::delta::Convention;
use crate::mechanism::sampling::{self, Sampling};
use crate::mechanism::{Proposal, linear, posterior};
use crate::quantize::PolicySpec;
use crate::{Channel, Distribution, Error, codebook, designer};

/// Sampling: the outputs are the inputs, so the codebook's own outputs play no part.
pub(super) fn sampled(problem: &Problem<'_>) -> Result<ContinuousOutcome, Error> {
    let request = problem.request;
    let spec = PolicySpec { outputs: None, ..problem.spec.clone() };
    let (found, spec) = if request.convention == Convention::Conditional {
        (sampling::design(&spec)?, spec)
    } else {
        let (shape, lambda) = sampling::shape(&spec, request.convention)?;
        let verify = |spec: &PolicySpec| spec.verify_shape(shape.clone());
        let restated = problem.restated(&spec, verify)?;
        match verify(&restated)? {
            Ok(policy) => (Sampling { policy, lambda }, restated),
            Err(refusal) => return Err(Error::other("sampling", refusal.to_string())),
        }
    };
    let mut parameters = vec![("lambda", Parameter::One(found.lambda))];
    if let Ok(Level { epsilon, delta, .. }) = problem.level("sampling") {
        for (name, convention) in [
            ("lambda_conditional", Convention::Conditional),
            ("lambda_posterior", Convention::Posterior),
            ("lambda_joint", Convention::Joint),
        ] {
            let range = crate::extremal::LiftRange::symmetric(epsilon)?;
            let lambda = sampling::largest(&problem.prior, range, delta, convention)?;
            parameters.push((name, Parameter::One(lambda)));
        }
        // Without bins, as JSTL21 Proposition 2 has it.
        let printed = sampling::largest_atomless(epsilon, delta, Convention::Posterior)?;
        parameters.push(("lambda_published", Parameter::One(printed)));
    }
    let objective = request.loss.objective(&problem.points, &problem.points);
    let inner = problem.inner(spec, objective);
    let designed = designer::shaped(&inner, found.policy, Vec::new())?;
    Ok(ContinuousOutcome::Shipped(Box::new(Shipped { designed, parameters, density: None, inner })))
}

pub(super) fn optimal(problem: &Problem<'_>) -> Result<ContinuousOutcome, Error> {
    if problem.request.convention != Convention::Conditional {
        let said =
            "the optimum is designed in the conditional convention: leave the convention out";
        return Err(Error::other("convention", said));
    }
    let mut inner = problem.inner(problem.spec.clone(), problem.objective());
    let proposal = match inner.objective.losses(inner.prior.len())? {
        Some(losses) => linear::optimal(&inner.spec, &inner.prior, &losses)?,
        None => {
            let found = posterior::optimal(&inner.spec, &inner.prior, &inner.objective)?;
            let (proposal, outputs) = by_estimate(problem, found)?;
            inner.spec.outputs = Some(outputs);
            proposal
        }
    };
    let designed = designer::ship(&inner, proposal, true)?;
    let parameters = Vec::new();
    Ok(ContinuousOutcome::Shipped(Box::new(Shipped { designed, parameters, density: None, inner })))
}

/// Outputs that are read through the best estimate are called by it: the mean of the input given the
/// output, in increasing order.
fn by_estimate(problem: &Problem<'_>, found: Proposal) -> Result<(Proposal, Alphabet), Error> {
    let estimate = |y: usize| {
        let joint = |x: usize| problem.weighing[x] * found.channel.q(x, y);
        let mass: f64 = (0..problem.points.len()).map(joint).sum();
        let sum: f64 = (0..problem.points.len()).map(|x| joint(x) * problem.points[x]).sum();
        if mass > 0.0 { sum / mass } else { problem.range.0 }
    };
    let estimates: Vec<f64> = (0..found.channel.outputs()).map(estimate).collect();
    let mut order: Vec<usize> = (0..estimates.len()).collect();
    order.sort_by(|&a, &b| estimates[a].total_cmp(&estimates[b]));
    let row = |row: &Distribution| order.iter().map(|&y| row[y]).collect();
    let channel = Channel::new(found.channel.rows().iter().map(row).collect())?;
    let names = order.iter().map(|&y| codebook::nearest(estimates[y])).collect::<Option<Vec<_>>>();
    // Two outputs with one estimate are told apart by number only.
    let alphabet = names.and_then(|names| Alphabet::points(names).ok());
    let alphabet = match alphabet {
        Some(alphabet) => alphabet,
        None => Alphabet::indices(order.len())
            .map_err(|error| Error::other("outputs", error.to_string()))?,
    };
    Ok((Proposal { channel, ..found }, alphabet))
}
