//! Values that many people have, out of a set too large to list.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use undertone::hitters::{
    self, CollectedReports, FindRequest, HittersPlan as Verified, HittersRequest, KnownValues,
    NotReported, UnknownValue,
};
use undertone::random::system_rng;
use undertone::{Answer, Error as Trouble};

use crate::ask::{answer, asked, optional_whole};
use crate::errors::{failed, guarded};

/// A verified plan for frequent values.
#[pyclass(frozen, subclass, module = "undertone._native")]
pub(crate) struct HittersPlan(Verified);

/// The reports of one plan. Any split of them, brought together again, gives the same answer.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct HittersReports {
    plan: Verified,
    reports: Mutex<CollectedReports>,
}

/// Known values of an argument, as JSON.
fn known(text: Option<&str>) -> Result<KnownValues, Trouble> {
    text.map_or(Ok(KnownValues::default()), |text| KnownValues::from_json("known", text))
}

/// Plans rounds for values and a protection: the answer, and the plan's document.
#[pyfunction]
#[pyo3(signature = (values, protect, *, rounds = None, longer = "refuse", known_values = None, people = None, share = None, error = 0.05, power = 0.9))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn hitters_design(
    py: Python<'_>,
    values: &str,
    protect: &str,
    rounds: Option<i64>,
    longer: &str,
    known_values: Option<&str>,
    people: Option<i64>,
    share: Option<f64>,
    error: f64,
    power: f64,
) -> PyResult<(String, String)> {
    asked(py, || {
        let made = hitters::design(&HittersRequest {
            rounds: optional_whole("rounds", rounds)?,
            longer: longer.parse()?,
            known: known(known_values)?,
            people: optional_whole("people", people)?,
            share,
            error,
            power,
            ..HittersRequest::new(values.parse()?, protect.parse()?)
        })?;
        Ok((made.json().to_string(), made.plan.to_json()))
    })
}

/// What to do with a value that is missing or has no code.
fn unknown_value(word: &str) -> Result<UnknownValue, Trouble> {
    match word {
        "error" => Ok(UnknownValue::Refuse),
        "skip" => Ok(UnknownValue::Skip),
        "empty" => Ok(UnknownValue::AsEmpty),
        _ => {
            let problem = format!("is {word:?}: give error, skip or empty");
            Err(Trouble::field("unknown", problem))
        }
    }
}

#[pymethods]
impl HittersPlan {
    #[new]
    fn new(py: Python<'_>, document: &str) -> PyResult<Self> {
        asked(py, || Verified::from_json("plan", document).map(Self))
    }

    /// The plan's identity.
    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// What values are.
    #[getter]
    fn values(&self) -> String {
        self.0.values().to_string()
    }

    /// How many rounds there are.
    #[getter]
    fn rounds(&self) -> usize {
        self.0.prefixes().len()
    }

    /// How many bytes a report has.
    #[getter]
    fn report_bytes(&self) -> usize {
        self.0.report_bytes()
    }

    /// The document of the plan.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// One report for each value, as hexadecimal digits.
    #[pyo3(name = "_report")]
    fn report(
        &self,
        py: Python<'_>,
        values: Vec<Option<String>>,
        unknown: &str,
    ) -> PyResult<Vec<String>> {
        asked(py, || {
            let (unknown, mut rng) = (unknown_value(unknown)?, system_rng()?);
            if unknown == UnknownValue::AsEmpty && !self.0.values().has_empty() {
                let problem = "is 'empty': numbers have no empty value; use skip";
                return Err(Trouble::field("unknown", problem));
            }
            let mut written = Vec::with_capacity(values.len());
            for (row, value) in values.iter().enumerate() {
                let drawn = match (value, unknown) {
                    (Some(value), _) => self.0.report(value, &mut rng),
                    (None, UnknownValue::AsEmpty) => self.0.report("", &mut rng),
                    (None, UnknownValue::Skip) => continue,
                    (None, UnknownValue::Refuse) => {
                        return Err(Trouble::input(format!(
                            "row {row} is missing: leave it out, or use unknown=\"skip\""
                        )));
                    }
                };
                // The value itself is a secret and stays out of logs.
                let report = match (drawn, unknown) {
                    (Ok(report), _) => report,
                    (Err(NotReported::Value(_)), UnknownValue::Skip) => continue,
                    (Err(NotReported::Value(why)), UnknownValue::Refuse) => {
                        return Err(Trouble::input(format!(
                            "row {row} {}: mend it, or use unknown=\"skip\"",
                            self.0.values().problem(why)
                        )));
                    }
                    (Err(NotReported::Value(_)), UnknownValue::AsEmpty) => {
                        self.0.report("", &mut rng).map_err(|error| match error {
                            NotReported::Other(error) => error,
                            NotReported::Value(why) => Trouble::input(self.0.values().problem(why)),
                        })?
                    }
                    (Err(NotReported::Other(error)), _) => return Err(error),
                };
                written.push(self.0.write(&report));
            }
            Ok(written)
        })
    }
}

impl HittersReports {
    fn collected(&self) -> PyResult<MutexGuard<'_, CollectedReports>> {
        self.reports.lock().map_err(|_| failed("the reports were left half-read by another thread"))
    }
}

#[pymethods]
impl HittersReports {
    #[new]
    fn new(plan: &HittersPlan) -> Self {
        let reports = Mutex::new(CollectedReports::none(&plan.0));
        Self { plan: plan.0.clone(), reports }
    }

    /// Adds reports; all of them or, if one is refused, none.
    fn add(&self, py: Python<'_>, reports: Vec<Option<String>>) -> PyResult<()> {
        let read = asked(py, || {
            let mut read = CollectedReports::none(&self.plan);
            for (row, report) in reports.iter().enumerate() {
                let text = report.as_deref().unwrap_or_default();
                read.add_text(&self.plan, text).map_err(|why| {
                    Trouble::input(format!("row {row} {}", why.problem(&self.plan)))
                })?;
            }
            Ok(read)
        })?;
        self.collected()?.merge(&read);
        Ok(())
    }

    /// Adds responses to the kernel's plan, one JSON on every line.
    fn add_responses(&self, py: Python<'_>, lines: &str) -> PyResult<()> {
        let read = asked(py, || {
            let mut read = CollectedReports::none(&self.plan);
            read.add_responses(&self.plan, "responses", lines.as_bytes())?;
            Ok(read)
        })?;
        self.collected()?.merge(&read);
        Ok(())
    }

    /// How many reports there are.
    #[getter]
    fn count(&self) -> PyResult<u64> {
        guarded(|| Ok(self.collected()?.count()))
    }

    /// The values that many people have, as JSON.
    #[pyo3(signature = (*, known_values = None, threshold = 0.0, error = 0.05, power = 0.9))]
    fn find(
        &self,
        py: Python<'_>,
        known_values: Option<&str>,
        threshold: f64,
        error: f64,
        power: f64,
    ) -> PyResult<String> {
        let reports = self.collected()?.clone();
        answer(py, || {
            let request = FindRequest { known: known(known_values)?, threshold, error, power };
            hitters::find(&self.plan, &reports, &request)
        })
    }
}
