//! Files of older versions. What they spent stays spent.

use super::raw::{RawAnswer, RawBudget, RawBudgets, RawPage, RawRelease, RawState, RawTold};
use crate::budget::Budgets;
use crate::datum;
use serde::{Deserialize, Serialize};
use undertone_core::Object;

/// Had budgets for questions and collectors, noted no days, and knew nothing of plans.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Second {
    generation: u64,
    budget: String,
    collector_budget: String,
    data: Vec<Object<OldPage>>,
    policies: Vec<String>,
}

/// Noted surveys by their id, had no budget for collectors and no generation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct First {
    budget: String,
    data: Vec<Object<OldPage>>,
    policies: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OldPage {
    datum: String,
    releases: Vec<Object<OldRelease>>,
    answers: Vec<Object<RawAnswer>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OldRelease {
    policy: String,
    cost: Option<String>,
}

impl First {
    /// A page named after the survey its reports went to says nothing about the question; one with another name was named by a
    /// program and keeps it.
    pub(super) fn migrated(self) -> RawState {
        let rename = |Object(mut page): Object<OldPage>| {
            if page.answers.iter().all(|answer| answer.0.survey == page.datum) {
                page.datum = datum::of_old_survey(&page.datum);
            }
            Object(page)
        };
        let second = Second {
            generation: 0,
            budget: self.budget,
            collector_budget: Budgets::DEFAULT.collector.nats.to_string(),
            data: self.data.into_iter().map(rename).collect(),
            policies: self.policies,
        };
        second.migrated()
    }
}

impl Second {
    /// Budgets that were for ever stay so; the device gets the default. No day was noted: the first one seen becomes that of
    /// all releases, so that nothing refills early.
    pub(super) fn migrated(mut self) -> RawState {
        self.data.sort_by(|a, b| a.0.datum.cmp(&b.0.datum));
        let ever = |nats| Object(RawBudget { nats, days: None });
        RawState {
            generation: self.generation,
            day: 0,
            moved: None,
            budgets: Object(RawBudgets {
                question: ever(self.budget),
                collector: ever(self.collector_budget),
                device: RawBudget::write(Budgets::DEFAULT.device),
            }),
            releases: self.data.iter().flat_map(|Object(page)| page.releases()).collect(),
            data: self.data.into_iter().map(|Object(page)| page.answered()).collect(),
            plans: Vec::new(),
            policies: self.policies,
        }
    }
}

impl OldPage {
    /// Each release went to the collectors that its reports went to.
    fn releases(&self) -> impl Iterator<Item = Object<RawRelease>> {
        self.releases.iter().map(|Object(OldRelease { policy, cost })| {
            let sent = || {
                let reports = self.answers.iter().map(|Object(answer)| answer);
                reports.filter(|answer| answer.report["policy"] == policy.as_str())
            };
            let mut collectors: Vec<Object<RawTold>> = Vec::new();
            for answer in sent() {
                if collectors.iter().all(|told| told.0.address != answer.curator) {
                    collectors.push(Object(RawTold { address: answer.curator.clone(), day: 0 }));
                }
            }
            let known = sent().next().and_then(|answer| answer.report["id"].as_str());
            Object(RawRelease {
                id: known.map_or_else(|| "0".repeat(32), Into::into),
                data: vec![self.datum.clone()],
                policy: policy.clone(),
                cost: cost.clone(),
                day: 0,
                collectors,
                part: None,
            })
        })
    }

    fn answered(self) -> Object<RawPage> {
        Object(RawPage { datum: self.datum, answers: self.answers })
    }
}
