//! A whole database, row by row: for checks and copies.

use super::SCHEMA_LOCK;
use super::connect::{fault, pool, unreachable};
use super::schema::{self, KNOWN, PAGE, cells, value};
use crate::store::check::{Reading, StoredRow};
use crate::store::row::{Kind, TABLES};
use crate::store::{Password, StoreError};
use deadpool_postgres::{Object, Transaction};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::IsolationLevel;
use tokio_postgres::types::ToSql;

/// Reading everything takes as long as it takes.
const PATIENT: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Reads everything as it is at one moment. Stops when nobody listens any more.
pub(crate) async fn read(
    address: &str,
    password: &Password,
    sender: &mpsc::Sender<Result<Reading, StoreError>>,
) -> Result<(), StoreError> {
    let mut client = pool(address, password)?.get().await.map_err(unreachable)?;
    let read = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    let read = read.read_only(true).start().await.map_err(fault)?;
    read.batch_execute(PATIENT).await.map_err(fault)?;
    match schema(&read).await? {
        None => return Err(StoreError::Missing { place: "this PostgreSQL database".into() }),
        Some(found) if found < KNOWN => return Err(StoreError::Older { found, known: KNOWN }),
        Some(found) if found > KNOWN => return Err(StoreError::Newer { found, known: KNOWN }),
        Some(_) => {}
    }
    for (number, table) in TABLES.iter().enumerate() {
        let order = table.columns[..table.key].iter().map(|(name, kind)| match kind {
            Kind::Text => format!("{name} COLLATE \"C\""),
            _ => (*name).to_owned(),
        });
        let select = format!(
            "SELECT {} FROM undertone.{} ORDER BY {}",
            table.names(""),
            table.name,
            order.collect::<Vec<_>>().join(", ")
        );
        let select = read.prepare(&select).await.map_err(fault)?;
        let portal = read.bind(&select, &[]).await.map_err(fault)?;
        loop {
            let rows = read.query_portal(&portal, PAGE).await.map_err(fault)?;
            if rows.is_empty() {
                break;
            }
            let stored = |row: &tokio_postgres::Row| {
                let sum = table.summed.then(|| row.try_get(table.columns.len()));
                Ok(StoredRow { cells: cells(row, table)?, sum: sum.transpose().map_err(fault)? })
            };
            let page = rows.iter().map(stored).collect::<Result<Vec<_>, StoreError>>()?;
            if sender.send(Ok(Reading::Rows(number, page))).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The schema's version, if there are tables.
async fn schema(read: &Transaction<'_>) -> Result<Option<u64>, StoreError> {
    let found = "SELECT to_regclass('undertone.meta') IS NOT NULL";
    if !read.query_one(found, &[]).await.map_err(fault)?.get::<_, bool>(0) {
        return Ok(None);
    }
    let version = "SELECT value FROM undertone.meta WHERE name = 'schema'";
    let row = read.query_one(version, &[]).await.map_err(fault)?;
    Ok(Some(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0)))
}

/// Makes the tables in a database that has none and fills them with the rows that come, all in one transaction. It is
/// committed only if, after the last row, `sure` says that all of them came.
pub(crate) async fn write(
    address: &str,
    password: &Password,
    mut rows: mpsc::Receiver<(usize, Vec<StoredRow>)>,
    sure: oneshot::Receiver<()>,
) -> Result<(), StoreError> {
    let mut client: Object = pool(address, password)?.get().await.map_err(unreachable)?;
    let change = client.transaction().await.map_err(fault)?;
    change.batch_execute(PATIENT).await.map_err(fault)?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&SCHEMA_LOCK]).await.map_err(fault)?;
    if schema(&change).await?.is_some() {
        return Err(StoreError::Unwritten(
            "this database has a store already: restore into another one".into(),
        ));
    }
    schema::tables(&change).await?;
    while let Some((number, rows)) = rows.recv().await {
        let table = &TABLES[number];
        let count = table.columns.len() + usize::from(table.summed);
        let places: Vec<String> = (1..=count).map(|place| format!("${place}")).collect();
        let insert = format!(
            "INSERT INTO undertone.{} ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
            table.name,
            table.names(""),
            places.join(", ")
        );
        let insert = change.prepare_cached(&insert).await.map_err(fault)?;
        for StoredRow { cells, sum } in &rows {
            let kinds = table.columns.iter().map(|(_, kind)| *kind);
            let values: Vec<_> =
                cells.iter().zip(kinds).map(|(cell, kind)| value(cell, kind)).collect();
            let mut values: Vec<&(dyn ToSql + Sync)> =
                values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
            if let Some(sum) = sum {
                values.push(sum);
            }
            change.execute(&insert, &values).await.map_err(fault)?;
        }
    }
    for table in TABLES.iter().filter(|table| table.numbered) {
        let (name, (id, _)) = (table.name, table.columns[0]);
        // New rows are numbered behind those that are there.
        let next = format!(
            "SELECT setval(pg_get_serial_sequence('undertone.{name}', '{id}'),
             coalesce((SELECT max({id}) FROM undertone.{name}), 0) + 1, false)"
        );
        change.query_one(&next, &[]).await.map_err(fault)?;
    }
    if sure.await.is_err() {
        return Err(StoreError::Unavailable(
            "what was to be restored did not come to its end".into(),
        ));
    }
    change.commit().await.map_err(fault)
}
