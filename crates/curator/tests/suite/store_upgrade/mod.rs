//! Stores of an earlier program: they are upgraded when they are opened, and what they counted stays counted once.

mod schema_1;

use crate::common::postgres;
use crate::crash::{batch, folded, options, prepare, tally};
use std::sync::Arc;
use undertone_curator::store::{self, Faults, Options, Store, StoreError};

const COLUMNS: [(&str, &str); 9] = [
    ("meta", "name, value"),
    ("survey", "id, version, document"),
    ("event", "survey, seq, at, kind, detail, previous, hash"),
    ("policy", "id, name, outputs, bits, bytes"),
    ("round", "id, survey, number, state, opened, sealed, released, swept"),
    ("tally", "round, policy, position, reports, duplicates, counts"),
    ("batch", "seq, round, policy, reports, rows"),
    ("run", "id, round, ids, target"),
    ("chunk", "run, first, ids"),
];

/// Counted reports in several runs, and some that wait.
async fn fill(address: &str) {
    prepare(address).await;
    let store = store::open_with(address, options(Faults::none())).await.unwrap();
    for number in 1..60 {
        store.append(vec![batch(number)]).await.unwrap();
        store.fold().await.unwrap();
    }
    folded(&store).await;
    for number in 50..70 {
        store.append(vec![batch(number)]).await.unwrap();
    }
}

/// After the upgrade everything is sound, and repetitions of what was counted before it are still struck out.
async fn upgraded(address: &str) {
    let nothing = |_| {};
    let old = store::check(address, &Options::default(), &nothing).await;
    assert_eq!(old, Err(StoreError::Older { found: 1, known: 2 }));
    let store: Arc<dyn Store> = store::open_with(address, options(Faults::none())).await.unwrap();
    let checked = store::check(address, &Options::default(), &nothing).await.unwrap();
    assert_eq!(checked.faults, Vec::<String>::new());
    assert!(checked.reports > 500 && checked.waiting > 100 && checked.ids == checked.reports);
    for number in 1..80 {
        store.append(vec![batch(number)]).await.unwrap();
    }
    assert_eq!(folded(&store).await, tally(&(1..80).collect::<Vec<u64>>()));
    let checked = store::check(address, &Options::default(), &nothing).await.unwrap();
    assert!(checked.is_sound(), "{:?}", checked.faults);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_store_of_schema_1() {
    let directory = tempfile::tempdir().unwrap();
    let (new, old) = (directory.path().join("new.db"), directory.path().join("old.db"));
    fill(&format!("sqlite:{}", new.display())).await;
    let make = rusqlite::Connection::open(&old).unwrap();
    make.execute_batch(schema_1::SQLITE).unwrap();
    make.execute_batch(&format!("DELETE FROM meta; ATTACH '{}' AS new", new.display())).unwrap();
    for (table, columns) in COLUMNS {
        let copy = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}");
        make.execute_batch(&copy).unwrap();
    }
    make.execute_batch("UPDATE meta SET value = 1 WHERE name = 'schema'").unwrap();
    drop(make);
    upgraded(&format!("sqlite:{}", old.display())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_store_of_schema_1() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("yesterday");
    fill(&address).await;
    let mut make = String::from("ALTER SCHEMA undertone RENAME TO fresh; CREATE SCHEMA undertone;");
    make += schema_1::POSTGRESQL;
    make += "DELETE FROM undertone.meta;";
    for (table, columns) in COLUMNS {
        let copy = "OVERRIDING SYSTEM VALUE SELECT";
        make += &format!(
            "INSERT INTO undertone.{table} ({columns}) {copy} {columns} FROM fresh.{table};"
        );
    }
    for table in ["policy", "round", "batch", "run"] {
        let id = if table == "batch" { "seq" } else { "id" };
        make += &format!(
            "SELECT setval(pg_get_serial_sequence('undertone.{table}', '{id}'),
             (SELECT coalesce(max({id}), 0) + 1 FROM undertone.{table}), false);"
        );
    }
    make += "UPDATE undertone.meta SET value = 1 WHERE name = 'schema'; DROP SCHEMA fresh CASCADE";
    server.sql("yesterday", &make);
    upgraded(&address).await;
    // A curator of the earlier version can no longer store reports without a checksum.
    let late = "INSERT INTO undertone.batch (round, policy, reports, rows) SELECT 1, 1, 1, '\\x00'";
    let caught =
        format!("DO $$ BEGIN {late}; EXCEPTION WHEN not_null_violation THEN RETURN; END $$");
    server.sql("yesterday", &caught);
    assert_eq!(server.sql("yesterday", "SELECT count(*) FROM undertone.batch"), "0");
}
