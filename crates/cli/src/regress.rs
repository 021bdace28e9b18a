//! `undertone regress`: models of randomised and clear columns.

use std::path::PathBuf;

use undertone::number::counted;
use undertone::regress::{
    CoefficientReport, INTERCEPT, RegressReport, RegressRequest, errors, family, predictors,
    regress,
};

use crate::columns::DataFile;
use crate::failure::Failure;
use crate::output::{Outcome, table};
use crate::plot::{self, IntervalPlot, IntervalRow};
use crate::survey::{RandomisedOptions, SamplingOptions};

/// Fit a logistic, multinomial or linear regression whose outcome, predictors or both are randomised.
///
/// In a formula such as y ~ age + female + age:female, columns of words are categories, a*b is a + b + a:b, C(x, ref=north) takes numbers as
/// categories or names the one that others are compared with, offset(v) has a coefficient of 1, and - 1 leaves out the intercept. Rows
/// that lack a cell are left out.
///
/// Example: undertone regress --data people.csv --formula "y ~ age + female" --randomised y=policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataFile,
    /// What is explained by what.
    #[arg(long, value_name = "Y ~ A + B")]
    formula: String,
    #[command(flatten)]
    randomised: RandomisedOptions,
    /// The family: logistic, multinomial or linear (default: by the outcome, logistic for two symbols, multinomial for more, linear for
    /// numbers).
    #[arg(long)]
    family: Option<String>,
    /// The symbol that a logistic regression sets against the rest (default: the second of two).
    #[arg(long, value_name = "SYMBOL")]
    event: Option<String>,
    /// Where standard errors come from: expected, observed, opg or robust (default: expected information where there is one, else
    /// observed; robust for samples with a design).
    #[arg(long)]
    errors: Option<String>,
    /// What randomised predictors are expected to be: logit (a multinomial logit on the clear columns) or independent of them.
    #[arg(long, default_value = "logit")]
    predictors: String,
    #[command(flatten)]
    sampling: SamplingOptions,
    /// How many people the population has, where that is not many more than the rows.
    #[arg(long, value_name = "PEOPLE")]
    population: Option<u64>,
    /// Give every --cluster an intercept of its own instead of robust errors.
    #[arg(long, requires = "cluster")]
    random_intercept: bool,
    /// Test every term: by the likelihood ratio, or by Wald's statistic where errors are robust.
    #[arg(long)]
    tests: bool,
    /// Predict the prevalence or the mean at these covariates, as in age=30,female=1; may be given several times.
    #[arg(long, value_name = "A=1,B=2")]
    at: Vec<String>,
    /// The probability with which each interval holds its coefficient.
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,
    /// Draw the coefficients, but for intercepts, with their intervals as an SVG picture.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = RegressRequest {
        formula: args.formula.clone(),
        randomised: args.randomised.designs()?,
        family: args.family.as_deref().map(family).transpose()?,
        event: args.event.clone(),
        errors: args.errors.as_deref().map(errors).transpose()?,
        predictors: predictors(&args.predictors)?,
        sampling: args.sampling.sampling(args.population)?,
        random_intercept: args.random_intercept,
        level: args.level,
        tests: args.tests,
        at: args.at.iter().map(|text| covariates(text)).collect::<Result<_, _>>()?,
    };
    let report = regress(args.data.rows()?, &request)?;
    let mut text = text(&report);
    if let Some(path) = &args.plot {
        plot::save(path, &picture(&report)?)?;
        text += &format!("\npicture written to {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

/// The coefficients; an intercept is in other units than they.
fn picture(report: &RegressReport) -> Result<String, Failure> {
    let drawn = report.coefficients.iter().filter(|one| one.name != INTERCEPT);
    let row = |one: &CoefficientReport| IntervalRow {
        name: one.name.clone(),
        group: one.symbol.clone().unwrap_or_default(),
        value: Some(one.estimate),
        low: Some(one.low),
        high: Some(one.high),
    };
    plot::intervals(&IntervalPlot {
        title: report.formula.clone(),
        axis: format!("coefficient, {} % intervals", 100.0 * report.level),
        rows: drawn.map(row).collect(),
    })
}

/// Covariates such as age=30,female=1.
fn covariates(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let one = |part: &str| match part.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Failure::usage(format!(
            "--at is {text:?}: give columns and values, as in age=30,female=1"
        ))),
    };
    let all: Vec<(String, String)> = text.split(',').map(one).collect::<Result<_, _>>()?;
    let twice = |at: &usize| all[..*at].iter().any(|(name, _)| *name == all[*at].0);
    if let Some(at) = (1..all.len()).find(twice) {
        return Err(Failure::usage(format!(
            "--at is {text:?}: {} has two values: give one, and a second --at for the other",
            all[at].0
        )));
    }
    Ok(all)
}

/// The tables people read.
fn text(report: &RegressReport) -> String {
    let left_out = match report.missing {
        0 => String::new(),
        missing => format!(" ({missing} of {} left out because a cell is missing)", report.rows),
    };
    let mut text = format!(
        "{}\n{} regression of {}{left_out}; {} errors, {} % intervals\n\n",
        report.formula,
        report.family,
        counted(report.n as u64, "row"),
        report.errors,
        100.0 * report.level
    );
    let several = report.coefficients.iter().any(|one| one.symbol.is_some());
    let designed = report.coefficients.iter().any(|one| one.design_effect.is_some());
    let mut header = Vec::new();
    if several {
        header.push("symbol");
    }
    header.extend(["", "estimate", "std. error", "from", "to", "p"]);
    if designed {
        header.push("design effect");
    }
    let rows = report.coefficients.iter().map(|one| {
        let mut row: Vec<String> =
            if several { vec![one.symbol.clone().unwrap_or_default()] } else { Vec::new() };
        row.push(one.name.clone());
        row.extend([one.estimate, one.std_error, one.low, one.high].map(digits));
        row.push(probability(one.p_value));
        if designed {
            row.push(one.design_effect.map_or(String::new(), |effect| format!("{effect:.2}")));
        }
        row
    });
    text += &format!("{}\n\n{}\n", table(&header, rows.collect()), report.meaning());
    if let Some(log_likelihood) = report.log_likelihood {
        text += &format!("Log-likelihood {log_likelihood:.4} after {} steps.\n", report.iterations);
    }
    if let Some(deviation) = report.residual_deviation {
        text += &format!("Standard deviation of what is left: {}.\n", digits(deviation));
    }
    if let Some(found) = &report.random_intercepts {
        let high = if found.high.is_finite() { digits(found.high) } else { "anything".into() };
        text += &format!(
            "Standard deviation of the intercepts of {} clusters: {} ({} to {high}); p = {} for none.\n",
            found.clusters,
            digits(found.deviation),
            digits(found.low),
            probability(found.p_value)
        );
    }
    if let Some(effect) = report.weighting_effect {
        text += &format!("Weights alone multiply the variance of a mean by {effect:.2}.\n");
    }
    if !report.tests.is_empty() {
        let rows = report.tests.iter().map(|one| {
            let test = one.test.replace('_', " ");
            let statistic = format!("{:.3}", one.statistic);
            vec![
                one.term.clone(),
                test,
                statistic,
                one.degrees.to_string(),
                probability(one.p_value),
            ]
        });
        text += &format!("\n{}\n", table(&["term", "test", "χ²", "df", "p"], rows.collect()));
    }
    if !report.predictions.is_empty() {
        let rows = report.predictions.iter().map(|one| {
            let mut row = vec![one.at.clone(), one.symbol.clone().unwrap_or_default()];
            row.extend([one.value, one.low, one.high, one.std_error].map(digits));
            row
        });
        let header = ["at", "symbol", "predicted", "from", "to", "std. error"];
        text += &format!("\n{}\n", table(&header, rows.collect()));
    }
    if !report.assumptions.is_empty() {
        text += &format!("\n{}\n", report.assumptions.join("\n"));
    }
    text
}

/// A number with five digits that matter, or more where it is large.
fn digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let power = number.abs().log10().floor() as i32;
    format!("{number:.*}", (4 - power).clamp(0, 9) as usize)
}

/// A probability with three places, or a bound where it is small.
fn probability(p: f64) -> String {
    if p < 0.0005 { "<0.001".into() } else { format!("{p:.3}") }
}
