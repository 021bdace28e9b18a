//! How much Laplace noise is enough.
//!
//! STL19's proof bounds f_Y/f_x by P(x) + e^(ΔX/b)(1-P(x)), which gives the first branch of (17); the
//! other side, f_x/f_Y, asks for less where it asks for anything (STL19 (24) needs 1/E > P(x)), so that
//! branch is enough for every ε and the second is not needed. Both are bounds. The least scale is found
//! on the leakage itself: from the closed form downwards, and always ending on a scale whose leakage
//! was computed.

use super::BoundedLaplace;
use crate::extremal::LiftRange;
use crate::{Distribution, Error};
use undertone_numeric::threshold::ThresholdSearch;

/// What a density may leak; infinite where nothing is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How far belief may fall.
    pub lower: f64,
    /// How far belief may rise.
    pub upper: f64,
    /// How far two likelihoods may differ.
    pub ldp: f64,
}

impl Limits {
    /// Two-sided ε-LIP.
    pub fn lip(epsilon: f64) -> Self {
        Self { lower: epsilon, upper: epsilon, ldp: f64::INFINITY }
    }

    /// ε-LDP.
    pub fn ldp(epsilon: f64) -> Self {
        Self { lower: f64::INFINITY, upper: f64::INFINITY, ldp: epsilon }
    }

    /// These limits and `other` at once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
            ldp: self.ldp.min(other.ldp),
        }
    }

    /// Whether the noise keeps within them.
    pub fn hold(&self, noise: &BoundedLaplace, prior: &Distribution) -> Result<bool, Error> {
        let leaks = noise.leakage(prior)?;
        Ok(leaks.max_lift <= self.upper && leaks.min_lift <= self.lower && leaks.ldp <= self.ldp)
    }

    /// The smallest of the three: LDP at this level keeps them all.
    fn strictest(&self) -> f64 {
        self.lower.min(self.upper).min(self.ldp)
    }
}

fn check_level(epsilon: f64) -> Result<(), Error> {
    LiftRange::symmetric(epsilon)?;
    if epsilon > 0.0 {
        return Ok(());
    }
    Err(Error::range("epsilon", epsilon, "above 0: at 0 no Laplace noise is wide enough"))
}

fn check_width(width: f64, least: f64) -> Result<(), Error> {
    if !(width > 0.0 && width.is_finite()) {
        return Err(Error::range("the width of the range", width, "a finite number above 0"));
    }
    if !(0.0..1.0).contains(&least) {
        let range = "at least 0 and below 1: one certain input needs no noise";
        return Err(Error::range("the smallest probability", least, range));
    }
    Ok(())
}

/// JSTL21 Theorem 6 (25) and STL19 Theorem 1 (17) as printed, from the smallest probability. Valid, and
/// loose: the second branch makes the scale jump up at ε = ln(1/Pmin).
pub fn published(width: f64, least: f64, epsilon: f64) -> Result<f64, Error> {
    if epsilon < -least.ln() {
        return closed(width, least, epsilon);
    }
    check_level(epsilon)?;
    check_width(width, least)?;
    Ok(width / epsilon)
}

/// The first branch of JSTL21 (25), ΔX / ln((E - Pmin)/(1 - Pmin)), valid for every ε.
pub fn closed(width: f64, least: f64, epsilon: f64) -> Result<f64, Error> {
    check_level(epsilon)?;
    check_width(width, least)?;
    // (E - p)/(1 - p) = 1 + (E - 1)/(1 - p), without cancellation for small ε.
    Ok(width / (epsilon.exp_m1() / (1.0 - least)).ln_1p())
}

/// The least scale whose density keeps within `limits`.
///
/// Bisection between a scale that does and one that does not; leakage falls as the scale grows in every
/// case tried, so this is the least one, and it is one that was checked in any case.
pub fn exact(
    range: (f64, f64),
    points: &[f64],
    prior: &Distribution,
    limits: Limits,
) -> Result<f64, Error> {
    check_level(limits.strictest())?;
    if points.len() < 2 {
        return Err(Error::other("points", "one input alone needs no noise: give at least two"));
    }
    let holds = |scale: f64| limits.hold(&BoundedLaplace::constant(range, points, scale)?, prior);
    // LDP at the strictest level implies every limit; rounding may ask for a hair more.
    let start = (range.1 - range.0) / limits.strictest() * (1.0 + 1e-12);
    ThresholdSearch::to_the_last_digit(start)
        .least(holds)?
        .ok_or_else(|| Error::other("scale", "no scale keeps the claims: raise epsilon"))
}

/// The scales of JSTL21 (26), b(x) = ΔX/(αP(x) + ε), which leaves α open. α = 0 is LDP.
pub fn instance(
    width: f64,
    prior: &Distribution,
    epsilon: f64,
    alpha: f64,
) -> Result<Vec<f64>, Error> {
    check_level(epsilon)?;
    check_width(width, 0.0)?;
    if !(alpha >= 0.0 && alpha.is_finite()) {
        return Err(Error::range("alpha", alpha, "a finite number of at least 0"));
    }
    Ok(prior.as_slice().iter().map(|p| width / (alpha * p + epsilon)).collect())
}

/// The largest α of (26) for which the density keeps ε-LIP, by bisection on the leakage between 0,
/// which does, and the first power of two that does not.
pub fn largest_alpha(
    range: (f64, f64),
    points: &[f64],
    prior: &Distribution,
    epsilon: f64,
) -> Result<f64, Error> {
    if points.len() < 2 {
        return Err(Error::other("points", "one input alone needs no noise: give at least two"));
    }
    let limits = Limits::lip(epsilon);
    let holds = |alpha: f64| {
        let scales = instance(range.1 - range.0, prior, epsilon, alpha)?;
        limits.hold(&BoundedLaplace::new(range, points.to_vec(), scales)?, prior)
    };
    // The least 1/α, since more α is less noise.
    let found =
        ThresholdSearch::to_the_last_digit(1.0 / epsilon).least(|inverse| holds(1.0 / inverse))?;
    Ok(found.map_or(0.0, |inverse| 1.0 / inverse))
}
