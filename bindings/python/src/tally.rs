//! Counting reports.

use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::{Array, FixedSizeBinaryArray, cast::AsArray};
use arrow_schema::DataType;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use undertone::columns::Code;
use undertone_estimate as estimate;

use crate::arrow;
use crate::cells::Cells;
use crate::draw::Prepared;
use crate::errors::{failed, guarded};
use crate::policy::Policy;
use crate::source::Source;

/// How often each output of one policy was seen. Tallies of any split of the reports add up to the
/// same tally.
#[pyclass(frozen, subclass, module = "undertone._native")]
pub(crate) struct Tally {
    counted: Mutex<estimate::Tally>,
    /// Without it, tokens cannot be read; tallies can be merged all the same.
    policy: Option<Arc<Prepared>>,
}

impl Tally {
    fn counted(&self) -> PyResult<MutexGuard<'_, estimate::Tally>> {
        self.counted.lock().map_err(|_| failed("the tally was left half-written by another thread"))
    }

    /// What was counted up to now.
    pub(crate) fn copied(&self) -> PyResult<estimate::Tally> {
        Ok(self.counted()?.clone())
    }

    fn prepared(&self) -> PyResult<&Arc<Prepared>> {
        self.policy.as_ref().ok_or_else(|| {
            failed("this tally was read without its policy, so tokens mean nothing to it: use Tally.from_json(text, policy)")
        })
    }
}

#[pymethods]
impl Tally {
    #[new]
    #[pyo3(signature = (policy = None, document = None))]
    fn new(policy: Option<&Bound<'_, Policy>>, document: Option<&str>) -> PyResult<Self> {
        guarded(|| {
            let policy = policy.map(|policy| policy.get().0.clone());
            let counted = match (document, &policy) {
                (Some(text), _) => estimate::Tally::from_json(text).map_err(failed)?,
                (None, Some(policy)) => estimate::Tally::new(&policy.policy),
                (None, None) => return Err(PyTypeError::new_err("a tally needs its policy")),
            };
            if let Some(policy) = &policy
                && policy.policy.id() != counted.policy()
            {
                let (expected, found) = (policy.policy.id(), counted.policy());
                return Err(failed(estimate::Error::Policy { expected, found }));
            }
            Ok(Self { counted: Mutex::new(counted), policy })
        })
    }

    /// The tally as JSON, exact to the last report.
    fn to_json(&self) -> PyResult<String> {
        guarded(|| Ok(self.counted()?.to_json()))
    }

    /// The id of the policy.
    #[getter]
    fn policy_id(&self) -> PyResult<String> {
        guarded(|| Ok(self.counted()?.policy().to_string()))
    }

    /// How many reports were counted.
    #[getter]
    fn reports(&self) -> PyResult<u64> {
        guarded(|| Ok(self.counted()?.reports()))
    }

    /// Reports per output, or set bits per symbol.
    #[getter]
    fn counts(&self) -> PyResult<Vec<u64>> {
        guarded(|| Ok(self.counted()?.counts().to_vec()))
    }

    /// Adds the reports of another tally of the same policy.
    #[pyo3(name = "_merge_tally")]
    fn merge_tally(&self, py: Python<'_>, other: &Bound<'_, Tally>) -> PyResult<()> {
        guarded(|| {
            // Copied first: the other may be this one.
            let other = other.get().counted()?.clone();
            py.detach(|| self.counted()?.merge(&other).map_err(failed))
        })
    }

    /// Counts released values; all of them or, with an error, none.
    #[pyo3(name = "_add_column")]
    fn add_column(&self, py: Python<'_>, tokens: &Bound<'_, PyAny>) -> PyResult<()> {
        guarded(|| {
            let prepared = self.prepared()?.clone();
            if let Some(width) = prepared.width() {
                let symbols = prepared.policy.draft().inputs().len();
                let packed = packed(tokens, width, symbols)?;
                return py.detach(|| self.counted()?.add_packed_bits(&packed).map_err(failed));
            }
            let source = Source::of(tokens)?;
            let pieces = source.pieces(&prepared.outputs, prepared.bare_outputs, true)?;
            let outputs = prepared.policy.draft().outputs().len();
            let counts = py.detach(|| count(&pieces, outputs)).map_err(failed)?;
            py.detach(|| self.counted()?.add_counts(&counts).map_err(failed))
        })
    }
}

const BLOCK: usize = 4096;

fn count(pieces: &[Cells<'_>], outputs: usize) -> Result<Vec<u64>, String> {
    let mut counts = vec![0u64; outputs];
    let (mut codes, mut before) = (Vec::new(), 0);
    for cells in pieces {
        if cells.count(&mut counts) {
            before += cells.len();
            continue;
        }
        for start in (0..cells.len()).step_by(BLOCK) {
            cells.read(start..(start + BLOCK).min(cells.len()), &mut codes);
            for (at, code) in codes.iter().enumerate() {
                let row = before + start + at;
                match code {
                    Code::Symbol(index) => counts[*index as usize] += 1,
                    Code::Missing => return Err(format!("row {row} is missing: leave it out")),
                    _ => {
                        return Err(format!(
                            "row {row} is nothing this policy releases: is it the right policy?"
                        ));
                    }
                }
            }
        }
        before += cells.len();
    }
    Ok(counts)
}

/// Rows of packed bits, one after the other.
fn packed(tokens: &Bound<'_, PyAny>, width: usize, symbols: usize) -> PyResult<Vec<u8>> {
    let wrong = |found: String| {
        PyValueError::new_err(format!(
            "{found}: this policy releases rows of {symbols} bits, {width} bytes each"
        ))
    };
    if let Ok(list) = tokens.cast::<PyList>() {
        let mut all = Vec::with_capacity(list.len() * width);
        for (at, item) in list.iter().enumerate() {
            if let Ok(bytes) = item.cast::<PyBytes>()
                && bytes.as_bytes().len() == width
            {
                all.extend_from_slice(bytes.as_bytes());
            } else if let Ok(text) = item.cast::<PyString>()
                && let Some(row) = digits(&text.to_cow()?, width)
            {
                all.extend(row);
            } else {
                return Err(wrong(format!("row {at}")));
            }
        }
        return Ok(all);
    }
    if let Some(arrays) = arrow::arrays(tokens)? {
        let mut all = Vec::new();
        for array in arrays {
            if array.null_count() > 0 {
                return Err(wrong("a missing row".into()));
            }
            array.to_data().validate_full().map_err(failed)?;
            match array.data_type() {
                DataType::FixedSizeBinary(found) if *found as usize == width => {
                    let rows: &FixedSizeBinaryArray = array.as_fixed_size_binary();
                    (0..rows.len()).for_each(|at| all.extend_from_slice(rows.value(at)));
                }
                DataType::Binary => {
                    let rows = array.as_binary::<i32>();
                    for at in 0..rows.len() {
                        if rows.value(at).len() != width {
                            return Err(wrong(format!("row {at}")));
                        }
                        all.extend_from_slice(rows.value(at));
                    }
                }
                DataType::BinaryView => {
                    let rows = array.as_binary_view();
                    for at in 0..rows.len() {
                        if rows.value(at).len() != width {
                            return Err(wrong(format!("row {at}")));
                        }
                        all.extend_from_slice(rows.value(at));
                    }
                }
                other => return Err(wrong(format!("a column of type {other}"))),
            }
        }
        return Ok(all);
    }
    if tokens.hasattr("__array_interface__")? {
        let Ok(array) = tokens.cast::<PyArray2<u8>>() else {
            return Err(wrong("an array that is not two-dimensional uint8".into()));
        };
        let array =
            array.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
        if array.as_array().ncols() != width {
            return Err(wrong(format!("rows of {} bytes", array.as_array().ncols())));
        }
        // `as_slice` would also take columns in one piece, which are not rows.
        return Ok(array.as_array().iter().copied().collect());
    }
    Err(PyTypeError::new_err("bits: use a list of bytes, a uint8 array, or an Arrow binary array"))
}

/// A row written in hexadecimal digits, as the command line writes it.
fn digits(text: &str, width: usize) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16);
    let pair = |two: &[u8]| Some((digit(two[0])? << 4 | digit(*two.get(1)?)?) as u8);
    (text.len() == 2 * width).then(|| text.chunks(2).map(pair).collect())?
}
