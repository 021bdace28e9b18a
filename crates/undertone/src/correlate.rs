//! Correlations between columns of numbers of a file, randomised or clear.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::correlate::{CorrelateRequest, correlate};
//!
//! let rows = Source::reader("people", "a,b\n1,2\n2,1\n3,5\n4,4\n5,7\n".as_bytes());
//! let found = correlate(rows, &CorrelateRequest::new(["a", "b"]))?;
//! assert!((found.correlations[0].value - 0.8610).abs() < 1e-4);
//! # Ok::<(), undertone::Error>(())
//! ```

use serde::Serialize;
use undertone_estimate::Correlation;
use undertone_estimate::regress::Variable;

use crate::columns::Source;
use crate::error::mention;
use crate::observations::{
    Observation, Observations, ObservedAs, ObservedColumn, ReportedUnder, Sampling,
};
use crate::regress::values_of;
use crate::{Answer, Error, number};

/// Which columns, how they were reported, and how rows were drawn.
#[derive(Debug, Clone)]
pub struct CorrelateRequest {
    /// Two columns or more, of numbers or of two symbols.
    pub columns: Vec<String>,
    /// Those of them that are randomised, and under what.
    pub randomised: Vec<(String, ReportedUnder)>,
    /// How rows were drawn.
    pub sampling: Sampling,
    /// The probability with which each interval holds its correlation.
    pub level: f64,
}

impl CorrelateRequest {
    /// Clear columns of rows that were drawn simply at random; intervals at 95 %.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            randomised: Vec::new(),
            sampling: Sampling::default(),
            level: 0.95,
        }
    }

    /// The columns to be read; refuses what no rows could answer.
    pub fn wanted(&self) -> Result<Vec<ObservedColumn>, Error> {
        if self.columns.len() < 2 {
            let problem = format!(": {} columns: give two or more", self.columns.len());
            return Err(Error::field("columns", problem));
        }
        let twice = |&at: &usize| self.columns[..at].contains(&self.columns[at]);
        if let Some(at) = (0..self.columns.len()).find(twice) {
            let problem = format!(": {:?} is named twice: name each once", self.columns[at]);
            return Err(Error::field("columns", problem));
        }
        if let Some((name, _)) =
            self.randomised.iter().find(|(name, _)| !self.columns.contains(name))
        {
            let problem = format!(": {name:?} is none of the columns {}", self.columns.join(", "));
            return Err(Error::field("randomised", problem));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            let problem = format!("is {}: give a number above 0 and below 1", self.level);
            return Err(Error::field("level", problem));
        }
        let observed = |name: &String| {
            let kind = match self.under(name) {
                Some(under) => ObservedAs::Randomised(under.clone()),
                None => ObservedAs::Number,
            };
            ObservedColumn::new(name, kind)
        };
        let mut wanted: Vec<ObservedColumn> = self.columns.iter().map(observed).collect();
        wanted.extend(self.sampling.columns_beside(&wanted)?);
        Ok(wanted)
    }

    fn under(&self, name: &str) -> Option<&ReportedUnder> {
        self.randomised.iter().find(|(known, _)| known == name).map(|(_, under)| under)
    }
}

/// The correlations of columns, two by two.
#[derive(Debug, Clone, Serialize)]
pub struct CorrelateReport {
    /// The columns.
    pub columns: Vec<String>,
    /// How many rows were estimated from.
    pub n: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them lack one of the columns.
    pub missing: u64,
    /// The probability with which each interval holds its correlation.
    pub level: f64,
    /// The correlation of every two columns.
    pub correlations: Vec<CorrelationReport>,
    /// What was supposed, in sentences.
    pub assumptions: Vec<String>,
}

/// The correlation of two columns.
#[derive(Debug, Clone, Serialize)]
pub struct CorrelationReport {
    /// One column.
    pub one: String,
    /// The other.
    pub other: String,
    /// The correlation.
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
    /// Whether the reports gave a value beyond -1 or 1, which few reports can; the nearest end is shown.
    pub beyond: bool,
}

impl Answer for CorrelateReport {
    fn words(&self) -> String {
        let each = |one: &CorrelationReport| {
            format!(
                "{} and {}: correlation {:.4}, {} % interval {:.4} to {:.4}.",
                one.one,
                one.other,
                one.value,
                100.0 * self.level,
                one.low,
                one.high
            )
        };
        self.correlations
            .iter()
            .map(each)
            .chain(self.assumptions.clone())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Estimates the correlations of some columns of a file.
pub fn correlate(rows: Source, request: &CorrelateRequest) -> Result<CorrelateReport, Error> {
    correlate_of(Observations::read(rows, &request.wanted()?)?, request)
}

/// Estimates the correlations of what [`CorrelateRequest::wanted`] asked for.
pub fn correlate_of(
    read: Observations,
    request: &CorrelateRequest,
) -> Result<CorrelateReport, Error> {
    let Observations { mut columns, rows, missing } = read;
    let drawn = columns.split_off(request.columns.len());
    let sample = request.sampling.sample((rows - missing) as usize, &drawn)?;
    let mut variables = Vec::with_capacity(columns.len());
    for (name, column) in request.columns.iter().zip(columns) {
        variables.push(match column {
            Observation::Numbers(numbers) => Variable::Number(numbers),
            Observation::Factor(factor) => Variable::Category(factor),
            Observation::Evidence(evidence) => {
                let values = request.under(name).and_then(|under| values_of(under, true));
                Variable::Randomised { evidence, values }
            }
        });
    }
    let mut correlations = Vec::new();
    for (at, name) in request.columns.iter().enumerate() {
        for (behind, other) in request.columns.iter().enumerate().skip(at + 1) {
            let pair = ((name.as_str(), &variables[at]), (other.as_str(), &variables[behind]));
            let found = Correlation::new(pair.0, pair.1, &sample, request.level)
                .map_err(|error| Error::input(format!("{error} (in {})", mention("columns"))))?;
            correlations.push(CorrelationReport {
                one: name.clone(),
                other: other.clone(),
                value: found.value,
                std_error: found.standard_error,
                low: found.low,
                high: found.high,
                beyond: found.beyond,
            });
        }
    }
    let supposed = "Columns are randomised independently of each other. Of two symbols without numbers, the second counts as 1 and the first as 0; a number in a bin counts as the bin's representative.";
    Ok(CorrelateReport {
        columns: request.columns.clone(),
        n: rows - missing,
        rows,
        missing,
        level: request.level,
        correlations,
        assumptions: vec![supposed.into()],
    })
}
