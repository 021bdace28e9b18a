//! Arrow columns in and out, through the C data interface's PyCapsules.

pub(crate) mod capsule;
pub(crate) mod column;
pub(crate) mod released;
pub(crate) mod stream;

use std::sync::Mutex;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{failed, guarded};

/// An Arrow array; any Arrow library reads it through `__arrow_c_array__`, without a copy.
#[pyclass(frozen, module = "undertone")]
pub(crate) struct ArrowArray(pub(crate) ArrayRef);

#[pymethods]
impl ArrowArray {
    /// The array as a pair of capsules: schema and data.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        guarded(|| {
            // Another type may be asked for but need not be given.
            let _ = requested_schema;
            capsule::export_array(py, &self.0)
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("ArrowArray({}, {} rows)", self.0.data_type(), self.0.len())
    }
}

/// A stream of record batches that is read once, batch by batch, through `__arrow_c_stream__`.
#[pyclass(frozen, module = "undertone")]
pub(crate) struct ArrowStream(Mutex<Option<FFI_ArrowArrayStream>>);

impl ArrowStream {
    pub(crate) fn new(reader: Box<dyn RecordBatchReader + Send>) -> Self {
        Self(Mutex::new(Some(FFI_ArrowArrayStream::new(reader))))
    }
}

#[pymethods]
impl ArrowStream {
    /// The stream as a capsule. It can be taken once.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(|| {
            let _ = requested_schema;
            let taken = self.0.lock().ok().and_then(|mut stream| stream.take());
            match taken {
                Some(stream) => capsule::export_stream(py, stream),
                None => Err(PyValueError::new_err("this stream has been read already")),
            }
        })
    }
}

/// The arrays of one column, if `value` speaks Arrow.
pub(crate) fn arrays(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if value.hasattr("__arrow_c_array__")? {
        let array = capsule::import_array(value)?;
        return one_column(array.data_type()).map(|()| Some(vec![array]));
    }
    if value.hasattr("__arrow_c_stream__")? {
        let py = value.py();
        let reader = capsule::import_arrays(value)?;
        let kind = arrow_array::ArrayReader::field(&reader).data_type().clone();
        one_column(&kind)?;
        let read = py.detach(|| reader.collect::<Result<Vec<_>, _>>());
        let mut arrays = read.map_err(failed)?;
        if arrays.is_empty() {
            // No pieces are still a column of some type.
            arrays.push(arrow_array::new_empty_array(&kind));
        }
        return Ok(Some(arrays));
    }
    Ok(None)
}

fn one_column(kind: &DataType) -> PyResult<()> {
    match kind {
        DataType::Struct(_) => {
            Err(PyTypeError::new_err("a table, where one column is needed: name it with column="))
        }
        _ => Ok(()),
    }
}
