//! The tables.

use super::SCHEMA_LOCK;
use super::connect::fault;
use crate::store::StoreError;
use crate::store::row::{Cell, Kind, TABLES as ROWS, Table};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// The newest schema this program knows.
pub(super) const KNOWN: u64 = 2;

/// `batch` has no index but on its own ascending number; rows of up to a page stay in the table, as they
/// are. `chunk` is written in runs, each in ascending order.
const TABLES: &str = "
CREATE TABLE undertone.meta (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE undertone.survey (id text PRIMARY KEY, version bigint NOT NULL, document text NOT NULL,
    checksum bigint NOT NULL);
CREATE TABLE undertone.event (survey text NOT NULL, seq bigint NOT NULL, at bigint NOT NULL,
    kind text NOT NULL, detail text NOT NULL, previous bytea NOT NULL, hash bytea NOT NULL,
    PRIMARY KEY (survey, seq));
CREATE TABLE undertone.policy (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea NOT NULL UNIQUE, outputs bigint NOT NULL, bits boolean NOT NULL, bytes bytea NOT NULL,
    checksum bigint NOT NULL);
CREATE TABLE undertone.round (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, survey text NOT NULL,
    number bigint NOT NULL, state bigint NOT NULL, opened bigint NOT NULL, sealed bigint, released bigint,
    swept boolean NOT NULL DEFAULT false, held boolean NOT NULL DEFAULT false,
    wiped boolean NOT NULL DEFAULT false, checksum bigint NOT NULL,
    UNIQUE (survey, number));
CREATE INDEX round_to_sweep ON undertone.round (id) WHERE state <> 0 AND NOT swept;
CREATE INDEX round_to_wipe ON undertone.round (id) WHERE swept AND NOT wiped;
CREATE TABLE undertone.tally (round bigint NOT NULL, policy bigint NOT NULL, position bigint NOT NULL,
    reports bigint NOT NULL, duplicates bigint NOT NULL, counts bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (round, policy));
CREATE TABLE undertone.batch (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    policy bigint NOT NULL, reports bigint NOT NULL, checksum bigint NOT NULL, rows bytea NOT NULL)
    WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE TABLE undertone.run (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    ids bigint NOT NULL, target bigint, checksum bigint NOT NULL);
CREATE INDEX run_of_round ON undertone.run (round);
CREATE INDEX run_in_merge ON undertone.run (target) WHERE target IS NOT NULL;
CREATE TABLE undertone.chunk (run bigint NOT NULL, first bytea NOT NULL, checksum bigint NOT NULL,
    ids bytea NOT NULL, PRIMARY KEY (run, first)) WITH (toast_tuple_target = 8160);
ALTER TABLE undertone.batch ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE undertone.chunk ALTER COLUMN ids SET STORAGE EXTERNAL;
CREATE TABLE undertone.token (id text PRIMARY KEY, name text NOT NULL, role text NOT NULL, survey text,
    hash bytea NOT NULL UNIQUE, created bigint NOT NULL, created_by text NOT NULL, revoked bigint, revoked_by text,
    checksum bigint NOT NULL);
INSERT INTO undertone.meta VALUES ('schema', 2);
";

/// What brings a store of schema 1 to schema 2, but for the checksums. Afterwards [`NO_DEFAULTS`] sees to it that a
/// curator of the earlier version, should one still run, has its reports refused rather than stored without checksum.
const FROM_1_TO_2: &str = "
ALTER TABLE undertone.survey ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
ALTER TABLE undertone.policy ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
ALTER TABLE undertone.round ADD COLUMN held boolean NOT NULL DEFAULT false, ADD COLUMN wiped boolean NOT NULL DEFAULT false,
    ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
CREATE INDEX round_to_wipe ON undertone.round (id) WHERE swept AND NOT wiped;
ALTER TABLE undertone.tally ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
ALTER TABLE undertone.batch ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
ALTER TABLE undertone.run ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
ALTER TABLE undertone.chunk ADD COLUMN checksum bigint NOT NULL DEFAULT 0;
CREATE TABLE undertone.token (id text PRIMARY KEY, name text NOT NULL, role text NOT NULL, survey text,
    hash bytea NOT NULL UNIQUE, created bigint NOT NULL, created_by text NOT NULL, revoked bigint, revoked_by text,
    checksum bigint NOT NULL);
UPDATE undertone.meta SET value = 2 WHERE name = 'schema';
";

const NO_DEFAULTS: &str = "
ALTER TABLE undertone.survey ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.policy ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.round ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.tally ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.batch ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.run ALTER COLUMN checksum DROP DEFAULT;
ALTER TABLE undertone.chunk ALTER COLUMN checksum DROP DEFAULT;
";

/// Makes the tables, or checks or upgrades them. Without `make`, missing tables are refused.
pub(super) async fn create(client: &mut Object, make: bool) -> Result<(), StoreError> {
    let change = client.transaction().await.map_err(fault)?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&SCHEMA_LOCK]).await.map_err(fault)?;
    let found = change
        .query_one("SELECT to_regclass('undertone.meta') IS NOT NULL", &[])
        .await
        .map_err(fault)?;
    if found.get(0) {
        let row = change
            .query_one("SELECT value FROM undertone.meta WHERE name = 'schema'", &[])
            .await
            .map_err(fault)?;
        let found = u64::try_from(row.get::<_, i64>(0)).unwrap_or(0);
        if found > KNOWN {
            return Err(StoreError::Newer { found, known: KNOWN });
        }
        if found < 2 {
            tracing::info!(from = found, to = KNOWN, "the store is brought to a newer schema");
            change.batch_execute(FROM_1_TO_2).await.map_err(fault)?;
            for table in ROWS.iter().filter(|table| table.summed) {
                add_sums(&change, table).await?;
            }
            change.batch_execute(NO_DEFAULTS).await.map_err(fault)?;
        }
    } else if !make {
        let place = "this PostgreSQL database".into();
        return Err(StoreError::Missing { place });
    } else {
        tables(&change).await?;
    }
    let row = change.query_one("SHOW fsync", &[]).await.map_err(fault)?;
    if row.get::<_, &str>(0) == "off" {
        tracing::warn!("PostgreSQL runs with fsync off: a power cut can lose acknowledged reports");
    }
    change.commit().await.map_err(fault)
}

/// Makes the tables, which are not there.
pub(super) async fn tables(change: &Transaction<'_>) -> Result<(), StoreError> {
    change.batch_execute("CREATE SCHEMA IF NOT EXISTS undertone").await.map_err(fault)?;
    change.batch_execute(TABLES).await.map_err(fault)
}

/// Rows read at once.
pub(super) const PAGE: i32 = 512;

/// Gives every row of a table its checksum.
async fn add_sums(change: &Transaction<'_>, table: &Table) -> Result<(), StoreError> {
    let name = table.name;
    let keys: Vec<&str> = table.columns[..table.key].iter().map(|(name, _)| *name).collect();
    let places = (2..).zip(&keys).map(|(place, key)| format!("{key} = ${place}"));
    let update = format!(
        "UPDATE undertone.{name} SET checksum = $1 WHERE {}",
        places.collect::<Vec<_>>().join(" AND ")
    );
    let update = change.prepare(&update).await.map_err(fault)?;
    let select = format!("SELECT {} FROM undertone.{name}", table.names(""));
    let select = change.prepare(&select).await.map_err(fault)?;
    // A cursor sees the rows as they were when it was opened.
    let portal = change.bind(&select, &[]).await.map_err(fault)?;
    loop {
        let rows = change.query_portal(&portal, PAGE).await.map_err(fault)?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            let cells = cells(row, table)?;
            let sum = table.sum(table.covered(&cells));
            let keys: Vec<_> = cells.iter().zip(table.columns).take(table.key).collect();
            let keys: Vec<Value> =
                keys.into_iter().map(|(cell, (_, kind))| value(cell, *kind)).collect();
            let mut values: Vec<&(dyn ToSql + Sync)> = vec![&sum];
            values.extend(keys.iter().map(|key| &**key as &(dyn ToSql + Sync)));
            change.execute(&update, &values).await.map_err(fault)?;
        }
    }
}

/// A row that was selected by [`Table::names`], without its checksum.
pub(super) fn cells(row: &Row, table: &Table) -> Result<Vec<Cell<'static>>, StoreError> {
    let cell = |(at, (_, kind)): (usize, &(&str, Kind))| {
        let cell = match kind {
            Kind::Int => row.try_get::<_, Option<i64>>(at).map_err(fault)?.into(),
            Kind::Flag => row.try_get::<_, Option<bool>>(at).map_err(fault)?.map(i64::from).into(),
            Kind::Text => match row.try_get::<_, Option<String>>(at).map_err(fault)? {
                Some(text) => Cell::Text(text.into()),
                None => Cell::Null,
            },
            Kind::Bytes => match row.try_get::<_, Option<Vec<u8>>>(at).map_err(fault)? {
                Some(bytes) => Cell::Bytes(bytes.into()),
                None => Cell::Null,
            },
        };
        Ok(cell)
    };
    table.columns.iter().enumerate().map(cell).collect()
}

/// A value to send.
pub(super) type Value = Box<dyn ToSql + Sync + Send>;

/// A cell as a value of its column's type.
pub(super) fn value(cell: &Cell<'_>, kind: Kind) -> Value {
    let there = !matches!(cell, Cell::Null);
    match kind {
        Kind::Int => Box::new(cell.int()),
        Kind::Flag => Box::new(cell.int().map(|number| number != 0)),
        Kind::Text => Box::new(there.then(|| cell.text().to_owned())),
        Kind::Bytes => Box::new(there.then(|| cell.bytes().to_vec())),
    }
}
