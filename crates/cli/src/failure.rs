//! Why a command gave no result.

use std::fmt;
use std::io;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::json;
pub(crate) use undertone::error::{shortened, system_words};
use undertone::{Error, ErrorCode};
use undertone_curator::secret_file::SecretFileError;

/// A command that could not do its work: what kind of trouble it is, and the words.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
}

/// The exit code: 2 for bad usage, 1 for everything else.
fn exit(code: ErrorCode) -> u8 {
    if code == ErrorCode::Usage { 2 } else { 1 }
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self::from(Error::new(code, message))
    }

    /// Something in a file, or about the machine: exit 1.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::Input, message)
    }

    /// A file that cannot be read or written: exit 1.
    pub(crate) fn file(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::File, message)
    }

    /// A file or folder with which the system refused to do something: `verb` is read, write, create or make.
    pub(crate) fn of_system(verb: &str, path: &Path, error: &io::Error) -> Self {
        let what = match (verb, path == Path::new("-")) {
            ("read", true) => "standard input".into(),
            (_, true) => "standard output".into(),
            _ => path.display().to_string(),
        };
        Error::of_system(verb, &what, error).into()
    }

    /// Something in the arguments: exit 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    /// Something this build leaves out: exit 2.
    #[cfg_attr(
        all(feature = "parquet", feature = "postgres"),
        expect(dead_code, reason = "nothing is left out")
    )]
    pub(crate) fn missing_feature(feature: &str, needed: impl fmt::Display, or: &str) -> Self {
        Self::usage(format!(
            "{needed}, and this build has no feature {feature}: build it with `cargo build --release --features {feature}`, {or}"
        ))
    }

    /// Arguments that cannot be parsed.
    pub(crate) fn of_arguments(error: &clap::Error) -> Self {
        Self::usage(argument_words(error))
    }

    /// The reason on standard error, and as JSON on standard output if asked for. Returns the exit code.
    pub(crate) fn print(&self, json: bool) -> u8 {
        eprintln!("error: {}", self.message);
        if json {
            let said = json!({ "error": self.message, "code": self.code.word() });
            crate::output::line(&said.to_string());
        }
        exit(self.code)
    }
}

/// Runs a command. A panic is a fault of ours; whoever called gets an answer all the same.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    undertone::error::guarded(work)?
}

/// What a field of a request is called here: `p_min` is the option `--p-min`.
pub(crate) fn option(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

impl From<Error> for Failure {
    /// Fields of a request are options here.
    fn from(error: Error) -> Self {
        Self { code: error.code(), message: error.called(option) }
    }
}

impl From<undertone_design::Error> for Failure {
    fn from(error: undertone_design::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<SecretFileError> for Failure {
    fn from(error: SecretFileError) -> Self {
        match &error {
            SecretFileError::Unreadable { path, cause } => Self::of_system("read", path, cause),
            SecretFileError::Uncreatable { path, cause } => Self::of_system("create", path, cause),
            _ => Self::file(error),
        }
    }
}

impl From<Failure> for Error {
    fn from(Failure { code, message }: Failure) -> Self {
        Self::new(code, message)
    }
}

/// What is wrong with the arguments, in one line: the option, the value and the fix.
fn argument_words(error: &clap::Error) -> String {
    let said = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        _ => None,
    };
    // `--users <USERS>` is the option `--users`.
    let option = said(ContextKind::InvalidArg).map(|arg| match arg.split_once(' ') {
        Some((option, _)) if option.starts_with('-') => option.to_owned(),
        _ => arg,
    });
    match (error.kind(), option, said(ContextKind::InvalidValue)) {
        (ErrorKind::ValueValidation, Some(option), Some(value)) => {
            let source = std::error::Error::source(error).map(ToString::to_string);
            let fix = number_words(source.as_deref().unwrap_or_default());
            format!("{option} is {}: {fix}", shortened(&value))
        }
        (ErrorKind::InvalidValue, Some(option), Some(value)) if value.is_empty() => {
            format!("{option} has no value: give one")
        }
        (ErrorKind::InvalidValue, Some(option), Some(value)) => {
            let valid = said(ContextKind::ValidValue).unwrap_or_default();
            format!("{option} is {}: use one of {valid}", shortened(&value))
        }
        _ => {
            let text = error.render().to_string();
            // The first paragraph says what is wrong; the rest is about the command line.
            let first = text.split("\n\n").next().unwrap_or(&text);
            let first = first.strip_prefix("error: ").unwrap_or(first);
            let lines: Vec<&str> = first.lines().map(str::trim).collect();
            shortened(&lines.join(" "))
        }
    }
}

/// What a parser of numbers says, in words for people.
fn number_words(source: &str) -> String {
    match source {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "give a whole number of at least 0".into()
        }
        "number too large to fit in target type" => "the number is too large".into(),
        "number would be zero for non-zero type" => "give a whole number of at least 1".into(),
        "too many characters in string" | "cannot parse char from empty string" => {
            "give one character".into()
        }
        "invalid float literal" | "cannot parse float from empty string" => "give a number".into(),
        // A whole number outside its range: "0 is not in 1..=10".
        other => match other.split_once(" is not in ").and_then(|(_, ends)| ends.split_once("..="))
        {
            Some((low, high)) => format!("give a whole number from {low} to {high}"),
            None => other.into(),
        },
    }
}
