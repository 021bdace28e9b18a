//! Rows in memory, released under a plan.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use undertone_core::plan::Plan;
use undertone_core::{Alphabet, Policy};

use super::{asked, channels, choose};
use crate::Error;
use crate::columns::{Code, Lookup, UnknownValues, threads};
use crate::frame::{BadCell, Drawn, Frame, NotDrawn, Released};

/// Rows are read and drawn this many at a time.
const BLOCK: usize = 1 << 13;
/// Fewer rows than this are not worth a thread of their own.
const PART: usize = 1 << 16;

/// A verified plan, ready for columns of data.
pub struct PlanRows {
    plan: Plan,
    frame: Frame,
}

/// What was drawn for one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemDraws {
    /// Outputs of the rows that answer, in order.
    pub drawn: Drawn,
    /// Which rows answer; nothing if all do.
    pub answers: Option<Vec<bool>>,
}

/// Why nothing was drawn.
#[derive(Debug)]
pub enum RowTrouble {
    /// A cell without a symbol.
    Cell {
        /// Its row, from 0.
        row: usize,
        /// The question's number.
        question: usize,
        /// Whether it is empty, rather than unknown.
        missing: bool,
    },
    /// Anything else.
    Other(Error),
}

/// Appends what the cells of a question's column stand for, in a range of rows.
pub type ReadCodes<'a> = dyn Fn(usize, Range<usize>, &mut Vec<Code>) + Sync + 'a;

impl PlanRows {
    /// Makes a plan ready. Cells without a symbol are refused, or with `other` taken for the answer "other" of questions that have it.
    pub fn new(plan: Plan, other: bool) -> Result<Self, Error> {
        let unknown = if other { UnknownValues::AsOther } else { UnknownValues::Refuse };
        let (asked, channels, choose) = (asked(&plan, &[])?, channels(&plan)?, choose(&plan));
        let (keep, least_group) = (Vec::new(), 1);
        let frame = Frame { asked, channels, choose, keep, unknown, threads: None, least_group };
        Ok(Self { plan, frame })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A question's answers, and how cells are looked up in them.
    pub fn question(&self, question: usize) -> (&Alphabet, &Lookup) {
        let asked = &self.frame.asked[question];
        (&asked.inputs, &asked.lookup)
    }

    /// What an item's column is called.
    pub fn column(&self, item: usize) -> &str {
        &self.frame.channels[item].name
    }

    /// The policy whose outputs an item's column holds.
    pub fn policy(&self, item: usize) -> &Policy {
        self.plan.reporting_policy(item)
    }

    /// Whether rows answer some of the items only.
    pub fn is_split(&self) -> bool {
        self.frame.choose.is_some()
    }

    /// The text of a combined item's output; nothing if the item holds single outputs of its policy.
    pub fn combination(&self, item: usize, output: u32) -> Option<String> {
        match &self.frame.channels[item].released {
            Released::Combined(_) => Some(self.frame.channels[item].released.text(output)),
            _ => None,
        }
    }

    /// Draws what every row answers.
    pub fn draw(
        &self,
        rows: usize,
        read: &ReadCodes<'_>,
        most: Option<NonZero<usize>>,
    ) -> Result<Vec<ItemDraws>, RowTrouble> {
        let parts = threads(most).min(rows / PART).max(1);
        let size = rows.div_ceil(parts).max(1);
        let part = |start: usize| self.part(start..(start + size).min(rows), read);
        if parts == 1 {
            return part(0);
        }
        let part = &part;
        thread::scope(|scope| {
            let starts = (0..rows).step_by(size);
            let handles: Vec<_> = starts.map(|start| scope.spawn(move || part(start))).collect();
            let mut all: Option<Vec<ItemDraws>> = None;
            // In the order of the rows, so that the first bad one is named.
            for handle in handles {
                let lost = |_| RowTrouble::Other(Error::input("a thread stopped unexpectedly"));
                let next = handle.join().map_err(lost)??;
                match &mut all {
                    None => all = Some(next),
                    Some(all) => all.iter_mut().zip(next).for_each(|(mine, next)| mine.then(next)),
                }
            }
            Ok(all.unwrap_or_default())
        })
    }

    fn part(&self, rows: Range<usize>, read: &ReadCodes<'_>) -> Result<Vec<ItemDraws>, RowTrouble> {
        let mut draws = self.frame.draws().map_err(RowTrouble::Other)?;
        let mut all: Option<Vec<ItemDraws>> = None;
        let mut start = rows.start;
        // A column without rows has a type all the same.
        while start < rows.end || all.is_none() {
            let block = start..(start + BLOCK).min(rows.end);
            draws.clear();
            for (question, codes) in draws.codes.iter_mut().enumerate() {
                read(question, block.clone(), codes);
            }
            draws.draw().map_err(|trouble| match trouble {
                NotDrawn::Cell(BadCell { at, column, code }) => RowTrouble::Cell {
                    row: start + at,
                    question: column,
                    missing: code == Code::Missing,
                },
                NotDrawn::Fault(error) => RowTrouble::Other(error),
            })?;
            let items = 0..draws.drawn.len();
            let answers = |item: usize| {
                let rows = block.len();
                self.is_split().then(|| (0..rows).map(|row| draws.answers(row, item)).collect())
            };
            let answers: Vec<Option<Vec<bool>>> = items.map(answers).collect();
            let next = draws.drawn.drain(..).zip(answers);
            let next = next.map(|(drawn, answers)| ItemDraws { drawn, answers });
            match &mut all {
                None => all = Some(next.collect()),
                Some(all) => all.iter_mut().zip(next).for_each(|(mine, next)| mine.then(next)),
            }
            start = block.end.max(start + 1);
        }
        Ok(all.unwrap_or_default())
    }
}

impl ItemDraws {
    /// Adds what was drawn for the rows that follow.
    fn then(&mut self, next: Self) {
        match (&mut self.drawn, next.drawn) {
            (Drawn::Indices(mine), Drawn::Indices(next)) => mine.extend(next),
            (Drawn::Bits { packed, .. }, Drawn::Bits { packed: next, .. }) => packed.extend(next),
            // An item's outputs are of one kind.
            _ => {}
        }
        if let (Some(mine), Some(next)) = (&mut self.answers, next.answers) {
            mine.extend(next);
        }
    }
}
