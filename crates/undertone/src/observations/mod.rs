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
pub use sampling::{KnownMargins, Sampling};

use crate::Error;
use crate::columns::Source;

/// The text of a column's cell in a row; nothing where it is missing.
pub type CellTexts<'t> = dyn Fn(usize) -> Option<String> + 't;

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

    /// Reads columns in memory, of so many rows: `texts` knows a column's cells by its name.
    pub fn of_columns<'t>(
        rows: usize,
        wanted: &[ObservedColumn],
        texts: impl Fn(&str) -> Option<&'t CellTexts<'t>>,
    ) -> Result<Self, Error> {
        read::read_columns(rows, wanted, texts)
    }

    /// How many rows were kept.
    pub fn kept(&self) -> u64 {
        self.rows - self.missing
    }
}
