//! `undertone fusion epochs`: what a network tells over time where its hypotheses move.

use std::path::PathBuf;

use undertone_fusion::model;
use undertone_fusion::report::{
    EpochsReport, EpochsRequest, HorizonReport, LeakReport, certify_epochs,
};

use super::connection::bundle;
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, apart_from, progress, save, table};

/// Certify a network for hypotheses that persist or drift from one epoch to the next.
///
/// The model's `transition` says how: {"public": M, "private": M}, each M `persists`, `fresh` (drawn anew) or a square
/// matrix, or one matrix over all pairs (h,g). What everything said in all epochs tells of the private hypothesis is
/// certified in integers: of its value at any epoch, of its whole path, or of a property of the path. With --budget, noise
/// is mixed into all maps until the budget of the path holds; refused if only silence would keep it. A centre that runs the
/// network written by --output remembers what was said before.
///
/// Example: undertone fusion epochs network.json --model model.json --epochs 20 --budget 1 -o moving.json
#[derive(clap::Args)]
pub(super) struct Args {
    /// A network, as `fusion design -o` writes it.
    network: PathBuf,
    /// The model it was designed for, with a `transition`.
    #[arg(long)]
    model: PathBuf,
    /// Over how many epochs.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    epochs: u32,
    /// What is kept: `any` (the value in any one epoch, judged by everything said before and after), `now` (in the last
    /// one), `path` (all values together), `changed`, or `ever:VALUE`.
    #[arg(long, default_value = "any")]
    secret: String,
    /// How much of it may be told in all epochs, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    budget: Option<f64>,
    /// How many paths are drawn to see how a centre does that remembers.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    paths: u32,
    /// Where their randomness begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the network, certified for hypotheses that move, here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Some(output) = &args.output {
        apart_from(output, &[&args.network, &args.model])?;
    }
    let network = bundle(&args.network)?;
    let (law, chain) = input::document(&args.model, model::read_moving)?;
    let Some(chain) = chain else {
        return Err(Failure::input(format!(
            "{}: has no `transition`: say how the hypotheses move, such as \"transition\": {{\"public\": \"fresh\", \
             \"private\": \"persists\"}}",
            args.model.display()
        )));
    };
    let bar = progress(0, "attempts");
    let request = EpochsRequest {
        bundle: network,
        model: law,
        chain,
        secret: args.secret.clone(),
        epochs: args.epochs,
        budget: args.budget,
        paths: args.paths,
        seed: args.seed,
    };
    let report = certify_epochs(&request, &|| bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.bundle.to_json())?;
    }
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

fn describe(report: &EpochsReport) -> String {
    let model = report.bundle.model();
    let (public, private) = (model.public().name(), model.private().name());
    let exactly = |known: bool, level: String| if known { level } else { format!("<= {level}") };
    let of = |leak: &LeakReport| exactly(leak.exact, leak.information.words());
    // What is kept has a column of its own where it is none of the three.
    let property = !["now", "any", "path"].contains(&report.secret.as_str());
    let line = |line: &HorizonReport| {
        let mut cells = vec![line.epochs.to_string()];
        cells.extend(property.then(|| of(&line.kept)));
        cells.extend([of(&line.now), of(&line.any), of(&line.path)]);
        cells.extend([line.alone.words(), line.constant.words()]);
        cells
    };
    let mut header = vec!["epochs"];
    header.extend(property.then_some(report.secret.as_str()));
    header.extend(["now", "any", "path", "alone", "constant"]);
    let lines = table(&header, report.horizons.iter().map(line).collect());
    let seen = &report.tracking;
    let mixed =
        if report.mixed { "; noise was mixed into the maps to keep the budget" } else { "" };
    let budget = match report.budget.words().as_str() {
        "unbounded" => "no budget was set".to_owned(),
        level => format!("budget {level} nats for {} epochs", report.epochs),
    };
    format!(
        "{lines}\n\nnats by which belief in {private} can move. now: its value in the last epoch so far; any: in any one \
         epoch, by\neverything said before and after; path: in all values together. <= marks a bound.\nalone: as if epochs were independent. constant: of a value that stays the same while all else is drawn anew.\n\n\
         kept ({}): at most {} nats in {} epochs ({}); {budget}; one epoch tells at most {}{mixed}\n\n\
         {public} is guessed wrong in {:.4} of epochs by a centre that remembers, {:.4} by one that does not\n\
         (less by {:.4}, standard error {:.4}, {} drawn paths); {private} in {:.4} and {:.4} by who hears everything.\n\
         network id: {}",
        report.secret,
        report.kept.information.words(),
        report.epochs,
        report.kept.known(),
        report.in_one_epoch.words(),
        seen.error_public,
        seen.error_public_memoryless,
        seen.gain,
        seen.gain_error,
        seen.paths,
        seen.error_private,
        seen.error_private_memoryless,
        report.bundle_id
    )
}
