//! `undertone`: one file per command. Each command parses, calls and prints.
//!
//! The binary is [`main_from`], and so is the console script of the Python package.
//!
//! ```
//! // Prints what LDP at 1 means as LIP, whatever the prior; 0 is good news.
//! assert_eq!(undertone_cli::main_from(["undertone", "relate", "--from", "ldp:1", "--to", "lip"]), 0);
//! ```

mod audit;
mod columns;
mod compliance;
mod compose;
mod correlate;
mod crosstab;
mod curve;
mod demo;
mod design;
mod estimate;
mod export;
mod failure;
mod frontier;
mod fusion;
mod hitters;
mod input;
mod options;
mod output;
mod perturb;
mod plan;
mod plot;
mod policy;
mod prior;
mod regress;
mod relate;
mod release;
mod risk;
mod serve;
mod shapes;
mod store;
mod survey;
mod token;
mod transfer;
mod watchdog;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use undertone::Error;
use undertone::risk::RiskReport;
use undertone_core::Policy;

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
    Store(store::Args),
    Token(token::Args),
    Design(Box<design::Args>),
    Curve(curve::Args),
    Frontier(frontier::Args),
    Shapes(shapes::Args),
    Audit(audit::Args),
    Relate(relate::Args),
    Compose(compose::Args),
    Transfer(transfer::Args),
    Policy(policy::Args),
    Plan(plan::Args),
    Prior(prior::Args),
    Perturb(perturb::Args),
    Release(release::Args),
    Hitters(hitters::Args),
    Estimate(estimate::Args),
    Crosstab(crosstab::Args),
    Compliance(compliance::Args),
    Export(export::Args),
    Regress(regress::Args),
    Correlate(correlate::Args),
    Watchdog(watchdog::Args),
    Fusion(fusion::Args),
}

impl Command {
    /// Runs the command, prints what it found, and returns the exit code.
    fn run(self, json: bool) -> Result<u8, Failure> {
        let outcome = match self {
            // These two go on after they have printed.
            Self::Demo(args) => return Ok(demo::run(&args, json)),
            Self::Serve(args) => return Ok(serve::run(&args, json)),
            Self::Perturb(args) if args.streams() => {
                return Ok(perturb::run(&args)?.print_aside(json));
            }
            Self::Release(args) if args.streams() => {
                return Ok(release::run(&args)?.print_aside(json));
            }
            Self::Hitters(args) if args.streams() => {
                return Ok(hitters::run(&args)?.print_aside(json));
            }
            Self::Store(args) => store::run(&args, json),
            Self::Token(args) => token::run(&args, json),
            Self::Design(args) => design::run(&args),
            Self::Curve(args) => curve::run(&args),
            Self::Frontier(args) => frontier::run(&args),
            Self::Shapes(args) => shapes::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Relate(args) => relate::run(&args),
            Self::Compose(args) => compose::run(&args),
            Self::Transfer(args) => transfer::run(&args),
            Self::Policy(args) => policy::run(&args),
            Self::Plan(args) => plan::run(&args),
            Self::Prior(args) => prior::run(&args),
            Self::Perturb(args) => perturb::run(&args),
            Self::Release(args) => release::run(&args),
            Self::Hitters(args) => hitters::run(&args),
            Self::Estimate(args) => estimate::run(&args),
            Self::Crosstab(args) => crosstab::run(&args),
            Self::Compliance(args) => compliance::run(&args),
            Self::Export(args) => export::run(&args),
            Self::Regress(args) => regress::run(&args),
            Self::Correlate(args) => correlate::run(&args),
            Self::Watchdog(args) => watchdog::run(&args),
            Self::Fusion(args) => fusion::run(&args, json),
        };
        Ok(outcome?.print(json))
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
    failure::guarded(|| cli.command.run(json)).unwrap_or_else(|failure| failure.print(json))
}

/// What an observer can learn from one answer, as the SVG picture that `undertone policy show --plot` draws.
pub fn risk_picture(policy: &Policy) -> Result<String, Error> {
    let (draft, report) = (policy.draft(), &RiskReport::of(policy.draft())?);
    Ok(risk::Shown { draft, report }.picture(true)?)
}
