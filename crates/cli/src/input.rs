//! Reading priors, channels, joints and policies from files or standard input.

mod by_name;
mod words;

use words::json_words;
pub(crate) use words::unplaced;

use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use undertone_core::{Alphabet, Draft};
use undertone_design::fit::Confidence;
use undertone_theory::sequence::Process;
use undertone_design::prior_region::PriorBox;
use undertone_design::{Channel, Distribution, Joint, Symbols};

use crate::failure::Failure;

/// Files above this are not read.
const MAX_BYTES: u64 = 1 << 30;

/// A prior as its file holds it. Only `p` is needed, and `symbols` to name its entries; the rest says where
/// it came from and how well it is known, and is what `undertone prior` writes. Other fields are refused.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriorFile {
    /// What the entries are called; empty if they have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
#[derive(Clone)]
pub(crate) struct NamedPrior {
    /// The probabilities, of the symbols the file names.
    pub(crate) p: Distribution,
    /// What else the file says; for a bare list, nothing.
    pub(crate) file: Option<PriorFile>,
    /// Where the truth is, if the file says so.
    pub(crate) confidence: Option<Confidence>,
}

/// The text of a file; `-` is standard input. A byte-order mark at its beginning is no part of it.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    if let Some(document) = crate::documents::read(path) {
        return Ok(unmarked(document));
    }
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

/// A JSON document; `expected` says what it should be where it is something else.
pub(crate) fn json<T: serde::de::DeserializeOwned>(
    path: &Path,
    expected: &str,
) -> Result<T, Failure> {
    parsed(path, &text(path)?, expected)
}

/// Reads JSON, and says what was expected where it is something else.
fn parsed<T: serde::de::DeserializeOwned>(
    path: &Path,
    text: &str,
    expected: &str,
) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| unreadable(path, text, &error, expected))
}

/// Why a document could not be read, and what it should have been.
fn unreadable(path: &Path, text: &str, error: &serde_json::Error, expected: &str) -> Failure {
    let problem = if text.trim().is_empty() {
        "the file is empty".to_owned()
    } else {
        json_words(text, &error.to_string())
    };
    Failure::input(format!("{}: {problem}; expected {expected}", path.display()))
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
    let expected = "a prior such as [0.5, 0.3, 0.2], {\"a\": 0.5, \"b\": 0.5} or \
        {\"symbols\": [\"a\", \"b\"], \"p\": [0.5, 0.5]}";
    if !text.trim_start().starts_with('{') {
        let p = parsed(path, &text, expected)?;
        let p = named(path, Distribution::new("prior", p))?;
        return Ok(NamedPrior { p, file: None, confidence: None });
    }
    let file =
        by_name::prior_file(&text).map_err(|error| unreadable(path, &text, &error, expected))?;
    named(path, undertone_design::found::check_names(&file.symbols))?;
    let p = named(path, Distribution::new("prior", file.p.clone()))?;
    let bins = p.len() + 1;
    let sizes = [
        ("symbols", Some(file.symbols.len()).filter(|names| *names > 0), p.len()),
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
    let p = named(path, by_name::alphabet(&file).and_then(|names| p.over(&Symbols::of(&names))))?;
    Ok(NamedPrior { p, file: Some(file), confidence })
}

/// What the symbols of a prior's file are: bins, numbers, names, or bare indices.
pub(crate) fn alphabet(file: &PriorFile) -> Result<Alphabet, Failure> {
    Ok(by_name::alphabet(file)?)
}

/// Priors over the same symbols, in the order of the first one's.
pub(crate) struct PriorSet {
    pub(crate) priors: Vec<Distribution>,
    /// A file that lists the symbols in another order than the first.
    turned: Option<PathBuf>,
}

impl PriorSet {
    /// Brings priors into one order; refuses one that is about other symbols.
    pub(crate) fn new(paths: &[PathBuf], laws: &[Distribution]) -> Result<Self, Failure> {
        let mut set = Self { priors: Vec::with_capacity(laws.len()), turned: None };
        let Some(first) = laws.first() else { return Ok(set) };
        for (path, law) in paths.iter().zip(laws) {
            let ordered = law.in_order_of(&path.display().to_string(), first.symbols())?;
            if let Cow::Owned(_) = ordered {
                set.turned.get_or_insert(path.clone());
            }
            set.priors.push(ordered.into_owned());
        }
        Ok(set)
    }

    /// Refuses a list or matrix without names where it would be unclear whose order it is in.
    pub(crate) fn check_bare(&self, what: &str, fix: &str) -> Result<(), Failure> {
        match &self.turned {
            None => Ok(()),
            Some(path) => Err(Failure::input(format!(
                "{what} has no names, and {} lists its symbols in another order than the first prior, so that it is unclear which row is whose: {fix}, or list the symbols alike",
                path.display()
            ))),
        }
    }
}

/// The priors of several files, in one order.
pub(crate) fn priors(paths: &[PathBuf]) -> Result<PriorSet, Failure> {
    let laws = paths.iter().map(|path| prior(path)).collect::<Result<Vec<_>, _>>()?;
    PriorSet::new(paths, &laws)
}

/// A matrix, or an object that also names its rows and columns.
fn matrix_file<Named: serde::de::DeserializeOwned>(
    path: &Path,
    expected: &str,
) -> Result<by_name::Matrix<Named>, Failure> {
    let text = text(path)?;
    Ok(match text.trim_start().starts_with('{') {
        true => by_name::Matrix::Named(parsed(path, &text, expected)?),
        false => by_name::Matrix::Bare(parsed(path, &text, expected)?),
    })
}

pub(crate) fn channel(path: &Path) -> Result<Channel, Failure> {
    let expected = "a channel: a list of rows, one per input, each a list of probabilities, or {\"inputs\": [names], \"outputs\": [names], \"rows\": [...]}";
    match matrix_file::<by_name::ChannelFile>(path, expected)? {
        by_name::Matrix::Bare(rows) => named(path, Channel::new(rows)),
        by_name::Matrix::Named(file) => named(path, file.channel()),
    }
}

/// A box of priors: its lower and its upper ends, each in one of the forms of a prior, with any sum.
pub(crate) fn prior_box(lower: &Path, upper: &Path) -> Result<PriorBox, Failure> {
    let ends = |path: &Path| -> Result<(Vec<f64>, Symbols), Failure> {
        let text = text(path)?;
        let expected = "a list of probabilities, one per symbol, {\"a\": 0.1, \"b\": 0.2} or \
            {\"symbols\": [\"a\", \"b\"], \"p\": [0.1, 0.2]}";
        if !text.trim_start().starts_with('{') {
            let list: Vec<f64> = parsed(path, &text, expected)?;
            if list.is_empty() {
                let what = "the list of probabilities".into();
                return named(path, Err(undertone_design::Error::Empty { what }));
            }
            let symbols = Symbols::unnamed(list.len());
            return Ok((list, symbols));
        }
        let file = by_name::prior_file(&text)
            .map_err(|error| unreadable(path, &text, &error, expected))?;
        let symbols = Symbols::of(&named(path, by_name::alphabet(&file))?);
        if symbols.len() != file.p.len() {
            let (expected, found) = (file.p.len(), symbols.len());
            let error = undertone_design::Error::Size { what: "symbols".into(), expected, found };
            return named(path, Err(error));
        }
        Ok((file.p, symbols))
    };
    let ((low, symbols), (high, others)) = (ends(lower)?, ends(upper)?);
    let high = match others.places(&upper.display().to_string(), &symbols)? {
        Some(places) => places.iter().map(|&at| high[at]).collect(),
        None => high,
    };
    let within = PriorBox::new(low, high).and_then(|within| within.over(&symbols));
    within.map_err(|error| {
        Failure::input(format!("{}, {}: {error}", lower.display(), upper.display()))
    })
}

pub(crate) fn matrix(path: &Path, expected: &str) -> Result<Vec<Vec<f64>>, Failure> {
    json(path, expected)
}

pub(crate) fn joint(path: &Path) -> Result<Joint, Failure> {
    let expected = "a joint law P(s,x): a list of rows, one per value of s, or {\"secret\": [names], \"symbols\": [names], \"rows\": [...]}";
    match matrix_file::<by_name::JointFile>(path, expected)? {
        by_name::Matrix::Bare(rows) => named(path, Joint::new(rows)),
        by_name::Matrix::Named(file) => named(path, file.joint()),
    }
}

/// The joint law of two correlated data.
pub(crate) fn pair(path: &Path) -> Result<Process, Failure> {
    let expected = "a joint law P(x1,x2): a list of rows, or {\"first\": [names], \"second\": [names], \"rows\": [...]}";
    let file = match matrix_file::<by_name::PairFile>(path, expected)? {
        by_name::Matrix::Bare(rows) => by_name::PairFile { first: None, second: None, rows },
        by_name::Matrix::Named(file) => file,
    };
    let pair = named(path, Process::pair(&file.rows))?;
    let mut symbols: Vec<Symbols> =
        pair.marginals().iter().map(|law| law.symbols().clone()).collect();
    for (at, what, names) in [(0, "first", file.first), (1, "second", file.second)] {
        if let Some(names) = names {
            symbols[at] = named(path, by_name::listed(what, names))?;
        }
    }
    named(path, pair.over(&symbols))
}

/// A policy document, well formed but not verified.
pub(crate) fn draft(path: &Path) -> Result<Draft, Failure> {
    document(path, Draft::from_json)
}

/// A document read by the crate that knows its format.
pub(crate) fn document<T, E: std::fmt::Display>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Failure> {
    let text = text(path)?;
    if text.trim().is_empty() {
        return Err(Failure::input(format!("{}: the file is empty", path.display())));
    }
    read(&text).map_err(|error| {
        Failure::input(format!("{}: {}", path.display(), json_words(&text, &error.to_string())))
    })
}
