//! What is drawn, as arrays.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array};

use crate::Error;
use crate::frame::Released;
use crate::frame::channel::Drawn;
use crate::frame::released::{push_combination, push_digits};

/// Outputs as an array of the column's new type; `answers` says which rows have one, unless all do.
pub(super) fn column_of(
    drawn: &Drawn,
    released: &Released,
    labels: &ArrayRef,
    answers: Option<&[bool]>,
) -> Result<ArrayRef, Error> {
    Ok(match (drawn, released) {
        (Drawn::Indices(indices), Released::Integers(values)) => {
            let mut values = indices.iter().map(|&y| values[y as usize]);
            Arc::new(match answers {
                None => Int64Array::from_iter_values(values),
                Some(answers) => Int64Array::from_iter(spread(answers, || values.next())),
            })
        }
        (Drawn::Indices(indices), Released::Floats { values, .. }) => {
            let mut values = indices.iter().map(|&y| values[y as usize]);
            Arc::new(match answers {
                None => Float64Array::from_iter_values(values),
                Some(answers) => Float64Array::from_iter(spread(answers, || values.next())),
            })
        }
        (Drawn::Indices(indices), Released::Texts(_) | Released::Digits) => {
            let mut keys = indices.iter().map(|&y| y as i32);
            let keys = match answers {
                None => Int32Array::from_iter_values(keys),
                Some(answers) => Int32Array::from_iter(spread(answers, || keys.next())),
            };
            let array = DictionaryArray::try_new(keys, labels.clone());
            Arc::new(array.map_err(Error::input)?)
        }
        (Drawn::Indices(indices), Released::Combined(parts)) => {
            let push = |at: usize, text: &mut Vec<u8>| push_combination(parts, indices[at], text);
            texts(indices.len(), answers, push)
        }
        (Drawn::Bits { packed, width }, _) => {
            let push = |at: usize, text: &mut Vec<u8>| {
                push_digits(&packed[at * width..(at + 1) * width], text);
            };
            texts(packed.len() / width, answers, push)
        }
    })
}

/// The next value for every row that answers.
fn spread<T>(
    answers: &[bool],
    mut next: impl FnMut() -> Option<T>,
) -> impl Iterator<Item = Option<T>> {
    answers.iter().map(move |answers| if *answers { next() } else { None })
}

/// Texts that are made one by one, of so many outputs.
fn texts(outputs: usize, answers: Option<&[bool]>, push: impl Fn(usize, &mut Vec<u8>)) -> ArrayRef {
    let rows = answers.map_or(outputs, <[bool]>::len);
    let mut texts = StringBuilder::with_capacity(rows, 0);
    let (mut text, mut next) = (Vec::new(), 0);
    for row in 0..rows {
        if answers.is_some_and(|answers| !answers[row]) {
            texts.append_null();
            continue;
        }
        text.clear();
        push(next, &mut text);
        next += 1;
        texts.append_value(std::str::from_utf8(&text).unwrap_or_default());
    }
    Arc::new(texts.finish())
}
