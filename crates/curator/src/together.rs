//! What all rounds of a survey tell about one person together.

use serde_json::{Value, json};
use undertone_core::{Policy, Ratio, Sequence};

use crate::app::CachedSurvey;
use undertone_wire::Problem;

/// For each group, what a person who answers every round so far can have told at worst: by the kernel's rule for
/// sequences, over every answer, under every prior any round declared.
pub(crate) fn by_group(cached: &CachedSurvey) -> Result<Vec<Value>, Problem> {
    let mut groups: Vec<&str> = Vec::new();
    for group in cached.survey.rounds.iter().flat_map(|round| &round.groups) {
        if !groups.contains(&group.group.as_str()) {
            groups.push(&group.group);
        }
    }
    groups.into_iter().map(|group| of_group(cached, group)).collect()
}

fn of_group(cached: &CachedSurvey, group: &str) -> Result<Value, Problem> {
    let mut policies: Vec<&Policy> = Vec::new();
    for round in &cached.survey.rounds {
        let own = round.groups.iter().filter(|other| other.group == group);
        for id in own.filter_map(|other| other.policy.parse().ok()) {
            policies.push(cached.policy(&id)?);
        }
    }
    let Some(standing) = Sequence::together(&policies) else { return Ok(Value::Null) };
    let level = |ratio: Ratio| ratio.ln_up().map(|nats| nats.to_string());
    let (ldp, lip) = (level(standing.ldp), standing.lip.and_then(level));
    let shown = |level: &Option<String>| level.clone().unwrap_or("no finite number of".into());
    let belief = match standing.lip {
        Some(_) => format!(" and belief in an answer changes by at most {} nats", shown(&lip)),
        None => String::new(),
    };
    let kind = if standing.exact { "exactly, over every answer" } else { "an upper bound" };
    let rounds = match policies.len() {
        1 => "the one round".into(),
        count => format!("all {count} rounds"),
    };
    let words = format!(
        "Someone who answers {rounds} has told this much at most: the likelihoods of any two answers differ by at most {} nats{belief} ({kind}).",
        shown(&ldp)
    );
    Ok(json!({
        "group": group, "rounds": policies.len(), "exact": standing.exact, "ldp": ldp, "lip": lip, "in_words": words,
    }))
}
