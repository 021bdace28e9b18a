//! CSV: every block of rows is parsed, randomised and written anew by one thread.

use std::io::Write;
use std::ops::Range;

use super::chosen::Chosen;
use super::noise::{BadCell, Counts, Drawn, Noise};
use super::released::push_digits;
use super::target::Target;
use super::{Job, Written};
use crate::Error;
use crate::columns::csv::{self, CsvFile, CsvForm};
use crate::columns::{Code, RowPlace, in_order, threads};

/// What one thread needs.
struct Worker<'a> {
    noise: Noise<'a>,
    found: Found<'a>,
}

/// The rows of a block and what their cells stand for.
struct Found<'a> {
    job: &'a Job,
    shape: &'a Shape,
    rows: Vec<RowSpan>,
    /// Where the released columns' cells are in the block, row by row.
    cells: Vec<Range<usize>>,
    codes: Vec<Code>,
}

/// The file's form, what is released of it, and the outputs as cells.
struct Shape {
    form: CsvForm,
    /// The released columns, in the file's order, and which of them is randomised.
    released: Vec<usize>,
    place: usize,
    labels: Vec<Vec<u8>>,
    gzip: bool,
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

/// A row that cannot be perturbed; its place counts from the beginning of the block.
struct BadRow {
    place: RowPlace,
    what: What,
}

enum What {
    Record(String),
    Cell(Code),
}

impl From<csv::CsvProblem> for BadRow {
    fn from(problem: csv::CsvProblem) -> Self {
        Self { place: problem.place, what: What::Record(problem.what) }
    }
}

/// Perturbs the records of a CSV file.
pub(super) fn run(job: &Job, file: CsvFile, output: Target) -> Result<Written, Error> {
    if output.extension() == Some("parquet") {
        return Err(output.of_another_format("CSV"));
    }
    let form = file.form();
    let texts = job.plan.released.texts();
    let chosen = Chosen::new(&job.column, &job.keep, &file.name, &file.columns)?;
    let shape = Shape {
        form,
        released: chosen.released(),
        place: chosen.place(),
        labels: texts.iter().map(|text| csv::quoted(text, form.separator)).collect(),
        gzip: output.is_compressed(),
    };
    let workers = (0..threads(job.threads)).map(|_| {
        let noise = job.plan.noise()?;
        let found = Found { job, shape: &shape, rows: vec![], cells: vec![], codes: vec![] };
        let mut worker = Worker { noise, found };
        Ok(move |block: Vec<u8>| Ok(worker.work(&block)))
    });
    let workers = workers.collect::<Result<Vec<_>, Error>>()?;
    let mut target = output.open()?;
    let name = target.name().to_owned();
    let fail = |error| Error::of_system("write", &name, &error);
    let head = shape.head(&file.head);
    target.write_all(&shape.packed(head)).map_err(fail)?;
    let mut counts = Counts::default();
    let mut lines = file.head_lines;
    in_order(file.blocks, workers, |done: Done| {
        if let Some(bad) = done.bad {
            let place = bad.place.after(counts.rows, lines);
            return Err(match bad.what {
                What::Record(what) => Error::in_document(&file.name, format!("{place} {what}")),
                What::Cell(code) => job.bad_cell(&file.name, place, code),
            });
        }
        counts.then(&done.counts);
        lines += done.lines;
        target.write_all(&done.bytes).map_err(fail)
    })?;
    let replaced = target.finish()?;
    Ok(Written { counts, chosen, notes_left_out: Vec::new(), replaced })
}

impl Shape {
    /// The released columns' names, behind the byte-order mark if the file has one.
    fn head(&self, head: &[u8]) -> Vec<u8> {
        let mark = if head.starts_with(csv::MARK) { csv::MARK } else { &[] };
        let mut line = mark.to_vec();
        let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let names = &head[mark.len()..];
        let names = &names[names.iter().take_while(blank).count()..];
        // The one record of the first line was read when the file was opened.
        let _ =
            csv::each_record(names, self.form, &[], |record, _| -> Result<(), csv::CsvProblem> {
                for (at, &column) in self.released.iter().enumerate() {
                    if at > 0 {
                        line.push(self.form.separator);
                    }
                    line.extend_from_slice(&record.bytes[record.cells[column].clone()]);
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
    fn work(&mut self, block: &[u8]) -> Done {
        let mut counts = Counts::default();
        let (bytes, bad) = match self.rewrite(block, &mut counts) {
            Ok(bytes) => (bytes, None),
            Err(bad) => (Vec::new(), Some(bad)),
        };
        Done { bytes, counts, lines: csv::lines(block), bad }
    }

    fn rewrite(&mut self, block: &[u8], counts: &mut Counts) -> Result<Vec<u8>, BadRow> {
        let found = &mut self.found;
        found.read(block)?;
        let drawn = self.noise.draw(&found.codes, counts).map_err(|BadCell { at, code }| {
            let place = RowPlace::in_block(at as u64, block, found.rows[at].start);
            BadRow { place, what: What::Cell(code) }
        })?;
        let mut out = Vec::with_capacity(block.len() + block.len() / 4);
        found.write(block, &drawn, &mut out);
        Ok(found.shape.packed(out))
    }
}

impl Found<'_> {
    /// Finds every row, what is released of it, and what its cell stands for.
    fn read(&mut self, block: &[u8]) -> Result<(), BadRow> {
        self.rows.clear();
        self.cells.clear();
        self.codes.clear();
        let Shape { form, released, place, .. } = self.shape;
        csv::each_record(block, *form, &[released[*place]], |record, texts| {
            self.codes.push(self.job.plan.lookup.text(&texts[0]));
            let start = record.start;
            let spans = released.iter().map(|&column| &record.cells[column]);
            self.cells.extend(spans.map(|cell| start + cell.start..start + cell.end));
            let last = record.cells.last().map_or(0, |cell| cell.end);
            let line_break = start + last..start + record.bytes.len();
            self.rows.push(RowSpan { start, line_break });
            Ok(())
        })
        .map(drop)
    }

    fn push_cell(&self, drawn: &Drawn<'_>, at: usize, out: &mut Vec<u8>) {
        match drawn {
            Drawn::Indices(indices) => {
                out.extend_from_slice(&self.shape.labels[indices[at] as usize]);
            }
            Drawn::Bits { packed, width } => {
                push_digits(&packed[at * width..(at + 1) * width], out);
            }
        }
    }

    /// The rows that stay: the drawn cell, the kept cells as they are, the line break.
    fn write(&self, block: &[u8], drawn: &Drawn<'_>, out: &mut Vec<u8>) {
        let Shape { form, released, place, .. } = self.shape;
        let cells = self.cells.chunks_exact(released.len());
        let rows = self.rows.iter().zip(cells).zip(&self.codes);
        let stay = rows.filter(|&(_, &code)| self.job.plan.keeps(code));
        for (at, ((span, cells), _)) in stay.enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                if column > 0 {
                    out.push(form.separator);
                }
                if column == *place {
                    self.push_cell(drawn, at, out);
                } else {
                    out.extend_from_slice(&block[cell.clone()]);
                }
            }
            out.extend_from_slice(&block[span.line_break.clone()]);
        }
    }
}
