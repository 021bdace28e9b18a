//! What a regression says.

use serde::Serialize;
use undertone_estimate::Sample;
use undertone_estimate::regress::{Coefficient, Family, RegressionFit, TermTest, TestKind};
use undertone_numeric::student::student_upper_tail;

use super::RegressRequest;
use crate::answer::Answer;
use crate::{Error, number};

/// A fitted regression.
#[derive(Debug, Clone, Serialize)]
pub struct RegressReport {
    /// The coefficients, in the order of the formula; for several symbols, symbol after symbol.
    pub coefficients: Vec<CoefficientReport>,
    /// The log-likelihood of the reports; none for least squares of a randomised number.
    #[serde(serialize_with = "number::as_optional_value")]
    pub log_likelihood: Option<f64>,
    /// How many rows were fitted.
    pub n: usize,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them were left out because a cell was missing.
    pub missing: u64,
    /// The family.
    pub family: &'static str,
    /// The symbol whose odds a logistic regression explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// How many steps the maximum took.
    pub iterations: usize,
    /// Where the standard errors come from.
    pub errors: &'static str,
    /// The formula.
    pub formula: String,
    /// The probability with which each interval holds its coefficient.
    pub level: f64,
    /// The standard deviation of what a linear model of clear numbers leaves unexplained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_deviation: Option<f64>,
    /// How clusters differ beyond their covariates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_intercepts: Option<RandomInterceptsReport>,
    /// What weights alone do to the variance of a mean, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighting_effect: Option<f64>,
    /// Tests of the terms, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TermTestReport>,
    /// Prevalences or means at the covariates that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<PredictionReport>,
    /// What was supposed, in sentences.
    pub assumptions: Vec<String>,
}

/// One coefficient.
#[derive(Debug, Clone, Serialize)]
pub struct CoefficientReport {
    /// The symbol whose odds against the first it is about, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// What it multiplies.
    pub name: String,
    /// Its value.
    #[serde(serialize_with = "number::as_value")]
    pub estimate: f64,
    /// Its standard error.
    #[serde(serialize_with = "number::as_value")]
    pub std_error: f64,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
    /// The probability of an estimate as far from nought, were the coefficient nought (normal law).
    #[serde(serialize_with = "number::as_value")]
    pub p_value: f64,
    /// Its variance over that of as many rows drawn simply at random, where the sample has a design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design_effect: Option<f64>,
}

/// How clusters differ.
#[derive(Debug, Clone, Serialize)]
pub struct RandomInterceptsReport {
    /// How many clusters there are.
    pub clusters: usize,
    /// The standard deviation of their intercepts.
    #[serde(serialize_with = "number::as_value")]
    pub deviation: f64,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
    /// The probability of a likelihood ratio as large where clusters do not differ.
    #[serde(serialize_with = "number::as_value")]
    pub p_value: f64,
}

/// Whether a term could be left out.
#[derive(Debug, Clone, Serialize)]
pub struct TermTestReport {
    /// The term.
    pub term: String,
    /// `likelihood_ratio` or `wald`.
    pub test: &'static str,
    /// The statistic.
    #[serde(serialize_with = "number::as_value")]
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
    /// The probability of a statistic as large where the term explains nothing.
    #[serde(serialize_with = "number::as_value")]
    pub p_value: f64,
}

/// A prevalence or a mean at given covariates.
#[derive(Debug, Clone, Serialize)]
pub struct PredictionReport {
    /// The covariates, as they were asked for: `age=30,female=1`.
    pub at: String,
    /// The symbol whose prevalence it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The prevalence or the mean.
    #[serde(serialize_with = "number::as_value")]
    pub value: f64,
    /// Its standard error.
    #[serde(serialize_with = "number::as_value")]
    pub std_error: f64,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
}

/// How many rows a file had.
pub(super) struct RowsRead {
    pub(super) rows: u64,
    pub(super) missing: u64,
}

impl RegressReport {
    pub(super) fn new(
        request: &RegressRequest,
        fit: &RegressionFit,
        sample: &Sample,
        read: RowsRead,
    ) -> Result<Self, Error> {
        let mut predictions = Vec::new();
        for covariates in &request.at {
            let given: Vec<(&str, &str)> =
                covariates.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let found = fit.predict(&given).map_err(|error| {
                let words = error.to_string();
                let problem = words.strip_prefix("the prediction").unwrap_or(&words).to_owned();
                Error::field("at", problem)
            })?;
            let words: Vec<String> =
                given.iter().map(|(name, value)| format!("{name}={value}")).collect();
            predictions.extend(found.into_iter().map(|one| PredictionReport {
                at: words.join(","),
                symbol: one.symbol,
                value: one.value,
                std_error: one.standard_error,
                low: one.low,
                high: one.high,
            }));
        }
        let intercepts = fit.random_intercepts.as_ref().map(|found| RandomInterceptsReport {
            clusters: found.clusters,
            deviation: found.deviation,
            low: found.low,
            high: found.high,
            p_value: found.p_value,
        });
        Ok(Self {
            coefficients: {
                let degrees = sample.degrees_of_freedom();
                fit.coefficients.iter().map(|found| coefficient(found, degrees)).collect()
            },
            log_likelihood: fit.log_likelihood,
            n: fit.n,
            rows: read.rows,
            missing: read.missing,
            family: fit.family.word(),
            event: fit.event.clone(),
            iterations: fit.iterations,
            errors: fit.errors.word(),
            formula: request.formula.clone(),
            level: request.level,
            residual_deviation: fit.residual_deviation,
            random_intercepts: intercepts,
            weighting_effect: sample.weights().map(|_| sample.weighting_effect()),
            tests: fit.tests.iter().map(test).collect(),
            predictions,
            assumptions: fit.assumptions.clone(),
        })
    }

    /// What the coefficients are, in a sentence.
    pub fn meaning(&self) -> String {
        match self.family {
            family if family == Family::Logistic.word() => format!(
                "Coefficients are changes of the logarithm of the odds of {}.",
                self.event.as_deref().unwrap_or("yes")
            ),
            family if family == Family::Multinomial.word() => {
                "Coefficients are changes of the logarithm of a symbol's odds against the first."
                    .into()
            }
            _ => "Coefficients are changes of the mean.".into(),
        }
    }
}

impl Answer for RegressReport {
    fn words(&self) -> String {
        let percent = 100.0 * self.level;
        let mut words = format!(
            "{} regression of {} ({} left out), {} errors. {}",
            self.family,
            number::counted(self.n as u64, "row"),
            self.missing,
            self.errors,
            self.meaning()
        );
        for one in &self.coefficients {
            let symbol = one.symbol.as_ref().map_or(String::new(), |symbol| format!("{symbol}: "));
            words += &format!(
                "\n{symbol}{} {:.4}, {percent} % interval {:.4} to {:.4}.",
                one.name, one.estimate, one.low, one.high
            );
        }
        for sentence in &self.assumptions {
            words += &format!("\n{sentence}");
        }
        words
    }
}

fn coefficient(found: &Coefficient, degrees: f64) -> CoefficientReport {
    let away = (found.estimate / found.standard_error).abs();
    CoefficientReport {
        symbol: found.symbol.clone(),
        name: found.name.clone(),
        estimate: found.estimate,
        std_error: found.standard_error,
        low: found.low,
        high: found.high,
        p_value: if away.is_finite() { 2.0 * student_upper_tail(degrees, away) } else { 0.0 },
        design_effect: found.design_effect,
    }
}

fn test(found: &TermTest) -> TermTestReport {
    TermTestReport {
        term: found.term.clone(),
        test: match found.kind {
            TestKind::LikelihoodRatio => "likelihood_ratio",
            TestKind::Wald => "wald",
        },
        statistic: found.statistic,
        degrees: found.degrees,
        p_value: found.p_value,
    }
}
