//! `undertone prior mix`: the prior of a population made of several.

use std::path::PathBuf;

use undertone_design::Distribution;
use undertone_design::fit::{self, Source};

use super::{describe, write};
use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;
use undertone::document::PriorDocument;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The priors, over the same symbols, in any order.
    #[arg(required = true)]
    priors: Vec<PathBuf>,
    /// The share of each in the population; they sum to 1.
    #[arg(long, value_delimiter = ',', required = true)]
    weights: Vec<f64>,
    /// Write the mixture to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let usage = |error: undertone_design::Error| Failure::usage(format!("--weights: {error}"));
    let weights = Distribution::new("weights", args.weights.clone()).map_err(usage)?;
    weights.check_len("the list of priors", args.priors.len()).map_err(usage)?;
    let read = input::priors(&args.priors)?;
    let mut sources = Vec::with_capacity(read.len());
    for (path, prior) in args.priors.iter().zip(&read) {
        // Matched again by the mixture; here the file at fault is named.
        prior.law().in_order_of(&path.display().to_string(), read[0].law().symbols())?;
        sources.push(Source { p: prior.law().clone(), confidence: prior.confidence().cloned() });
    }
    let mixed = fit::mixture(&sources, &weights)?;
    let n: Option<u64> = read.iter().map(|prior| prior.document()?.n).sum();
    let names = args.priors.iter().map(|path| {
        path.file_name().map_or("-".into(), |name| name.to_string_lossy().into_owned())
    });
    let parts: Vec<String> =
        names.zip(&args.weights).map(|(name, weight)| format!("{weight} of {name}")).collect();
    let confidence = mixed.confidence.as_ref();
    let first = read[0].document().cloned().unwrap_or_default();
    let prior = PriorDocument {
        symbols: first.symbols,
        p: mixed.p.as_slice().to_vec(),
        values: first.values,
        edges: first.edges,
        n,
        lower: confidence.map(|c| c.lower.clone()),
        upper: confidence.map(|c| c.upper.clone()),
        radius: confidence.map(|c| c.radius),
        beta: confidence.map(|c| c.beta),
        source: Some(format!("mixture: {}", parts.join(", "))),
        ..PriorDocument::default()
    };
    let mut text = describe(&prior);
    if confidence.is_none() {
        text += "\nnote: not every prior says how well it is known, so the mixture has no box";
    }
    if let Some(path) = &args.output {
        write(path, &prior)?;
        text += &format!("\nwritten to {}", path.display());
    }
    Ok(Outcome::good(serde_json::to_value(&prior).map_err(Failure::input)?, text))
}
