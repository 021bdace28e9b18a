//! What a run that released people says about it.

use std::time::Duration;

use serde::Serialize;
use undertone_core::Nats;
use undertone_core::plan::{Plan, PlanId};

use super::person::PersonReport;
use crate::answer::Answer;
use crate::frame::{Frame, Written};
use crate::kept::Kept;
use crate::number;

/// What was released, and what was not.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseReport {
    /// How many rows were read.
    pub rows: u64,
    /// How many were released.
    pub released: u64,
    /// How many were left out.
    pub skipped: u64,
    /// Rows per second, where somebody held a clock.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::as_optional_three_digits"
    )]
    pub rate: Option<f64>,
    /// The plan.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// What was drawn, one column for each.
    pub items: Vec<ReleasedItem>,
    /// What was asked for, one column of the file for each.
    pub questions: Vec<ReleasedQuestion>,
    /// How many items drawn at random each row answers.
    pub asked: u32,
    /// What the columns that were released as they are tell about each question; empty if there are none. It is about the data,
    /// and no part of the release.
    pub kept: Vec<Kept>,
    /// The columns that were left out.
    pub left_out: Vec<String>,
    /// The keys of what a Parquet file says about itself and its release does not.
    pub notes_left_out: Vec<String>,
    /// What a row can tell about the person behind it.
    pub person: PersonReport,
    /// Where the release is.
    pub output: String,
    /// Whether it took the place of a file that held something: if that was a release of the same data, this is a
    /// second draw.
    pub replaced: bool,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
}

/// A column of a release.
#[derive(Debug, Clone, Serialize)]
pub struct ReleasedItem {
    /// What the column is called.
    pub name: String,
    /// How many rows answered.
    pub answered: u64,
    /// What the item costs a person: LDP in one period, however often it is reported.
    #[serde(serialize_with = "number::as_certified")]
    pub cost: Option<Nats>,
}

/// A question and the cells of its column.
#[derive(Debug, Clone, Serialize)]
pub struct ReleasedQuestion {
    /// What it is called.
    pub name: String,
    /// The file's column.
    pub column: String,
    /// How many cells it does not know.
    pub unknown: u64,
    /// How many were empty.
    pub missing: u64,
    /// How many numbers lay below its range and were taken as its lower end.
    pub clipped_below: u64,
    /// How many numbers lay above it and were taken as its upper end.
    pub clipped_above: u64,
}

impl ReleaseReport {
    pub(super) fn new(plan: &Plan, frame: &Frame, written: Written, output: String) -> Self {
        let warnings = warnings(plan, frame, &written);
        let Written { counts, chosen, kept, notes_left_out, replaced } = written;
        let answered = counts.answered.iter().copied().chain(std::iter::repeat(0));
        let items = frame.channels.iter().zip(answered).zip(plan.costs());
        let items = items.map(|((channel, answered), &cost)| ReleasedItem {
            name: channel.name.clone(),
            answered,
            cost,
        });
        let cells = counts.columns.iter().copied().chain(std::iter::repeat_with(Default::default));
        let questions = frame.asked.iter().zip(cells).map(|(asked, cells)| ReleasedQuestion {
            name: asked.name.clone(),
            column: asked.column.clone(),
            unknown: cells.unknown,
            missing: cells.missing,
            clipped_below: cells.below,
            clipped_above: cells.above,
        });
        Self {
            rows: counts.rows,
            released: counts.released,
            skipped: counts.rows - counts.released,
            rate: None,
            plan_id: plan.id(),
            items: items.collect(),
            questions: questions.collect(),
            asked: plan.parts().asked,
            kept,
            left_out: chosen.left_out,
            notes_left_out,
            person: PersonReport::of(plan).beside(&frame.keep),
            output,
            replaced,
            warnings,
        }
    }

    /// The report of a run that took so long.
    pub fn timed(self, took: Duration) -> Self {
        Self { rate: Some(self.rows as f64 / took.as_secs_f64().max(1e-9)), ..self }
    }
}

/// What a reader must not overlook.
fn warnings(plan: &Plan, frame: &Frame, written: &Written) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let counts = &written.counts;
    for (asked, cells) in frame.asked.iter().zip(&counts.columns) {
        let clipped = cells.below + cells.above;
        if clipped > 0 && clipped == counts.released {
            said.push(format!(
                "{:?}: every number lay outside the question's range: is it the right column, in the right unit?",
                asked.column
            ));
        }
        if asked.grouped(cells, counts.released) {
            said.push(format!(
                "{:?}: rows with equal values stand together, as in a sorted file: the order of the rows tells what the noise hides; shuffle the rows and release again",
                asked.column
            ));
        }
    }
    if written.replaced {
        said.push(match plan.parts().periods {
            1 => "replaced an earlier release: two draws from the same people tell more than the plan promises for one, so let only one of them out".into(),
            periods => format!(
                "replaced an earlier release: the plan's promise is about {periods} releases in all, the replaced one among them if anybody saw it"
            ),
        });
    }
    for warning in written.kept.iter().filter_map(|kept| kept.warning.as_ref()) {
        // What singles rows out is the same for every question.
        if !said.contains(warning) {
            said.push(warning.clone());
        }
    }
    said
}

impl Answer for ReleaseReport {
    fn words(&self) -> String {
        let items: Vec<String> = self
            .items
            .iter()
            .map(|item| format!("{:?} ({} answered)", item.name, item.answered))
            .collect();
        let mut words = format!(
            "{} of {} rows released under plan {}, written to {}: {}.",
            self.released,
            self.rows,
            self.plan_id,
            self.output,
            items.join(", ")
        );
        words += &format!("\n{}", self.person.in_words.join("\n"));
        for kept in &self.kept {
            words += &format!("\nkept in the clear: {}", kept.words());
        }
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
