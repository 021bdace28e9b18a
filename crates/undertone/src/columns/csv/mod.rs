//! CSV as bytes: records and cells are found, not rewritten, so that what nobody touches stays as it
//! was. A quote opens a cell only at its beginning; elsewhere it is a character like any other.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use super::{Row, RowPlace, position, present};
use crate::Error;

/// The byte-order mark some programs begin a file with.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes per block; a record is never divided.
const BLOCK: usize = 1 << 20;
/// A record longer than this is a quote that was never closed.
const LONGEST_RECORD: usize = 1 << 26;

/// A CSV file whose first line has been read. `head` and `blocks` together are the bytes of the file.
pub struct CsvFile {
    /// What errors begin with.
    pub name: String,
    /// The line of column names as it stands in the file, or nothing.
    pub head: Vec<u8>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The lines `head` takes.
    pub head_lines: u64,
    /// The records.
    pub blocks: CsvBlocks,
}

/// What follows the first line of a CSV file, in blocks of whole records.
pub struct CsvBlocks {
    text: Box<dyn Read + Send>,
    separator: u8,
    /// What has been read and not been handed out.
    rest: Vec<u8>,
    ended: bool,
    name: String,
    /// Bytes per block, unless a record is longer.
    size: usize,
}

/// Walks through the records of a block.
struct Records<'a> {
    block: &'a [u8],
    separator: u8,
    /// Whether an empty line is a record: in a file of one column it is an empty cell.
    single: bool,
    at: usize,
    cells: Vec<Range<usize>>,
}

/// One record of a CSV file: its bytes with the end of the line, and where its cells are in them.
pub struct CsvRecord<'a> {
    /// The record as it stands in the file.
    pub bytes: &'a [u8],
    /// Where the cells are, with their quotes.
    pub cells: &'a [Range<usize>],
    /// Where it begins in the block.
    pub start: usize,
}

/// The cell that begins at `start` ends before the returned place. `None` if a quote stays open.
fn cell_end(bytes: &[u8], start: usize, separator: u8) -> Option<usize> {
    let mut at = start;
    if bytes.get(at) == Some(&b'"') {
        loop {
            at += 1 + bytes[at + 1..].iter().position(|&byte| byte == b'"')?;
            at += 1;
            if bytes.get(at) != Some(&b'"') {
                break;
            }
        }
    }
    let ends = |&byte: &u8| byte == separator || byte == b'\n' || byte == b'\r';
    Some(bytes[at..].iter().position(ends).map_or(bytes.len(), |more| at + more))
}

/// The end of the line break at `at`, which may be two bytes.
fn line_end(bytes: &[u8], at: usize) -> usize {
    match &bytes[at..] {
        [b'\r', b'\n', ..] => at + 2,
        [] => at,
        _ => at + 1,
    }
}

/// How much of `bytes` is whole records; `ended` says that no more bytes follow.
pub fn whole_records(bytes: &[u8], separator: u8, ended: bool) -> usize {
    if ended {
        return bytes.len();
    }
    // Without a quote every line break ends a record. The last byte may be the first half of one.
    let sure = &bytes[..bytes.len().saturating_sub(1)];
    if !bytes.contains(&b'"') {
        let last = sure.iter().rposition(|&byte| byte == b'\n' || byte == b'\r');
        return last.map_or(0, |at| line_end(bytes, at));
    }
    let (mut at, mut whole) = (0, 0);
    while let Some(end) = cell_end(bytes, at, separator).filter(|&end| end < sure.len()) {
        at = if bytes[end] == separator { end + 1 } else { line_end(bytes, end) };
        if bytes[end] != separator {
            whole = at;
        }
    }
    whole
}

impl CsvFile {
    /// Reads the first line. Without a separator, it is the comma, semicolon or tab that the line has most of;
    /// without a header, the line is data, and the columns are called 1, 2, 3...
    pub fn open(
        name: &str,
        text: Box<dyn Read + Send>,
        separator: Option<u8>,
        no_header: bool,
    ) -> Result<Self, Error> {
        let mut blocks = CsvBlocks {
            text,
            separator: b',',
            rest: Vec::new(),
            ended: false,
            name: name.to_owned(),
            size: BLOCK,
        };
        blocks.fill(BLOCK)?;
        blocks.separator = separator.unwrap_or_else(|| likely_separator(&blocks.rest));
        let mark = if blocks.rest.starts_with(MARK) { MARK.len() } else { 0 };
        let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let start = mark + blocks.rest[mark..].iter().take_while(blank).count();
        let mut records = Records::new(&blocks.rest[start..], blocks.separator, false);
        let first = records.next().map_err(|OpenQuote| {
            Error::in_document(name, format!("the first line {OPEN_QUOTE}"))
        })?;
        let first = first.filter(|record| !record.bytes.trim_ascii().is_empty());
        let Some(first) = first else {
            let missing = match no_header {
                true => "there are no rows of data",
                false => "a CSV file begins with a line of column names",
            };
            return Err(Error::in_document(name, format!("the file is empty: {missing}")));
        };
        let mut columns = Vec::new();
        for (at, cell) in first.cells.iter().enumerate() {
            let text = plain(&first.bytes[cell.clone()]);
            let text = std::str::from_utf8(&text).map_err(|_| {
                let problem = "the first line is not UTF-8: convert the file, or is it CSV?";
                Error::in_document(name, problem)
            })?;
            columns.push(if no_header { (at + 1).to_string() } else { text.trim().to_owned() });
        }
        let taken = if no_header { mark } else { start + first.bytes.len() };
        let head: Vec<u8> = blocks.rest.drain(..taken).collect();
        let head_lines = lines(&head);
        Ok(Self { name: name.to_owned(), head, columns, head_lines, blocks })
    }

    /// The character between two cells, and how many cells a record has.
    pub fn form(&self) -> CsvForm {
        CsvForm { separator: self.blocks.separator, width: self.columns.len() }
    }

    pub(super) fn each_row<E: From<Error>>(
        self,
        wanted: &[&str],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let positions: Vec<usize> = wanted
            .iter()
            .map(|column| position(&self.name, column, &self.columns))
            .collect::<Result<_, _>>()?;
        let form = self.form();
        let (mut rows, mut lines_before) = (0, self.head_lines);
        for block in self.blocks {
            let block = block?;
            let mut number = rows;
            let walked = each_record(&block, form, &positions, |record, texts| {
                number += 1;
                let cell = |text: &Cow<'_, str>| present(text).map(|text| text.to_owned().into());
                let cells: Vec<Option<Cow<'_, str>>> = texts.iter().map(cell).collect();
                let before = Some((lines_before, &block[..record.start]));
                visit(&Row { cells: &cells, number, before }).map_err(Stop::Visit)
            });
            rows += walked.map_err(|stop| match stop {
                Stop::Visit(error) => error,
                Stop::Record(problem) => {
                    let place = problem.place.after(rows, lines_before);
                    Error::in_document(&self.name, format!("{place} {}", problem.what)).into()
                }
            })?;
            lines_before += lines(&block);
        }
        Ok(rows)
    }
}

/// How a CSV file's records are made.
#[derive(Debug, Clone, Copy)]
pub struct CsvForm {
    /// The character between two cells.
    pub separator: u8,
    /// Cells per record.
    pub width: usize,
}

/// A record of a block that cannot be read.
#[derive(Debug)]
pub struct CsvProblem {
    /// Where it is, counted from the beginning of the block.
    pub place: RowPlace,
    /// What is wrong, to be said behind the place.
    pub what: String,
}

/// Why a walk through rows ended early.
enum Stop<E> {
    Visit(E),
    Record(CsvProblem),
}

impl<E> From<CsvProblem> for Stop<E> {
    fn from(problem: CsvProblem) -> Self {
        Self::Record(problem)
    }
}

/// Calls `visit` with every record of a block and the texts of its cells at `wanted`; returns how many
/// records there were.
pub fn each_record<'b, E: From<CsvProblem>>(
    block: &'b [u8],
    form: CsvForm,
    wanted: &[usize],
    mut visit: impl FnMut(&CsvRecord<'_>, &[Cow<'b, str>]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut records = Records::new(block, form.separator, form.width == 1);
    let mut texts: Vec<Cow<'b, str>> = Vec::with_capacity(wanted.len());
    for at in 0.. {
        let begin = records.at;
        let wrong = |start: usize, what: String| CsvProblem {
            place: RowPlace::in_block(at, block, start),
            what,
        };
        let record = records.next();
        let Some(record) = record.map_err(|OpenQuote| wrong(begin, OPEN_QUOTE.into()))? else {
            return Ok(at);
        };
        if record.cells.len() != form.width {
            let what = unequal(record.cells.len(), form.width);
            return Err(wrong(record.start, what).into());
        }
        texts.clear();
        for &column in wanted {
            let cell = &record.cells[column];
            let cell = &block[record.start + cell.start..record.start + cell.end];
            texts.push(text(cell).ok_or_else(|| wrong(record.start, NOT_TEXT.into()))?);
        }
        visit(&record, &texts)?;
    }
    Ok(0)
}

/// A cell's text without its quotes, if it is text.
pub fn text(cell: &[u8]) -> Option<Cow<'_, str>> {
    Some(match plain(cell) {
        Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
    })
}

const OPEN_QUOTE: &str = "opens a quote that is never closed: mend the quote";
const NOT_TEXT: &str = "is not UTF-8: convert the file";

fn unequal(cells: usize, columns: usize) -> String {
    format!("has {cells} cells where the first line has {columns}: mend the line, or its quotes")
}

/// The line breaks in some bytes.
pub fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

impl CsvBlocks {
    /// Reads until `rest` has `size` bytes or the file ends.
    fn fill(&mut self, size: usize) -> Result<(), Error> {
        while !self.ended && self.rest.len() < size {
            let missing = (size - self.rest.len()) as u64;
            let read = self.text.by_ref().take(missing).read_to_end(&mut self.rest);
            let read = read.map_err(|error| match error.raw_os_error() {
                Some(_) => Error::of_system("read", &self.name, &error),
                // Without a number of the system it is what unpacks gzip that gave up.
                None => Error::in_document(
                    &self.name,
                    format!(
                        "cannot be read to its end: {error}: pack it again, or give the plain CSV"
                    ),
                ),
            })?;
            self.ended = read == 0;
        }
        Ok(())
    }

    /// Blocks of at most so many bytes, or one record, for work that makes much of every row.
    pub(crate) fn at_most(self, size: usize) -> Self {
        Self { size: size.clamp(1, self.size), ..self }
    }

    fn next_block(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut size = self.size;
        loop {
            self.fill(size)?;
            let seen = &self.rest[..size.min(self.rest.len())];
            let last = self.ended && seen.len() == self.rest.len();
            let whole = whole_records(seen, self.separator, last);
            if whole > 0 {
                let rest = self.rest.split_off(whole);
                return Ok(Some(std::mem::replace(&mut self.rest, rest)));
            }
            if last {
                return Ok(None);
            }
            if size >= LONGEST_RECORD {
                let problem = format!(
                    "a record is longer than {LONGEST_RECORD} bytes: is a quote never closed?"
                );
                return Err(Error::in_document(&self.name, problem));
            }
            size *= 2;
        }
    }
}

impl Iterator for CsvBlocks {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = self.next_block();
        if block.is_err() {
            // Nothing follows a failure.
            self.ended = true;
            self.rest.clear();
        }
        block.transpose()
    }
}

/// A record that ends inside quotes.
#[derive(Debug)]
struct OpenQuote;

impl<'a> Records<'a> {
    fn new(block: &'a [u8], separator: u8, single: bool) -> Self {
        Self { block, separator, single, at: 0, cells: Vec::new() }
    }

    /// The next record; empty lines are passed over unless there is only one column.
    fn next(&mut self) -> Result<Option<CsvRecord<'_>>, OpenQuote> {
        let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        if !self.single {
            self.at += self.block[self.at..].iter().take_while(blank).count();
        }
        let start = self.at;
        if start == self.block.len() {
            return Ok(None);
        }
        self.cells.clear();
        let mut cell = start;
        loop {
            let end = cell_end(self.block, cell, self.separator).ok_or(OpenQuote)?;
            self.cells.push(cell - start..end - start);
            if self.block.get(end) == Some(&self.separator) {
                cell = end + 1;
                continue;
            }
            self.at = line_end(self.block, end);
            return Ok(Some(CsvRecord {
                bytes: &self.block[start..self.at],
                cells: &self.cells,
                start,
            }));
        }
    }
}

/// A cell without its quotes.
fn plain(cell: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = cell.strip_prefix(b"\"") else { return Cow::Borrowed(cell) };
    if let Some(inner) = inner.strip_suffix(b"\"").filter(|inner| !inner.contains(&b'"')) {
        return Cow::Borrowed(inner);
    }
    let mut text = Vec::with_capacity(inner.len());
    let mut rest = inner.iter();
    while let Some(&byte) = rest.next() {
        if byte == b'"' {
            match rest.next() {
                Some(b'"') => {}
                // The quote is closed: what follows it is taken as it is.
                more => {
                    text.extend(more);
                    text.extend(rest);
                    break;
                }
            }
        }
        text.push(byte);
    }
    Cow::Owned(text)
}

/// A text as a cell.
pub fn quoted(text: &str, separator: u8) -> Vec<u8> {
    let special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    if text.bytes().any(special) || text.trim().len() != text.len() {
        return format!("\"{}\"", text.replace('"', "\"\"")).into_bytes();
    }
    text.as_bytes().to_vec()
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
