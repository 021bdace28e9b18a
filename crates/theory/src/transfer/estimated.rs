//! Priors estimated from samples: how far the truth can be, and what that costs.

use super::{eta_at, prior_free};
use crate::composition::exact_ldp;
use undertone_design::extremal::LiftRange;
use undertone_design::fit;
use undertone_design::{Distribution, Error};

/// A mechanism designed for an empirical prior, judged under the unknown true one.
///
/// Everything here holds with probability at least 1 - β over the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    /// The l1 distance the truth keeps to the estimate, see [`fit::radius`].
    pub radius: f64,
    /// The distance as printed in JSTL21 Corollary 7, see [`published_radius`].
    pub published_radius: f64,
    /// A lower bound on the smallest mass of either prior: min P̂ - radius/2; zero if negative.
    pub floor: f64,
    /// ln(1 + radius/(2 floor)): Corollary 7 made computable. Infinite when the floor is zero.
    pub eta: f64,
    /// The leakage under the truth: the least of ε + η, the prior-free bound at TV = radius/2, and
    /// the exact LDP level of the promise, which no prior can exceed.
    pub leakage: f64,
}

/// JSTL21 Corollary 7 in computable form, for a promise `range` kept under `estimate`.
///
/// The printed form divides by the true smallest mass, which nobody knows; any mass moves by at most
/// the total variation distance, radius/2, so min P̂ - radius/2 bounds it from below.
pub fn estimated(
    estimate: &Distribution,
    samples: u64,
    beta: f64,
    range: LiftRange,
) -> Result<Estimated, Error> {
    let radius = fit::radius(samples, estimate.len(), beta)?;
    let distance = radius / 2.0;
    let floor = (estimate.min() - distance).max(0.0);
    let eta = eta_at(distance, floor);
    let leakage = (range.epsilon() + eta)
        .min(prior_free(distance, range).unwrap_or(f64::INFINITY))
        .min(exact_ldp(estimate, &range));
    let published_radius = published_radius(samples, estimate.len(), beta)?;
    Ok(Estimated { radius, published_radius, floor, eta, leakage })
}

/// sqrt(2/n (M - ln β)), JSTL21 Corollary 7 as printed: M stands where ln(2^M - 2) is enough.
pub fn published_radius(samples: u64, symbols: usize, beta: f64) -> Result<f64, Error> {
    fit::radius(samples, symbols, beta)?;
    Ok((2.0 / samples as f64 * (symbols as f64 - beta.ln())).sqrt())
}

/// JSTL21 Corollary 7 as printed: η = ln(1 + Δ/(2c)) with c the smaller of the estimate's and the
/// true smallest mass, which the caller must know.
pub fn published_estimate_eta(
    estimate: &Distribution,
    true_p_min: f64,
    samples: u64,
    beta: f64,
) -> Result<f64, Error> {
    if !(0.0..=1.0).contains(&true_p_min) {
        return Err(Error::range("the true smallest probability", true_p_min, "between 0 and 1"));
    }
    let radius = published_radius(samples, estimate.len(), beta)?;
    Ok(eta_at(radius / 2.0, estimate.min().min(true_p_min)))
}
