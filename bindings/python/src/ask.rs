//! Use cases of the library, asked with documents as JSON text and answered as JSON text.
//!
//! Every function builds a request, calls the library and gives back what the answer's `json` says; the package's
//! Python files turn arguments into documents and the text into an `Answer`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone::audit::{AuditRequest, AuditSubject};
use undertone::columns::Source;
use undertone::compliance::{ComplianceRequest, compliance as estimated};
use undertone::compose::{ComposeRequest, ComposedData, NamedChannel, Releases, promises};
use undertone::estimate::{CountedReports, EstimateRequest, NamedPolicy};
use undertone::prior::PriorMixRequest;
use undertone::relate::RelateRequest;
use undertone::together::ConsentLimit;
use undertone::transfer::TransferRequest;
use undertone::{Answer, Error as Trouble, ErrorCode, Prior, document, policy_report};
use undertone_core::{Draft, Policy as Verified};

use crate::errors::{Error, Refused, guarded};
use crate::policy::Policy;
use crate::tally::Tally;

/// Does the work without Python's lock; an error becomes an exception that names arguments as they are called here.
pub(crate) fn asked<T: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce() -> Result<T, Trouble>,
) -> PyResult<T> {
    guarded(|| py.detach(work).map_err(|trouble| raised(py, &trouble)))
}

/// The answer's JSON.
pub(crate) fn answer<A: Answer>(
    py: Python<'_>,
    work: impl Send + FnOnce() -> Result<A, Trouble>,
) -> PyResult<String> {
    asked(py, || Ok(work()?.json().to_string()))
}

fn raised(py: Python<'_>, trouble: &Trouble) -> PyErr {
    // `from` is a word of the language.
    let argument = |field: &str| if field == "from" { "from_".into() } else { field.to_owned() };
    let message = trouble.called(argument);
    match trouble.code() {
        code @ ErrorCode::Uninformative => {
            let (cell, level) = (PyDict::new(py).unbind(), None::<f64>);
            Refused::new_err((message, cell, level, level, code.word()))
        }
        _ => Error::new_err(message),
    }
}

/// A whole number of an argument, within what the library takes.
pub(crate) fn whole<T: TryFrom<i64>>(name: &str, value: i64) -> Result<T, Trouble> {
    let problem = format!("is {value}: give a whole number of at least 0 that is not too large");
    T::try_from(value).map_err(|_| Trouble::field(name, problem))
}

/// A whole number of an argument that may be left out.
pub(crate) fn optional_whole<T: TryFrom<i64>>(
    name: &str,
    value: Option<i64>,
) -> Result<Option<T>, Trouble> {
    value.map(|value| whole(name, value)).transpose()
}

/// Documents of one argument: one is called as the argument, several with their places.
pub(crate) fn each<T>(
    name: &str,
    texts: &[String],
    read: impl Fn(&str, &str) -> Result<T, Trouble>,
) -> Result<Vec<T>, Trouble> {
    let called = |at: usize| match texts.len() {
        1 => name.to_owned(),
        _ => format!("{name}[{at}]"),
    };
    texts.iter().enumerate().map(|(at, text)| read(&called(at), text)).collect()
}

fn draft(policy: &Policy) -> Draft {
    policy.0.policy.draft().clone()
}

/// A share from rows that people randomised themselves, given as CSV, and how many followed the design.
#[pyfunction]
#[pyo3(signature = (rows, *, design, response, second, weights = None, yes = None, first_group = None, level = 0.95))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compliance(
    py: Python<'_>,
    rows: String,
    design: &str,
    response: String,
    second: String,
    weights: Option<String>,
    yes: Option<String>,
    first_group: Option<String>,
    level: f64,
) -> PyResult<String> {
    answer(py, || {
        estimated(ComplianceRequest {
            design: design.parse()?,
            source: Source::reader("data", std::io::Cursor::new(rows.into_bytes()))
                .with_separator(',')?,
            response,
            second,
            weights,
            yes,
            first_group,
            level,
        })
    })
}

/// Refuses a prior that cannot be used; `name` is what its errors begin with.
#[pyfunction]
pub(crate) fn check_prior(py: Python<'_>, name: &str, prior: &str) -> PyResult<()> {
    asked(py, || Prior::read(name, prior).map(drop))
}

/// Every measure of a policy, of a channel under a prior, or of a secret.
#[pyfunction]
#[pyo3(signature = (policy = None, *, prior = None, channel = None, joint = None, epsilon = None, alpha = 2.0))]
pub(crate) fn audit(
    py: Python<'_>,
    policy: Option<PyRef<'_, Policy>>,
    prior: Option<String>,
    channel: Option<String>,
    joint: Option<String>,
    epsilon: Option<f64>,
    alpha: f64,
) -> PyResult<String> {
    let policy = policy.map(|policy| Box::new(draft(&policy)));
    answer(py, || {
        let prior = prior.map(|text| Prior::read("prior", &text)).transpose()?;
        let prior = prior.map(|prior| prior.law().clone());
        let channel = channel.map(|text| document::channel("channel", &text)).transpose()?;
        let joint = joint.map(|text| document::joint("joint", &text)).transpose()?;
        let subject = match (policy, joint, prior, channel) {
            (Some(draft), None, prior, None) => AuditSubject::Policy { draft, prior },
            (None, Some(joint), None, channel) => AuditSubject::Secret { joint, channel },
            (None, None, Some(prior), Some(channel)) => AuditSubject::Channel { prior, channel },
            _ => {
                return Err(Trouble::usage(
                    "give a policy, perhaps with another prior; a prior with a channel; or a joint law, perhaps with a channel",
                ));
            }
        };
        undertone::audit::audit(&AuditRequest { subject, epsilon, alpha })
    })
}

/// A policy's claims checked again.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, policy: PyRef<'_, Policy>) -> PyResult<String> {
    let draft = draft(&policy);
    answer(py, || Ok(policy_report::verify(draft)))
}

/// A policy's claims checked again, and what an observer can learn from one answer.
#[pyfunction]
pub(crate) fn show(py: Python<'_>, policy: PyRef<'_, Policy>) -> PyResult<String> {
    let draft = draft(&policy);
    answer(py, || policy_report::show(draft).map(|report| report.shortened()))
}

/// What an observer can learn from one answer, as an SVG picture.
#[pyfunction]
pub(crate) fn risk_picture(py: Python<'_>, policy: PyRef<'_, Policy>) -> PyResult<String> {
    let policy = policy.0.policy.clone();
    asked(py, || undertone_cli::risk_picture(&policy))
}

/// The prior of a population made of several, in known shares.
#[pyfunction]
pub(crate) fn mix(py: Python<'_>, priors: Vec<String>, weights: Vec<f64>) -> PyResult<String> {
    answer(py, || {
        let called = |at: usize| format!("priors[{at}]");
        let read = |(at, text): (usize, &String)| Ok((called(at), Prior::read(&called(at), text)?));
        let priors = priors.iter().enumerate().map(read).collect::<Result<_, Trouble>>()?;
        undertone::prior::mix(&PriorMixRequest { priors, weights })
    })
}

/// What counted reports say about the population.
#[pyfunction]
#[pyo3(signature = (policies, tallies, *, level, all, respondents, above = None, quantiles = None, population = None, top = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn estimate(
    py: Python<'_>,
    policies: Vec<PyRef<'_, Policy>>,
    tallies: Vec<PyRef<'_, Tally>>,
    level: f64,
    all: bool,
    respondents: bool,
    above: Option<f64>,
    quantiles: Option<Vec<f64>>,
    population: Option<i64>,
    top: Option<i64>,
) -> PyResult<String> {
    let named = |policy: &PyRef<'_, Policy>| NamedPolicy::new(policy.0.policy.clone());
    let policies: Vec<NamedPolicy> = policies.iter().map(named).collect();
    let tallies = tallies.iter().map(|tally| tally.copied()).collect::<PyResult<Vec<_>>>()?;
    answer(py, || {
        let usual = EstimateRequest::default();
        let request = EstimateRequest {
            level,
            all,
            respondents,
            above,
            quantiles: quantiles.unwrap_or(usual.quantiles),
            population: optional_whole("population", population)?,
            top: optional_whole("top", top)?,
        };
        let mut reports = CountedReports::none(&policies);
        for tally in &tallies {
            reports.add("reports", tally)?;
        }
        undertone::estimate::estimate(&reports, &request)
    })
}

/// What several policies tell about one datum, held against limits.
#[pyfunction]
pub(crate) fn together(
    py: Python<'_>,
    policies: Vec<PyRef<'_, Policy>>,
    consent: Vec<String>,
) -> PyResult<String> {
    let policies: Vec<Verified> = policies.iter().map(|policy| policy.0.policy.clone()).collect();
    answer(py, || {
        if policies.is_empty() {
            return Err(Trouble::field("policies", "is empty: give at least one policy"));
        }
        let limit = |text: &String| {
            text.parse::<ConsentLimit>()
                .map_err(|problem| Trouble::field("consent", format!(": {problem}")))
        };
        let limits = consent.iter().map(limit).collect::<Result<Vec<_>, _>>()?;
        undertone::together::together(&policies, &limits)
    })
}

/// What one guarantee implies about another notion.
#[pyfunction]
#[pyo3(signature = (from_, to, *, priors, p_min = None, symbols = None, sensors = None, secrets = None, alpha = None, spread = None, convention = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn relate(
    py: Python<'_>,
    from_: &str,
    to: &str,
    priors: Vec<String>,
    p_min: Option<f64>,
    symbols: Option<i64>,
    sensors: Option<i64>,
    secrets: Option<i64>,
    alpha: Option<f64>,
    spread: Option<f64>,
    convention: Option<&str>,
) -> PyResult<String> {
    answer(py, || {
        let mut request = RelateRequest::parse(from_, to)?;
        if let Some(convention) = convention {
            request = request.in_convention(convention)?;
        }
        undertone::relate::relate(&RelateRequest {
            priors: each("prior", &priors, Prior::read)?,
            p_min,
            symbols: optional_whole("symbols", symbols)?,
            sensors: optional_whole("sensors", sensors)?,
            secrets: optional_whole("secrets", secrets)?,
            alpha,
            spread,
            ..request
        })
    })
}

fn named_channel(name: &str, text: &str) -> Result<NamedChannel, Trouble> {
    Ok(NamedChannel { name: name.into(), channel: document::channel(name, text)? })
}

/// What several releases leak together.
#[pyfunction]
#[pyo3(signature = (priors, *, epsilons = None, channels = None, joint = None, markov = None))]
pub(crate) fn compose(
    py: Python<'_>,
    priors: Vec<String>,
    epsilons: Option<Vec<String>>,
    channels: Option<Vec<String>>,
    joint: Option<String>,
    markov: Option<String>,
) -> PyResult<String> {
    answer(py, || {
        let releases = match (epsilons, channels) {
            (Some(epsilons), None) => Releases::Promises(promises(epsilons)?),
            (None, Some(channels)) => {
                Releases::Channels(each("channels", &channels, named_channel)?)
            }
            (None, None) => {
                return Err(Trouble::usage("give epsilons or channels, one per release"));
            }
            _ => return Err(Trouble::usage("give epsilons or channels, not both")),
        };
        let priors = each("prior", &priors, Prior::read)?;
        let data = match (joint, markov) {
            (Some(_), Some(_)) => return Err(Trouble::usage("give joint or markov, not both")),
            (Some(_), None) if !priors.is_empty() => {
                return Err(Trouble::usage("joint holds the law of both data: leave prior out"));
            }
            (Some(joint), None) => ComposedData::Joint(document::pair("joint", &joint)?),
            (None, Some(text)) => {
                ComposedData::Markov { priors, transition: named_channel("markov", &text)? }
            }
            (None, None) => ComposedData::OneDatum { priors },
        };
        undertone::compose::compose(&ComposeRequest { data, releases })
    })
}

/// What leaks when the prior was wrong.
#[pyfunction]
#[pyo3(signature = (from_, to = None, *, epsilon, policy = None, samples = None, beta = 0.05))]
pub(crate) fn transfer(
    py: Python<'_>,
    from_: &str,
    to: Option<&str>,
    epsilon: f64,
    policy: Option<PyRef<'_, Policy>>,
    samples: Option<i64>,
    beta: f64,
) -> PyResult<String> {
    let policy = policy.map(|policy| draft(&policy));
    answer(py, || {
        undertone::transfer::transfer(&TransferRequest {
            from: Prior::read("from_", from_)?,
            to: to.map(|text| Prior::read("to", text)).transpose()?,
            epsilon,
            policy,
            samples: optional_whole("samples", samples)?,
            beta,
        })
    })
}
