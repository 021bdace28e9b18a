//! The records of a device's file, and what they stand for.

use super::plans::{KeptResponse, PlanNotes, PlanPart};
use super::state::{Moved, Noted, State, Told};
use super::{Delivery, Remembered};
use crate::budget::{Budget, Budgets};
use crate::day::Day;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use undertone_core::{Draft, Nats, Object, PlanId, Policy, Report, ReportId, Response, Token};
use undertone_wire::{ProblemDocument, hex};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawState {
    pub(super) generation: u64,
    pub(super) day: u32,
    pub(super) moved: Option<Object<RawMoved>>,
    pub(super) budgets: Object<RawBudgets>,
    pub(super) releases: Vec<Object<RawRelease>>,
    pub(super) data: Vec<Object<RawPage>>,
    pub(super) plans: Vec<Object<RawPlan>>,
    pub(super) policies: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMoved {
    id: String,
    day: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBudgets {
    pub(super) question: Object<RawBudget>,
    pub(super) collector: Object<RawBudget>,
    pub(super) device: Object<RawBudget>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBudget {
    pub(super) nats: String,
    pub(super) days: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRelease {
    pub(super) id: String,
    pub(super) data: Vec<String>,
    pub(super) policy: String,
    pub(super) cost: Option<String>,
    pub(super) day: u32,
    pub(super) collectors: Vec<Object<RawTold>>,
    pub(super) part: Option<Object<RawPart>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTold {
    pub(super) address: String,
    pub(super) day: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPart {
    plan: String,
    item: u32,
    period: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPage {
    pub(super) datum: String,
    pub(super) answers: Vec<Object<RawAnswer>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlan {
    plan: String,
    choice: Option<Vec<u32>>,
    memos: Vec<Object<RawMemo>>,
    responses: Vec<Object<RawResponse>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawResponse {
    collector: String,
    period: u32,
    response: Value,
    delivery: RawDelivery,
}

/// Has either a token or bits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMemo {
    item: u32,
    period: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAnswer {
    pub(super) curator: String,
    pub(super) survey: String,
    pub(super) report: Value,
    delivery: RawDelivery,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum RawDelivery {
    Waiting,
    Accepted,
    Refused { status: u16, code: String, detail: String },
}

fn nats(text: &str) -> Result<Nats, String> {
    let nats = Nats::parse_down(text).map_err(|error| error.to_string())?;
    if nats.to_string() == text { Ok(nats) } else { Err(format!("{text} is not as printed")) }
}

fn day(days: u32) -> Result<Day, String> {
    Day::new(days).ok_or_else(|| format!("{days} is past the last day"))
}

/// As many bytes as an id has.
fn id<const N: usize>(digits: &str) -> Result<[u8; N], String> {
    let bytes = hex::decode(digits).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("{digits:?} is no id"))
}

impl RawState {
    pub(super) fn write(state: &State) -> Result<Self, serde_json::Error> {
        let page = |(datum, answers): (&String, &Vec<Remembered>)| {
            let answers = answers.iter().map(|answer| RawAnswer::write(answer).map(Object));
            let answers = answers.collect::<Result<_, serde_json::Error>>()?;
            Ok(Object(RawPage { datum: datum.clone(), answers }))
        };
        let moved =
            |moved: Moved| Object(RawMoved { id: moved.id.to_string(), day: moved.day.days() });
        let policy = |policy: &Arc<Policy>| hex::encode(&policy.draft().to_bytes());
        Ok(Self {
            generation: state.generation,
            day: state.day.days(),
            moved: state.moved.map(moved),
            budgets: Object(RawBudgets {
                question: RawBudget::write(state.budgets.question),
                collector: RawBudget::write(state.budgets.collector),
                device: RawBudget::write(state.budgets.device),
            }),
            releases: state.releases.iter().map(RawRelease::write).collect(),
            data: state.answers.iter().map(page).collect::<Result<_, serde_json::Error>>()?,
            plans: state.plans.iter().map(RawPlan::write).collect::<Result<_, _>>()?,
            policies: state.policies.values().map(policy).collect(),
        })
    }

    /// The state, if every part of it is what it must be.
    pub(super) fn decoded(self) -> Result<State, String> {
        let Object(RawBudgets { question, collector, device }) = self.budgets;
        let mut state = State::new(Nats::ZERO);
        state.budgets = Budgets {
            question: question.0.read()?,
            collector: collector.0.read()?,
            device: device.0.read()?,
        };
        state.generation = self.generation;
        state.day = day(self.day)?;
        let moved = |Object(moved): Object<RawMoved>| {
            Ok::<_, String>(Moved { id: ReportId(id(&moved.id)?), day: day(moved.day)? })
        };
        state.moved = self.moved.map(moved).transpose()?;
        let releases = self.releases.into_iter().map(|Object(raw)| raw.read(state.day));
        state.releases = releases.collect::<Result<_, String>>()?;
        for Object(RawPage { datum, answers }) in self.data {
            let answers: Vec<Remembered> =
                answers.into_iter().map(|raw| raw.0.read()).collect::<Result<_, _>>()?;
            // What was sent must have been paid for.
            if !answers.iter().all(|answer| state.has_released(&datum, answer.report.policy)) {
                return Err(format!("{datum:?} has a report that its ledger does not know"));
            }
            if state.answers.insert(datum.clone(), answers).is_some() {
                return Err(format!("{datum:?} occurs twice"));
            }
        }
        for Object(raw) in self.plans {
            raw.read(&mut state)?;
        }
        for digits in &self.policies {
            let bytes = hex::decode(digits).ok_or("a policy is not hexadecimal")?;
            let draft = Draft::from_bytes(&bytes).map_err(|error| error.to_string())?;
            let policy = draft.verify().map_err(|refusal| refusal.to_string())?;
            state.policies.insert(policy.id(), Arc::new(policy));
        }
        Ok(state)
    }
}

impl RawBudget {
    pub(super) fn write(budget: Budget) -> Object<Self> {
        let days = budget.days.map(NonZeroU32::get);
        Object(Self { nats: budget.nats.to_string(), days })
    }

    fn read(&self) -> Result<Budget, String> {
        let nats = nats(&self.nats)?;
        let Some(days) = self.days else { return Ok(Budget::ever(nats)) };
        Budget::within(nats, days).ok_or_else(|| format!("a budget cannot refill in {days} days"))
    }
}

impl RawRelease {
    fn write(noted: &Noted) -> Object<Self> {
        let told =
            |told: &Told| Object(RawTold { address: told.address.clone(), day: told.day.days() });
        let part = |part: PlanPart| {
            let plan = part.plan.to_string();
            Object(RawPart { plan, item: part.item, period: part.period })
        };
        Object(Self {
            id: noted.id.to_string(),
            data: noted.data.clone(),
            policy: noted.policy.to_string(),
            cost: noted.cost.map(|cost| cost.to_string()),
            day: noted.day.days(),
            collectors: noted.collectors.iter().map(told).collect(),
            part: noted.part.map(part),
        })
    }

    /// A release of a day that the device has seen.
    fn read(self, latest: Day) -> Result<Noted, String> {
        let seen = |days: u32| {
            let day = day(days)?;
            let words = || format!("a release of {day} is later than the device's latest day");
            (day <= latest).then_some(day).ok_or_else(words)
        };
        if self.data.is_empty() {
            return Err("a release names no datum".into());
        }
        let told = |Object(told): Object<RawTold>| {
            Ok::<_, String>(Told { day: seen(told.day)?, address: told.address })
        };
        let part = |Object(RawPart { plan, item, period }): Object<RawPart>| {
            Ok::<_, String>(PlanPart { plan: PlanId(id(&plan)?), item, period })
        };
        Ok(Noted {
            id: ReportId(id(&self.id)?),
            policy: self.policy.parse().map_err(|_| "a policy's id is not one".to_owned())?,
            cost: self.cost.as_deref().map(nats).transpose()?,
            day: seen(self.day)?,
            collectors: self.collectors.into_iter().map(told).collect::<Result<_, _>>()?,
            part: self.part.map(part).transpose()?,
            data: self.data,
        })
    }
}

impl RawPlan {
    fn write((plan, notes): (&PlanId, &PlanNotes)) -> Result<Object<Self>, serde_json::Error> {
        let memo = |(&(item, period), token): (&(u32, u32), &Token)| {
            let (token, bits) = match token {
                Token::Index(index) => (Some(*index), None),
                Token::Bits(bits) => (None, Some(hex::encode(bits))),
            };
            Object(RawMemo { item, period, token, bits })
        };
        let response = |kept: &KeptResponse| {
            Ok(Object(RawResponse {
                collector: kept.collector.clone(),
                period: kept.period,
                response: serde_json::from_str(&kept.response.to_json())?,
                delivery: RawDelivery::write(&kept.delivery),
            }))
        };
        Ok(Object(Self {
            plan: plan.to_string(),
            choice: notes.choice.clone(),
            memos: notes.memos.iter().map(memo).collect(),
            responses: notes.responses.iter().map(response).collect::<Result<_, _>>()?,
        }))
    }

    /// Adds what is remembered of one plan to a state whose releases are known.
    fn read(self, state: &mut State) -> Result<(), String> {
        let plan = PlanId(id(&self.plan)?);
        let mut notes = PlanNotes { choice: self.choice, ..PlanNotes::default() };
        let mut paid = BTreeSet::new();
        for part in state.releases.iter().filter_map(|noted| noted.part) {
            if part.plan == plan {
                paid.insert((part.item, part.period));
            }
        }
        for Object(RawMemo { item, period, token, bits }) in self.memos {
            let bits = bits.map(|bits| hex::decode(&bits).ok_or("a memo is not hexadecimal"));
            let token = match (token, bits.transpose()?) {
                (Some(index), None) => Token::Index(index),
                (None, Some(bits)) => Token::Bits(bits.into()),
                _ => return Err("a memo has either a token or bits".into()),
            };
            if !paid.contains(&(item, period)) {
                return Err(format!(
                    "item {item} of a plan has a memo that its ledger does not know"
                ));
            }
            if notes.memos.insert((item, period), token).is_some() {
                return Err(format!("item {item} of a plan has two memos of one period"));
            }
        }
        for Object(RawResponse { collector, period, response, delivery }) in self.responses {
            let response = Response::from_json(&response.to_string()).map_err(|e| e.to_string())?;
            let sent = response.answers.iter().all(|answer| paid.contains(&(answer.item, period)));
            if response.plan != plan || !sent {
                return Err(format!("plan {plan} has a response that its ledger does not know"));
            }
            let delivery = delivery.read();
            notes.responses.push(KeptResponse { collector, period, response, delivery });
        }
        if state.plans.insert(plan, notes).is_some() {
            return Err(format!("plan {plan} occurs twice"));
        }
        Ok(())
    }
}

impl RawAnswer {
    fn write(answer: &Remembered) -> Result<Self, serde_json::Error> {
        Ok(Self {
            curator: answer.curator.clone(),
            survey: answer.survey.clone(),
            report: serde_json::from_str(&answer.report.to_json())?,
            delivery: RawDelivery::write(&answer.delivery),
        })
    }

    fn read(self) -> Result<Remembered, String> {
        Ok(Remembered {
            report: Report::from_json(&self.report.to_string()).map_err(|e| e.to_string())?,
            curator: self.curator,
            survey: self.survey,
            delivery: self.delivery.read(),
        })
    }
}

impl RawDelivery {
    fn write(delivery: &Delivery) -> Self {
        match delivery.clone() {
            Delivery::Waiting => Self::Waiting,
            Delivery::Accepted => Self::Accepted,
            Delivery::Refused(ProblemDocument { status, code, detail }) => {
                Self::Refused { status, code, detail }
            }
        }
    }

    fn read(self) -> Delivery {
        match self {
            Self::Waiting => Delivery::Waiting,
            Self::Accepted => Delivery::Accepted,
            Self::Refused { status, code, detail } => {
                Delivery::Refused(ProblemDocument { status, code, detail })
            }
        }
    }
}
