//! CSV: every block of rows is parsed, randomised and written anew by one thread.

use std::io::Write;
use std::ops::Range;

use super::Job;
use super::noise::{BadCell, Counts, Drawn, Noise};
use super::released::push_digits;
use super::target::Target;
use crate::columns::csv::{self, CsvFile, Form};
use crate::columns::{Code, Place, in_order, threads};
use crate::failure::Failure;

/// What one thread needs.
struct Worker<'a> {
    noise: Noise<'a>,
    found: Found<'a>,
}

/// The rows of a block and what their cells stand for.
struct Found<'a> {
    job: &'a Job<'a>,
    shape: &'a Shape,
    rows: Vec<RowSpan>,
    codes: Vec<Code>,
}

/// The file's form, and the outputs as cells.
struct Shape {
    form: Form,
    column: usize,
    labels: Vec<Vec<u8>>,
    gzip: bool,
}

/// Where a row and its cell are in a block.
struct RowSpan {
    row: Range<usize>,
    cell: Range<usize>,
    /// Where the line break begins.
    text_end: usize,
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
    place: Place,
    what: What,
}

enum What {
    Record(String),
    Cell { code: Code, value: Option<String> },
}

impl From<csv::Problem> for BadRow {
    fn from(problem: csv::Problem) -> Self {
        Self { place: problem.place, what: What::Record(problem.what) }
    }
}

pub(super) fn run(job: &Job<'_>, file: CsvFile) -> Result<Counts, Failure> {
    let args = job.args;
    if args.output.extension().is_some_and(|extension| extension == "parquet") {
        return Err(Failure::usage(format!(
            "--output {}: the output has the input's format, which is CSV",
            args.output.display()
        )));
    }
    let form = file.form();
    let texts = job.plan.released.texts();
    let shape = Shape {
        form,
        column: args.source.position(&args.column, &file.columns)?,
        labels: texts.iter().map(|text| csv::quoted(text, form.separator)).collect(),
        gzip: args.output.extension().is_some_and(|extension| extension == "gz"),
    };
    let workers = (0..threads(args.threads)).map(|_| {
        let noise = job.plan.noise()?;
        let found = Found { job, shape: &shape, rows: vec![], codes: vec![] };
        let mut worker = Worker { noise, found };
        Ok(move |block: Vec<u8>| Ok(worker.work(&block)))
    });
    let workers = workers.collect::<Result<Vec<_>, Failure>>()?;
    let mut target = Target::create(&args.output)?;
    let fail = |error| Target::failure(&args.output, &error);
    let head = shape.head(&file.head, args.only);
    target.write_all(&shape.packed(head)).map_err(fail)?;
    let mut counts = Counts::default();
    let mut lines = file.head_lines;
    in_order(file.blocks, workers, |done: Done| {
        if let Some(bad) = done.bad {
            let place = bad.place.after(counts.rows, lines);
            return Err(match bad.what {
                What::Record(what) => args.source.problem(format!("{place} {what}")),
                What::Cell { code, value } => job.bad_cell(place, code, value.as_deref()),
            });
        }
        counts.then(&done.counts);
        lines += done.lines;
        target.write_all(&done.bytes).map_err(fail)
    })?;
    target.finish()?;
    Ok(counts)
}

impl Shape {
    /// The line of column names; alone, the column's own.
    fn head(&self, head: &[u8], only: bool) -> Vec<u8> {
        if !only || head.is_empty() {
            return head.to_vec();
        }
        let mut line = Vec::new();
        let _ = csv::each_record(head, self.form, &[], |record, _| -> Result<(), csv::Problem> {
            let last = record.cells.last().map_or(0, |cell| cell.end);
            line.extend_from_slice(&record.bytes[record.cells[self.column].clone()]);
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
            let span = &found.rows[at];
            let value = csv::text(&block[span.cell.clone()]).map(|text| text.trim().to_owned());
            let place = Place::in_block(at as u64, block, span.row.start);
            BadRow { place, what: What::Cell { code, value } }
        })?;
        let mut out = Vec::with_capacity(block.len() + block.len() / 4);
        if found.job.args.only {
            found.column_alone(block, &drawn, &mut out);
        } else {
            found.column_replaced(block, &drawn, &mut out);
        }
        Ok(found.shape.packed(out))
    }
}

impl Found<'_> {
    /// Finds every row's cell and what it stands for.
    fn read(&mut self, block: &[u8]) -> Result<(), BadRow> {
        self.rows.clear();
        self.codes.clear();
        let Shape { form, column, .. } = *self.shape;
        csv::each_record(block, form, &[column], |record, texts| {
            self.codes.push(self.job.plan.lookup.text(&texts[0]));
            let (start, cell) = (record.start, &record.cells[column]);
            let last = record.cells.last().map_or(0, |cell| cell.end);
            self.rows.push(RowSpan {
                row: start..start + record.bytes.len(),
                cell: start + cell.start..start + cell.end,
                text_end: start + last,
            });
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

    /// Everything as it was but the column's cells; rows that do not stay are cut out whole.
    fn column_replaced(&self, block: &[u8], drawn: &Drawn<'_>, out: &mut Vec<u8>) {
        let mut copied = 0;
        let mut at = 0;
        for (span, &code) in self.rows.iter().zip(&self.codes) {
            if self.job.plan.keeps(code) {
                out.extend_from_slice(&block[copied..span.cell.start]);
                self.push_cell(drawn, at, out);
                copied = span.cell.end;
                at += 1;
            } else {
                out.extend_from_slice(&block[copied..span.row.start]);
                copied = span.row.end;
            }
        }
        out.extend_from_slice(&block[copied..]);
    }

    /// The column's cells with their line breaks.
    fn column_alone(&self, block: &[u8], drawn: &Drawn<'_>, out: &mut Vec<u8>) {
        let rows = self.rows.iter().zip(&self.codes);
        let kept = rows.filter(|&(_, &code)| self.job.plan.keeps(code));
        for (at, (span, _)) in kept.enumerate() {
            self.push_cell(drawn, at, out);
            out.extend_from_slice(&block[span.text_end..span.row.end]);
        }
    }
}
