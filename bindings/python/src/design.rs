//! Designs, curves of designs and releases that keep a secret, asked with documents as JSON text.

use pyo3::prelude::*;
use undertone::curve::{CurveMethod, CurveRequest, curve as designed_curve, levels};
use undertone::design::{
    AccuracyGoal, DesignContext, DesignReport, DesignRequest, Losses, NumberOptions, Objective,
    People, Protection, Scale, SecretLaw, Sigma,
};
use undertone::policy_make::{MakeRequest, OwnClaims, OwnMechanism, make};
use undertone::watchdog::{WatchdogBudget, WatchdogRequest};
use undertone::{Answer, Error as Trouble, Prior, document, watchdog as watched};
use undertone_design::Symbols;

use crate::ask::{answer, asked, each, optional_whole};

/// What a secret is called where nobody says.
const SECRET: &str = "secret";

/// An argument that is one of some words, or a number.
#[derive(FromPyObject)]
pub(crate) enum WordOrNumber {
    Number(f64),
    Word(String),
}

/// Levels as a list, or as the text `from:to:step`.
#[derive(FromPyObject)]
pub(crate) enum Levels {
    List(Vec<f64>),
    Text(String),
}

/// A box of priors, which has two ends.
fn prior_box(
    lower: Option<&str>,
    upper: Option<&str>,
) -> Result<Option<undertone_design::prior_region::PriorBox>, Trouble> {
    let missing = |field: &str| {
        Err(Trouble::field(field, "is missing: a box of priors has two ends, give both"))
    };
    match (lower, upper) {
        (Some(lower), Some(upper)) => {
            document::prior_box(("prior_lower", lower), ("prior_upper", upper)).map(Some)
        }
        (None, None) => Ok(None),
        (Some(_), None) => missing("prior_upper"),
        (None, Some(_)) => missing("prior_lower"),
    }
}

/// How accurate shares must be, and for how many people.
fn accuracy_goal(
    half_width: Option<f64>,
    level: f64,
    n: Option<i64>,
    for_n: bool,
) -> Result<Option<AccuracyGoal>, Trouble> {
    let people = match (optional_whole("n", n)?, for_n) {
        (Some(_), true) => {
            return Err(Trouble::usage("give n, or for_n to find it, not both"));
        }
        (Some(n), false) => Some(People::Fixed(n)),
        (None, true) => Some(People::Needed),
        (None, false) => None,
    };
    match (half_width, people) {
        (Some(half_width), Some(people)) => Ok(Some(AccuracyGoal { half_width, level, people })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(Trouble::field("accuracy", "needs n, how many people answer, or for_n to find it"))
        }
        (None, Some(_)) => {
            let field = if for_n { "for_n" } else { "n" };
            Err(Trouble::field(field, "needs accuracy, the half-width of a share's interval"))
        }
    }
}

fn laplace_scale(
    scale: Option<WordOrNumber>,
    alpha: Option<f64>,
) -> Result<Option<Scale>, Trouble> {
    match scale {
        Some(WordOrNumber::Number(scale)) => {
            // An alpha belongs to a word.
            undertone::design::laplace_scale(None, alpha)?;
            Ok(Some(Scale::Given(scale)))
        }
        Some(WordOrNumber::Word(word)) => undertone::design::laplace_scale(Some(&word), alpha),
        None => undertone::design::laplace_scale(None, alpha),
    }
}

fn gaussian_sigma(sigma: WordOrNumber) -> Result<Sigma, Trouble> {
    match sigma {
        WordOrNumber::Number(sigma) => Ok(Sigma::Given(sigma)),
        WordOrNumber::Word(word) => undertone::design::gaussian_sigma(&word),
    }
}

/// A verified policy from what is known, a protection and an objective: the answer, and the policy's document unless a
/// printed formula misses its claim.
#[pyfunction]
#[pyo3(signature = (priors, *, protect, size = None, symbols = None, any_prior = false, prior_lower = None, prior_upper = None, joint = None, secret_name = None, objective = None, loss = None, values = None, method = None, max_bits = None, accept = false, allow_uninformative = false, accuracy = None, n = None, for_n = false, level = 0.95, points = None, range = None, bins = None, output_bins = None, output_range = None, density = None, scale = None, alpha = None, sigma = None, convention = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn design(
    py: Python<'_>,
    priors: Vec<String>,
    protect: Vec<String>,
    size: Option<i64>,
    symbols: Option<Vec<String>>,
    any_prior: bool,
    prior_lower: Option<String>,
    prior_upper: Option<String>,
    joint: Option<String>,
    secret_name: Option<String>,
    objective: Option<String>,
    loss: Option<String>,
    values: Option<Vec<f64>>,
    method: Option<String>,
    max_bits: Option<i64>,
    accept: bool,
    allow_uninformative: bool,
    accuracy: Option<f64>,
    n: Option<i64>,
    for_n: bool,
    level: f64,
    points: Option<Vec<String>>,
    range: Option<Vec<String>>,
    bins: Option<i64>,
    output_bins: Option<i64>,
    output_range: Option<Vec<String>>,
    density: Option<String>,
    scale: Option<WordOrNumber>,
    alpha: Option<f64>,
    sigma: Option<WordOrNumber>,
    convention: Option<String>,
) -> PyResult<(String, Option<String>)> {
    asked(py, || {
        let secret = joint.map(|text| -> Result<_, Trouble> {
            let name = secret_name.unwrap_or_else(|| SECRET.into());
            Ok(SecretLaw { name, joint: document::joint("joint", &text)? })
        });
        let context = DesignContext {
            priors: each("prior", &priors, Prior::read)?,
            size: optional_whole("size", size)?,
            symbols: symbols.map(Symbols::names).transpose()?,
            any_prior,
            within: prior_box(prior_lower.as_deref(), prior_upper.as_deref())?,
            secret: secret.transpose()?,
            ..DesignContext::default()
        };
        let objective: Option<Objective> = match (loss, objective) {
            (Some(text), _) => Some(Losses::read("loss", &text)?.into()),
            (None, name) => name.map(|name| name.parse()).transpose()?,
        };
        let ends = |field: &str, ends: Option<Vec<String>>| {
            ends.map(|ends| undertone::design::range(field, &ends)).transpose()
        };
        let convention = convention.map(|text| undertone::design::convention(&text)).transpose()?;
        let usual = NumberOptions::default();
        let numbers = NumberOptions {
            points: points.map(|points| undertone::design::points(&points)).transpose()?,
            range: ends("range", range)?,
            bins: optional_whole("bins", bins)?,
            output_bins: optional_whole("output_bins", output_bins)?,
            output_range: ends("output_range", output_range)?,
            density: density.map(|words| words.parse()).transpose()?,
            scale: laplace_scale(scale, alpha)?,
            sigma: sigma.map(gaussian_sigma).transpose()?,
            convention: convention.unwrap_or(usual.convention),
        };
        let report = undertone::design::design(&DesignRequest {
            context,
            protect: protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            accuracy: accuracy_goal(accuracy, level, n, for_n)?,
            objective,
            values: values.unwrap_or_default(),
            method: method.map(|name| name.parse()).transpose()?,
            max_bits: optional_whole("max_bits", max_bits)?,
            accept,
            allow_uninformative,
            numbers,
        })?;
        let policy = match &report {
            DesignReport::Verified(found) => Some(found.policy.draft().to_json()),
            DesignReport::Refused(_) => None,
        };
        Ok((report.json().to_string(), policy))
    })
}

/// A policy from one's own mechanism: the answer, and the policy's document if its claims hold. `channel` is the document
/// that `design="channel"` stands for.
#[pyfunction]
#[pyo3(signature = (design, *, channel = None, symbols = None, prior = None, claims = None))]
pub(crate) fn policy_make(
    py: Python<'_>,
    design: &str,
    channel: Option<String>,
    symbols: Option<Vec<String>>,
    prior: Option<String>,
    claims: Option<Vec<String>>,
) -> PyResult<(String, Option<String>)> {
    asked(py, || {
        let mechanism = match channel {
            Some(text) => OwnMechanism::Channel(document::channel("channel", &text)?),
            None => OwnMechanism::read(design, |file| {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Trouble::of_system("read", file, &error))?;
                document::channel(file, &text)
            })?,
        };
        let claims = match claims {
            None => OwnClaims::Attained,
            Some(list) if list == ["none"] => OwnClaims::Nothing,
            Some(list) => {
                let claim = |text: &String| {
                    let said = format!("is {text:?}: write ldp:1, lip:1, or none alone");
                    text.parse::<Protection>().map_err(|_| Trouble::field("claim", said))
                };
                OwnClaims::These(list.iter().map(claim).collect::<Result<_, _>>()?)
            }
        };
        let made = make(&MakeRequest {
            mechanism,
            symbols: symbols.unwrap_or_default(),
            prior: prior.map(|text| Prior::read("prior", &text)).transpose()?,
            claims,
        })?;
        let policy = made.policy.as_ref().map(|policy| policy.to_json());
        Ok((made.json().to_string(), policy))
    })
}

/// A release that keeps belief in a secret within a budget: the answer, and the policy's document if the budget is met.
#[pyfunction]
#[pyo3(signature = (joint, *, method, lower = None, upper = None, ldp = None, split = None, secret_name = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn watchdog(
    py: Python<'_>,
    joint: &str,
    method: &str,
    lower: Option<f64>,
    upper: Option<f64>,
    ldp: Option<f64>,
    split: Option<WordOrNumber>,
    secret_name: Option<String>,
) -> PyResult<(String, Option<String>)> {
    asked(py, || {
        let split = match split {
            Some(WordOrNumber::Number(share)) => Some(share),
            Some(WordOrNumber::Word(word)) => watched::split(&word)?,
            None => None,
        };
        let budget = match (lower, upper, ldp) {
            (Some(lower), Some(upper), None) => WatchdogBudget::Sides { lower, upper },
            (None, None, Some(level)) => WatchdogBudget::Ldp { level, split },
            _ => return Err(Trouble::usage("give lower and upper, or ldp, perhaps with split")),
        };
        let report = watched::watchdog(&WatchdogRequest {
            joint: document::joint("joint", joint)?,
            secret_name: secret_name.unwrap_or_else(|| SECRET.into()),
            source: "joint law of joint".into(),
            budget,
            method: watched::method(method)?,
        })?;
        let policy = report.policy.as_ref().map(|policy| policy.draft().to_json());
        Ok((report.json().to_string(), policy))
    })
}

/// The best utility at every level, method by method.
#[pyfunction]
#[pyo3(signature = (priors, *, epsilons, objective = None, methods = None, values = None))]
pub(crate) fn curve(
    py: Python<'_>,
    priors: Vec<String>,
    epsilons: Levels,
    objective: Option<String>,
    methods: Option<Vec<String>>,
    values: Option<Vec<f64>>,
) -> PyResult<String> {
    answer(py, || {
        let methods = match methods {
            Some(names) => names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
            None => CurveMethod::USUAL.to_vec(),
        };
        designed_curve(&CurveRequest {
            context: DesignContext::of(each("prior", &priors, Prior::read)?),
            objective: objective.map(|name| name.parse()).transpose()?,
            values: values.unwrap_or_default(),
            epsilons: match epsilons {
                Levels::List(levels) => levels,
                Levels::Text(text) => levels("epsilons", &text)?,
            },
            methods,
        })
    })
}
