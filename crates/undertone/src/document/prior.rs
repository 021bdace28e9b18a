//! A prior with what its document says of where it came from, and several priors over the same symbols.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use undertone_core::Alphabet;
use undertone_design::fit::Confidence;
use undertone_design::{Distribution, Symbols};

use super::{DensityDocument, by_name, json, named, unreadable};
use crate::{Error, number};

/// A prior as its document holds it. Only `p` is needed, and `symbols` to name its entries; the rest says where
/// it came from and how well it is known, and is what `undertone prior` writes. Other fields are refused.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PriorDocument {
    /// What the entries are called; empty if they have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// The probabilities.
    pub p: Vec<f64>,
    /// The numbers the symbols stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// The edges of bins, one more than there are symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<f64>>,
    /// How many people it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// How many of them had each symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<u64>>,
    /// The least each probability may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<Vec<f64>>,
    /// The most each probability may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<Vec<f64>>,
    /// How far from `p` the truth may be, in l1 distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// The chance that the truth is outside of `lower` and `upper`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// What was added to every count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<f64>,
    /// Symbols never seen, and the probability they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floored: Option<Vec<Floored>>,
    /// Rows left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Numbers below and above the range, counted in the end bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipped: Option<(u64, u64)>,
    /// The law the bins' probabilities come from, if one was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<DensityDocument>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A symbol that was never seen.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Floored {
    /// What it is called.
    pub symbol: String,
    /// The probability it was given.
    pub to: f64,
}

/// A prior that was read and checked: the probabilities of named or unnamed symbols, and what is known about them.
#[derive(Debug, Clone)]
pub struct Prior {
    name: String,
    p: Distribution,
    document: Option<PriorDocument>,
    confidence: Option<Confidence>,
}

impl Prior {
    /// A prior of symbols without names.
    pub fn new(p: impl Into<Vec<f64>>) -> Result<Self, Error> {
        Ok(Self::of(Distribution::new("prior", p.into())?))
    }

    /// A prior of named symbols: `Prior::named([("no", 0.9), ("yes", 0.1)])`.
    pub fn named<S: Into<String>>(
        entries: impl IntoIterator<Item = (S, f64)>,
    ) -> Result<Self, Error> {
        let (symbols, p) = entries.into_iter().map(|(name, p)| (name.into(), p)).unzip();
        Self::from_document("prior", PriorDocument { symbols, p, ..PriorDocument::default() })
    }

    /// A law that was checked already.
    pub fn of(p: Distribution) -> Self {
        Self { name: "prior".into(), p, document: None, confidence: None }
    }

    /// Reads a prior in any of its forms: `[0.5, 0.5]`, `{"a": 0.5, "b": 0.5}`, or an object of the fields of
    /// [`PriorDocument`].
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        let expected = "a prior such as [0.5, 0.3, 0.2], {\"a\": 0.5, \"b\": 0.5} or \
            {\"symbols\": [\"a\", \"b\"], \"p\": [0.5, 0.5]}";
        if !text.trim_start().starts_with('{') {
            let p = json(name, text, expected)?;
            let p = named(name, Distribution::new("prior", p))?;
            return Ok(Self { name: name.into(), ..Self::of(p) });
        }
        let document = by_name::prior_document(text)
            .map_err(|error| unreadable(name, text, &error, expected))?;
        Self::from_document(name, document)
    }

    /// Checks a document that was read, or made by a program; `name` is what errors begin with.
    pub fn from_document(name: &str, document: PriorDocument) -> Result<Self, Error> {
        named(name, undertone_design::found::check_names(&document.symbols))?;
        let p = named(name, Distribution::new("prior", document.p.clone()))?;
        named(name, document.check_sizes())?;
        let confidence = named(name, document.confidence(&p))?;
        let over = |names: Alphabet| p.over(&Symbols::of(&names));
        let p = named(name, by_name::alphabet(&document).and_then(over))?;
        Ok(Self { name: name.into(), p, document: Some(document), confidence })
    }

    /// The prior with its symbols brought into another order: the law and the document in that order, and what is
    /// known about the truth.
    pub fn with_law(self, p: Distribution, document: Option<PriorDocument>) -> Self {
        Self { p, document, ..self }
    }

    /// What it is called in errors: the name of its document.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The probabilities, of the symbols the document names.
    pub fn law(&self) -> &Distribution {
        &self.p
    }

    /// What else the document says; for a bare list, nothing.
    pub fn document(&self) -> Option<&PriorDocument> {
        self.document.as_ref()
    }

    /// Where the truth is, if the document says so.
    pub fn confidence(&self) -> Option<&Confidence> {
        self.confidence.as_ref()
    }
}

impl PriorDocument {
    /// What the symbols are: bins, numbers, names, or bare indices.
    pub fn alphabet(&self) -> Result<Alphabet, Error> {
        Ok(by_name::alphabet(self)?)
    }

    /// How well the prior is known, in a sentence; nothing where the document does not say so.
    pub fn confidence_words(&self) -> Option<String> {
        let (beta, radius) = (self.beta?, self.radius?);
        Some(format!(
            "With probability {} the truth lies in this box; with the same probability it is within l1 distance {} of p.",
            number::nats(1.0 - beta),
            number::nats(radius)
        ))
    }

    fn check_sizes(&self) -> Result<(), undertone_design::Error> {
        let symbols = self.p.len();
        let sizes = [
            ("symbols", Some(self.symbols.len()).filter(|names| *names > 0), symbols),
            ("values", self.values.as_ref().map(Vec::len), symbols),
            ("counts", self.counts.as_ref().map(Vec::len), symbols),
            ("lower", self.lower.as_ref().map(Vec::len), symbols),
            ("upper", self.upper.as_ref().map(Vec::len), symbols),
            ("edges", self.edges.as_ref().map(Vec::len), symbols + 1),
        ];
        for (what, found, expected) in sizes {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(undertone_design::Error::Size { what: what.into(), expected, found });
            }
        }
        Ok(())
    }

    fn confidence(&self, p: &Distribution) -> Result<Option<Confidence>, undertone_design::Error> {
        let refused = |problem: &str| Err(undertone_design::Error::other("prior", problem));
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) => {
                let Some(beta) = self.beta else {
                    return refused(
                        "lower and upper need beta, the chance that the truth is outside them (0 if they are certain)",
                    );
                };
                let ends = lower.iter().zip(upper).zip(p.as_slice());
                let reach: f64 = ends.map(|((l, u), p)| (u - p).max(p - l)).sum();
                let radius = self.radius.unwrap_or(reach.clamp(0.0, 2.0));
                Confidence::new(lower.clone(), upper.clone(), radius, beta).map(Some)
            }
            (None, None) => Ok(None),
            _ => refused("give both ends of the box, lower and upper, or neither"),
        }
    }
}

/// Priors over the same symbols, in the order of the first one's.
#[derive(Debug, Clone)]
pub struct PriorSet {
    laws: Vec<Distribution>,
    /// The name of a prior that lists the symbols in another order than the first.
    turned: Option<String>,
}

impl PriorSet {
    /// Brings priors into one order; refuses one that is about other symbols.
    pub fn new(priors: &[Prior]) -> Result<Self, Error> {
        let mut set = Self { laws: Vec::with_capacity(priors.len()), turned: None };
        let Some(first) = priors.first() else { return Ok(set) };
        for prior in priors {
            let ordered = prior.p.in_order_of(&prior.name, first.p.symbols())?;
            if let Cow::Owned(_) = ordered {
                set.turned.get_or_insert(prior.name.clone());
            }
            set.laws.push(ordered.into_owned());
        }
        Ok(set)
    }

    /// The laws, in one order.
    pub fn laws(&self) -> &[Distribution] {
        &self.laws
    }

    /// The laws, in one order, to keep.
    pub fn into_laws(self) -> Vec<Distribution> {
        self.laws
    }

    /// Refuses a list or matrix without names where it would be unclear whose order it is in.
    pub fn check_bare(&self, what: &str, fix: &str) -> Result<(), Error> {
        match &self.turned {
            None => Ok(()),
            Some(name) => Err(Error::input(format!(
                "{what} has no names, and {name} lists its symbols in another order than the first prior, so that it is unclear which row is whose: {fix}, or list the symbols alike"
            ))),
        }
    }
}
