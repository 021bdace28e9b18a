//! Reports to estimate from: columns that are read, and tallies that were stored.

use std::num::NonZero;

use undertone_core::Policy;
use undertone_estimate::{Estimator, Pool, Tally};

use super::EstimateRequest;
use super::counting::{Reader, RowCounts};
use crate::Error;
use crate::columns::Source;
use crate::document::{json, unplaced};
use crate::error::mention;

/// A policy, and what the rows of a file may call it.
#[derive(Debug, Clone)]
pub struct NamedPolicy {
    /// The policy.
    pub policy: Policy,
    /// What errors call it.
    pub name: String,
    /// What else the rows of a file may call it, beside its name, its id and the first 16 digits of its id.
    pub aliases: Vec<String>,
}

impl NamedPolicy {
    /// A policy that is called by its id alone.
    pub fn new(policy: Policy) -> Self {
        Self { name: policy.id().to_string(), policy, aliases: Vec::new() }
    }

    /// Everything it may be called, each once.
    pub fn all_names(&self) -> Vec<String> {
        let id = self.policy.id().to_string();
        let mut names = vec![id[..16].to_owned(), id, self.name.clone()];
        names.extend(self.aliases.iter().cloned());
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Which column of some files is perturbed, and how it is read.
#[derive(Debug, Clone)]
pub struct ReportColumn {
    /// The perturbed column.
    pub column: String,
    /// The column that says which policy a row was perturbed under; not needed for a single policy.
    pub policy_column: Option<String>,
    /// What to do with cells that no policy releases, or that are missing.
    pub unknown: UnknownReports,
    /// How many threads; unless it is given, one for every processor.
    pub threads: Option<NonZero<usize>>,
}

impl ReportColumn {
    /// A column of reports of one policy; a cell that is none of them is refused.
    pub fn new(column: impl Into<String>) -> Self {
        let unknown = UnknownReports::Refuse;
        Self { column: column.into(), policy_column: None, unknown, threads: None }
    }
}

/// What to do with a cell that no policy releases, or that is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownReports {
    /// Stop and name the row.
    #[default]
    Refuse,
    /// Leave the row out, and say how many were.
    Skip,
}

/// The reports of some policies, counted.
#[derive(Debug, Clone)]
pub struct CountedReports {
    groups: Vec<ReportGroup>,
    column: Option<String>,
    rows: RowCounts,
}

/// The reports of one policy.
#[derive(Debug, Clone)]
pub struct ReportGroup {
    /// The policy.
    pub policy: Policy,
    /// Its reports.
    pub tally: Tally,
}

impl CountedReports {
    /// No reports of these policies, as yet.
    pub fn none(policies: &[NamedPolicy]) -> Self {
        let group = |named: &NamedPolicy| ReportGroup {
            tally: Tally::new(&named.policy),
            policy: named.policy.clone(),
        };
        let groups = policies.iter().map(group).collect();
        Self { groups, column: None, rows: RowCounts::default() }
    }

    /// Reports that were counted elsewhere, such as those of a survey's rounds.
    pub fn of(groups: Vec<ReportGroup>) -> Self {
        Self { groups, column: None, rows: RowCounts::default() }
    }

    /// Counts a perturbed column of some files.
    pub fn read(
        policies: &[NamedPolicy],
        files: Vec<Source>,
        column: &ReportColumn,
    ) -> Result<Self, Error> {
        if policies.len() > 1 && column.policy_column.is_none() {
            return Err(Error::usage(format!(
                "with several policies, say with {} which one each row was perturbed under, or estimate each file apart with {} and bring the tallies together with {}",
                mention("policy_column"),
                mention("save_tally"),
                mention("tally")
            )));
        }
        let mut tallies: Vec<Tally> =
            policies.iter().map(|named| Tally::new(&named.policy)).collect();
        let reader = Reader::new(column, policies)?;
        let mut rows = RowCounts::default();
        for file in files {
            rows.add(&reader.read(file, &mut tallies)?);
        }
        let group = |(named, tally): (&NamedPolicy, Tally)| ReportGroup {
            policy: named.policy.clone(),
            tally,
        };
        let groups = policies.iter().zip(tallies).map(group).collect();
        Ok(Self { groups, column: Some(column.column.clone()), rows })
    }

    /// Adds the tallies of a document: one, or a list of them, as [`CountedReports::to_json`] writes them. Errors begin
    /// with the document's name.
    pub fn add_stored(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let fail = |error: String| Error::in_document(name, error);
        let stored: serde_json::Value = json(name, text, "a tally, or a list of tallies")?;
        let list = match stored {
            serde_json::Value::Array(list) => list,
            one => vec![one],
        };
        if list.is_empty() {
            return Err(fail("there is no tally in this list".into()));
        }
        for entry in list {
            // The entry is written anew to be read, so that a place in it is none in the document.
            let tally = Tally::from_json(&entry.to_string())
                .map_err(|error| fail(unplaced(&error.to_string())))?;
            self.add(name, &tally)?;
        }
        Ok(())
    }

    /// Adds a tally of one of the policies. Errors begin with the tally's name.
    pub fn add(&mut self, name: &str, tally: &Tally) -> Result<(), Error> {
        let fail = |error: String| Error::in_document(name, error);
        let of = |group: &&mut ReportGroup| group.policy.id() == tally.policy();
        let Some(group) = self.groups.iter_mut().find(of) else {
            return Err(fail(format!(
                "a tally of policy {}, which is not given: add {} with its document",
                tally.policy(),
                mention("policy")
            )));
        };
        group.tally.merge(tally).map_err(|error| fail(error.to_string()))
    }

    /// All that was counted, as a document for [`CountedReports::add_stored`].
    pub fn to_json(&self) -> String {
        let all: Vec<String> = self.groups.iter().map(|group| group.tally.to_json()).collect();
        if all.len() == 1 { all.concat() } else { format!("[{}]", all.join(",\n")) }
    }

    /// The reports of each policy.
    pub fn groups(&self) -> &[ReportGroup] {
        &self.groups
    }

    /// The column they were read from, if one was.
    pub fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// What happened to the rows that were read.
    pub fn rows(&self) -> RowCounts {
        self.rows
    }

    /// What answers further questions about these reports, at the request's level; refuses none at all.
    pub fn estimator(&self, request: &EstimateRequest) -> Result<Estimator, Error> {
        Estimator::new(self.pool()?, request.settings()?).map_err(Error::input)
    }

    /// All reports together; refuses none at all.
    fn pool(&self) -> Result<Pool, Error> {
        if self.groups.iter().all(|group| group.tally.reports() == 0) {
            return Err(self.nothing());
        }
        let mut pool: Option<Pool> = None;
        for ReportGroup { policy, tally } in &self.groups {
            let tally = tally.clone();
            let joined = match pool {
                None => Pool::new(policy, tally),
                Some(pool) => pool.and(policy, tally),
            };
            pool = Some(joined.map_err(Error::input)?);
        }
        pool.ok_or_else(|| self.nothing())
    }

    fn nothing(&self) -> Error {
        let skipped = self.rows.skipped();
        if skipped > 0 {
            return Error::input(format!(
                "column {:?}: every one of {skipped} rows was skipped, because no policy given releases what it holds: is it the right policy?",
                self.column.as_deref().unwrap_or_default()
            ));
        }
        Error::input("there are no reports to estimate from")
    }
}
