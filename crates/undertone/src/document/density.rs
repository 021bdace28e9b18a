//! A fitted law as a prior's file holds it.

use serde::{Deserialize, Serialize};
use undertone_design::density::{Component, Density, Fitted, Mixture, Normal};

use crate::Error;

/// A mixture of normal laws, and how it was found.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DensityDocument {
    /// `mixture`, the only kind there is.
    pub kind: String,
    /// The normal laws.
    pub components: Vec<ComponentDocument>,
    /// How well it fits the data it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_likelihood: Option<f64>,
    /// Bayesian information criterion: less is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bic: Option<f64>,
}

/// One normal law and its share.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentDocument {
    /// The share of the population it describes.
    pub weight: f64,
    /// Where it is centred.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

/// What `kind` says.
const MIXTURE: &str = "mixture";

impl DensityDocument {
    /// What was fitted, as a prior keeps it.
    pub fn of(fitted: &Fitted) -> Self {
        let component = |c: &Component| ComponentDocument {
            weight: c.weight,
            mean: c.law.mean(),
            deviation: c.law.deviation(),
        };
        Self {
            kind: MIXTURE.into(),
            components: fitted.mixture.components().iter().map(component).collect(),
            log_likelihood: Some(fitted.log_likelihood),
            bic: Some(fitted.bic),
        }
    }

    /// The law; `document` is the name of what it was read from.
    pub fn law(&self, document: &str) -> Result<Density, Error> {
        let fail = |problem: String| Error::in_document(document, format!("density: {problem}"));
        if self.kind != MIXTURE {
            return Err(fail(format!("kind {:?} is unknown: use {MIXTURE:?}", self.kind)));
        }
        let component = |c: &ComponentDocument| {
            Ok(Component { weight: c.weight, law: Normal::new(c.mean, c.deviation)? })
        };
        let components = self.components.iter().map(component).collect::<Result<Vec<_>, _>>();
        let mixture = components.and_then(Mixture::new);
        mixture
            .map(Density::Mixture)
            .map_err(|error: undertone_design::Error| fail(error.to_string()))
    }
}
