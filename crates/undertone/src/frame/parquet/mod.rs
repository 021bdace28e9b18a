//! Parquet: one thread decodes, randomises and encodes the columns asked for in one row group. Columns that are kept
//! are copied as they stand in the file, compressed and encoded, unless rows of the group are left out; what they tell is
//! measured on the way. Of all else a file holds, nothing is copied: not what it says about itself (`notes.rs`), not the name
//! of its schema, and of the randomised columns no statistics, pages or filters but those of the noise.

mod arrays;
mod form;
mod notes;

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_select::filter::filter;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::chosen::{Chosen, OutputColumn};
use super::draws::{BadCell, Counts, Draws, NotDrawn};
use super::target::{OpenTarget, Target};
use super::{Frame, Written};
use crate::Error;
use crate::columns::parquet::{Coder, Column, ParquetFile, plan_note, policy_note, row_keys, text};
use crate::columns::{Code, RowPlace, in_order, threads};
use crate::kept::{KeptCell, KeptPart, KeptWatch};
use arrays::column_of;
use form::{Leaf, OutputForm};

/// A row group's new columns: a file in memory with the drawn ones, or with all that are released.
struct Piece {
    bytes: Bytes,
    metadata: ParquetMetaData,
    all: bool,
    counts: Counts,
}

/// The columns asked for.
struct Asked {
    columns: Vec<Column>,
    /// Their places in the file, in order and each once, and for every column its place among these.
    roots: Vec<usize>,
    order: Vec<usize>,
    reading: ArrowReaderMetadata,
}

impl Asked {
    fn new(frame: &Frame, file: &ParquetFile) -> Result<Self, Error> {
        let columns = frame.asked.iter().map(|asked| file.column(&asked.column));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for column in &columns {
            let earlier = |note: &str, what: &str| {
                let id = file.note(note)?;
                Some(format!("column {:?} was perturbed already, under {what} {id}", column.name))
            };
            let found = earlier(&policy_note(&column.name), "policy")
                .or_else(|| earlier(&plan_note(&column.name), "plan"));
            if let Some(found) = found {
                return Err(file.problem(format!("{found}: perturb the original")));
            }
        }
        // The reader hands columns back in the file's order, each once.
        let mut roots: Vec<usize> = columns.iter().map(|column| column.root).collect();
        roots.sort_unstable();
        roots.dedup();
        let order =
            columns.iter().map(|column| roots.partition_point(|other| *other < column.root));
        let order = order.collect();
        let reading = file.reading(&roots)?;
        Ok(Self { columns, roots, order, reading })
    }
}

/// Releases the row groups of a Parquet file.
pub(super) fn run(frame: &Frame, file: ParquetFile, output: Target) -> Result<Written, Error> {
    if matches!(output.extension(), Some("csv" | "gz" | "tsv" | "txt")) {
        return Err(output.of_another_format("Parquet"));
    }
    let asked = Asked::new(frame, &file)?;
    let chosen = Chosen::new(frame, &file.name, &file.columns)?;
    let form = OutputForm::new(frame, &file, &asked.columns, &chosen);
    let form = form.map_err(|error| file.fail(&error))?;
    let watch = frame.watch(&chosen.kept_names);
    file.progress.expect_rows(file.rows());
    let workers = (0..threads(frame.threads)).map(|_| {
        let (file, asked, chosen, form, watch) = (&file, &asked, &chosen, &form, &watch);
        let draws = frame.draws()?;
        let mut worker = Worker { frame, file, asked, chosen, form, watch, draws };
        Ok(move |group: usize| worker.work(group))
    });
    let workers = workers.collect::<Result<Vec<_>, Error>>()?;
    let target = output.open()?;
    let name = target.name().to_owned();
    // An error of the system is the output's: the input is opened, and read by the workers.
    let fail = |error: ParquetError| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::of_system("write", &name, &error),
            Err(other) => Error::input(format!("cannot write {name}: {other}")),
        },
        other => Error::input(format!("cannot write {name}: {other}")),
    };
    let properties = Arc::new(form.properties.clone());
    let mut writer =
        SerializedFileWriter::new(target, form.schema.clone(), properties).map_err(fail)?;
    let mut counts = Counts::default();
    let source = file.handle()?;
    let mut group = 0;
    in_order((0..file.groups()).map(Ok), workers, |piece: Result<Piece, BadRow>| {
        let piece = piece.map_err(|bad| {
            let place = RowPlace { row: counts.rows + bad.at + 1, line: None };
            frame.bad_cell(&file.name, place, bad.cell)
        })?;
        counts.then(&piece.counts);
        file.progress.add(piece.counts.rows);
        if piece.metadata.num_row_groups() > 0 {
            let mut out = writer.next_row_group().map_err(fail)?;
            splice(&mut out, &piece, &form, &file, &source, group).map_err(fail)?;
            out.close().map_err(fail)?;
        }
        group += 1;
        Ok(())
    })?;
    for channel in &frame.channels {
        if let Some(policy) = channel.only_policy() {
            let note = KeyValue::new(policy_note(&channel.name), policy.id().to_string());
            writer.append_key_value_metadata(note);
        }
        if let Some(plan) = &channel.plan {
            writer.append_key_value_metadata(KeyValue::new(plan_note(&channel.name), plan.clone()));
        }
    }
    // Before the file has its name: a column that is kept under another name leaves nothing behind.
    frame.check_groups(&counts)?;
    let kept = watch.finish()?;
    let replaced = writer.into_inner().map_err(fail)?.finish()?;
    Ok(Written { counts, chosen, kept, notes_left_out: form.notes_left_out, replaced })
}

/// Copies the columns of a row group from the piece, or from the source, as they are.
fn splice(
    out: &mut SerializedRowGroupWriter<'_, OpenTarget>,
    piece: &Piece,
    form: &OutputForm,
    file: &ParquetFile,
    source: &File,
    group: usize,
) -> Result<(), ParquetError> {
    for (at, leaf) in form.leaves.iter().enumerate() {
        match *leaf {
            _ if piece.all => copy(out, &piece.bytes, &piece.metadata, 0, at)?,
            Leaf::Drawn(drawn) => copy(out, &piece.bytes, &piece.metadata, 0, drawn)?,
            Leaf::Kept(leaf) => copy(out, source, &file.metadata, group, leaf)?,
        }
    }
    Ok(())
}

/// Copies one column of one row group.
fn copy<R: ChunkReader>(
    out: &mut SerializedRowGroupWriter<'_, OpenTarget>,
    from: &R,
    metadata: &ParquetMetaData,
    group: usize,
    leaf: usize,
) -> Result<(), ParquetError> {
    let rows = metadata.row_group(group).num_rows();
    let chunk = metadata.row_group(group).column(leaf);
    let index = metadata.page_index();
    let close = ColumnCloseResult {
        bytes_written: chunk.compressed_size() as u64,
        rows_written: rows as u64,
        metadata: chunk.clone(),
        bloom_filter: Sbbf::read_from_column_chunk(chunk, from).ok().flatten(),
        column_index: index.and_then(|index| index.column_index(group, leaf)).cloned(),
        offset_index: index.and_then(|index| index.offset_index(group, leaf)).cloned(),
    };
    out.append_column(from, close)
}

/// A cell that may not be there, and its row in the row group.
struct BadRow {
    at: u64,
    cell: BadCell,
}

/// What one thread needs.
struct Worker<'a> {
    frame: &'a Frame,
    file: &'a ParquetFile,
    asked: &'a Asked,
    chosen: &'a Chosen,
    form: &'a OutputForm,
    watch: &'a KeptWatch,
    draws: Draws<'a>,
}

impl<'a> Worker<'a> {
    fn work(&mut self, group: usize) -> Result<Result<Piece, BadRow>, Error> {
        let kept = &self.chosen.kept;
        let all = !kept.is_empty() && self.frame.drops_rows() && self.loses_rows(group)?;
        let mut others = match self.watch.is_idle() {
            true => None,
            false => {
                let roots = kept.iter().copied();
                Some(self.file.batches(&self.form.reading, roots, Some(group))?)
            }
        };
        let file = self.file;
        let fail = |error: ParquetError| file.fail(&error);
        let mut bytes = Vec::new();
        let mut writer = self.form.writer(all, &mut bytes).map_err(fail)?;
        let mut coders = self.coders();
        let mut part = self.watch.part(group as u64);
        let mut counts = Counts::default();
        for batch in self.batches(group)? {
            let batch = batch.map_err(|error| fail(error.into()))?;
            self.read(&batch, &mut coders)?;
            match self.draws.draw() {
                Ok(drawn) => counts.then(&drawn),
                Err(NotDrawn::Fault(error)) => return Err(error),
                Err(NotDrawn::Cell(cell)) => {
                    return Ok(Err(BadRow { at: counts.rows + cell.at as u64, cell }));
                }
            }
            let others = others.as_mut().and_then(Iterator::next).transpose();
            let others = others.map_err(|error| fail(error.into()))?;
            let others = others.map_or(vec![], |batch| batch.columns().to_vec());
            self.measure(&batch, &others, &mut part)?;
            let columns = match all {
                true => self.all_columns(&others)?,
                false => self.drawn_columns()?,
            };
            let batch = RecordBatch::try_new(self.form.fields(all), columns);
            writer.write(&batch.map_err(|error| fail(error.into()))?).map_err(fail)?;
        }
        part.end();
        let metadata = writer.close().map_err(fail)?;
        Ok(Ok(Piece { bytes: bytes.into(), metadata, all, counts }))
    }

    fn batches(&self, group: usize) -> Result<ParquetRecordBatchReader, Error> {
        let Asked { roots, reading, .. } = self.asked;
        self.file.batches(reading, roots.iter().copied(), Some(group))
    }

    fn coders(&self) -> Vec<Coder<'a>> {
        self.frame.asked.iter().map(|asked| Coder::new(&asked.lookup)).collect()
    }

    /// What the cells of a batch stand for.
    fn read(&mut self, batch: &RecordBatch, coders: &mut [Coder<'_>]) -> Result<(), Error> {
        self.draws.clear();
        for (at, coder) in coders.iter_mut().enumerate() {
            let array = batch.column(self.asked.order[at]);
            let codes = &mut self.draws.codes[at];
            coder.codes(array, codes).map_err(|kind| self.odd(at, kind))?;
        }
        Ok(())
    }

    /// Whether rows of a row group are left out.
    fn loses_rows(&self, group: usize) -> Result<bool, Error> {
        let mut coders = self.coders();
        let mut codes = Vec::new();
        for batch in self.batches(group)? {
            let batch = batch.map_err(|error| self.file.fail(&error.into()))?;
            for (at, coder) in coders.iter_mut().enumerate() {
                codes.clear();
                let array = batch.column(self.asked.order[at]);
                coder.codes(array, &mut codes).map_err(|kind| self.odd(at, kind))?;
                if codes.iter().any(|code| matches!(code, Code::Missing | Code::Unknown)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn odd(&self, column: usize, kind: &str) -> Error {
        let name = &self.asked.columns[column].name;
        self.file.problem(format!("column {name:?} holds {kind}"))
    }

    /// Watches what the kept cells of a batch tell.
    fn measure(
        &self,
        batch: &RecordBatch,
        others: &[ArrayRef],
        part: &mut KeptPart<'_>,
    ) -> Result<(), Error> {
        if others.is_empty() {
            return Ok(());
        }
        // What has no text, such as bytes, is no worse than missing: no prediction reads it.
        let said = |array: &ArrayRef, at: usize| text(array, at).ok().flatten();
        for (kept, array) in others.iter().enumerate() {
            let questions = self.frame.questions().count();
            for (column, codes) in self.draws.codes[..questions].iter().enumerate() {
                let asked = batch.column(self.asked.order[column]);
                let differ = |(at, code): (usize, &Code)| {
                    !matches!(code, Code::Missing | Code::Unknown)
                        && said(array, at) != said(asked, at)
                };
                if self.watch.may_be_equal(kept, column) && codes.iter().enumerate().any(differ) {
                    self.watch.is_different(kept, column);
                }
            }
        }
        let mut keys = vec![0; batch.num_rows()];
        for array in others {
            row_keys(array, &mut keys);
        }
        let stay = keys.iter().enumerate().filter(|(at, _)| self.draws.stays(*at));
        for (row, (at, &key)) in stay.enumerate() {
            let cell = |array: &ArrayRef| match said(array, at) {
                Some(text) => KeptCell::of(&text),
                None => KeptCell::MISSING,
            };
            part.row(key, || others.iter().map(cell).collect(), || self.draws.answers_of(row));
        }
        Ok(())
    }

    /// An item's outputs as an array.
    fn drawn_column(&self, item: usize) -> Result<ArrayRef, Error> {
        let rows = self.draws.indices.first().map_or(0, Vec::len);
        let answers: Option<Vec<bool>> = self
            .frame
            .choose
            .as_ref()
            .map(|_| (0..rows).map(|row| self.draws.answers(row, item)).collect());
        let released = &self.frame.channels[item].released;
        let labels = &self.form.labels[item];
        column_of(&self.draws.drawn[item], released, labels, answers.as_deref())
    }

    /// The drawn columns alone.
    fn drawn_columns(&self) -> Result<Vec<ArrayRef>, Error> {
        self.form.items.iter().map(|&item| self.drawn_column(item)).collect()
    }

    /// All columns, the kept ones without the rows that are left out.
    fn all_columns(&self, others: &[ArrayRef]) -> Result<Vec<ArrayRef>, Error> {
        let rows = self.draws.codes.first().map_or(0, Vec::len);
        let stay: BooleanArray = (0..rows).map(|row| Some(self.draws.stays(row))).collect();
        let column = |output: &OutputColumn| match *output {
            OutputColumn::Item(item) => self.drawn_column(item),
            OutputColumn::Kept(place) => {
                filter(&others[place], &stay).map_err(|error| self.file.fail(&error.into()))
            }
        };
        self.chosen.outputs.iter().map(column).collect()
    }
}
