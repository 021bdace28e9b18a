//! The command line's commands, called in place.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone_cli::NoReply;

use crate::errors::{Error, Refused, guarded};

/// Runs one command with documents in memory for files. Returns its JSON, whether it is good news, and
/// the documents it wrote.
#[pyfunction]
pub(crate) fn call(
    py: Python<'_>,
    words: Vec<String>,
    documents: BTreeMap<String, String>,
) -> PyResult<(String, bool, BTreeMap<String, String>)> {
    guarded(|| match py.detach(|| undertone_cli::call(&words, documents)) {
        Ok(reply) => Ok((reply.json.to_string(), reply.good, reply.written)),
        Err(NoReply { code: code @ "uninformative", message, .. }) => {
            let (cell, level) = (PyDict::new(py).unbind(), None::<f64>);
            Err(Refused::new_err((message, cell, level, level, code)))
        }
        Err(none) => Err(Error::new_err(none.message)),
    })
}

/// Runs a command line, the program's name first, prints what it prints, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<std::ffi::OsString>) -> PyResult<u8> {
    guarded(|| Ok(py.detach(|| undertone_cli::main_from(words))))
}
