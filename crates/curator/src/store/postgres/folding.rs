//! Folding: one step is one transaction, and one curator at a time has the lock for it.

use super::FOLD_LOCK;
use super::catalogue::{read_slot, whole};
use super::connect::fault;
use crate::store::fold::{
    Arrivals, Delta, Lane, Merged, Run, Sorted, check_chunk, decode, encode, merge, plan,
};
use crate::store::{Options, Progress, StoreError};
use deadpool_postgres::{Object, Transaction};

type Outcome<T> = Result<T, StoreError>;

/// Chunks read at once.
const PAGE: usize = 512;
/// Rows of arrivals read at once: up to 32 MiB.
const ROWS: usize = 4096;

/// What a step did.
pub(super) enum Done {
    Counted(Progress),
    Tidied(Progress),
    Nothing,
}

/// One step; `tidy` puts merging before counting.
pub(super) async fn step(client: &mut Object, options: &Options, tidy: bool) -> Outcome<Done> {
    let change = client.transaction().await.map_err(fault)?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&FOLD_LOCK]).await.map_err(fault)?;
    let (mut done, written, committed) = if tidy && merge_some(&change, options).await? {
        (Done::Tidied(Progress::default()), "merge/written", "merge/committed")
    } else if let Some(progress) = count(&change, options).await? {
        (Done::Counted(progress), "fold/written", "fold/committed")
    } else if !tidy && merge_some(&change, options).await? || sweep(&change, options).await? {
        (Done::Tidied(Progress::default()), "merge/written", "merge/committed")
    } else {
        return Ok(Done::Nothing);
    };
    let row = change
        .query_one(
            "SELECT EXISTS (SELECT 1 FROM undertone.run WHERE target IS NOT NULL)
             OR EXISTS (SELECT 1 FROM undertone.round WHERE state <> 0 AND NOT swept),
             EXISTS (SELECT 1 FROM undertone.batch)",
            &[],
        )
        .await
        .map_err(fault)?;
    let (untidy, arrivals): (bool, bool) = (row.get(0), row.get(1));
    match &mut done {
        Done::Counted(progress) => progress.more |= untidy,
        Done::Tidied(progress) => progress.more = untidy || arrivals,
        Done::Nothing => {}
    }
    options.faults.at(written);
    change.commit().await.map_err(fault)?;
    options.faults.at(committed);
    Ok(done)
}

async fn count(change: &Transaction<'_>, options: &Options) -> Outcome<Option<Progress>> {
    let select = change
        .prepare_cached(
            "SELECT seq, batch.round, batch.policy, outputs, bits, rows FROM undertone.batch
             JOIN undertone.policy ON policy.id = batch.policy ORDER BY seq LIMIT $1",
        )
        .await
        .map_err(fault)?;
    // A full row holds some hundred reports and a page; rows of a quiet hour hold few.
    let limit = options.step_reports.clamp(1, ROWS) as i64;
    let mut arrivals = Arrivals::default();
    let mut taken: Vec<i64> = Vec::new();
    let rows = change.query(&select, &[&limit]).await.map_err(fault)?;
    let full = rows.len() as i64 == limit;
    for row in rows {
        if arrivals.reports() >= options.step_reports {
            break;
        }
        arrivals.push(read_slot(&row, 1)?, row.get(5))?;
        taken.push(row.get(0));
    }
    if taken.is_empty() {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for (round, mut sorted) in arrivals.sort() {
        for run in runs(change, round).await? {
            strike(change, run, &mut sorted, options).await?;
        }
        parts.push((round, sorted));
    }
    options.faults.at("fold/read");
    // By number, one for one: a batch with a lower number may commit after this was read.
    change
        .execute("DELETE FROM undertone.batch WHERE seq = ANY ($1)", &[&taken])
        .await
        .map_err(fault)?;
    let more = full || arrivals.reports() >= options.step_reports;
    let mut progress = Progress { more, ..Progress::default() };
    for (round, sorted) in parts {
        let (ids, chunks) = sorted.chunks(options.chunk_ids);
        if ids > 0 {
            let run = new_run(change, round, ids).await?;
            insert(change, run, &chunks).await?;
            schedule(change, round, options).await?;
        }
        for delta in arrivals.count(&sorted) {
            progress.folded += delta.reports;
            progress.duplicates += delta.duplicates;
            add(change, &delta).await?;
        }
    }
    Ok(Some(progress))
}

async fn runs(change: &Transaction<'_>, round: i64) -> Outcome<Vec<Run>> {
    let rows = change
        .query("SELECT id, ids, target FROM undertone.run WHERE round = $1 ORDER BY id", &[&round])
        .await
        .map_err(fault)?;
    rows.iter()
        .map(|row| Ok(Run { id: row.get(0), ids: whole(row, 1)?, target: row.get(2) }))
        .collect()
}

/// Strikes out the arrivals that are in the run: reads it from end to end if most chunks matter,
/// else only chunks that may hold an arrival.
async fn strike(
    change: &Transaction<'_>,
    run: Run,
    sorted: &mut Sorted,
    options: &Options,
) -> Outcome<()> {
    let dense = sorted.len() as u64 * 4 >= run.ids / options.chunk_ids as u64;
    if !dense {
        return look_up(change, run, sorted).await;
    }
    let Some(least) = sorted.id(0) else { return Ok(()) };
    let start = change
        .query_opt(
            "SELECT first FROM undertone.chunk WHERE run = $1 AND first <= $2
             ORDER BY first DESC LIMIT 1",
            &[&run.id, &&least[..]],
        )
        .await
        .map_err(fault)?;
    let mut start: Vec<u8> = start.map(|row| row.get(0)).unwrap_or_default();
    let select = change
        .prepare_cached(
            "SELECT ids FROM undertone.chunk WHERE run = $1 AND first >= $2 ORDER BY first LIMIT $3",
        )
        .await
        .map_err(fault)?;
    let mut at = 0;
    loop {
        let rows =
            change.query(&select, &[&run.id, &start, &(PAGE as i64)]).await.map_err(fault)?;
        for row in &rows {
            let ids: &[u8] = row.get(0);
            check_chunk(ids)?;
            at = sorted.strike(at, ids);
            start = ids[..16].to_vec();
        }
        if rows.len() < PAGE || at >= sorted.len() {
            return Ok(());
        }
        // The least text that is greater.
        start.push(0);
    }
}

async fn look_up(change: &Transaction<'_>, run: Run, sorted: &mut Sorted) -> Outcome<()> {
    let select = change
        .prepare_cached(
            "SELECT found.ids FROM unnest($2::bytea[]) AS wanted (id) CROSS JOIN LATERAL
             (SELECT ids FROM undertone.chunk WHERE run = $1 AND first <= wanted.id
              ORDER BY first DESC LIMIT 1) AS found",
        )
        .await
        .map_err(fault)?;
    for start in (0..sorted.len()).step_by(PAGE) {
        let wanted: Vec<[u8; 16]> =
            (start..sorted.len().min(start + PAGE)).filter_map(|at| sorted.id(at)).collect();
        let wanted: Vec<&[u8]> = wanted.iter().map(|id| &id[..]).collect();
        for row in change.query(&select, &[&run.id, &wanted]).await.map_err(fault)? {
            let ids: &[u8] = row.get(0);
            check_chunk(ids)?;
            sorted.strike(0, ids);
        }
    }
    Ok(())
}

async fn new_run(change: &Transaction<'_>, round: i64, ids: u64) -> Outcome<i64> {
    let row = change
        .query_one(
            "INSERT INTO undertone.run (round, ids) VALUES ($1, $2) RETURNING id",
            &[&round, &(ids as i64)],
        )
        .await
        .map_err(fault)?;
    Ok(row.get(0))
}

async fn insert(change: &Transaction<'_>, run: i64, chunks: &[Vec<u8>]) -> Outcome<()> {
    let insert = change
        .prepare_cached(
            "INSERT INTO undertone.chunk (run, first, ids)
             SELECT $1, substring(ids FOR 16), ids FROM unnest($2::bytea[]) AS new (ids)",
        )
        .await
        .map_err(fault)?;
    for some in chunks.chunks(PAGE) {
        change.execute(&insert, &[&run, &some]).await.map_err(fault)?;
    }
    Ok(())
}

async fn add(change: &Transaction<'_>, delta: &Delta) -> Outcome<()> {
    let (round, policy) = (delta.slot.round, delta.slot.policy);
    let row = change
        .query_one(
            "SELECT counts FROM undertone.tally WHERE round = $1 AND policy = $2",
            &[&round, &policy],
        )
        .await
        .map_err(fault)?;
    let mut counts = decode(row.get(0), delta.slot.tokens.outputs)?;
    counts.iter_mut().zip(&delta.counts).for_each(|(count, more)| *count += more);
    let (reports, duplicates) = (delta.reports as i64, delta.duplicates as i64);
    change
        .execute(
            "UPDATE undertone.tally SET reports = reports + $3, duplicates = duplicates + $4, counts = $5
             WHERE round = $1 AND policy = $2",
            &[&round, &policy, &reports, &duplicates, &encode(&counts)],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

/// Marks runs of like size for merging.
async fn schedule(change: &Transaction<'_>, round: i64, options: &Options) -> Outcome<()> {
    if let Some(sources) = plan(&runs(change, round).await?, options.fan, options.chunk_ids) {
        let target = new_run(change, round, sources.iter().map(|run| run.ids).sum()).await?;
        let sources: Vec<i64> = sources.iter().map(|run| run.id).collect();
        change
            .execute(
                "UPDATE undertone.run SET target = $2 WHERE id = ANY ($1)",
                &[&sources, &target],
            )
            .await
            .map_err(fault)?;
    }
    Ok(())
}

/// Moves some ids of a merge that is under way.
async fn merge_some(change: &Transaction<'_>, options: &Options) -> Outcome<bool> {
    let found = change
        .query_opt(
            "SELECT round, target FROM undertone.run JOIN undertone.round ON round.id = run.round
             WHERE target IS NOT NULL AND state = 0 ORDER BY target LIMIT 1",
            &[],
        )
        .await
        .map_err(fault)?;
    let Some(found) = found else { return Ok(false) };
    let (round, target): (i64, i64) = (found.get(0), found.get(1));
    let mut sources = runs(change, round).await?;
    sources.retain(|run| run.target == Some(target));
    let share = (options.step_chunks / sources.len().max(1)).max(1);
    let select = change
        .prepare_cached("SELECT ids FROM undertone.chunk WHERE run = $1 ORDER BY first LIMIT $2")
        .await
        .map_err(fault)?;
    let mut lanes = Vec::new();
    for run in &sources {
        let rows = change.query(&select, &[&run.id, &(share as i64 + 1)]).await.map_err(fault)?;
        let mut chunks: Vec<Vec<u8>> = rows.iter().map(|row| row.get(0)).collect();
        chunks.iter().try_for_each(|chunk| check_chunk(chunk))?;
        let more = chunks.len() > share;
        chunks.truncate(share);
        lanes.push(Lane { run: run.id, chunks, more });
    }
    let merged = merge(&lanes, options.chunk_ids);
    let sources: Vec<i64> = sources.iter().map(|run| run.id).collect();
    move_ids(change, target, &sources, &merged).await?;
    if merged.finished {
        schedule(change, round, options).await?;
    }
    Ok(true)
}

async fn move_ids(
    change: &Transaction<'_>,
    target: i64,
    sources: &[i64],
    merged: &Merged,
) -> Outcome<()> {
    change
        .execute(
            "DELETE FROM undertone.chunk WHERE run = ANY ($1) AND first <= $2",
            &[&sources, &&merged.bound[..]],
        )
        .await
        .map_err(fault)?;
    if merged.finished {
        change
            .execute("DELETE FROM undertone.run WHERE id = ANY ($1)", &[&sources])
            .await
            .map_err(fault)?;
    }
    for (run, rest) in &merged.rests {
        insert(change, *run, std::slice::from_ref(rest)).await?;
    }
    insert(change, target, &merged.chunks).await
}

/// Deletes ids of a round that takes no reports any more and has counted all it took: nothing waits at
/// all, seen after the round was seen to be sealed.
async fn sweep(change: &Transaction<'_>, options: &Options) -> Outcome<bool> {
    let found = change
        .query_opt("SELECT id FROM undertone.round WHERE state <> 0 AND NOT swept LIMIT 1", &[])
        .await
        .map_err(fault)?;
    let Some(row) = found else { return Ok(false) };
    let round: i64 = row.get(0);
    let waits = change
        .query_one("SELECT EXISTS (SELECT 1 FROM undertone.batch WHERE round = $1)", &[&round])
        .await
        .map_err(fault)?;
    if waits.get(0) {
        return Ok(true);
    }
    let limit = 4 * options.step_chunks as i64;
    let gone = change
        .execute(
            "DELETE FROM undertone.chunk WHERE (run, first) IN (SELECT run, first FROM undertone.chunk
             WHERE run IN (SELECT id FROM undertone.run WHERE round = $1) LIMIT $2)",
            &[&round, &limit],
        )
        .await
        .map_err(fault)?;
    if gone == 0 {
        change
            .execute("DELETE FROM undertone.run WHERE round = $1", &[&round])
            .await
            .map_err(fault)?;
        change
            .execute("UPDATE undertone.round SET swept = true WHERE id = $1", &[&round])
            .await
            .map_err(fault)?;
    }
    Ok(true)
}
