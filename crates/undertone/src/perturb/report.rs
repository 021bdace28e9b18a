//! What a run that randomised a column says about it.

use std::time::Duration;

use serde::Serialize;
use undertone_core::{Claim, Policy, PolicyId};

use crate::answer::Answer;
use crate::frame::{Frame, Written};
use crate::kept::Kept;
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
    /// The policy; nothing where rows have policies of their own.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number::as_optional_text")]
    pub policy_id: Option<PolicyId>,
    /// What the policy promises; of several policies, what all of them promise.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// The column that says which policy a row has, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_by: Option<String>,
    /// The groups and their policies, where rows have policies of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PerturbedGroup>,
    /// The column that was randomised.
    pub column: String,
    /// What the columns that were released as they are tell about it; empty if there are none.
    pub kept: Vec<Kept>,
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

/// The rows of one group, and their policy.
#[derive(Debug, Clone, Serialize)]
pub struct PerturbedGroup {
    /// What the column of groups says.
    pub group: String,
    /// The policy.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// What it promises.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// How many rows were randomised under it and written.
    pub perturbed: u64,
}

impl PerturbReport {
    /// `by` is the column of groups, where there is one, and whether it is released.
    pub(super) fn new(
        column: String,
        (policy_by, named): (Option<String>, bool),
        policies: &[(String, Policy)],
        frame: &Frame,
        written: Written,
        output: String,
    ) -> Self {
        let mut warnings = warnings(frame, &written);
        if let Some(by) = policy_by.as_ref().filter(|_| !named) {
            warnings.push(format!(
                "column {by:?} is not released: without it nobody can tell which policy a row had, and no estimate is possible; keep it if those who get the rows may know everybody's group"
            ));
        }
        let Written { counts, chosen, kept, notes_left_out, replaced } = written;
        let groups = policies.iter().zip(&counts.groups).map(|((group, policy), &perturbed)| {
            let (group, claims) = (group.clone(), policy.draft().claims().to_vec());
            PerturbedGroup { group, policy_id: policy.id(), claims, perturbed }
        });
        let groups = groups.collect();
        let first = &policies[0].1;
        let shared = |claim: &&Claim| {
            policies.iter().all(|(_, policy)| policy.draft().claims().contains(claim))
        };
        let cells = counts.columns.first().copied().unwrap_or_default();
        Self {
            rows: counts.rows,
            perturbed: counts.released,
            unknown: cells.unknown,
            missing: cells.missing,
            skipped: counts.rows - counts.released,
            clipped: cells.below + cells.above,
            clipped_below: cells.below,
            clipped_above: cells.above,
            rate: None,
            policy_id: policy_by.is_none().then(|| first.id()),
            claims: first.draft().claims().iter().filter(shared).copied().collect(),
            policy_by,
            groups,
            warnings,
            column,
            kept,
            left_out: chosen.left_out,
            notes_left_out,
            output,
            replaced,
        }
    }

    /// The policy, or how many there are and by what.
    pub fn policies_in_words(&self) -> String {
        match (&self.policy_id, &self.policy_by) {
            (Some(id), _) => format!("policy {id}"),
            (None, by) => format!(
                "{} policies, by column {:?}",
                self.groups.len(),
                by.as_deref().unwrap_or_default()
            ),
        }
    }

    /// The report of a run that took so long.
    pub fn timed(self, took: Duration) -> Self {
        Self { rate: Some(self.rows as f64 / took.as_secs_f64().max(1e-9)), ..self }
    }
}

/// What a reader must not overlook.
fn warnings(frame: &Frame, written: &Written) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let counts = &written.counts;
    for (asked, cells) in frame.questions().zip(&counts.columns) {
        let clipped = cells.below + cells.above;
        if clipped > 0 && clipped == counts.released {
            said.push(
                "every number lay outside the policy's range: is it the right column, in the right unit?"
                    .into(),
            );
        }
        if asked.grouped(cells, counts.released) {
            said.push(
                "rows with equal values stand together, as in a sorted file: the order of the rows tells what the noise hides; shuffle the rows and perturb again"
                    .into(),
            );
        }
    }
    if written.replaced {
        said.push(
            "replaced an earlier release, or whatever the file held: two draws from the same data tell more than the policy promises for one, so let only one of them out"
                .into(),
        );
    }
    said.extend(written.kept.iter().filter_map(|kept| kept.warning.clone()));
    said
}

impl Answer for PerturbReport {
    fn words(&self) -> String {
        let claims: Vec<String> = self.claims.iter().map(ToString::to_string).collect();
        let mut words = format!(
            "Column {:?}: {} of {} rows perturbed under {} ({}), written to {}.",
            self.column,
            self.perturbed,
            self.rows,
            claims.join(" and "),
            self.policies_in_words(),
            self.output
        );
        for kept in &self.kept {
            words += &format!("\nkept in the clear: {}", kept.words());
        }
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
