//! Standard errors.

use super::model::Model;
use super::newton::{Totals, inverse};
use super::workspace::Workspace;
use crate::{Error, Sample};
use undertone_numeric::symmetric::Symmetric;

/// Where standard errors come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errors {
    /// The information averaged over all reports that the designs can give.
    Expected,
    /// The curvature of the log-likelihood at its maximum.
    Observed,
    /// The sum of the squares of the rows' scores.
    Opg,
    /// The curvature around the scores' covariance: right for coefficients of the best model of its kind even where the model
    /// is wrong, and for samples with weights, strata and clusters.
    Robust,
}

impl Errors {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Observed => "observed",
            Self::Opg => "opg",
            Self::Robust => "robust",
        }
    }
}

/// Which errors a fit has: those that were asked for, if they exist, or the first that do.
pub(super) fn chosen(
    asked: Option<Errors>,
    sample: &Sample,
    expected: bool,
) -> Result<Errors, Error> {
    let refuse = |problem: &str| Err(Error::unanswerable("errors", problem));
    match asked {
        Some(Errors::Robust) => Ok(Errors::Robust),
        None if !sample.is_simple() => Ok(Errors::Robust),
        Some(_) if !sample.is_simple() => refuse(
            "a sample with weights, strata, clusters or a finite population has robust errors only: ask for robust",
        ),
        None => Ok(if expected { Errors::Expected } else { Errors::Observed }),
        Some(Errors::Expected) if !expected => refuse(
            "the expected information would sum over more reports than can be listed, or over a continuous outcome: ask for observed",
        ),
        Some(errors) => Ok(errors),
    }
}

/// The covariance of all parameters.
pub(super) fn covariance(
    model: &Model,
    at: &[f64],
    totals: &Totals,
    errors: Errors,
    sample: &Sample,
) -> Result<Symmetric, Error> {
    let all: Vec<usize> = (0..model.size()).collect();
    let inverted = |information: &Symmetric| inverse(information, &all).ok_or_else(flat);
    match errors {
        Errors::Expected => inverted(&model.expected_information(at)),
        Errors::Observed => inverted(&totals.information),
        Errors::Opg => {
            let mut squares = Symmetric::zero(model.size());
            let (mut work, mut score) = (Workspace::new(model), vec![0.0; model.size()]);
            for row in 0..sample.rows() {
                model.row_score(at, row, &mut work, &mut score);
                squares.add_outer(&score, 1.0);
            }
            inverted(&squares)
        }
        Errors::Robust => {
            let mut work = Workspace::new(model);
            let score = |row: usize, out: &mut [f64]| model.row_score(at, row, &mut work, out);
            let mut middle = sample.covariance_of_total(model.size(), score)?;
            if sample.population().is_some() {
                add_perturbation(model, at, sample, &mut middle);
            }
            // The information was summed with weights that add up to the rows.
            let scale = sample.rows() as f64 / sample.total_weight();
            Ok(sandwich(&inverted(&totals.information)?, &middle, scale * scale))
        }
    }
}

/// In a finite population sampling many lessens what comes from who was drawn, not what comes from the perturbation.
fn add_perturbation(model: &Model, at: &[f64], sample: &Sample, middle: &mut Symmetric) {
    let mut work = Workspace::new(model);
    let mut score = vec![0.0; model.size()];
    for row in 0..sample.rows() {
        let weight = sample.weight(row);
        let share = weight * weight * sample.sampling_fraction(row);
        if model.has_expected_information() {
            work.load(model, at, row);
            work.add_perturbation(model, row, share, middle);
        } else {
            // No less than the perturbation's part.
            model.row_score(at, row, &mut work, &mut score);
            middle.add_outer(&score, share);
        }
    }
}

/// `scale` A M A, for symmetric matrices.
pub(super) fn sandwich(bread: &Symmetric, middle: &Symmetric, scale: f64) -> Symmetric {
    let size = bread.size();
    let mut half = vec![0.0; size * size];
    for i in 0..size {
        for k in 0..size {
            half[i * size + k] = (0..size).map(|j| bread.at(i, j) * middle.at(j, k)).sum();
        }
    }
    let mut out = Symmetric::zero(size);
    for i in 0..size {
        for k in 0..size {
            let cell: f64 = (0..size).map(|j| half[i * size + j] * bread.at(k, j)).sum();
            out.add(i, k, scale * cell);
        }
    }
    out
}

fn flat() -> Error {
    Error::unanswerable(
        "errors",
        "the information is singular: the reports do not determine all coefficients; take terms out, or gather more rows",
    )
}
