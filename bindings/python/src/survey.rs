//! Frames of people: cross-tables, and shares with a sample's design.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use undertone::Error as Trouble;
use undertone::columns::UnknownValues;
use undertone::correlate::{CorrelateRequest, correlate_of};
use undertone::crosstab::{CrosstabMethod, CrosstabRequest, crosstab_of};
use undertone::estimate::{
    CountedGroups, EstimateRequest, ReportColumn, SampledSharesRequest, estimate_groups,
    estimate_sample_of,
};
use undertone::observations::{CellTexts, Observations, ObservedColumn, ReportedUnder, Sampling};
use undertone::perturb::{PerturbRequest, Target, perturb as perturbed};

use crate::ask::{answer, asked, optional_whole};
use crate::errors::guarded;
use crate::policy::Policy;
use crate::source::{Source, Texts};

/// What a column of designs may say, and the policy that is meant; none for rows that are clear.
pub(crate) type DesignMap<'py> = (String, Vec<(String, Option<PyRef<'py, Policy>>)>);

/// Columns that have names, all of the same length.
#[derive(FromPyObject)]
pub(crate) struct People<'py> {
    #[pyo3(item)]
    rows: usize,
    #[pyo3(item)]
    columns: HashMap<String, Bound<'py, PyAny>>,
}

/// How rows were drawn.
#[derive(FromPyObject)]
pub(crate) struct Drawn {
    #[pyo3(item)]
    weights: Option<String>,
    #[pyo3(item)]
    strata: Option<String>,
    #[pyo3(item)]
    cluster: Option<String>,
    #[pyo3(item)]
    population: Option<i64>,
    #[pyo3(item)]
    margins: Option<String>,
}

impl Drawn {
    pub(crate) fn sampling(self) -> Result<Sampling, Trouble> {
        let margins = self.margins.map(|text| Sampling::read_margins("margins", &text));
        Ok(Sampling {
            weights: self.weights,
            strata: self.strata,
            cluster: self.cluster,
            population: optional_whole("population", self.population)?,
            margins: margins.transpose()?.unwrap_or_default(),
        })
    }
}

impl People<'_> {
    /// The cells of some columns, row by row.
    fn texts(&self, names: &[&str]) -> PyResult<Vec<Vec<Option<String>>>> {
        let mut sources = Vec::with_capacity(names.len());
        for name in names {
            let column = self.columns.get(*name);
            let missing = || PyValueError::new_err(format!("there is no column {name:?}"));
            let source = Source::of(column.ok_or_else(missing)?);
            let named = |error| PyValueError::new_err(format!("column {name:?}: {error}"));
            sources.push(source.map_err(named)?);
        }
        let texts = sources.iter().map(Source::texts).collect::<PyResult<Vec<_>>>()?;
        Ok((0..self.rows).map(|row| texts.iter().map(|text| text(row)).collect()).collect())
    }

    /// Reads what was asked for, holding on to Python's lock: cells may be Python's own.
    pub(crate) fn observed(
        &self,
        wanted: &[ObservedColumn],
    ) -> PyResult<Result<Observations, Trouble>> {
        let mut sources = Vec::new();
        for (name, column) in &self.columns {
            let source = Source::of(column)
                .map_err(|error| PyValueError::new_err(format!("column {name:?}: {error}")))?;
            sources.push((name, source));
        }
        let mut texts: HashMap<&str, Texts<'_>> = HashMap::new();
        for (name, source) in &sources {
            texts.insert(name, source.texts()?);
        }
        let column = |name: &str| texts.get(name).map(|text| &**text as &CellTexts<'_>);
        Ok(Observations::of_columns(self.rows, wanted, column))
    }
}

/// Every randomised column with its design.
pub(crate) fn reported_under(
    randomised: &[(String, PyRef<'_, Policy>)],
    by: Option<&DesignMap<'_>>,
) -> Vec<(String, ReportedUnder)> {
    randomised.iter().map(|(name, policy)| (name.clone(), under(policy, by))).collect()
}

/// The design of a column: one policy, or the one that another column names.
fn under(policy: &Policy, by: Option<&DesignMap<'_>>) -> ReportedUnder {
    let Some((column, designs)) = by else {
        return ReportedUnder::from(policy.0.policy.clone());
    };
    by_group(column, designs)
}

/// The design that a column names for every row.
fn by_group(column: &str, designs: &[(String, Option<PyRef<'_, Policy>>)]) -> ReportedUnder {
    let one = |(name, policy): &(String, Option<PyRef<'_, Policy>>)| {
        (name.clone(), policy.as_ref().map(|policy| policy.0.policy.clone()))
    };
    ReportedUnder::By { column: column.to_owned(), designs: designs.iter().map(one).collect() }
}

/// Joint shares of two or three columns of a frame.
#[pyfunction]
#[pyo3(signature = (people, tabulated, *, randomised, drawn, method, level, policy_by = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn crosstab(
    py: Python<'_>,
    people: People<'_>,
    tabulated: Vec<String>,
    randomised: Vec<(String, PyRef<'_, Policy>)>,
    drawn: Drawn,
    method: &str,
    level: f64,
    policy_by: Option<DesignMap<'_>>,
) -> PyResult<String> {
    let randomised = reported_under(&randomised, policy_by.as_ref());
    let request = asked(py, || {
        let method = CrosstabMethod::parse(method)?;
        let sampling = drawn.sampling()?;
        Ok(CrosstabRequest { columns: tabulated, randomised, sampling, method, level })
    })?;
    let wanted = asked(py, || request.wanted())?;
    let read = guarded(|| people.observed(&wanted))?;
    answer(py, || crosstab_of(&read?, &request))
}

/// Correlations of columns of a frame.
#[pyfunction]
#[pyo3(signature = (people, correlated, *, randomised, drawn, level, policy_by = None))]
pub(crate) fn correlate(
    py: Python<'_>,
    people: People<'_>,
    correlated: Vec<String>,
    randomised: Vec<(String, PyRef<'_, Policy>)>,
    drawn: Drawn,
    level: f64,
    policy_by: Option<DesignMap<'_>>,
) -> PyResult<String> {
    let randomised = reported_under(&randomised, policy_by.as_ref());
    let request = asked(py, || {
        let sampling = drawn.sampling()?;
        Ok(CorrelateRequest { columns: correlated, randomised, sampling, level })
    })?;
    let wanted = asked(py, || request.wanted())?;
    let read = guarded(|| people.observed(&wanted))?;
    answer(py, || correlate_of(read?, &request))
}

/// Shares of a column of a frame whose rows have the policies of their groups.
#[pyfunction]
#[pyo3(name = "estimate_groups", signature = (people, column, policy_by, *, level, all, respondents))]
pub(crate) fn grouped_estimate(
    py: Python<'_>,
    people: People<'_>,
    column: String,
    policy_by: DesignMap<'_>,
    level: f64,
    all: bool,
    respondents: bool,
) -> PyResult<String> {
    let (by, designs) = &policy_by;
    let under = by_group(by, designs);
    let cells = guarded(|| people.texts(&[&column, by]))?;
    answer(py, || {
        let request = EstimateRequest { level, all, respondents, ..EstimateRequest::default() };
        let pairs = cells.into_iter().map(|mut row| {
            let group = row.pop().flatten();
            (row.pop().flatten(), group)
        });
        let counted = CountedGroups::of_texts(under, pairs, &ReportColumn::new(column))?;
        estimate_groups(&counted, &request)
    })
}

/// Randomises a column of a CSV or Parquet file, every row under the policy of its group, into another file.
#[pyfunction]
#[pyo3(signature = (rows, column, output, policy_by, *, keep, unknown, least_group))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn perturb(
    py: Python<'_>,
    rows: std::path::PathBuf,
    column: String,
    output: std::path::PathBuf,
    policy_by: DesignMap<'_>,
    keep: Vec<String>,
    unknown: &str,
    least_group: u64,
) -> PyResult<String> {
    let (by, designs) = &policy_by;
    let under = by_group(by, designs);
    answer(py, || {
        let unknown = match unknown {
            "error" => UnknownValues::Refuse,
            "skip" => UnknownValues::Skip,
            "other" => UnknownValues::AsOther,
            _ => {
                let problem = format!("is {unknown:?}: give error, skip or other");
                return Err(Trouble::field("unknown", problem));
            }
        };
        let target = Target::file(output);
        let rows = undertone::columns::Source::file(rows);
        let request = PerturbRequest::new(under, rows, column, target);
        perturbed(PerturbRequest { keep, unknown, least_group, ..request })
    })
}

/// Shares of a randomised column of a frame, with a sample's design and in groups.
#[pyfunction]
#[pyo3(signature = (people, column, policy, *, drawn, level, by = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn estimate_sample(
    py: Python<'_>,
    people: People<'_>,
    column: String,
    policy: PyRef<'_, Policy>,
    drawn: Drawn,
    level: f64,
    by: Option<String>,
) -> PyResult<String> {
    let under = under(&policy, None);
    let request = asked(py, || {
        let sampling = drawn.sampling()?;
        Ok(SampledSharesRequest { column, under, by, sampling, level })
    })?;
    let wanted = asked(py, || request.wanted())?;
    let read = guarded(|| people.observed(&wanted))?;
    answer(py, || estimate_sample_of(&read?, &request))
}
