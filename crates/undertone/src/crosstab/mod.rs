//! Joint shares of two or three columns of a file, each randomised or clear.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::crosstab::{CrosstabRequest, crosstab};
//!
//! let rows = Source::reader("people", "a,b\nx,u\nx,v\ny,u\nx,u\ny,v\ny,v\n".as_bytes());
//! let found = crosstab(rows, &CrosstabRequest::new(["a", "b"]))?;
//! assert_eq!(found.cells[0].symbols, ["x", "u"]);
//! assert_eq!(found.cells[0].share.value, Some(1.0 / 3.0));
//! # Ok::<(), undertone::Error>(())
//! ```

mod report;

pub(crate) use report::assumptions;
pub use report::{
    CrosstabReport, DifferenceReport, GroupShareReport, IndependenceReport, JointShareReport,
    MarginReport, ShareReport,
};

use undertone_estimate::{Crosstab, CrosstabColumn, Method, Settings};

use crate::Error;
use crate::columns::Source;
use crate::observations::{
    Observation, Observations, ObservedAs, ObservedColumn, ReportedUnder, Sampling,
};

/// Which columns, how they were reported, and how rows were drawn.
#[derive(Debug, Clone)]
pub struct CrosstabRequest {
    /// Two columns or three: the first one's shares are compared between groups of the others.
    pub columns: Vec<String>,
    /// Those of them that are randomised, and under what.
    pub randomised: Vec<(String, ReportedUnder)>,
    /// How rows were drawn.
    pub sampling: Sampling,
    /// How shares are estimated.
    pub method: CrosstabMethod,
    /// The probability with which each interval holds its share.
    pub level: f64,
}

/// How joint shares are estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrosstabMethod {
    /// The shares under which the reports are most likely.
    #[default]
    Mle,
    /// Products of the columns' inverses: right on average whatever the truth.
    Unbiased,
}

impl CrosstabMethod {
    /// `mle` or `unbiased`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "mle" => Ok(Self::Mle),
            "unbiased" => Ok(Self::Unbiased),
            other => Err(Error::field("method", format!("is {other:?}: give mle or unbiased"))),
        }
    }
}

impl CrosstabRequest {
    /// Clear columns of rows that were drawn simply at random; maximum likelihood, intervals at 95 %.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            randomised: Vec::new(),
            sampling: Sampling::default(),
            method: CrosstabMethod::Mle,
            level: 0.95,
        }
    }

    /// The columns to be read; refuses what no rows could answer.
    pub fn wanted(&self) -> Result<Vec<ObservedColumn>, Error> {
        self.check()?;
        let mut wanted: Vec<ObservedColumn> =
            self.columns.iter().map(|name| self.observed(name)).collect();
        wanted.extend(self.sampling.columns_beside(&wanted)?);
        Ok(wanted)
    }

    fn check(&self) -> Result<(), Error> {
        if !(2..=3).contains(&self.columns.len()) {
            let problem = format!(": {} columns: give two or three", self.columns.len());
            return Err(Error::field("columns", problem));
        }
        let twice = |at: &usize| self.columns[..*at].contains(&self.columns[*at]);
        if let Some(at) = (1..self.columns.len()).find(twice) {
            let problem =
                format!(": {:?} is given twice: give different columns", self.columns[at]);
            return Err(Error::field("columns", problem));
        }
        if let Some((name, _)) =
            self.randomised.iter().find(|(name, _)| !self.columns.contains(name))
        {
            let all = self.columns.join(", ");
            let problem = format!(": {name:?} is none of the columns {all}");
            return Err(Error::field("randomised", problem));
        }
        Settings::at_level(self.level)
            .map_err(|error| Error::field("level", format!(": {error}")))?;
        Ok(())
    }

    /// As what a column is read.
    fn observed(&self, name: &String) -> ObservedColumn {
        let under = self.randomised.iter().find(|(randomised, _)| randomised == name);
        let kind =
            under.map_or(ObservedAs::Clear, |(_, under)| ObservedAs::Randomised(under.clone()));
        ObservedColumn::new(name, kind)
    }
}

/// Estimates the joint shares of some columns of a file.
pub fn crosstab(rows: Source, request: &CrosstabRequest) -> Result<CrosstabReport, Error> {
    crosstab_of(&Observations::read(rows, &request.wanted()?)?, request)
}

/// Estimates the joint shares of what [`CrosstabRequest::wanted`] asked for.
pub fn crosstab_of(
    read: &Observations,
    request: &CrosstabRequest,
) -> Result<CrosstabReport, Error> {
    let (tabulated, drawn) = read.columns.split_at(request.columns.len());
    let columns: Vec<CrosstabColumn<'_>> = request
        .columns
        .iter()
        .zip(tabulated.iter().filter_map(Observation::evidence))
        .map(|(name, evidence)| CrosstabColumn { name, evidence })
        .collect();
    let sample = request.sampling.sample(read.kept() as usize, drawn)?;
    let method = match request.method {
        CrosstabMethod::Mle => Method::Mle,
        CrosstabMethod::Unbiased => Method::Unbiased,
    };
    let table = Crosstab::new(&columns, &sample, method, request.level).map_err(Error::input)?;
    Ok(CrosstabReport::new(&table, read, &sample, request))
}
