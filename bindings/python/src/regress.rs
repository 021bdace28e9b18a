//! Frames of people: regressions.

use pyo3::prelude::*;
use undertone::regress::{RegressRequest, errors, family, predictors, regress_of};

use crate::ask::{answer, asked};
use crate::errors::guarded;
use crate::policy::Policy;
use crate::survey::{DesignMap, Drawn, People, reported_under};

/// What a regression is asked beside its formula.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    family: Option<String>,
    #[pyo3(item)]
    event: Option<String>,
    #[pyo3(item)]
    errors: Option<String>,
    #[pyo3(item)]
    predictors: String,
    #[pyo3(item)]
    random_intercept: bool,
    #[pyo3(item)]
    tests: bool,
    #[pyo3(item)]
    at: Vec<Vec<(String, String)>>,
    #[pyo3(item)]
    level: f64,
}

/// The columns a formula names, the outcome first.
#[pyfunction]
pub(crate) fn formula_columns(py: Python<'_>, formula: String) -> PyResult<Vec<String>> {
    asked(py, || RegressRequest::new(formula).columns())
}

/// A regression on a frame whose outcome, predictors or both are randomised.
#[pyfunction]
#[pyo3(signature = (people, formula, *, randomised, drawn, options, policy_by = None))]
pub(crate) fn regress(
    py: Python<'_>,
    people: People<'_>,
    formula: String,
    randomised: Vec<(String, PyRef<'_, Policy>)>,
    drawn: Drawn,
    options: Options,
    policy_by: Option<DesignMap<'_>>,
) -> PyResult<String> {
    let randomised = reported_under(&randomised, policy_by.as_ref());
    let request = asked(py, || {
        Ok(RegressRequest {
            formula,
            randomised,
            family: options.family.as_deref().map(family).transpose()?,
            event: options.event,
            errors: options.errors.as_deref().map(errors).transpose()?,
            predictors: predictors(&options.predictors)?,
            sampling: drawn.sampling()?,
            random_intercept: options.random_intercept,
            level: options.level,
            tests: options.tests,
            at: options.at,
        })
    })?;
    let wanted = asked(py, || request.wanted())?;
    let read = guarded(|| people.observed(&wanted))?;
    answer(py, || regress_of(read?, &request))
}
