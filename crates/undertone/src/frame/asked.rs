//! A column that is asked for, and what its cells stand for.

use std::sync::atomic::{AtomicBool, Ordering};

use undertone_core::Alphabet;

use crate::columns::{Code, Lookup, UnknownValues};

/// The name of the symbol for everything else.
pub(crate) const OTHER: &str = "other";

/// A column that is read, shared by all threads.
pub(crate) struct AskedColumn {
    /// What the question is called.
    pub(crate) name: String,
    /// What its column is called in the file.
    pub(crate) column: String,
    /// What its cells stand for.
    pub(crate) inputs: Alphabet,
    pub(crate) lookup: Lookup,
    /// The symbol that stands for everything else, if there is one.
    pub(crate) other: Option<u32>,
    /// Whether it says which policy a row has: every row must say it, and it is no question.
    pub(crate) is_group: bool,
    /// Which symbols have occurred.
    seen: Vec<AtomicBool>,
}

/// What happened to the cells of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ColumnCounts {
    pub(crate) unknown: u64,
    pub(crate) missing: u64,
    pub(crate) below: u64,
    pub(crate) above: u64,
    /// The first and the last symbol that was released, and how often neighbours differ.
    ends: Option<(u32, u32)>,
    changes: u64,
}

impl AskedColumn {
    pub(crate) fn new(name: String, column: String, inputs: Alphabet) -> Self {
        let lookup = Lookup::of_inputs(&inputs);
        let seen = (0..inputs.len()).map(|_| AtomicBool::new(false)).collect();
        Self { name, column, other: lookup.named(OTHER), is_group: false, lookup, seen, inputs }
    }

    /// The column that says which policy a row has.
    pub(crate) fn of_groups(column: String, groups: Alphabet) -> Self {
        Self { other: None, is_group: true, ..Self::new(column.clone(), column, groups) }
    }

    /// How many symbols there are.
    pub(crate) fn size(&self) -> usize {
        self.seen.len()
    }

    /// The symbol of a cell, counted; `Ok(None)` if its row is left out, and an error if it may not be there.
    pub(super) fn index(
        &self,
        code: Code,
        unknown: UnknownValues,
        counts: &mut ColumnCounts,
    ) -> Result<Option<u32>, Code> {
        let index = match code {
            Code::Symbol(index) => index,
            Code::Below => {
                counts.below += 1;
                0
            }
            Code::Above => {
                counts.above += 1;
                self.size() as u32 - 1
            }
            // A row without a policy is never released, nor left out unnoticed.
            Code::Missing | Code::Unknown if self.is_group => return Err(code),
            Code::Missing | Code::Unknown => {
                if code == Code::Missing {
                    counts.missing += 1;
                } else {
                    counts.unknown += 1;
                }
                match (unknown, self.other) {
                    (UnknownValues::Skip, _) => return Ok(None),
                    (UnknownValues::AsOther, Some(other)) => other,
                    _ => return Err(code),
                }
            }
        };
        if (index as usize) < self.size() { Ok(Some(index)) } else { Err(Code::Unknown) }
    }

    /// Whether all rows with equal values stand together, so that their order tells them apart.
    pub(crate) fn grouped(&self, counts: &ColumnCounts, released: u64) -> bool {
        let distinct = self.seen.iter().filter(|seen| seen.load(Ordering::Relaxed)).count() as u64;
        // A few rows stand together by chance.
        distinct > 1 && counts.changes + 1 == distinct && released >= 4 * distinct + 12
    }

    /// Takes note of the symbols of rows that are released.
    pub(super) fn saw(&self, indices: &[u32], counts: &mut ColumnCounts) {
        for &index in indices {
            // Read first: writing what is written already would bounce between processors.
            let seen = &self.seen[index as usize];
            if !seen.load(Ordering::Relaxed) {
                seen.store(true, Ordering::Relaxed);
            }
            counts.symbol(index);
        }
    }
}

impl ColumnCounts {
    /// Adds the counts of the rows that follow.
    pub(super) fn then(&mut self, next: &Self) {
        self.unknown += next.unknown;
        self.missing += next.missing;
        self.below += next.below;
        self.above += next.above;
        self.changes += next.changes;
        self.ends = match (self.ends, next.ends) {
            (Some((first, last)), Some((next_first, next_last))) => {
                self.changes += u64::from(last != next_first);
                Some((first, next_last))
            }
            (mine, other) => mine.or(other),
        };
    }

    fn symbol(&mut self, index: u32) {
        self.ends = match self.ends {
            Some((first, last)) => {
                self.changes += u64::from(last != index);
                Some((first, index))
            }
            None => Some((index, index)),
        };
    }
}
