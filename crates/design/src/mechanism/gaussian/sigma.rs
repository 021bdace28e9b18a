//! How much Gaussian noise is enough.

use super::GaussianNoise;
use super::divergence::{against_wider, between};
use crate::density::{Component, Normal};
use crate::extremal::LiftRange;
use crate::{Distribution, Error};
use undertone_numeric::bisection::Bracket;
use undertone_numeric::threshold::ThresholdSearch;

/// Where a search on a function computed in floats ends.
const FINE: f64 = 1e-14;

fn check(epsilon: f64, delta: f64) -> Result<(), Error> {
    LiftRange::symmetric(epsilon)?;
    if delta > 0.0 && delta < 1.0 {
        return Ok(());
    }
    Err(Error::range(
        "delta",
        delta,
        "above 0 and below 1: on the line Gaussian noise is never pure",
    ))
}

fn check_width(width: f64) -> Result<(), Error> {
    if width > 0.0 && width.is_finite() {
        return Ok(());
    }
    Err(Error::range("the width of the range", width, "a finite number above 0"))
}

/// The textbook bound on δ of LDP, 1.25 e^(-ε²σ²/2ΔX²). False at large ε: at σ = ΔX/2 and ε = 8 it is
/// 4.19e-4 where δ is 4.95e-4.
pub fn vanilla_delta(width: f64, epsilon: f64, deviation: f64) -> f64 {
    1.25 * (-0.5 * (epsilon * deviation / width).powi(2)).exp()
}

/// The deviation at which [`vanilla_delta`] is `delta`.
pub fn vanilla(width: f64, epsilon: f64, delta: f64) -> Result<f64, Error> {
    check(epsilon, delta)?;
    check_width(width)?;
    if !(epsilon > 0.0) {
        return Err(Error::range("epsilon", epsilon, "above 0"));
    }
    Ok(width * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon)
}

/// δ of LDP at ε, exactly: JSTL21 (24).
pub fn analytic_delta(width: f64, epsilon: f64, deviation: f64) -> Result<f64, Error> {
    let odds = LiftRange::symmetric(epsilon)?.high();
    check_width(width)?;
    between(&Normal::new(0.0, deviation)?, &Normal::new(width, deviation)?, odds)
}

/// The least deviation with that δ.
pub fn analytic(width: f64, epsilon: f64, delta: f64) -> Result<f64, Error> {
    check(epsilon, delta)?;
    least(width, FINE, |deviation| Ok(analytic_delta(width, epsilon, deviation)? <= delta))
}

/// JSTL21 Corollary 10: the least deviation that would do for input `x` if everybody had it.
///
/// `prior` is the law of the data as normal components; a grid of points may be given as components of deviation 0 (see
/// [`Spread`]). The noise is added to all of them, so the output's law is a mixture of wider ones.
pub fn corollary_10(prior: &[Spread], x: f64, epsilon: f64, delta: f64) -> Result<f64, Error> {
    check(epsilon, delta)?;
    if prior.is_empty() {
        return Err(Error::Empty { what: "the prior".into() });
    }
    let mean: f64 = prior.iter().map(|part| part.weight * part.mean).sum();
    let distance =
        |part: &Spread| part.weight * (part.deviation.powi(2) + (part.mean - mean).powi(2));
    let spread = prior.iter().map(distance).sum::<f64>().sqrt().max((x - mean).abs());
    check_width(spread)?;
    least(spread, FINE, |deviation| {
        let widened = |part: &Spread| {
            let law = Normal::new(part.mean, part.deviation.hypot(deviation))?;
            Ok(Component { weight: part.weight, law })
        };
        let law = prior.iter().map(widened).collect::<Result<Vec<_>, Error>>()?;
        let sides = against_wider(&Normal::new(x, deviation)?, &law, epsilon)?;
        Ok(sides.conditional() <= delta)
    })
}

/// A part of the data's law before noise: normal, or a single point if its deviation is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The component's share, above 0.
    pub weight: f64,
    /// The mean of the component.
    pub mean: f64,
    /// How wide it is.
    pub deviation: f64,
}

impl From<&Component> for Spread {
    fn from(part: &Component) -> Self {
        Self { weight: part.weight, mean: part.law.mean(), deviation: part.law.deviation() }
    }
}

/// The least one deviation whose density has (ε,δ)-LIP on a grid of points. With `cells` δ is bounded
/// from above by that many cells, else computed.
pub fn least_constant(
    points: &[f64],
    prior: &Distribution,
    epsilon: f64,
    delta: f64,
    cells: Option<usize>,
) -> Result<f64, Error> {
    check(epsilon, delta)?;
    let width = points.last().unwrap_or(&0.0) - points.first().unwrap_or(&0.0);
    check_width(width)?;
    least(width, fineness(cells), |deviation| {
        audited(&GaussianNoise::constant(points, deviation)?, prior, epsilon, delta, cells)
    })
}

/// The least floor τ for which noise of deviation max(σ(x), τ) has (ε,δ)-LIP, σ(x) as given.
pub fn least_floor(
    points: &[f64],
    prior: &Distribution,
    deviations: &[f64],
    epsilon: f64,
    delta: f64,
    cells: Option<usize>,
) -> Result<f64, Error> {
    check(epsilon, delta)?;
    raise(deviations, fineness(cells), |raised| {
        audited(&GaussianNoise::new(points, raised)?, prior, epsilon, delta, cells)
    })
}

/// The least floor under `deviations` for which `holds` accepts them, to a relative `tolerance`.
pub(crate) fn raise(
    deviations: &[f64],
    tolerance: f64,
    holds: impl Fn(&[f64]) -> Result<bool, Error>,
) -> Result<f64, Error> {
    let lowest = deviations.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = deviations.iter().copied().fold(0.0, f64::max);
    let holds = |floor: f64| holds(&deviations.iter().map(|d| d.max(floor)).collect::<Vec<f64>>());
    if holds(lowest)? {
        return Ok(lowest);
    }
    let enough = least(highest, tolerance, holds)?;
    // A floor that leaves some inputs more noise than the others may do where a higher one does not, so
    // the first that holds is looked for from below: all the way, then more closely below the one that
    // is surely enough.
    const STEPS: i32 = 32;
    for from in [lowest, 0.9 * enough].into_iter().filter(|from| *from < enough) {
        let ratio = (enough / from).powf(1.0 / f64::from(STEPS));
        for step in 1..STEPS {
            let floor = from * ratio.powi(step);
            if holds(floor)? {
                let bracket = Bracket { holds: floor, fails: floor / ratio };
                return Ok(bracket.try_narrow(tolerance, holds)?.holds);
            }
        }
    }
    Ok(enough)
}

/// Which cells are open jumps with the deviation, so digits beyond these mean nothing.
fn fineness(cells: Option<usize>) -> f64 {
    if cells.is_some() { 1e-7 } else { 1e-12 }
}

fn audited(
    noise: &GaussianNoise,
    prior: &Distribution,
    epsilon: f64,
    delta: f64,
    cells: Option<usize>,
) -> Result<bool, Error> {
    let found = match cells {
        Some(cells) => noise.delta_upper(prior, epsilon, cells)?,
        None => noise.delta(prior, epsilon)?,
    };
    Ok(found <= delta)
}

/// The least deviation that `holds`, looked for from `start`.
pub(crate) fn least(
    start: f64,
    tolerance: f64,
    holds: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    const REACH: u32 = 40;
    ThresholdSearch { start, reach: REACH, tolerance }.least(holds)?.ok_or_else(|| {
        let most = start * 2f64.powi(REACH as i32);
        let problem = format!("none up to {most:.3e} is enough: raise epsilon or delta");
        Error::other("sigma", problem)
    })
}
