//! A piecewise constant density.

use crate::{Distribution, Error};

/// Equal density within each cell; edges increase and are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    mass: Distribution,
}

impl Histogram {
    /// One more edge than there are masses.
    pub fn new(edges: Vec<f64>, mass: Distribution) -> Result<Self, Error> {
        super::ends(&edges)?;
        mass.check_len("the list of cells", edges.len() - 1)?;
        Ok(Self { edges, mass })
    }

    /// How many cells.
    pub fn cells(&self) -> usize {
        self.mass.len()
    }

    fn each(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.edges.windows(2).zip(self.mass.as_slice()).map(|(e, &m)| (e[0], e[1], m))
    }

    pub(super) fn below(&self, y: f64) -> f64 {
        self.each().map(|(low, high, mass)| mass * ((y - low) / (high - low)).clamp(0.0, 1.0)).sum()
    }

    pub(super) fn density(&self, y: f64) -> f64 {
        let cell = self.edges.partition_point(|edge| *edge <= y);
        if cell == 0 || cell > self.mass.len() {
            return 0.0;
        }
        self.mass[cell - 1] / (self.edges[cell] - self.edges[cell - 1])
    }

    pub(super) fn mean(&self) -> f64 {
        self.each().map(|(low, high, mass)| mass * (low + high) / 2.0).sum()
    }

    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        let part = |(low, high, mass): (f64, f64, f64)| {
            mass * (((low + high) / 2.0 - mean).powi(2) + (high - low).powi(2) / 12.0)
        };
        self.each().map(part).sum()
    }

    /// 2∫F(1-F): within a cell F is a straight line from a to b, so the mean of F(1-F) there is
    /// (a+b)/2 - (a²+ab+b²)/3.
    pub(super) fn mean_difference(&self) -> f64 {
        let mut a = 0.0;
        let mut sum = 0.0;
        for (low, high, mass) in self.each() {
            let b = a + mass;
            sum += (high - low) * ((a + b) / 2.0 - (a * a + a * b + b * b) / 3.0);
            a = b;
        }
        2.0 * sum
    }
}
