//! Laplace noise for a request.

use undertone_core::{Bound, Context, Delta, Subject};

use super::problem::{Level, Problem};
use super::{Kept, Noise, Parameter};
use crate::designer::PrintedLevel;
use crate::mechanism::Mechanism;
use crate::mechanism::laplace::{self, BoundedLaplace, Limits, Scale};
use crate::{Error, protection};
use undertone_numeric::threshold::ThresholdSearch;

impl Mechanism<Problem<'_>> for Scale {
    type Design = Noise;

    fn name(&self) -> &'static str {
        "laplace"
    }

    fn design(&self, problem: &Problem<'_>) -> Result<Noise, Error> {
        noise(problem, *self)
    }
}

fn noise(problem: &Problem<'_>, scale: Scale) -> Result<Noise, Error> {
    let released = problem.request.codebook.output_edges();
    let (low, high) = problem.range;
    if released.first() != Some(&low) || released.last() != Some(&high) {
        let said = "Laplace noise is confined to the range: leave the output range out";
        return Err(Error::other("output range", said));
    }
    let (points, prior, width) = (&problem.points, &problem.prior, problem.width());
    let constant = |scale: f64| BoundedLaplace::constant(problem.range, points, scale);
    let mut parameters = Vec::new();
    let noise = match scale {
        Scale::Given(scale) => constant(scale)?,
        Scale::Published => {
            let Level { epsilon, least, .. } = pure(problem, "scale published")?;
            constant(laplace::published(width, least, epsilon)?)?
        }
        Scale::Closed => {
            let Level { epsilon, least, .. } = pure(problem, "scale closed")?;
            constant(laplace::closed(width, least, epsilon)?)?
        }
        Scale::Exact => constant(laplace::exact(problem.range, points, prior, limits(problem)?)?)?,
        Scale::Instance(alpha) => {
            let Level { epsilon, .. } = pure(problem, "scale instance")?;
            let alpha = match alpha {
                Some(alpha) => alpha,
                None => laplace::largest_alpha(problem.range, points, prior, epsilon)?,
            };
            parameters.push(("alpha", Parameter::One(alpha)));
            let scales = laplace::instance(width, prior, epsilon, alpha)?;
            BoundedLaplace::new(problem.range, points.clone(), scales)?
        }
        Scale::Table => {
            let search = ThresholdSearch { start: width, reach: 30, tolerance: 1e-9 };
            let found = search
                .least(|scale| problem.holds(&constant(scale)?.table(&problem.edges)?))?
                .ok_or_else(|| {
                    let most = width * 2f64.powi(30);
                    Error::other("scale", format!("none up to {most:.3e} is enough: raise epsilon"))
                })?;
            constant(found)?
        }
    };
    let one = noise.scales().iter().all(|scale| *scale == noise.scales()[0]);
    let scales = match noise.scales() {
        [first, ..] if one => Parameter::One(*first),
        several => Parameter::Each(several.to_vec()),
    };
    parameters.insert(0, ("scale", scales));
    parameters.push(("mse", Parameter::One(noise.mean_squared_error(&problem.weighing)?)));
    parameters.push(("mae", Parameter::One(noise.mean_absolute_error(&problem.weighing)?)));
    let leaks = noise.leakage(prior)?;
    parameters.push(("density_lip", Parameter::One(leaks.lip())));
    parameters.push(("density_ldp", Parameter::One(leaks.ldp)));
    let density = pure(problem, "scale").ok().map(|level| {
        let ldp = matches!(problem.spec.claims[0].bound, Bound::Ldp(_));
        let attained = if ldp { leaks.ldp } else { leaks.lip() };
        Kept { epsilon: PrintedLevel { claimed: level.epsilon, attained }, delta: None }
    });
    Ok(Noise { channel: noise.table(&problem.edges)?, parameters, density })
}

/// The level of one pure claim.
fn pure(problem: &Problem<'_>, what: &str) -> Result<Level, Error> {
    let level = problem.level(what)?;
    if level.delta > 0.0 {
        let said =
            "it knows no delta: claim lip:E alone, use the scale table, or the method gaussian";
        return Err(Error::other(what, said));
    }
    Ok(level)
}

/// What all claims together allow the density.
fn limits(problem: &Problem<'_>) -> Result<Limits, Error> {
    let refuse = |problem: &str| {
        Err(Error::other(
            "scale exact",
            format!("{problem}: use the scale table, which asks the kernel"),
        ))
    };
    let mut limits = Limits { lower: f64::INFINITY, upper: f64::INFINITY, ldp: f64::INFINITY };
    for claim in &problem.spec.claims {
        if claim.delta != Delta::ZERO || claim.about != Subject::Input {
            return refuse("it is for pure claims about the data");
        }
        let level = protection::level(claim);
        limits = limits.and(match claim.bound {
            Bound::Ldp(_) => Limits::ldp(level),
            Bound::Di(_) => return refuse("it is for lip, alip and ldp"),
            Bound::Lip { .. } if !matches!(problem.spec.context, Context::Known(_)) => {
                return refuse("it needs one known prior");
            }
            Bound::Lip { lower, upper } => {
                let nats = |epsilon: undertone_core::Epsilon| {
                    let (n, d) = epsilon.odds();
                    (f64::from(n) / f64::from(d)).ln()
                };
                Limits { lower: nats(lower), upper: nats(upper), ldp: f64::INFINITY }
            }
        });
    }
    Ok(limits)
}
