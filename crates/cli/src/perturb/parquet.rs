//! Parquet: one thread decodes, randomises and encodes the column in one row group. The other columns
//! are copied as they stand in the file, compressed and encoded; they are not even decoded, unless
//! rows of the group are left out.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{
    ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata,
};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::Job;
use super::noise::{BadCell, Counts, Drawn, Noise};
use super::released::{Released, push_digits};
use super::target::Target;
use crate::columns::parquet::{Coder, Column, ParquetFile, policy_note};
use crate::columns::{Code, Place, in_order, threads};
use crate::failure::Failure;

/// Tells Spark the types a file had when Spark wrote it; the column's may have changed.
const SPARK_SCHEMA: &str = "org.apache.spark.sql.parquet.row.metadata";

/// How the output is made.
struct Form {
    /// All columns of the output.
    schema: TypePtr,
    properties: WriterProperties,
    /// The perturbed column alone.
    column: Arc<Schema>,
    /// All columns as arrays, for groups that lose rows, and how those are read.
    arrays: Arc<Schema>,
    reading: ArrowReaderMetadata,
    /// The outputs as the values of a dictionary, where they are texts.
    labels: ArrayRef,
}

/// A row group's new columns: a file in memory with the perturbed one, or with all.
struct Piece {
    bytes: Bytes,
    metadata: ParquetMetaData,
    all: bool,
    counts: Counts,
}

pub(super) fn run(job: &Job<'_>, file: ParquetFile) -> Result<Counts, Failure> {
    let args = job.args;
    let suits = |extension: &str| matches!(extension, "csv" | "gz" | "tsv" | "txt");
    if args.output.extension().and_then(|e| e.to_str()).is_some_and(suits) {
        return Err(Failure::usage(format!(
            "--output {}: the output has the input's format, which is Parquet",
            args.output.display()
        )));
    }
    let column = file.column(&args.source, &args.column)?;
    if let Some(id) = file.note(&policy_note(&column.name)) {
        return Err(args.source.problem(format!(
            "column {:?} was perturbed already, under policy {id}: perturb the original",
            column.name
        )));
    }
    let form = Form::new(job, &file, &column).map_err(|error| file.fail(&error))?;
    job.progress.expect_rows(file.rows());
    let workers = (0..threads(args.threads)).map(|_| {
        let noise = job.plan.noise()?;
        let mut worker = Worker { job, file: &file, column: &column, form: &form, noise };
        Ok(move |group: usize| worker.work(group))
    });
    let workers = workers.collect::<Result<Vec<_>, Failure>>()?;
    let target = Target::create(&args.output)?;
    // An error of the system is the output's: the input is opened, and read by the workers.
    let fail = |error: ParquetError| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Target::failure(&args.output, &error),
            Err(other) => {
                Failure::input(format!("cannot write {}: {other}", args.output.display()))
            }
        },
        other => Failure::input(format!("cannot write {}: {other}", args.output.display())),
    };
    let properties = Arc::new(form.properties.clone());
    let mut writer =
        SerializedFileWriter::new(target, form.schema.clone(), properties).map_err(fail)?;
    let mut counts = Counts::default();
    let source = file.handle()?;
    let mut group = 0;
    in_order((0..file.groups()).map(Ok), workers, |piece: Result<Piece, BadRow>| {
        let piece = piece.map_err(|bad| {
            let place = Place { row: counts.rows + bad.at + 1, line: None };
            job.bad_cell(place, bad.code, bad.value.as_deref())
        })?;
        counts.then(&piece.counts);
        job.progress.add(piece.counts.rows);
        if piece.metadata.num_row_groups() > 0 {
            let mut out = writer.next_row_group().map_err(fail)?;
            splice(&mut out, &piece, &file, &source, &column, group, args.only).map_err(fail)?;
            out.close().map_err(fail)?;
        }
        group += 1;
        Ok(())
    })?;
    let note = KeyValue::new(policy_note(&column.name), job.plan.policy.id().to_string());
    writer.append_key_value_metadata(note);
    writer.into_inner().map_err(fail)?.finish()?;
    Ok(counts)
}

/// Copies the columns of a row group from the piece, or from the source, as they are.
fn splice(
    out: &mut SerializedRowGroupWriter<'_, Target>,
    piece: &Piece,
    file: &ParquetFile,
    source: &File,
    column: &Column,
    group: usize,
    only: bool,
) -> Result<(), ParquetError> {
    let leaves = file.metadata.file_metadata().schema_descr().num_columns();
    for leaf in 0..leaves {
        if piece.all {
            copy(out, &piece.bytes, &piece.metadata, 0, leaf)?;
        } else if leaf == column.leaf {
            copy(out, &piece.bytes, &piece.metadata, 0, 0)?;
        } else if !only {
            copy(out, source, &file.metadata, group, leaf)?;
        }
    }
    Ok(())
}

/// Copies one column of one row group.
fn copy<R: ChunkReader>(
    out: &mut SerializedRowGroupWriter<'_, Target>,
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

impl Form {
    fn new(job: &Job<'_>, file: &ParquetFile, column: &Column) -> Result<Self, ParquetError> {
        let about = file.metadata.file_metadata();
        let reading =
            ArrowReaderMetadata::try_new(file.metadata.clone(), ArrowReaderOptions::new())?;
        let (values, plain) = match &job.plan.released {
            Released::Integers(_) => (DataType::Int64, DataType::Int64),
            Released::Floats { .. } => (DataType::Float64, DataType::Float64),
            Released::Texts(_) => (categories(), DataType::Utf8),
            Released::Digits => (DataType::Utf8, DataType::Utf8),
        };
        // The name, whether it may be null, and the field's number stay.
        let was = &reading.schema().fields()[column.root];
        let field = |kind: DataType| {
            Field::new(was.name(), kind, was.is_nullable()).with_metadata(was.metadata().clone())
        };
        let written = Arc::new(Schema::new(vec![field(values.clone())]));
        let replaced = |kind: DataType| {
            let mut fields = reading.schema().fields().to_vec();
            fields[column.root] = Arc::new(field(kind));
            Schema::new_with_metadata(fields, reading.schema().metadata().clone())
        };
        let converted = ArrowSchemaConverter::new().convert(&written)?;
        let mut roots = about.schema().get_fields().to_vec();
        roots[column.root] = converted.root_schema().get_fields()[0].clone();
        if job.args.only {
            roots = vec![roots.swap_remove(column.root)];
        }
        let schema =
            Arc::new(Type::group_type_builder(about.schema().name()).with_fields(roots).build()?);
        let notes = about.key_value_metadata().cloned().unwrap_or_default();
        let had_arrow_schema = notes.iter().any(|note| note.key == ARROW_SCHEMA_META_KEY);
        let kept = notes
            .into_iter()
            .filter(|note| note.key != ARROW_SCHEMA_META_KEY && note.key != SPARK_SCHEMA);
        let mut properties = WriterProperties::builder()
            .set_key_value_metadata(Some(kept.collect()))
            .set_created_by(concat!("undertone ", env!("CARGO_PKG_VERSION")).into())
            .set_max_row_group_row_count(None);
        if let Some(group) = file.metadata.row_groups().first() {
            let codec = group.column(column.leaf).compression_codec();
            properties = properties.set_compression(codec.into());
        }
        let mut properties = properties.build();
        if had_arrow_schema {
            // Texts stay the kind of texts they were, categories among them.
            let kind = match (was.data_type(), plain) {
                (DataType::LargeUtf8 | DataType::Utf8View, DataType::Utf8) => {
                    was.data_type().clone()
                }
                (DataType::Dictionary(_, _), DataType::Utf8) => categories(),
                (_, plain) => plain,
            };
            let fields =
                if job.args.only { Schema::new(vec![field(kind)]) } else { replaced(kind) };
            add_encoded_arrow_schema_to_metadata(&fields, &mut properties);
        }
        let labels: ArrayRef = Arc::new(StringArray::from(job.plan.released.texts()));
        let arrays = Arc::new(replaced(values));
        Ok(Self { schema, properties, column: written, arrays, reading, labels })
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
    value: Option<String>,
}

/// What one thread needs.
struct Worker<'a> {
    job: &'a Job<'a>,
    file: &'a ParquetFile,
    column: &'a Column,
    form: &'a Form,
    noise: Noise<'a>,
}

impl Worker<'_> {
    fn work(&mut self, group: usize) -> Result<Result<Piece, BadRow>, Failure> {
        let all = !self.job.args.only && self.drops_rows(group)?;
        let mut others = match all {
            true => {
                let roots = (0..self.file.columns.len()).filter(|root| *root != self.column.root);
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
                    let value = crate::columns::parquet::text(&array, at).ok().flatten();
                    return Ok(Err(BadRow { at: before + at as u64, code, value }));
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
                    columns.insert(self.column.root.min(columns.len()), released);
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
    fn drops_rows(&self, group: usize) -> Result<bool, Failure> {
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

    fn odd(&self, kind: &str) -> Failure {
        self.job.args.source.problem(format!("column {:?} holds {kind}", self.column.name))
    }
}

/// Outputs as an array of the column's new type.
fn column_of(
    drawn: &Drawn<'_>,
    released: &Released,
    labels: &ArrayRef,
) -> Result<ArrayRef, Failure> {
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
            Arc::new(array.map_err(Failure::input)?)
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
