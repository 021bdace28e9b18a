//! The variance of a statistic along the values it may have.

/// The variance of a statistic as a function of the true value t: constant + linear t + square t².
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Spread {
    pub(crate) constant: f64,
    pub(crate) linear: f64,
    pub(crate) square: f64,
}

impl Spread {
    pub(crate) fn at(&self, t: f64) -> f64 {
        (self.constant + (self.linear + self.square * t) * t).max(0.0)
    }

    /// The variance of a sum of independent statistics.
    pub(crate) fn add(&mut self, other: Self) {
        self.constant += other.constant;
        self.linear += other.linear;
        self.square += other.square;
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            constant: self.constant * factor,
            linear: self.linear * factor,
            square: self.square * factor,
        }
    }
}
