//! What a device remembers of a plan: which of its items it answers, and what it drew for them.

use super::state::State;
use super::{Delivery, Device, DeviceError};
use std::collections::BTreeMap;
use undertone_core::{PlanId, ReportId, Response, Token};

/// One item of a plan in one period.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlanPart {
    /// The plan's id.
    pub plan: PlanId,
    /// The item's number.
    pub item: u32,
    /// The period, from 0.
    pub period: u32,
}

/// What is remembered of one plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PlanNotes {
    /// The drawn items this device answers; `None` if they were not drawn yet.
    pub(crate) choice: Option<Vec<u32>>,
    /// What was drawn for an item in a period.
    pub(crate) memos: BTreeMap<(u32, u32), Token>,
    /// The messages made of it.
    pub(crate) responses: Vec<KeptResponse>,
}

/// One message drawn on this device under a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptResponse {
    /// The collector's address.
    pub collector: String,
    /// The period it answers.
    pub period: u32,
    /// What was drawn.
    pub response: Response,
    /// Where it is.
    pub delivery: Delivery,
}

impl Device {
    /// The items of a plan that this device drew to answer.
    pub fn choice(&self, plan: PlanId) -> Option<&[u32]> {
        self.state.plans.get(&plan)?.choice.as_deref()
    }

    /// Writes down which items of a plan this device answers; on disk when this returns, and before anything is drawn for
    /// them. A choice is drawn once and never again, whatever is refused or skipped: a device that draws until it
    /// likes the items tells about all of them.
    pub fn remember_choice(&mut self, plan: PlanId, items: Vec<u32>) -> Result<(), DeviceError> {
        self.refuse_moved()?;
        if self.choice(plan).is_some() {
            return Err(DeviceError::Chosen);
        }
        self.change(|state| state.plans.entry(plan).or_default().choice = Some(items))
    }

    /// The messages drawn under a plan, as far as they are kept: those that wait, and the last of each period.
    pub fn responses(&self, plan: PlanId) -> &[KeptResponse] {
        self.state.plans.get(&plan).map_or(&[], |notes| &notes.responses)
    }

    /// Notes where a message is.
    pub fn note_response(
        &mut self,
        plan: PlanId,
        id: ReportId,
        delivery: &Delivery,
    ) -> Result<(), DeviceError> {
        self.change(|state| {
            let kept =
                state.plans.get_mut(&plan).into_iter().flat_map(|notes| &mut notes.responses);
            kept.filter(|one| one.response.id == id)
                .for_each(|one| one.delivery = delivery.clone());
        })
    }

    /// What was drawn for an item of a plan in a period.
    pub fn memo(&self, part: PlanPart) -> Option<&Token> {
        self.state.plans.get(&part.plan)?.memos.get(&(part.item, part.period))
    }
}

impl State {
    /// Whether an item of a plan was released in a period.
    pub(super) fn has_part(&self, part: PlanPart) -> bool {
        self.releases.iter().any(|noted| noted.part == Some(part))
    }

    /// Whether anything was released under a plan.
    pub(super) fn has_plan(&self, plan: PlanId) -> bool {
        self.releases.iter().any(|noted| noted.part.is_some_and(|part| part.plan == plan))
    }
}
