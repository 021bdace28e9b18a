//! Options of all commands that read files of people: randomised columns, and how rows were drawn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use undertone::observations::{ReportedUnder, Sampling};
use undertone_core::Policy;

use crate::failure::Failure;
use crate::input;

/// How rows were drawn.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct SamplingOptions {
    /// The column of weights: how many people a row stands for, up to a common factor.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// The column of strata, parts of the population that were sampled apart.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) strata: Option<String>,
    /// The column of clusters, which were drawn as a whole: schools, households, people with several rows.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) cluster: Option<String>,
    /// Known shares or counts, to which weights are raked: {"sex": {"f": 0.52, "m": 0.48}, ...}.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) margins: Option<PathBuf>,
}

impl SamplingOptions {
    /// Whether any was given.
    pub(crate) fn given(&self) -> bool {
        self.weights.is_some()
            || self.strata.is_some()
            || self.cluster.is_some()
            || self.margins.is_some()
    }

    /// The library's form, in a population of so many people where that was said.
    pub(crate) fn sampling(&self, population: Option<u64>) -> Result<Sampling, Failure> {
        let margins = match &self.margins {
            Some(path) => Sampling::read_margins(&path.display().to_string(), &input::text(path)?)?,
            None => Vec::new(),
        };
        Ok(Sampling {
            weights: self.weights.clone(),
            strata: self.strata.clone(),
            cluster: self.cluster.clone(),
            population,
            margins,
        })
    }
}

/// Which columns are randomised, and under what.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct RandomisedOptions {
    /// A randomised column and its policy; may be given several times. Other columns are clear.
    #[arg(long, value_name = "COLUMN=POLICY.json")]
    randomised: Vec<String>,
    /// The column that says under which design a row was reported, and a map of what it may say: {"1": "clear", "2":
    /// "policy.json"}. Names of files are relative to the map's folder; a policy may also stand in the map itself.
    #[arg(long, value_name = "COLUMN=MAP.json", requires = "randomised")]
    policy_by: Option<String>,
}

/// The two sides of an option such as COLUMN=FILE.
fn sides<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a Path), Failure> {
    match text.split_once('=') {
        Some((column, file)) if !column.is_empty() && !file.is_empty() => {
            Ok((column, Path::new(file)))
        }
        _ => Err(Failure::usage(format!(
            "{option} is {text:?}: give a column and a file, as in answer=policy.json"
        ))),
    }
}

impl RandomisedOptions {
    /// Every randomised column with its design.
    pub(crate) fn designs(&self) -> Result<Vec<(String, ReportedUnder)>, Failure> {
        let mut all: Vec<(String, ReportedUnder)> = Vec::new();
        for text in &self.randomised {
            let (column, file) = sides("--randomised", text)?;
            if all.iter().any(|(known, _)| known == column) {
                return Err(Failure::usage(format!(
                    "--randomised names {column:?} twice: give its policy once, or use --policy-by"
                )));
            }
            all.push((column.to_owned(), ReportedUnder::from(input::policy(file)?)));
        }
        let Some(text) = &self.policy_by else { return Ok(all) };
        let [(_, under)] = &mut all[..] else {
            return Err(Failure::usage(
                "--policy-by says how one column was reported: give --randomised once with it",
            ));
        };
        *under = reported_by(text)?;
        Ok(all)
    }
}

/// What `--policy-by` says: the column that names the design of a row, and the map of designs.
pub(crate) fn reported_by(text: &str) -> Result<ReportedUnder, Failure> {
    let (column, map) = sides("--policy-by", text)?;
    Ok(ReportedUnder::By { column: column.to_owned(), designs: designs(map)? })
}

/// The map that `--policy-by` names.
pub(crate) fn map_of(text: &str) -> Result<&Path, Failure> {
    Ok(sides("--policy-by", text)?.1)
}

/// What a map of designs says.
fn designs(path: &Path) -> Result<Vec<(String, Option<Policy>)>, Failure> {
    let expected = "a map of what the column may say: {\"1\": \"clear\", \"2\": \"policy.json\"}";
    let map: BTreeMap<String, Value> = input::json(path, expected)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let one = |(name, value): (String, Value)| {
        let policy = match &value {
            Value::String(word) if word == "clear" => None,
            Value::String(file) => Some(input::policy(&folder.join(file))?),
            document => {
                let wrong = |error: &dyn std::fmt::Display| {
                    Failure::input(format!("{}: {name:?}: {error}", path.display()))
                };
                Some(Policy::from_json(&document.to_string()).map_err(|error| wrong(&error))?)
            }
        };
        Ok((name, policy))
    };
    map.into_iter().map(one).collect()
}
