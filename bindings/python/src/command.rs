//! The console script: the command line itself, and nothing else of the package.

use pyo3::prelude::*;

use crate::errors::guarded;

/// Runs a command line, the program's name first, prints what it prints, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<std::ffi::OsString>) -> PyResult<u8> {
    guarded(|| Ok(py.detach(|| undertone_cli::main_from(words))))
}
