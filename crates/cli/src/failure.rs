//! Why a command gave no result.

use std::fmt;

use serde_json::json;

/// A command that could not do its work, and whether the command line itself is to blame.
#[derive(Debug)]
pub(crate) struct Failure {
    usage: bool,
    /// A word that programs can rely on, where there is one.
    code: Option<&'static str>,
    message: String,
}

/// The code of a policy that cannot tell its symbols apart.
pub(crate) const UNINFORMATIVE: &str = "uninformative";

impl Failure {
    /// Something in a file, or about the machine: exit 1.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self { usage: false, code: None, message: message.to_string() }
    }

    /// Something in the arguments: exit 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { usage: true, code: None, message: message.to_string() }
    }

    /// A refusal that programs can recognise by a word: exit 1.
    pub(crate) fn coded(code: &'static str, message: impl fmt::Display) -> Self {
        Self { usage: false, code: Some(code), message: message.to_string() }
    }

    /// The reason on standard error, and as JSON on standard output if asked for. Returns the exit code.
    pub(crate) fn print(&self, json: bool) -> u8 {
        eprintln!("error: {}", self.message);
        if json {
            let mut told = json!({ "error": self.message });
            if let Some(code) = self.code {
                told["code"] = json!(code);
            }
            crate::output::line(&told.to_string());
        }
        if self.usage { 2 } else { 1 }
    }
}

impl From<undertone_design::Error> for Failure {
    fn from(error: undertone_design::Error) -> Self {
        match error {
            undertone_design::Error::Uninformative { .. } => Self::coded(UNINFORMATIVE, error),
            _ => Self::input(error),
        }
    }
}

impl From<Failure> for crate::NoReply {
    fn from(Failure { usage, code, message }: Failure) -> Self {
        Self { usage, code, message }
    }
}
