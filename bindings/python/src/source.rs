//! A column as Python hands it over: a list, a NumPy array, an Arrow array, or a list of categories with
//! an array of positions in it.

use arrow_array::ArrayRef;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use undertone::columns::{Code, Lookup};

use crate::arrow::{self, column};
use crate::cells::{Cell, Cells, truth};

/// A column, still where Python keeps it.
pub(crate) enum Source<'py> {
    List(Vec<Cell>),
    /// A pair: what may occur, and for every row its position there; -1 is a missing value.
    Categories(Vec<Cell>, Numbers<'py>),
    Array(Numbers<'py>),
    Arrow(Vec<ArrayRef>),
}

/// The text of a column's cells, by row; nothing where one is missing.
pub(crate) type Texts<'a> = Box<dyn Fn(usize) -> Option<String> + 'a>;

macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {
        /// A NumPy array of numbers or truth values.
        pub(crate) enum Numbers<'py> {
            Truths(PyReadonlyArray1<'py, bool>),
            Singles(PyReadonlyArray1<'py, f32>),
            Doubles(PyReadonlyArray1<'py, f64>),
            $($name(PyReadonlyArray1<'py, $type>),)*
        }

        impl<'py> Numbers<'py> {
            fn of(value: &Bound<'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = value.cast::<PyArray1<$type>>() {
                    return Ok(Self::$name(array.try_readonly().map_err(busy)?));
                })*
                if let Ok(array) = value.cast::<PyArray1<f64>>() {
                    return Ok(Self::Doubles(array.try_readonly().map_err(busy)?));
                }
                if let Ok(array) = value.cast::<PyArray1<f32>>() {
                    return Ok(Self::Singles(array.try_readonly().map_err(busy)?));
                }
                if let Ok(array) = value.cast::<PyArray1<bool>>() {
                    return Ok(Self::Truths(array.try_readonly().map_err(busy)?));
                }
                let dtype = value.getattr("dtype")?.str()?;
                Err(PyTypeError::new_err(format!(
                    "an array of {dtype}: use a one-dimensional array of integers, floats or texts"
                )))
            }

            fn cells<'a>(
                &'a self,
                lookup: &'a Lookup,
                bare: Option<u32>,
                named: bool,
            ) -> PyResult<Cells<'a>> {
                Ok(match self {
                    $(Self::$name(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Cells::integers(values, lookup, bare)
                    })*
                    Self::Doubles(array) => {
                        Cells::floats(array.as_slice().map_err(scattered)?, lookup)
                    }
                    Self::Singles(array) => {
                        Cells::floats(array.as_slice().map_err(scattered)?, lookup)
                    }
                    Self::Truths(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Cells::each(values.len(), move |at| truth(values[at], lookup, named))
                    }
                })
            }

            /// The numbers as texts; not-a-numbers are missing.
            fn texts(&self) -> PyResult<Texts<'_>> {
                Ok(match self {
                    $(Self::$name(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Box::new(move |at| Some(values[at].to_string()))
                    })*
                    Self::Doubles(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Box::new(move |at| (!values[at].is_nan()).then(|| values[at].to_string()))
                    }
                    Self::Singles(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Box::new(move |at| (!values[at].is_nan()).then(|| values[at].to_string()))
                    }
                    Self::Truths(array) => {
                        let values = array.as_slice().map_err(scattered)?;
                        Box::new(move |at| Some(values[at].to_string()))
                    }
                })
            }

            /// The cells of positions in a list of `entries`.
            fn positions(&self, entries: Vec<Code>) -> PyResult<Cells<'_>> {
                match self {
                    $(Self::$name(array) => {
                        Ok(Cells::coded(array.as_slice().map_err(scattered)?, entries))
                    })*
                    Self::Doubles(_) | Self::Singles(_) | Self::Truths(_) => {
                        Err(PyTypeError::new_err("positions of categories are whole numbers"))
                    }
                }
            }
        }
    };
}

numbers!(
    Longs: i64, Ints: i32, Shorts: i16, Bytes: i8,
    UnsignedLongs: u64, UnsignedInts: u32, UnsignedShorts: u16, UnsignedBytes: u8
);

fn busy(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the array is being written to: {error}"))
}

fn scattered(_: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(
        "the array is not contiguous or not aligned: pass numpy.ascontiguousarray(array)",
    )
}

impl<'py> Source<'py> {
    /// Takes hold of a column without copying it, lists excepted.
    pub(crate) fn of(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = value.cast::<PyList>() {
            return cells(list).map(Self::List);
        }
        if let Ok(pair) = value.cast::<PyTuple>()
            && let Ok((entries, positions)) =
                pair.extract::<(Bound<'py, PyList>, Bound<'py, PyAny>)>()
        {
            return Ok(Self::Categories(cells(&entries)?, Numbers::of(&positions)?));
        }
        if let Some(arrays) = arrow::arrays(value)? {
            return Ok(Self::Arrow(arrays));
        }
        if value.hasattr("__array_interface__")? {
            return Ok(Self::Array(Numbers::of(value)?));
        }
        let name = value.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "a column of type {name}: use a list, a NumPy array, or an Arrow array"
        )))
    }

    /// The texts of the column's cells.
    pub(crate) fn texts(&self) -> PyResult<Texts<'_>> {
        Ok(match self {
            Self::List(values) => Box::new(move |at| values[at].text()),
            Self::Categories(entries, positions) => {
                let positions = positions.texts()?;
                Box::new(move |at| entries.get(positions(at)?.parse::<usize>().ok()?)?.text())
            }
            Self::Array(numbers) => numbers.texts()?,
            Self::Arrow(arrays) => Box::new(move |at| {
                let mut row = at;
                for array in arrays {
                    if row < arrow_array::Array::len(array) {
                        return undertone::columns::array_text(array, row).ok().flatten();
                    }
                    row -= arrow_array::Array::len(array);
                }
                None
            }),
        })
    }

    /// The cells of every piece of the column, in order.
    pub(crate) fn pieces<'a>(
        &'a self,
        lookup: &'a Lookup,
        bare: Option<u32>,
        named: bool,
    ) -> PyResult<Vec<Cells<'a>>> {
        Ok(match self {
            Self::List(values) => vec![Cells::list(values, lookup, named)],
            Self::Categories(entries, positions) => {
                let mut known = Vec::with_capacity(entries.len());
                Cells::list(entries, lookup, named).read(0..entries.len(), &mut known);
                vec![positions.positions(known)?]
            }
            Self::Array(numbers) => vec![numbers.cells(lookup, bare, named)?],
            Self::Arrow(arrays) => arrays
                .iter()
                .map(|array| column::cells(array, lookup, bare, named))
                .collect::<Result<_, _>>()
                .map_err(PyTypeError::new_err)?,
        })
    }
}

fn cells(list: &Bound<'_, PyList>) -> PyResult<Vec<Cell>> {
    list.iter().enumerate().map(|(at, item)| cell(at, &item)).collect()
}

fn cell(at: usize, item: &Bound<'_, PyAny>) -> PyResult<Cell> {
    if let Ok(text) = item.cast::<PyString>() {
        return Ok(Cell::Text(text.to_cow()?.into_owned()));
    }
    if let Ok(value) = item.cast::<PyBool>() {
        return Ok(Cell::Truth(value.is_true()));
    }
    if item.cast::<PyInt>().is_ok() {
        // Too large for any alphabet is unknown, not an error of its own.
        return Ok(match item.extract() {
            Ok(value) => Cell::Integer(value),
            Err(_) => Cell::Text(item.str()?.to_cow()?.into_owned()),
        });
    }
    if let Ok(value) = item.cast::<PyFloat>() {
        return Ok(Cell::Float(value.value()));
    }
    if item.is_none() {
        return Ok(Cell::Missing);
    }
    // NumPy's own numbers, taken out of an array one by one.
    if item.hasattr("__index__")? {
        return Ok(Cell::Integer(item.call_method0("__index__")?.extract()?));
    }
    let name = item.get_type().name()?;
    if ["NAType", "NaTType"].iter().any(|missing| name == *missing) {
        return Ok(Cell::Missing);
    }
    if item.hasattr("__float__")? && !item.hasattr("__len__")? {
        return Ok(Cell::Float(item.call_method0("__float__")?.extract()?));
    }
    Err(PyTypeError::new_err(format!(
        "row {at} is of type {name}: a column holds texts, integers, floats or truth values"
    )))
}
