//! Why a command gave no result.

use std::fmt;
use std::process::ExitCode;

use serde_json::json;

/// A command that could not do its work, and whether the command line itself is to blame.
#[derive(Debug)]
pub(crate) struct Failure {
    usage: bool,
    message: String,
}

impl Failure {
    /// Something in a file, or about the machine: exit 1.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self { usage: false, message: message.to_string() }
    }

    /// Something in the arguments: exit 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { usage: true, message: message.to_string() }
    }

    /// The reason on standard error, and as JSON on standard output if asked for.
    pub(crate) fn print(&self, json: bool) -> ExitCode {
        eprintln!("error: {}", self.message);
        if json {
            crate::output::line(&json!({ "error": self.message }).to_string());
        }
        ExitCode::from(if self.usage { 2 } else { 1 })
    }
}

impl From<undertone_design::Error> for Failure {
    fn from(error: undertone_design::Error) -> Self {
        Self::input(error)
    }
}
