//! `undertone`: one binary, one file per command. Each command parses, calls and prints.

mod audit;
mod compose;
mod demo;
mod failure;
mod input;
mod output;
mod policy;
mod relate;
mod transfer;

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
    /// See the system work: a printed formula refused, a certified policy, a local simulation.
    Demo(demo::Args),
    /// Measure what a channel, or a policy, reveals under every notion.
    Audit(audit::Args),
    /// Say what one guarantee implies about another notion, as tightly as is known.
    Relate(relate::Args),
    /// Bound what several releases leak together, and compute it exactly.
    Compose(compose::Args),
    /// Bound what leaks when the prior was wrong, and compute it exactly.
    Transfer(transfer::Args),
    /// Re-check a policy document, or show what an observer can learn from it.
    Policy(policy::Args),
}

impl Command {
    fn run(self) -> Result<Outcome, Failure> {
        match self {
            Self::Demo(args) => demo::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Relate(args) => relate::run(&args),
            Self::Compose(args) => compose::run(&args),
            Self::Transfer(args) => transfer::run(&args),
            Self::Policy(args) => policy::run(&args),
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
