//! Known margins of the population, and weights that have them.

use super::SampleError;
use super::units::Lump;
use crate::Factor;
use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::symmetric::Symmetric;

/// What is known of the population: the share of every category of one column.
#[derive(Clone, Debug)]
pub struct Margin {
    /// What the column is called.
    pub name: String,
    /// The category of every row.
    pub factor: Factor,
    /// The share of every category, or how many people have it: above nought, in the order of the factor's levels.
    pub shares: Vec<f64>,
}

/// Raking ends when no margin is off by this part of itself.
const CLOSE: f64 = 1e-12;
/// Raking stops here.
const MOST_ROUNDS: usize = 10_000;

impl Margin {
    pub(super) fn check(&self, rows: usize) -> Result<(), SampleError> {
        let wrong =
            |problem: String| Err(SampleError::Margin { margin: self.name.clone(), problem });
        let (levels, found) = (self.factor.levels(), self.factor.codes().len());
        if found != rows {
            return Err(SampleError::Size { what: "categories", expected: rows, found });
        }
        if levels.len() != self.shares.len() {
            return wrong(format!(
                "{} shares for {} categories: give one for each",
                self.shares.len(),
                levels.len()
            ));
        }
        let mut seen = vec![false; levels.len()];
        self.factor.codes().iter().for_each(|&code| seen[code as usize] = true);
        for ((level, &share), seen) in levels.iter().zip(&self.shares).zip(seen) {
            if !(share >= 0.0 && share.is_finite()) {
                return wrong(format!(
                    "the share of {level:?} is {share}: it must be nought or above"
                ));
            }
            if seen && share == 0.0 {
                return wrong(format!(
                    "rows have {level:?}, whose share is nought: leave these rows out, or give its share"
                ));
            }
            if !seen && share > 0.0 {
                return wrong(format!(
                    "no row has {level:?}, whose share is {share}: merge it with another category in data and margin"
                ));
            }
        }
        Ok(())
    }

    /// What every category's weights should add up to.
    fn targets(&self, total: f64) -> Vec<f64> {
        let sum: f64 = self.shares.iter().sum();
        self.shares.iter().map(|share| share / sum * total).collect()
    }

    fn sums(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.shares.len()];
        for (&code, weight) in self.factor.codes().iter().zip(weights) {
            sums[code as usize] += weight;
        }
        sums
    }
}

/// Multiplies weights, margin after margin, until all margins are met.
pub(super) fn rake(weights: &mut [f64], margins: &[Margin]) -> Result<(), SampleError> {
    let total: f64 = weights.iter().sum();
    for _ in 0..MOST_ROUNDS {
        let mut farthest = 0.0f64;
        for margin in margins {
            let factors: Vec<f64> = margin
                .targets(total)
                .into_iter()
                .zip(margin.sums(weights))
                .map(|(target, sum)| if sum > 0.0 { target / sum } else { 1.0 })
                .collect();
            let off = factors.iter().map(|factor| (factor - 1.0).abs()).fold(0.0, f64::max);
            farthest = farthest.max(off);
            for (&code, weight) in margin.factor.codes().iter().zip(weights.iter_mut()) {
                *weight *= factors[code as usize];
            }
        }
        if farthest <= CLOSE {
            return Ok(());
        }
    }
    let names: Vec<&str> = margins.iter().map(|margin| margin.name.as_str()).collect();
    Err(SampleError::Margin {
        margin: names.join(", "),
        problem: format!(
            "no weights met all margins in {MOST_ROUNDS} rounds: some combination of categories that they need has no rows; leave one margin out, or merge categories"
        ),
    })
}

/// The margins weights were raked to: what they explain of a score no longer varies from sample to sample.
#[derive(Clone, Debug)]
pub(super) struct Calibration {
    margins: Vec<Margin>,
    /// Where each margin's categories begin among those of all.
    starts: Vec<usize>,
    size: usize,
}

impl Calibration {
    pub(super) fn new(margins: Vec<Margin>) -> Self {
        let mut size = 0;
        let starts = margins
            .iter()
            .map(|margin| {
                let start = size;
                size += margin.shares.len();
                start
            })
            .collect();
        Self { margins, starts, size }
    }

    /// The category of a row in every margin.
    pub(super) fn levels(&self, row: usize) -> Vec<u32> {
        self.margins.iter().map(|margin| margin.factor.codes()[row]).collect()
    }

    /// A row's categories among those of all margins.
    fn places(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let codes = self.margins.iter().map(move |margin| margin.factor.codes()[row] as usize);
        self.starts.iter().zip(codes).map(|(start, code)| start + code)
    }

    /// The weighted regression of scores on categories: for every category a vector of coefficients.
    pub(super) fn explained(
        &self,
        width: usize,
        lumps: &[Lump],
        mut score: impl FnMut(usize, &mut [f64]),
    ) -> Vec<Vec<f64>> {
        let mut moments = Symmetric::zero(self.size);
        let mut products = vec![vec![0.0; self.size]; width];
        let mut scores = vec![0.0; width];
        for lump in lumps {
            let row = lump.row as usize;
            scores.fill(0.0);
            score(row, &mut scores);
            for a in self.places(row) {
                self.places(row).for_each(|b| moments.add(a, b, lump.weight));
                for (product, score) in products.iter_mut().zip(&scores) {
                    product[a] += lump.weight * score;
                }
            }
        }
        // Categories of every margin sum to one, so one of each but the first depends on the others.
        let factor = Cholesky::skipping(self.size, |i, j| moments.at(i, j), 1e-11);
        let columns: Vec<Vec<f64>> = products.iter().map(|product| factor.solve(product)).collect();
        (0..self.size).map(|a| columns.iter().map(|column| column[a]).collect()).collect()
    }

    /// Takes what the margins explain out of a row's scores.
    pub(super) fn subtract(&self, explained: &[Vec<f64>], row: usize, scores: &mut [f64]) {
        for a in self.places(row) {
            scores.iter_mut().zip(&explained[a]).for_each(|(score, part)| *score -= part);
        }
    }
}
