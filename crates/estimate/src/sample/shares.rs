//! Shares from unbiased scores, with their design-based covariance.

use super::{Sample, SampleError};
use undertone_numeric::symmetric::Symmetric;

/// Weighted means of score vectors whose mean, given a row's true cell, is 1 at that cell and 0 elsewhere.
#[derive(Clone, Debug)]
pub struct SampleShares {
    /// The weighted means.
    pub values: Vec<f64>,
    /// Their covariance: who was drawn, and how answers were perturbed.
    pub covariance: Symmetric,
    /// For every mean, its variance over that of as many rows drawn simply at random with equal weights.
    pub design_effects: Vec<f64>,
}

impl Sample {
    /// Means of scores that are the same for all rows of a class. In a finite population the variance from who was drawn is
    /// lessened and the one from the perturbation is not: scores u of a share have `E[uuᵀ] - diag E[u]` as the perturbation's own covariance.
    pub fn shares(
        &self,
        width: usize,
        classes: &[u32],
        mut score: impl FnMut(u32, &mut [f64]),
    ) -> Result<SampleShares, SampleError> {
        let (rows, total) = (self.rows as f64, self.total_weight());
        let most = classes.iter().max().map_or(0, |&class| class as usize + 1);
        let (mut weights, mut retained) = (vec![0.0; most], vec![0.0; most]);
        for (row, &class) in classes.iter().enumerate() {
            let weight = self.weight(row);
            weights[class as usize] += weight;
            retained[class as usize] += self.sampling_fraction(row) * weight * weight;
        }
        let mut values = vec![0.0; width];
        let mut squares = vec![0.0; width];
        let mut perturbation = Symmetric::zero(width);
        let mut scores = vec![0.0; width];
        for (class, (&weight, &retained)) in weights.iter().zip(&retained).enumerate() {
            if weight == 0.0 {
                continue;
            }
            scores.fill(0.0);
            score(class as u32, &mut scores);
            for (at, &u) in scores.iter().enumerate() {
                values[at] += weight * u / total;
                squares[at] += weight * u * u / total;
            }
            if retained > 0.0 {
                perturbation.add_outer(&scores, retained);
                scores
                    .iter()
                    .enumerate()
                    .for_each(|(at, u)| perturbation.add(at, at, -retained * u));
            }
        }
        let mut covariance = self.covariance_of_classes(width, classes, |class, out| {
            score(class, out);
            out.iter_mut().zip(&values).for_each(|(u, value)| *u -= value);
        })?;
        covariance.add_scaled(&perturbation, 1.0);
        let mut scaled = Symmetric::zero(width);
        scaled.add_scaled(&covariance, 1.0 / (total * total));
        let effect = |at: usize| {
            let simple = (squares[at] - values[at] * values[at]).max(0.0) / (rows - 1.0).max(1.0);
            // Rows that are all alike leave rounding errors.
            let some = simple > 1e-12 * squares[at] / rows;
            if some { scaled.at(at, at) / simple } else { 1.0 }
        };
        let design_effects = (0..width).map(effect).collect();
        Ok(SampleShares { values, covariance: scaled, design_effects })
    }
}
