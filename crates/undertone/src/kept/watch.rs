//! Watching rows go by: a bounded sample of them, and how many have kept cells like no other row's.

use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cell::{KeptCell, joined, spread};
use super::predict::{Contexts, FOLDS, Rows};
use super::{Kept, KeptQuestion};
use crate::Error;

/// Rows that are predicted: the end of an interval for a share is then within a percentage point.
const SAMPLED: usize = 20_000;

/// Distinct rows of kept cells that are counted. Of more, a part is taken by their keys, and each of it is counted in all rows.
const COUNTED: usize = 1 << 16;

/// Where samples begin; the same rows are measured in every run, whatever the number of threads.
const SEED: u64 = 0x756e_6465_7274_6f6e;

/// Watches the rows of a release. Shared by all threads; what it finds depends on the rows alone.
pub struct KeptWatch {
    columns: Vec<String>,
    questions: Vec<KeptQuestion>,
    /// Rows with a priority above this are not sampled.
    highest: AtomicU64,
    /// Rows whose kept cells have a key above this are not counted.
    largest: AtomicU64,
    /// For every kept column, which questions it has been equal to in all rows.
    equal: Vec<AtomicBool>,
    found: Mutex<Found>,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    rows: u64,
    sample: BinaryHeap<SampledRow>,
    /// How often each row of kept cells was seen.
    tuples: HashMap<u64, u32>,
}

/// A row of the sample, ordered by its priority.
struct SampledRow {
    priority: u64,
    cells: Box<[KeptCell]>,
    values: Box<[u32]>,
}

impl Ord for SampledRow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.priority.cmp(&other.priority)
    }
}

impl PartialOrd for SampledRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SampledRow {
    fn eq(&self, other: &Self) -> bool {
        self.priority == other.priority
    }
}

impl Eq for SampledRow {}

/// What was seen in one block of rows.
pub struct KeptPart<'a> {
    watch: &'a KeptWatch,
    start: u64,
    rows: u64,
    sample: Vec<SampledRow>,
    tuples: Vec<u64>,
}

impl KeptWatch {
    /// Watches columns that are kept beside questions that are randomised.
    pub fn new(columns: Vec<String>, questions: Vec<KeptQuestion>) -> Self {
        let pairs = columns.len() * questions.len();
        Self {
            highest: AtomicU64::new(u64::MAX),
            largest: AtomicU64::new(u64::MAX),
            equal: (0..pairs).map(|_| AtomicBool::new(true)).collect(),
            found: Mutex::default(),
            columns,
            questions,
        }
    }

    /// Whether there is nothing to watch.
    pub fn is_idle(&self) -> bool {
        self.columns.is_empty()
    }

    /// Watches a block of rows; blocks are numbered from 0, in any order.
    pub fn part(&self, block: u64) -> KeptPart<'_> {
        let start = spread(SEED ^ block.rotate_left(32));
        KeptPart { watch: self, start, rows: 0, sample: Vec::new(), tuples: Vec::new() }
    }

    /// Whether a kept column may still be the same as a question's: both said the same in all rows so far.
    pub fn may_be_equal(&self, column: usize, question: usize) -> bool {
        self.equal[column * self.questions.len() + question].load(Ordering::Relaxed)
    }

    /// A row has shown that a kept column is not the same as a question's.
    pub fn is_different(&self, column: usize, question: usize) {
        self.equal[column * self.questions.len() + question].store(false, Ordering::Relaxed);
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the kept columns tell about each question; refuses a column that is one of them under another name.
    pub fn finish(self) -> Result<Vec<Kept>, Error> {
        if self.columns.is_empty() {
            return Ok(Vec::new());
        }
        let equal: Vec<bool> = self.equal.iter().map(|one| one.load(Ordering::Relaxed)).collect();
        let Found { rows, sample, tuples } =
            self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let sample = sample.into_sorted_vec();
        let values = |question: usize| sample.iter().map(move |row| row.values[question]);
        for (at, _) in equal.iter().enumerate().filter(|(_, equal)| **equal) {
            let (column, question) = (at / self.questions.len(), at % self.questions.len());
            let mut found = values(question);
            let first = found.next();
            if found.any(|value| Some(value) != first) {
                let problem = format!(
                    "{:?}: that column is equal to {:?}, which is randomised: leave it out",
                    self.columns[column], self.questions[question].name
                );
                return Err(Error::field("keep", problem));
            }
        }
        // Rows of kept cells above the largest key were not counted; those below it are a fair part of all.
        let part = (self.largest.into_inner() as f64 + 1.0) / 2f64.powi(64);
        let single = tuples.values().filter(|count| **count == 1).count() as f64;
        let unique = if rows == 0 { 0.0 } else { (single / part / rows as f64).min(1.0) };
        let cells = |column: usize| sample.iter().map(move |row| row.cells[column]);
        let columns: Vec<Vec<KeptCell>> =
            (0..self.columns.len()).map(|column| cells(column).collect()).collect();
        let folds: Vec<u8> =
            sample.iter().map(|row| (spread(row.priority) % u64::from(FOLDS)) as u8).collect();
        let contexts = Contexts::new(Rows { columns: &columns, folds: &folds });
        let kept = self.questions.iter().enumerate().map(|(at, question)| {
            let values: Vec<u32> = values(at).collect();
            let predicted = contexts.predict(&values, question.symbols);
            Kept::new(self.columns.clone(), question, &values, &predicted, unique)
        });
        Ok(kept.collect())
    }
}

impl KeptPart<'_> {
    /// The next row that is released: `tuple` is the joint key of its kept cells, and the rest is asked for if the row is sampled.
    pub fn row(
        &mut self,
        tuple: u64,
        cells: impl FnOnce() -> Vec<KeptCell>,
        values: impl FnOnce() -> Vec<u32>,
    ) {
        let priority = spread(self.start ^ self.rows);
        self.rows += 1;
        if tuple <= self.watch.largest.load(Ordering::Relaxed) {
            self.tuples.push(tuple);
        }
        if priority <= self.watch.highest.load(Ordering::Relaxed) {
            let (cells, values) = (cells().into(), values().into());
            self.sample.push(SampledRow { priority, cells, values });
        }
    }

    /// Adds what was seen.
    pub fn end(self) {
        let mut found = self.watch.found();
        let Found { rows, sample, tuples } = &mut *found;
        *rows += self.rows;
        for row in self.sample {
            sample.push(row);
            if sample.len() > SAMPLED {
                sample.pop();
                let highest = sample.peek().map_or(u64::MAX, |row| row.priority);
                self.watch.highest.store(highest, Ordering::Relaxed);
            }
        }
        let mut largest = self.watch.largest.load(Ordering::Relaxed);
        for tuple in self.tuples.into_iter().filter(|tuple| *tuple <= largest) {
            let count = tuples.entry(tuple).or_insert(0);
            *count = count.saturating_add(1);
        }
        while tuples.len() > COUNTED {
            largest /= 2;
            tuples.retain(|tuple, _| *tuple <= largest);
        }
        self.watch.largest.store(largest, Ordering::Relaxed);
    }
}

/// The joint key of a row's kept cells.
pub fn tuple_key(cells: impl Iterator<Item = u64>) -> u64 {
    cells.fold(0, joined)
}
