//! Numbers released for the mean of many: their plain average is unbiased, and its variance the least the claims allow.

use undertone_core::{Alphabet, Bound, Claim, Context, Delta, Epsilon, Subject};

use super::problem::Problem;
use super::{ContinuousOutcome, Method, Parameter, Parameters, Shipped};
use crate::designer::Designed;
use crate::measure::delta::Convention;
use crate::mechanism::mean::{self, ColumnLimits, MeanProblem, Weighing};
use crate::quantize::{PolicySpec, Shipped as Rounded};
use crate::{Channel, Distribution, Error, codebook, to_floats};

/// Columns whose largest entry is below this are what the simplex leaves of a zero.
const ZERO: f64 = 1e-11;

/// Designs, ships and measures the channel for a mean.
pub(super) fn unbiased(problem: &Problem<'_>) -> Result<ContinuousOutcome, Error> {
    let refuse = |problem: &str| Err(Error::other("objective mean", problem));
    if problem.request.method != Method::Optimal {
        return refuse("it has a channel of its own: leave the method out, or use squared");
    }
    if problem.request.convention != Convention::Conditional {
        return refuse("it is for claims without a delta: leave the convention out");
    }
    let asked = asked(problem)?;
    let found = mean::design(&asked)?;
    let used: Vec<usize> =
        (0..found.values.len()).filter(|&y| found.rows.iter().any(|row| row[y] >= ZERO)).collect();
    let row = |row: &Vec<f64>| {
        let cells = used.iter().map(|&y| row[y]).collect();
        Distribution::normalised("channel row", cells)
    };
    let rows = found.rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let channel = Channel::from_rows(rows)?;
    let values: Vec<f64> = used.iter().map(|&y| found.values[y]).collect();
    let (rounded, values) = ship(problem, &channel, values)?;
    let integers = to_floats::channel(rounded.policy.draft().shape())?;
    let cells: Vec<Vec<f64>> = integers.rows().iter().map(|row| row.as_slice().to_vec()).collect();
    let utility = mean::weighed_variance(&asked, &cells, &values);
    let spec = PolicySpec { outputs: Some(named(&values)?), ..problem.spec.clone() };
    let objective = problem.request.loss.objective(&problem.points, &values);
    let outputs = (0..values.len()).collect();
    let designed = Designed {
        policy: rounded.policy,
        utility: Some(utility),
        optimum: Some(found.variance),
        // Lowered by what the linear program's tolerances may have added.
        bound: found.bound.map(|bound| bound * (1.0 - 1e-9)),
        mixed: rounded.mixed,
        channel: Some(integers),
        outputs,
        parameters: Vec::new(),
        published: None,
    };
    let parameters = parameters(&asked, &cells, &values);
    let inner = problem.inner(spec, objective);
    Ok(ContinuousOutcome::Shipped(Box::new(Shipped { designed, parameters, density: None, inner })))
}

/// The problem of a mean that a request is.
fn asked(problem: &Problem<'_>) -> Result<MeanProblem, Error> {
    let known = match &problem.spec.context {
        Context::Unknown => false,
        Context::Known(_) => true,
        _ => {
            let said =
                "it is for one known prior or none: use squared, or protect ldp:E with any prior";
            return Err(Error::other("objective mean", said));
        }
    };
    let mut limits = ColumnLimits::NONE;
    for claim in &problem.spec.claims {
        limits = narrowed(limits, claim)?;
    }
    let (law, weighing) = match known {
        true => (problem.prior.as_slice().to_vec(), Weighing::Expected),
        false => {
            let count = problem.points.len();
            (vec![1.0 / count as f64; count], Weighing::Worst)
        }
    };
    Ok(MeanProblem { points: problem.points.clone(), law, limits, weighing })
}

/// What a claim leaves of the limits.
fn narrowed(limits: ColumnLimits, claim: &Claim) -> Result<ColumnLimits, Error> {
    let odds = |epsilon: Epsilon| {
        let (n, d) = epsilon.odds();
        f64::from(n) / f64::from(d)
    };
    if claim.delta != Delta::ZERO || claim.about != Subject::Input {
        let said = "it is for pure claims about the data: protect ldp:E or lip:E";
        return Err(Error::other("objective mean", said));
    }
    Ok(match claim.bound {
        Bound::Ldp(epsilon) => ColumnLimits { ratio: limits.ratio.min(odds(epsilon)), ..limits },
        Bound::Lip { lower, upper } => ColumnLimits {
            least: limits.least.max(1.0 / odds(lower)),
            most: limits.most.min(odds(upper)),
            ..limits
        },
        Bound::Di(_) => {
            let said = "it does not know di: protect ldp:E or lip:E";
            return Err(Error::other("objective mean", said));
        }
    })
}

/// The integers, and the numbers that make them unbiased: what was mixed in pulls every mean towards the middle of the
/// numbers, and is taken out of them.
fn ship(
    problem: &Problem<'_>,
    channel: &Channel,
    values: Vec<f64>,
) -> Result<(Rounded, Vec<f64>), Error> {
    let shipped = |values: &[f64]| {
        let spec = PolicySpec { outputs: Some(named(values)?), ..problem.spec.clone() };
        spec.ship(channel)
    };
    let first = shipped(&values)?;
    if first.mixed == 0.0 {
        return Ok((first, values));
    }
    if first.mixed >= 1.0 {
        return Err(Error::other("claims", "no channel that tells of a mean satisfies them all"));
    }
    let middle = values.iter().sum::<f64>() / values.len() as f64;
    let wider: Vec<f64> =
        values.iter().map(|v| (v - first.mixed * middle) / (1.0 - first.mixed)).collect();
    Ok((shipped(&wider)?, wider))
}

/// The numbers as the policy's outputs.
fn named(values: &[f64]) -> Result<Alphabet, Error> {
    let refused = |problem: String| Error::other("outputs", problem);
    let decimals = values.iter().map(|value| {
        let found = codebook::decimal(&value.to_string());
        found.ok_or_else(|| refused(format!("{value} has no decimal the kernel can hold")))
    });
    let decimals = decimals.collect::<Result<Vec<_>, _>>()?;
    Alphabet::points(decimals).map_err(|error| refused(error.to_string()))
}

/// Figures beside the variance: the largest bias, and what printed mechanisms for means have at the same level of LDP.
fn parameters(asked: &MeanProblem, rows: &[Vec<f64>], values: &[f64]) -> Parameters {
    let mean = |row: &Vec<f64>| row.iter().zip(values).map(|(w, v)| w * v).sum::<f64>();
    let bias = rows.iter().zip(&asked.points).map(|(row, x)| (mean(row) - x).abs());
    let mut parameters = vec![("bias", Parameter::One(bias.fold(0.0, f64::max)))];
    if asked.weighing == Weighing::Worst {
        let (first, last) = (asked.points[0], asked.points[asked.points.len() - 1]);
        let square = ((last - first) / 2.0).powi(2);
        for (name, variance) in printed_variances(asked.limits.ratio) {
            parameters.push((name, Parameter::One(square * variance)));
        }
    } else {
        let worst = MeanProblem { weighing: Weighing::Worst, ..asked.clone() };
        let worst = mean::weighed_variance(&worst, rows, values);
        parameters.push(("worst_variance", Parameter::One(worst)));
    }
    parameters
}

/// The largest variances of the one-bit mechanism of Duchi and others and of the piecewise and the hybrid mechanism of Wang and
/// others for numbers from -1 to 1, at LDP with odds e.
pub fn printed_variances(e: f64) -> [(&'static str, f64); 3] {
    let one_bit = ((e + 1.0) / (e - 1.0)).powi(2);
    let root = e.sqrt();
    let piecewise = 4.0 * root / (3.0 * (root - 1.0).powi(2));
    // The hybrid takes the piecewise mechanism with probability 1 - e^(-ε/2) above the level where that helps.
    let mixed = (root + 3.0) / (3.0 * root * (root - 1.0)) + one_bit / root;
    let hybrid = if e.ln() > 0.61 { mixed } else { one_bit };
    [("one_bit", one_bit), ("piecewise", piecewise), ("hybrid", hybrid)]
}
