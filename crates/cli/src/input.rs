//! Reading priors, channels, joints and policies from files or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use undertone_core::Draft;
use undertone_design::fit::Confidence;
use undertone_design::{Channel, Distribution, Joint};

use crate::failure::Failure;

/// Files above this are not read.
const MAX_BYTES: u64 = 1 << 30;

/// A prior as its file holds it. Only `symbols` and `p` are needed; the rest says where it came from
/// and how well it is known, and is what `undertone prior` writes. Other fields are refused.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriorFile {
    pub(crate) symbols: Vec<String>,
    pub(crate) p: Vec<f64>,
    /// The numbers the symbols stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<f64>>,
    /// The edges of bins, one more than there are symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edges: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lower: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upper: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) radius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) beta: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) smoothing: Option<f64>,
    /// Symbols never seen, and the probability they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) floored: Option<Vec<Floored>>,
    /// Rows left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<u64>,
    /// Numbers below and above the range, counted in the end bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clipped: Option<(u64, u64)>,
    /// The law the bins' probabilities come from, if one was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) density: Option<crate::prior::DensityFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) date: Option<String>,
}

/// A symbol that was never seen.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Floored {
    pub(crate) symbol: String,
    pub(crate) to: f64,
}

/// A prior that was read and checked.
pub(crate) struct NamedPrior {
    pub(crate) p: Distribution,
    /// What else the file says; for a bare list, nothing.
    pub(crate) file: Option<PriorFile>,
    /// Where the truth is, if the file says so.
    pub(crate) confidence: Option<Confidence>,
}

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    if let Some(document) = crate::documents::read(path) {
        return Ok(document);
    }
    let fail = |problem: &dyn std::fmt::Display| {
        Failure::input(format!("cannot read {}: {problem}", path.display()))
    };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_string(&mut text)
    } else {
        let file = std::fs::File::open(path).map_err(|error| fail(&error))?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text)
    };
    match read {
        Ok(bytes) if bytes as u64 <= MAX_BYTES => Ok(text),
        Ok(_) => Err(fail(&"it is larger than 1 GiB")),
        Err(error) => Err(fail(&error)),
    }
}

fn json<T: serde::de::DeserializeOwned>(path: &Path, expected: &str) -> Result<T, Failure> {
    serde_json::from_str(&text(path)?).map_err(|error| {
        Failure::input(format!("{}: {error}; expected {expected}", path.display()))
    })
}

/// Names the file in front of what is wrong with its content.
fn named<T>(path: &Path, result: Result<T, undertone_design::Error>) -> Result<T, Failure> {
    result.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

pub(crate) fn prior(path: &Path) -> Result<Distribution, Failure> {
    named_prior(path).map(|prior| prior.p)
}

/// A prior with all its file says.
pub(crate) fn named_prior(path: &Path) -> Result<NamedPrior, Failure> {
    let text = text(path)?;
    let fail = |error: serde_json::Error| {
        Failure::input(format!(
            "{}: {error}; expected a prior such as [0.5, 0.3, 0.2] or {{\"symbols\": [\"a\", \"b\"], \"p\": [0.5, 0.5]}}",
            path.display()
        ))
    };
    if !text.trim_start().starts_with('{') {
        let p = serde_json::from_str(&text).map_err(fail)?;
        let p = named(path, Distribution::new("prior", p))?;
        return Ok(NamedPrior { p, file: None, confidence: None });
    }
    let file: PriorFile = serde_json::from_str(&text).map_err(fail)?;
    named(path, undertone_design::found::check_names(&file.symbols))?;
    let p = named(path, Distribution::new("prior", file.p.clone()))?;
    let bins = p.len() + 1;
    let sizes = [
        ("symbols", Some(file.symbols.len()), p.len()),
        ("values", file.values.as_ref().map(Vec::len), p.len()),
        ("counts", file.counts.as_ref().map(Vec::len), p.len()),
        ("lower", file.lower.as_ref().map(Vec::len), p.len()),
        ("upper", file.upper.as_ref().map(Vec::len), p.len()),
        ("edges", file.edges.as_ref().map(Vec::len), bins),
    ];
    for (what, found, expected) in sizes {
        if let Some(found) = found.filter(|&found| found != expected) {
            let error = undertone_design::Error::Size { what: what.into(), expected, found };
            return named(path, Err(error));
        }
    }
    let confidence = match (&file.lower, &file.upper) {
        (Some(lower), Some(upper)) => {
            let Some(beta) = file.beta else {
                let problem = "lower and upper need beta, the chance that the truth is outside them (0 if they are certain)";
                return named(path, Err(undertone_design::Error::other("prior", problem)));
            };
            let ends = lower.iter().zip(upper).zip(p.as_slice());
            let reach: f64 = ends.map(|((l, u), p)| (u - p).max(p - l)).sum();
            let radius = file.radius.unwrap_or(reach.clamp(0.0, 2.0));
            Some(named(path, Confidence::new(lower.clone(), upper.clone(), radius, beta))?)
        }
        (None, None) => None,
        _ => {
            let problem = "give both ends of the box, lower and upper, or neither";
            return named(path, Err(undertone_design::Error::other("prior", problem)));
        }
    };
    Ok(NamedPrior { p, file: Some(file), confidence })
}

pub(crate) fn priors(paths: &[PathBuf]) -> Result<Vec<Distribution>, Failure> {
    paths.iter().map(|path| prior(path)).collect()
}

pub(crate) fn channel(path: &Path) -> Result<Channel, Failure> {
    let rows =
        json(path, "a channel: a list of rows, one per input, each a list of probabilities")?;
    named(path, Channel::new(rows))
}

pub(crate) fn matrix(path: &Path, expected: &str) -> Result<Vec<Vec<f64>>, Failure> {
    json(path, expected)
}

pub(crate) fn numbers(path: &Path, expected: &str) -> Result<Vec<f64>, Failure> {
    json(path, expected)
}

pub(crate) fn joint(path: &Path) -> Result<Joint, Failure> {
    let rows = matrix(path, "a joint law P(s,x): a list of rows, one per value of s")?;
    named(path, Joint::new(rows))
}

/// A policy document, well formed but not verified.
pub(crate) fn draft(path: &Path) -> Result<Draft, Failure> {
    Draft::from_json(&text(path)?)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}
