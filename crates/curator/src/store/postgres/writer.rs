//! The one task of a curator that appends: everything that waits shares its commit.

use super::catalogue::read_round;
use super::connect::{fault, unreachable};
use super::round_lock;
use super::size::{Refusing, Size};
use crate::store::group::{Appending, GROUP_BYTES, pack, rounds};
use crate::store::row::{ROUND, batch_sum};
use crate::store::{Faults, Options, StoreError};
use deadpool_postgres::{Object, Pool};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// A commit that takes longer is given up; whether it happened is then unknown.
const PATIENCE: Duration = Duration::from_secs(60);

/// Works until every sender is gone.
pub(super) async fn run(
    pool: Pool,
    mut queue: Receiver<Appending>,
    options: Options,
    refusing: Arc<Refusing>,
) {
    let mut size = Size::new(options.max_bytes);
    while let Some(first) = queue.recv().await {
        let mut bytes = first.bytes();
        let mut group = vec![first];
        while bytes < GROUP_BYTES
            && let Ok(another) = queue.try_recv()
        {
            bytes += another.bytes();
            group.push(another);
        }
        let attempt = attempt(&pool, &mut group, &options.faults, &mut size);
        let result = match tokio::time::timeout(PATIENCE, attempt).await {
            Ok(result) => result,
            Err(_) => Err(StoreError::Unavailable("the database did not answer in time".into())),
        };
        match result {
            Ok(()) => size.wrote(bytes),
            Err(StoreError::AtLimit { .. }) => refusing.note(),
            Err(_) => {}
        }
        for one in group {
            one.answer(result.clone());
        }
    }
}

async fn attempt(
    pool: &Pool,
    group: &mut Vec<Appending>,
    faults: &Faults,
    size: &mut Size,
) -> Result<(), StoreError> {
    let mut client = pool.get().await.map_err(unreachable)?;
    size.check(&client).await?;
    let result = commit(&mut client, group, faults).await;
    if matches!(result, Err(StoreError::Unavailable(_))) {
        // Never again a connection in an unknown state.
        drop(Object::take(client));
    }
    result
}

/// Stores a group. Who names a round that is not open is refused and leaves the group; the shared
/// locks keep the others open until the commit.
async fn commit(
    client: &mut Object,
    group: &mut Vec<Appending>,
    faults: &Faults,
) -> Result<(), StoreError> {
    let change = client.transaction().await.map_err(fault)?;
    let lock = change
        .prepare_cached("SELECT pg_advisory_xact_lock_shared(key) FROM unnest($1::bigint[]) AS key")
        .await
        .map_err(fault)?;
    let select = change
        .prepare_cached(&format!(
            "SELECT {} FROM undertone.round WHERE id = ANY ($1) AND state = 0",
            ROUND.names("")
        ))
        .await
        .map_err(fault)?;
    let insert = change
        .prepare_cached(
            "INSERT INTO undertone.batch (round, policy, reports, rows, checksum)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])",
        )
        .await
        .map_err(fault)?;
    let wanted: Vec<i64> = rounds(group).into_iter().collect();
    let locks: Vec<i64> = wanted.iter().map(|&round| round_lock(round)).collect();
    // A statement of its own, which therefore sees what was committed before the locks were had.
    change.query(&lock, &[&locks]).await.map_err(fault)?;
    let open = change.query(&select, &[&wanted]).await.map_err(fault)?;
    // With their checksums: ids of a sealed round are gone, so taking its reports again would count them again.
    let open = open.iter().map(read_round).collect::<Result<Vec<_>, _>>()?;
    let open: BTreeSet<i64> = open.iter().filter(|row| row.is_open()).map(|row| row.id).collect();
    for late in group.extract_if(.., |one| one.is_late(&open)) {
        late.answer(Err(StoreError::RoundClosed));
    }
    let rows = pack(group);
    let rounds: Vec<i64> = rows.iter().map(|row| row.round).collect();
    let policies: Vec<i64> = rows.iter().map(|row| row.policy).collect();
    let reports: Vec<i64> = rows.iter().map(|row| row.reports as i64).collect();
    let bodies: Vec<&[u8]> = rows.iter().map(|row| &row.rows[..]).collect();
    let sums: Vec<i64> = rows
        .iter()
        .map(|row| batch_sum(row.round, row.policy, row.reports as i64, &row.rows))
        .collect();
    change
        .execute(&insert, &[&rounds, &policies, &reports, &bodies, &sums])
        .await
        .map_err(fault)?;
    faults.at("append/inserted");
    change.commit().await.map_err(fault)?;
    faults.at("append/committed");
    Ok(())
}
