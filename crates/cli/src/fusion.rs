//! `undertone fusion`: sensor networks that reveal one hypothesis and hide another.

mod center;
mod connection;
mod demo;
mod design;
mod evaluate;
mod readings;
mod report;
mod sensor;
mod source;
mod train;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Outcome;

/// Design, evaluate and run sensor networks that reveal one hypothesis and hide another.
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
    Train(train::Args),
    Evaluate(evaluate::Args),
    Sensor(sensor::Args),
    Center(center::Args),
    Demo(demo::Args),
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.command {
        Command::Design(args) => design::run(args),
        Command::Train(args) => train::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Sensor(args) => sensor::run(args),
        Command::Center(args) => center::run(args),
        Command::Demo(args) => demo::run(args),
    }
}
