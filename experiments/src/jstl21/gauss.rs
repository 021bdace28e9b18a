//! The Gaussian mechanism on the grid that the certified table uses.

use undertone_design::Distribution;
use undertone_design::continuous::Loss;
use undertone_design::density::Density;
use undertone_design::mechanism::gaussian::{Spread, corollary_10};

use crate::Error;
use crate::numeric::Numbers;

/// The paper's data: normal, mean 0, deviation 5.
pub const DATA: Spread = Spread { weight: 1.0, mean: 0.0, deviation: 5.0 };

/// Points on [-reach, reach] and the law of normal data truncated there and rounded to them.
pub struct Grid {
    /// The points.
    pub points: Vec<f64>,
    /// Their law.
    pub prior: Distribution,
    reach: f64,
}

impl Grid {
    /// So many points; end cells have half the width.
    pub fn new(reach: f64, count: usize) -> Result<Self, Error> {
        let step = 2.0 * reach / (count.max(2) - 1) as f64;
        let points: Vec<f64> = (0..count).map(|k| -reach + step * k as f64).collect();
        let mut edges = vec![-reach];
        edges.extend(points.iter().skip(1).map(|x| x - step / 2.0));
        edges.push(reach);
        let prior = Density::parse("normal:0,5")?.truncated(&edges)?.p;
        Ok(Self { points, prior, reach })
    }

    /// Corollary 10's deviation for each point.
    pub fn printed(&self, epsilon: f64, delta: f64) -> Result<Vec<f64>, Error> {
        let each = |&x: &f64| Ok(corollary_10(&[DATA], x, epsilon, delta)?);
        self.points.iter().map(each).collect()
    }

    /// The data released in `bins` cells that reach `beyond` the range, for policies.
    pub fn numbers(&self, bins: usize, beyond: f64) -> Numbers {
        let far = self.reach + beyond;
        Numbers {
            points: self.points.clone(),
            range: (-self.reach, self.reach),
            outputs: bins,
            release: (-far, far),
            prior: self.prior.clone(),
            density: Density::parse("normal:0,5").ok(),
            loss: Loss::Squared,
        }
    }
}
