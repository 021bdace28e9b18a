//! The prior of a population made of several.

use serde::Serialize;
use undertone_design::Distribution;
use undertone_design::fit::{self, Source};

use super::fitting::likeliest;
use crate::answer::{Answer, Remark};
use crate::document::PriorDocument;
use crate::{Error, Prior};

/// Priors over the same symbols, in any order, and their shares in the population.
#[derive(Debug, Clone)]
pub struct PriorMixRequest {
    /// What each prior is called where the mixture says what it is made of, and the prior.
    pub priors: Vec<(String, Prior)>,
    /// The share of each in the population; they sum to 1.
    pub weights: Vec<f64>,
}

/// A mixture of priors. Its JSON is the prior's document.
#[derive(Debug, Clone, Serialize)]
pub struct PriorMix {
    /// The prior.
    #[serde(flatten)]
    pub prior: PriorDocument,
    /// Everything a reader must not overlook.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
}

/// Mixes priors.
pub fn mix(request: &PriorMixRequest) -> Result<PriorMix, Error> {
    let PriorMixRequest { priors, weights } = request;
    let blame = |error: undertone_design::Error| Error::field("weights", format!(": {error}"));
    let shares = Distribution::new("weights", weights.clone()).map_err(blame)?;
    shares.check_len("the list of priors", priors.len()).map_err(blame)?;
    // A law has at least one entry, and there are as many priors as weights.
    let [(_, first), ..] = priors.as_slice() else {
        return Err(Error::field("priors", "are none: give at least one"));
    };
    let mut sources = Vec::with_capacity(priors.len());
    for (_, prior) in priors {
        // Matched again by the mixture; here the document at fault is named.
        prior.law().in_order_of(prior.name(), first.law().symbols())?;
        sources.push(Source { p: prior.law().clone(), confidence: prior.confidence().cloned() });
    }
    let mixed = fit::mixture(&sources, &shares)?;
    // Unknown if one of them is, or if they are more than can be counted.
    let n = priors.iter().try_fold(0u64, |sum, (_, prior)| sum.checked_add(prior.document()?.n?));
    let parts: Vec<String> = priors
        .iter()
        .zip(weights)
        .map(|((name, _), weight)| format!("{weight} of {name}"))
        .collect();
    let confidence = mixed.confidence.as_ref();
    let document = first.document().cloned().unwrap_or_default();
    let prior = PriorDocument {
        symbols: document.symbols,
        p: mixed.p.as_slice().to_vec(),
        values: document.values,
        edges: document.edges,
        n,
        lower: confidence.map(|c| c.lower.clone()),
        upper: confidence.map(|c| c.upper.clone()),
        radius: confidence.map(|c| c.radius),
        beta: confidence.map(|c| c.beta),
        source: Some(format!("mixture: {}", parts.join(", "))),
        ..PriorDocument::default()
    };
    let remarks = match confidence {
        Some(_) => Vec::new(),
        None => vec![Remark::new(
            "not every prior says how well it is known, so the mixture has no box",
        )],
    };
    Ok(PriorMix { prior, remarks })
}

impl Answer for PriorMix {
    fn words(&self) -> String {
        let prior = &self.prior;
        let source = prior.source.as_deref().unwrap_or("mixture");
        let mut words = format!("{source}; likeliest {}.", likeliest(&prior.symbols, &prior.p));
        words.extend(prior.confidence_words().map(|sentence| format!("\n{sentence}")));
        words.extend(self.remarks.iter().map(|remark| format!("\nnote: {remark}")));
        words
    }
}
