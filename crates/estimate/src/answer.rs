//! An answer: a number, how sure it is, and what it rests on.

use crate::interval::{IntervalMethod, Limits};
use crate::settings::{Method, Settings};
use serde::Serialize;

/// A number with its interval: low ≤ value ≤ high, all of them possible.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// The standard error; `None` where the reports cannot tell.
    pub standard_error: Option<f64>,
    /// Whether the reports determine the number at all. If not, the value is one of many that fit equally well, and
    /// the interval holds them all however many reports there are.
    pub identified: bool,
    /// Whether no possible value fits the reports at this level. Then the nearest possible one stands for the
    /// interval; chance alone does this less often than the level permits misses.
    pub impossible: bool,
    /// How the interval was found.
    pub method: IntervalMethod,
}

impl Estimate {
    /// A value moved into its interval, which is the possible part of some limits.
    pub(crate) fn clamped(value: f64, limits: Limits, possible: (f64, f64)) -> Self {
        let (low, high, impossible) = limits.within(possible);
        Self {
            value: value.clamp(low, high),
            low,
            high,
            standard_error: None,
            identified: true,
            impossible,
            method: limits.method,
        }
    }

    /// A possible value, with an interval that is widened to hold it.
    pub(crate) fn held(value: f64, limits: Limits, possible: (f64, f64)) -> Self {
        let (low, high, impossible) = limits.within(possible);
        let value = value.clamp(possible.0, possible.1);
        let estimate = Self::clamped(value, limits, possible);
        Self { value, low: low.min(value), high: high.max(value), impossible, ..estimate }
    }

    /// Counts from shares, sums from means: the number in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        Self {
            value: self.value * factor,
            low: a.min(b),
            high: a.max(b),
            standard_error: self.standard_error.map(|error| error * factor.abs()),
            ..self
        }
    }

    /// Whether a number lies in the interval.
    pub fn covers(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
}

/// The share of every symbol.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Shares {
    /// How they were estimated.
    pub method: Method,
    /// That in words, with what limits it.
    pub label: String,
    /// Level, coverage and target.
    pub settings: Settings,
    /// How many reports they rest on.
    pub reports: u64,
    /// One estimate per symbol of the input alphabet.
    pub symbols: Vec<Estimate>,
}

impl Shares {
    /// Counts instead of shares: of the respondents, or of a population of the given size.
    pub fn counts(&self, size: u64) -> Vec<Estimate> {
        self.symbols.iter().map(|share| share.scaled(size as f64)).collect()
    }

    /// The values alone.
    pub fn values(&self) -> Vec<f64> {
        self.symbols.iter().map(|share| share.value).collect()
    }
}

/// One number: a mean, a variance, a quantile, a share of several symbols.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// How it was estimated.
    pub method: Method,
    /// That in words, with what limits it.
    pub label: String,
    /// Level, coverage and target.
    pub settings: Settings,
    /// How many reports it rests on.
    pub reports: u64,
    /// The number.
    pub estimate: Estimate,
}
