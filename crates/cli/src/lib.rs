//! `undertone`: one file per command. Each command parses, calls and prints.
//!
//! The binary is [`main_from`]; the Python package also calls commands in place, with documents in
//! memory instead of files ([`call`]).

mod audit;
mod columns;
mod compose;
mod curve;
mod demo;
mod design;
mod documents;
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
mod reproduce;
mod risk;
mod serve;
mod transfer;
mod watchdog;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Parser, Subcommand};
use failure::Failure;
use output::Outcome;

#[cfg(feature = "parquet")]
pub use columns::parquet::bare_field;
pub use columns::{Code, Lookup};

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
    Serve(serve::Args),
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
    Reproduce(reproduce::Args),
}

impl Command {
    fn run(self) -> Result<Outcome, Failure> {
        match self {
            Self::Demo(args) => demo::run(&args),
            Self::Serve(_) => Err(serve::only_from_a_command_line()),
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
            Self::Reproduce(args) => reproduce::run(&args),
        }
    }
}

/// Runs a command line, its first word the program's name, and returns the exit code.
pub fn main_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> u8 {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // A reader that has gone away is not an error worth a panic.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let json = cli.json;
    let done = match cli.command {
        // These two go on after they have printed.
        Command::Demo(args) => return demo::run_and_stay(&args, json),
        Command::Serve(args) => return serve::run(&args, json),
        command => command.run(),
    };
    match done {
        Ok(outcome) => outcome.print(json),
        Err(failure) => failure.print(json),
    }
}

/// What a command called in place answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// What `--json` prints.
    pub json: serde_json::Value,
    /// Whether it is good news: what exit code 0 says.
    pub good: bool,
    /// The documents it wrote, by name.
    pub written: BTreeMap<String, String>,
}

/// Why a command called in place gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoReply {
    /// Whether the arguments are to blame: what exit code 2 says.
    pub usage: bool,
    /// The word that `--json` prints as `code`, where there is one.
    pub code: Option<&'static str>,
    /// In words.
    pub message: String,
}

/// Runs one command in this process without printing. Files named like one of `documents` are read
/// from there (JSON, or a table as CSV), and JSON and SVG files the command writes are returned, not
/// written.
pub fn call(words: &[String], documents: BTreeMap<String, String>) -> Result<Reply, NoReply> {
    let words = std::iter::once("undertone").chain(words.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        // The first paragraph says what is wrong; the rest is about the command line.
        let message = text.split("\n\n").next().unwrap_or(&text);
        let message = message.strip_prefix("error: ").unwrap_or(message).trim_end().to_owned();
        NoReply { usage: true, code: None, message }
    })?;
    let (result, written) = documents::with(documents, || cli.command.run());
    match result {
        Ok(Outcome { json, good, .. }) => Ok(Reply { json, good, written }),
        Err(failure) => Err(failure.into()),
    }
}
