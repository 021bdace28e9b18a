//! What a run that randomised a column says about it.

use std::time::Duration;

use serde::Serialize;
use undertone_core::{Claim, PolicyId};

use super::noise::Counts;
use super::{Job, Written};
use crate::answer::Answer;
use crate::number;

/// What was released, and what was not.
#[derive(Debug, Clone, Serialize)]
pub struct PerturbReport {
    /// How many rows were read.
    pub rows: u64,
    /// How many were randomised and written.
    pub perturbed: u64,
    /// How many had a value the policy does not know.
    pub unknown: u64,
    /// How many had no value.
    pub missing: u64,
    /// How many were left out.
    pub skipped: u64,
    /// How many numbers lay outside the policy's range.
    pub clipped: u64,
    /// How many numbers lay below it and were taken as its lower end.
    pub clipped_below: u64,
    /// How many numbers lay above it and were taken as its upper end.
    pub clipped_above: u64,
    /// Rows per second, where somebody held a clock.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::as_optional_three_digits"
    )]
    pub rate: Option<f64>,
    /// The policy.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// What the policy promises.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// The column that was randomised.
    pub column: String,
    /// The columns that were released as they are.
    pub kept: Vec<String>,
    /// The columns that were left out.
    pub left_out: Vec<String>,
    /// The keys of what a Parquet file says about itself and its release does not.
    pub notes_left_out: Vec<String>,
    /// Where the release is.
    pub output: String,
    /// Whether it took the place of a file that held something: if that was a release of the same data, this is a
    /// second draw.
    pub replaced: bool,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
}

impl PerturbReport {
    pub(super) fn new(job: Job, written: Written, output: String) -> Self {
        let Written { counts, chosen, notes_left_out, replaced } = written;
        let policy = &job.plan.policy;
        Self {
            rows: counts.rows,
            perturbed: counts.perturbed,
            unknown: counts.unknown,
            missing: counts.missing,
            skipped: counts.skipped,
            clipped: counts.below + counts.above,
            clipped_below: counts.below,
            clipped_above: counts.above,
            rate: None,
            policy_id: policy.id(),
            claims: policy.draft().claims().to_vec(),
            warnings: warnings(&job, &counts, replaced),
            column: job.column,
            kept: chosen.kept_names,
            left_out: chosen.left_out,
            notes_left_out,
            output,
            replaced,
        }
    }

    /// The report of a run that took so long.
    pub fn timed(self, took: Duration) -> Self {
        Self { rate: Some(self.rows as f64 / took.as_secs_f64().max(1e-9)), ..self }
    }
}

/// What a reader must not overlook.
fn warnings(job: &Job, counts: &Counts, replaced: bool) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let clipped = counts.below + counts.above;
    if clipped > 0 && clipped == counts.perturbed {
        said.push(
            "every number lay outside the policy's range: is it the right column, in the right unit?"
                .into(),
        );
    }
    if job.plan.grouped(counts) {
        said.push(
            "rows with equal values stand together, as in a sorted file: the order of the rows tells what the noise hides; shuffle the rows and perturb again"
                .into(),
        );
    }
    if replaced {
        said.push(
            "replaced an earlier release: two draws from the same data tell more than the policy promises for one, so let only one of them out"
                .into(),
        );
    }
    said
}

impl Answer for PerturbReport {
    fn words(&self) -> String {
        let claims: Vec<String> = self.claims.iter().map(ToString::to_string).collect();
        let mut words = format!(
            "Column {:?}: {} of {} rows perturbed under {} (policy {}), written to {}.",
            self.column,
            self.perturbed,
            self.rows,
            claims.join(" and "),
            self.policy_id,
            self.output
        );
        if !self.kept.is_empty() {
            words += &format!("\nkept in the clear: {}", self.kept.join(", "));
        }
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
