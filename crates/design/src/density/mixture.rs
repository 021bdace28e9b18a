//! A mixture of normal laws.

use super::Normal;
use crate::{Distribution, Error};
use undertone_numeric::normal::normal_cdf;

/// One normal law and its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// The share of the population.
    pub weight: f64,
    /// The component's law.
    pub law: Normal,
}

/// One or more normal laws whose shares sum to one, by increasing mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    components: Vec<Component>,
}

impl Mixture {
    /// Checks the shares and sorts by mean.
    pub fn new(components: Vec<Component>) -> Result<Self, Error> {
        let weights = components.iter().map(|c| c.weight).collect();
        let weights = Distribution::new("the mixture's weights", weights)?;
        let mut components: Vec<Component> = components
            .iter()
            .zip(weights.as_slice())
            .map(|(c, &weight)| Component { weight, law: c.law })
            .collect();
        components.sort_by(|a, b| a.law.mean().total_cmp(&b.law.mean()));
        Ok(Self { components })
    }

    /// The parts, by increasing mean.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub(super) fn average(&self, of: impl Fn(&Normal) -> f64) -> f64 {
        self.components.iter().map(|c| c.weight * of(&c.law)).sum()
    }

    /// Σ w_i w_j E|D|, D normal with the difference of the means and the sum of the variances.
    pub(super) fn mean_difference(&self) -> f64 {
        let distance = |a: &Normal, b: &Normal| {
            let (mean, spread) = (a.mean() - b.mean(), a.deviation().hypot(b.deviation()));
            let z = mean / spread;
            spread * (2.0 / std::f64::consts::PI).sqrt() * (-z * z / 2.0).exp()
                + mean * (1.0 - 2.0 * normal_cdf(-z))
        };
        self.average(|a| self.average(|b| distance(a, b)))
    }
}
