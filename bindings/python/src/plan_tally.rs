//! Counting responses to a plan.

use std::io::Cursor;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use undertone::columns::Source;
use undertone::document;
use undertone::estimate::{
    CountedResponses, EstimateRequest, ReleasedFrame, UnknownReports, estimate_plan,
};
use undertone_core::Plan;

use crate::ask::{answer, asked, optional_whole};
use crate::errors::{failed, guarded};

/// What the responses of one plan say. Tallies of any split of the responses add up to the same tally.
#[pyclass(frozen, subclass, module = "undertone._native")]
pub(crate) struct PlanTally(Mutex<CountedResponses>);

impl PlanTally {
    fn counted(&self) -> PyResult<MutexGuard<'_, CountedResponses>> {
        self.0.lock().map_err(|_| failed("the tally was left half-written by another thread"))
    }
}

#[pymethods]
impl PlanTally {
    #[new]
    #[pyo3(signature = (plan, pairs, document = None))]
    fn new(
        py: Python<'_>,
        plan: &str,
        pairs: Vec<Vec<String>>,
        document: Option<&str>,
    ) -> PyResult<Self> {
        let counted = asked(py, || {
            let plan = document::read("plan", plan, Plan::from_json)?;
            let mut counted = CountedResponses::none(plan, &pairs)?;
            if let Some(text) = document {
                counted.add_stored("tally", text)?;
            }
            Ok(counted)
        })?;
        Ok(Self(Mutex::new(counted)))
    }

    /// The tally as JSON, exact to the last response.
    fn to_json(&self) -> PyResult<String> {
        guarded(|| Ok(self.counted()?.to_json()))
    }

    /// The document of the plan.
    #[pyo3(name = "_plan")]
    fn plan(&self) -> PyResult<String> {
        guarded(|| Ok(self.counted()?.plan().to_json()))
    }

    /// The id of the plan.
    #[getter]
    fn plan_id(&self) -> PyResult<String> {
        guarded(|| Ok(self.counted()?.plan().id().to_string()))
    }

    /// How many people's responses were counted.
    #[getter]
    fn responses(&self) -> PyResult<u64> {
        guarded(|| Ok(self.counted()?.tally().responses()))
    }

    /// The column of each item in a released frame.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        guarded(|| Ok(self.counted()?.columns()))
    }

    /// Adds the responses of another tally of the same plan.
    #[pyo3(name = "_merge_tally")]
    fn merge_tally(&self, py: Python<'_>, other: &Bound<'_, PlanTally>) -> PyResult<()> {
        // Copied first: the other may be this one.
        let other = other.get().counted()?.tally().clone();
        asked(py, || {
            let mut counted = self.0.lock().map_err(undertone::Error::input)?;
            counted.add("tally", &other)
        })
    }

    /// Counts the rows of a released frame, as CSV; all of them or, with an error, none.
    #[pyo3(name = "_add_frame")]
    fn add_frame(&self, py: Python<'_>, csv: &[u8], skip: bool) -> PyResult<()> {
        // Copied: the reader may outlive what Python lends.
        let csv = csv.to_vec();
        let unknown = if skip { UnknownReports::Skip } else { UnknownReports::Refuse };
        asked(py, || {
            let source = Source::reader("frame", Cursor::new(csv)).with_separator(',')?;
            let mut counted = self.0.lock().map_err(undertone::Error::input)?;
            counted.add_frame(source, &ReleasedFrame { unknown, threads: None })
        })
    }

    /// Counts responses, one on every line; those that were read before count once.
    #[pyo3(name = "_add_messages")]
    fn add_messages(&self, py: Python<'_>, lines: &str) -> PyResult<()> {
        asked(py, || {
            let mut counted = self.0.lock().map_err(undertone::Error::input)?;
            counted.add_messages("responses", lines.as_bytes())
        })
    }
}

/// What counted responses say about the population, question by question.
#[pyfunction]
#[pyo3(name = "estimate_plan")]
#[pyo3(signature = (tally, *, level, all, respondents, above = None, quantiles = None, population = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn estimate_responses(
    py: Python<'_>,
    tally: &Bound<'_, PlanTally>,
    level: f64,
    all: bool,
    respondents: bool,
    above: Option<f64>,
    quantiles: Option<Vec<f64>>,
    population: Option<i64>,
) -> PyResult<String> {
    let counted = tally.get().counted()?.clone();
    answer(py, || {
        let usual = EstimateRequest::default();
        let request = EstimateRequest {
            level,
            all,
            respondents,
            above,
            quantiles: quantiles.unwrap_or_else(|| usual.quantiles.clone()),
            population: optional_whole("population", population)?,
            ..usual
        };
        estimate_plan(&counted, &request)
    })
}
