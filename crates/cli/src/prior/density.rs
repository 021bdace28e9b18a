//! A fitted law as a prior's file holds it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use undertone_design::density::{Component, Density, Fitted, Mixture, Normal};

use crate::failure::Failure;

/// A mixture of normal laws, and how it was found.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DensityFile {
    /// `mixture`, the only kind there is.
    pub(crate) kind: String,
    pub(crate) components: Vec<ComponentFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log_likelihood: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bic: Option<f64>,
}

/// One normal law and its share.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComponentFile {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// What `kind` says.
const MIXTURE: &str = "mixture";

impl DensityFile {
    pub(super) fn of(fitted: &Fitted) -> Self {
        let component = |c: &Component| ComponentFile {
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

    /// The law; `path` is the file it was read from.
    pub(crate) fn law(&self, path: &Path) -> Result<Density, Failure> {
        let fail =
            |problem: String| Failure::input(format!("{}: density: {problem}", path.display()));
        if self.kind != MIXTURE {
            return Err(fail(format!("kind {:?} is unknown: use {MIXTURE:?}", self.kind)));
        }
        let component = |c: &ComponentFile| {
            Ok(Component { weight: c.weight, law: Normal::new(c.mean, c.deviation)? })
        };
        let components = self.components.iter().map(component).collect::<Result<Vec<_>, _>>();
        let mixture = components.and_then(Mixture::new);
        mixture
            .map(Density::Mixture)
            .map_err(|error: undertone_design::Error| fail(error.to_string()))
    }
}
