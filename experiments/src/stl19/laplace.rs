//! The bounded Laplace mechanism on three values: what both papers' figures compare.

use undertone_design::Distribution;
use undertone_design::continuous::{Loss, Method};
use undertone_design::mechanism::laplace::{self, BoundedLaplace, Limits, Scale};

use crate::Error;
use crate::numeric::Numbers;

/// STL19 Figure 3: X = {0, 1.5, 3}, released on [0, 3].
pub const POINTS: [f64; 3] = [0.0, 1.5, 3.0];
/// Where the noise is confined.
pub const RANGE: (f64, f64) = (0.0, 3.0);
const WIDTH: f64 = 3.0;

/// One way to choose the scale, its error and what its density leaks.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// The scale; the largest where there is one for each input.
    pub scale: f64,
    /// Mean squared error, STL19 (19).
    pub error: f64,
    /// Exact LIP of the density.
    pub lip: f64,
    /// Exact LDP of the density.
    pub ldp: f64,
}

/// The noise with these scales.
pub fn noise(prior: &Distribution, scales: Vec<f64>) -> Result<Noise, Error> {
    let scale = scales.iter().copied().fold(0.0, f64::max);
    let noise = BoundedLaplace::new(RANGE, POINTS.to_vec(), scales)?;
    let leaks = noise.leakage(prior)?;
    let error = noise.mean_squared_error(prior)?;
    Ok(Noise { scale, error, lip: leaks.lip(), ldp: leaks.ldp })
}

/// The LDP scale ΔX/ε.
pub fn ldp(prior: &Distribution, epsilon: f64) -> Result<Noise, Error> {
    noise(prior, vec![WIDTH / epsilon; 3])
}

/// JSTL21 (25), STL19 (17), both branches, as printed.
pub fn printed(prior: &Distribution, epsilon: f64) -> Result<Noise, Error> {
    noise(prior, vec![laplace::published(WIDTH, prior.min(), epsilon)?; 3])
}

/// Its first branch, which holds for every ε.
pub fn closed(prior: &Distribution, epsilon: f64) -> Result<Noise, Error> {
    noise(prior, vec![laplace::closed(WIDTH, prior.min(), epsilon)?; 3])
}

/// The least constant scale whose density is ε-LIP.
pub fn exact(prior: &Distribution, epsilon: f64) -> Result<Noise, Error> {
    noise(prior, vec![laplace::exact(RANGE, &POINTS, prior, Limits::lip(epsilon))?; 3])
}

/// JSTL21 (26) with this α.
pub fn instance(prior: &Distribution, epsilon: f64, alpha: f64) -> Result<Noise, Error> {
    noise(prior, laplace::instance(WIDTH, prior, epsilon, alpha)?)
}

/// The largest α of (26) whose density is ε-LIP.
pub fn largest_alpha(prior: &Distribution, epsilon: f64) -> Result<f64, Error> {
    Ok(laplace::largest_alpha(RANGE, &POINTS, prior, epsilon)?)
}

/// The data in bins, for policies.
pub fn numbers(prior: &Distribution, outputs: usize) -> Numbers {
    Numbers {
        points: POINTS.to_vec(),
        range: RANGE,
        outputs,
        release: RANGE,
        prior: prior.clone(),
        density: None,
        loss: Loss::Squared,
    }
}

/// The verified table of the exact scale.
pub const CERTIFIED: Method = Method::Laplace(Scale::Table);
