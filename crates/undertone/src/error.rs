//! Why a use case gave no answer.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A request that got no answer: what kind of trouble it is, which field of the request is to blame, and the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    code: ErrorCode,
    field: Option<String>,
    problem: String,
}

/// The kinds of trouble, each with the word programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The request itself is to blame: a field that is missing, or out of its range.
    Usage,
    /// A file cannot be read or written.
    File,
    /// What a document holds, or what it holds together with the rest of the request, cannot be used.
    Input,
    /// The problem is too large.
    TooLarge,
    /// The policy that was found cannot tell its symbols apart.
    Uninformative,
    /// What was designed does not keep its claims.
    Refused,
    /// A fault of this program.
    Internal,
}

impl ErrorCode {
    /// The word programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::File => "file",
            Self::Input => "input",
            Self::TooLarge => "too_large",
            Self::Uninformative => "uninformative",
            Self::Refused => "refused",
            Self::Internal => "internal",
        }
    }
}

impl Error {
    /// An error of any kind; the words are tidied.
    pub fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self { code, field: None, problem: tidy(&message.to_string()) }
    }

    /// What a document holds cannot be used.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::Input, message)
    }

    /// A file cannot be read or written.
    pub fn file(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::File, message)
    }

    /// A file, folder or stream of this name with which the system refused to do something: `verb` is read, write,
    /// create or make.
    pub fn of_system(verb: &str, name: &str, error: &io::Error) -> Self {
        let words = match error.kind() {
            // What is written or made needs no file to be there, only the folder around it.
            ErrorKind::NotFound if verb != "read" => "there is no such folder".into(),
            ErrorKind::AlreadyExists if verb == "make" => {
                "there is a file of that name: name another folder".into()
            }
            _ => system_words(error),
        };
        Self::file(format!("cannot {verb} {name}: {words}"))
    }

    /// The request as a whole is to blame.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    /// One field of the request is to blame. The problem is said behind the field's name, as in
    /// `Error::field("epsilon", "is 800: give a number from 0 to 700")`.
    pub fn field(field: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { field: Some(field.into()), ..Self::usage(problem) }
    }

    /// An error of the mathematics whose words begin with the field that is to blame, as in `bins is 0`,
    /// `range: one number` or `symbols[3]: too long`.
    pub(crate) fn of_first_word(error: undertone_design::Error) -> Self {
        let words = error.to_string();
        let (field, problem) = words.split_at(words.find([' ', ':', '[']).unwrap_or(words.len()));
        Self::field(field, problem.trim_start())
    }

    /// The kind of trouble.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The field of the request that is to blame, if one is.
    pub fn blamed(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The message for a caller who knows fields under other names, such as options of a command line.
    pub fn called(&self, name: impl Fn(&str) -> String) -> String {
        let problem = with_names(&self.problem, &name);
        match &self.field {
            None => problem,
            Some(field) if problem.starts_with([':', '[']) => format!("{}{problem}", name(field)),
            Some(field) => format!("{} {problem}", name(field)),
        }
    }

    /// A panic that was caught.
    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let words = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        let first = words.lines().next().unwrap_or_default();
        Self::new(
            ErrorCode::Internal,
            format!(
                "this is a fault of undertone, not of what it was given; please report it: {first}"
            ),
        )
    }

    /// The trouble is in this document.
    pub(crate) fn in_document(name: &str, problem: impl fmt::Display) -> Self {
        Self::input(format!("{name}: {problem}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(str::to_owned))
    }
}

impl std::error::Error for Error {}

impl From<undertone_design::Error> for Error {
    fn from(error: undertone_design::Error) -> Self {
        let code = match error {
            undertone_design::Error::TooLarge { .. } => ErrorCode::TooLarge,
            undertone_design::Error::Uninformative { .. } => ErrorCode::Uninformative,
            _ => ErrorCode::Input,
        };
        Self::new(code, error)
    }
}

impl From<Infallible> for Error {
    /// Lets what cannot fail be given where something that can is taken.
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Runs work for a caller who must get an answer even if it panics, which would be a fault of ours.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Error::of_panic(&*panic))
}

/// A field of the request in an error's words, which every caller reads as they know it: an option, a keyword. As in
/// `format!("mend it, or use {} skip", mention("unknown"))`.
pub fn mention(field: &str) -> String {
    format!("{}{field}{}", MENTION.0, MENTION.1)
}

/// What stands around a field's name in an error's words: characters that mean nothing anywhere.
const MENTION: (char, char) = ('\u{e000}', '\u{e001}');

/// Words with every field that is mentioned in them under its caller's name.
pub(crate) fn with_names(words: &str, name: impl Fn(&str) -> String) -> String {
    let mut parts = words.split(MENTION.0);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(MENTION.1) {
            Some((field, rest)) => out += &format!("{}{rest}", name(field)),
            None => out += part,
        }
    }
    out
}

/// Why the system refused, in words, without its numbers.
pub fn system_words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::PermissionDenied => "there is no permission to".into(),
        ErrorKind::IsADirectory => "it is a folder; give a file".into(),
        ErrorKind::NotADirectory => "a part of its path is not a folder".into(),
        ErrorKind::InvalidData => "it is not UTF-8 text: save it as UTF-8".into(),
        ErrorKind::StorageFull => "the disk is full: make room".into(),
        ErrorKind::BrokenPipe => "the reader went away".into(),
        _ => error.to_string().to_lowercase(),
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

/// The first few of a list, and how many more there are.
pub fn listed(list: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = list.len().saturating_sub(most);
    let shown = list.take(most).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A text that fits a line of an error: its beginning and its length, where it is long.
pub fn shortened(text: &str) -> String {
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
    fn a_field_is_named_as_the_caller_knows_it() {
        let error = Error::field("p_min", "is 2: give a probability");
        assert_eq!(error.to_string(), "p_min is 2: give a probability");
        let option = error.called(|field| format!("--{}", field.replace('_', "-")));
        assert_eq!(option, "--p-min is 2: give a probability");
        assert_eq!((error.code(), error.blamed()), (ErrorCode::Usage, Some("p_min")));
        assert_eq!(Error::field("from", ": no such notion").to_string(), "from: no such notion");
        let one = |what: &str| Error::of_first_word(undertone_design::Error::other(what, "odd"));
        assert_eq!(one("range, bins").to_string(), "range, bins: odd");
        let blamed = ["points", "symbols[3]"].map(|what| (one(what).to_string(), one(what)));
        assert_eq!(blamed[0].0, "points: odd");
        assert_eq!((&*blamed[1].0, blamed[1].1.blamed()), ("symbols[3]: odd", Some("symbols")));
    }

    #[test]
    fn fields_mentioned_in_the_words_are_named_as_the_caller_knows_them() {
        let fix = format!("use {} skip or give {}.", mention("unknown"), mention("p_min"));
        let error = Error::input(format!("row 3 is empty: {fix}"));
        assert_eq!(error.to_string(), "row 3 is empty: use unknown skip or give p_min.");
        let option = error.called(|field| format!("--{}", field.replace('_', "-")));
        assert_eq!(option, "row 3 is empty: use --unknown skip or give --p-min.");
        // What somebody wrote into a file is no reason to stop.
        assert_eq!(Error::input("a\u{e000}b\u{e000}c\u{e001}\u{e001}").to_string(), "abc\u{e001}");
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
    fn a_panic_becomes_an_answer() {
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let caught = guarded(|| -> u8 { panic!("index out of bounds\nand more") });
        std::panic::set_hook(quiet);
        let error = caught.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
        assert!(error.to_string().ends_with("report it: index out of bounds"), "{error}");
        assert_eq!(guarded(|| 3), Ok(3));
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(shortened("short"), "short");
        let long = shortened(&"x".repeat(100_000));
        assert!(long.len() < 300 && long.ends_with("(100000 characters)"));
    }
}
