//! How large the database has grown, asked no more often than needed.

use super::connect::fault;
use crate::store::StoreError;
use deadpool_postgres::Object;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How old a measurement may be: other curators write to the same database.
const FRESH: Duration = Duration::from_secs(1);
/// How old a measurement may be that found the database too large: refusing should cost little.
const FRESH_AT_LIMIT: Duration = Duration::from_millis(200);

/// Tables with their indices, dead rows and free pages: what they take on the disk.
const MEASURE: &str = "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'undertone' AND relkind = 'r'";

/// The size a writer goes by: the last measurement, and what it has written since.
pub(super) struct Size {
    most: Option<u64>,
    bytes: u64,
    measured: Option<Instant>,
}

impl Size {
    pub(super) fn new(most: Option<u64>) -> Self {
        Self { most, bytes: 0, measured: None }
    }

    /// Refuses if the database is as large as it may be.
    pub(super) async fn check(&mut self, client: &Object) -> Result<(), StoreError> {
        let Some(most) = self.most else { return Ok(()) };
        let fresh = if self.bytes >= most { FRESH_AT_LIMIT } else { FRESH };
        if self.measured.is_none_or(|at| at.elapsed() > fresh) {
            self.bytes = measured(client).await?;
            self.measured = Some(Instant::now());
        }
        if self.bytes >= most { Err(StoreError::AtLimit { most }) } else { Ok(()) }
    }

    /// Adds what was written. Rows take a page or a part of one, and their index a little.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.bytes += bytes as u64 + bytes as u64 / 16;
    }
}

/// How many bytes the tables take on the disk.
pub(super) async fn measured(client: &Object) -> Result<u64, StoreError> {
    super::catalogue::whole(&client.query_one(MEASURE, &[]).await.map_err(fault)?, 0)
}

/// Whether reports were refused for the database's size, so that folding gives freed space back.
#[derive(Default)]
pub(super) struct Refusing(AtomicBool);

impl Refusing {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Gives the space of deleted rows back, once after refusals. Autovacuum does it too, but only after
    /// thousands of rows.
    pub(super) async fn relieve(&self, client: &Object) -> Result<(), StoreError> {
        if !self.0.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        for statement in ["VACUUM undertone.batch", "VACUUM undertone.chunk"] {
            client.batch_execute(statement).await.map_err(fault)?;
        }
        Ok(())
    }
}
