//! What all rounds of a survey tell about one person together.

use std::sync::Arc;

use serde::Serialize;
use undertone::answer::within_document;
use undertone::together::{self, Together};
use undertone_core::{Policy, Ratio};
use undertone_wire::{Code, Problem};

use super::CachedSurvey;

/// What a person of one group who answers every round so far can have told at worst.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GroupTogether {
    pub(crate) group: String,
    rounds: usize,
    /// By the kernel's rule for sequences, over every answer, under every prior any round declared.
    #[serde(serialize_with = "within_document")]
    together: Together,
    pub(crate) in_words: String,
}

/// What all rounds so far tell together, for each group.
pub(crate) fn by_group(cached: &CachedSurvey) -> Result<Vec<GroupTogether>, Problem> {
    let mut groups: Vec<&str> = Vec::new();
    for group in cached.survey.rounds.iter().flat_map(|round| &round.groups) {
        if !groups.contains(&group.group.as_str()) {
            groups.push(&group.group);
        }
    }
    groups.into_iter().filter_map(|group| of_group(cached, group).transpose()).collect()
}

fn of_group(cached: &CachedSurvey, group: &str) -> Result<Option<GroupTogether>, Problem> {
    let mut policies: Vec<Arc<Policy>> = Vec::new();
    for round in &cached.survey.rounds {
        let own = round.groups.iter().filter(|other| other.group == group);
        for id in own.filter_map(|other| other.policy.parse().ok()) {
            policies.push(cached.policy(&id)?.clone());
        }
    }
    if policies.is_empty() {
        return Ok(None);
    }
    let together = together::together(&policies, &[])
        .map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?
        .together;
    let shown =
        |ratio: Ratio| ratio.ln_up().map_or("no finite number of".into(), |nats| nats.to_string());
    let belief = match together.attained.lip {
        Some(lip) => format!(" and belief in an answer changes by at most {} nats", shown(lip)),
        None => String::new(),
    };
    let kind = if together.exact { "exactly, over every answer" } else { "an upper bound" };
    let rounds = match policies.len() {
        1 => "the one round".into(),
        count => format!("all {count} rounds"),
    };
    let in_words = format!(
        "Someone who answers {rounds} has told this much at most: the likelihoods of any two answers differ by at most {} nats{belief} ({kind}).",
        shown(together.attained.ldp)
    );
    Ok(Some(GroupTogether { group: group.into(), rounds: policies.len(), together, in_words }))
}
