//! `undertone prior mix`: the prior of a population made of several.

use std::path::PathBuf;

use undertone::prior::PriorMixRequest;

use super::{describe, notes, write};
use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;

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
    let mut priors = Vec::with_capacity(args.priors.len());
    for path in &args.priors {
        let name = path.file_name();
        let name = name.map_or("-".into(), |name| name.to_string_lossy().into_owned());
        priors.push((name, input::prior(path)?));
    }
    let request = PriorMixRequest { priors, weights: args.weights.clone() };
    let mixed = undertone::prior::mix(&request)?;
    let mut text = describe(&mixed.prior) + &notes(&mixed.remarks);
    if let Some(path) = &args.output {
        write(path, &mixed.prior)?;
        text += &format!("\nwritten to {}", path.display());
    }
    Ok(Outcome::of(&mixed, text))
}
