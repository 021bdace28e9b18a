//! Reading priors, channels, joints and policies from files or standard input.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use undertone::Prior;
use undertone::document;
use undertone_core::plan::{Plan, PlanDraft};
use undertone_core::{Draft, Policy};
use undertone_design::prior_region::PriorBox;
use undertone_design::{Channel, Joint, Symbols};
use undertone_theory::sequence::Process;

use crate::failure::Failure;

/// Files above this are not read.
const MAX_BYTES: u64 = 1 << 30;

/// The text of a file; `-` is standard input. A byte-order mark at its beginning is no part of it.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let fail = |problem: &str| Failure::file(format!("cannot read {}: {problem}", path.display()));
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let file =
            std::fs::File::open(path).map_err(|error| Failure::of_system("read", path, &error))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)
    };
    match read {
        Ok(size) if size as u64 > MAX_BYTES => return Err(fail("it is larger than 1 GiB")),
        Ok(_) => {}
        Err(error) => return Err(Failure::of_system("read", path, &error)),
    }
    let text =
        String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8 text: save it as UTF-8"))?;
    Ok(unmarked(text))
}

/// Refuses a file that cannot be opened, before somebody reads it who would say so in other words.
pub(crate) fn readable(path: &Path) -> Result<(), Failure> {
    let folder = || Err(ErrorKind::IsADirectory.into());
    std::fs::File::open(path)
        .and_then(|file| if file.metadata()?.is_dir() { folder() } else { Ok(()) })
        .map_err(|error| Failure::of_system("read", path, &error))
}

/// A text without the byte-order mark some programs begin a file with.
fn unmarked(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// A document: its name, as errors begin with it, and its text.
fn document_of(path: &Path) -> Result<(String, String), Failure> {
    Ok((path.display().to_string(), text(path)?))
}

/// A JSON document; `expected` says what it should be where it is something else.
pub(crate) fn json<T: serde::de::DeserializeOwned>(
    path: &Path,
    expected: &str,
) -> Result<T, Failure> {
    let (name, text) = document_of(path)?;
    Ok(document::json(&name, &text, expected)?)
}

pub(crate) fn prior(path: &Path) -> Result<Prior, Failure> {
    let (name, text) = document_of(path)?;
    Ok(Prior::read(&name, &text)?)
}

/// Names of symbols: as they are listed, or after `file:` the lines of a file.
pub(crate) fn symbols(listed: &[String]) -> Result<Option<Symbols>, Failure> {
    if listed.is_empty() {
        return Ok(None);
    }
    let named = Symbols::names(names(listed)?);
    // Its words begin with `symbols`.
    named.map(Some).map_err(|error| Failure::usage(format!("--{error}")))
}

/// What is listed, or after `file:` the lines of a file.
pub(crate) fn names(listed: &[String]) -> Result<Vec<String>, Failure> {
    match listed {
        [one] => match one.strip_prefix("file:") {
            Some(path) => Ok(text(Path::new(path))?.lines().map(str::to_owned).collect()),
            None => Ok(listed.to_vec()),
        },
        _ => Ok(listed.to_vec()),
    }
}

/// The priors of several files.
pub(crate) fn priors(paths: &[PathBuf]) -> Result<Vec<Prior>, Failure> {
    paths.iter().map(|path| prior(path)).collect()
}

pub(crate) fn channel(path: &Path) -> Result<Channel, Failure> {
    let (name, text) = document_of(path)?;
    Ok(document::channel(&name, &text)?)
}

/// A box of priors: its lower and its upper ends.
pub(crate) fn prior_box(lower: &Path, upper: &Path) -> Result<PriorBox, Failure> {
    let (lower, upper) = (document_of(lower)?, document_of(upper)?);
    Ok(document::prior_box((&lower.0, &lower.1), (&upper.0, &upper.1))?)
}

pub(crate) fn joint(path: &Path) -> Result<Joint, Failure> {
    let (name, text) = document_of(path)?;
    Ok(document::joint(&name, &text)?)
}

/// The joint law of two correlated data.
pub(crate) fn pair(path: &Path) -> Result<Process, Failure> {
    let (name, text) = document_of(path)?;
    Ok(document::pair(&name, &text)?)
}

/// A policy document, well formed but not verified.
pub(crate) fn draft(path: &Path) -> Result<Draft, Failure> {
    let other = ("plan/", "is a plan, not a policy: undertone plan show reads it");
    document(path, |text| not_a(other, text).and_then(|()| Ok(Draft::from_json(text)?)))
}

/// A plan document, well formed but not verified.
pub(crate) fn plan_draft(path: &Path) -> Result<PlanDraft, Failure> {
    let other = ("policy/", "is a policy, not a plan: undertone policy show reads it");
    document(path, |text| not_a(other, text).and_then(|()| Ok(PlanDraft::from_json(text)?)))
}

/// Refuses a document that says it is of another kind, which its reader would refuse in words about single fields.
fn not_a((kind, refusal): (&str, &str), text: &str) -> Result<(), Box<dyn std::error::Error>> {
    #[derive(serde::Deserialize)]
    struct Kind {
        undertone: String,
    }
    match serde_json::from_str::<Kind>(text) {
        Ok(found) if found.undertone.starts_with(kind) => Err(refusal.into()),
        _ => Ok(()),
    }
}

/// A policy, which is checked again.
pub(crate) fn policy(path: &Path) -> Result<Policy, Failure> {
    draft(path)?.verify().map_err(|refusal| {
        Failure::input(format!("{}: the policy is refused: {refusal}", path.display()))
    })
}

/// A plan, which is checked again.
pub(crate) fn plan(path: &Path) -> Result<Plan, Failure> {
    plan_draft(path)?.verify().map_err(|refusal| {
        Failure::input(format!("{}: the plan is refused: {refusal}", path.display()))
    })
}

/// A document read by the crate that knows its format.
pub(crate) fn document<T, E: std::fmt::Display>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Failure> {
    let (name, text) = document_of(path)?;
    Ok(document::read(&name, &text, read)?)
}
