//! Parquet files: whole columns of one row group at a time.

mod bare;
mod coder;
mod keys;

pub use bare::bare_field;
pub(crate) use coder::Coder;
pub use coder::text;
pub(crate) use keys::row_keys;

use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::schema::types::Type;

use super::{Progress, Row, position, present};
use crate::Error;
use crate::error::shortened;

/// Rows decoded at a time.
const BATCH: usize = 1 << 14;

/// A Parquet file whose end, where its schema stands, has been read.
pub(crate) struct ParquetFile {
    /// What errors begin with.
    pub(crate) name: String,
    path: PathBuf,
    /// What the end of the file says.
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// Who is told how far the reading has come.
    pub(crate) progress: Arc<dyn Progress>,
}

/// A column with one value per row, and how it is read.
pub(crate) struct Column {
    /// Its place among the columns.
    pub(crate) root: usize,
    /// Its place among the leaves of nested columns.
    pub(crate) leaf: usize,
    /// What it is called.
    pub(crate) name: String,
    reading: ArrowReaderMetadata,
}

/// Under what key a file says which policy a column was perturbed under.
pub(crate) fn policy_note(column: &str) -> String {
    format!("undertone.policy.{column}")
}

/// Under what key a file says which plan a column was released under.
pub(crate) fn plan_note(column: &str) -> String {
    format!("undertone.plan.{column}")
}

/// Puts the file in front of what its reader said is wrong with it.
fn problem(name: &str, error: &ParquetError) -> Error {
    let words = match error {
        // Sizes that a damaged end claims look like addresses of memory: they say nothing.
        ParquetError::EOF(_)
        | ParquetError::NeedMoreData(_)
        | ParquetError::NeedMoreDataRange(_)
        | ParquetError::IndexOutOfBound(..) => {
            "this Parquet file is damaged or was cut short: write it, or copy it, again".into()
        }
        ParquetError::General(said) if said.contains("Disabled feature") => format!(
            "{said}; write the file with snappy, gzip, lz4 or no compression (for zstd, build with --features zstd)"
        ),
        ParquetError::General(said) | ParquetError::ArrowError(said) => {
            // What follows the first clause are offsets and types of the reader.
            let clause = said.split(" {").next().and_then(|said| said.split(": ").next());
            let clause = shortened(clause.unwrap_or_default());
            format!("this cannot be read as Parquet ({clause}): write it again")
        }
        ParquetError::NYI(said) => {
            format!("this holds what is not read here ({}): write plain columns", shortened(said))
        }
        ParquetError::External(inner) => match inner.downcast_ref::<std::io::Error>() {
            Some(error) => return Error::of_system("read", name, error),
            None => format!("this cannot be read as Parquet ({inner}): write it again"),
        },
        other => format!("this cannot be read as Parquet ({other}): write it again"),
    };
    Error::in_document(name, words)
}

impl ParquetFile {
    pub(super) fn open(
        name: String,
        path: PathBuf,
        file: &File,
        progress: Arc<dyn Progress>,
    ) -> Result<Self, Error> {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let read = ArrowReaderMetadata::load(file, options);
        let read = read.map_err(|error| problem(&name, &error))?;
        let metadata = read.metadata().clone();
        let fields = metadata.file_metadata().schema().get_fields();
        let columns = fields.iter().map(|field| field.name().to_owned()).collect();
        Ok(Self { name, path, metadata, columns, progress })
    }

    /// Opens the file once more: every reader moves its own handle about.
    pub(crate) fn handle(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(|error| Error::of_system("read", &self.name, &error))
    }

    /// Puts the file in front of what its reader said is wrong with it.
    pub(crate) fn fail(&self, error: &ParquetError) -> Error {
        problem(&self.name, error)
    }

    /// Puts the file in front of what is wrong with it.
    pub(crate) fn problem(&self, problem: impl std::fmt::Display) -> Error {
        Error::in_document(&self.name, problem)
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64).sum()
    }

    /// How many row groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// What the file says about itself under `key`.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        let notes = self.metadata.file_metadata().key_value_metadata()?;
        notes.iter().find(|note| note.key == key)?.value.as_deref()
    }

    /// A column with one value per row. Texts are read as a dictionary, each of which is looked up
    /// once.
    pub(crate) fn column(&self, name: &str) -> Result<Column, Error> {
        let root = position(&self.name, name, &self.columns)?;
        let schema = self.metadata.file_metadata().schema_descr();
        let field = &schema.root_schema().get_fields()[root];
        if let Some(kind) = nested(field) {
            return Err(
                self.problem(format!("column {name:?} holds {kind}, not one value per row"))
            );
        }
        let leaf = (0..schema.num_columns())
            .find(|&leaf| schema.get_column_root_idx(leaf) == root)
            .unwrap_or(root);
        let reading = self.reading(&[root])?;
        Ok(Column { root, leaf, name: name.to_owned(), reading })
    }

    /// How the file is read: with the types that Parquet itself has, whatever was said to Arrow; the
    /// texts of some columns as dictionaries.
    pub(crate) fn reading(&self, dictionaries: &[usize]) -> Result<ArrowReaderMetadata, Error> {
        let read = |schema: Option<Schema>| {
            let mut options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            if let Some(schema) = schema {
                options = options.with_schema(Arc::new(schema));
            }
            ArrowReaderMetadata::try_new(self.metadata.clone(), options)
                .map_err(|error| self.fail(&error))
        };
        let plain = read(None)?;
        let field = |(at, field): (usize, &Arc<Field>)| {
            let kind = match field.data_type() {
                DataType::Utf8 | DataType::Binary if dictionaries.contains(&at) => {
                    DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
                }
                // The name of the zone takes a table of zones to print.
                DataType::Timestamp(unit, Some(_)) => {
                    DataType::Timestamp(*unit, Some("+00:00".into()))
                }
                other => other.clone(),
            };
            field.as_ref().clone().with_data_type(kind)
        };
        let fields: Vec<Field> = plain.schema().fields().iter().enumerate().map(field).collect();
        read(Some(Schema::new(fields)))
    }

    /// Reads chosen columns of one row group, or of all, in batches of the same size every time.
    pub(crate) fn batches(
        &self,
        reading: &ArrowReaderMetadata,
        roots: impl IntoIterator<Item = usize>,
        group: Option<usize>,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.handle()?, reading.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let builder = match group {
            Some(group) => builder.with_row_groups(vec![group]),
            None => builder,
        };
        builder.build().map_err(|error| self.fail(&error))
    }

    /// The arrays of one column in one row group.
    pub(crate) fn arrays(
        &self,
        column: &Column,
        group: usize,
    ) -> Result<impl Iterator<Item = Result<ArrayRef, Error>>, Error> {
        let batches = self.batches(&column.reading, [column.root], Some(group))?;
        let name = self.name.clone();
        Ok(batches.map(move |batch| match batch {
            Ok(batch) => Ok(batch.column(0).clone()),
            Err(error) => Err(problem(&name, &error.into())),
        }))
    }

    pub(crate) fn each_row<E: From<Error>>(
        self,
        wanted: &[&str],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut roots = Vec::new();
        for name in wanted {
            roots.push(self.column(name)?.root);
        }
        // The reader hands columns back in the file's order, each once.
        let mut chosen = roots.clone();
        chosen.sort_unstable();
        chosen.dedup();
        let order: Vec<usize> =
            roots.iter().map(|root| chosen.partition_point(|other| other < root)).collect();
        let mut rows = 0;
        for batch in self.batches(&self.reading(&[])?, chosen, None)? {
            let batch = batch.map_err(|error| self.fail(&error.into()))?;
            for at in 0..batch.num_rows() {
                rows += 1;
                let mut cells = Vec::with_capacity(order.len());
                for &column in &order {
                    let cell = text(batch.column(column), at).map_err(|kind| {
                        let name = &wanted[cells.len()];
                        self.problem(format!("row {rows}, column {name:?} holds {kind}"))
                    })?;
                    let cell = cell.as_deref().and_then(present).map(str::to_owned);
                    cells.push(cell.map(Cow::Owned));
                }
                visit(&Row { cells: &cells, number: rows, before: None })?;
            }
        }
        Ok(rows)
    }
}

/// What a column holds that has not one value per row.
fn nested(field: &Type) -> Option<&'static str> {
    use parquet::basic::{ConvertedType, Repetition};
    let info = field.get_basic_info();
    if info.has_repetition() && info.repetition() == Repetition::REPEATED {
        return Some("lists");
    }
    match (field.is_group(), info.converted_type()) {
        (false, _) => None,
        (true, ConvertedType::LIST) => Some("lists"),
        (true, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => Some("maps"),
        (true, _) => Some("records"),
    }
}
