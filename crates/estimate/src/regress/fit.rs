//! A fitted regression.

use super::coding::{Coding, INTERCEPT, Levels};
use super::errors::{self, Errors};
use super::intercepts::RandomIntercepts;
use super::least_squares::{self, LeastSquares};
use super::model::{Model, Outcome, PredictorModel};
use super::newton::{Climb, End, Objective, Totals, inverse, maximise};
use super::prepared::{Prepared, Target};
use super::reports::Reports;
use super::rows::Rows;
use super::variables::Variables;
use super::{Family, PredictorLaw, Regression};
use crate::{Error, Sample};
use std::ops::Range;
use undertone_numeric::gamma::chi_squared_upper_tail;
use undertone_numeric::student::{student_quantile, variance_ratio_upper_tail};
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// One coefficient with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficient {
    /// The symbol whose odds it is about, where there are several.
    pub symbol: Option<String>,
    /// What it multiplies.
    pub name: String,
    /// Its value.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// Its variance over that of as many rows drawn simply at random, where the sample has a design.
    pub design_effect: Option<f64>,
}

/// How a term was tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestKind {
    /// Twice the log-likelihood that is lost without the term.
    LikelihoodRatio,
    /// The term's coefficients against their covariance.
    Wald,
}

/// Whether a term could be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct TermTest {
    /// The term.
    pub term: String,
    /// Which test.
    pub kind: TestKind,
    /// The statistic, χ² where the term explains nothing.
    pub statistic: f64,
    /// How many coefficients the term has.
    pub degrees: usize,
    /// The probability of a statistic as large where the term explains nothing.
    pub p_value: f64,
}

/// A regression's coefficients, how sure they are, and what was supposed.
#[derive(Clone, Debug)]
pub struct RegressionFit {
    /// The family, asked for or found.
    pub family: Family,
    /// The symbol a logistic regression sets against the rest.
    pub event: Option<String>,
    /// The coefficients in the order of the formula; for several symbols, symbol after symbol.
    pub coefficients: Vec<Coefficient>,
    /// The log-likelihood of the reports at the maximum, rows weighted as the sample says with a mean of 1; none for least squares.
    pub log_likelihood: Option<f64>,
    /// How many rows there are.
    pub n: usize,
    /// How many steps the maximum took.
    pub iterations: usize,
    /// Where the standard errors come from.
    pub errors: Errors,
    /// The standard deviation of what a linear model leaves unexplained; none where the outcome is randomised.
    pub residual_deviation: Option<f64>,
    /// How people differ beyond their covariates, where that was asked for.
    pub random_intercepts: Option<RandomIntercepts>,
    /// Tests of the terms, where they were asked for.
    pub tests: Vec<TermTest>,
    /// What was supposed, in sentences.
    pub assumptions: Vec<String>,
    pub(super) covariance: Symmetric,
    pub(super) quantile: f64,
    pub(super) coding: Coding,
    pub(super) levels: Levels,
    pub(super) symbols: Vec<String>,
}

impl RegressionFit {
    /// The covariance of two coefficients, by their places in the list.
    pub fn covariance(&self, one: usize, other: usize) -> f64 {
        self.covariance.at(one, other)
    }

    /// Compares variances with those of a simple sample.
    fn add_design_effects(&mut self, simple: &Symmetric) {
        for (at, one) in self.coefficients.iter_mut().enumerate() {
            one.design_effect = Some(self.covariance.at(at, at) / simple.at(at, at));
        }
    }
}

impl<'a> Prepared<'a> {
    pub(super) fn fit(
        &'a self,
        asked: &Regression,
        variables: &'a Variables,
        sample: &Sample,
    ) -> Result<RegressionFit, Error> {
        let name = asked.formula.outcome();
        let outcome = match &self.target {
            Target::Event { evidence, symbol } => {
                Outcome::Classes(Reports::of_event(name, evidence.get(), *symbol)?)
            }
            Target::Classes(evidence) => {
                Outcome::Classes(Reports::of_symbols(name, evidence.get())?)
            }
            Target::Numbers(numbers) => Outcome::Number(numbers),
            Target::Reports { .. } => Outcome::Nothing,
        };
        let (model, scales) = self.model(outcome, variables)?;
        let all: Vec<usize> = (0..model.size()).collect();
        let start = self.start(&model);
        let climb = maximise(&model, start, &all, &scales);
        self.check(&climb, &scales, model.equations())?;
        if let Some(clusters) = &asked.clusters {
            return self.fit_intercepts(asked, &model, &climb, scales, clusters, sample);
        }
        if let Target::Reports { evidence, values } = &self.target {
            let fitted = least_squares::fit(name, &model, &climb, evidence, values, self, sample)?;
            return self.of_least_squares(asked, sample, fitted);
        }
        let kind = errors::chosen(asked.errors, sample, model.has_expected_information())?;
        let covariance = errors::covariance(&model, &climb.at, &climb.totals, kind, sample)?;
        let mut fit = self.finished(asked, sample, &climb.at, covariance, kind);
        fit.log_likelihood = Some(climb.totals.log_likelihood);
        fit.iterations = climb.iterations;
        if let Outcome::Number(_) = model.outcome {
            fit.residual_deviation = Some(climb.at[model.matrix.width()].exp());
        }
        if !sample.is_simple()
            && let Some(plain) = inverse(&climb.totals.information, &all)
        {
            fit.add_design_effects(&plain);
        }
        fit.assumptions = self.assumptions(asked, sample);
        if asked.tests && sample.is_simple() && kind != Errors::Robust {
            fit.tests = self.likelihood_ratios(&model, &climb, &scales, model.equations())?;
        } else if asked.tests {
            fit.tests = self.wald_tests(&fit, model.equations(), sample.degrees_of_freedom());
        }
        Ok(fit)
    }

    /// The likelihood of the rows, and how far each parameter moves a linear predictor.
    fn model(
        &'a self,
        outcome: Outcome<'a>,
        variables: &'a Variables,
    ) -> Result<(Model<'a>, Vec<f64>), Error> {
        let matrix = self.matrix(variables)?;
        let mut predictors = Vec::with_capacity(self.predictors.len());
        for ((evidence, coding), hidden) in self.predictors.iter().zip(&self.combinations.hidden) {
            let reports = Reports::of_symbols(&hidden.name, evidence)?;
            let matrix = super::matrix::ModelMatrix::new(
                coding,
                variables,
                &self.levels,
                &self.combinations,
            )?;
            predictors.push(PredictorModel { reports, matrix });
        }
        let count = variables.rows();
        // A linear outcome is read row by row: its numbers seldom repeat.
        let rows = if let Outcome::Classes(_) = outcome {
            let matrices: Vec<_> =
                [&matrix].into_iter().chain(predictors.iter().map(|one| &one.matrix)).collect();
            let mut reports: Vec<_> = predictors.iter().map(|one| &one.reports).collect();
            if let Outcome::Classes(own) = &outcome {
                reports.push(own);
            }
            Rows::grouped(count, self.weights.clone(), &matrices, &reports)
        } else {
            Rows::each(count, self.weights.clone())
        };
        let mut columns = matrix.scales(&self.names(), &rows)?;
        let combinations = self.combinations.clone();
        let model = Model { outcome, matrix, predictors, combinations, rows };
        model.check_size()?;
        if let Outcome::Number(numbers) = model.outcome {
            let deviation = spread(numbers).1;
            columns.iter_mut().for_each(|scale| *scale /= deviation);
        }
        let mut scales = Vec::with_capacity(model.size());
        (0..model.equations()).for_each(|_| scales.extend(&columns));
        scales.resize(model.own(), 1.0);
        for (one, (_, coding)) in model.predictors.iter().zip(&self.predictors) {
            let names: Vec<String> =
                coding.columns.iter().map(|column| column.name.clone()).collect();
            let own = one.matrix.scales(&names, &model.rows)?;
            (1..one.reports.classes()).for_each(|_| scales.extend(&own));
        }
        Ok((model, scales))
    }

    /// Where climbing begins: no effects, the mean and the standard deviation of a number.
    fn start(&self, model: &Model) -> Vec<f64> {
        let mut start = vec![0.0; model.size()];
        if let Outcome::Number(numbers) = model.outcome {
            let (mean, deviation) = spread(numbers);
            if self.coding.terms.first().is_some_and(|(term, _)| term == INTERCEPT) {
                start[0] = mean;
            }
            start[model.matrix.width()] = deviation.ln();
        }
        start
    }

    /// Refuses a fit without a maximum, with the terms that run away.
    pub(super) fn check(
        &self,
        climb: &Climb,
        scales: &[f64],
        equations: usize,
    ) -> Result<(), Error> {
        let step = match &climb.end {
            End::Converged => return Ok(()),
            End::Stuck => {
                return Err(Error::unanswerable(
                    "the regression",
                    format!(
                        "no maximum was found in {} steps: take terms out, or measure large numbers in larger units",
                        climb.iterations
                    ),
                ));
            }
            End::Runaway(step) => step,
        };
        let lengths: Vec<f64> = step.iter().zip(scales).map(|(step, scale)| step * scale).collect();
        let longest = lengths.iter().fold(0.0, |longest: f64, length| longest.max(length.abs()));
        let names = self.names();
        let width = names.len();
        let mut running: Vec<String> = Vec::new();
        for (at, length) in
            lengths.iter().enumerate().filter(|(_, length)| length.abs() > 0.2 * longest)
        {
            let way = if *length > 0.0 { "infinity" } else { "minus infinity" };
            running.push(if at < equations * width {
                format!("{} to {way}", names[at % width])
            } else {
                "a share of a randomised predictor to nought".to_owned()
            });
        }
        running.dedup();
        Err(Error::unanswerable(
            "the regression",
            format!(
                "there is no finite maximum (perfect separation): the likelihood keeps rising as coefficients run away ({}); in some group the outcome is always or never what the reports say; take the term out, merge its categories, or gather more rows",
                running.join(", ")
            ),
        ))
    }

    /// The places of a term's coefficients.
    fn places(&self, range: &Range<usize>, equations: usize) -> Vec<usize> {
        let width = self.coding.columns.len();
        (0..equations).flat_map(|at| range.clone().map(move |column| at * width + column)).collect()
    }

    /// What the log-likelihood loses without each term.
    pub(super) fn likelihood_ratios(
        &self,
        objective: &impl Objective,
        climb: &Climb,
        scales: &[f64],
        equations: usize,
    ) -> Result<Vec<TermTest>, Error> {
        let mut tests = Vec::new();
        for (term, range) in self.coding.terms.iter().filter(|(term, _)| term != INTERCEPT) {
            let dropped = self.places(range, equations);
            let free: Vec<usize> = (0..climb.at.len()).filter(|at| !dropped.contains(at)).collect();
            let mut start = climb.at.clone();
            dropped.iter().for_each(|&at| start[at] = 0.0);
            let without = maximise(objective, start, &free, scales);
            self.check(&without, scales, equations)?;
            let lost = climb.totals.log_likelihood - without.totals.log_likelihood;
            let kind = TestKind::LikelihoodRatio;
            tests.push(TermTest::new(term, kind, (2.0 * lost).max(0.0), dropped.len()));
        }
        Ok(tests)
    }

    fn wald_tests(
        &self,
        fit: &RegressionFit,
        equations: usize,
        degrees_of_freedom: f64,
    ) -> Vec<TermTest> {
        let terms = self.coding.terms.iter().filter(|(term, _)| term != INTERCEPT);
        let test = |(term, range): &(String, Range<usize>)| {
            let places = self.places(range, equations);
            let statistic = wald(fit, &places);
            let above = places.len() as f64;
            // Few clusters are few deviations: the statistic over its degrees is a ratio of variances.
            let p_value =
                variance_ratio_upper_tail(above, degrees_of_freedom, statistic / above.max(1.0));
            TermTest { p_value, ..TermTest::new(term, TestKind::Wald, statistic, places.len()) }
        };
        terms.map(test).collect()
    }

    fn of_least_squares(
        &self,
        asked: &Regression,
        sample: &Sample,
        fitted: LeastSquares,
    ) -> Result<RegressionFit, Error> {
        if asked.errors.is_some_and(|errors| errors != Errors::Robust) {
            return Err(Error::unanswerable(
                "errors",
                "least squares of a randomised outcome has no likelihood: ask for robust errors",
            ));
        }
        let LeastSquares { coefficients, covariance, plain } = fitted;
        let mut fit = self.finished(asked, sample, &coefficients, covariance, Errors::Robust);
        fit.iterations = 1;
        if !sample.is_simple() {
            fit.add_design_effects(&plain);
        }
        fit.assumptions = self.assumptions(asked, sample);
        if asked.tests {
            fit.tests = self.wald_tests(&fit, 1, sample.degrees_of_freedom());
        }
        Ok(fit)
    }

    /// The coefficients of the outcome with their intervals.
    pub(super) fn finished(
        &self,
        asked: &Regression,
        sample: &Sample,
        at: &[f64],
        covariance: Symmetric,
        errors: Errors,
    ) -> RegressionFit {
        let width = self.coding.columns.len();
        let quantile =
            student_quantile(sample.degrees_of_freedom(), (1.0 - asked.confidence) / 2.0);
        let levels = match &self.target {
            Target::Event { evidence, .. } | Target::Classes(evidence) => {
                evidence.get().levels().to_vec()
            }
            Target::Numbers(_) | Target::Reports { .. } => Vec::new(),
        };
        let (event, symbols) = match &self.target {
            Target::Event { symbol, .. } => {
                (Some(levels[*symbol].clone()), vec![levels[*symbol].clone()])
            }
            Target::Classes(_) => (None, levels),
            _ => (None, Vec::new()),
        };
        let equations = if self.family == Family::Multinomial { symbols.len() - 1 } else { 1 };
        let coefficient = |place: usize| {
            let (estimate, error) = (at[place], covariance.at(place, place).max(0.0).sqrt());
            Coefficient {
                symbol: (self.family == Family::Multinomial)
                    .then(|| symbols[place / width + 1].clone()),
                name: self.coding.columns[place % width].name.clone(),
                estimate,
                standard_error: error,
                low: estimate - quantile * error,
                high: estimate + quantile * error,
                design_effect: None,
            }
        };
        RegressionFit {
            family: self.family,
            event,
            coefficients: (0..equations * width).map(coefficient).collect(),
            log_likelihood: None,
            n: sample.rows(),
            iterations: 0,
            errors,
            residual_deviation: None,
            random_intercepts: None,
            tests: Vec::new(),
            assumptions: Vec::new(),
            covariance,
            quantile,
            coding: self.coding.clone(),
            levels: self.levels.without_rows(),
            symbols,
        }
    }

    pub(super) fn assumptions(&self, asked: &Regression, sample: &Sample) -> Vec<String> {
        let name = asked.formula.outcome();
        let mut sentences = Vec::new();
        match &self.target {
            Target::Numbers(_) => sentences.push(format!(
                "{name} has normal errors of one standard deviation around a mean that is linear in the terms."
            )),
            Target::Reports { .. } => sentences.push(format!(
                "The mean of {name} is linear in the terms; nothing else is supposed of it. Every report stands for a value whose mean is the true number, and least squares with robust errors is applied to these; a number in a bin counts as the bin's representative."
            )),
            Target::Event { .. } | Target::Classes(_) => {}
        }
        for ((_, coding), hidden) in self.predictors.iter().zip(&self.combinations.hidden) {
            let explained: Vec<&str> =
                coding.terms.iter().skip(1).map(|(term, _)| term.as_str()).collect();
            sentences.push(match (asked.predictors, explained.is_empty()) {
                (PredictorLaw::Independent, _) => format!(
                    "{}, a randomised predictor, has nothing to do with the other predictors: where it has, the coefficients are biased.",
                    hidden.name
                ),
                (PredictorLaw::Logit, true) => {
                    format!("{}, a randomised predictor, has the same shares in all rows.", hidden.name)
                }
                (PredictorLaw::Logit, false) => format!(
                    "{}, a randomised predictor, follows a multinomial logit on {}.",
                    hidden.name,
                    explained.join(", ")
                ),
            });
        }
        if sample.weights().is_some() {
            sentences.push("Rows are weighted, so the likelihood is a pseudo-likelihood: tests are Wald tests.".into());
        }
        sentences
    }
}

impl TermTest {
    fn new(term: &str, kind: TestKind, statistic: f64, degrees: usize) -> Self {
        let p_value = chi_squared_upper_tail(degrees as f64, statistic);
        Self { term: term.to_owned(), kind, statistic, degrees, p_value }
    }
}

/// The squared distance of some coefficients from nought, by their covariance.
fn wald(fit: &RegressionFit, places: &[usize]) -> f64 {
    let mut part = Symmetric::zero(places.len());
    for (i, &row) in places.iter().enumerate() {
        for (j, &column) in places.iter().enumerate() {
            part.add(i, j, fit.covariance.at(row, column));
        }
    }
    let values: Vec<f64> = places.iter().map(|&at| fit.coefficients[at].estimate).collect();
    let all: Vec<usize> = (0..places.len()).collect();
    let Some(inverse) = inverse(&part, &all) else { return 0.0 };
    inverse.rows().zip(&values).map(|(row, value)| value * dot(row, &values)).sum()
}

/// The mean and the standard deviation of numbers; a deviation of 1 where all are alike.
fn spread(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance =
        numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}

impl Totals {
    /// Sums of nothing.
    pub(super) fn zero(size: usize) -> Self {
        Self { log_likelihood: 0.0, score: vec![0.0; size], information: Symmetric::zero(size) }
    }
}
