//! `undertone prior mix`: the prior of a population made of several.

use std::path::PathBuf;

use undertone_design::Distribution;
use undertone_design::fit::{self, Source};

use super::{describe, write};
use crate::failure::Failure;
use crate::input::{self, NamedPrior, PriorFile};
use crate::output::Outcome;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The priors, over the same symbols.
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
    let read =
        args.priors.iter().map(|path| input::named_prior(path)).collect::<Result<Vec<_>, _>>()?;
    let symbols = symbols(args, &read)?;
    let sources: Vec<Source> = args
        .priors
        .iter()
        .zip(&read)
        .map(|(path, prior)| aligned(path, prior, &symbols))
        .collect::<Result<_, _>>()?;
    let mixed = fit::mixture(&sources, &weights)?;
    let n: Option<u64> = read.iter().map(|prior| prior.file.as_ref()?.n).sum();
    let names = args.priors.iter().map(|path| {
        path.file_name().map_or("-".into(), |name| name.to_string_lossy().into_owned())
    });
    let parts: Vec<String> =
        names.zip(&args.weights).map(|(name, weight)| format!("{weight} of {name}")).collect();
    let confidence = mixed.confidence.as_ref();
    let prior = PriorFile {
        symbols,
        p: mixed.p.as_slice().to_vec(),
        values: read[0].file.as_ref().and_then(|file| file.values.clone()),
        edges: read[0].file.as_ref().and_then(|file| file.edges.clone()),
        n,
        lower: confidence.map(|c| c.lower.clone()),
        upper: confidence.map(|c| c.upper.clone()),
        radius: confidence.map(|c| c.radius),
        beta: confidence.map(|c| c.beta),
        source: Some(format!("mixture: {}", parts.join(", "))),
        ..PriorFile::default()
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

/// The symbols of the mixture: those of the first prior that names any, else indices.
fn symbols(args: &Args, read: &[NamedPrior]) -> Result<Vec<String>, Failure> {
    let named = read.iter().find_map(|prior| prior.file.as_ref());
    let symbols = match named {
        Some(file) => file.symbols.clone(),
        None => (0..read[0].p.len()).map(|x| x.to_string()).collect(),
    };
    for (path, prior) in args.priors.iter().zip(read) {
        if prior.p.len() != symbols.len() {
            return Err(Failure::input(format!(
                "{}: {} symbols where the others have {}: list the same symbols in every prior",
                path.display(),
                prior.p.len(),
                symbols.len()
            )));
        }
    }
    Ok(symbols)
}

/// A prior with its symbols in the order given.
fn aligned(
    path: &std::path::Path,
    prior: &NamedPrior,
    symbols: &[String],
) -> Result<Source, Failure> {
    let Some(file) = &prior.file else {
        return Ok(Source { p: prior.p.clone(), confidence: None });
    };
    let place = |name: &String| {
        file.symbols.iter().position(|candidate| candidate == name).ok_or_else(|| {
            Failure::input(format!(
                "{}: the symbol {name:?} is missing: list the same symbols in every prior",
                path.display()
            ))
        })
    };
    let order = symbols.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let pick = |list: &[f64]| -> Vec<f64> { order.iter().map(|&at| list[at]).collect() };
    let confidence = prior.confidence.clone().map(|mut c| {
        (c.lower, c.upper) = (pick(&c.lower), pick(&c.upper));
        c
    });
    Ok(Source { p: Distribution::new("prior", pick(prior.p.as_slice()))?, confidence })
}
