//! Plans, asked with documents as JSON text.

use pyo3::prelude::*;
use undertone::plan::{
    JointLaw, NamedPromise, PersonLevel, PlanRequest, PlannedQuestion, QuestionList, Randomised,
    SizeGoal, SizeRequest,
};
use undertone::{Answer, Error as Trouble, plan};
use undertone_core::{PlanDraft, Policy as Verified};

use crate::ask::{answer, asked, optional_whole, whole};
use crate::policy::Policy;

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

/// A question to reckon with: a policy, or what one must keep, and the expected shares.
fn planned(
    policy: Option<Box<Verified>>,
    protect: &[String],
    shares: Vec<f64>,
) -> Result<PlannedQuestion, Trouble> {
    let randomised = match policy {
        Some(policy) => Randomised::Policy(policy),
        None if protect.is_empty() => {
            return Err(Trouble::usage("give policy, or protect such as 'ldp:1'"));
        }
        None => {
            Randomised::Promise(protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
        }
    };
    Ok(PlannedQuestion { randomised, shares })
}

/// How many people a survey needs.
#[pyfunction]
#[pyo3(signature = (policy, shares, *, protect, half_width = None, difference = None, slope = None, symbol = None, with_policy = None, with_protect = Vec::new(), with_shares = None, level = 0.95, power = 0.8))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan_size(
    py: Python<'_>,
    policy: Option<PyRef<'_, Policy>>,
    shares: Vec<f64>,
    protect: Vec<String>,
    half_width: Option<f64>,
    difference: Option<f64>,
    slope: Option<f64>,
    symbol: Option<String>,
    with_policy: Option<PyRef<'_, Policy>>,
    with_protect: Vec<String>,
    with_shares: Option<Vec<f64>>,
    level: f64,
    power: f64,
) -> PyResult<String> {
    let verified = |policy: PyRef<'_, Policy>| Box::new(policy.0.policy.clone());
    let (policy, second) = (policy.map(verified), with_policy.map(verified));
    answer(py, || {
        let goal = match (half_width, difference, slope, with_shares) {
            (Some(width), None, None, Some(shares)) => {
                SizeGoal::CellHalfWidth(width, planned(second, &with_protect, shares)?)
            }
            (Some(width), None, None, None) => SizeGoal::HalfWidth(width),
            (None, Some(difference), None, None) => SizeGoal::Difference { difference, symbol },
            (None, None, Some(slope), None) => SizeGoal::Slope(slope),
            _ => {
                return Err(Trouble::usage(
                    "give one of half_width (perhaps with with_shares), difference and slope",
                ));
            }
        };
        let question = planned(policy, &protect, shares)?;
        plan::size(&SizeRequest { question, goal, level, power })
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
