//! Why a command gave no result.

use std::fmt;

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

    /// The reason on standard error, and as JSON on standard output if asked for. Returns the exit code.
    pub(crate) fn print(&self, json: bool) -> u8 {
        eprintln!("error: {}", self.message);
        if json {
            crate::output::line(&json!({ "error": self.message }).to_string());
        }
        if self.usage { 2 } else { 1 }
    }
}

impl From<undertone_design::Error> for Failure {
    fn from(error: undertone_design::Error) -> Self {
        Self::input(error)
    }
}

impl From<Failure> for crate::NoReply {
    fn from(Failure { usage, message }: Failure) -> Self {
        Self { usage, message }
    }
}
