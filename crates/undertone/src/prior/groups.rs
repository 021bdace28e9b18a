//! One prior for every group of rows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use undertone_design::fit::Fit;

use super::fitting::{FitTerms, PriorFitRequest, found_remark, likeliest, remarks};
use super::tally::{GroupTally, OTHER, Tally};
use crate::Error;
use crate::answer::{Answer, Remark};
use crate::document::PriorDocument;
use crate::number::nats;

/// Which rows make a group.
#[derive(Debug, Clone)]
pub struct GroupRequest {
    /// The columns whose values make groups: one for every combination of them.
    pub group: Vec<String>,
    /// Groups with fewer rows than this are merged into the group "other".
    pub min_group: u64,
}

/// One prior for every group of rows; groups with equal priors share one.
#[derive(Debug, Clone, Serialize)]
pub struct GroupPriors {
    /// Which group has which prior.
    #[serde(flatten)]
    pub index: GroupIndex,
    /// The priors.
    pub priors: Vec<PriorDocument>,
    /// Everything a reader must not overlook.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
}

/// Which group has which prior.
#[derive(Debug, Clone, Serialize)]
pub struct GroupIndex {
    /// The column that was counted.
    pub column: String,
    /// The columns whose values make groups.
    pub by: Vec<String>,
    /// Groups with fewer rows than this were merged.
    pub min_group: u64,
    /// The groups.
    pub groups: Vec<GroupEntry>,
}

/// A group of rows and the prior it has.
#[derive(Debug, Clone, Serialize)]
pub struct GroupEntry {
    /// What it is called.
    #[serde(skip)]
    pub name: String,
    /// What its rows have in common.
    pub group: GroupValues,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them were left out.
    pub skipped: u64,
    /// Which of the priors it has.
    pub prior: usize,
    /// A readable name for a file of that prior; no two priors have the same.
    pub file: String,
}

/// What the rows of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GroupValues {
    /// The value of each column that makes groups.
    Values(BTreeMap<String, String>),
    /// They are of groups too small to have a prior of their own.
    Merged {
        /// The values of each of those groups.
        other: Vec<BTreeMap<String, String>>,
    },
}

/// A group that was counted.
struct CountedGroup {
    name: String,
    values: GroupValues,
    counted: GroupTally,
}

/// A prior that one group or several share.
struct SharedPrior {
    fit: Fit,
    names: Vec<String>,
    counted: GroupTally,
}

impl SharedPrior {
    fn name(&self) -> String {
        self.names.join("; ")
    }
}

/// Fits one prior for every group of rows.
pub fn fit_groups(request: PriorFitRequest, groups: &GroupRequest) -> Result<GroupPriors, Error> {
    let terms = request.terms()?;
    if request.mixture.is_some() {
        return Err(Error::field(
            "mixture",
            "is fitted to all rows together: leave out the groups",
        ));
    }
    let GroupRequest { group: by, min_group } = groups;
    let PriorFitRequest { rows, column, symbols, unknown, .. } = request;
    let mut tally = Tally::of(rows, &column, by, &symbols, unknown, false)?;
    let mut said = Vec::new();
    let kept = merged(&mut tally, by, (*min_group).max(1), &mut said);
    let (shared, entries) = share(&terms, &tally, kept)?;
    for prior in &shared {
        if prior.names.len() > 1 {
            said.push(Remark::new(format!(
                "equal priors, one file, with the widest of their boxes: {}",
                prior.name()
            )));
        }
        for remark in remarks(&tally, &prior.fit, &prior.counted, false) {
            // What holds for all groups is said once.
            let general = remark == found_remark();
            let remark = if general { remark } else { remark.about(&prior.name()) };
            if !said.contains(&remark) {
                said.push(remark);
            }
        }
    }
    let document = |prior: &SharedPrior| {
        terms.document(&tally, Some(&prior.name()), &prior.fit, &prior.counted)
    };
    let priors = shared.iter().map(document).collect();
    said.extend(terms.remark.clone());
    let (by, min_group) = (by.clone(), *min_group);
    let index = GroupIndex { column, by, min_group, groups: entries };
    Ok(GroupPriors { index, priors, remarks: said })
}

/// The groups with at least so many rows, and the others as one group.
fn merged(
    tally: &mut Tally,
    by: &[String],
    least: u64,
    said: &mut Vec<Remark>,
) -> Vec<CountedGroup> {
    let mut kept = Vec::new();
    let mut rest = GroupTally::default();
    let mut small: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for (values, counted) in std::mem::take(&mut tally.groups) {
        let name = values.join(", ");
        let values: BTreeMap<String, String> = by.iter().cloned().zip(values).collect();
        if counted.rows - counted.skipped < least {
            rest.absorb(&counted);
            small.push((name, values));
        } else {
            kept.push(CountedGroup { name, values: GroupValues::Values(values), counted });
        }
    }
    if small.is_empty() {
        return kept;
    }
    let names: Vec<&str> = small.iter().take(10).map(|(name, _)| name.as_str()).collect();
    let more = small.len().saturating_sub(10);
    said.push(Remark::new(format!(
        "{} groups with fewer than {least} rows were merged into \"{OTHER}\": {}{}",
        small.len(),
        names.join("; "),
        if more > 0 { format!(" and {more} more") } else { String::new() }
    )));
    let rows = rest.rows - rest.skipped;
    if rows == 0 {
        said.push(Remark::new(format!("no row of \"{OTHER}\" could be counted: it has no prior")));
        return kept;
    }
    if rows < least {
        said.push(Remark::new(format!("\"{OTHER}\" itself has only {rows} rows")));
    }
    let other = small.into_iter().map(|(_, values)| values).collect();
    let values = GroupValues::Merged { other };
    kept.push(CountedGroup { name: OTHER.into(), values, counted: rest });
    kept
}

/// Fits every group, and lets groups with equal priors share one.
fn share(
    terms: &FitTerms,
    tally: &Tally,
    kept: Vec<CountedGroup>,
) -> Result<(Vec<SharedPrior>, Vec<GroupEntry>), Error> {
    let mut shared: Vec<SharedPrior> = Vec::new();
    let mut entries = Vec::new();
    for CountedGroup { name, values, counted } in kept {
        let fit = terms.fit(counted.counts(tally.symbols.len()))?;
        let (rows, skipped) = (counted.rows, counted.skipped);
        let prior = match shared.iter().position(|prior| prior.fit.same_prior(&fit)) {
            Some(at) => {
                let prior = &mut shared[at];
                prior.fit = prior.fit.clone().shared_with(&fit);
                prior.names.push(name.clone());
                prior.counted.absorb(&counted);
                at
            }
            None => {
                shared.push(SharedPrior { fit, names: vec![name.clone()], counted });
                shared.len() - 1
            }
        };
        let file = String::new();
        entries.push(GroupEntry { name, group: values, rows, skipped, prior, file });
    }
    let files = file_names(&shared);
    entries.iter_mut().for_each(|entry| entry.file.clone_from(&files[entry.prior]));
    Ok((shared, entries))
}

/// A readable file name for every prior, all different.
fn file_names(shared: &[SharedPrior]) -> Vec<String> {
    let mut taken = BTreeSet::from(["groups".to_owned()]);
    let name = |prior: &SharedPrior| {
        let plain: String = prior.names[0]
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(60)
            .collect();
        let plain = plain.trim_matches('-');
        let plain = if plain.is_empty() { "group" } else { plain };
        let mut name = plain.to_owned();
        let mut copy = 2;
        while !taken.insert(name.clone()) {
            name = format!("{plain}-{copy}");
            copy += 1;
        }
        format!("{name}.json")
    };
    shared.iter().map(name).collect()
}

impl GroupPriors {
    /// The prior of a group.
    pub fn prior_of(&self, entry: &GroupEntry) -> &PriorDocument {
        &self.priors[entry.prior]
    }

    /// A group's likeliest symbols with their shares.
    pub fn likeliest(&self, entry: &GroupEntry) -> String {
        let prior = self.prior_of(entry);
        likeliest(&prior.symbols, &prior.p)
    }
}

impl Answer for GroupPriors {
    fn words(&self) -> String {
        let GroupIndex { column, by, groups, .. } = &self.index;
        let mut words = format!(
            "{} priors of {column:?} for {} groups by {}.",
            self.priors.len(),
            groups.len(),
            by.join(", ")
        );
        for entry in groups {
            words += &format!("\n{}: {} rows, {}", entry.name, entry.rows, self.likeliest(entry));
        }
        if let Some(beta) = self.priors.first().and_then(|prior| prior.beta) {
            words += &format!(
                "\nEach group's box holds its truth with probability {}.",
                nats(1.0 - beta)
            );
        }
        words.extend(self.remarks.iter().map(|remark| format!("\nnote: {remark}")));
        words
    }
}
