//! `undertone fusion`: sensor networks that reveal one hypothesis and hide another.

mod center;
mod connection;
mod crowd;
mod demo;
mod design;
mod epochs;
mod evaluate;
mod figures;
mod page;
mod readings;
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
///
/// Example: undertone fusion demo
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Design(design::Args),
    Crowd(crowd::Args),
    Epochs(epochs::Args),
    Train(train::Args),
    Evaluate(evaluate::Args),
    Sensor(sensor::Args),
    Center(center::Args),
    Demo(demo::Args),
}

/// Runs a command; those that print as they go have to know whether that is for programs.
pub(crate) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    match &args.command {
        Command::Design(args) => design::run(args),
        Command::Crowd(args) => crowd::run(args),
        Command::Epochs(args) => epochs::run(args),
        Command::Train(args) => train::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Sensor(args) => sensor::run(args, json),
        Command::Center(args) => center::run(args, json),
        Command::Demo(args) => demo::run(args, json),
    }
}
