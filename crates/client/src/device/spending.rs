//! Releases that are decided together and written in one go.

use super::plans::{KeptResponse, PlanPart};
use super::state::{Noted, Purse, State, Told};
use super::{Delivery, Device, DeviceError, Remembered};
use crate::budget::OverBudget;
use crate::day::Day;
use undertone_core::{
    AboveConsent, Consent, LedgerError, Permit, Policy, PolicyId, ReportId, Sequence, Token,
};

/// One release to be paid for.
#[derive(Clone, Copy, Debug)]
pub struct Charge<'a> {
    /// The keys of the data it tells about. Several data are charged each to its own budget, and once to the collector and
    /// the device.
    pub data: &'a [&'a str],
    /// The policy it is drawn under; what it attains is the cost.
    pub policy: &'a Policy,
    /// Its place in a plan; `None` for a survey's report.
    pub part: Option<PlanPart>,
}

/// Why one release is refused. It depends on what was released and on public policies, never on the answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A budget does not allow it.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The person has not agreed to it.
    #[error(transparent)]
    Consent(#[from] AboveConsent),
    /// The claims of everything released do not hold together.
    #[error(transparent)]
    Ledger(LedgerError),
    /// It was released before.
    #[error("this was released before: send what is remembered again")]
    Released,
    /// It names no datum.
    #[error("a release tells about at least one datum: name it")]
    NoDatum,
}

impl From<LedgerError> for Refused {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Consent(above) => Self::Consent(above),
            other => Self::Ledger(other),
        }
    }
}

/// The releases of one message, on their way into the ledger: each is allowed or refused in view of those before it, and
/// [`Spending::commit`] writes all that were allowed in one write. Dropped before that, nothing has happened.
#[derive(Debug)]
pub struct Spending<'a> {
    device: &'a mut Device,
    next: State,
    /// How many releases there were before.
    before: usize,
    collector: &'a str,
    consent: &'a Consent,
}

impl Device {
    /// Begins to pay for one message to a collector. Refused once the ledger has gone to another device.
    pub fn spend<'a>(
        &'a mut self,
        collector: &'a str,
        consent: &'a Consent,
        today: Day,
    ) -> Result<Spending<'a>, DeviceError> {
        self.refuse_moved()?;
        let mut next = self.state.clone();
        next.see(today);
        let before = next.releases.len();
        Ok(Spending { device: self, next, before, collector, consent })
    }

    /// Refuses if the ledger has gone to another device.
    pub(crate) fn refuse_moved(&self) -> Result<(), DeviceError> {
        self.state.moved.map_or(Ok(()), |moved| Err(DeviceError::Moved { day: moved.day }))
    }
}

impl Spending<'_> {
    /// Pays for one release, or says why it may not be made; a refusal leaves everything as it was.
    pub fn leave(&mut self, charge: Charge<'_>) -> Result<Permit, Refused> {
        let Charge { data, policy, part } = charge;
        let known = match part {
            Some(part) => self.next.has_part(part),
            None => data.iter().any(|datum| self.next.has_released(datum, policy.id())),
        };
        if known {
            return Err(Refused::Released);
        }
        let today = self.next.day;
        self.next.affords(data, self.collector, policy.ldp(), today)?;
        let mut permit = Err(Refused::NoDatum);
        for datum in data {
            let (mut ledger, past) = self.next.ledger_of(datum, self.collector);
            // A combined symbol is not one of the datum's: what was told before counts with its attained LDP.
            let past = if data.len() == 1 { past } else { Sequence::new() };
            permit = Ok(ledger.spend(datum, policy, &past, self.consent)?);
        }
        let permit = permit?;
        let noted = Noted {
            id: ReportId([0; 16]),
            data: data.iter().map(|&datum| datum.into()).collect(),
            policy: policy.id(),
            cost: policy.ldp(),
            day: today,
            collectors: vec![Told { address: self.collector.into(), day: today }],
            part,
        };
        if noted.is_report() {
            self.next.keep_policy(policy);
        }
        self.next.releases.push(noted);
        Ok(permit)
    }

    /// Pays for telling this collector what another one has been told already: only its own budget is charged, as nobody who
    /// sees everything learns anything. Nothing, if it has been told too.
    pub fn repeat(&mut self, datum: &str, policy: PolicyId) -> Result<(), Refused> {
        self.tell(|noted| noted.part.is_none() && noted.policy == policy && noted.is_about(datum))
    }

    /// As [`Spending::repeat`], for an item of a plan.
    pub(super) fn repeat_part(&mut self, part: PlanPart) -> Result<(), Refused> {
        self.tell(|noted| noted.part == Some(part))
    }

    fn tell(&mut self, same: impl Fn(&Noted) -> bool) -> Result<(), Refused> {
        let today = self.next.day;
        let Some(at) = self.next.releases.iter().position(same) else { return Ok(()) };
        if self.next.releases[at].told(self.collector).is_some() {
            return Ok(());
        }
        let cost = self.next.releases[at].cost;
        self.next.allows(&Purse::Collector(self.collector), cost, today)?;
        let told = Told { address: self.collector.into(), day: today };
        self.next.releases[at].collectors.push(told);
        Ok(())
    }

    /// Remembers a report on its way.
    pub(crate) fn remember(&mut self, datum: &str, answer: Remembered) {
        self.next.answers.entry(datum.into()).or_default().push(answer);
    }

    /// What was drawn for an item of a plan, here or before.
    pub(super) fn remembered(&self, part: PlanPart) -> Option<Token> {
        self.next.plans.get(&part.plan)?.memos.get(&(part.item, part.period)).cloned()
    }

    /// Remembers what was drawn for an item of a plan that was paid for here. What is there stays.
    pub fn memo(&mut self, part: PlanPart, token: Token) {
        if self.next.has_part(part) {
            let notes = self.next.plans.entry(part.plan).or_default();
            notes.memos.entry((part.item, part.period)).or_insert(token);
        }
    }

    /// Remembers a message that is made of memos, and forgets what was delivered to its collector in its period before.
    pub(super) fn respond(&mut self, kept: KeptResponse) {
        let notes = self.next.plans.entry(kept.response.plan).or_default();
        notes.responses.retain(|one| {
            let replaced = one.period == kept.period && one.collector == kept.collector;
            one.delivery == Delivery::Waiting || !replaced
        });
        notes.responses.push(kept);
    }

    /// Writes down everything that was allowed, as released with the message of this id; on disk when this returns, and before
    /// the message's first byte is sent. If writing fails nothing has changed.
    pub fn commit(mut self, id: ReportId) -> Result<(), DeviceError> {
        self.next.releases[self.before..].iter_mut().for_each(|noted| noted.id = id);
        self.device.replace(self.next)
    }
}
