//! A plan re-checked: its claims, what every item costs, and what an observer of everything can learn.

use serde::Serialize;
use undertone_core::{Nats, Plan, PlanDraft, PlanId, PolicyId};
use undertone_design::plan::inclusion::Draw;

use super::costs::{PersonCosts, number_of_level};
use super::report::claims;
use crate::answer::Answer;
use crate::number;

/// A plan that was re-checked: verified, or refused with what shows it.
#[derive(Debug, Clone, Serialize)]
pub struct PlanReport {
    /// Whether every policy and every claim about the person holds.
    pub verified: bool,
    /// The plan's identity.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What is promised.
    pub claims: Vec<String>,
    /// What is randomised as one.
    pub items: Vec<ShownItem>,
    /// How many of the drawn items a device answers.
    pub asked: u32,
    /// How many times the plan is answered in all.
    pub periods: u32,
    /// What everything one person sends tells; nothing of a plan that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonCosts>,
    /// Where the law comes from.
    pub source: String,
    /// The plan, if it was verified.
    #[serde(skip)]
    pub plan: Option<Plan>,
}

/// One item of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct ShownItem {
    /// The names of its questions, joined.
    pub name: String,
    /// The policy that randomises it.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// How it is randomised, in a word: the shape of its policy.
    pub shape: &'static str,
    /// The LDP it attains, in nats rounded up.
    #[serde(serialize_with = "number_of_level")]
    pub attained: Option<Nats>,
    /// With repeated reports, the LDP of one report alone.
    #[serde(serialize_with = "number_of_level")]
    pub first_report: Option<Nats>,
    /// How likely a device is to draw it, relative to the others; 0 if everybody answers it.
    pub weight: u32,
    /// The part of all people who answer it.
    #[serde(serialize_with = "number::as_value")]
    pub chance: f64,
}

/// Re-checks every policy and every claim of a plan document exactly.
pub fn verify(draft: PlanDraft) -> PlanReport {
    let parts = draft.parts();
    let (asked, periods, source) = (parts.asked, parts.periods, parts.provenance.source.clone());
    let plan_id = draft.id();
    let (plan, refusal) = match draft.verify() {
        Ok(plan) => (Some(plan), None),
        Err(refusal) => (None, Some(refusal.to_string())),
    };
    PlanReport {
        verified: plan.is_some(),
        plan_id,
        refusal,
        claims: plan.as_ref().map(claims).unwrap_or_default(),
        items: plan.as_ref().map(items).unwrap_or_default(),
        asked,
        periods,
        person: plan.as_ref().map(PersonCosts::of),
        source,
        plan,
    }
}

fn items(plan: &Plan) -> Vec<ShownItem> {
    let parts = plan.parts();
    let drawn = parts.drawn();
    let weights: Vec<f64> = drawn.iter().map(|&at| f64::from(parts.items[at].weight)).collect();
    let mut chances = vec![1.0; parts.items.len()];
    if !drawn.is_empty() {
        let found = Draw { weights: &weights, asked: parts.asked as usize }.chances();
        drawn.iter().zip(found).for_each(|(&at, chance)| chances[at] = chance);
    }
    let item = |(at, item): (usize, &undertone_core::Item)| {
        let policy = plan.policy_of(at);
        ShownItem {
            name: parts.item_name(at),
            policy_id: policy.id(),
            shape: policy.draft().shape().name(),
            attained: plan.costs()[at],
            first_report: plan.first_report(at).0,
            weight: item.weight,
            chance: chances[at],
        }
    };
    parts.items.iter().enumerate().map(item).collect()
}

/// How many items each person answers, in a sentence.
pub(super) fn answering(everybody: usize, drawn: usize, asked: u32) -> String {
    match (everybody, drawn) {
        (1, 0) => "Everybody answers the one item.".into(),
        (everybody, 0) => format!("Everybody answers all {everybody} items."),
        (0, drawn) => format!("Each person draws {asked} of {drawn} items, once."),
        (1, drawn) => {
            format!("Everybody answers one item, and draws {asked} of {drawn} more, once.")
        }
        (everybody, drawn) => {
            format!("Everybody answers {everybody} items, and draws {asked} of {drawn} more, once.")
        }
    }
}

impl Answer for PlanReport {
    fn words(&self) -> String {
        match (&self.person, &self.refusal) {
            (Some(person), _) => {
                let claims = self.claims.join(" and ");
                let drawn = self.items.iter().filter(|item| item.weight > 0).count();
                let who = answering(self.items.len() - drawn, drawn, self.asked);
                format!("verified: {claims}\nplan id: {}\n{who}\n{}", self.plan_id, person.words())
            }
            (None, Some(refusal)) => format!("refused: {refusal}"),
            (None, None) => String::new(),
        }
    }

    fn is_good(&self) -> bool {
        self.verified
    }
}
