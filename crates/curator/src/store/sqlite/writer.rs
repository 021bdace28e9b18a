//! The one thread that writes: everything that waits shares its commit.

use super::catalogue::find_round;
use super::schema::{fault, used_bytes};
use crate::store::group::{Appending, GROUP_BYTES, pack, rounds};
use crate::store::row::batch_sum;
use crate::store::{Options, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use tokio::sync::mpsc::Receiver;

/// Something to write.
pub(super) enum Job {
    /// Reports, grouped with others.
    Append(Appending),
    /// Anything else, in a transaction of its own making.
    Run(Box<dyn FnOnce(&mut Connection) + Send>),
}

/// Works until every sender is gone.
pub(super) fn run(mut connection: Connection, mut jobs: Receiver<Job>, options: &Options) {
    let mut next = None;
    while let Some(job) = next.take().or_else(|| jobs.blocking_recv()) {
        match job {
            Job::Run(work) => work(&mut connection),
            Job::Append(first) => {
                let mut bytes = first.bytes();
                let mut group = vec![first];
                while bytes < GROUP_BYTES && next.is_none() {
                    match jobs.try_recv() {
                        Ok(Job::Append(another)) => {
                            bytes += another.bytes();
                            group.push(another);
                        }
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                commit(&mut connection, group, options);
            }
        }
    }
}

/// Stores a group and answers everybody in it. Who names a round that is not open is refused; the
/// others are not affected.
fn commit(connection: &mut Connection, mut group: Vec<Appending>, options: &Options) {
    let result = (|| {
        let change = begin(connection)?;
        if let Some(most) = options.max_bytes
            && used_bytes(&change)? >= most
        {
            return Err(StoreError::AtLimit { most });
        }
        let open = open_rounds(&change, rounds(&group))?;
        for late in group.extract_if(.., |one| one.is_late(&open)) {
            late.answer(Err(StoreError::RoundClosed));
        }
        {
            let mut insert = change
                .prepare_cached(
                    "INSERT INTO batch (round, policy, reports, checksum, rows)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .map_err(fault)?;
            for row in pack(&group) {
                let (reports, rows) = (row.reports as i64, row.rows);
                let sum = batch_sum(row.round, row.policy, reports, &rows);
                insert.execute((row.round, row.policy, reports, sum, rows)).map_err(fault)?;
            }
        }
        options.faults.at("append/inserted");
        change.commit().map_err(fault)?;
        options.faults.at("append/committed");
        Ok(())
    })();
    for one in group {
        one.answer(result.clone());
    }
}

fn open_rounds(change: &Transaction, rounds: BTreeSet<i64>) -> Result<BTreeSet<i64>, StoreError> {
    let mut open = BTreeSet::new();
    for round in rounds {
        // With its checksum: ids of a sealed round are gone, so taking its reports again would count them again.
        open.extend(find_round(change, round)?.filter(|row| row.is_open()).map(|row| row.id));
    }
    Ok(open)
}

/// A transaction that holds the write lock from the start, so that what it reads stays true.
pub(super) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, StoreError> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)
}
