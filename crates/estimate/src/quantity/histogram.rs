//! Shares over numbers.

use crate::answer::Estimate;
use crate::estimator::number;
use crate::settings::{Method, Settings};
use crate::{Error, Estimator};
use serde::Serialize;
use undertone_core::AlphabetView;

/// A bar of a histogram.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Bar {
    /// Where it begins; for points, the point.
    pub from: f64,
    /// Where it ends; for points, the point.
    pub to: f64,
    /// The value that stands for it.
    pub value: f64,
    /// Its share.
    pub share: Estimate,
    /// Its share per unit of width; `None` for points.
    pub density: Option<Estimate>,
}

/// Shares over numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Histogram {
    /// How the shares were estimated.
    pub method: Method,
    /// Level, coverage and target.
    pub settings: Settings,
    /// The bars, in order.
    pub bars: Vec<Bar>,
}

impl Estimator {
    /// Shares with the numbers or bins they belong to.
    pub fn histogram(&self, method: Method) -> Result<Histogram, Error> {
        let values = self.numbers("a histogram")?;
        let shares = self.shares(method)?;
        let edges: Option<Vec<f64>> = match self.pool().inputs().view() {
            AlphabetView::Bins { edges, .. } => Some(edges.iter().copied().map(number).collect()),
            AlphabetView::Indices(_) | AlphabetView::Names(_) | AlphabetView::Points(_) => None,
        };
        let bar = |(x, share): (usize, &Estimate)| {
            let ends = edges.as_ref().map(|edges| (edges[x], edges[x + 1]));
            let (from, to) = ends.unwrap_or((values[x], values[x]));
            let density = ends.map(|(from, to)| share.scaled(1.0 / (to - from)));
            Bar { from, to, value: values[x], share: *share, density }
        };
        let bars = shares.symbols.iter().enumerate().map(bar).collect();
        Ok(Histogram { method, settings: shares.settings, bars })
    }
}
