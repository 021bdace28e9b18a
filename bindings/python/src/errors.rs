//! The kernel's refusals and the crates' errors as Python exceptions, in the same words.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone_core::{Bound as Level, Claim, Ratio, Refusal, Side};

mod imported {
    pyo3::import_exception!(undertone._errors, Error);
    pyo3::import_exception!(undertone._errors, Refused);
}

pub(crate) use imported::{Error, Refused};

/// Any error of the crates: its words are the message.
pub(crate) fn failed(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Runs what Python called. A panic would reach it as something no `except Exception` holds; here it is an `Error`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    undertone::error::guarded(work).unwrap_or_else(|fault| Err(failed(fault)))
}

/// A ratio's logarithm in nats, rounded up.
fn nats(ratio: Ratio) -> f64 {
    // Ten decimals survive the trip through a float.
    ratio.ln_up().and_then(|nats| nats.to_string().parse().ok()).unwrap_or(f64::INFINITY)
}

/// δ, rounded up.
fn fraction(ratio: Ratio) -> f64 {
    ratio.scaled_up(52) as f64 / (1u64 << 52) as f64
}

fn notion(claim: &Claim) -> &'static str {
    match claim.bound {
        Level::Ldp(_) => "ldp",
        Level::Di(_) => "di",
        Level::Lip { lower, upper } if lower == upper => "lip",
        Level::Lip { .. } => "alip",
    }
}

/// A false claim: `Refused` with the cell, the true leakage and what was claimed.
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let cell = PyDict::new(py);
        cell.set_item("claim", refusal.index)?;
        cell.set_item("notion", notion(&refusal.claim))?;
        cell.set_item("side", format!("{:?}", refusal.side).to_lowercase())?;
        cell.set_item("output", refusal.cell.output)?;
        cell.set_item("high", refusal.cell.high)?;
        cell.set_item("low", refusal.cell.low)?;
        cell.set_item("prior", refusal.cell.prior)?;
        cell.set_item("ratio", refusal.attained.to_string())?;
        cell.set_item("allowed", refusal.allowed.to_string())?;
        let scale = if refusal.side == Side::Delta { fraction } else { nats };
        let (attained, claimed) = (scale(refusal.attained), scale(refusal.allowed));
        Ok(Refused::new_err((refusal.to_string(), cell.unbind(), attained, claimed)))
    };
    build().unwrap_or_else(|error| error)
}
