//! Folding: read and sort without the write lock, then write in one transaction.
//!
//! What is read changes only by folding, and appends only add behind it; a counter makes sure that
//! no other fold came in between.

use super::schema::{fault, whole};
use super::writer::begin;
use crate::store::fold::{
    Arrivals, Delta, Lane, Merged, PolicySlot, Run, Sorted, check_chunk, decode, encode, merge,
    plan,
};
use crate::store::{Options, Progress, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction};
use undertone_wire::TokenShape;

type Outcome<T> = Result<T, StoreError>;

/// What to do next, worked out but not written.
pub(super) struct Step {
    epoch: i64,
    work: Work,
}

enum Work {
    /// Count everything up to a batch; `full` if there may be more behind it.
    Count { last: i64, full: bool, parts: Vec<Part> },
    /// Move ids from some runs into another.
    Merge { round: i64, target: i64, sources: Vec<i64>, merged: Merged },
    /// Delete ids of a round that takes no reports any more.
    Sweep { round: i64 },
}

/// One round's share of a step.
struct Part {
    round: i64,
    ids: u64,
    chunks: Vec<Vec<u8>>,
    deltas: Vec<Delta>,
}

impl Step {
    /// Whether it counts, rather than tidies.
    pub(super) fn counts(&self) -> bool {
        matches!(self.work, Work::Count { .. })
    }
}

/// Works out the next step; `tidy` puts merging before counting.
pub(super) fn prepare(
    connection: &mut Connection,
    options: &Options,
    tidy: bool,
) -> Outcome<Option<Step>> {
    let read = connection.transaction().map_err(fault)?;
    let epoch = epoch(&read)?;
    let mut work = if tidy { next_merge(&read, options)? } else { None };
    if work.is_none() {
        work = next_count(&read, options)?;
    }
    if work.is_none() && !tidy {
        work = next_merge(&read, options)?;
    }
    if work.is_none() {
        work = next_sweep(&read)?;
    }
    Ok(work.map(|work| Step { epoch, work }))
}

fn epoch(read: &Transaction) -> Outcome<i64> {
    read.query_row("SELECT value FROM meta WHERE name = 'fold'", [], |row| row.get(0))
        .map_err(fault)
}

fn next_count(read: &Transaction, options: &Options) -> Outcome<Option<Work>> {
    let mut arrivals = Arrivals::default();
    let mut last = None;
    {
        let mut select = read
            .prepare_cached(
                "SELECT seq, round, batch.policy, outputs, bits, rows FROM batch
                 JOIN policy ON policy.id = batch.policy ORDER BY seq",
            )
            .map_err(fault)?;
        let mut rows = select.query([]).map_err(fault)?;
        while arrivals.reports() < options.step_reports {
            let Some(row) = rows.next().map_err(fault)? else { break };
            let slot = PolicySlot {
                round: row.get(1).map_err(fault)?,
                policy: row.get(2).map_err(fault)?,
                tokens: TokenShape {
                    outputs: row.get(3).map_err(fault)?,
                    bits: row.get(4).map_err(fault)?,
                },
            };
            arrivals.push(slot, row.get(5).map_err(fault)?)?;
            last = Some(row.get(0).map_err(fault)?);
        }
    }
    let Some(last) = last else { return Ok(None) };
    let mut parts = Vec::new();
    for (round, mut sorted) in arrivals.sort() {
        for run in runs(read, round)? {
            strike(read, run, &mut sorted, options)?;
        }
        let (ids, chunks) = sorted.chunks(options.chunk_ids);
        parts.push(Part { round, ids, chunks, deltas: arrivals.count(&sorted) });
    }
    options.faults.at("fold/read");
    Ok(Some(Work::Count { last, full: arrivals.reports() >= options.step_reports, parts }))
}

fn runs(read: &Transaction, round: i64) -> Outcome<Vec<Run>> {
    read.prepare_cached("SELECT id, ids, target FROM run WHERE round = ?1 ORDER BY id")
        .and_then(|mut select| {
            let rows = select.query_map([round], |row| {
                Ok(Run { id: row.get(0)?, ids: whole(row, 1)?, target: row.get(2)? })
            })?;
            rows.collect()
        })
        .map_err(fault)
}

/// Strikes out the arrivals that are in the run: reads it from end to end if most chunks matter,
/// else only chunks that may hold an arrival.
fn strike(read: &Transaction, run: Run, sorted: &mut Sorted, options: &Options) -> Outcome<()> {
    let chunks = run.ids / options.chunk_ids as u64;
    let dense = sorted.len() as u64 * 4 >= chunks;
    let statement = if dense {
        "SELECT ids FROM chunk WHERE run = ?1 AND first >= coalesce(
            (SELECT max(first) FROM chunk WHERE run = ?1 AND first <= ?2), x'') ORDER BY first"
    } else {
        "SELECT ids FROM chunk WHERE run = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1"
    };
    let mut select = read.prepare_cached(statement).map_err(fault)?;
    let mut at = 0;
    while let Some(id) = sorted.id(at) {
        let mut rows = select.query((run.id, id)).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let ids = row.get_ref(0).map_err(fault)?.as_blob();
            let ids = ids.map_err(|error| StoreError::Corrupt(error.to_string()))?;
            check_chunk(ids)?;
            at = sorted.strike(at, ids);
            if at >= sorted.len() {
                break;
            }
        }
        // A look at one chunk settles this arrival; a read to the end of the run settles all.
        at = if dense { sorted.len() } else { at.max(sorted.after(id)) };
    }
    Ok(())
}

fn next_merge(read: &Transaction, options: &Options) -> Outcome<Option<Work>> {
    let found: Option<(i64, i64)> = read
        .prepare_cached(
            "SELECT round, target FROM run JOIN round ON round.id = run.round
             WHERE target IS NOT NULL AND state = 0 ORDER BY target LIMIT 1",
        )
        .and_then(|mut select| {
            select.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(fault)?;
    let Some((round, target)) = found else { return Ok(None) };
    let sources: Vec<i64> = runs(read, round)?
        .iter()
        .filter(|run| run.target == Some(target))
        .map(|run| run.id)
        .collect();
    let share = (options.step_chunks / sources.len().max(1)).max(1);
    let mut select = read
        .prepare_cached("SELECT ids FROM chunk WHERE run = ?1 ORDER BY first LIMIT ?2")
        .map_err(fault)?;
    let mut lanes = Vec::new();
    for &run in &sources {
        let chunks =
            select.query_map((run, share as i64 + 1), |row| row.get(0)).and_then(Iterator::collect);
        let mut chunks: Vec<Vec<u8>> = chunks.map_err(fault)?;
        chunks.iter().try_for_each(|chunk| check_chunk(chunk))?;
        let more = chunks.len() > share;
        chunks.truncate(share);
        lanes.push(Lane { run, chunks, more });
    }
    let merged = merge(&lanes, options.chunk_ids);
    Ok(Some(Work::Merge { round, target, sources, merged }))
}

fn next_sweep(read: &Transaction) -> Outcome<Option<Work>> {
    // Nothing waits to be counted, so nothing of a sealed round does, and nothing more can come.
    let round = read
        .query_row("SELECT id FROM round WHERE state <> 0 AND swept = 0 LIMIT 1", [], |row| {
            row.get(0)
        })
        .optional()
        .map_err(fault)?;
    Ok(round.map(|round| Work::Sweep { round }))
}

/// Writes a step. `None` if somebody else folded in between: prepare again.
pub(super) fn perform(
    connection: &mut Connection,
    step: &Step,
    options: &Options,
) -> Outcome<Option<Progress>> {
    let change = begin(connection)?;
    if epoch(&change)? != step.epoch {
        return Ok(None);
    }
    change.execute("UPDATE meta SET value = value + 1 WHERE name = 'fold'", []).map_err(fault)?;
    let mut progress = Progress::default();
    let (written, committed) = match &step.work {
        Work::Count { last, full, parts } => {
            progress.more = *full;
            // First, so that what follows finds free pages.
            change.execute("DELETE FROM batch WHERE seq <= ?1", [last]).map_err(fault)?;
            for part in parts {
                count(&change, part, options)?;
                for delta in &part.deltas {
                    progress.folded += delta.reports;
                    progress.duplicates += delta.duplicates;
                }
            }
            ("fold/written", "fold/committed")
        }
        Work::Merge { round, target, sources, merged } => {
            move_ids(&change, *target, sources, merged)?;
            if merged.finished {
                schedule(&change, *round, options)?;
            }
            ("merge/written", "merge/committed")
        }
        Work::Sweep { round } => {
            sweep(&change, *round, options)?;
            ("merge/written", "merge/committed")
        }
    };
    progress.more |= is_untidy(&change)? || !step.counts() && has_arrivals(&change)?;
    options.faults.at(written);
    change.commit().map_err(fault)?;
    options.faults.at(committed);
    Ok(Some(progress))
}

/// Whether runs wait to be merged or deleted.
fn is_untidy(read: &Transaction) -> Outcome<bool> {
    read.query_row(
        "SELECT EXISTS (SELECT 1 FROM run WHERE target IS NOT NULL)
         OR EXISTS (SELECT 1 FROM round WHERE state <> 0 AND swept = 0)",
        [],
        |row| row.get(0),
    )
    .map_err(fault)
}

fn has_arrivals(read: &Transaction) -> Outcome<bool> {
    read.query_row("SELECT EXISTS (SELECT 1 FROM batch)", [], |row| row.get(0)).map_err(fault)
}

fn count(change: &Transaction, part: &Part, options: &Options) -> Outcome<()> {
    if part.ids > 0 {
        change
            .execute("INSERT INTO run (round, ids) VALUES (?1, ?2)", (part.round, part.ids as i64))
            .map_err(fault)?;
        insert(change, change.last_insert_rowid(), &part.chunks)?;
        schedule(change, part.round, options)?;
    }
    for delta in &part.deltas {
        let slot = (delta.slot.round, delta.slot.policy);
        let counts: Vec<u8> = change
            .prepare_cached("SELECT counts FROM tally WHERE round = ?1 AND policy = ?2")
            .and_then(|mut select| select.query_row(slot, |row| row.get(0)))
            .map_err(fault)?;
        let mut counts = decode(&counts, delta.slot.tokens.outputs)?;
        counts.iter_mut().zip(&delta.counts).for_each(|(count, more)| *count += more);
        change
            .prepare_cached(
                "UPDATE tally SET reports = reports + ?3, duplicates = duplicates + ?4, counts = ?5
                 WHERE round = ?1 AND policy = ?2",
            )
            .and_then(|mut update| {
                let (reports, duplicates) = (delta.reports as i64, delta.duplicates as i64);
                update.execute((slot.0, slot.1, reports, duplicates, encode(&counts)))
            })
            .map_err(fault)?;
    }
    Ok(())
}

fn insert(change: &Transaction, run: i64, chunks: &[Vec<u8>]) -> Outcome<()> {
    let mut insert = change
        .prepare_cached("INSERT INTO chunk (run, first, ids) VALUES (?1, ?2, ?3)")
        .map_err(fault)?;
    for chunk in chunks {
        insert.execute((run, &chunk[..16], chunk)).map_err(fault)?;
    }
    Ok(())
}

/// Marks runs of like size for merging.
fn schedule(change: &Transaction, round: i64, options: &Options) -> Outcome<()> {
    if let Some(sources) = plan(&runs(change, round)?, options.fan, options.chunk_ids) {
        let ids: u64 = sources.iter().map(|run| run.ids).sum();
        change
            .execute("INSERT INTO run (round, ids) VALUES (?1, ?2)", (round, ids as i64))
            .map_err(fault)?;
        let target = change.last_insert_rowid();
        for run in sources {
            change
                .execute("UPDATE run SET target = ?2 WHERE id = ?1", (run.id, target))
                .map_err(fault)?;
        }
    }
    Ok(())
}

fn move_ids(change: &Transaction, target: i64, sources: &[i64], merged: &Merged) -> Outcome<()> {
    for run in sources {
        change
            .execute("DELETE FROM chunk WHERE run = ?1 AND first <= ?2", (run, merged.bound))
            .map_err(fault)?;
        if merged.finished {
            change.execute("DELETE FROM run WHERE id = ?1", [run]).map_err(fault)?;
        }
    }
    for (run, rest) in &merged.rests {
        insert(change, *run, std::slice::from_ref(rest))?;
    }
    insert(change, target, &merged.chunks)
}

fn sweep(change: &Transaction, round: i64, options: &Options) -> Outcome<()> {
    let limit = 4 * options.step_chunks as i64;
    let gone = change
        .execute(
            "DELETE FROM chunk WHERE rowid IN (SELECT chunk.rowid FROM run JOIN chunk ON chunk.run = run.id
             WHERE round = ?1 LIMIT ?2)",
            (round, limit),
        )
        .map_err(fault)?;
    if gone == 0 {
        change.execute("DELETE FROM run WHERE round = ?1", [round]).map_err(fault)?;
        change.execute("UPDATE round SET swept = 1 WHERE id = ?1", [round]).map_err(fault)?;
    }
    Ok(())
}
