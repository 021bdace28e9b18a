//! The reports that were collected, round by round.

use std::io::BufRead;

use undertone_core::Response;

use super::plan::HittersPlan;
use super::report::{HittersReport, NoReport};
use crate::Error;
use crate::columns::Source;
use crate::document::unplaced;

/// Reports of one plan. Any split of them, brought together again, gives the same answer.
#[derive(Debug, Clone)]
pub struct CollectedReports {
    rounds: Vec<RoundReports>,
}

/// The reports of one round.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundReports {
    pub(super) seeds: Vec<u8>,
    pub(super) tokens: Vec<u8>,
    pub(super) count: usize,
}

/// The column of a file of reports.
pub const REPORT_COLUMN: &str = "report";

impl CollectedReports {
    /// No reports of a plan, as yet.
    pub fn none(plan: &HittersPlan) -> Self {
        let rounds = vec![RoundReports::default(); plan.prefixes().len()];
        Self { rounds }
    }

    /// Adds a report of the plan.
    pub fn add(&mut self, report: &HittersReport) {
        let round = &mut self.rounds[report.round];
        round.seeds.extend(&report.seed);
        round.tokens.extend(&report.token);
        round.count += 1;
    }

    /// Adds a report from its digits.
    pub fn add_text(&mut self, plan: &HittersPlan, text: &str) -> Result<(), NoReport> {
        self.add(&plan.read(text)?);
        Ok(())
    }

    /// Adds the column `report` of a file. Errors begin with the file's name.
    pub fn add_file(
        &mut self,
        plan: &HittersPlan,
        rows: Source,
        column: &str,
    ) -> Result<(), Error> {
        let name = rows.name().to_owned();
        let count = rows.each_row(&[column], |row| {
            let wrong = |what: String| {
                let problem = format!("{}, column {column:?} {what}", row.place());
                Error::in_document(&name, problem)
            };
            let Some(text) = &row.cells[0] else {
                return Err(wrong("is empty: leave people without a report out".into()));
            };
            self.add_text(plan, text).map_err(|why| wrong(why.problem(plan)))
        })?;
        match count {
            0 => Err(Error::in_document(&name, "there are no reports")),
            _ => Ok(()),
        }
    }

    /// Adds messages, one `response/1` to the kernel's plan on every line that is not empty: their own ids are the seeds, for plans
    /// whose seeds have at most 16 bytes. Errors begin with the file's name.
    pub fn add_responses(
        &mut self,
        plan: &HittersPlan,
        name: &str,
        lines: impl BufRead,
    ) -> Result<(), Error> {
        for (number, line) in (1u64..).zip(lines.lines()) {
            let line = line.map_err(|error| Error::of_system("read", name, &error))?;
            let text = line.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let wrong = |what: String| Error::in_document(name, format!("line {number}: {what}"));
            let response =
                Response::from_json(text).map_err(|error| wrong(unplaced(&error.to_string())))?;
            let report = plan.of_response(&response).map_err(|why| match why {
                NoReport::Form => wrong(format!(
                    "the plan's seeds have {} bytes, and a response's id has 16: take reports of `hitters report`, or shorter values",
                    plan.seed_bytes()
                )),
                why => wrong(format!("the response {}", why.problem(plan))),
            })?;
            self.add(&report);
        }
        Ok(())
    }

    /// Adds reports of the same plan that were collected elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (mine, other) in self.rounds.iter_mut().zip(&other.rounds) {
            mine.seeds.extend(&other.seeds);
            mine.tokens.extend(&other.tokens);
            mine.count += other.count;
        }
    }

    /// How many reports there are.
    pub fn count(&self) -> u64 {
        self.rounds.iter().map(|round| round.count as u64).sum()
    }

    /// The reports of each round without repeats, and how many repeats there were.
    pub(super) fn distinct(&self, plan: &HittersPlan) -> (Vec<RoundReports>, u64) {
        let mut repeats = 0;
        let (seed, token) = (plan.seed_bytes(), plan.support().token_bytes());
        let distinct = |round: &RoundReports| {
            let of = |at: usize| &round.seeds[at * seed..(at + 1) * seed];
            let mut order: Vec<u32> = (0..round.count as u32).collect();
            // Stable: the first of equals stays.
            order.sort_by(|&a, &b| of(a as usize).cmp(of(b as usize)));
            order.dedup_by(|b, a| of(*a as usize) == of(*b as usize));
            repeats += (round.count - order.len()) as u64;
            let mut kept = RoundReports { count: order.len(), ..RoundReports::default() };
            for at in order {
                let at = at as usize;
                kept.seeds.extend(of(at));
                kept.tokens.extend(&round.tokens[at * token..(at + 1) * token]);
            }
            kept
        };
        let rounds = self.rounds.iter().map(distinct).collect();
        (rounds, repeats)
    }
}
