//! The statements of folding for SQLite, and a step of it: prepared without the write lock, written in one transaction.
//! A counter makes sure that no other process folded in between.

use super::catalogue::{round_row, set_round};
use super::schema::{fault, whole};
use super::writer::begin;
use crate::store::fold::{Arrivals, ChunkStart, FoldSql, PolicySlot, Run, Step, Taken};
use crate::store::row::{TallyRow, chunk_sum, run_sum, verified_chunk, verify_batch};
use crate::store::{Options, Progress, StoreError};
use rusqlite::{Connection, OptionalExtension, Params, Transaction};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use undertone_wire::{ID_BYTES, TokenShape};

type Outcome<T> = Result<T, StoreError>;

/// A step, and how many came before it.
pub(super) struct Prepared {
    pub(super) step: Step,
    epoch: i64,
}

/// Works out the next step.
pub(super) fn prepare(
    connection: &mut Connection,
    options: &Options,
    tidy_first: bool,
) -> Outcome<Option<Prepared>> {
    let read = connection.transaction().map_err(fault)?;
    let epoch = epoch(&read)?;
    let step = at_once(Step::prepare(&read, options, tidy_first))?;
    Ok(step.map(|step| Prepared { step, epoch }))
}

/// Writes a step. `None` if somebody else folded in between: prepare again.
pub(super) fn perform(
    connection: &mut Connection,
    Prepared { step, epoch: before }: &Prepared,
    options: &Options,
) -> Outcome<Option<Progress>> {
    let change = begin(connection)?;
    if epoch(&change)? != *before {
        return Ok(None);
    }
    execute(&change, "UPDATE meta SET value = value + 1 WHERE name = 'fold'", [])?;
    let progress = at_once(step.perform(&change, options))?;
    let (written, committed) = step.points();
    options.faults.at(written);
    change.commit().map_err(fault)?;
    options.faults.at(committed);
    Ok(Some(progress))
}

/// What comes of work that never waits.
fn at_once<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(StoreError::Unavailable("a statement of SQLite did not end".into())),
    }
}

fn epoch(read: &Transaction) -> Outcome<i64> {
    read.query_row("SELECT value FROM meta WHERE name = 'fold'", [], |row| row.get(0))
        .map_err(fault)
}

fn execute(change: &Transaction, statement: &str, values: impl Params) -> Outcome<usize> {
    change
        .prepare_cached(statement)
        .and_then(|mut prepared| prepared.execute(values))
        .map_err(fault)
}

fn is_true(read: &Transaction, statement: &str, values: impl Params) -> Outcome<bool> {
    read.prepare_cached(statement)
        .and_then(|mut select| select.query_row(values, |row| row.get(0)))
        .map_err(fault)
}

/// The chunks of a run that a statement selects: ids and checksum.
fn chunks_of(
    read: &Transaction,
    run: i64,
    statement: &str,
    values: impl Params,
) -> Outcome<Vec<Vec<u8>>> {
    let mut select = read.prepare_cached(statement).map_err(fault)?;
    let mut rows = select.query(values).map_err(fault)?;
    let mut chunks = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let (ids, sum) = (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
        chunks.push(verified_chunk(run, ids, sum)?);
    }
    Ok(chunks)
}

impl FoldSql for Transaction<'_> {
    async fn arrivals(&self, most: usize, into: &mut Arrivals) -> Outcome<Taken> {
        let mut select = self
            .prepare_cached(
                "SELECT seq, round, batch.policy, outputs, bits, rows, reports, batch.checksum FROM batch
                 JOIN policy ON policy.id = batch.policy ORDER BY seq",
            )
            .map_err(fault)?;
        let mut rows = select.query([]).map_err(fault)?;
        let mut batches = Vec::new();
        while into.reports() < most {
            let Some(row) = rows.next().map_err(fault)? else { break };
            let slot = PolicySlot {
                round: row.get(1).map_err(fault)?,
                policy: row.get(2).map_err(fault)?,
                tokens: TokenShape {
                    outputs: row.get(3).map_err(fault)?,
                    bits: row.get(4).map_err(fault)?,
                },
            };
            let rows: Vec<u8> = row.get(5).map_err(fault)?;
            let (reports, sum) = (row.get(6).map_err(fault)?, row.get(7).map_err(fault)?);
            verify_batch((slot.round, slot.policy), reports, &rows, sum)?;
            into.push(slot, rows)?;
            batches.push(row.get(0).map_err(fault)?);
        }
        Ok(Taken { batches, more: false })
    }

    async fn has_arrivals(&self, round: Option<i64>) -> Outcome<bool> {
        let statement = "SELECT EXISTS (SELECT 1 FROM batch WHERE ?1 IS NULL OR round = ?1)";
        is_true(self, statement, [round])
    }

    async fn delete_batches(&self, taken: &[i64]) -> Outcome<()> {
        // Batches commit in the order of their numbers, so all up to the last one were read.
        execute(self, "DELETE FROM batch WHERE seq <= ?1", [taken.last()]).map(drop)
    }

    async fn runs(&self, round: i64) -> Outcome<Vec<Run>> {
        let statement = "SELECT id, ids, target, checksum FROM run WHERE round = ?1 ORDER BY id";
        let mut select = self.prepare_cached(statement).map_err(fault)?;
        let read = |row: &rusqlite::Row| {
            let run = Run { id: row.get(0)?, ids: whole(row, 1)?, target: row.get(2)? };
            Ok((run, row.get(3)?))
        };
        let rows = select.query_map([round], read).map_err(fault)?;
        rows.map(|row| row.map_err(fault).and_then(|(run, sum)| run.verified(round, sum))).collect()
    }

    async fn merging(&self) -> Outcome<Option<(i64, i64)>> {
        self.prepare_cached(
            "SELECT round, target FROM run JOIN round ON round.id = run.round
             WHERE target IS NOT NULL AND state = 0 ORDER BY target LIMIT 1",
        )
        .and_then(|mut select| {
            select.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(fault)
    }

    async fn unswept(&self) -> Outcome<Option<i64>> {
        self.query_row("SELECT id FROM round WHERE state <> 0 AND swept = 0 LIMIT 1", [], |row| {
            row.get(0)
        })
        .optional()
        .map_err(fault)
    }

    async fn is_untidy(&self) -> Outcome<bool> {
        let statement = "SELECT EXISTS (SELECT 1 FROM run WHERE target IS NOT NULL)
             OR EXISTS (SELECT 1 FROM round WHERE state <> 0 AND swept = 0)";
        is_true(self, statement, [])
    }

    async fn chunks(&self, run: i64, from: ChunkStart<'_>, limit: usize) -> Outcome<Vec<Vec<u8>>> {
        let limit = limit as i64;
        match from {
            ChunkStart::Holding(id) => {
                let statement =
                    "SELECT ids, checksum FROM chunk WHERE run = ?1 AND first >= coalesce(
                    (SELECT max(first) FROM chunk WHERE run = ?1 AND first <= ?2), x'')
                    ORDER BY first LIMIT ?3";
                chunks_of(self, run, statement, (run, id, limit))
            }
            ChunkStart::After(first) => {
                let statement = "SELECT ids, checksum FROM chunk WHERE run = ?1 AND first > ?2 ORDER BY first LIMIT ?3";
                chunks_of(self, run, statement, (run, first, limit))
            }
        }
    }

    async fn chunks_holding(&self, run: i64, ids: &[[u8; ID_BYTES]]) -> Outcome<Vec<Vec<u8>>> {
        let statement = "SELECT ids, checksum FROM chunk WHERE run = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1";
        let found: Outcome<Vec<_>> =
            ids.iter().map(|id| chunks_of(self, run, statement, (run, id))).collect();
        Ok(found?.concat())
    }

    async fn new_run(&self, round: i64, ids: u64) -> Outcome<i64> {
        let statement = "INSERT INTO run (round, ids, checksum) VALUES (?1, ?2, ?3)";
        execute(self, statement, (round, ids as i64, run_sum(round, ids, None)))?;
        Ok(self.last_insert_rowid())
    }

    async fn insert_chunks(&self, run: i64, chunks: &[Vec<u8>]) -> Outcome<()> {
        for chunk in chunks {
            let values = (run, &chunk[..ID_BYTES], chunk_sum(run, chunk), chunk);
            let statement = "INSERT INTO chunk (run, first, checksum, ids) VALUES (?1, ?2, ?3, ?4)";
            execute(self, statement, values)?;
        }
        Ok(())
    }

    async fn set_target(&self, round: i64, runs: &[Run], target: i64) -> Outcome<()> {
        for run in runs {
            let sum = run_sum(round, run.ids, Some(target));
            let statement = "UPDATE run SET target = ?2, checksum = ?3 WHERE id = ?1";
            execute(self, statement, (run.id, target, sum))?;
        }
        Ok(())
    }

    async fn delete_chunks(&self, runs: &[i64], up_to: &[u8; ID_BYTES]) -> Outcome<()> {
        for run in runs {
            execute(self, "DELETE FROM chunk WHERE run = ?1 AND first <= ?2", (run, up_to))?;
        }
        Ok(())
    }

    async fn delete_runs(&self, runs: &[i64]) -> Outcome<()> {
        for run in runs {
            execute(self, "DELETE FROM run WHERE id = ?1", [run])?;
        }
        Ok(())
    }

    async fn tally(&self, slot: PolicySlot) -> Outcome<TallyRow> {
        let (round, policy) = (slot.round, slot.policy);
        let read = |row: &rusqlite::Row| {
            let tally = TallyRow {
                round,
                policy,
                position: row.get(0)?,
                reports: row.get(1)?,
                duplicates: row.get(2)?,
                counts: row.get(4)?,
            };
            Ok((tally, row.get(3)?))
        };
        let (tally, sum) = self
            .prepare_cached(
                "SELECT position, reports, duplicates, checksum, counts FROM tally
                 WHERE round = ?1 AND policy = ?2",
            )
            .and_then(|mut select| select.query_row((round, policy), read))
            .map_err(fault)?;
        tally.verified(sum)
    }

    async fn set_tally(&self, tally: &TallyRow) -> Outcome<()> {
        let statement = "UPDATE tally SET reports = ?3, duplicates = ?4, checksum = ?5, counts = ?6
             WHERE round = ?1 AND policy = ?2";
        let TallyRow { round, policy, reports, duplicates, counts, .. } = tally;
        let values = (round, policy, reports, duplicates, tally.sum(), counts);
        execute(self, statement, values).map(drop)
    }

    async fn sweep_chunks(&self, round: i64, limit: usize) -> Outcome<u64> {
        let statement = "DELETE FROM chunk WHERE rowid IN (SELECT chunk.rowid FROM run
             JOIN chunk ON chunk.run = run.id WHERE round = ?1 LIMIT ?2)";
        execute(self, statement, (round, limit as i64)).map(|gone| gone as u64)
    }

    async fn finish_sweep(&self, round: i64) -> Outcome<()> {
        execute(self, "DELETE FROM run WHERE round = ?1", [round])?;
        let mut row = round_row(self, round)?;
        row.swept = true;
        set_round(self, &row)
    }
}
