//! Parquet: one thread decodes, randomises and encodes the column in one row group. Columns that are kept
//! are copied as they stand in the file, compressed and encoded; they are not even decoded, unless
//! rows of the group are left out. Of all else a file holds, nothing is copied: not what it says about
//! itself (`notes.rs`), not the name of its schema, and of the randomised column no statistics, pages or
//! filters but those of the noise.

mod notes;

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{DataType, Schema};
use arrow_select::filter::filter;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::chosen::Chosen;
use super::noise::{BadCell, Counts, Drawn, Noise};
use super::released::{Released, push_digits};
use super::target::{OpenTarget, Target};
use super::{Job, Written};
use crate::Error;
use crate::columns::parquet::{Coder, Column, ParquetFile, bare_field, policy_note};
use crate::columns::{Code, RowPlace, in_order, threads};

/// The name of every output's schema; the input's may say anything.
const SCHEMA: &str = "schema";

/// How the output is made.
struct OutputForm {
    /// All columns of the output.
    schema: TypePtr,
    /// Their leaves in the input.
    leaves: Vec<usize>,
    properties: WriterProperties,
    /// The keys of what is not said again.
    notes_left_out: Vec<String>,
    /// The perturbed column alone.
    column: Arc<Schema>,
    /// All columns of the output as arrays, for groups that lose rows, and how those are read.
    arrays: Arc<Schema>,
    reading: ArrowReaderMetadata,
    /// The outputs as the values of a dictionary, where they are texts.
    labels: ArrayRef,
}

/// A row group's new columns: a file in memory with the perturbed one, or with all that are released.
struct Piece {
    bytes: Bytes,
    metadata: ParquetMetaData,
    all: bool,
    counts: Counts,
}

/// Perturbs the row groups of a Parquet file.
pub(super) fn run(job: &Job, file: ParquetFile, output: Target) -> Result<Written, Error> {
    if matches!(output.extension(), Some("csv" | "gz" | "tsv" | "txt")) {
        return Err(output.of_another_format("Parquet"));
    }
    let column = file.column(&job.column)?;
    if let Some(id) = file.note(&policy_note(&column.name)) {
        return Err(file.problem(format!(
            "column {:?} was perturbed already, under policy {id}: perturb the original",
            column.name
        )));
    }
    let chosen = Chosen::new(&job.column, &job.keep, &file.name, &file.columns)?;
    let form = OutputForm::new(job, &file, &column, &chosen).map_err(|error| file.fail(&error))?;
    file.progress.expect_rows(file.rows());
    let workers = (0..threads(job.threads)).map(|_| {
        let noise = job.plan.noise()?;
        let mut worker =
            Worker { job, file: &file, column: &column, chosen: &chosen, form: &form, noise };
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
            job.bad_cell(&file.name, place, bad.code)
        })?;
        counts.then(&piece.counts);
        file.progress.add(piece.counts.rows);
        if piece.metadata.num_row_groups() > 0 {
            let mut out = writer.next_row_group().map_err(fail)?;
            splice(&mut out, &piece, &form, &file, &source, column.leaf, group).map_err(fail)?;
            out.close().map_err(fail)?;
        }
        group += 1;
        Ok(())
    })?;
    let note = KeyValue::new(policy_note(&column.name), job.plan.policy.id().to_string());
    writer.append_key_value_metadata(note);
    let replaced = writer.into_inner().map_err(fail)?.finish()?;
    Ok(Written { counts, chosen, notes_left_out: form.notes_left_out, replaced })
}

/// Copies the columns of a row group from the piece, or from the source, as they are.
fn splice(
    out: &mut SerializedRowGroupWriter<'_, OpenTarget>,
    piece: &Piece,
    form: &OutputForm,
    file: &ParquetFile,
    source: &File,
    perturbed: usize,
    group: usize,
) -> Result<(), ParquetError> {
    for (at, &leaf) in form.leaves.iter().enumerate() {
        if piece.all {
            copy(out, &piece.bytes, &piece.metadata, 0, at)?;
        } else if leaf == perturbed {
            copy(out, &piece.bytes, &piece.metadata, 0, 0)?;
        } else {
            copy(out, source, &file.metadata, group, leaf)?;
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

impl OutputForm {
    fn new(
        job: &Job,
        file: &ParquetFile,
        column: &Column,
        chosen: &Chosen,
    ) -> Result<Self, ParquetError> {
        let about = file.metadata.file_metadata();
        let read = |options| ArrowReaderMetadata::try_new(file.metadata.clone(), options);
        let noted = read(ArrowReaderOptions::new())?;
        let bare: Vec<_> = noted.schema().fields().iter().map(|field| bare_field(field)).collect();
        let bare = Arc::new(Schema::new(bare));
        let reading = read(ArrowReaderOptions::new().with_schema(bare.clone()))?;
        let (values, plain) = match &job.plan.released {
            Released::Integers(_) => (DataType::Int64, DataType::Int64),
            Released::Floats { .. } => (DataType::Float64, DataType::Float64),
            Released::Texts(_) => (categories(), DataType::Utf8),
            Released::Digits => (DataType::Utf8, DataType::Utf8),
        };
        // The name, whether it may be null, and the field's number stay.
        let was = bare.field(column.root);
        let field = |kind: DataType| was.clone().with_data_type(kind);
        let written = Arc::new(Schema::new(vec![field(values.clone())]));
        let released = chosen.released();
        let arrays = |kind: DataType| {
            let field = |&root: &usize| {
                if root == column.root { field(kind.clone()) } else { bare.field(root).clone() }
            };
            Schema::new(released.iter().map(field).collect::<Vec<_>>())
        };
        let converted = ArrowSchemaConverter::new().convert(&written)?;
        let root = |&root: &usize| match root == column.root {
            true => converted.root_schema().get_fields()[0].clone(),
            false => about.schema().get_fields()[root].clone(),
        };
        let roots = released.iter().map(root).collect();
        let schema = Arc::new(Type::group_type_builder(SCHEMA).with_fields(roots).build()?);
        let descriptor = about.schema_descr();
        let leaves = (0..descriptor.num_columns())
            .filter(|&leaf| released.contains(&descriptor.get_column_root_idx(leaf)))
            .collect();
        let notes = notes::Notes::of(about, &chosen.kept_names);
        let mut properties = WriterProperties::builder()
            .set_key_value_metadata(Some(notes.kept))
            .set_created_by(concat!("undertone ", env!("CARGO_PKG_VERSION")).into())
            .set_max_row_group_row_count(None);
        if let Some(group) = file.metadata.row_groups().first() {
            let codec = group.column(column.leaf).compression_codec();
            properties = properties.set_compression(codec.into());
        }
        let mut properties = properties.build();
        if notes.had_arrow_schema {
            // Texts stay the kind of texts they were, categories among them.
            let kind = match (was.data_type(), plain) {
                (DataType::LargeUtf8 | DataType::Utf8View, DataType::Utf8) => {
                    was.data_type().clone()
                }
                (DataType::Dictionary(_, _), DataType::Utf8) => categories(),
                (_, plain) => plain,
            };
            add_encoded_arrow_schema_to_metadata(&arrays(kind), &mut properties);
        }
        let labels: ArrayRef = Arc::new(StringArray::from(job.plan.released.texts()));
        let arrays = Arc::new(arrays(values));
        let notes_left_out = notes.left_out;
        Ok(Self {
            schema,
            leaves,
            properties,
            notes_left_out,
            column: written,
            arrays,
            reading,
            labels,
        })
    }

    /// A file in memory for the perturbed column, or for all.
    fn writer<'b>(
        &self,
        all: bool,
        bytes: &'b mut Vec<u8>,
    ) -> Result<ArrowWriter<&'b mut Vec<u8>>, ParquetError> {
        let options = ArrowWriterOptions::new()
            .with_properties(self.properties.clone())
            .with_skip_arrow_metadata(true);
        if all {
            let schema = SchemaDescriptor::new(self.schema.clone());
            let options = options.with_parquet_schema(schema);
            return ArrowWriter::try_new_with_options(bytes, self.arrays.clone(), options);
        }
        ArrowWriter::try_new_with_options(bytes, self.column.clone(), options)
    }
}

/// Texts that are looked up in a list.
fn categories() -> DataType {
    DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
}

/// A cell that may not be there, and its row in the row group.
struct BadRow {
    at: u64,
    code: Code,
}

/// What one thread needs.
struct Worker<'a> {
    job: &'a Job,
    file: &'a ParquetFile,
    column: &'a Column,
    chosen: &'a Chosen,
    form: &'a OutputForm,
    noise: Noise<'a>,
}

impl Worker<'_> {
    fn work(&mut self, group: usize) -> Result<Result<Piece, BadRow>, Error> {
        let kept = &self.chosen.kept;
        let all = !kept.is_empty() && self.drops_rows(group)?;
        let mut others = match all {
            true => {
                let roots = kept.iter().copied();
                Some(self.file.batches(&self.form.reading, roots, Some(group))?)
            }
            false => None,
        };
        let fail = |error: ParquetError| self.file.fail(&error);
        let mut bytes = Vec::new();
        let mut writer = self.form.writer(all, &mut bytes).map_err(fail)?;
        let mut coder = Coder::new(&self.job.plan.lookup);
        let mut counts = Counts::default();
        let mut codes = Vec::new();
        for array in self.file.arrays(self.column, group)? {
            let array = array?;
            codes.clear();
            coder.codes(&array, &mut codes).map_err(|kind| self.odd(kind))?;
            let before = counts.rows;
            let drawn = match self.noise.draw(&codes, &mut counts) {
                Ok(drawn) => drawn,
                Err(BadCell { at, code }) => {
                    return Ok(Err(BadRow { at: before + at as u64, code }));
                }
            };
            let released = column_of(&drawn, &self.job.plan.released, &self.form.labels)?;
            let batch = match &mut others {
                None => RecordBatch::try_new(self.form.column.clone(), vec![released]),
                Some(others) => {
                    let others = others.next().transpose();
                    let others = others.map_err(|error| fail(error.into()))?;
                    let mut columns = others.map_or(vec![], |batch| batch.columns().to_vec());
                    let kept: BooleanArray =
                        codes.iter().map(|&code| Some(self.job.plan.keeps(code))).collect();
                    let left = columns.iter().map(|column| filter(column, &kept));
                    columns = left.collect::<Result<_, _>>().map_err(|e| fail(e.into()))?;
                    columns.insert(self.chosen.place().min(columns.len()), released);
                    RecordBatch::try_new(self.form.arrays.clone(), columns)
                }
            };
            let batch = batch.map_err(|error| fail(error.into()))?;
            writer.write(&batch).map_err(fail)?;
        }
        let metadata = writer.close().map_err(fail)?;
        Ok(Ok(Piece { bytes: bytes.into(), metadata, all, counts }))
    }

    /// Whether rows of a row group are left out.
    fn drops_rows(&self, group: usize) -> Result<bool, Error> {
        if !self.job.plan.drops_rows() {
            return Ok(false);
        }
        let mut coder = Coder::new(&self.job.plan.lookup);
        let mut codes = Vec::new();
        for array in self.file.arrays(self.column, group)? {
            codes.clear();
            coder.codes(&array?, &mut codes).map_err(|kind| self.odd(kind))?;
            if codes.iter().any(|&code| !self.job.plan.keeps(code)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn odd(&self, kind: &str) -> Error {
        self.file.problem(format!("column {:?} holds {kind}", self.column.name))
    }
}

/// Outputs as an array of the column's new type.
fn column_of(drawn: &Drawn<'_>, released: &Released, labels: &ArrayRef) -> Result<ArrayRef, Error> {
    Ok(match (drawn, released) {
        (Drawn::Indices(indices), Released::Integers(values)) => {
            let values = indices.iter().map(|&y| values[y as usize]);
            Arc::new(Int64Array::from_iter_values(values))
        }
        (Drawn::Indices(indices), Released::Floats { values, .. }) => {
            let values = indices.iter().map(|&y| values[y as usize]);
            Arc::new(Float64Array::from_iter_values(values))
        }
        (Drawn::Indices(indices), Released::Texts(_) | Released::Digits) => {
            let keys = Int32Array::from_iter_values(indices.iter().map(|&y| y as i32));
            let array = DictionaryArray::try_new(keys, labels.clone());
            Arc::new(array.map_err(Error::input)?)
        }
        (Drawn::Bits { packed, width }, _) => {
            let rows = packed.len() / width;
            let mut texts = StringBuilder::with_capacity(rows, 2 * packed.len());
            let mut digits = Vec::with_capacity(2 * width);
            for row in packed.chunks_exact(*width) {
                digits.clear();
                push_digits(row, &mut digits);
                texts.append_value(std::str::from_utf8(&digits).unwrap_or_default());
            }
            Arc::new(texts.finish())
        }
    })
}
