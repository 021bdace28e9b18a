//! The kernel's smaller parts: reports and the pinned draw that the golden vectors check.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand_core::{Infallible, TryCryptoRng, TryRng};
use undertone_core as core;

use crate::draw::Prepared;
use crate::errors::{failed, guarded};
use crate::policy::{Policy, verified};

/// The policy with these canonical bytes.
#[pyfunction]
pub(crate) fn policy_from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Policy> {
    guarded(|| verified(py, core::Draft::from_bytes(bytes).map_err(failed)?))
}

/// Odds and printed nats of the level written as a decimal.
#[pyfunction]
pub(crate) fn parse_epsilon(text: &str) -> PyResult<((u32, u32), String)> {
    guarded(|| {
        let epsilon = core::Epsilon::parse(text).map_err(failed)?;
        Ok((epsilon.odds(), epsilon.nats().to_string()))
    })
}

/// The printed nats of odds.
#[pyfunction]
pub(crate) fn odds_nats(numerator: u32, denominator: u32) -> PyResult<String> {
    guarded(|| {
        let epsilon = core::Epsilon::from_odds(numerator, denominator).map_err(failed)?;
        Ok(epsilon.nats().to_string())
    })
}

/// What LDP spent on a datum means for belief, in printed nats, under the prior with these weights.
#[pyfunction]
pub(crate) fn lip_consequence(spent: &str, weights: Vec<u64>) -> PyResult<Option<String>> {
    guarded(|| {
        let cost = Some(core::Nats::parse_down(spent).map_err(failed)?);
        let release = core::Release { policy: core::PolicyId([0; 32]), cost };
        let ledger = core::Ledger::restore(core::Nats::ZERO, [("datum".into(), vec![release])]);
        let prior = core::Prior::new(weights).map_err(failed)?;
        Ok(ledger.lip_consequence("datum", &prior).map(|nats| nats.to_string()))
    })
}

/// Given bytes in place of randomness, for vectors alone; past the end there are zeros, and the
/// caller is told.
pub(crate) struct Bytes<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) used: usize,
}

impl TryRng for Bytes<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut four = [0; 4];
        self.try_fill_bytes(&mut four)?;
        Ok(u32::from_be_bytes(four))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut eight = [0; 8];
        self.try_fill_bytes(&mut eight)?;
        Ok(u64::from_be_bytes(eight))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for place in out {
            *place = self.bytes.get(self.used).copied().unwrap_or(0);
            self.used += 1;
        }
        Ok(())
    }
}

impl TryCryptoRng for Bytes<'_> {}

pub(crate) fn symbol(prepared: &Prepared, index: usize) -> PyResult<core::Symbol> {
    prepared.policy.draft().inputs().symbol(index).map_err(failed)
}

/// An index, or packed bits.
#[derive(IntoPyObject)]
pub(crate) enum Token<'py> {
    Index(u32),
    Bits(Bound<'py, PyBytes>),
}

fn token<'py>(py: Python<'py>, token: &core::Token) -> Token<'py> {
    match token {
        core::Token::Index(index) => Token::Index(*index),
        core::Token::Bits(bits) => Token::Bits(PyBytes::new(py, bits)),
    }
}

/// The pinned draw, for tests of other languages: the token for an input's index from given bytes, and
/// how many of them were read. `flat` walks it without branches on the input.
#[pyfunction]
#[pyo3(signature = (policy, index, stream, *, flat = false))]
pub(crate) fn draw<'py>(
    py: Python<'py>,
    policy: &Bound<'py, Policy>,
    index: usize,
    stream: &[u8],
    flat: bool,
) -> PyResult<(Token<'py>, usize)> {
    guarded(|| {
        let prepared = &policy.get().0;
        let x = symbol(prepared, index)?;
        let mut bytes = Bytes { bytes: stream, used: 0 };
        let drawn = match flat {
            true => prepared.policy.draw_flat(x, &mut bytes),
            false => prepared.policy.draw(x, &mut bytes),
        };
        let drawn = drawn.map_err(failed)?;
        Ok((token(py, &drawn), bytes.used))
    })
}

/// One randomised answer: the only thing that leaves a device.
#[pyclass(frozen, eq, module = "undertone")]
#[derive(PartialEq)]
pub(crate) struct Report(pub(crate) core::Report);

#[pymethods]
impl Report {
    /// Reads a report from JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        guarded(|| core::Report::from_json(text).map(Self).map_err(failed))
    }

    /// Reads a report from bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        guarded(|| core::Report::from_bytes(bytes).map(Self).map_err(failed))
    }

    /// The report as JSON.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The report as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The id of the policy it was drawn under.
    #[getter]
    fn policy_id(&self) -> String {
        self.0.policy.to_string()
    }

    /// Its own random id.
    #[getter]
    fn id(&self) -> String {
        self.0.id.to_string()
    }

    /// The answer: an output's index, or packed bits.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Token<'py> {
        token(py, &self.0.token)
    }

    /// Raises unless the report could have come from this policy.
    fn check(&self, policy: &Bound<'_, Policy>) -> PyResult<()> {
        guarded(|| policy.get().0.policy.accepts(&self.0).map_err(failed))
    }

    fn __repr__(&self) -> String {
        format!("Report({})", self.0.to_json())
    }
}
