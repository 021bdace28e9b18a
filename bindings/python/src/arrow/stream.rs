//! A stream of record batches with one column randomised on the way, and others left out unless they
//! are kept.

use std::sync::Arc;

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, FieldRef, Schema, SchemaRef};
use undertone::columns::bare_field;

use super::column;
use super::released::Released;
use crate::draw::{Options, Prepared};

/// Reads a batch, randomises its column, hands it on: one batch is in memory at a time.
pub(crate) struct Perturbed {
    source: RecordBatchStreamReader,
    column: usize,
    /// The columns that are released, the randomised one among them, in the stream's order.
    released_columns: Vec<usize>,
    /// Names and types alone: what a stream says about itself and its columns is not handed on.
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
        keep: &[String],
        prepared: Arc<Prepared>,
        options: Options,
    ) -> Result<Self, String> {
        let old = source.schema();
        let find = |name: &str| {
            let named = |(_, field): &(usize, &FieldRef)| field.name() == name;
            let mut found = old.fields().iter().enumerate().filter(named);
            match (found.next(), found.next()) {
                (Some((at, _)), None) => Ok(at),
                (Some(_), Some(_)) => Err(format!("two columns are called {name:?}: rename one")),
                (None, _) => {
                    let all: Vec<&str> =
                        old.fields().iter().map(|field| field.name().as_str()).collect();
                    let all = all.join(", ");
                    Err(format!("there is no column {name:?}: the columns are {all}"))
                }
            }
        };
        let column = find(name)?;
        let kept = keep.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
        let mut released_columns = kept;
        released_columns.push(column);
        released_columns.sort_unstable();
        released_columns.dedup();
        let released = Released::new(&prepared);
        let kind = released.data_type(old.field(column).data_type());
        let field = |&at: &usize| match at == column {
            true => Field::new(name, kind.clone(), false),
            false => bare_field(old.field(at)),
        };
        let fields: Vec<Field> = released_columns.iter().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { source, column, released_columns, schema, prepared, released, options, rows: 0 })
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
        let randomised = self.released.array(drawn, input.data_type())?;
        let columns = self.released_columns.iter().zip(self.schema.fields()).map(|(&at, field)| {
            match at == self.column {
                true => Ok(randomised.clone()),
                // Only the notes about parts of a nested column differ.
                false => arrow_cast::cast(batch.column(at), field.data_type()),
            }
        });
        RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_, _>>()?)
    }
}

impl Iterator for Perturbed {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Called from C, where a panic would end the whole process.
        let next = undertone::error::guarded(|| {
            self.source.next().map(|batch| batch.and_then(|batch| self.perturb(&batch)))
        });
        next.unwrap_or_else(|fault| Some(Err(ArrowError::ComputeError(fault.to_string()))))
    }
}

impl RecordBatchReader for Perturbed {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
