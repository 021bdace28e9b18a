//! Shares for people: of every symbol, or of neighbouring bins together, which are known better.

use undertone_core::AlphabetView;
use undertone_estimate::{Estimator, Headline};

use super::listed::Listed;
use super::{EstimatedNumber, EstimatedShare};
use crate::Error;
use crate::columns::float;

/// More bins than these are not all listed for people.
const LISTED: usize = 24;
/// More bins than that are shown in about this many groups of neighbours.
const MERGED: usize = 20;

/// Shares for people: of every symbol, or of neighbouring bins together, which are known better.
#[derive(Debug, Clone)]
pub struct ShownShares {
    /// The shares.
    pub shares: Vec<EstimatedShare>,
    /// What the prior assumes of each, if the policies share one.
    pub prior: Option<Vec<f64>>,
    /// The edges of bins.
    pub edges: Option<Vec<f64>>,
    /// How many bins stand together.
    pub together: usize,
}

impl ShownShares {
    pub(super) fn new(
        estimator: &Estimator,
        headline: &Headline,
        listed: &Listed<'_>,
        prior: Option<&[f64]>,
    ) -> Result<Self, Error> {
        let AlphabetView::Bins { edges, .. } = estimator.pool().inputs().view() else {
            return Ok(Self {
                shares: listed.shares(&headline.shares.symbols),
                prior: prior.map(|prior| listed.numbers(prior.to_vec())),
                edges: None,
                together: 1,
            });
        };
        let bins = headline.shares.symbols.len();
        let together = if bins > LISTED { bins.div_ceil(MERGED) } else { 1 };
        let ends: Vec<usize> = (0..bins).step_by(together).chain([bins]).collect();
        let mut shares = Vec::with_capacity(ends.len());
        for pair in ends.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let share: EstimatedNumber = if together == 1 {
                headline.shares.symbols[from].into()
            } else {
                let mut inside = vec![0.0; bins];
                inside[from..to].fill(1.0);
                let answer = estimator.linear(headline.shares.method, &inside);
                answer.map_err(Error::input)?.estimate.into()
            };
            shares.push(EstimatedShare {
                symbol: format!("{} to {}", edges[from], edges[to]),
                share,
            });
        }
        let sums = |prior: &[f64]| {
            let sum = |pair: &[usize]| prior[pair[0]..pair[1]].iter().sum();
            ends.windows(2).map(sum).collect()
        };
        Ok(Self {
            shares,
            prior: prior.map(sums),
            edges: Some(ends.iter().map(|&end| float(edges[end])).collect()),
            together,
        })
    }
}
