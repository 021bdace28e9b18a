//! What a regression is asked.

use undertone_estimate::regress::{Errors, Family, PredictorLaw};

use crate::Error;
use crate::observations::{ReportedUnder, Sampling};

/// A formula, how its columns were reported, how rows were drawn, and what to say beside the coefficients.
#[derive(Debug, Clone)]
pub struct RegressRequest {
    /// What is explained by what: `y ~ age + female + age:female`.
    pub formula: String,
    /// Those of its columns that are randomised, and under what.
    pub randomised: Vec<(String, ReportedUnder)>,
    /// The family; it follows from the outcome unless it is given.
    pub family: Option<Family>,
    /// The symbol a logistic regression sets against the rest; the last of two unless it is given.
    pub event: Option<String>,
    /// Where standard errors come from; expected information where there is one unless it is given, robust for designed samples.
    pub errors: Option<Errors>,
    /// What randomised predictors are expected to be, given the clear ones.
    pub predictors: PredictorLaw,
    /// How rows were drawn.
    pub sampling: Sampling,
    /// Whether every cluster has an intercept of its own; else clusters make errors robust.
    pub random_intercept: bool,
    /// The probability with which each interval holds its coefficient.
    pub level: f64,
    /// Whether terms are tested.
    pub tests: bool,
    /// Covariates, column by column, at which prevalences or means are predicted.
    pub at: Vec<Vec<(String, String)>>,
}

impl RegressRequest {
    /// Clear columns of rows that were drawn simply at random; intervals at 95 %.
    pub fn new(formula: impl Into<String>) -> Self {
        Self {
            formula: formula.into(),
            randomised: Vec::new(),
            family: None,
            event: None,
            errors: None,
            predictors: PredictorLaw::Logit,
            sampling: Sampling::default(),
            random_intercept: false,
            level: 0.95,
            tests: false,
            at: Vec::new(),
        }
    }
}

/// Reads the name of a family: `logistic`, `multinomial` or `linear`.
pub fn family(text: &str) -> Result<Family, Error> {
    match text {
        "logistic" => Ok(Family::Logistic),
        "multinomial" => Ok(Family::Multinomial),
        "linear" => Ok(Family::Linear),
        other => {
            let problem = format!("is {other:?}: give logistic, multinomial or linear");
            Err(Error::field("family", problem))
        }
    }
}

/// Reads the name of a kind of standard errors: `expected`, `observed`, `opg` or `robust`.
pub fn errors(text: &str) -> Result<Errors, Error> {
    match text {
        "expected" => Ok(Errors::Expected),
        "observed" => Ok(Errors::Observed),
        "opg" => Ok(Errors::Opg),
        "robust" => Ok(Errors::Robust),
        other => {
            let problem = format!("is {other:?}: give expected, observed, opg or robust");
            Err(Error::field("errors", problem))
        }
    }
}

/// Reads the name of what randomised predictors are expected to be: `logit` or `independent`.
pub fn predictors(text: &str) -> Result<PredictorLaw, Error> {
    match text {
        "logit" => Ok(PredictorLaw::Logit),
        "independent" => Ok(PredictorLaw::Independent),
        other => {
            let problem = format!("is {other:?}: give logit or independent");
            Err(Error::field("predictors", problem))
        }
    }
}
