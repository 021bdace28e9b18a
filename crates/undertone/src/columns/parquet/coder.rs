//! From the arrays of a column to codes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

use crate::columns::{Code, Lookup};

/// Looks up arrays of one column. A dictionary that several arrays share is looked up once.
pub(crate) struct Coder<'a> {
    lookup: &'a Lookup,
    dictionary: Option<(ArrayRef, Vec<Code>)>,
}

impl<'a> Coder<'a> {
    /// Looks up in this alphabet.
    pub(crate) fn new(lookup: &'a Lookup) -> Self {
        Self { lookup, dictionary: None }
    }

    /// Appends the codes of an array; says what is wrong with a value that has no text.
    pub(crate) fn codes(
        &mut self,
        array: &ArrayRef,
        codes: &mut Vec<Code>,
    ) -> Result<(), &'static str> {
        let lookup = self.lookup;
        match array.data_type() {
            DataType::Dictionary(_, _) => {
                let Some(array) = array.as_dictionary_opt::<Int32Type>() else {
                    return one_by_one(lookup, array, codes);
                };
                if !matches!(&self.dictionary, Some((last, _)) if Arc::ptr_eq(last, array.values()))
                {
                    let mut known = Vec::with_capacity(array.values().len());
                    one_by_one(lookup, array.values(), &mut known)?;
                    self.dictionary = Some((array.values().clone(), known));
                }
                let known = self.dictionary.as_ref().map_or(&[][..], |(_, known)| known);
                let code = |key: i32| known.get(key as usize).copied().unwrap_or(Code::Missing);
                primitive(array.keys(), code, codes);
            }
            DataType::Int8 => integers::<Int8Type>(array, lookup, codes),
            DataType::Int16 => integers::<Int16Type>(array, lookup, codes),
            DataType::Int32 => integers::<Int32Type>(array, lookup, codes),
            DataType::Int64 => integers::<Int64Type>(array, lookup, codes),
            DataType::UInt8 => integers::<UInt8Type>(array, lookup, codes),
            DataType::UInt16 => integers::<UInt16Type>(array, lookup, codes),
            DataType::UInt32 => integers::<UInt32Type>(array, lookup, codes),
            DataType::Float64 => {
                let array = array.as_primitive::<Float64Type>();
                primitive(array, |value| lookup.float(value), codes);
            }
            _ => return one_by_one(lookup, array, codes),
        }
        Ok(())
    }
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef, lookup: &Lookup, codes: &mut Vec<Code>)
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    primitive(array, |value| lookup.integer(i64::from(value)), codes);
}

fn primitive<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    code: impl Fn(T::Native) -> Code,
    codes: &mut Vec<Code>,
) {
    if array.null_count() == 0 {
        codes.extend(array.values().iter().map(|&value| code(value)));
    } else {
        codes.extend(array.iter().map(|value| value.map_or(Code::Missing, &code)));
    }
}

/// The slow way, through text.
fn one_by_one(
    lookup: &Lookup,
    array: &ArrayRef,
    codes: &mut Vec<Code>,
) -> Result<(), &'static str> {
    for at in 0..array.len() {
        codes.push(text(array, at)?.map_or(Code::Missing, |text| lookup.text(&text)));
    }
    Ok(())
}

/// A value of an array as CSV would write it; what is wrong with one that has no text.
pub fn text(array: &ArrayRef, at: usize) -> Result<Option<String>, &'static str> {
    if array.is_null(at) {
        return Ok(None);
    }
    let bytes = match array.data_type() {
        DataType::Utf8 => return Ok(Some(array.as_string::<i32>().value(at).to_owned())),
        // Not 1.0 but 1, as the programs write it that fit priors.
        DataType::Float64 => {
            return Ok(Some(array.as_primitive::<Float64Type>().value(at).to_string()));
        }
        DataType::Float32 => {
            return Ok(Some(array.as_primitive::<Float32Type>().value(at).to_string()));
        }
        DataType::Binary => Some(array.as_binary::<i32>().value(at)),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(at)),
        _ => None,
    };
    if let Some(bytes) = bytes {
        let text = std::str::from_utf8(bytes).map_err(|_| "bytes that are no text")?;
        return Ok(Some(text.to_owned()));
    }
    // Whole numbers, truth values, decimals, dates and times print as they are meant.
    let options = FormatOptions::new();
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options);
    let text = formatter.and_then(|formatter| formatter.value(at).try_to_string());
    text.map(Some).map_err(|_| "a value that cannot be written as text")
}
