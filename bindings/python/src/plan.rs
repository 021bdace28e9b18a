//! Plans, asked with documents as JSON text.

use pyo3::prelude::*;
use undertone::plan::{JointLaw, NamedPromise, PersonLevel, PlanRequest, QuestionList};
use undertone::{Answer, Error as Trouble, plan};
use undertone_core::PlanDraft;

use crate::ask::{answer, asked, optional_whole, whole};

/// Promises of an argument, each as people write it.
fn promises(field: &str, texts: &[String]) -> Result<Vec<NamedPromise>, Trouble> {
    let one = |text: &String| {
        text.parse().map_err(|problem: String| Trouble::field(field, format!(": {problem}")))
    };
    texts.iter().map(one).collect()
}

/// The best plan for some questions within a promise about the person: the answer, and the plan's document.
#[pyfunction]
#[pyo3(signature = (questions, *, person, joint = None, secrets = Vec::new(), beliefs = Vec::new(), people = 1000, reports = None, first_report = None, periods = 1, pairs = Vec::new()))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan_design(
    py: Python<'_>,
    questions: &str,
    person: &str,
    joint: Option<&str>,
    secrets: Vec<String>,
    beliefs: Vec<String>,
    people: i64,
    reports: Option<i64>,
    first_report: Option<&str>,
    periods: i64,
    pairs: Vec<(String, String)>,
) -> PyResult<(String, String)> {
    asked(py, || {
        let mut questions = QuestionList::read("questions", questions)?;
        for (one, other) in &pairs {
            let odd = |problem: String| Trouble::field("pairs", format!(": {problem}"));
            questions.add_pair(one, other).map_err(odd)?;
        }
        let joint = joint.map(|text| JointLaw::read("joint", text, &questions)).transpose()?;
        let level = |text: &str| {
            let fix = format!("is {text:?}: write ldp:0.5");
            text.parse::<PersonLevel>().map_err(|_| Trouble::field("first_report", fix))
        };
        let report = plan::design(&PlanRequest {
            joint,
            beliefs: promises("question", &beliefs)?,
            secrets: promises("secret", &secrets)?,
            people: whole("people", people)?,
            reports: optional_whole("reports", reports)?,
            first_report: first_report.map(level).transpose()?.map(|PersonLevel(nats)| nats),
            periods: whole("periods", periods)?,
            ..PlanRequest::new(questions, person.parse()?)
        })?;
        Ok((report.json().to_string(), report.plan.to_json()))
    })
}

/// A plan document, re-checked exactly.
#[pyfunction]
pub(crate) fn plan_verify(py: Python<'_>, document: &str) -> PyResult<String> {
    answer(py, || {
        let draft = undertone::document::read("plan", document, PlanDraft::from_json)?;
        Ok(plan::verify(draft))
    })
}
