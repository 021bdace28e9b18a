//! Tables on the command line: where rows come from, and a progress bar while they are read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use undertone::columns::{self, Progress, Row};

use crate::failure::Failure;

/// Where rows come from.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Source {
    /// A CSV or Parquet file, CSV also compressed with gzip; `-` reads CSV from standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) layout: Layout,
}

/// A file of people, where other things are named beside it.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct DataFile {
    /// A CSV or Parquet file, CSV also compressed with gzip; `-` reads CSV from standard input.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[command(flatten)]
    layout: Layout,
}

impl DataFile {
    /// The rows, with a bar while they are read.
    pub(crate) fn rows(&self) -> Result<columns::Source, Failure> {
        let source = Source { file: self.data.clone(), layout: self.layout.clone() };
        Ok(source.rows()?.watched_by(ReadingBar::new("read")))
    }
}

/// How a CSV file is written.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Layout {
    /// The character between two cells of a CSV file (default: comma, semicolon or tab, whichever
    /// the first line has most of).
    #[arg(long)]
    separator: Option<char>,
    /// The first line of a CSV file is data; its columns are called 1, 2, 3...
    #[arg(long)]
    no_header: bool,
}

impl Source {
    /// Puts the file in front of what is wrong with it.
    pub(crate) fn problem(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::input(format!("{}: {problem}", self.file.display()))
    }

    /// The rows, as the library reads them.
    pub(crate) fn rows(&self) -> Result<columns::Source, Failure> {
        let rows = match self.file == Path::new("-") {
            true => columns::Source::reader("standard input", std::io::stdin()),
            false => columns::Source::file(&self.file),
        };
        let rows = match self.layout.separator {
            Some(separator) => rows.with_separator(separator)?,
            None => rows,
        };
        Ok(if self.layout.no_header { rows.without_header() } else { rows })
    }

    /// Calls `visit` with every row's cells of the columns `wanted`, in order; returns how many rows
    /// there were.
    pub(crate) fn each_row(
        &self,
        wanted: &[&str],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        self.rows()?.each_row(wanted, visit)
    }
}

/// A bar over bytes or rows that appears on standard error where that is a terminal, and is removed in the end.
pub(crate) struct ReadingBar(ProgressBar);

impl ReadingBar {
    /// A bar for work that `what` has been done to so many bytes or rows.
    pub(crate) fn new(what: &'static str) -> Arc<Self> {
        let bar = Self(ProgressBar::no_length());
        bar.0.set_message(what);
        bar.style("{spinner} {bytes} {msg} ({bytes_per_sec})");
        Arc::new(bar)
    }

    fn expect(&self, length: u64, template: &str) {
        if length > 0 {
            self.0.set_length(length);
            self.style(template);
        }
    }

    fn style(&self, template: &str) {
        let style = ProgressStyle::with_template(template);
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }
}

impl Progress for ReadingBar {
    fn expect_bytes(&self, bytes: u64) {
        self.expect(bytes, "{wide_bar} {bytes}/{total_bytes} {msg} ({bytes_per_sec}, {eta} left)");
    }

    fn expect_rows(&self, rows: u64) {
        self.expect(rows, "{wide_bar} {human_pos}/{human_len} rows {msg} ({eta} left)");
    }

    fn add(&self, done: u64) {
        self.0.inc(done);
    }
}

impl Drop for ReadingBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
