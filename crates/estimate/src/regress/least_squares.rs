//! Linear models of a randomised outcome, by least squares.
//!
//! Every report r of y has a value v(r) with E[v(r) | y] = y. Given the clear columns z and the reports of the randomised
//! predictors its mean is βᵀd, d being the mean of the row of the model matrix over what these reports make of the predictors,
//! since the outcome's randomisation has nothing to do with theirs. So least squares of v on d is consistent for a linear mean,
//! whatever the outcome's law. Errors stack the equations of β on the scores of the predictors' model.

use super::errors::sandwich;
use super::model::Model;
use super::newton::{Climb, inverse};
use super::prepared::Prepared;
use super::workspace::Workspace;
use crate::evidence::Inverse;
use crate::{Error, Evidence, Sample};
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// Coefficients and their covariance.
pub(super) struct LeastSquares {
    pub(super) coefficients: Vec<f64>,
    pub(super) covariance: Symmetric,
    /// The covariance, had the rows been drawn simply at random.
    pub(super) plain: Symmetric,
}

/// Fits `values` of the symbols of the outcome; `model` has the randomised predictors alone, at their maximum.
pub(super) fn fit(
    name: &str,
    model: &Model,
    climb: &Climb,
    evidence: &Evidence,
    values: &[f64],
    prepared: &Prepared,
    sample: &Sample,
) -> Result<LeastSquares, Error> {
    let scores = values_of_codes(name, evidence, values)?;
    let (width, nuisance) = (model.matrix.width(), model.size());
    let weight = |row: usize| prepared.weights.as_ref().map_or(1.0, |weights| weights[row]);
    let value = |row: usize| scores[evidence.codes()[row] as usize];
    let offset = |row: usize| model.matrix.offset(row);
    let mut work = Workspace::new(model);
    let mut mean = vec![0.0; width];
    let (mut gram, mut right) = (Symmetric::zero(width), vec![0.0; width]);
    for row in 0..sample.rows() {
        calibrated(model, climb, row, &mut work, &mut mean);
        gram.add_outer(&mean, weight(row));
        let target = weight(row) * (value(row) - offset(row));
        right.iter_mut().zip(&mean).for_each(|(sum, cell)| *sum += target * cell);
    }
    let columns: Vec<usize> = (0..width).collect();
    let bread = inverse(&gram, &columns).ok_or_else(|| {
        Error::unanswerable(
            "the regression",
            "the reports of the predictors do not determine the coefficients: take terms out",
        )
    })?;
    let coefficients: Vec<f64> = bread.rows().map(|row| dot(row, &right)).collect();

    // How β's equations move with the predictors' model: -Σ ∂/∂γ d (v - βᵀd).
    let mut cross = vec![0.0; width * nuisance];
    if nuisance > 0 {
        let mut spread = vec![0.0; width * nuisance];
        for row in 0..sample.rows() {
            calibrated(model, climb, row, &mut work, &mut mean);
            covariances(model, &mut work, &mean, &mut spread);
            let residual = value(row) - offset(row) - dot(&mean, &coefficients);
            for at in 0..nuisance {
                let moved: f64 =
                    (0..width).map(|i| coefficients[i] * spread[i * nuisance + at]).sum();
                for i in 0..width {
                    cross[i * nuisance + at] -=
                        weight(row) * (residual * spread[i * nuisance + at] - mean[i] * moved);
                }
            }
        }
    }
    let parameters: Vec<usize> = (0..nuisance).collect();
    let of_nuisance =
        inverse(&climb.totals.information, &parameters).unwrap_or(Symmetric::zero(nuisance));
    // A row's influence on β, before the bread: its own equation less what it does to the predictors' model.
    let mut whole = vec![0.0; nuisance];
    let mut influence = |row: usize, out: &mut [f64]| {
        calibrated(model, climb, row, &mut work, &mut mean);
        let residual = value(row) - offset(row) - dot(&mean, &coefficients);
        out.iter_mut().zip(&mean).for_each(|(out, cell)| *out = residual * cell);
        if nuisance > 0 {
            whole.fill(0.0);
            work.add_score(model, 1.0, &mut whole);
            let shift: Vec<f64> = of_nuisance.rows().map(|row| dot(row, &whole)).collect();
            for (i, out) in out.iter_mut().enumerate() {
                *out -= dot(&cross[i * nuisance..][..nuisance], &shift);
            }
        }
    };
    let mut middle = sample.covariance_of_total(width, &mut influence)?;
    if sample.population().is_some() {
        // What comes from the perturbation is not lessened by sampling many; the rows' own influences are no less than it.
        let mut own = vec![0.0; width];
        for row in 0..sample.rows() {
            influence(row, &mut own);
            let weight = sample.weight(row);
            middle.add_outer(&own, weight * weight * sample.sampling_fraction(row));
        }
    }
    let scale = sample.rows() as f64 / sample.total_weight();
    let covariance = sandwich(&bread, &middle, scale * scale);
    let simple = Sample::simple(sample.rows());
    let plain = if sample.is_simple() {
        covariance.clone()
    } else {
        let middle = simple.covariance_of_total(width, |row, out| {
            influence(row, out);
            out.iter_mut().for_each(|part| *part *= weight(row).sqrt());
        })?;
        sandwich(&bread, &middle, 1.0)
    };
    Ok(LeastSquares { coefficients, covariance, plain })
}

/// Works out what a row's reports make of the predictors, and the mean of its row of the model matrix.
fn calibrated(model: &Model, climb: &Climb, row: usize, work: &mut Workspace, mean: &mut [f64]) {
    work.load(model, &climb.at, row);
    work.weigh(model, &climb.at, row);
    mean.fill(0.0);
    for combination in 0..model.combinations.count() {
        let share = work.posterior()[combination];
        mean.iter_mut().zip(work.cells(combination)).for_each(|(mean, cell)| *mean += share * cell);
    }
}

/// How the mean of a row of the model matrix moves with the predictors' model: its covariance with the combinations' scores.
fn covariances(model: &Model, work: &mut Workspace, mean: &[f64], spread: &mut [f64]) {
    let nuisance = model.size();
    spread.fill(0.0);
    for combination in 0..model.combinations.count() {
        let share = work.posterior()[combination];
        let away: Vec<f64> =
            work.cells(combination).iter().zip(mean).map(|(cell, mean)| cell - mean).collect();
        let score = work.score_of(model, combination);
        for (i, away) in away.iter().enumerate() {
            let own = &mut spread[i * nuisance..][..nuisance];
            own.iter_mut().zip(score).for_each(|(sum, score)| *sum += share * away * score);
        }
    }
}

/// For every code, the value whose mean given the true symbol is the symbol's.
fn values_of_codes(name: &str, evidence: &Evidence, values: &[f64]) -> Result<Vec<f64>, Error> {
    let mut inverses = Vec::with_capacity(evidence.designs().len());
    for design in evidence.designs() {
        let inverse = Inverse::new(design)?;
        if let Some(at) = inverse.determined().iter().position(|known| !known) {
            return Err(super::reports::singular(name, &evidence.levels()[at]));
        }
        inverses.push(inverse);
    }
    let value = |code: u32| {
        let reading = evidence.reading(code);
        dot(&inverses[reading.design as usize].scores(reading), values)
    };
    Ok((0..evidence.distinct() as u32).map(value).collect())
}
