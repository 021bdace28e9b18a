//! `undertone`: one binary, one file per command. Each command parses, calls and prints.

mod audit;
mod columns;
mod compose;
mod curve;
mod demo;
mod design;
mod estimate;
mod failure;
mod frontier;
mod fusion;
mod input;
mod output;
mod perturb;
mod plot;
mod policy;
mod prior;
mod relate;
mod risk;
mod transfer;
mod watchdog;

use clap::{Parser, Subcommand};
use failure::Failure;
use output::Outcome;
use std::process::ExitCode;

/// Context-aware local privacy with a guarantee you can check.
///
/// Every command takes --json. Exit codes: 0 good, 1 refused or failed (with --json the reason is
/// still on standard output), 2 bad usage. All leakages are in nats.
#[derive(Parser)]
#[command(name = "undertone", version, max_term_width = 100)]
struct Cli {
    /// Print JSON for programs instead of tables for people.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Design(design::Args),
    Curve(curve::Args),
    Frontier(frontier::Args),
    Audit(audit::Args),
    Relate(relate::Args),
    Compose(compose::Args),
    Transfer(transfer::Args),
    Policy(policy::Args),
    Prior(prior::Args),
    Perturb(perturb::Args),
    Estimate(estimate::Args),
    Watchdog(watchdog::Args),
    Fusion(fusion::Args),
}

impl Command {
    fn run(self) -> Result<Outcome, Failure> {
        match self {
            Self::Demo(args) => demo::run(&args),
            Self::Design(args) => design::run(&args),
            Self::Curve(args) => curve::run(&args),
            Self::Frontier(args) => frontier::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Relate(args) => relate::run(&args),
            Self::Compose(args) => compose::run(&args),
            Self::Transfer(args) => transfer::run(&args),
            Self::Policy(args) => policy::run(&args),
            Self::Prior(args) => prior::run(&args),
            Self::Perturb(args) => perturb::run(&args),
            Self::Estimate(args) => estimate::run(&args),
            Self::Watchdog(args) => watchdog::run(&args),
            Self::Fusion(args) => fusion::run(&args),
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.json;
    match cli.command.run() {
        Ok(outcome) => outcome.print(json),
        Err(failure) => failure.print(json),
    }
}
