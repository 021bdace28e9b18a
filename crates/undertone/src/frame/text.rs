//! CSV: every block of rows is parsed, randomised and written anew by one thread.

use std::io::Write;
use std::ops::Range;

use super::channel::Drawn;
use super::chosen::{Chosen, OutputColumn};
use super::draws::{BadCell, Counts, Draws, NotDrawn};
use super::released::{Released, push_combination, push_digits};
use super::target::Target;
use super::{Frame, Written};
use crate::Error;
use crate::columns::csv::{self, CsvFile, CsvForm};
use crate::columns::{Code, RowPlace, in_order, threads};
use crate::kept::{KeptCell, KeptWatch, key, tuple_key};

/// What one thread needs.
struct Worker<'a> {
    frame: &'a Frame,
    shape: &'a Shape,
    watch: &'a KeptWatch,
    draws: Draws<'a>,
    rows: Vec<RowSpan>,
    /// Where the kept columns' cells are in the block, row by row.
    cells: Vec<Range<usize>>,
}

/// The file's form, what is released of it, and the outputs as cells.
struct Shape {
    form: CsvForm,
    chosen: Chosen,
    labels: Vec<Labels>,
    gzip: bool,
}

/// How an item's outputs are written.
enum Labels {
    /// One cell for every output.
    Listed(Vec<Vec<u8>>),
    Digits,
    /// Made as they are needed; in quotes if any answer needs them.
    Combined {
        parts: Vec<Vec<String>>,
        quoted: bool,
    },
}

/// Where a row is in a block.
struct RowSpan {
    start: usize,
    /// From where its text ends to where its line break does.
    line_break: Range<usize>,
}

/// A block made anew, or what is wrong in it.
struct Done {
    bytes: Vec<u8>,
    counts: Counts,
    lines: u64,
    bad: Option<BadRow>,
}

/// A row that cannot be released; its place counts from the beginning of the block.
struct BadRow {
    place: RowPlace,
    what: What,
}

enum What {
    Record(String),
    Cell(BadCell),
    Fault(Error),
}

impl From<csv::CsvProblem> for BadRow {
    fn from(problem: csv::CsvProblem) -> Self {
        Self { place: problem.place, what: What::Record(problem.what) }
    }
}

/// Releases the records of a CSV file.
pub(super) fn run(frame: &Frame, file: CsvFile, output: Target) -> Result<Written, Error> {
    if output.extension() == Some("parquet") {
        return Err(output.of_another_format("CSV"));
    }
    let form = file.form();
    let chosen = Chosen::new(frame, &file.name, &file.columns)?;
    let labels = frame.channels.iter().map(|channel| Labels::new(&channel.released, form));
    let shape = Shape { form, chosen, labels: labels.collect(), gzip: output.is_compressed() };
    let watch = frame.watch(&shape.chosen.kept_names);
    let workers = (0..threads(frame.threads)).map(|_| {
        let (shape, watch, draws) = (&shape, &watch, frame.draws()?);
        let mut worker = Worker { frame, shape, watch, draws, rows: vec![], cells: vec![] };
        Ok(move |(number, block): (u64, Vec<u8>)| Ok(worker.work(number, &block)))
    });
    let workers = workers.collect::<Result<Vec<_>, Error>>()?;
    let mut target = output.open()?;
    let name = target.name().to_owned();
    let fail = |error| Error::of_system("write", &name, &error);
    let head = shape.head(frame, &file.head, &file.columns);
    target.write_all(&shape.packed(head)).map_err(fail)?;
    let mut counts = Counts::default();
    let mut lines = file.head_lines;
    let blocks = file.blocks.at_most(block_size(frame));
    let blocks = (0..).zip(blocks).map(|(number, block)| Ok((number, block?)));
    in_order(blocks, workers, |done: Done| {
        if let Some(bad) = done.bad {
            let place = bad.place.after(counts.rows, lines);
            return Err(match bad.what {
                What::Record(what) => Error::in_document(&file.name, format!("{place} {what}")),
                What::Cell(bad) => frame.bad_cell(&file.name, place, bad),
                What::Fault(error) => error,
            });
        }
        counts.then(&done.counts);
        lines += done.lines;
        target.write_all(&done.bytes).map_err(fail)
    })?;
    // Before the file has its name: small groups, and a column that is kept under another name, leave nothing behind.
    frame.check_groups(&counts)?;
    let kept = watch.finish()?;
    let replaced = target.finish()?;
    let chosen = shape.chosen;
    Ok(Written { counts, chosen, kept, notes_left_out: Vec::new(), replaced })
}

/// Bytes that what is released of one block may take.
const RELEASED: usize = 1 << 25;

/// How long a block of rows may be so that what is released of it fits memory, however short its rows: of a million symbols, one
/// row's bits are 125,000 bytes, and twice as many digits.
fn block_size(frame: &Frame) -> usize {
    let row: usize = frame.channels.iter().map(|channel| 3 * channel.packed_width()).sum();
    // A cell of one character and the end of the line.
    RELEASED.checked_div(row).map_or(usize::MAX, |rows| 2 * rows)
}

impl Labels {
    fn new(released: &Released, form: CsvForm) -> Self {
        match released {
            Released::Digits => Self::Digits,
            Released::Combined(parts) => {
                let special = |text: &String| csv::quoted(text, form.separator) != text.as_bytes();
                let quoted = parts.iter().flatten().any(special);
                let doubled = |text: &String| text.replace('"', "\"\"");
                let parts = parts.iter().map(|labels| labels.iter().map(doubled).collect());
                Self::Combined { parts: parts.collect(), quoted }
            }
            listed => {
                let cell = |text: &String| csv::quoted(text, form.separator);
                Self::Listed(listed.texts().iter().map(cell).collect())
            }
        }
    }

    fn push(&self, drawn: &Drawn, at: usize, out: &mut Vec<u8>) {
        match (self, drawn) {
            (Self::Listed(labels), Drawn::Indices(indices)) => {
                out.extend_from_slice(&labels[indices[at] as usize]);
            }
            (Self::Combined { parts, quoted }, Drawn::Indices(indices)) => {
                let quote: &[u8] = if *quoted { b"\"" } else { b"" };
                out.extend_from_slice(quote);
                push_combination(parts, indices[at], out);
                out.extend_from_slice(quote);
            }
            (_, Drawn::Bits { packed, width }) => {
                push_digits(&packed[at * width..(at + 1) * width], out);
            }
            // Bits are drawn as bits.
            (Self::Digits, Drawn::Indices(_)) => {}
        }
    }
}

impl Shape {
    /// The released columns' names, behind the byte-order mark if the file has one.
    fn head(&self, frame: &Frame, head: &[u8], columns: &[String]) -> Vec<u8> {
        let mark = if head.starts_with(csv::MARK) { csv::MARK } else { &[] };
        let mut line = mark.to_vec();
        let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let names = &head[mark.len()..];
        let names = &names[names.iter().take_while(blank).count()..];
        let Chosen { asked, kept, outputs, .. } = &self.chosen;
        // The one record of the first line was read when the file was opened.
        let _ =
            csv::each_record(names, self.form, &[], |record, _| -> Result<(), csv::CsvProblem> {
                let cell = |column: usize| &record.bytes[record.cells[column].clone()];
                for (at, output) in outputs.iter().enumerate() {
                    if at > 0 {
                        line.push(self.form.separator);
                    }
                    match *output {
                        OutputColumn::Kept(place) => line.extend_from_slice(cell(kept[place])),
                        OutputColumn::Item(item) => {
                            let channel = &frame.channels[item];
                            let column = channel.questions.first().map(|&first| asked[first]);
                            match column.filter(|&column| columns[column] == channel.name) {
                                Some(column) => line.extend_from_slice(cell(column)),
                                None => {
                                    line.extend(csv::quoted(&channel.name, self.form.separator))
                                }
                            }
                        }
                    }
                }
                let last = record.cells.last().map_or(0, |cell| cell.end);
                line.extend_from_slice(&record.bytes[last..]);
                Ok(())
            });
        line
    }

    /// Compressed, if the output is to be. Each piece is a member of its own, as gzip allows.
    fn packed(&self, bytes: Vec<u8>) -> Vec<u8> {
        if !self.gzip || bytes.is_empty() {
            return bytes;
        }
        let level = flate2::Compression::fast();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        // Writing to memory does not fail.
        let _ = encoder.write_all(&bytes);
        encoder.finish().unwrap_or_default()
    }
}

impl Worker<'_> {
    fn work(&mut self, number: u64, block: &[u8]) -> Done {
        let lines = csv::lines(block);
        match self.rewrite(number, block) {
            Ok((bytes, counts)) => Done { bytes, counts, lines, bad: None },
            Err(bad) => {
                Done { bytes: Vec::new(), counts: Counts::default(), lines, bad: Some(bad) }
            }
        }
    }

    fn rewrite(&mut self, number: u64, block: &[u8]) -> Result<(Vec<u8>, Counts), BadRow> {
        self.read(block)?;
        let counts = self.draws.draw().map_err(|trouble| match trouble {
            NotDrawn::Cell(bad) => {
                let place = RowPlace::in_block(bad.at as u64, block, self.rows[bad.at].start);
                BadRow { place, what: What::Cell(bad) }
            }
            NotDrawn::Fault(error) => {
                BadRow { place: RowPlace::default(), what: What::Fault(error) }
            }
        })?;
        if !self.watch.is_idle() {
            self.measure(number, block);
        }
        let mut out = Vec::with_capacity(block.len() + block.len() / 4);
        self.write(block, &mut out);
        Ok((self.shape.packed(out), counts))
    }

    /// Finds every row, what is kept of it, and what its cells stand for.
    fn read(&mut self, block: &[u8]) -> Result<(), BadRow> {
        self.rows.clear();
        self.cells.clear();
        self.draws.clear();
        let Chosen { asked, kept, .. } = &self.shape.chosen;
        let questions = self.frame.questions().count();
        let pairs = (0..kept.len()).flat_map(|kept| (0..questions).map(move |one| (kept, one)));
        let mut equal: Vec<(usize, usize)> =
            pairs.filter(|&(kept, one)| self.watch.may_be_equal(kept, one)).collect();
        csv::each_record(block, self.shape.form, asked, |record, texts| {
            let columns = self.frame.asked.iter().zip(texts).zip(&mut self.draws.codes);
            for ((asked, text), codes) in columns {
                codes.push(asked.lookup.text(text));
            }
            equal.retain(|&(place, one)| {
                let cell = &record.bytes[record.cells[kept[place]].clone()];
                let code = self.draws.codes[one].last();
                let alike = matches!(code, Some(Code::Missing | Code::Unknown))
                    || csv::text(cell).is_some_and(|text| text.trim() == texts[one].trim());
                if !alike {
                    self.watch.is_different(place, one);
                }
                alike
            });
            let start = record.start;
            let spans = kept.iter().map(|&column| &record.cells[column]);
            self.cells.extend(spans.map(|cell| start + cell.start..start + cell.end));
            let last = record.cells.last().map_or(0, |cell| cell.end);
            let line_break = start + last..start + record.bytes.len();
            self.rows.push(RowSpan { start, line_break });
            Ok(())
        })
        .map(drop)
    }

    /// The rows that are released, each with its cells that are kept.
    fn kept_rows(&self) -> impl Iterator<Item = (&RowSpan, &[Range<usize>])> {
        let width = self.shape.chosen.kept.len();
        let rows = self.rows.iter().enumerate().filter(|(at, _)| self.draws.stays(*at));
        rows.map(move |(at, span)| (span, &self.cells[at * width..(at + 1) * width]))
    }

    /// Watches what the kept cells tell.
    fn measure(&self, number: u64, block: &[u8]) {
        let mut part = self.watch.part(number);
        for (row, (_, cells)) in self.kept_rows().enumerate() {
            let keys = cells.iter().map(|cell| key(block[cell.clone()].trim_ascii()));
            let cell = |cell: &Range<usize>| {
                csv::text(&block[cell.clone()])
                    .map_or(KeptCell::MISSING, |text| KeptCell::of(&text))
            };
            part.row(
                tuple_key(keys),
                || cells.iter().map(cell).collect(),
                || self.draws.answers_of(row),
            );
        }
        part.end();
    }

    /// The rows that stay: drawn cells, kept cells as they are, the line break.
    fn write(&self, block: &[u8], out: &mut Vec<u8>) {
        let Shape { form, chosen, labels, .. } = self.shape;
        // How many rows have answered each item so far.
        let mut next = vec![0; labels.len()];
        for (row, (span, cells)) in self.kept_rows().enumerate() {
            for (at, output) in chosen.outputs.iter().enumerate() {
                if at > 0 {
                    out.push(form.separator);
                }
                match *output {
                    OutputColumn::Kept(place) => {
                        out.extend_from_slice(&block[cells[place].clone()]);
                    }
                    OutputColumn::Item(item) if self.draws.answers(row, item) => {
                        labels[item].push(&self.draws.drawn[item], next[item], out);
                        next[item] += 1;
                    }
                    // Not asked of this row.
                    OutputColumn::Item(_) => {}
                }
            }
            out.extend_from_slice(&block[span.line_break.clone()]);
        }
    }
}
