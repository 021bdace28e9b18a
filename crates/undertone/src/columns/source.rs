//! Where rows come from.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use super::csv::CsvFile;
#[cfg(feature = "parquet")]
use super::parquet::ParquetFile;
use super::progress::Counted;
use super::{Progress, Row};
use crate::Error;

/// What a Parquet file begins with.
const PARQUET: &[u8; 4] = b"PAR1";

/// Where rows come from and, for CSV, how they are written. It is read once.
///
/// `Source::file("people.csv").with_separator(';')?.without_header()`
pub struct Source {
    name: String,
    origin: Origin,
    separator: Option<u8>,
    no_header: bool,
    progress: Arc<dyn Progress>,
}

enum Origin {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
}

/// A source whose kind is known.
pub(crate) enum OpenedSource {
    /// CSV, whose first line has been read.
    Csv(CsvFile),
    /// Parquet, whose end has been read.
    #[cfg(feature = "parquet")]
    Parquet(ParquetFile),
}

impl Source {
    /// A CSV or Parquet file, CSV also compressed with gzip.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::new(path.display().to_string(), Origin::File(path))
    }

    /// CSV from something that is read once, perhaps compressed with gzip; errors begin with `name`.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::new(name.into(), Origin::Stream(Box::new(reader)))
    }

    fn new(name: String, origin: Origin) -> Self {
        Self { name, origin, separator: None, no_header: false, progress: Arc::new(()) }
    }

    /// The character between two cells of CSV. Unless it is given, it is a comma, semicolon or tab, whichever the
    /// first line has most of.
    pub fn with_separator(self, separator: char) -> Result<Self, Error> {
        let fits = |byte: &u8| {
            byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.-".contains(byte)
        };
        let byte = u8::try_from(separator).ok().filter(fits).ok_or_else(|| {
            let problem = format!(
                "is {separator:?}: give one ASCII character that no number or word is written with"
            );
            Error::field("separator", problem)
        })?;
        Ok(Self { separator: Some(byte), ..self })
    }

    /// The first line of CSV is data, and the columns are called 1, 2, 3...
    pub fn without_header(self) -> Self {
        Self { no_header: true, ..self }
    }

    /// Tells how far the reading has come.
    pub fn watched_by(self, progress: Arc<dyn Progress>) -> Self {
        Self { progress, ..self }
    }

    /// What errors begin with: the path of a file, or the name of a reader.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name without the folder a file is in, for provenance.
    pub fn title(&self) -> String {
        match &self.origin {
            Origin::File(path) => match path.file_name() {
                Some(name) => name.to_string_lossy().into_owned(),
                None => self.name.clone(),
            },
            Origin::Stream(_) => self.name.clone(),
        }
    }

    /// Opens the file and finds out what it is.
    pub(crate) fn open(mut self) -> Result<OpenedSource, Error> {
        match std::mem::replace(&mut self.origin, Origin::File(PathBuf::new())) {
            Origin::File(path) => self.open_file(path),
            Origin::Stream(stream) => self.open_stream(stream),
        }
    }

    fn open_file(self, path: PathBuf) -> Result<OpenedSource, Error> {
        let unreadable = |error| Error::of_system("read", &self.name, &error);
        let mut file = File::open(&path).map_err(unreadable)?;
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
                return self.open_parquet(path, file);
            }
            if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet")) {
                return Err(self.problem(
                    "this is not Parquet, whose first four letters are PAR1: write it as Parquet, or rename it if it is CSV",
                ));
            }
            self.progress.expect_bytes(file.metadata().map_or(0, |about| about.len()));
        }
        self.open_stream(file)
    }

    /// CSV, perhaps compressed, from something that is read once.
    fn open_stream(self, stream: impl Read + Send + 'static) -> Result<OpenedSource, Error> {
        let counted = Counted { inner: stream, progress: self.progress.clone() };
        let mut bytes = BufReader::with_capacity(1 << 18, counted);
        let start =
            bytes.fill_buf().map_err(|error| Error::of_system("read", &self.name, &error))?;
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

    fn open_csv(self, text: Box<dyn Read + Send>) -> Result<OpenedSource, Error> {
        let file = CsvFile::open(&self.name, text, self.separator, self.no_header)?;
        Ok(OpenedSource::Csv(file))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(self, path: PathBuf, file: File) -> Result<OpenedSource, Error> {
        let file = ParquetFile::open(self.name, path, &file, self.progress)?;
        Ok(OpenedSource::Parquet(file))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(self, _: PathBuf, _: File) -> Result<OpenedSource, Error> {
        Err(Error::usage(format!(
            "{} is Parquet, and this build has no feature parquet: build it with `cargo build --release --features parquet`, or convert it to CSV",
            self.name
        )))
    }

    /// Puts the source's name in front of what is wrong with it.
    fn problem(&self, problem: &str) -> Error {
        Error::in_document(&self.name, problem)
    }

    /// Calls `visit` with every row's cells of the columns `wanted`, in order; returns how many rows
    /// there were.
    pub fn each_row<E: From<Error>>(
        self,
        wanted: &[&str],
        visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.open()?.each_row(wanted, visit)
    }
}

impl OpenedSource {
    /// The names of its columns.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Csv(file) => &file.columns,
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => &file.columns,
        }
    }

    /// As [`Source::each_row`].
    pub(crate) fn each_row<E: From<Error>>(
        self,
        wanted: &[&str],
        visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        match self {
            Self::Csv(file) => file.each_row(wanted, visit),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => file.each_row(wanted, visit),
        }
    }
}
