//! Regressions on files of people, with the outcome, predictors or both randomised.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::regress::{RegressRequest, regress};
//!
//! let rows = Source::reader("people", "y,age\n1,60\n0,20\n1,50\n1,30\n0,40\n0,25\n".as_bytes());
//! let found = regress(rows, &RegressRequest::new("y ~ age"))?;
//! assert_eq!((found.family, found.n), ("logistic", 6));
//! assert!(found.coefficients[1].name == "age" && found.coefficients[1].estimate > 0.0);
//! # Ok::<(), undertone::Error>(())
//! ```

mod report;
mod request;

pub use report::{
    CoefficientReport, PredictionReport, RandomInterceptsReport, RegressReport, TermTestReport,
};
pub use request::{RegressRequest, errors, family, predictors};
pub use undertone_estimate::regress::INTERCEPT;

use undertone_core::{Alphabet, AlphabetView};
use undertone_estimate::Factor;
use undertone_estimate::regress::{Family, Formula, Regression, Variable, Variables};

use crate::Error;
use crate::columns::{Source, float};
use crate::observations::{Observation, Observations, ObservedAs, ObservedColumn, ReportedUnder};

/// Fits a regression to the rows of a file.
pub fn regress(rows: Source, request: &RegressRequest) -> Result<RegressReport, Error> {
    regress_of(Observations::read(rows, &request.wanted()?)?, request)
}

/// Fits a regression to what [`RegressRequest::wanted`] asked for.
pub fn regress_of(read: Observations, request: &RegressRequest) -> Result<RegressReport, Error> {
    let formula = request.parsed()?;
    let names = request.columns()?;
    let Observations { mut columns, rows, missing } = read;
    let drawn = columns.split_off(names.len());
    let kept = (rows - missing) as usize;
    let mut variables = Variables::new();
    for (name, column) in names.iter().zip(columns) {
        let variable = variable(request, &formula, name, column)?;
        variables = variables.with(name, variable).map_err(Error::input)?;
    }
    let mut sampling = request.sampling.clone();
    let mut regression = request.regression(formula)?;
    let sample = if request.random_intercept {
        let Some(clusters) = clusters(request, &drawn) else {
            let problem = "needs the people whose answers go together: name their column with";
            let cluster = crate::error::mention("cluster");
            return Err(Error::field("random_intercept", format!("{problem} {cluster}")));
        };
        regression = regression.random_intercepts(clusters);
        sampling.cluster = None;
        let behind =
            usize::from(sampling.weights.is_some()) + usize::from(sampling.strata.is_some());
        let others = drawn.iter().enumerate().filter(|(at, _)| *at != behind);
        let others: Vec<Observation> = others.map(|(_, column)| column.clone()).collect();
        sampling.sample(kept, &others)?
    } else {
        sampling.sample(kept, &drawn)?
    };
    let fit = regression.fit(&variables, &sample).map_err(Error::input)?;
    let counts = report::RowsRead { rows, missing };
    RegressReport::new(request, &fit, &sample, counts)
}

/// The column of clusters, among those of the sample.
fn clusters(request: &RegressRequest, drawn: &[Observation]) -> Option<Factor> {
    let sampling = &request.sampling;
    sampling.cluster.as_ref()?;
    let before = usize::from(sampling.weights.is_some()) + usize::from(sampling.strata.is_some());
    drawn.get(before).and_then(Observation::factor).cloned()
}

/// A column as the model reads it.
fn variable(
    request: &RegressRequest,
    formula: &Formula,
    name: &str,
    column: Observation,
) -> Result<Variable, Error> {
    Ok(match column {
        Observation::Numbers(numbers) => Variable::Number(numbers),
        Observation::Factor(factor) => Variable::Category(used(factor)?),
        Observation::Evidence(evidence) => {
            let linear = name == formula.outcome() && request.family == Some(Family::Linear);
            let values = request.under(name).and_then(|under| values_of(under, linear));
            Variable::Randomised { evidence, values }
        }
    })
}

/// Categories that occur; rows that were left out may have had others.
fn used(factor: Factor) -> Result<Factor, Error> {
    let (levels, mut codes) = factor.into_parts();
    let mut place = vec![None; levels.len()];
    codes.iter().for_each(|&code| place[code as usize] = Some(0));
    (0..).zip(place.iter_mut().flatten()).for_each(|(next, place)| *place = next);
    codes.iter_mut().for_each(|code| *code = place[*code as usize].unwrap_or_default());
    let kept = levels.into_iter().zip(&place).filter_map(|(level, place)| place.map(|_| level));
    Factor::new(kept.collect(), codes).map_err(Error::input)
}

/// The numbers that a column's symbols stand for, where they do; `wanted` says that they are asked for.
pub(crate) fn values_of(under: &ReportedUnder, wanted: bool) -> Option<Vec<f64>> {
    let policy = match under {
        ReportedUnder::Policy(policy) => policy,
        ReportedUnder::By { designs, .. } => {
            designs.iter().find_map(|(_, policy)| policy.as_ref())?
        }
    };
    values(policy.inputs(), wanted)
}

/// The numbers that symbols stand for: of points and bins, and of names that are numbers. Symbols without names are numbers only where
/// there are two, or where numbers are asked for.
fn values(alphabet: &Alphabet, wanted: bool) -> Option<Vec<f64>> {
    match alphabet.view() {
        AlphabetView::Indices(size) if size > 2 && !wanted => None,
        AlphabetView::Points(points) => Some(points.iter().map(|&point| float(point)).collect()),
        AlphabetView::Bins { values, .. } => {
            Some(values.iter().map(|&value| float(value)).collect())
        }
        _ => (0..alphabet.len())
            .map(|x| alphabet.label(x).parse::<f64>().ok().filter(|value| value.is_finite()))
            .collect(),
    }
}

impl RegressRequest {
    /// The columns that the formula names, the outcome first.
    pub fn columns(&self) -> Result<Vec<String>, Error> {
        Ok(self.parsed()?.columns().into_iter().map(str::to_owned).collect())
    }

    /// The columns to be read; refuses what no rows could answer.
    pub fn wanted(&self) -> Result<Vec<ObservedColumn>, Error> {
        let formula = self.parsed()?;
        let names = formula.columns();
        if let Some((name, _)) =
            self.randomised.iter().find(|(name, _)| !names.contains(&name.as_str()))
        {
            let problem =
                format!(": {name:?} is none of the formula's columns {}", names.join(", "));
            return Err(Error::field("randomised", problem));
        }
        self.regression(formula.clone())?;
        let observed = |name: &&str| {
            let kind = match self.under(name) {
                Some(under) => ObservedAs::Randomised(under.clone()),
                None => ObservedAs::Value,
            };
            ObservedColumn::new(*name, kind)
        };
        let mut wanted: Vec<ObservedColumn> = names.iter().map(observed).collect();
        wanted.extend(self.sampling.columns_beside(&wanted)?);
        Ok(wanted)
    }

    fn parsed(&self) -> Result<Formula, Error> {
        Formula::parse(&self.formula).map_err(|error| {
            let words = error.to_string();
            let rest = words.trim_start_matches("formula").trim_start_matches([',', ':', ' ']);
            Error::field("formula", format!(": {rest}"))
        })
    }

    /// Under what a column was reported, if it is randomised.
    fn under(&self, name: &str) -> Option<&ReportedUnder> {
        self.randomised.iter().find(|(known, _)| known == name).map(|(_, under)| under)
    }

    fn regression(&self, formula: Formula) -> Result<Regression, Error> {
        let mut regression = Regression::new(formula)
            .predictors(self.predictors)
            .confidence(self.level)
            .map_err(|error| Error::field("level", format!(": {error}")))?;
        if let Some(family) = self.family {
            regression = regression.family(family);
        }
        if let Some(errors) = self.errors {
            regression = regression.errors(errors);
        }
        if let Some(event) = &self.event {
            regression = regression.event(event);
        }
        Ok(if self.tests { regression.with_tests() } else { regression })
    }
}
