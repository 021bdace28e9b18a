//! `undertone prior`: a prior from data, and mixtures of priors.

mod fit;
mod mix;

use std::path::Path;

use undertone::answer::Remark;
use undertone::document::PriorDocument;

use crate::failure::{Failure, option};
use crate::output::{Outcome, nats, table};

/// Make a prior: from a column of data, or from several priors.
///
/// Example: undertone prior fit --column answer answers.csv -o prior.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Count a column of a CSV or Parquet file: shares, a confidence box and an l1 radius.
    ///
    /// A prior is public: it travels in every policy made from it. Fit it to data that may be
    /// published, or to the estimate of an earlier round.
    ///
    /// Example: undertone prior fit --column answer answers.csv --symbols no,yes -o prior.json
    ///
    /// Example: undertone prior fit --column pay pay.csv --range 0,200000 --bins 64 --mixture 2 --plot fit.svg -o prior.json
    Fit(Box<fit::Args>),
    /// The prior of a population made of several, in known shares.
    ///
    /// Example: undertone prior mix north.json south.json --weights 0.3,0.7 -o both.json
    Mix(mix::Args),
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Fit(args) => fit::run(args),
        Action::Mix(args) => mix::run(args),
    }
}

/// The most symbols a table for people lists.
const SHOWN: usize = 40;

/// A prior for people.
fn describe(prior: &PriorDocument) -> String {
    let percent = |p: f64| format!("{} %", nats((1e6 * p).round() / 1e4));
    let rows = (0..prior.p.len().min(SHOWN)).map(|x| {
        let mut row = vec![prior.symbols.get(x).cloned().unwrap_or_else(|| x.to_string())];
        row.extend(prior.counts.as_ref().map(|counts| counts[x].to_string()));
        row.push(percent(prior.p[x]));
        if let (Some(lower), Some(upper)) = (&prior.lower, &prior.upper) {
            // Outward, as the box is.
            row.push(format!("{} %", nats((1e6 * lower[x]).floor() / 1e4)));
            row.push(format!("{} %", nats((1e6 * upper[x]).ceil() / 1e4)));
        }
        row
    });
    let mut header = vec!["symbol"];
    header.extend(prior.counts.as_ref().map(|_| "count"));
    header.push("p");
    if prior.lower.is_some() {
        header.extend(["at least", "at most"]);
    }
    let mut text = table(&header, rows.collect());
    if prior.p.len() > SHOWN {
        text += &format!("\n({} more symbols; use --json or -o for all)", prior.p.len() - SHOWN);
    }
    text.extend(prior.confidence_words().map(|sentence| format!("\n{sentence}")));
    text
}

/// Remarks, one to a line.
fn notes(remarks: &[Remark]) -> String {
    remarks.iter().map(|remark| format!("\nnote: {}", remark.called(option))).collect()
}

/// Writes JSON to a file.
fn write(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::input(format!("cannot write {}: {error}", path.display()))
    };
    let text = serde_json::to_string_pretty(value).map_err(|error| fail(&error))?;
    crate::output::save(path, &(text + "\n"))
}
