//! Rows of chosen columns from CSV or Parquet files, one at a time.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use crate::failure::Failure;

/// Where rows come from and how they are written.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Source {
    /// A CSV or Parquet file, CSV also compressed with gzip; `-` reads CSV from standard input.
    pub(crate) file: std::path::PathBuf,
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
    line: Option<u64>,
}

impl Row<'_> {
    /// Where the row is, for error messages; the first row of data is row 1.
    pub(crate) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("row {} (line {line})", self.number),
            None => format!("row {}", self.number),
        }
    }
}

type Visit<'a> = dyn FnMut(&Row<'_>) -> Result<(), Failure> + 'a;

impl Source {
    /// The file's name without its folder, for provenance.
    pub(crate) fn name(&self) -> String {
        self.file.file_name().map_or("standard input".into(), |name| {
            if name == "-" { "standard input".into() } else { name.to_string_lossy().into_owned() }
        })
    }

    /// Puts the file in front of what is wrong with it.
    pub(crate) fn problem(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::input(format!("{}: {problem}", self.file.display()))
    }

    /// Calls `visit` with every row's cells of the columns `wanted`, in order; returns how many rows
    /// there were.
    pub(crate) fn each_row(&self, wanted: &[&str], visit: &mut Visit<'_>) -> Result<u64, Failure> {
        if self.file == Path::new("-") {
            return self.csv(Box::new(BufReader::new(std::io::stdin())), wanted, visit);
        }
        let mut file = File::open(&self.file).map_err(|error| {
            Failure::input(format!("cannot read {}: {error}", self.file.display()))
        })?;
        let mut magic = Vec::new();
        file.by_ref()
            .take(4)
            .read_to_end(&mut magic)
            .and_then(|_| file.rewind())
            .map_err(|error| self.problem(error))?;
        match magic.as_slice() {
            b"PAR1" => self.parquet(file, wanted, visit),
            [0x1f, 0x8b, ..] => {
                let plain = flate2::read::MultiGzDecoder::new(BufReader::new(file));
                self.csv(Box::new(BufReader::new(plain)), wanted, visit)
            }
            _ => self.csv(Box::new(BufReader::new(file)), wanted, visit),
        }
    }

    /// The position of every wanted column.
    fn positions(&self, wanted: &[&str], columns: &[String]) -> Result<Vec<usize>, Failure> {
        let find = |name: &&str| {
            columns.iter().position(|column| column == name).ok_or_else(|| {
                self.problem(format!(
                    "there is no column {name:?}; the columns are {}",
                    columns.join(", ")
                ))
            })
        };
        wanted.iter().map(find).collect()
    }

    fn csv(
        &self,
        mut text: Box<dyn BufRead>,
        wanted: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<u64, Failure> {
        let start = text.fill_buf().map_err(|error| self.problem(error))?;
        let separator = match self.separator {
            Some(separator) => {
                u8::try_from(separator).ok().filter(u8::is_ascii).ok_or_else(|| {
                    Failure::usage(format!(
                        "--separator is {separator:?}: give one ASCII character"
                    ))
                })?
            }
            None => likely_separator(start),
        };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(!self.no_header)
            .trim(csv::Trim::All)
            .from_reader(text);
        let mut columns: Vec<String> = reader
            .headers()
            .map_err(|error| self.csv_problem(&error, 0))?
            .iter()
            .map(Into::into)
            .collect();
        if columns.is_empty() {
            return Err(
                self.problem("the file is empty: a CSV file begins with a line of column names")
            );
        }
        if self.no_header {
            columns = (1..=columns.len()).map(|at| at.to_string()).collect();
        }
        let positions = self.positions(wanted, &columns)?;
        let mut record = csv::StringRecord::new();
        let mut number = 0;
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => number += 1,
                Ok(false) => return Ok(number),
                Err(error) => return Err(self.csv_problem(&error, number + 1)),
            }
            let cell = |&at: &usize| record.get(at).and_then(present).map(Cow::Borrowed);
            let cells: Vec<_> = positions.iter().map(cell).collect();
            let line = record.position().map(csv::Position::line);
            visit(&Row { cells: &cells, number, line })?;
        }
    }

    fn csv_problem(&self, error: &csv::Error, row: u64) -> Failure {
        let place = |position: &Option<csv::Position>| match position {
            Some(position) => format!("row {row} (line {})", position.line()),
            None => format!("row {row}"),
        };
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => self.problem(format!(
                "{} has {len} cells where the first line has {expected_len}: mend the line, or its quotes",
                place(pos)
            )),
            csv::ErrorKind::Utf8 { pos, .. } => {
                self.problem(format!("{} is not UTF-8: convert the file", place(pos)))
            }
            _ => self.problem(error),
        }
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&self, _: File, _: &[&str], _: &mut Visit<'_>) -> Result<u64, Failure> {
        Err(self.problem(
            "this build reads no Parquet: build with --features parquet, or convert to CSV",
        ))
    }

    #[cfg(feature = "parquet")]
    fn parquet(&self, file: File, wanted: &[&str], visit: &mut Visit<'_>) -> Result<u64, Failure> {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::schema::types::Type;

        let fail = |error: parquet::errors::ParquetError| {
            match error.to_string() {
            text if text.contains("Disabled feature") => self.problem(format!(
                "{text}; write the file with snappy, gzip, lz4 or no compression (for zstd, build with --features zstd)"
            )),
            text => self.problem(text),
        }
        };
        let reader = SerializedFileReader::new(file).map_err(fail)?;
        let schema = reader.metadata().file_metadata().schema();
        let columns: Vec<String> =
            schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
        let positions = self.positions(wanted, &columns)?;
        // The reader hands columns back in the file's order, each once.
        let mut chosen = positions.clone();
        chosen.sort_unstable();
        chosen.dedup();
        let fields = chosen.iter().map(|&at| schema.get_fields()[at].clone()).collect();
        let projection =
            Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(fail)?;
        let order: Vec<usize> = positions
            .iter()
            .filter_map(|at| chosen.iter().position(|candidate| candidate == at))
            .collect();
        let mut number = 0;
        for row in reader.get_row_iter(Some(projection)).map_err(fail)? {
            number += 1;
            let row = row.map_err(fail)?;
            let fields: Vec<_> = row.get_column_iter().collect();
            let read = |&at: &usize| {
                let (name, field) = fields[at];
                parquet_cell(field).map_err(|kind| {
                    self.problem(format!("column {name:?} holds {kind}, not one value per row"))
                })
            };
            let cells = order.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            visit(&Row { cells: &cells, number, line: None })?;
        }
        Ok(number)
    }
}

/// A Parquet value as CSV would write it.
#[cfg(feature = "parquet")]
fn parquet_cell(field: &parquet::record::Field) -> Result<Option<Cow<'_, str>>, &'static str> {
    use parquet::record::Field;
    Ok(match field {
        Field::Null => None,
        Field::Str(text) => present(text).map(Cow::Borrowed),
        Field::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes.data()).map_err(|_| "bytes that are no text")?;
            present(text).map(Cow::Borrowed)
        }
        Field::Float(value) => (!value.is_nan()).then(|| value.to_string().into()),
        Field::Double(value) => (!value.is_nan()).then(|| value.to_string().into()),
        Field::Group(_) => return Err("records"),
        Field::ListInternal(_) => return Err("lists"),
        Field::MapInternal(_) => return Err("maps"),
        // Whole numbers, truth values, decimals, dates and times print as they are meant.
        other => Some(other.to_string().into()),
    })
}

/// A cell's text; nothing if it is empty or NaN.
fn present(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && !text.eq_ignore_ascii_case("nan")).then_some(text)
}

/// The candidate that occurs most in the first line, outside quotes; a comma if none does.
fn likely_separator(start: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0u32), (b';', 0), (b'\t', 0)];
    for &byte in start.iter().take_while(|&&byte| byte != b'\n') {
        quoted ^= byte == b'"';
        if let Some(entry) = counts.iter_mut().find(|(candidate, _)| *candidate == byte && !quoted)
        {
            entry.1 += 1;
        }
    }
    // The first of equals: the comma.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(candidate, _)| *candidate)
}
