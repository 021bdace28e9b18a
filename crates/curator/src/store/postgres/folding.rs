//! The statements of folding for PostgreSQL, and a step of it: one transaction, and one curator at a time has the lock
//! for it.

use super::FOLD_LOCK;
use super::catalogue::{read_slot, round_row, set_round, whole};
use super::connect::fault;
use crate::store::fold::{Arrivals, ChunkStart, FoldSql, PolicySlot, Run, Step, Taken};
use crate::store::row::{TallyRow, chunk_sum, run_sum, verified_chunk, verify_batch};
use crate::store::{Options, Progress, StoreError};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use undertone_wire::ID_BYTES;

type Outcome<T> = Result<T, StoreError>;

/// Chunks written at once.
const PAGE: usize = 512;
/// Rows of arrivals read at once: up to 32 MiB.
const ROWS: usize = 4096;

/// One step; `None` if there was nothing to do.
pub(super) async fn step(
    client: &mut Object,
    options: &Options,
    tidy_first: bool,
) -> Outcome<Option<(Step, Progress)>> {
    let change = client.transaction().await.map_err(fault)?;
    execute(&change, "SELECT pg_advisory_xact_lock($1)", &[&FOLD_LOCK]).await?;
    let Some(step) = Step::prepare(&change, options, tidy_first).await? else { return Ok(None) };
    let progress = step.perform(&change, options).await?;
    let (written, committed) = step.points();
    options.faults.at(written);
    change.commit().await.map_err(fault)?;
    options.faults.at(committed);
    Ok(Some((step, progress)))
}

type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

async fn execute(change: &Transaction<'_>, statement: &str, values: Values<'_>) -> Outcome<u64> {
    let prepared = change.prepare_cached(statement).await.map_err(fault)?;
    change.execute(&prepared, values).await.map_err(fault)
}

async fn select(
    change: &Transaction<'_>,
    statement: &str,
    values: Values<'_>,
) -> Outcome<Vec<Row>> {
    let prepared = change.prepare_cached(statement).await.map_err(fault)?;
    change.query(&prepared, values).await.map_err(fault)
}

async fn select_one(change: &Transaction<'_>, statement: &str, values: Values<'_>) -> Outcome<Row> {
    let prepared = change.prepare_cached(statement).await.map_err(fault)?;
    change.query_one(&prepared, values).await.map_err(fault)
}

impl FoldSql for Transaction<'_> {
    async fn arrivals(&self, most: usize, into: &mut Arrivals) -> Outcome<Taken> {
        // A full row holds some hundred reports and a page; rows of a quiet hour hold few.
        let limit = most.clamp(1, ROWS) as i64;
        let statement =
            "SELECT seq, batch.round, batch.policy, outputs, bits, rows, reports, batch.checksum
             FROM undertone.batch
             JOIN undertone.policy ON policy.id = batch.policy ORDER BY seq LIMIT $1";
        let rows = select(self, statement, &[&limit]).await?;
        let more = rows.len() as i64 == limit;
        let mut batches = Vec::new();
        for row in rows {
            if into.reports() >= most {
                break;
            }
            let slot = read_slot(&row, 1)?;
            verify_batch((slot.round, slot.policy), row.get(6), row.get(5), row.get(7))?;
            into.push(slot, row.get(5))?;
            batches.push(row.get(0));
        }
        Ok(Taken { batches, more })
    }

    async fn has_arrivals(&self, round: Option<i64>) -> Outcome<bool> {
        let statement = "SELECT EXISTS (SELECT 1 FROM undertone.batch
             WHERE $1::bigint IS NULL OR round = $1)";
        Ok(select_one(self, statement, &[&round]).await?.get(0))
    }

    async fn delete_batches(&self, taken: &[i64]) -> Outcome<()> {
        // One for one: a batch with a lower number may commit after these were read.
        let statement = "DELETE FROM undertone.batch WHERE seq = ANY ($1)";
        execute(self, statement, &[&taken]).await.map(drop)
    }

    async fn runs(&self, round: i64) -> Outcome<Vec<Run>> {
        let statement =
            "SELECT id, ids, target, checksum FROM undertone.run WHERE round = $1 ORDER BY id";
        let rows = select(self, statement, &[&round]).await?;
        let run = |row: &Row| {
            let run = Run { id: row.get(0), ids: whole(row, 1)?, target: row.get(2) };
            run.verified(round, row.get(3))
        };
        rows.iter().map(run).collect()
    }

    async fn merging(&self) -> Outcome<Option<(i64, i64)>> {
        let statement =
            "SELECT round, target FROM undertone.run JOIN undertone.round ON round.id = run.round
             WHERE target IS NOT NULL AND state = 0 ORDER BY target LIMIT 1";
        let rows = select(self, statement, &[]).await?;
        Ok(rows.first().map(|row| (row.get(0), row.get(1))))
    }

    async fn unswept(&self) -> Outcome<Option<i64>> {
        let statement = "SELECT id FROM undertone.round WHERE state <> 0 AND NOT swept LIMIT 1";
        Ok(select(self, statement, &[]).await?.first().map(|row| row.get(0)))
    }

    async fn is_untidy(&self) -> Outcome<bool> {
        let statement = "SELECT EXISTS (SELECT 1 FROM undertone.run WHERE target IS NOT NULL)
             OR EXISTS (SELECT 1 FROM undertone.round WHERE state <> 0 AND NOT swept)";
        Ok(select_one(self, statement, &[]).await?.get(0))
    }

    async fn chunks(&self, run: i64, from: ChunkStart<'_>, limit: usize) -> Outcome<Vec<Vec<u8>>> {
        let (statement, first) = match from {
            ChunkStart::Holding(id) => (
                "SELECT ids, checksum FROM undertone.chunk WHERE run = $1 AND first >= coalesce(
                    (SELECT first FROM undertone.chunk WHERE run = $1 AND first <= $2
                     ORDER BY first DESC LIMIT 1), ''::bytea) ORDER BY first LIMIT $3",
                &id[..],
            ),
            ChunkStart::After(first) => (
                "SELECT ids, checksum FROM undertone.chunk WHERE run = $1 AND first > $2
                 ORDER BY first LIMIT $3",
                first,
            ),
        };
        let rows = select(self, statement, &[&run, &first, &(limit as i64)]).await?;
        rows.iter().map(|row| verified_chunk(run, row.get(0), row.get(1))).collect()
    }

    async fn chunks_holding(&self, run: i64, ids: &[[u8; ID_BYTES]]) -> Outcome<Vec<Vec<u8>>> {
        let statement =
            "SELECT found.ids, found.checksum FROM unnest($2::bytea[]) AS wanted (id) CROSS JOIN LATERAL
             (SELECT ids, checksum FROM undertone.chunk WHERE run = $1 AND first <= wanted.id
              ORDER BY first DESC LIMIT 1) AS found";
        let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
        let rows = select(self, statement, &[&run, &ids]).await?;
        rows.iter().map(|row| verified_chunk(run, row.get(0), row.get(1))).collect()
    }

    async fn new_run(&self, round: i64, ids: u64) -> Outcome<i64> {
        let statement =
            "INSERT INTO undertone.run (round, ids, checksum) VALUES ($1, $2, $3) RETURNING id";
        let sum = run_sum(round, ids, None);
        Ok(select_one(self, statement, &[&round, &(ids as i64), &sum]).await?.get(0))
    }

    async fn insert_chunks(&self, run: i64, chunks: &[Vec<u8>]) -> Outcome<()> {
        let statement = "INSERT INTO undertone.chunk (run, first, ids, checksum)
             SELECT $1, substring(ids FOR 16), ids, sum FROM unnest($2::bytea[], $3::bigint[]) AS new (ids, sum)";
        for some in chunks.chunks(PAGE) {
            let sums: Vec<i64> = some.iter().map(|ids| chunk_sum(run, ids)).collect();
            execute(self, statement, &[&run, &some, &sums]).await?;
        }
        Ok(())
    }

    async fn set_target(&self, round: i64, runs: &[Run], target: i64) -> Outcome<()> {
        let statement = "UPDATE undertone.run SET target = $2, checksum = new.sum
             FROM unnest($1::bigint[], $3::bigint[]) AS new (run, sum) WHERE id = new.run";
        let sums = runs.iter().map(|run| run_sum(round, run.ids, Some(target)));
        let (sums, runs): (Vec<i64>, Vec<i64>) = sums.zip(runs.iter().map(|run| run.id)).unzip();
        execute(self, statement, &[&runs, &target, &sums]).await.map(drop)
    }

    async fn delete_chunks(&self, runs: &[i64], up_to: &[u8; ID_BYTES]) -> Outcome<()> {
        let statement = "DELETE FROM undertone.chunk WHERE run = ANY ($1) AND first <= $2";
        execute(self, statement, &[&runs, &&up_to[..]]).await.map(drop)
    }

    async fn delete_runs(&self, runs: &[i64]) -> Outcome<()> {
        execute(self, "DELETE FROM undertone.run WHERE id = ANY ($1)", &[&runs]).await.map(drop)
    }

    async fn tally(&self, slot: PolicySlot) -> Outcome<TallyRow> {
        let statement =
            "SELECT position, reports, duplicates, counts, checksum FROM undertone.tally
             WHERE round = $1 AND policy = $2";
        let row = select_one(self, statement, &[&slot.round, &slot.policy]).await?;
        let tally = TallyRow {
            round: slot.round,
            policy: slot.policy,
            position: row.get(0),
            reports: row.get(1),
            duplicates: row.get(2),
            counts: row.get(3),
        };
        tally.verified(row.get(4))
    }

    async fn set_tally(&self, tally: &TallyRow) -> Outcome<()> {
        let statement =
            "UPDATE undertone.tally SET reports = $3, duplicates = $4, counts = $5, checksum = $6
             WHERE round = $1 AND policy = $2";
        let TallyRow { round, policy, reports, duplicates, counts, .. } = tally;
        let values: Values<'_> = &[round, policy, reports, duplicates, counts, &tally.sum()];
        execute(self, statement, values).await.map(drop)
    }

    async fn sweep_chunks(&self, round: i64, limit: usize) -> Outcome<u64> {
        let statement =
            "DELETE FROM undertone.chunk WHERE (run, first) IN (SELECT run, first FROM undertone.chunk
             WHERE run IN (SELECT id FROM undertone.run WHERE round = $1) LIMIT $2)";
        execute(self, statement, &[&round, &(limit as i64)]).await
    }

    async fn finish_sweep(&self, round: i64) -> Outcome<()> {
        execute(self, "DELETE FROM undertone.run WHERE round = $1", &[&round]).await?;
        let mut row = round_row(self, round).await?;
        row.swept = true;
        set_round(self, &row).await
    }
}
