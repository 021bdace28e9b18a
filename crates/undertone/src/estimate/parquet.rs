//! Counting a column of a Parquet file, one row group per thread.

use arrow_array::Array;
use undertone_estimate::Tally;

use super::counting::{BadRow, Batch, CountedKind, Counter, Reader, RowCounts, Tokens};
use crate::Error;
use crate::columns::parquet::{Coder, Column, ParquetFile, policy_note, text};
use crate::columns::{Code, RowPlace};

impl Reader<'_> {
    /// Adds a Parquet file's reports to the tallies, one for every policy.
    pub(super) fn read_parquet(
        &self,
        file: &ParquetFile,
        tallies: &mut [Tally],
    ) -> Result<RowCounts, Error> {
        let column = file.column(&self.asked.column)?;
        check_note(file, &self.asked.column, &self.policies)?;
        let policies = self.asked.policy_column.as_deref();
        let policies = policies.map(|name| file.column(name)).transpose()?;
        file.progress.expect_rows(file.rows());
        let work = |group, counter: &mut Counter| {
            Ok((self.group(file, &column, policies.as_ref(), group, counter)?, 0))
        };
        let done = |counted: &RowCounts| file.progress.add(counted.rows);
        self.count_all(&file.name, (0..file.groups()).map(Ok), 0, tallies, work, done)
    }

    /// Reads one row group.
    fn group(
        &self,
        file: &ParquetFile,
        column: &Column,
        policies: Option<&Column>,
        group: usize,
        counter: &mut Counter,
    ) -> Result<Result<RowCounts, BadRow>, Error> {
        let mut counted = RowCounts::default();
        let mut names = policies.map(|column| file.arrays(column, group)).transpose()?;
        let odd = |name: &str, kind: &str| file.problem(format!("column {name:?} holds {kind}"));
        let first = self.policies.first().map(|tokens| &tokens.kind);
        let mut coder = match (first, &names) {
            (Some(CountedKind::Indices(lookup)), None) => Some(Coder::new(lookup)),
            _ => None,
        };
        let mut codes = Vec::new();
        for array in file.arrays(column, group)? {
            counter.flush()?;
            let array = array?;
            let named = names.as_mut().and_then(Iterator::next).transpose()?;
            if let (Some(coder), [Batch::Indices(indices)]) =
                (&mut coder, counter.batches.as_mut_slice())
            {
                codes.clear();
                coder.codes(&array, &mut codes).map_err(|kind| odd(&column.name, kind))?;
                for &code in &codes {
                    counted.rows += 1;
                    let taken = match code {
                        Code::Symbol(index) => {
                            indices.push(index);
                            Ok(())
                        }
                        code => self.skip(code, &mut counted, || self.complain(code)),
                    };
                    if let Err(what) = taken {
                        return Ok(Err(bad(counted.rows, what)));
                    }
                }
                continue;
            }
            for at in 0..array.len() {
                counted.rows += 1;
                let cell = text(&array, at).map_err(|kind| odd(&column.name, kind))?;
                let policy = match (&named, policies) {
                    (Some(named), Some(column)) if at < named.len() => {
                        let name = text(named, at).map_err(|kind| odd(&column.name, kind))?;
                        Some(name.unwrap_or_default())
                    }
                    _ => None,
                };
                let cell = cell.unwrap_or_default();
                let taken = self.row(&cell, policy.as_deref(), &mut counter.batches, &mut counted);
                if let Err(what) = taken {
                    return Ok(Err(bad(counted.rows, what)));
                }
            }
        }
        Ok(Ok(counted))
    }

    fn complain(&self, code: Code) -> String {
        let complaint = self.policies.first().map(|tokens| tokens.complaint(code));
        format!(", column {:?} {}", self.asked.column, complaint.unwrap_or_default())
    }
}

/// A row of the group, counted from 1.
fn bad(row: u64, what: String) -> BadRow {
    BadRow { place: RowPlace { row, line: None }, what }
}

/// Refuses a column that says it was perturbed under another policy.
fn check_note(file: &ParquetFile, column: &str, policies: &[Tokens<'_>]) -> Result<(), Error> {
    let Some(id) = file.note(&policy_note(column)) else { return Ok(()) };
    if policies.iter().any(|tokens| tokens.policy.id().to_string() == id) {
        return Ok(());
    }
    Err(file
        .problem(format!("column {column:?} was perturbed under policy {id}, which is not given")))
}
