//! The tables.

use super::SCHEMA_LOCK;
use super::connect::fault;
use crate::store::StoreError;
use deadpool_postgres::Object;

/// The newest schema this program knows.
const KNOWN: u64 = 1;

/// `batch` has no index but on its own ascending number; rows of up to a page stay in the table, as they
/// are. `chunk` is written in runs, each in ascending order.
const TABLES: &str = "
CREATE TABLE undertone.meta (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE undertone.survey (id text PRIMARY KEY, version bigint NOT NULL, document text NOT NULL);
CREATE TABLE undertone.event (survey text NOT NULL, seq bigint NOT NULL, at bigint NOT NULL,
    kind text NOT NULL, detail text NOT NULL, previous bytea NOT NULL, hash bytea NOT NULL,
    PRIMARY KEY (survey, seq));
CREATE TABLE undertone.policy (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea NOT NULL UNIQUE, outputs bigint NOT NULL, bits boolean NOT NULL, bytes bytea NOT NULL);
CREATE TABLE undertone.round (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, survey text NOT NULL,
    number bigint NOT NULL, state bigint NOT NULL, opened bigint NOT NULL, sealed bigint, released bigint,
    swept boolean NOT NULL DEFAULT false, UNIQUE (survey, number));
CREATE INDEX round_to_sweep ON undertone.round (id) WHERE state <> 0 AND NOT swept;
CREATE TABLE undertone.tally (round bigint NOT NULL, policy bigint NOT NULL, position bigint NOT NULL,
    reports bigint NOT NULL, duplicates bigint NOT NULL, counts bytea NOT NULL, PRIMARY KEY (round, policy));
CREATE TABLE undertone.batch (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    policy bigint NOT NULL, reports bigint NOT NULL, rows bytea NOT NULL)
    WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE TABLE undertone.run (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    ids bigint NOT NULL, target bigint);
CREATE INDEX run_of_round ON undertone.run (round);
CREATE INDEX run_in_merge ON undertone.run (target) WHERE target IS NOT NULL;
CREATE TABLE undertone.chunk (run bigint NOT NULL, first bytea NOT NULL, ids bytea NOT NULL,
    PRIMARY KEY (run, first)) WITH (toast_tuple_target = 8160);
ALTER TABLE undertone.batch ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE undertone.chunk ALTER COLUMN ids SET STORAGE EXTERNAL;
INSERT INTO undertone.meta VALUES ('schema', 1);
";

/// Makes the tables, or checks their version.
pub(super) async fn create(client: &mut Object) -> Result<(), StoreError> {
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
    } else {
        change.batch_execute("CREATE SCHEMA IF NOT EXISTS undertone").await.map_err(fault)?;
        change.batch_execute(TABLES).await.map_err(fault)?;
    }
    let row = change.query_one("SHOW fsync", &[]).await.map_err(fault)?;
    if row.get::<_, &str>(0) == "off" {
        tracing::warn!("PostgreSQL runs with fsync off: a power cut can lose acknowledged reports");
    }
    change.commit().await.map_err(fault)
}
