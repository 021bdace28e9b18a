//! One step of folding, for every engine: [`Step::prepare`] reads and sorts, [`Step::perform`] writes.
//!
//! Both may run in one transaction, or in two if no other step came in between: what is read changes only by folding, and
//! appends only add behind it.

use super::sql::{ChunkStart, FoldSql, Taken};
use super::{
    Arrivals, Delta, Lane, MERGES_PER_COUNT, Merged, Run, Sorted, check_chunk, decode, encode,
    merge, plan,
};
use crate::store::{Options, Progress, StoreError};
use undertone_wire::ID_BYTES;

type Outcome<T> = Result<T, StoreError>;

/// Chunks read at once: some 4 MiB.
const PAGE: usize = 512;

/// What to do next, worked out but not written.
pub(crate) enum Step {
    /// Count batches; `more` if there may be others behind them.
    Count { taken: Vec<i64>, more: bool, parts: Vec<Part> },
    /// Move ids from some runs into another.
    Merge { round: i64, target: i64, sources: Vec<i64>, merged: Merged },
    /// Delete ids of a round that takes no reports any more.
    Sweep { round: i64 },
    /// Nothing yet: a sealed round's last batch came in after the step had looked for batches.
    CountFirst,
}

/// One round's share of what is counted.
pub(crate) struct Part {
    round: i64,
    ids: u64,
    chunks: Vec<Vec<u8>>,
    deltas: Vec<Delta>,
}

/// Whose turn it is: how many steps of merging go before the next step of counting.
#[derive(Default)]
pub(crate) struct Turns(u32);

impl Turns {
    /// Whether merging goes before counting.
    pub(crate) fn tidy_first(&self) -> bool {
        self.0 > 0
    }

    /// Notes what a step is.
    pub(crate) fn note(&mut self, step: Option<&Step>) {
        self.0 = match step {
            Some(Step::Count { .. }) => MERGES_PER_COUNT,
            _ => self.0.saturating_sub(1),
        };
    }
}

impl Step {
    /// Works out the next step; `None` if there is nothing to do.
    pub(crate) async fn prepare(
        sql: &impl FoldSql,
        options: &Options,
        tidy_first: bool,
    ) -> Outcome<Option<Self>> {
        if tidy_first && let Some(step) = Self::merge(sql, options).await? {
            return Ok(Some(step));
        }
        if let Some(step) = Self::count(sql, options).await? {
            return Ok(Some(step));
        }
        if !tidy_first && let Some(step) = Self::merge(sql, options).await? {
            return Ok(Some(step));
        }
        Self::sweep(sql).await
    }

    async fn count(sql: &impl FoldSql, options: &Options) -> Outcome<Option<Self>> {
        let mut arrivals = Arrivals::default();
        let Taken { batches, more } = sql.arrivals(options.step_reports, &mut arrivals).await?;
        if batches.is_empty() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for (round, mut sorted) in arrivals.sort() {
            for run in sql.runs(round).await? {
                strike(sql, run, &mut sorted, options).await?;
            }
            let (ids, chunks) = sorted.chunks(options.chunk_ids);
            parts.push(Part { round, ids, chunks, deltas: arrivals.count(&sorted) });
        }
        options.faults.at("fold/read");
        let more = more || arrivals.reports() >= options.step_reports;
        Ok(Some(Self::Count { taken: batches, more, parts }))
    }

    async fn merge(sql: &impl FoldSql, options: &Options) -> Outcome<Option<Self>> {
        let Some((round, target)) = sql.merging().await? else { return Ok(None) };
        let mut sources = sql.runs(round).await?;
        sources.retain(|run| run.target == Some(target));
        let sources: Vec<i64> = sources.iter().map(|run| run.id).collect();
        let share = (options.step_chunks / sources.len().max(1)).max(1);
        let mut lanes = Vec::new();
        for &run in &sources {
            let mut chunks = sql.chunks(run, ChunkStart::After(&[]), share + 1).await?;
            chunks.iter().try_for_each(|chunk| check_chunk(chunk))?;
            let more = chunks.len() > share;
            chunks.truncate(share);
            lanes.push(Lane { run, chunks, more });
        }
        let merged = merge(&lanes, options.chunk_ids);
        Ok(Some(Self::Merge { round, target, sources, merged }))
    }

    /// Nothing waited to be counted; whether that holds for a round is asked after it was seen to be sealed.
    async fn sweep(sql: &impl FoldSql) -> Outcome<Option<Self>> {
        let Some(round) = sql.unswept().await? else { return Ok(None) };
        let waits = sql.has_arrivals(Some(round)).await?;
        Ok(Some(if waits { Self::CountFirst } else { Self::Sweep { round } }))
    }

    /// Writes the step; the transaction is for the engine to commit.
    pub(crate) async fn perform(&self, sql: &impl FoldSql, options: &Options) -> Outcome<Progress> {
        let mut progress = Progress::default();
        match self {
            Self::Count { taken, more, parts } => {
                progress.more = *more;
                // First, so that what follows finds free pages.
                sql.delete_batches(taken).await?;
                for part in parts {
                    part.add(sql, options).await?;
                    progress.folded += part.deltas.iter().map(|delta| delta.reports).sum::<u64>();
                    progress.duplicates +=
                        part.deltas.iter().map(|delta| delta.duplicates).sum::<u64>();
                }
            }
            Self::Merge { round, target, sources, merged } => {
                sql.delete_chunks(sources, &merged.bound).await?;
                for (run, rest) in &merged.rests {
                    sql.insert_chunks(*run, std::slice::from_ref(rest)).await?;
                }
                sql.insert_chunks(*target, &merged.chunks).await?;
                if merged.finished {
                    sql.delete_runs(sources).await?;
                    schedule(sql, *round, options).await?;
                }
            }
            Self::Sweep { round } => {
                if sql.sweep_chunks(*round, 4 * options.step_chunks).await? == 0 {
                    sql.finish_sweep(*round).await?;
                }
            }
            Self::CountFirst => {}
        }
        let counted = matches!(self, Self::Count { .. });
        progress.more |= sql.is_untidy().await? || !counted && sql.has_arrivals(None).await?;
        Ok(progress)
    }

    /// The points at which tests interfere: before the commit, and after it.
    pub(crate) fn points(&self) -> (&'static str, &'static str) {
        match self {
            Self::Count { .. } => ("fold/written", "fold/committed"),
            _ => ("merge/written", "merge/committed"),
        }
    }
}

impl Part {
    /// Adds the new ids as a run, and the tokens to the tallies.
    async fn add(&self, sql: &impl FoldSql, options: &Options) -> Outcome<()> {
        if self.ids > 0 {
            let run = sql.new_run(self.round, self.ids).await?;
            sql.insert_chunks(run, &self.chunks).await?;
            schedule(sql, self.round, options).await?;
        }
        for delta in &self.deltas {
            let mut tally = sql.tally(delta.slot).await?;
            let mut counts = decode(&tally.counts, delta.slot.tokens.outputs)?;
            counts.iter_mut().zip(&delta.counts).for_each(|(count, more)| *count += more);
            tally.counts = encode(&counts);
            tally.reports += delta.reports as i64;
            tally.duplicates += delta.duplicates as i64;
            sql.set_tally(&tally).await?;
        }
        Ok(())
    }
}

/// Marks runs of like size for merging.
async fn schedule(sql: &impl FoldSql, round: i64, options: &Options) -> Outcome<()> {
    let runs = sql.runs(round).await?;
    if let Some(sources) = plan(&runs, options.fan, options.chunk_ids) {
        let target = sql.new_run(round, sources.iter().map(|run| run.ids).sum()).await?;
        sql.set_target(round, &sources, target).await?;
    }
    Ok(())
}

/// Strikes out the arrivals that are in a run: reads it from end to end if most chunks matter, else only chunks that
/// may hold an arrival.
async fn strike(
    sql: &impl FoldSql,
    run: Run,
    sorted: &mut Sorted,
    options: &Options,
) -> Outcome<()> {
    let dense = sorted.len() as u64 * 4 >= run.ids / options.chunk_ids as u64;
    if dense { read_through(sql, run, sorted).await } else { look_up(sql, run, sorted).await }
}

async fn read_through(sql: &impl FoldSql, run: Run, sorted: &mut Sorted) -> Outcome<()> {
    let Some(least) = sorted.id(0) else { return Ok(()) };
    let mut page = sql.chunks(run.id, ChunkStart::Holding(&least), PAGE).await?;
    let mut at = 0;
    loop {
        for ids in &page {
            check_chunk(ids)?;
            at = sorted.strike(at, ids);
        }
        let last = page.last().filter(|_| page.len() == PAGE && at < sorted.len());
        let Some(last) = last else { return Ok(()) };
        page = sql.chunks(run.id, ChunkStart::After(&last[..ID_BYTES]), PAGE).await?;
    }
}

async fn look_up(sql: &impl FoldSql, run: Run, sorted: &mut Sorted) -> Outcome<()> {
    for start in (0..sorted.len()).step_by(PAGE) {
        let end = sorted.len().min(start + PAGE);
        let wanted: Vec<[u8; ID_BYTES]> = (start..end).filter_map(|at| sorted.id(at)).collect();
        for ids in sql.chunks_holding(run.id, &wanted).await? {
            check_chunk(&ids)?;
            sorted.strike(start, &ids);
        }
    }
    Ok(())
}
