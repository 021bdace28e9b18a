//! Everything a device keeps, and the one place that says whether a budget allows a release.

use super::plans::{PlanNotes, PlanPart};
use super::{KEPT_POLICIES, KEPT_POLICY, Remembered};
use crate::budget::{Account, Budget, Budgets, Charges, Level, OverBudget};
use crate::datum;
use crate::day::Day;
use std::collections::BTreeMap;
use std::sync::Arc;
use undertone_core::{Ledger, Nats, PlanId, Policy, PolicyId, Release, ReportId, Sequence};

/// Everything that is kept.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// How often the file was written. It only grows; a file that is not where its reader left it is not written over.
    pub(crate) generation: u64,
    /// The latest day seen: a clock that is set back refills nothing. A device that has seen none has dated its releases
    /// [`Day::UNSEEN`] too, and the first day it sees becomes theirs.
    pub(crate) day: Day,
    /// Whether the ledger went to another device, and under which id.
    pub(crate) moved: Option<Moved>,
    pub(crate) budgets: Budgets,
    /// In the order in which they were drawn.
    pub(crate) releases: Vec<Noted>,
    /// Reports by datum.
    pub(crate) answers: BTreeMap<String, Vec<Remembered>>,
    /// Plans by their id.
    pub(crate) plans: BTreeMap<PlanId, PlanNotes>,
    /// Policies of past releases, as far as they are small: what releases tell together is worked out from
    /// them; without one, a release counts with its attained LDP.
    pub(crate) policies: BTreeMap<PolicyId, Arc<Policy>>,
}

/// One release, as it is charged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Noted {
    /// The message it first went out with. Zero, in files of older versions, if that is not known.
    pub(crate) id: ReportId,
    /// The data it tells about; several if they were randomised together as one symbol.
    pub(crate) data: Vec<String>,
    pub(crate) policy: PolicyId,
    /// The LDP it attained; `None` if it has no finite level.
    pub(crate) cost: Option<Nats>,
    pub(crate) day: Day,
    /// Who was told, and when.
    pub(crate) collectors: Vec<Told>,
    /// Its place in a plan; `None` for a survey's report.
    pub(crate) part: Option<PlanPart>,
}

/// A collector that has a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) address: String,
    pub(crate) day: Day,
}

/// That a ledger went to another device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moved {
    /// The id of the file it went in.
    pub(crate) id: ReportId,
    pub(crate) day: Day,
}

impl Noted {
    /// What the kernel's ledger notes of it.
    pub(super) fn release(&self) -> Release {
        Release { policy: self.policy, cost: self.cost }
    }

    /// The day a collector was told; `None` if it was not.
    pub(super) fn told(&self, collector: &str) -> Option<Day> {
        self.collectors.iter().find(|told| told.address == collector).map(|told| told.day)
    }

    /// Whether it is a report about one datum, as a survey's is.
    pub(super) fn is_report(&self) -> bool {
        self.part.is_none() && self.data.len() == 1
    }

    pub(super) fn is_about(&self, datum: &str) -> bool {
        self.data.iter().any(|key| key == datum)
    }

    /// Whether it counts as told about a datum when a collector asks for it: what is noted under the datum, and what an
    /// older device sent to this collector without noting the question.
    fn counts_for(&self, datum: &str, collector: &str) -> bool {
        let unworded = || self.data.iter().any(|key| datum::is_unworded(key));
        self.is_about(datum) || (unworded() && self.told(collector).is_some())
    }
}

/// One budget of a device.
pub(super) enum Purse<'a> {
    Question { datum: &'a str, collector: &'a str },
    Collector(&'a str),
    Device,
}

impl Purse<'_> {
    fn level(&self) -> Level {
        match self {
            Self::Question { .. } => Level::Question,
            Self::Collector(_) => Level::Collector,
            Self::Device => Level::Device,
        }
    }

    fn whose(&self) -> &str {
        match self {
            Self::Question { datum, .. } => datum,
            Self::Collector(address) => address,
            Self::Device => "",
        }
    }

    /// Everything charged to it. A release to a second collector is news to that one alone.
    pub(super) fn charges(&self, state: &State) -> Vec<(Day, Option<Nats>)> {
        let charge = |noted: &Noted| match self {
            Self::Question { datum, collector } => {
                noted.counts_for(datum, collector).then_some((noted.day, noted.cost))
            }
            Self::Collector(address) => Some((noted.told(address)?, noted.cost)),
            Self::Device => Some((noted.day, noted.cost)),
        };
        state.releases.iter().filter_map(charge).collect()
    }
}

impl State {
    pub(super) fn new(budget: Nats) -> Self {
        Self {
            generation: 0,
            day: Day::UNSEEN,
            moved: None,
            budgets: Budgets { question: Budget::ever(budget), ..Budgets::DEFAULT },
            releases: Vec::new(),
            answers: BTreeMap::new(),
            plans: BTreeMap::new(),
            policies: BTreeMap::new(),
        }
    }

    /// Notes that a day has come. What was released before any day was seen counts as released on the first one.
    pub(super) fn see(&mut self, today: Day) {
        if self.day == Day::UNSEEN {
            for noted in &mut self.releases {
                noted.day = today;
                noted.collectors.iter_mut().for_each(|told| told.day = today);
            }
        }
        self.day = self.day.max(today);
    }

    /// What is charged to a budget, and the day it is by all this device has seen.
    fn charges(&self, purse: &Purse<'_>, today: Day) -> (Charges, Day) {
        let charges = purse.charges(self).into_iter();
        let dated = charges.map(|(day, cost)| match self.day {
            Day::UNSEEN => (today, cost),
            _ => (day, cost),
        });
        (Charges::new(dated), self.day.max(today))
    }

    pub(super) fn account(&self, purse: &Purse<'_>, today: Day) -> Account {
        let (level, (charges, today)) = (purse.level(), self.charges(purse, today));
        let budget = self.budgets.of(level);
        Account {
            level,
            spent: charges.spent(budget, today),
            budget,
            uncounted: charges.uncounted(budget, today),
            yearly: self.budgets.yearly(level),
        }
    }

    /// Whether one budget allows a cost. One without a finite level is held against consent and claims alone.
    pub(super) fn allows(
        &self,
        purse: &Purse<'_>,
        cost: Option<Nats>,
        today: Day,
    ) -> Result<(), OverBudget> {
        let Some(cost) = cost else { return Ok(()) };
        let (level, (charges, today)) = (purse.level(), self.charges(purse, today));
        let budget = self.budgets.of(level);
        if charges.fits(budget, cost, today) {
            return Ok(());
        }
        Err(OverBudget {
            level,
            whose: purse.whose().into(),
            spent: charges.spent(budget, today),
            cost,
            budget,
            refills: charges.refills(budget, cost),
        })
    }

    /// Whether every level allows a release about some data to a collector: the one place that answers this.
    pub(super) fn affords(
        &self,
        data: &[&str],
        collector: &str,
        cost: Option<Nats>,
        today: Day,
    ) -> Result<(), OverBudget> {
        for datum in data {
            self.allows(&Purse::Question { datum, collector }, cost, today)?;
        }
        self.allows(&Purse::Collector(collector), cost, today)?;
        self.allows(&Purse::Device, cost, today)
    }

    /// The kernel's ledger of a datum when a collector asks for it, and everything that counts as released about it. What
    /// is spent was held against budgets already, so this ledger has one without end.
    pub(super) fn ledger_of(&self, datum: &str, collector: &str) -> (Ledger, Sequence<'_>) {
        let counted = || self.releases.iter().filter(|noted| noted.counts_for(datum, collector));
        let releases = counted().map(Noted::release).collect();
        let mut sequence = Sequence::new();
        counted().for_each(|noted| self.replay(noted, &mut sequence));
        (Ledger::restore(Nats::from_units(u64::MAX), [(datum.into(), releases)]), sequence)
    }

    /// Adds a release as far as policy and report are still here. What was told under a plan, about several data at once or by
    /// fresh reports of a memo, counts with its attained LDP.
    fn replay<'a>(&'a self, noted: &Noted, sequence: &mut Sequence<'a>) {
        let policy = self.policies.get(&noted.policy).filter(|_| noted.is_report());
        let reports = noted.data.iter().filter_map(|datum| self.answers.get(datum)).flatten();
        let mut drawn = reports
            .map(|answer| &answer.report)
            .filter(|report| report.policy == noted.policy && report.id == noted.id);
        let told = match (policy, drawn.next()) {
            (Some(policy), Some(report)) => sequence.released(policy, report).is_ok(),
            _ => false,
        };
        match policy {
            _ if told => {}
            Some(policy) => sequence.untold(policy),
            None => sequence.forgotten(noted.release()),
        }
    }

    /// Whether a survey's report was drawn for a datum under a policy.
    pub(super) fn has_released(&self, datum: &str, policy: PolicyId) -> bool {
        let mut surveys = self.releases.iter().filter(|noted| noted.part.is_none());
        surveys.any(|noted| noted.policy == policy && noted.is_about(datum))
    }

    /// Keeps a policy if there is room.
    pub(super) fn keep_policy(&mut self, policy: &Policy) {
        let small = policy.draft().to_bytes().len() <= KEPT_POLICY;
        if small && self.policies.len() < KEPT_POLICIES {
            let kept = || Arc::new(policy.clone());
            self.policies.entry(policy.id()).or_insert_with(kept);
        }
    }
}
