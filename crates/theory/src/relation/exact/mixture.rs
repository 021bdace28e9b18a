//! The mixture of rays with the largest total gain, and a bound no mixture passes.

use super::premise::Ray;
use undertone_design::{Channel, Distribution, Error};
use undertone_numeric::mixture::{MixtureOptimum, maximise_mixture, maximise_mixture_within};

/// The best mixture found, and what the dual prices prove about every other.
pub(super) struct Mixture {
    /// Rays in use with their weights; the weights sum to one.
    weights: Vec<(usize, f64)>,
    /// No mixture gains more than this; never below the gain of the one found.
    pub(super) at_most: f64,
}

/// Roundings of one sum of products, relative to the sum of the products' sizes.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A gap between mixture and bound that needs no finer search, relative to the bound.
const CLOSED: f64 = 1e-11;

/// The solver's tolerance where the gap stays open.
const FINER: [f64; 2] = [1e-13, 1e-15];

/// Mixes rays into a channel, Σ w = 1 and Σ w d = 0 for every symbol, so that Σ w·gain is largest.
///
/// The program is scaled on both sides: a ray by its largest lift, a symbol's row by its largest entry. Its
/// prices bound every mixture whatever the solver's tolerance, because the weights sum to one:
/// Σ w g = Σ w (g - price·ray) + price·rhs, at most max (g - price·ray) + price·rhs.
pub(super) fn best(
    rays: &[Ray],
    law: &Distribution,
    gain: impl Fn(&Ray) -> f64,
) -> Result<Mixture, Error> {
    let p = law.as_slice();
    // The deviations have mean zero, so the row of one symbol with mass follows from the others.
    let spare = (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
    let largest = |values: &mut dyn Iterator<Item = f64>| {
        let most = values.map(f64::abs).fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    };
    let sizes: Vec<f64> =
        rays.iter().map(|ray| largest(&mut ray.lifts().iter().copied()).max(1.0)).collect();
    let kept: Vec<(usize, f64)> = (0..p.len())
        .filter(|&x| x != spare)
        .map(|x| (x, largest(&mut rays.iter().zip(&sizes).map(|(ray, c)| ray.deviations()[x] / c))))
        .collect();
    let column = |(ray, c): (&Ray, &f64)| {
        let rest = kept.iter().map(|&(x, s)| ray.deviations()[x] / (s * c));
        [1.0 / c].into_iter().chain(rest).collect()
    };
    let columns: Vec<Vec<f64>> = rays.iter().zip(&sizes).map(column).collect();
    let gains: Vec<f64> = rays.iter().zip(&sizes).map(|(ray, c)| gain(ray) / c).collect();
    let scale = largest(&mut gains.iter().copied());
    let costs: Vec<f64> = gains.iter().map(|gain| gain / scale).collect();
    let mut rhs = vec![0.0; p.len()];
    rhs[0] = 1.0;
    let bound = |optimum: &MixtureOptimum| {
        let beyond = |j: usize| {
            let products = || optimum.prices.iter().zip(&columns[j]).map(|(price, a)| price * a);
            let size: f64 = costs[j].abs() + products().map(f64::abs).sum::<f64>();
            sizes[j] * (costs[j] - products().sum::<f64>() + ROUNDING * size)
        };
        let most = (0..columns.len()).map(beyond).fold(0.0, f64::max);
        (optimum.prices[0] + most).max(optimum.value)
    };
    let mut best = maximise_mixture(&columns, &costs, &rhs)?;
    let mut at_most = bound(&best);
    for tolerance in FINER {
        if at_most - best.value <= CLOSED * at_most {
            break;
        }
        // A large ray magnifies what the solver overlooks; a finer search may not settle, then this stands.
        if let Ok(finer) = maximise_mixture_within(&columns, &costs, &rhs, tolerance)
            && bound(&finer) < at_most
        {
            (at_most, best) = (bound(&finer), finer);
        }
    }
    let weights = best.weights.iter().map(|&(j, u)| (j, u / sizes[j])).collect();
    Ok(Mixture { weights, at_most: scale * at_most })
}

impl Mixture {
    /// The channel whose outputs are the rays in use.
    pub(super) fn channel(&self, rays: &[Ray], law: &Distribution) -> Result<Channel, Error> {
        let row = |x: usize| {
            let row = self.weights.iter().map(|&(j, w)| w * rays[j].lifts()[x]).collect();
            Distribution::normalised("a witness row", row)
        };
        Channel::from_rows((0..law.len()).map(row).collect::<Result<_, _>>()?)
    }
}
