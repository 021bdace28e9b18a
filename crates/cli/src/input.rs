//! Reading priors, channels, joints and policies from files or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use undertone_core::Draft;
use undertone_design::{Channel, Distribution, Joint};

use crate::failure::Failure;

/// Files above this are not read.
const MAX_BYTES: u64 = 1 << 30;

#[derive(Deserialize)]
#[serde(untagged)]
enum RawPrior {
    Bare(Vec<f64>),
    Named(RawNamed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNamed {
    symbols: Vec<String>,
    p: Vec<f64>,
}

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
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
    let raw = json(
        path,
        "a prior such as [0.5, 0.3, 0.2] or {\"symbols\": [\"a\", \"b\"], \"p\": [0.5, 0.5]}",
    )?;
    match raw {
        RawPrior::Bare(p) => named(path, Distribution::new("prior", p)),
        RawPrior::Named(raw) => {
            let p = named(path, Distribution::new("prior", raw.p))?;
            named(path, p.check_len("symbols", raw.symbols.len()))?;
            Ok(p)
        }
    }
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

pub(crate) fn joint(path: &Path) -> Result<Joint, Failure> {
    let rows = matrix(path, "a joint law P(s,x): a list of rows, one per value of s")?;
    named(path, Joint::new(rows))
}

/// A policy document, well formed but not verified.
pub(crate) fn draft(path: &Path) -> Result<Draft, Failure> {
    Draft::from_json(&text(path)?)
        .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}
