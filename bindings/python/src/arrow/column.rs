//! The cells of an Arrow array.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use undertone::columns::{Code, Lookup};

use crate::cells::{Cells, Integer, truth};

/// The cells of an array; in words, why there are none.
pub(crate) fn cells<'a>(
    array: &'a ArrayRef,
    lookup: &'a Lookup,
    bare: Option<u32>,
    named: bool,
) -> Result<Cells<'a>, String> {
    if !array.data_type().is_primitive() {
        // Offsets, keys and texts are as good as their maker; numbers cannot be bad.
        array
            .to_data()
            .validate_full()
            .map_err(|problem| format!("a bad Arrow array: {problem}"))?;
    }
    let (len, nulls) = (array.len(), array.nulls());
    let present = move |at: usize| nulls.is_none_or(|nulls| nulls.is_valid(at));
    Ok(match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array, lookup, bare),
        DataType::Int16 => integers::<Int16Type>(array, lookup, bare),
        DataType::Int32 => integers::<Int32Type>(array, lookup, bare),
        DataType::Int64 => integers::<Int64Type>(array, lookup, bare),
        DataType::UInt8 => integers::<UInt8Type>(array, lookup, bare),
        DataType::UInt16 => integers::<UInt16Type>(array, lookup, bare),
        DataType::UInt32 => integers::<UInt32Type>(array, lookup, bare),
        DataType::UInt64 => integers::<UInt64Type>(array, lookup, bare),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values();
            let value = move |at: usize| lookup.float(values[at].into());
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            let value = move |at: usize| lookup.float(values[at]);
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Boolean => {
            let values = array.as_boolean().values();
            let value = move |at: usize| truth(values.value(at), lookup, named);
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            let value = move |at: usize| lookup.text(texts.value(at));
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            let value = move |at: usize| lookup.text(texts.value(at));
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            let value = move |at: usize| lookup.text(texts.value(at));
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let entries = cells(dictionary.values(), lookup, bare, named)?;
            let mut known = Vec::with_capacity(entries.len());
            entries.read(0..entries.len(), &mut known);
            if known.is_empty() {
                return Ok(Cells::each(len, |_| Code::Missing));
            }
            // Keys of null rows may be anything; they are never looked up.
            let keys = dictionary.normalized_keys();
            let value = move |at: usize| known.get(keys[at]).copied().unwrap_or(Code::Unknown);
            Cells::each(len, move |at| if present(at) { value(at) } else { Code::Missing })
        }
        DataType::Null => Cells::each(len, |_| Code::Missing),
        other => {
            return Err(format!(
                "a column of type {other}: cast it to text, integers, floats, truth values or a dictionary of these"
            ));
        }
    })
}

fn integers<'a, T: ArrowPrimitiveType>(
    array: &'a ArrayRef,
    lookup: &'a Lookup,
    bare: Option<u32>,
) -> Cells<'a>
where
    T::Native: Integer,
{
    let values: &'a [T::Native] = array.as_primitive::<T>().values();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Cells::integers(values, lookup, bare),
        Some(nulls) => Cells::each(values.len(), move |at| {
            if nulls.is_null(at) {
                return Code::Missing;
            }
            match values[at].whole() {
                Some(value) => lookup.integer(value),
                None => lookup.text(&values[at].index().to_string()),
            }
        }),
    }
}
