//! Gaussian noise for a request.

use undertone_core::Bound;

use super::problem::{Level, Problem};
use super::{Kept, Noise, Parameter};
use crate::Error;
use crate::designer::PrintedLevel;
use crate::measure::delta::Convention;
use crate::mechanism::Mechanism;
use crate::mechanism::gaussian::{self, GaussianNoise, Sigma, Spread};

/// Above this many inputs the density's own δ is not computed: the table's is what counts.
const AUDITED: usize = 256;

/// The largest ε looked for when a printed δ is restated as an ε.
const FARTHEST: f64 = 60.0;

/// Where a search that asks the kernel ends.
const FINE: f64 = 1e-9;

impl Mechanism<Problem<'_>> for Sigma {
    type Design = Noise;

    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn design(&self, problem: &Problem<'_>) -> Result<Noise, Error> {
        noise(problem, *self)
    }
}

fn noise(problem: &Problem<'_>, sigma: Sigma) -> Result<Noise, Error> {
    let (points, width) = (&problem.points, problem.width());
    let constant = |deviation: f64| GaussianNoise::constant(points, deviation);
    let level = |what: &str| -> Result<Level, Error> {
        let level = problem.level(what)?;
        if level.delta > 0.0 {
            return Ok(level);
        }
        let said =
            "its formula needs a delta above 0: claim lip:E,DELTA, or use the sigma constant";
        Err(Error::other(what, said))
    };
    let mut parameters = Vec::new();
    let noise = match sigma {
        Sigma::Given(deviation) => constant(deviation)?,
        Sigma::Constant => {
            let holds =
                |deviation: f64| problem.holds(&constant(deviation)?.table(&problem.edges)?);
            constant(gaussian::least(width, FINE, holds)?)?
        }
        Sigma::Published => {
            GaussianNoise::new(points, &printed(problem, &level("sigma published")?)?)?
        }
        Sigma::Floor => {
            let deviations = printed(problem, &level("sigma floor")?)?;
            let holds = |raised: &[f64]| {
                problem.holds(&GaussianNoise::new(points, raised)?.table(&problem.edges)?)
            };
            let floor = gaussian::raise(&deviations, FINE, holds)?;
            parameters.push(("floor", Parameter::One(floor)));
            let raised: Vec<f64> = deviations.iter().map(|d| d.max(floor)).collect();
            GaussianNoise::new(points, &raised)?
        }
        Sigma::Vanilla => {
            let Level { epsilon, delta, .. } = level("sigma vanilla")?;
            constant(gaussian::vanilla(width, epsilon, delta)?)?
        }
        Sigma::Analytic => {
            let Level { epsilon, delta, .. } = level("sigma analytic")?;
            constant(gaussian::analytic(width, epsilon, delta)?)?
        }
    };
    let deviations: Vec<f64> = noise.bells().iter().map(|bell| bell.deviation()).collect();
    let one = deviations.iter().all(|d| *d == deviations[0]);
    let shown = if one { Parameter::One(deviations[0]) } else { Parameter::Each(deviations) };
    parameters.insert(0, ("sigma", shown));
    let error = noise.mean_squared_error(&problem.weighing)?;
    parameters.push(("mean_square", Parameter::One(error)));
    let mut density = None;
    if let Ok(Level { epsilon, delta, .. }) = level("sigma") {
        // What noise that knows no prior would take.
        let free = [
            ("sigma_vanilla", gaussian::vanilla(width, epsilon, delta)),
            ("sigma_analytic", gaussian::analytic(width, epsilon, delta)),
        ];
        for (name, deviation) in free {
            parameters.extend(deviation.ok().map(|d| (name, Parameter::One(d))));
        }
        if points.len() <= AUDITED {
            let found = audit(problem, &noise, epsilon, delta)?;
            let attained = found.delta.map_or(0.0, |level| level.attained);
            parameters.push(("density_delta", Parameter::One(attained)));
            density = Some(found);
        }
    }
    Ok(Noise { channel: noise.table(&problem.edges)?, parameters, density })
}

/// JSTL21 Corollary 10 for every input: with the law the data was given, else with that of the points
/// themselves.
fn printed(problem: &Problem<'_>, level: &Level) -> Result<Vec<f64>, Error> {
    let known = problem.request.density.as_ref().and_then(|density| density.components());
    let prior: Vec<Spread> = match known {
        Some(components) => components.iter().map(Spread::from).collect(),
        None => {
            let parts = problem.points.iter().zip(problem.prior.as_slice());
            let part = |(&mean, &weight): (&f64, &f64)| Spread { weight, mean, deviation: 0.0 };
            parts.filter(|(_, weight)| **weight > 0.0).map(part).collect()
        }
    };
    let one = |&x: &f64| gaussian::corollary_10(&prior, x, level.epsilon, level.delta);
    problem.points.iter().map(one).collect()
}

/// What the density keeps of a claim: of LIP by its true mixture, of LDP by its worst pair.
fn audit(
    problem: &Problem<'_>,
    noise: &GaussianNoise,
    epsilon: f64,
    delta: f64,
) -> Result<Kept, Error> {
    let ldp = matches!(problem.spec.claims[0].bound, Bound::Ldp(_));
    let needed = if ldp {
        noise.ldp_delta(epsilon)?
    } else {
        // On sets of inputs δ is for finite outputs: the density's is told in the default convention.
        let convention = match problem.request.convention {
            Convention::JointSets => Convention::Conditional,
            other => other,
        };
        noise.excess(&problem.prior, epsilon)?.delta(convention, &problem.prior)?
    };
    let attained = if needed <= delta {
        Some(epsilon)
    } else if ldp {
        noise.ldp_epsilon(delta, FARTHEST)?
    } else {
        noise.epsilon(&problem.prior, delta, FARTHEST)?
    };
    let attained = attained.unwrap_or(f64::INFINITY);
    Ok(Kept {
        epsilon: PrintedLevel { claimed: epsilon, attained },
        delta: Some(PrintedLevel { claimed: delta, attained: needed }),
    })
}
