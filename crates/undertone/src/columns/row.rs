//! Rows as they are visited one by one, and where they stand.

use std::borrow::Cow;
use std::fmt;

use super::csv;

/// The cells of the chosen columns in one row; `None` is a missing value: empty, null or NaN.
pub struct Row<'a> {
    /// The cells, in the order in which their columns were asked for.
    pub cells: &'a [Option<Cow<'a, str>>],
    pub(super) number: u64,
    /// Where lines exist: how many come before a block of text, and its part before this row.
    pub(super) before: Option<(u64, &'a [u8])>,
}

/// Where a row is, for error messages; the first row of data is row 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowPlace {
    /// The row's number.
    pub row: u64,
    /// The line it begins on, where lines exist.
    pub line: Option<u64>,
}

impl RowPlace {
    /// A place in a block of text, counted from the block's beginning: after so many rows, at so many
    /// bytes.
    pub fn in_block(rows: u64, block: &[u8], at: usize) -> Self {
        Self { row: rows + 1, line: Some(csv::lines(&block[..at]) + 1) }
    }

    /// A place in a block as a place in the file, where so many rows and lines come before the block.
    pub fn after(self, rows: u64, lines: u64) -> Self {
        Self { row: rows + self.row, line: self.line.map(|line| lines + line) }
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}", self.row)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl Row<'_> {
    /// Where the row is, for error messages.
    pub fn place(&self) -> RowPlace {
        let line = self.before.map(|(lines, text)| lines + csv::lines(text) + 1);
        RowPlace { row: self.number, line }
    }
}
