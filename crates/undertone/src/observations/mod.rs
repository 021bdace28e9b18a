//! Files of people as statistics need them: randomised columns as evidence, others as numbers and categories.
//!
//! Only rows that have every column that was asked for are kept; how many were left out is counted ([`Observations::missing`]). A
//! cell is missing if it is empty, null, NaN or, unless a symbol is called so, `NA`. Rows are read once, and of each cell only a
//! small integer or a float stays.

mod column;
mod read;
mod sampling;
mod value;

pub use column::{Observation, ObservedAs, ObservedColumn, ReportedUnder};
pub use sampling::Sampling;

use crate::Error;
use crate::columns::Source;

/// The columns that were asked for, of the rows that have them all.
#[derive(Debug, Clone)]
pub struct Observations {
    /// The columns, in the order in which they were asked for.
    pub columns: Vec<Observation>,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them were left out because a cell was missing.
    pub missing: u64,
}

impl Observations {
    /// Reads columns of a file; a column may be asked for several times, as different things.
    pub fn read(source: Source, wanted: &[ObservedColumn]) -> Result<Self, Error> {
        read::read(source, wanted)
    }

    /// How many rows were kept.
    pub fn kept(&self) -> u64 {
        self.rows - self.missing
    }
}
