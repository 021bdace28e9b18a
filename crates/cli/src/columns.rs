//! Columns of CSV and Parquet files: read row by row, or in pieces on many threads.

pub(crate) mod csv;
mod lookup;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod progress;
mod workers;

pub(crate) use lookup::float;
pub use lookup::{Code, Lookup};
pub(crate) use progress::Progress;
pub(crate) use workers::{in_order, threads};

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where rows come from.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Source {
    /// A CSV or Parquet file, CSV also compressed with gzip; `-` reads CSV from standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) layout: Layout,
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

/// The cells of the chosen columns in one row; `None` is a missing value: empty, null or NaN.
pub(crate) struct Row<'a> {
    pub(crate) cells: &'a [Option<Cow<'a, str>>],
    number: u64,
    /// Where lines exist: how many come before a block of text, and its part before this row.
    before: Option<(u64, &'a [u8])>,
}

/// Where a row is, for error messages; the first row of data is row 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) row: u64,
    /// The line it begins on, where lines exist.
    pub(crate) line: Option<u64>,
}

impl Place {
    /// A place in a block of text, counted from the block's beginning: after so many rows, at so many
    /// bytes.
    pub(crate) fn in_block(rows: u64, block: &[u8], at: usize) -> Self {
        Self { row: rows + 1, line: Some(csv::lines(&block[..at]) + 1) }
    }

    /// The same place counted from the beginning of the file.
    pub(crate) fn after(self, rows: u64, lines: u64) -> Self {
        Self { row: rows + self.row, line: self.line.map(|line| lines + line) }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row {}", self.row)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl Row<'_> {
    /// Where the row is, for error messages.
    pub(crate) fn place(&self) -> String {
        let line = self.before.map(|(lines, text)| lines + csv::lines(text) + 1);
        Place { row: self.number, line }.to_string()
    }
}

/// A file whose kind is known.
pub(crate) enum Opened {
    Csv(csv::CsvFile),
    #[cfg(feature = "parquet")]
    Parquet(parquet::ParquetFile),
}

/// What a Parquet file begins with.
const PARQUET: &[u8; 4] = b"PAR1";

type Visit<'a> = dyn FnMut(&Row<'_>) -> Result<(), Failure> + 'a;

impl Source {
    /// Whether rows come from standard input.
    pub(crate) fn is_standard_input(&self) -> bool {
        self.file == Path::new("-")
    }

    /// The file's name without its folder, for provenance.
    pub(crate) fn name(&self) -> String {
        match self.file.file_name() {
            Some(name) if !self.is_standard_input() => name.to_string_lossy().into_owned(),
            _ => "standard input".into(),
        }
    }

    /// Puts the file in front of what is wrong with it.
    pub(crate) fn problem(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::input(format!("{}: {problem}", self.file.display()))
    }

    /// Opens the file and finds out what it is. Bytes read are told to `progress`.
    pub(crate) fn open(&self, progress: &Progress) -> Result<Opened, Failure> {
        if self.is_standard_input() {
            return self.open_stream(std::io::stdin(), progress);
        }
        if let Some(document) = crate::documents::read(&self.file) {
            return self.open_stream(std::io::Cursor::new(document), progress);
        }
        let unreadable = |error| Failure::of_system("read", &self.file, &error);
        let mut file = File::open(&self.file).map_err(unreadable)?;
        let mut magic = [0; 4];
        // What cannot be wound back is a pipe, and read like one.
        if file.stream_position().is_ok() {
            let known = match file.read_exact(&mut magic) {
                Ok(()) => &magic == PARQUET,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(unreadable(error)),
            };
            file.rewind().map_err(unreadable)?;
            if known {
                return self.open_parquet(file);
            }
            if self.file.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet")) {
                return Err(self.problem(
                    "this is not Parquet, whose first four letters are PAR1: write it as Parquet, or rename it if it is CSV",
                ));
            }
            progress.expect_bytes(file.metadata().map_or(0, |about| about.len()));
        }
        self.open_stream(file, progress)
    }

    /// CSV, perhaps compressed, from something that is read once.
    fn open_stream(
        &self,
        stream: impl Read + Send + 'static,
        progress: &Progress,
    ) -> Result<Opened, Failure> {
        let mut bytes = std::io::BufReader::with_capacity(1 << 18, progress.count(stream));
        let start =
            bytes.fill_buf().map_err(|error| Failure::of_system("read", &self.file, &error))?;
        match start {
            [0x1f, 0x8b, ..] => {
                self.open_csv(Box::new(flate2::bufread::MultiGzDecoder::new(bytes)))
            }
            _ if start.starts_with(PARQUET) => Err(self.problem(
                "this is Parquet, which is read from its end: give a file instead of a pipe",
            )),
            _ => self.open_csv(Box::new(bytes)),
        }
    }

    fn open_csv(&self, text: Box<dyn Read + Send>) -> Result<Opened, Failure> {
        let layout = &self.layout;
        let file = csv::CsvFile::open(self, text, layout.separator()?, layout.no_header)?;
        Ok(Opened::Csv(file))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(&self, file: File) -> Result<Opened, Failure> {
        Ok(Opened::Parquet(parquet::ParquetFile::open(self, file)?))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(&self, _: File) -> Result<Opened, Failure> {
        Err(Failure::missing_feature(
            "parquet",
            format!("{} is Parquet", self.file.display()),
            "or convert it to CSV",
        ))
    }

    /// Calls `visit` with every row's cells of the columns `wanted`, in order; returns how many rows
    /// there were.
    pub(crate) fn each_row(&self, wanted: &[&str], visit: &mut Visit<'_>) -> Result<u64, Failure> {
        match self.open(&Progress::hidden())? {
            Opened::Csv(file) => file.each_row(self, wanted, visit),
            #[cfg(feature = "parquet")]
            Opened::Parquet(file) => file.each_row(self, wanted, visit),
        }
    }

    /// The position of a column.
    pub(crate) fn position(&self, name: &str, columns: &[String]) -> Result<usize, Failure> {
        let mut found = columns.iter().enumerate().filter(|(_, column)| *column == name);
        let Some((at, _)) = found.next() else {
            let all = columns.join(", ");
            return Err(self.problem(format!("there is no column {name:?}; the columns are {all}")));
        };
        if found.next().is_some() {
            return Err(self.problem(format!("two columns are called {name:?}: rename one")));
        }
        Ok(at)
    }

    /// The position of every wanted column.
    fn positions(&self, wanted: &[&str], columns: &[String]) -> Result<Vec<usize>, Failure> {
        wanted.iter().map(|name| self.position(name, columns)).collect()
    }
}

impl Layout {
    fn separator(&self) -> Result<Option<u8>, Failure> {
        let Some(separator) = self.separator else { return Ok(None) };
        let fits = |byte: &u8| {
            byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.-".contains(byte)
        };
        let byte = u8::try_from(separator).ok().filter(fits).ok_or_else(|| {
            Failure::usage(format!(
                "--separator is {separator:?}: give one ASCII character that no number or word is written with"
            ))
        })?;
        Ok(Some(byte))
    }
}

/// A cell's text; nothing if it is empty or NaN.
fn present(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && !text.eq_ignore_ascii_case("nan")).then_some(text)
}
