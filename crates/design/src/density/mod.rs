//! Laws of real numbers: what a continuous prior is before it is binned.
//!
//! A device clips its number to a public range and rounds it to a bin, so the prior of the bins is the
//! law of the clipped number: [`Density::clipped`]. [`Density::truncated`] is the other reading, a law
//! that never leaves the range; the two differ in the end bins.

mod em;
mod histogram;
mod mixture;
pub mod normal;

pub use em::{Fitted, MOST_COMPONENTS, Settings, choose, fit};
pub use histogram::Histogram;
pub use mixture::{Component, Mixture};
pub use normal::Normal;

use undertone_core::WEIGHT_ONE;

use crate::{Distribution, Error};
use undertone_numeric::beta::{incomplete_beta, ln_beta};

/// What a bin without mass is raised to: two units of the kernel's prior, so that rounding cannot
/// take it away again.
pub const FLOOR: f64 = 2.0 / WEIGHT_ONE as f64;

/// A law on the real line.
#[derive(Debug, Clone, PartialEq)]
pub enum Density {
    /// Equal density between two ends.
    Uniform(Uniform),
    /// A normal law.
    Normal(Normal),
    /// A beta law stretched over an interval.
    Beta(Beta),
    /// Equal density within each of several cells.
    Histogram(Histogram),
    /// A mixture of normal laws.
    Mixture(Mixture),
}

/// Equal density between two finite ends, the first below the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniform {
    low: f64,
    high: f64,
}

/// A beta law with positive parameters on a finite interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
    on: Uniform,
}

/// A density in bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Binned {
    /// The probability of each bin.
    pub p: Distribution,
    /// Bins that had less than [`FLOOR`] and were raised to it.
    pub floored: Vec<usize>,
    /// The mass below the first edge, counted in the first bin.
    pub below: f64,
    /// The mass above the last edge, counted in the last bin.
    pub above: f64,
}

impl Uniform {
    /// Checks the ends.
    pub fn new(low: f64, high: f64) -> Result<Self, Error> {
        for (what, value) in [("the low end", low), ("the high end", high)] {
            if !value.is_finite() {
                return Err(Error::NotFinite { what: what.into(), value });
            }
        }
        if low < high {
            Ok(Self { low, high })
        } else {
            Err(Error::range("the high end", high, format!("above the low end {low}")))
        }
    }

    fn share(&self, y: f64) -> f64 {
        ((y - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

impl Beta {
    /// The probability of the lower `share` of the interval.
    fn below(&self, share: f64) -> f64 {
        incomplete_beta(self.a, self.b, share, 1.0 - share)
    }

    /// Checks the parameters and the ends.
    pub fn new(a: f64, b: f64, low: f64, high: f64) -> Result<Self, Error> {
        for (what, value) in [("beta's first parameter", a), ("beta's second parameter", b)] {
            if !(value > 0.0 && value <= 1e6) {
                return Err(Error::range(what, value, "above 0 and at most a million"));
            }
        }
        Ok(Self { a, b, on: Uniform::new(low, high)? })
    }
}

impl Density {
    /// Reads `uniform:LOW,HIGH`, `normal:MEAN,DEVIATION`, `beta:A,B` (on 0 to 1) or
    /// `beta:A,B,LOW,HIGH`, and
    /// `mixture:WEIGHT,MEAN,DEVIATION;...`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let shape = "write uniform:0,1, normal:50,10, beta:2,5, beta:2,5,0,100 or mixture:0.3,10,2;0.7,20,5";
        let fail = |problem: String| Error::other(format!("density {text:?}"), problem);
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(fail(shape.into()));
        };
        let numbers = |list: &str| {
            let number = |part: &str| {
                part.trim()
                    .parse::<f64>()
                    .map_err(|_| fail(format!("{part:?} is not a number; {shape}")))
            };
            list.split(',').map(number).collect::<Result<Vec<f64>, _>>()
        };
        let named = |error: Error| fail(error.to_string());
        if kind == "mixture" {
            let component = |part: &str| match numbers(part)?.as_slice() {
                &[weight, mean, deviation] => {
                    Ok(Component { weight, law: Normal::new(mean, deviation).map_err(named)? })
                }
                _ => Err(fail(shape.into())),
            };
            let components = rest.split(';').map(component).collect::<Result<_, _>>()?;
            return Ok(Self::Mixture(Mixture::new(components).map_err(named)?));
        }
        let law = match (kind, numbers(rest)?.as_slice()) {
            ("uniform", &[low, high]) => Uniform::new(low, high).map(Self::Uniform),
            ("normal", &[mean, deviation]) => Normal::new(mean, deviation).map(Self::Normal),
            ("beta", &[a, b]) => Beta::new(a, b, 0.0, 1.0).map(Self::Beta),
            ("beta", &[a, b, low, high]) => Beta::new(a, b, low, high).map(Self::Beta),
            _ => return Err(fail(shape.into())),
        };
        law.map_err(named)
    }

    /// P(X <= y).
    pub fn below(&self, y: f64) -> f64 {
        match self {
            Self::Uniform(law) => law.share(y),
            Self::Normal(law) => law.below(y),
            Self::Beta(law) => law.below(law.on.share(y)),
            Self::Histogram(law) => law.below(y),
            Self::Mixture(law) => law.average(|part| part.below(y)),
        }
    }

    /// P(low < X <= high).
    pub fn between(&self, low: f64, high: f64) -> f64 {
        match self {
            Self::Normal(law) => law.between(low, high),
            Self::Mixture(law) => law.average(|part| part.between(low, high)),
            _ => (self.below(high) - self.below(low)).max(0.0),
        }
    }

    /// The density at `y`; infinite at an end where a beta law has a pole.
    pub fn density(&self, y: f64) -> f64 {
        match self {
            Self::Uniform(law) if y < law.low || y > law.high => 0.0,
            Self::Uniform(law) => 1.0 / (law.high - law.low),
            Self::Normal(law) => law.density(y),
            Self::Beta(law) => {
                let (a, b, share) = (law.a, law.b, (y - law.on.low) / (law.on.high - law.on.low));
                if !(0.0..=1.0).contains(&share) {
                    return 0.0;
                }
                let power = |base: f64, exponent: f64| {
                    if exponent == 0.0 { 1.0 } else { base.powf(exponent) }
                };
                let kernel = power(share, a - 1.0) * power(1.0 - share, b - 1.0);
                kernel * (-ln_beta(a, b)).exp() / (law.on.high - law.on.low)
            }
            Self::Histogram(law) => law.density(y),
            Self::Mixture(law) => law.average(|part| part.density(y)),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Uniform(law) => (law.low + law.high) / 2.0,
            Self::Normal(law) => law.mean(),
            Self::Beta(law) => law.on.low + (law.on.high - law.on.low) * law.a / (law.a + law.b),
            Self::Histogram(law) => law.mean(),
            Self::Mixture(law) => law.average(Normal::mean),
        }
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        match self {
            Self::Uniform(law) => (law.high - law.low).powi(2) / 12.0,
            Self::Normal(law) => law.deviation().powi(2),
            Self::Beta(law) => {
                let (a, b, width) = (law.a, law.b, law.on.high - law.on.low);
                a * b / ((a + b).powi(2) * (a + b + 1.0)) * width * width
            }
            Self::Histogram(law) => law.variance(),
            Self::Mixture(law) => {
                law.average(|part| part.deviation().powi(2) + (part.mean() - mean).powi(2))
            }
        }
    }

    /// The mean distance |X - X'| of two independent draws (Gini's mean difference).
    pub fn mean_difference(&self) -> f64 {
        match self {
            Self::Uniform(law) => (law.high - law.low) / 3.0,
            Self::Normal(law) => 2.0 * law.deviation() / std::f64::consts::PI.sqrt(),
            Self::Mixture(law) => law.mean_difference(),
            Self::Histogram(law) => law.mean_difference(),
            Self::Beta(law) => {
                // 2∫F(1-F) by Simpson's rule, in a variable that is flat at both ends.
                let spread = |t: f64| {
                    let share = t * t * (3.0 - 2.0 * t);
                    let below = law.below(share);
                    below * (1.0 - below) * 6.0 * t * (1.0 - t)
                };
                const PANELS: u32 = 1024;
                let term = |i: u32| {
                    let weight =
                        if i == 0 || i == PANELS { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                    weight * spread(f64::from(i) / f64::from(PANELS))
                };
                let sum: f64 = (0..=PANELS).map(term).sum();
                2.0 * (law.on.high - law.on.low) * sum / (3.0 * f64::from(PANELS))
            }
        }
    }

    /// The normal laws it is made of, if it is.
    pub fn components(&self) -> Option<Vec<Component>> {
        match self {
            Self::Normal(law) => Some(vec![Component { weight: 1.0, law: *law }]),
            Self::Mixture(law) => Some(law.components().to_vec()),
            _ => None,
        }
    }

    /// The law of the bin after clipping to the edges: what lies beyond them is in the end bins.
    pub fn clipped(&self, edges: &[f64]) -> Result<Binned, Error> {
        let (first, last) = ends(edges)?;
        let (below, above) =
            (self.between(f64::NEG_INFINITY, first), self.between(last, f64::INFINITY));
        if !(below + above < 1.0 - 1e-9) {
            let problem = format!(
                "all of it lies outside {first} to {last}, {below} below and {above} above: choose a range that holds it"
            );
            return Err(Error::other("density", problem));
        }
        let mut mass: Vec<f64> = edges.windows(2).map(|e| self.between(e[0], e[1])).collect();
        let bins = mass.len();
        mass[0] += below;
        mass[bins - 1] += above;
        self.binned(mass, below, above)
    }

    /// The law of the bin given that the number lies between the first and the last edge.
    pub fn truncated(&self, edges: &[f64]) -> Result<Binned, Error> {
        ends(edges)?;
        self.binned(edges.windows(2).map(|e| self.between(e[0], e[1])).collect(), 0.0, 0.0)
    }

    fn binned(&self, mass: Vec<f64>, below: f64, above: f64) -> Result<Binned, Error> {
        let total: f64 = mass.iter().sum();
        if !(total > 0.0) {
            let problem =
                "it has no mass between the first and the last edge: choose another range";
            return Err(Error::other("density", problem));
        }
        let p = Distribution::normalised("density", mass)?;
        Binned { p, floored: Vec::new(), below, above }.raised(FLOOR)
    }
}

impl Binned {
    /// These bins, those of less than `floor` raised to it, and named.
    pub fn raised(self, floor: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&floor) {
            return Err(Error::range("the floor of a bin", floor, "at least 0 and below 1"));
        }
        let low = |bin: &usize| !(self.p[*bin] >= floor) || self.floored.contains(bin);
        let floored = (0..self.p.len()).filter(low).collect();
        let raised = self.p.as_slice().iter().map(|p| p.max(floor)).collect();
        Ok(Self { p: Distribution::normalised("density", raised)?, floored, ..self })
    }
}

impl std::fmt::Display for Density {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uniform(law) => write!(f, "uniform:{},{}", law.low, law.high),
            Self::Normal(law) => write!(f, "normal:{},{}", law.mean(), law.deviation()),
            Self::Beta(Beta { a, b, on }) => write!(f, "beta:{a},{b},{},{}", on.low, on.high),
            Self::Histogram(law) => write!(f, "histogram of {} cells", law.cells()),
            Self::Mixture(law) => {
                let part =
                    |c: &Component| format!("{},{},{}", c.weight, c.law.mean(), c.law.deviation());
                let parts: Vec<String> = law.components().iter().map(part).collect();
                write!(f, "mixture:{}", parts.join(";"))
            }
        }
    }
}

/// Refuses edges that do not increase; returns the first and the last.
fn ends(edges: &[f64]) -> Result<(f64, f64), Error> {
    let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else {
        return Err(Error::Empty { what: "edges".into() });
    };
    let increasing = edges.windows(2).all(|e| e[0] < e[1]) && edges.len() > 1;
    if increasing && first.is_finite() && last.is_finite() {
        Ok((first, last))
    } else {
        Err(Error::other("edges", "give at least two finite numbers, each above the one before"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
