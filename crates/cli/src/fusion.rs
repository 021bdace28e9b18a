//! `undertone fusion`: sensor networks that reveal one hypothesis and hide another.

mod design;
mod evaluate;
mod report;
mod source;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Outcome;

/// Design and evaluate sensor networks that reveal one hypothesis and hide another.
///
/// Every sensor randomises what it read; the centre learns the public hypothesis and hardly anything
/// about the private one.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Design(design::Args),
    Evaluate(evaluate::Args),
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.command {
        Command::Design(args) => design::run(args),
        Command::Evaluate(args) => evaluate::run(args),
    }
}
