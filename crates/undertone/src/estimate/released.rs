//! Counting a released frame: one column for every item of a plan, one row for every person.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use undertone_core::{ItemAnswer, Plan, Token};
use undertone_estimate::PlanTally;

use super::counting::{BadRow, Batch, CountedKind, RowCounts, Tokens};
use super::reports::UnknownReports;
use crate::Error;
use crate::columns::csv::{self, CsvFile};
use crate::columns::{Code, OpenedSource, RowPlace, Source, in_order, position, threads};
use crate::combined::{BETWEEN, escaped, item_columns};
use crate::error::mention;

/// How a released frame is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReleasedFrame {
    /// What to do with cells that no policy of the plan releases; empty ones are items that were not asked.
    pub unknown: UnknownReports,
    /// How many threads; unless it is given, one for every processor.
    pub threads: Option<NonZero<usize>>,
}

/// Reads the columns of a plan's items.
pub(super) struct FrameReader<'a> {
    plan: &'a Plan,
    asked: &'a ReleasedFrame,
    items: Vec<ItemCells<'a>>,
}

/// How one item's answers are written in cells.
struct ItemCells<'a> {
    column: String,
    tokens: Tokens<'a>,
    /// For a combined item that releases combined symbols: every question's answers as they are written, and their numbers.
    combined: Option<Vec<HashMap<String, u32>>>,
}

impl<'a> FrameReader<'a> {
    /// Prepares the items.
    pub(super) fn new(plan: &'a Plan, asked: &'a ReleasedFrame) -> Self {
        let columns = item_columns(plan).into_iter().enumerate();
        let items = columns.map(|(item, column)| ItemCells::new(plan, item, column)).collect();
        Self { plan, asked, items }
    }

    /// Adds a frame's rows to the tally.
    pub(super) fn read(&self, rows: Source, tally: &mut PlanTally) -> Result<RowCounts, Error> {
        match rows.open()? {
            OpenedSource::Csv(file) => self.read_csv(file, tally),
            #[cfg(feature = "parquet")]
            OpenedSource::Parquet(file) => {
                let (mut counted, mut answers) = (RowCounts::default(), Vec::new());
                let name = file.name.clone();
                let wanted: Vec<&str> =
                    self.items.iter().map(|item| item.column.as_str()).collect();
                counted.rows = file.each_row(&wanted, |row| {
                    let cells = row.cells.iter().map(|cell| cell.as_deref().unwrap_or_default());
                    self.row(cells, &mut answers, tally, &mut counted)
                        .map_err(|what| Error::in_document(&name, format!("{}{what}", row.place())))
                })?;
                Ok(counted)
            }
        }
    }

    fn read_csv(&self, file: CsvFile, tally: &mut PlanTally) -> Result<RowCounts, Error> {
        let place = |item: &ItemCells<'_>| position(&file.name, &item.column, &file.columns);
        let wanted: Vec<usize> = self.items.iter().map(place).collect::<Result<_, _>>()?;
        let (form, empty) = (file.form(), tally.emptied());
        // A lock of its own for every thread: nobody waits.
        let tallies: Vec<Mutex<PlanTally>> =
            (0..threads(self.asked.threads)).map(|_| Mutex::new(empty.clone())).collect();
        let wanted = &wanted;
        let workers = tallies.iter().map(|tally| {
            let mut answers = Vec::new();
            move |block: Vec<u8>| {
                let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                let mut counted = RowCounts::default();
                let walked = csv::each_record(&block, form, wanted, |record, texts| {
                    counted.rows += 1;
                    let cells = texts.iter().map(AsRef::as_ref);
                    self.row(cells, &mut answers, &mut tally, &mut counted).map_err(|what| {
                        let place = RowPlace::in_block(counted.rows - 1, &block, record.start);
                        BadRow { place, what }
                    })
                });
                Ok::<_, Error>((walked.map(|_| counted), csv::lines(&block)))
            }
        });
        let (mut sum, mut lines_before) = (RowCounts::default(), file.head_lines);
        in_order(file.blocks, workers.collect(), |(counted, lines)| {
            let counted = counted.map_err(|bad: BadRow| {
                let place = bad.place.after(sum.rows, lines_before);
                Error::in_document(&file.name, format!("{place}{}", bad.what))
            })?;
            sum.add(&counted);
            lines_before += lines;
            Ok(())
        })?;
        for own in tallies {
            let own = own.into_inner().unwrap_or_else(PoisonError::into_inner);
            tally.merge(&own).map_err(Error::input)?;
        }
        Ok(sum)
    }

    /// Counts one row; says what is wrong with it if it may not be counted.
    fn row<'c>(
        &self,
        cells: impl Iterator<Item = &'c str>,
        answers: &mut Vec<ItemAnswer>,
        tally: &mut PlanTally,
        counted: &mut RowCounts,
    ) -> Result<(), String> {
        answers.clear();
        for ((number, item), cell) in (0u32..).zip(&self.items).zip(cells) {
            match item.token(cell) {
                Ok(token) => answers.push(ItemAnswer { item: number, token }),
                Err(Code::Missing) => {}
                Err(code) => match self.asked.unknown {
                    UnknownReports::Skip => counted.unknown += 1,
                    UnknownReports::Refuse => {
                        return Err(format!(
                            ", column {:?} {}: was it released under this plan? Mend it, or use {} skip",
                            item.column,
                            item.tokens.complaint(code),
                            mention("unknown")
                        ));
                    }
                },
            }
        }
        tally.add_answers(self.plan, answers).map_err(|error| format!(": {error}"))
    }
}

impl<'a> ItemCells<'a> {
    fn new(plan: &'a Plan, item: usize, column: String) -> Self {
        let parts = plan.parts();
        let questions = &parts.items[item].questions;
        let questions = questions.iter().map(|&question| &parts.questions[question as usize]);
        let policy = plan.reporting_policy(item);
        let whole = policy.draft().outputs() == plan.policy_of(item).draft().inputs();
        let written = |question: &undertone_core::Question| {
            let label = |x: usize| escaped(question.answers.label(x).trim());
            (0..question.answers.len()).map(label).zip(0..).collect()
        };
        let combined = (questions.len() > 1 && whole).then(|| questions.map(written).collect());
        Self { column, tokens: Tokens::new(policy), combined }
    }

    /// What a cell releases.
    fn token(&self, cell: &str) -> Result<Token, Code> {
        if let Some(answers) = &self.combined
            && cell.contains(BETWEEN)
        {
            return combination(answers, cell.trim()).map(Token::Index).ok_or(Code::Unknown);
        }
        match &self.tokens.kind {
            CountedKind::Indices(lookup) => match lookup.text(cell) {
                Code::Symbol(index) => Ok(Token::Index(index)),
                code => Err(code),
            },
            CountedKind::Bits { .. } => {
                let mut batch = Batch::Bits(Vec::new());
                match (self.tokens.read(cell, &mut batch), batch) {
                    (Code::Symbol(_), Batch::Bits(row)) => Ok(Token::Bits(row.into())),
                    (code, _) => Err(code),
                }
            }
        }
    }
}

/// The number of a combination of answers, the first question's the most significant digit.
fn combination(answers: &[HashMap<String, u32>], cell: &str) -> Option<u32> {
    let mut parts = cell.split(BETWEEN);
    let mut symbol = 0u32;
    for known in answers {
        let answer = known.get(parts.next()?)?;
        symbol = symbol.checked_mul(known.len() as u32)?.checked_add(*answer)?;
    }
    parts.next().is_none().then_some(symbol)
}
