//! Why a command gave no result.

use std::any::Any;
use std::fmt;
use std::io::{self, ErrorKind as Trouble};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::json;
use undertone_curator::secret_file::SecretFileError;

/// A command that could not do its work: what kind of trouble it is, and the words.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    message: String,
}

/// The kinds of trouble, each with the word programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The command line itself is to blame.
    Usage,
    /// A file cannot be read or written.
    File,
    /// What a file holds, or what it holds together with the arguments, cannot be used.
    Input,
    /// The problem is too large for this command.
    TooLarge,
    /// The policy that was found cannot tell its symbols apart.
    Uninformative,
    /// A fault of the program.
    Internal,
}

impl Code {
    /// The word programs read.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::File => "file",
            Self::Input => "input",
            Self::TooLarge => "too_large",
            Self::Uninformative => "uninformative",
            Self::Internal => "internal",
        }
    }

    /// The exit code: 2 for bad usage, 1 for everything else.
    fn exit(self) -> u8 {
        if self == Self::Usage { 2 } else { 1 }
    }
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { code, message: tidy(&message.to_string()) }
    }

    /// Something in a file, or about the machine: exit 1.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::new(Code::Input, message)
    }

    /// A file that cannot be read or written: exit 1.
    pub(crate) fn file(message: impl fmt::Display) -> Self {
        Self::new(Code::File, message)
    }

    /// A file or folder with which the system refused to do something: `verb` is read, write, create or make.
    pub(crate) fn of_system(verb: &str, path: &Path, error: &io::Error) -> Self {
        let what = match (verb, path == Path::new("-")) {
            ("read", true) => "standard input".into(),
            (_, true) => "standard output".into(),
            _ => path.display().to_string(),
        };
        let words = match error.kind() {
            // What is written or made needs no file to be there, only the folder around it.
            Trouble::NotFound if verb != "read" => "there is no such folder".into(),
            Trouble::AlreadyExists if verb == "make" => {
                "there is a file of that name: name another folder".into()
            }
            _ => system_words(error),
        };
        Self::file(format!("cannot {verb} {what}: {words}"))
    }

    /// Something in the arguments: exit 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Code::Usage, message)
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
        self.code.exit()
    }
}

/// Runs a command. A panic is a fault of ours; whoever called gets an answer all the same.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
}

impl Failure {
    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let words = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        let first = words.lines().next().unwrap_or_default();
        Self::new(
            Code::Internal,
            format!(
                "this is a fault of undertone, not of what it was given; please report it: {first}"
            ),
        )
    }
}

impl From<undertone_design::Error> for Failure {
    fn from(error: undertone_design::Error) -> Self {
        let code = match error {
            undertone_design::Error::TooLarge { .. } => Code::TooLarge,
            undertone_design::Error::Uninformative { .. } => Code::Uninformative,
            _ => Code::Input,
        };
        Self::new(code, error)
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

impl From<Failure> for crate::NoReply {
    fn from(Failure { code, message }: Failure) -> Self {
        Self { usage: code == Code::Usage, code: code.word(), message }
    }
}

/// Why the system refused, in words, without its numbers.
pub(crate) fn system_words(error: &io::Error) -> String {
    match error.kind() {
        Trouble::NotFound => "there is no such file".into(),
        Trouble::PermissionDenied => "there is no permission to".into(),
        Trouble::IsADirectory => "it is a folder; give a file".into(),
        Trouble::NotADirectory => "a part of its path is not a folder".into(),
        Trouble::InvalidData => "it is not UTF-8 text: save it as UTF-8".into(),
        Trouble::StorageFull => "the disk is full: make room".into(),
        Trouble::BrokenPipe => "the reader went away".into(),
        _ => error.to_string().to_lowercase(),
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

/// An error's words without what nobody reads: the system's numbers, numbers of hundreds of digits, control
/// characters, pages.
fn tidy(text: &str) -> String {
    const MOST: usize = 1_500;
    let mut text = text.to_owned();
    while let Some(start) = text.find(" (os error ")
        && let Some(length) = text[start..].find(')')
    {
        text.replace_range(start..=start + length, "");
    }
    let mut out = String::with_capacity(text.len().min(MOST));
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let tail = &rest[start..];
        let end = tail.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tail.len());
        let digits = tail[..end].trim_end_matches('.');
        match digits.parse::<f64>() {
            Ok(number) if digits.len() > 24 => out.push_str(&format!("{number:e}")),
            _ => out.push_str(digits),
        }
        rest = &tail[digits.len()..];
    }
    out.push_str(rest);
    let plain = out.replace(|c: char| c.is_control() && c != '\n', " ");
    match plain.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &plain[..at]),
        None => plain,
    }
}

/// A text that fits a line of an error: its beginning and its length, where it is long.
pub(crate) fn shortened(text: &str) -> String {
    shortened_to(200, text)
}

/// A text of at most so many characters: its beginning and its length, where it is longer.
pub(crate) fn shortened_to(most: usize, text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if plain.chars().count() <= most {
        return plain;
    }
    let start: String = plain.chars().take(most).collect();
    format!("{start}... ({} characters)", plain.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_answer() {
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let caught = guarded(|| -> Result<(), Failure> { panic!("index out of bounds") });
        std::panic::set_hook(quiet);
        let failure = caught.unwrap_err();
        assert_eq!((failure.code, failure.code.exit()), (Code::Internal, 1));
        assert!(failure.message.contains("report it: index out of bounds"));
        assert!(guarded(|| Ok(3)).is_ok_and(|value| value == 3));
    }

    #[test]
    fn numbers_of_hundreds_of_digits_are_written_with_an_exponent() {
        let zeros = format!("prior[0] is {}: too large", 1e300);
        assert_eq!(tidy(&zeros), "prior[0] is 1e300: too large");
        assert_eq!(
            tidy("no such file (os error 2), no room (os error 28)"),
            "no such file, no room"
        );
        assert_eq!(tidy("an (os error"), "an (os error");
        assert_eq!(tidy("within 1e-9, 0.5 and 12."), "within 1e-9, 0.5 and 12.");
        assert_eq!(tidy(&format!("{}", f64::MIN_POSITIVE)), "2.2250738585072014e-308");
        assert!(tidy(&"page ".repeat(10_000)).len() < 1_600);
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(shortened("short"), "short");
        let long = shortened(&"x".repeat(100_000));
        assert!(long.len() < 300 && long.ends_with("(100000 characters)"));
    }
}
