//! Opening the file, its tables, and what its errors mean.

use crate::secret_file;
use crate::store::StoreError;
use crate::store::row::{Cell, Kind, TABLES as ROWS, Table};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// The newest schema this program knows.
pub(super) const KNOWN: u64 = 2;

/// Every table is small or only ever appended to and deleted from in order, except `chunk`, which is
/// written in runs. `tally`, `batch` and `chunk` have their blobs last, so that the other columns are
/// read without them.
pub(super) const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT PRIMARY KEY, version INTEGER NOT NULL, checksum INTEGER NOT NULL, document TEXT NOT NULL);
CREATE TABLE event (survey TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (survey, seq)) WITHOUT ROWID;
CREATE TABLE policy (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, outputs INTEGER NOT NULL,
    bits INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE round (id INTEGER PRIMARY KEY, survey TEXT NOT NULL, number INTEGER NOT NULL,
    state INTEGER NOT NULL, opened INTEGER NOT NULL, sealed INTEGER, released INTEGER,
    swept INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0, wiped INTEGER NOT NULL DEFAULT 0, checksum INTEGER NOT NULL,
    UNIQUE (survey, number));
CREATE INDEX round_to_sweep ON round (id) WHERE state <> 0 AND swept = 0;
CREATE INDEX round_to_wipe ON round (id) WHERE swept <> 0 AND wiped = 0;
CREATE TABLE tally (round INTEGER NOT NULL, policy INTEGER NOT NULL, position INTEGER NOT NULL,
    reports INTEGER NOT NULL, duplicates INTEGER NOT NULL, checksum INTEGER NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (round, policy));
CREATE TABLE batch (seq INTEGER PRIMARY KEY, round INTEGER NOT NULL, policy INTEGER NOT NULL,
    reports INTEGER NOT NULL, checksum INTEGER NOT NULL, rows BLOB NOT NULL);
CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, round INTEGER NOT NULL, ids INTEGER NOT NULL,
    target INTEGER, checksum INTEGER NOT NULL);
CREATE INDEX run_of_round ON run (round);
CREATE INDEX run_in_merge ON run (target) WHERE target IS NOT NULL;
CREATE TABLE chunk (run INTEGER NOT NULL, first BLOB NOT NULL, checksum INTEGER NOT NULL, ids BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_of_run ON chunk (run, first);
CREATE TABLE token (id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, survey TEXT, hash BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL, created_by TEXT NOT NULL, revoked INTEGER, revoked_by TEXT, checksum INTEGER NOT NULL);
INSERT INTO meta VALUES ('schema', 2), ('fold', 0);
";

/// What brings a store of schema 1 to schema 2, but for the checksums.
const FROM_1_TO_2: &str = "
ALTER TABLE survey ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE policy ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE round ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE round ADD COLUMN wiped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE round ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
CREATE INDEX round_to_wipe ON round (id) WHERE swept <> 0 AND wiped = 0;
ALTER TABLE tally ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batch ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunk ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
CREATE TABLE token (id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, survey TEXT, hash BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL, created_by TEXT NOT NULL, revoked INTEGER, revoked_by TEXT, checksum INTEGER NOT NULL);
UPDATE meta SET value = 2 WHERE name = 'schema';
";

/// What every SQLite file begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What an error says of a file: one that was never of SQLite is not damaged. The file is looked at only after SQLite
/// has given it up: closing it ends the locks that this process has on it.
pub(super) fn recognised(path: &Path, error: StoreError) -> StoreError {
    let mut begin = Vec::new();
    let mut read = || {
        let file = std::fs::File::open(path)?;
        file.take(MAGIC.len() as u64).read_to_end(&mut begin)
    };
    match error {
        StoreError::Corrupt(_) if read().is_ok() && begin != MAGIC => {
            StoreError::NotAStore { place: path.display().to_string(), what: "not SQLite" }
        }
        error => error,
    }
}

/// What a database without our tables is.
pub(super) fn foreign(path: &Path) -> StoreError {
    let what = "a database of something else";
    StoreError::NotAStore { place: path.display().to_string(), what }
}

/// Opens the file for the writer and makes, checks or upgrades its tables. Without `make` a file that is missing
/// or empty is refused.
pub(super) fn create(path: &Path, make: bool) -> Result<Connection, StoreError> {
    open_or_make(path, make).map_err(|error| recognised(path, error))
}

fn open_or_make(path: &Path, make: bool) -> Result<Connection, StoreError> {
    if !make && !std::fs::metadata(path).is_ok_and(|about| about.len() > 0) {
        return Err(StoreError::Missing { place: path.display().to_string() });
    }
    keep_private(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
    // Of a file that exists the page size stays what it is.
    connection.pragma_update(None, "page_size", 8192).map_err(fault)?;
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(fault)?;
    if mode != "wal" {
        return Err(StoreError::Unavailable(format!(
            "SQLite keeps the journal mode {mode} where it should be wal: is the file on a local disk?"
        )));
    }
    connection.pragma_update(None, "wal_autocheckpoint", 2000).map_err(fault)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20).map_err(fault)?;
    // Where it costs no writing of its own; `wipe` sees to the rest.
    connection.pragma_update_and_check(None, "secure_delete", "fast", |_| Ok(())).map_err(fault)?;
    let change = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(fault)?;
    let has = |name: &str| {
        change
            .query_row("SELECT 1 FROM sqlite_master WHERE name = ?1", [name], |_| Ok(()))
            .optional()
            .map(|found| found.is_some())
    };
    if has("meta").map_err(fault)? {
        let found = change
            .query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| whole(row, 0))
            .map_err(fault)?;
        if found > KNOWN {
            return Err(StoreError::Newer { found, known: KNOWN });
        }
        if found < 2 {
            tracing::info!(from = found, to = KNOWN, "the store is brought to a newer schema");
            change.execute_batch(FROM_1_TO_2).map_err(fault)?;
            ROWS.iter()
                .filter(|table| table.summed)
                .try_for_each(|table| add_sums(&change, table))?;
        }
    } else {
        let others: i64 = change
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(fault)?;
        if others > 0 {
            return Err(foreign(path));
        }
        change.execute_batch(TABLES).map_err(fault)?;
    }
    change.commit().map_err(fault)?;
    Ok(connection)
}

/// Gives every row of a table its checksum.
fn add_sums(change: &Connection, table: &Table) -> Result<(), StoreError> {
    let name = table.name;
    let mut select =
        change.prepare(&format!("SELECT {}, rowid FROM {name}", table.names(""))).map_err(fault)?;
    let mut update = change
        .prepare(&format!("UPDATE {name} SET checksum = ?1 WHERE rowid = ?2"))
        .map_err(fault)?;
    let mut after = Vec::new();
    let mut rows = select.query([]).map_err(fault)?;
    while let Some(row) = rows.next().map_err(fault)? {
        let cells = cells(row, table).map_err(fault)?;
        let place: i64 = row.get(table.columns.len() + 1).map_err(fault)?;
        after.push((table.sum(table.covered(&cells)), place));
    }
    // A table is not changed while it is read.
    after.into_iter().try_for_each(|change| update.execute(change).map(drop)).map_err(fault)
}

/// A row that was selected by [`Table::names`], without its checksum.
pub(super) fn cells(row: &Row, table: &Table) -> rusqlite::Result<Vec<Cell<'static>>> {
    let cell = |(at, (_, kind)): (usize, &(&str, Kind))| {
        let empty = matches!(row.get_ref(at)?, rusqlite::types::ValueRef::Null);
        Ok(match kind {
            _ if empty => Cell::Null,
            Kind::Int | Kind::Flag => Cell::Int(row.get(at)?),
            Kind::Text => Cell::Text(row.get::<_, String>(at)?.into()),
            Kind::Bytes => Cell::Bytes(row.get::<_, Vec<u8>>(at)?.into()),
        })
    };
    table.columns.iter().enumerate().map(cell).collect()
}

/// Makes the file, for its owner alone, or takes others' permissions away from the one there is. SQLite
/// gives the files beside it the same.
fn keep_private(path: &Path) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| {
        StoreError::Unavailable(format!("cannot open {}: {error}", path.display()))
    };
    match secret_file::new_file(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match secret_file::close_to_others(name.as_ref()) {
            Ok(true) => {
                tracing::info!(file = ?name, "others could read this file and no longer can")
            }
            Ok(false) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // Somebody else's file: it is theirs to close.
            Err(error) => tracing::warn!(file = ?name, %error, "others can read this file"),
        }
    }
    Ok(())
}

/// How many bytes of the file are in use; pages that folding has freed are not.
pub(super) fn used_bytes(connection: &Connection) -> Result<u64, StoreError> {
    let number =
        |name: &str| connection.pragma_query_value(None, name, |row| whole(row, 0)).map_err(fault);
    Ok((number("page_count")? - number("freelist_count")?) * number("page_size")?)
}

/// Opens the file for reading.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::empty())?;
    connection.pragma_update(None, "query_only", true).map_err(fault)?;
    Ok(connection)
}

pub(super) fn connect(path: &Path, create: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| {
        StoreError::Unavailable(format!("cannot open {}: {error}", path.display()))
    })?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(fault)?;
    // A commit returns after its pages in the log have reached the disk.
    connection.pragma_update(None, "synchronous", "full").map_err(fault)?;
    connection.pragma_update(None, "cache_size", -16384).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// What an error of SQLite means to the caller.
pub(crate) fn fault(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt(error.to_string())
        }
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict(error.to_string()),
        Some(_) => StoreError::Unavailable(error.to_string()),
        // Not from the database: a column of another type than we wrote.
        None => StoreError::Corrupt(error.to_string()),
    }
}

/// A number that is never negative.
pub(super) fn whole(row: &Row, at: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, number))
}
