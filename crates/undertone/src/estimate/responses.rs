//! Responses to a plan: frames that are read, messages that are read, and tallies that were stored.

use std::collections::HashSet;
use std::io::BufRead;

use undertone_core::{Plan, Response};
use undertone_estimate::PlanTally;
use undertone_estimate::plan::items_together;

use super::counting::RowCounts;
use super::released::{FrameReader, ReleasedFrame};
use crate::Error;
use crate::columns::Source;
use crate::combined::item_columns;
use crate::document::{read, unplaced};

/// The responses of one plan, counted.
#[derive(Debug, Clone)]
pub struct CountedResponses {
    plan: Plan,
    tally: PlanTally,
    rows: RowCounts,
    repeated: u64,
    /// The ids of messages, each of which counts once.
    seen: HashSet<[u8; 16]>,
}

/// The longest line of a file of responses: 4,096 items with rows of many bits.
const LONGEST_LINE: u64 = 1 << 28;

impl CountedResponses {
    /// No responses of a plan, as yet. Of every list of two or three questions, called by their names, combinations of
    /// answers are counted too, for their joint shares.
    pub fn none(plan: Plan, together: &[Vec<String>]) -> Result<Self, Error> {
        let mut crosses = Vec::new();
        for names in together {
            let wrong = |problem: String| Error::field("pairs", problem);
            let number = |name: &String| {
                let known = plan.parts().questions.iter();
                let place = known.clone().position(|question| question.name == *name);
                place.map(|place| place as u32).ok_or_else(|| {
                    let all: Vec<&str> = known.map(|question| question.name.as_str()).collect();
                    wrong(format!(": there is no question {name:?}; there are {}", all.join(", ")))
                })
            };
            let questions: Vec<u32> = names.iter().map(number).collect::<Result<_, _>>()?;
            let sets = items_together(&plan, &questions);
            crosses.extend(sets.map_err(|error| wrong(format!(": {error}")))?);
        }
        let tally = PlanTally::with_crosses(&plan, &crosses).map_err(Error::input)?;
        let rows = RowCounts::default();
        Ok(Self { plan, tally, rows, repeated: 0, seen: HashSet::new() })
    }

    /// Adds a released frame: a column for every item, called by its questions' names, and a row for every person.
    pub fn add_frame(&mut self, rows: Source, how: &ReleasedFrame) -> Result<(), Error> {
        let mut tally = self.tally.clone();
        let counted = FrameReader::new(&self.plan, how).read(rows, &mut tally)?;
        self.tally = tally;
        self.rows.add(&counted);
        Ok(())
    }

    /// Adds messages, one `response/1` on every line that is not empty. A message whose id was read before is left out, and
    /// counted as repeated. Errors begin with the file's name.
    pub fn add_messages(&mut self, name: &str, mut lines: impl BufRead) -> Result<(), Error> {
        use std::io::Read;
        let (mut tally, mut line, mut number) = (self.tally.clone(), String::new(), 0u64);
        let (mut fresh, mut repeated, mut rows) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let count = lines.by_ref().take(LONGEST_LINE).read_line(&mut line);
            if count.map_err(|error| Error::of_system("read", name, &error))? == 0 {
                break;
            }
            number += 1;
            let text = line.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            rows += 1;
            let wrong = |error: &dyn std::fmt::Display| {
                Error::in_document(name, format!("line {number}: {error}"))
            };
            let response =
                Response::from_json(text).map_err(|error| wrong(&unplaced(&error.to_string())))?;
            if !self.seen.insert(response.id.0) {
                repeated += 1;
                continue;
            }
            fresh.push(response.id.0);
            if let Err(error) = tally.add(&self.plan, &response) {
                // A file that is refused has not been read.
                fresh.iter().for_each(|id| {
                    self.seen.remove(id);
                });
                return Err(wrong(&error));
            }
        }
        self.tally = tally;
        self.repeated += repeated;
        self.rows.add(&RowCounts { rows, ..RowCounts::default() });
        Ok(())
    }

    /// Adds a stored tally, as [`CountedResponses::to_json`] writes it. Errors begin with the document's name.
    pub fn add_stored(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let tally = read(name, text, PlanTally::from_json)?;
        self.add(name, &tally)
    }

    /// Adds a tally of the plan. Errors begin with the tally's name.
    pub fn add(&mut self, name: &str, tally: &PlanTally) -> Result<(), Error> {
        let fail = |error: undertone_estimate::Error| Error::in_document(name, error);
        tally.check(&self.plan).map_err(fail)?;
        if self.tally.responses() == 0 && self.tally.crosses().is_empty() {
            // Which combinations are counted is what the first tally says.
            self.tally = tally.clone();
            return Ok(());
        }
        self.tally.merge(tally).map_err(fail)
    }

    /// All that was counted, as a document for [`CountedResponses::add_stored`].
    pub fn to_json(&self) -> String {
        self.tally.to_json()
    }

    /// What each item's column of a released frame is called.
    pub fn columns(&self) -> Vec<String> {
        item_columns(&self.plan)
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The counts.
    pub fn tally(&self) -> &PlanTally {
        &self.tally
    }

    /// What happened to the rows and messages that were read.
    pub fn rows(&self) -> RowCounts {
        self.rows
    }

    /// How many messages were left out because their id had been read before.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }
}
