//! Keys that tell rows apart, whatever their columns hold.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::text;
use crate::kept::{key, tuple_key};

/// The key of a cell that is null.
const NULL: u64 = 0;

/// Joins the keys of an array's cells to those of the columns before, row by row.
pub(crate) fn row_keys(array: &ArrayRef, keys: &mut [u64]) {
    let mut join = |at: usize, cell: u64| keys[at] = tuple_key([keys[at], cell].into_iter());
    if let Some(width) = array.data_type().primitive_width() {
        let data = array.to_data();
        let bytes = &data.buffers()[0].as_slice()[data.offset() * width..];
        for (at, value) in bytes.chunks_exact(width).take(array.len()).enumerate() {
            join(at, if array.is_null(at) { NULL } else { key(value) });
        }
        return;
    }
    match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            (0..array.len()).for_each(|at| {
                join(at, if array.is_null(at) { NULL } else { key(texts.value(at).as_bytes()) });
            });
        }
        DataType::Dictionary(_, _) if array.as_dictionary_opt::<Int32Type>().is_some() => {
            let array = array.as_dictionary::<Int32Type>();
            let known: Vec<u64> =
                (0..array.values().len()).map(|at| of(array.values(), at)).collect();
            (0..array.len()).for_each(|at| {
                join(at, array.key(at).and_then(|key| known.get(key)).copied().unwrap_or(NULL));
            });
        }
        _ => (0..array.len()).for_each(|at| join(at, of(array, at))),
    }
}

/// The key of one cell, through its text; what has none is like a null.
fn of(array: &ArrayRef, at: usize) -> u64 {
    text(array, at).ok().flatten().map_or(NULL, |text| key(text.as_bytes()))
}
