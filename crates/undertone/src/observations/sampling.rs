//! The columns that say how rows were drawn.

use std::collections::BTreeMap;

use undertone_estimate::{Factor, Margin, Sample, SampleDesign};

use super::{Observation, ObservedAs, ObservedColumn};
use crate::Error;
use crate::document::json;

/// Known shares, or counts, of the categories of some columns.
pub type KnownMargins = Vec<(String, BTreeMap<String, f64>)>;

/// How the rows of a file were drawn, by its columns; nothing of it is needed.
#[derive(Debug, Clone, Default)]
pub struct Sampling {
    /// The column of weights.
    pub weights: Option<String>,
    /// The column of strata.
    pub strata: Option<String>,
    /// The column of clusters.
    pub cluster: Option<String>,
    /// How many people the population has, where that is not many more than the rows.
    pub population: Option<u64>,
    /// Known shares, or counts, of the categories of some columns.
    pub margins: KnownMargins,
}

impl Sampling {
    /// Reads margins: `{"sex": {"f": 0.52, "m": 0.48}, "age": {"old": 300, "young": 500}}`.
    pub fn read_margins(name: &str, text: &str) -> Result<KnownMargins, Error> {
        let expected = "known margins: {\"column\": {\"category\": share or count, ...}, ...}";
        let margins: BTreeMap<String, BTreeMap<String, f64>> = json(name, text, expected)?;
        if margins.is_empty() {
            return Err(Error::in_document(name, format!("says nothing: give {expected}")));
        }
        Ok(margins.into_iter().collect())
    }

    /// Whether rows count alike and nothing is known of how they were drawn.
    pub fn is_simple(&self) -> bool {
        self.weights.is_none()
            && self.strata.is_none()
            && self.cluster.is_none()
            && self.population.is_none()
            && self.margins.is_empty()
    }

    /// The columns to be read for it, to be asked for behind `others`. A column that is randomised cannot say how rows were drawn.
    pub fn columns_beside(&self, others: &[ObservedColumn]) -> Result<Vec<ObservedColumn>, Error> {
        let own = self.columns();
        let randomised = |column: &&ObservedColumn| {
            let same = |other: &&ObservedColumn| other.name == column.name;
            let found = others.iter().find(same);
            found.is_some_and(|other| matches!(other.kind, ObservedAs::Randomised(_)))
        };
        match own.iter().find(randomised) {
            Some(column) => Err(Error::input(format!(
                "{:?} is randomised: weights, strata, clusters and margins need columns in the clear",
                column.name
            ))),
            None => Ok(own),
        }
    }

    /// The columns to be read for it, to be asked for behind all others.
    fn columns(&self) -> Vec<ObservedColumn> {
        let weights = self.weights.iter().map(|name| (name, ObservedAs::Weight));
        let factors = self.strata.iter().chain(&self.cluster);
        let factors = factors.chain(self.margins.iter().map(|(name, _)| name));
        let factors = factors.map(|name| (name, ObservedAs::Factor));
        weights.chain(factors).map(|(name, kind)| ObservedColumn::new(name, kind)).collect()
    }

    /// The sample, from what [`Sampling::columns_beside`] asked for.
    pub fn sample(&self, rows: usize, read: &[Observation]) -> Result<Sample, Error> {
        let mut read = read.iter();
        let weights =
            self.weights.as_ref().and_then(|_| read.next()).and_then(Observation::numbers);
        let mut factor = || read.next().and_then(Observation::factor).cloned();
        let strata = self.strata.as_ref().and_then(|_| factor());
        let clusters = self.cluster.as_ref().and_then(|_| factor());
        let weights = weights.map(<[f64]>::to_vec);
        let design = SampleDesign { weights, strata, clusters, population: self.population };
        let mut margins = Vec::new();
        for (name, shares) in &self.margins {
            if let Some(found) = factor() {
                margins.push(margin(name, &found, shares)?);
            }
        }
        let sample = Sample::new(rows, design).map_err(Error::input)?;
        sample.raked(margins).map_err(Error::input)
    }
}

/// A margin whose categories are those of the file, and of the document where the file has none.
fn margin(name: &str, found: &Factor, shares: &BTreeMap<String, f64>) -> Result<Margin, Error> {
    let sum: f64 = shares.values().sum();
    // Counts of people are not all below 1.
    if shares.values().all(|share| *share < 1.0) && (sum - 1.0).abs() > 0.005 {
        let problem = format!(
            ": those of {name:?} add up to {}: give shares that add up to 1, or counts",
            crate::number::nats(sum)
        );
        return Err(Error::field("margins", problem));
    }
    let mut levels = found.levels().to_vec();
    if let Some(unknown) = levels.iter().find(|level| !shares.contains_key(*level)) {
        let problem = format!(
            ": column {name:?} has {unknown:?}, whose share is not given: add it to the margin"
        );
        return Err(Error::field("margins", problem));
    }
    levels.extend(shares.keys().filter(|name| !found.levels().contains(name)).cloned());
    let of = |level: &String| shares.get(level).copied().unwrap_or_default();
    let shares = levels.iter().map(of).collect();
    let factor = Factor::new(levels, found.codes().to_vec()).map_err(Error::input)?;
    Ok(Margin { name: name.to_owned(), factor, shares })
}
