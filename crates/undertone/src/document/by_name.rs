//! Files that name what their numbers are about: `{"a": 0.8, "b": 0.2}`, and matrices with names.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use undertone_core::Alphabet;
use undertone_design::codebook;
use undertone_design::{Channel, Error, Joint, Symbols};

use super::PriorDocument;

/// Numbers by name, in the order of the file. A name that is given twice is kept twice, so that it is refused
/// where an alphabet is made of them.
struct Entries(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ByName;
        impl<'de> Visitor<'de> for ByName {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number for every symbol, such as {\"a\": 0.8, \"b\": 0.2}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        from.deserialize_map(ByName)
    }
}

/// Whether an object has the fields of a prior's file; otherwise its fields are symbols.
#[derive(serde::Deserialize)]
struct Fields {
    symbols: Option<IgnoredAny>,
    p: Option<IgnoredAny>,
}

/// A prior's file, in either form of object.
pub(super) fn prior_document(text: &str) -> Result<PriorDocument, serde_json::Error> {
    let by_name = serde_json::from_str::<Entries>(text);
    let fields = serde_json::from_str::<Fields>(text);
    match by_name {
        Ok(Entries(entries)) => {
            let (symbols, p) = entries.into_iter().unzip();
            Ok(PriorDocument { symbols, p, ..PriorDocument::default() })
        }
        Err(_) if fields.is_ok_and(|f| f.symbols.is_some() || f.p.is_some()) => {
            serde_json::from_str(text)
        }
        Err(error) => Err(error),
    }
}

/// What the symbols of a prior's file are: bins, numbers, names, or bare indices.
pub(super) fn alphabet(file: &PriorDocument) -> Result<Alphabet, Error> {
    let refused = |error: undertone_core::AlphabetError| Error::other("symbols", error.to_string());
    if let Some(edges) = &file.edges {
        return bins(file, edges);
    }
    if file.symbols.is_empty() {
        return Alphabet::indices(file.p.len()).map_err(refused);
    }
    // Only texts that are written as the kernel writes them: 02139 is not the number 2139.
    let plain = |(name, value): (&String, &f64)| {
        codebook::decimal(name).filter(|d| d.to_string() == *name && codebook::float(*d) == *value)
    };
    if let Some(values) = &file.values
        && let Some(points) = file.symbols.iter().zip(values).map(plain).collect::<Option<Vec<_>>>()
        && let Ok(points) = Alphabet::points(points)
    {
        return Ok(points);
    }
    Alphabet::names(file.symbols.clone()).map_err(refused)
}

fn bins(file: &PriorDocument, edges: &[f64]) -> Result<Alphabet, Error> {
    let decimals = |what: &str, list: &[f64]| {
        let numbers = list.iter().map(|value| codebook::number(what, &value.to_string()));
        numbers.collect::<Result<Vec<_>, _>>()
    };
    let middles = || edges.windows(2).map(|e| (e[0] + e[1]) / 2.0).collect();
    let values = file.values.clone().unwrap_or_else(middles);
    // Bins are what their edges say; symbols that say otherwise would be somebody else's probabilities.
    let between = |(name, ends): (&String, &[f64])| match codebook::decimal(name) {
        Some(number) => (ends[0]..=ends[1]).contains(&codebook::float(number)),
        None => true,
    };
    let mut pairs = file.symbols.iter().zip(edges.windows(2));
    if let Some((name, ends)) = pairs.find(|pair| !between(*pair)) {
        let problem = format!(
            "{name:?} stands where edges has the bin from {} to {}: list symbols, p and edges in the same order",
            ends[0], ends[1]
        );
        return Err(Error::other("symbols", problem));
    }
    Alphabet::bins(decimals("edges", edges)?, decimals("values", &values)?)
        .map_err(|error| Error::other("the prior's bins", error.to_string()))
}

/// A matrix, alone or with names for its rows and columns.
pub(super) enum Matrix<Named> {
    Bare(Vec<Vec<f64>>),
    Named(Named),
}

/// A channel with names; either list may be left out.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelDocument {
    inputs: Option<Vec<String>>,
    outputs: Option<Vec<String>>,
    rows: Vec<Vec<f64>>,
}

impl ChannelDocument {
    pub(super) fn channel(self) -> Result<Channel, Error> {
        let mut channel = Channel::new(self.rows)?;
        if let Some(inputs) = self.inputs {
            channel = channel.of_inputs(&listed("inputs", inputs)?)?;
        }
        match self.outputs {
            Some(outputs) => channel.of_outputs(&listed("outputs", outputs)?),
            None => Ok(channel),
        }
    }
}

/// A joint law with names; either list may be left out.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointDocument {
    secret: Option<Vec<String>>,
    symbols: Option<Vec<String>>,
    rows: Vec<Vec<f64>>,
}

impl JointDocument {
    pub(super) fn joint(self) -> Result<Joint, Error> {
        let joint = Joint::new(self.rows)?;
        let named = |what: &str, names: Option<Vec<String>>, size: usize| match names {
            Some(names) => listed(what, names),
            None => Ok(Symbols::unnamed(size)),
        };
        let secret = named("secret", self.secret, joint.secret().len())?;
        let symbols = named("symbols", self.symbols, joint.symbols().len())?;
        joint.over(&secret, &symbols)
    }
}

/// The joint law of two data with names; either list may be left out.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairDocument {
    pub(super) first: Option<Vec<String>>,
    pub(super) second: Option<Vec<String>>,
    pub(super) rows: Vec<Vec<f64>>,
}

/// Names, with their field in the refusal.
pub(super) fn listed(what: &str, names: Vec<String>) -> Result<Symbols, Error> {
    let alphabet = Alphabet::names(names).map_err(|error| Error::other(what, error.to_string()))?;
    Ok(Symbols::of(&alphabet))
}
