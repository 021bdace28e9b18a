//! A verified policy and the columns it randomises.

use std::num::NonZero;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use undertone_core::{AlphabetView, Draft};

use crate::arrow::released::Released;
use crate::arrow::stream::Perturbed;
use crate::arrow::{ArrowArray, ArrowStream, capsule};
use crate::cells::Cells;
use crate::draw::{Drawn, Options, Prepared, Trouble};
use crate::errors::{failed, guarded, refused};
use crate::source::Source;

/// A verified policy; the package's `Policy` adds what is written in Python.
#[pyclass(frozen, subclass, module = "undertone._native")]
pub(crate) struct Policy(pub(crate) Arc<Prepared>);

/// Reads and verifies a document.
pub(crate) fn verified(py: Python<'_>, draft: Draft) -> PyResult<Policy> {
    // Boxed: a refusal carries exact ratios, and is large.
    let policy = py.detach(|| draft.verify().map_err(Box::new));
    let policy = policy.map_err(|refusal| refused(py, &refusal))?;
    let prepared = py.detach(|| Prepared::new(policy)).map_err(failed)?;
    Ok(Policy(Arc::new(prepared)))
}

pub(crate) fn troubled(trouble: Trouble) -> PyErr {
    failed(trouble)
}

fn kind(view: AlphabetView<'_>) -> &'static str {
    match view {
        AlphabetView::Indices(_) => "indices",
        AlphabetView::Names(_) => "names",
        AlphabetView::Points(_) => "points",
        AlphabetView::Bins { .. } => "bins",
    }
}

#[pymethods]
impl Policy {
    #[new]
    fn new(py: Python<'_>, document: &str) -> PyResult<Self> {
        guarded(|| verified(py, py.detach(|| Draft::from_json(document)).map_err(failed)?))
    }

    /// The policy document.
    fn to_json(&self) -> String {
        self.0.policy.draft().to_json()
    }

    /// The canonical bytes, whose SHA-256 is the id.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.policy.draft().to_bytes())
    }

    /// The SHA-256 of the canonical bytes.
    #[getter]
    fn id(&self) -> String {
        self.0.policy.id().to_string()
    }

    /// "table", "keep" or "bits".
    #[getter]
    fn shape(&self) -> &'static str {
        self.0.policy.draft().shape().name()
    }

    /// The claims, as they were verified.
    #[getter]
    fn claims(&self) -> Vec<String> {
        self.0.policy.draft().claims().iter().map(ToString::to_string).collect()
    }

    /// What the inputs are called.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        let inputs = self.0.policy.draft().inputs();
        (0..inputs.len()).map(|x| inputs.label(x)).collect()
    }

    /// What the outputs are called; for bits, what the bits are.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        let outputs = self.0.policy.draft().outputs();
        (0..outputs.len()).map(|y| outputs.label(y)).collect()
    }

    /// What the inputs are: "indices", "names", "points" or "bins".
    #[getter]
    fn input_kind(&self) -> &'static str {
        kind(self.0.policy.draft().inputs().view())
    }

    /// What the outputs are: "indices", "names", "points" or "bins".
    #[getter]
    fn output_kind(&self) -> &'static str {
        kind(self.0.policy.draft().outputs().view())
    }

    /// The index of every value's input.
    #[pyo3(name = "_encode_column", signature = (values, *, other = false))]
    fn encode_column<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        other: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| {
            let source = Source::of(values)?;
            let pieces = self.pieces(&source)?;
            let prepared = &self.0;
            let encode = || {
                let mut rows = 0;
                let mut all = Vec::new();
                for cells in &pieces {
                    all.extend(
                        prepared.encode(cells, other).map_err(|trouble| trouble.after(rows))?,
                    );
                    rows += cells.len();
                }
                Ok(all)
            };
            let indices = py.detach(encode).map_err(troubled)?;
            answer(py, &source, vec![Drawn::Indices(indices)], &Released::Indices)
        })
    }

    /// Randomises a column: indices from a list or an array, labels from Arrow.
    #[pyo3(name = "_draw_column", signature = (values, *, other = false, threads = None, seed = None))]
    fn draw_column<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        other: bool,
        threads: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| {
            let options = Options { other, threads: checked(threads)?, seed };
            let source = Source::of(values)?;
            let pieces = self.pieces(&source)?;
            let prepared = &self.0;
            let draw = || {
                let mut rows = 0;
                let mut all = Vec::new();
                for cells in &pieces {
                    all.push(prepared.draw(cells, options).map_err(|trouble| trouble.after(rows))?);
                    rows += cells.len();
                }
                Ok(all)
            };
            let drawn = py.detach(draw).map_err(troubled)?;
            answer(py, &source, drawn, &Released::new(prepared))
        })
    }

    /// A stream of record batches with one column randomised and some kept, batch by batch.
    #[pyo3(name = "_draw_stream", signature = (stream, column, *, keep, other = false, threads = None))]
    fn draw_stream(
        &self,
        stream: &Bound<'_, PyAny>,
        column: &str,
        keep: Vec<String>,
        other: bool,
        threads: Option<usize>,
    ) -> PyResult<ArrowStream> {
        guarded(|| {
            let options = Options { other, threads: checked(threads)?, seed: None };
            if other && self.0.other.is_none() {
                return Err(troubled(Trouble::NoOther));
            }
            let source = capsule::import_batches(stream)?;
            let perturbed = Perturbed::new(source, column, &keep, self.0.clone(), options);
            Ok(ArrowStream::new(Box::new(perturbed.map_err(PyValueError::new_err)?)))
        })
    }
}

pub(crate) fn checked(threads: Option<usize>) -> PyResult<Option<NonZero<usize>>> {
    match threads {
        Some(0) => Err(PyValueError::new_err("threads is 0: give at least 1")),
        given => Ok(given.and_then(NonZero::new)),
    }
}

impl Policy {
    fn pieces<'a>(&'a self, source: &'a Source<'_>) -> PyResult<Vec<Cells<'a>>> {
        let Prepared { inputs, bare_inputs, .. } = &*self.0;
        source.pieces(inputs, *bare_inputs, self.0.names_inputs())
    }
}

/// What was drawn, in the kind of container the column came in.
fn answer<'py>(
    py: Python<'py>,
    source: &Source<'py>,
    drawn: Vec<Drawn>,
    released: &Released,
) -> PyResult<Bound<'py, PyAny>> {
    if let Source::Arrow(inputs) = source {
        let kind = inputs.first().map(|array| arrow_array::Array::data_type(array).clone());
        let kind =
            kind.ok_or_else(|| PyTypeError::new_err("the column has no type: it is empty"))?;
        let arrays = drawn.into_iter().map(|drawn| released.array(drawn, &kind));
        let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let parts: Vec<&dyn arrow_array::Array> = arrays.iter().map(AsRef::as_ref).collect();
        let whole = match arrays.as_slice() {
            [one] => one.clone(),
            _ => arrow_select::concat::concat(&parts).map_err(failed)?,
        };
        return Ok(Bound::new(py, ArrowArray(whole))?.into_any());
    }
    let list = matches!(source, Source::List(_));
    // Lists and arrays come in one piece.
    let one = drawn.into_iter().next().unwrap_or(Drawn::Indices(Vec::new()));
    Ok(match one {
        Drawn::Indices(indices) if list => PyList::new(py, indices)?.into_any(),
        Drawn::Indices(indices) => PyArray1::from_vec(py, indices).into_any(),
        Drawn::Bits { packed, width } if list => {
            PyList::new(py, packed.chunks(width).map(|row| PyBytes::new(py, row)))?.into_any()
        }
        Drawn::Bits { packed, width } => {
            let rows = packed.len() / width;
            PyArray1::from_vec(py, packed).call_method1("reshape", ((rows, width),))?
        }
    })
}
