//! Why an experiment gave no outcome.

use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A data file is not there. Data files are never part of the repository.
    #[error(
        "the data file {file} is missing{}. Fetch {what}, and lay it out as section {section} of the data folder's \
         README.md says; give the folder with --data DIR or in UNDERTONE_DATA",
        folder.as_ref().map_or(" (no data folder was given)".into(), |f| format!(" in {}", f.display()))
    )]
    MissingData {
        /// The file, relative to the data folder.
        file: &'static str,
        /// Where it is described.
        section: &'static str,
        /// What to fetch.
        what: &'static str,
        /// The folder that was searched.
        folder: Option<PathBuf>,
    },
    /// A file cannot be read or written.
    #[error("cannot {verb} {}: {}", path.display(), without_number(source))]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A data file does not say what its description promises.
    #[error("{file}, line {line}: {problem}")]
    Data {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The mathematics refused.
    #[error(transparent)]
    Design(#[from] undertone_design::Error),
    /// Anything else: what was being done and why it failed.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Anything that has no variant of its own.
    pub fn other(message: impl std::fmt::Display) -> Self {
        Self::Other(message.to_string())
    }
}

/// The system's reason without its number.
fn without_number(source: &std::io::Error) -> String {
    let text = source.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_lowercase()
}
