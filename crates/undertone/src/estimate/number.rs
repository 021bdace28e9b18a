//! An estimated number with its interval, as it is written.

use serde::Serialize;
use undertone_estimate::{Estimate, IntervalMethod};

use crate::number;

/// A number with its interval: low ≤ value ≤ high, all of them possible.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EstimatedNumber {
    /// The estimate.
    #[serde(serialize_with = "number::as_value")]
    pub value: f64,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
    /// The standard error; nothing where the reports cannot tell.
    #[serde(serialize_with = "number::as_optional_value")]
    pub standard_error: Option<f64>,
    /// Whether the reports determine the number at all.
    pub identified: bool,
    /// Whether no possible value fits the reports at this level: then the nearest possible one stands for the interval.
    pub impossible: bool,
    /// How the interval was found.
    pub method: IntervalMethod,
}

impl From<Estimate> for EstimatedNumber {
    fn from(estimate: Estimate) -> Self {
        let Estimate { value, low, high, standard_error, identified, impossible, method } =
            estimate;
        Self { value, low, high, standard_error, identified, impossible, method }
    }
}

impl EstimatedNumber {
    /// Value and ends of the interval in another unit, for people: with no more digits than the interval has meaning
    /// for, its ends rounded outward.
    pub fn written(&self, unit: f64) -> [String; 3] {
        let half = unit * (self.high - self.low) / 2.0;
        let digits =
            if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 8.0) as usize } else { 4 };
        let step = 10f64.powi(digits as i32);
        let outward = |value: f64, round: fn(f64) -> f64| {
            let scaled = unit * value * step;
            // What is a whole number of steps but for a float's last digits is not moved by one.
            let nearest = scaled.round();
            let whole = (scaled - nearest).abs() <= 1e-9 * nearest.abs().max(1.0);
            (if whole { nearest } else { round(scaled) }) / step
        };
        let low = outward(self.low, f64::floor);
        let high = outward(self.high, f64::ceil);
        [unit * self.value, low, high].map(|value| {
            let text = format!("{value:.digits$}");
            // No sign in front of nothing.
            if text.trim_start_matches(['-', '0', '.']).is_empty() {
                text.replace('-', "")
            } else {
                text
            }
        })
    }
}
