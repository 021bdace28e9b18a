//! Columns of CSV and Parquet files: read row by row, or in pieces on many threads.
//!
//! A [`Source`] says where rows come from and how they are written; a [`Lookup`] says which symbol of an alphabet a
//! cell stands for.
//!
//! ```
//! use undertone::columns::Source;
//!
//! let rows = Source::reader("answers", "name;answer\nAda;yes\nBo;\n".as_bytes());
//! let mut missing = 0;
//! let count = rows.each_row(&["answer"], |row| {
//!     missing += row.cells.iter().filter(|cell| cell.is_none()).count();
//!     Ok::<(), undertone::Error>(())
//! })?;
//! assert_eq!((count, missing), (2, 1));
//! # Ok::<(), undertone::Error>(())
//! ```

pub mod csv;
mod lookup;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod progress;
mod row;
mod source;
mod workers;

pub(crate) use lookup::float;
pub use lookup::{Code, Lookup, UnknownValues};
#[cfg(feature = "parquet")]
pub use parquet::{bare_field, text as array_text};
pub use progress::Progress;
pub use row::{Row, RowPlace};
pub(crate) use source::OpenedSource;
pub use source::Source;
pub(crate) use workers::{in_order, threads};

use crate::Error;

/// The position of a column among those of a source, whose name errors begin with.
pub(crate) fn position(source: &str, name: &str, columns: &[String]) -> Result<usize, Error> {
    let mut found = columns.iter().enumerate().filter(|(_, column)| *column == name);
    let Some((at, _)) = found.next() else {
        let all = columns.join(", ");
        let problem = format!("there is no column {name:?}; the columns are {all}");
        return Err(Error::in_document(source, problem));
    };
    if found.next().is_some() {
        let problem = format!("two columns are called {name:?}: rename one");
        return Err(Error::in_document(source, problem));
    }
    Ok(at)
}

/// A cell's text; nothing if it is empty or NaN.
pub(crate) fn present(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && !text.eq_ignore_ascii_case("nan")).then_some(text)
}
