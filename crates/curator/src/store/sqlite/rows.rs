//! A whole file, row by row: for checks and copies.

use super::schema::{
    KNOWN, TABLES as DEFINITIONS, cells, connect, fault, foreign, recognised, whole,
};
use crate::store::StoreError;
use crate::store::check::{Reading, StoredRow};
use crate::store::row::{Cell, TABLES, Table};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params_from_iter};
use std::path::Path;
use tokio::sync::mpsc::Sender;

/// Rows handed on at once.
const PAGE: usize = 256;
/// Faults of the file's structure that are asked for.
const FAULTS: i64 = 20;

/// Reads everything as it is at one moment, after what SQLite itself finds wrong with the file. Stops when nobody
/// listens any more.
pub(crate) fn read(
    path: &Path,
    sender: &Sender<Result<Reading, StoreError>>,
) -> Result<(), StoreError> {
    read_rows(path, sender).map_err(|error| recognised(path, error))
}

fn read_rows(path: &Path, sender: &Sender<Result<Reading, StoreError>>) -> Result<(), StoreError> {
    if !std::fs::metadata(path).is_ok_and(|about| about.len() > 0) {
        return Err(StoreError::Missing { place: path.display().to_string() });
    }
    let mut connection = connect(path, OpenFlags::empty())?;
    connection.pragma_update(None, "query_only", true).map_err(fault)?;
    let read = connection.transaction().map_err(fault)?;
    known(&read, path)?;
    let mut faults = Vec::new();
    read.pragma(None, "integrity_check", FAULTS, |row| {
        faults.push(row.get::<_, String>(0)?);
        Ok(())
    })
    .map_err(fault)?;
    for found in faults.into_iter().filter(|found| found != "ok") {
        if sender.blocking_send(Ok(Reading::Fault(format!("SQLite: {found}")))).is_err() {
            return Ok(());
        }
    }
    for (number, table) in TABLES.iter().enumerate() {
        let order: Vec<&str> = table.columns[..table.key].iter().map(|(name, _)| *name).collect();
        let select =
            format!("SELECT {} FROM {} ORDER BY {}", table.names(""), table.name, order.join(", "));
        let mut select = read.prepare(&select).map_err(fault)?;
        let mut rows = select.query([]).map_err(fault)?;
        let mut page = Vec::with_capacity(PAGE);
        loop {
            let row = rows.next().map_err(fault)?;
            let ended = row.is_none();
            if let Some(row) = row {
                let sum = table.summed.then(|| row.get(table.columns.len())).transpose();
                page.push(StoredRow {
                    cells: cells(row, table).map_err(fault)?,
                    sum: sum.map_err(fault)?,
                });
            }
            if page.len() == PAGE || ended && !page.is_empty() {
                let full = std::mem::replace(&mut page, Vec::with_capacity(PAGE));
                if sender.blocking_send(Ok(Reading::Rows(number, full))).is_err() {
                    return Ok(());
                }
            }
            if ended {
                break;
            }
        }
    }
    Ok(())
}

/// Refuses a file of another schema than this program's, or of something else.
fn known(read: &Transaction, path: &Path) -> Result<(), StoreError> {
    let table = "SELECT 1 FROM sqlite_master WHERE name = 'meta'";
    if read.query_row(table, [], |_| Ok(())).optional().map_err(fault)?.is_none() {
        return Err(foreign(path));
    }
    let found = read
        .query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| whole(row, 0))
        .map_err(fault)?;
    match found.cmp(&KNOWN) {
        std::cmp::Ordering::Less => Err(StoreError::Older { found, known: KNOWN }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { found, known: KNOWN }),
    }
}

/// A file with the tables and nothing in them. It is thrown away unless everything goes well, so it needs no journal.
pub(crate) fn empty(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = connect(path, flags)?;
    connection.pragma_update(None, "page_size", 8192).map_err(fault)?;
    connection.pragma_update_and_check(None, "journal_mode", "off", |_| Ok(())).map_err(fault)?;
    connection.execute_batch(DEFINITIONS).map_err(fault)?;
    Ok(connection)
}

/// Writes rows as they were read.
pub(crate) fn insert(
    change: &Transaction,
    table: &Table,
    rows: &[StoredRow],
) -> Result<(), StoreError> {
    let count = table.columns.len() + usize::from(table.summed);
    let places: Vec<String> = (1..=count).map(|place| format!("?{place}")).collect();
    let statement =
        format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.names(""), places.join(", "));
    let mut insert = change.prepare_cached(&statement).map_err(fault)?;
    for StoredRow { cells, sum } in rows {
        let values = cells.iter().map(value).chain(sum.map(Value::Integer));
        insert.execute(params_from_iter(values)).map_err(fault)?;
    }
    Ok(())
}

fn value(cell: &Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => Value::Integer(*number),
        Cell::Text(text) => Value::Text(text.to_string()),
        Cell::Bytes(bytes) => Value::Blob(bytes.to_vec()),
    }
}
