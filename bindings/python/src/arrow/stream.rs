//! A stream of record batches with one column randomised on the way.

use std::sync::Arc;

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use super::column;
use super::released::Released;
use crate::draw::{Options, Prepared};

/// Reads a batch, randomises its column, hands it on: one batch is in memory at a time.
pub(crate) struct Perturbed {
    source: RecordBatchStreamReader,
    column: usize,
    schema: SchemaRef,
    prepared: Arc<Prepared>,
    released: Released,
    options: Options,
    /// Rows of earlier batches, for messages.
    rows: usize,
}

impl Perturbed {
    pub(crate) fn new(
        source: RecordBatchStreamReader,
        name: &str,
        prepared: Arc<Prepared>,
        options: Options,
    ) -> Result<Self, String> {
        let old = source.schema();
        let found = old.fields().iter().position(|field| field.name() == name);
        let Some(column) = found else {
            let all: Vec<&str> = old.fields().iter().map(|field| field.name().as_str()).collect();
            return Err(format!("there is no column {name:?}: the columns are {}", all.join(", ")));
        };
        let released = Released::new(&prepared);
        let mut fields: Vec<_> = old.fields().iter().cloned().collect();
        let kind = released.data_type(old.field(column).data_type());
        fields[column] = Arc::new(Field::new(name, kind, false));
        let schema = Arc::new(Schema::new_with_metadata(fields, old.metadata().clone()));
        Ok(Self { source, column, schema, prepared, released, options, rows: 0 })
    }

    fn perturb(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let input = batch.column(self.column);
        let Prepared { inputs, bare_inputs, .. } = &*self.prepared;
        let named = self.prepared.names_inputs();
        let cells = column::cells(input, inputs, *bare_inputs, named)
            .map_err(ArrowError::InvalidArgumentError)?;
        let drawn = self.prepared.draw(&cells, self.options).map_err(|trouble| {
            ArrowError::InvalidArgumentError(trouble.after(self.rows).to_string())
        })?;
        self.rows += batch.num_rows();
        let mut columns = batch.columns().to_vec();
        columns[self.column] = self.released.array(drawn, input.data_type())?;
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

impl Iterator for Perturbed {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.source.next()?.and_then(|batch| self.perturb(&batch)))
    }
}

impl RecordBatchReader for Perturbed {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
