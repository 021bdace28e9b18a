//! `undertone`: one file per command. Each command parses, calls and prints.
//!
//! The binary is [`main_from`]; the Python package also calls commands in place, with documents in
//! memory instead of files ([`call`]).
//!
//! ```
//! // Prints what LDP at 1 means as LIP, whatever the prior; 0 is good news.
//! assert_eq!(undertone_cli::main_from(["undertone", "relate", "--from", "ldp:1", "--to", "lip"]), 0);
//! ```

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
mod options;
mod output;
mod perturb;
mod plot;
mod policy;
mod prior;
mod relate;
mod risk;
mod serve;
mod transfer;
mod watchdog;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use output::{Outcome, finished};

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
            Self::Fusion(args) => fusion::run(&args, true),
        }
    }
}

/// The command line, with negative numbers taken for values everywhere: an option that cannot be negative says
/// so itself, in better words than "unexpected argument".
fn parsed<T: Into<OsString> + Clone>(
    words: impl IntoIterator<Item = T>,
) -> Result<Cli, clap::Error> {
    fn negative_numbers(command: clap::Command) -> clap::Command {
        command
            .mut_args(|arg| match (arg.get_action().takes_values(), arg.get_value_delimiter()) {
                (false, _) => arg,
                // A list such as -1,2 is no negative number, but its values are.
                (true, Some(_)) => arg.allow_hyphen_values(true),
                (true, None) => arg.allow_negative_numbers(true),
            })
            .mut_subcommands(negative_numbers)
    }
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut command = negative_numbers(Cli::command());
    if let Some(option) = without_value(&command, &words) {
        let message = format!("{option} has no value before the --: give one");
        return Err(command.error(ErrorKind::InvalidValue, message));
    }
    let matches =
        command.try_get_matches_from_mut(words).map_err(|error| moved(&mut command, error))?;
    Cli::from_arg_matches(&matches)
}

/// Names the program that took over a command.
fn moved(command: &mut clap::Command, error: clap::Error) -> clap::Error {
    let moved = ContextValue::String("reproduce".into());
    if error.get(ContextKind::InvalidSubcommand) != Some(&moved) {
        return error;
    }
    let message = "`reproduce` is a program of its own, undertone-reproduce: from the source tree, \
                   cargo run --release -p undertone-experiments -- list";
    command.error(ErrorKind::InvalidSubcommand, message)
}

/// An option that takes a value and has a bare `--` behind it, which would only end the options.
fn without_value(command: &clap::Command, words: &[OsString]) -> Option<String> {
    let end = words.iter().position(|word| word == "--")?;
    let option = words[..end].last()?.to_str()?;
    let mut command = command;
    for word in &words[..end] {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let called = |arg: &&clap::Arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg
            .get_short()
            .is_some_and(|short| option.strip_prefix('-') == Some(&*short.to_string())),
    };
    let arg = command.get_arguments().find(called)?;
    let open = arg.get_action().takes_values() && !arg.is_allow_hyphen_values_set();
    open.then(|| option.to_owned())
}

/// Runs a command line, its first word the program's name, and returns the exit code.
pub fn main_from<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> u8 {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let cli = match parsed(words.clone()) {
        Ok(cli) => cli,
        Err(error) if error.exit_code() == 0 => {
            // Help or the version. A reader that has gone away is not an error worth a panic.
            let _ = error.print();
            return 0;
        }
        Err(error) => {
            let json = words.iter().any(|word| word == "--json");
            let code = Failure::of_arguments(&error).print(json);
            eprintln!("\nFor more information, try '--help'.");
            return code;
        }
    };
    let json = cli.json;
    let done = failure::guarded(|| match cli.command {
        // These two go on after they have printed.
        Command::Demo(args) => Ok(Err(demo::run_and_stay(&args, json))),
        Command::Serve(args) => Ok(Err(serve::run(&args, json))),
        Command::Perturb(args) if args.streams() => {
            perturb::run(&args).map(|outcome| Err(outcome.print_aside(json)))
        }
        Command::Fusion(args) => fusion::run(&args, json).map(Ok),
        command => command.run().map(Ok),
    });
    match done {
        Ok(Ok(outcome)) => outcome.print(json),
        Ok(Err(code)) => code,
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
    /// What kind of trouble it is: the word `code` of `--json`.
    pub code: &'static str,
    /// In words.
    pub message: String,
}

/// Runs work for a caller who must not die of a panic: that becomes the words to report.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, NoReply> {
    failure::guarded(|| Ok(work())).map_err(NoReply::from)
}

/// Runs one command in this process without printing. Files named like one of `documents` are read
/// from there (JSON, or a table as CSV), and JSON and SVG files the command writes are returned, not
/// written.
pub fn call(words: &[String], documents: BTreeMap<String, String>) -> Result<Reply, NoReply> {
    let words = std::iter::once("undertone").chain(words.iter().map(String::as_str));
    let cli = parsed(words).map_err(|error| NoReply::from(Failure::of_arguments(&error)))?;
    let (result, written) = documents::with(documents, || failure::guarded(|| cli.command.run()));
    match result {
        Ok(Outcome { json, good, .. }) => Ok(Reply { json: finished(json), good, written }),
        Err(failure) => Err(failure.into()),
    }
}
