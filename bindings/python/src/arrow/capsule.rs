//! The Arrow PyCapsule interface: the only place of this crate with `unsafe` code.
//!
//! A capsule holds a pointer to a structure of the Arrow C data interface. Reading it is as safe as
//! its maker is honest: the capsule's name says which structure it is, the interface says how it is
//! owned, and nothing can check more than that. What is read is moved out of the capsule, as the interface asks,
//! so that nobody else uses or frees it.
#![allow(unsafe_code, reason = "pointers of the Arrow C data interface")]

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, ArrayRef, make_array};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors::failed;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The structure in a capsule of that name.
fn pointer<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

/// Takes an array from anything with `__arrow_c_array__`.
pub(crate) fn import_array(value: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let pair = value.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
    let (schema, array) = (pointer(&schema, SCHEMA)?, pointer(&array, ARRAY)?);
    // SAFETY: the capsules carry the names of these structures, so by the interface they hold valid,
    // aligned ones; `from_raw` moves them out and leaves released ones behind.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
    };
    if array.is_released() {
        return Err(failed("this Arrow array has been read already"));
    }
    // SAFETY: both were just moved out of the same pair of capsules, so they belong together.
    let mut data = unsafe { from_ffi(array, &schema) }.map_err(failed)?;
    data.align_buffers();
    Ok(make_array(data))
}

/// Takes the stream from anything with `__arrow_c_stream__`.
fn import_stream(value: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let capsule: Bound<'_, PyCapsule> = value.call_method0("__arrow_c_stream__")?.extract()?;
    let stream = pointer(&capsule, STREAM)?;
    // SAFETY: as for arrays above.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) })
}

/// A stream of arrays of any one type.
pub(crate) fn import_arrays(value: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    ArrayStreamReader::try_new(import_stream(value)?).map_err(failed)
}

/// A stream of record batches.
pub(crate) fn import_batches(value: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    RecordBatchStreamReader::try_new(import_stream(value)?).map_err(failed)
}

/// Hands an array out. The capsules own the structures: whoever moves them out marks them released, and
/// otherwise they are freed with their capsules.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    array: &ArrayRef,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(failed)?;
    Ok((
        PyCapsule::new_with_value(py, schema, SCHEMA)?,
        PyCapsule::new_with_value(py, array, ARRAY)?,
    ))
}

/// Hands a stream out, in the same way.
pub(crate) fn export_stream(
    py: Python<'_>,
    stream: FFI_ArrowArrayStream,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, STREAM)
}
