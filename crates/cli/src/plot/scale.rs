//! A linear scale.

use super::round_step;

/// A linear scale from numbers to the sheet.
pub(super) struct Scale {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) from: i32,
    pub(super) to: i32,
}

impl Scale {
    pub(super) fn at(&self, value: f64) -> i32 {
        let share = ((value - self.least) / (self.most - self.least)).clamp(0.0, 1.0);
        self.from + (share * f64::from(self.to - self.from)).round() as i32
    }

    pub(super) fn ticks(&self, count: f64) -> Vec<f64> {
        let step = round_step(self.most - self.least, count);
        let first = (self.least / step - 1e-9).ceil() as i64;
        let last = (self.most / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }
}
