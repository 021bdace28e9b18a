//! What one device remembers: what was released about each datum, and the reports themselves.
//!
//! The raw answer is not among it.

mod file;
mod kept;
mod lock;

use crate::datum;
use crate::survey::Survey;
use kept::KeptSurveys;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_core::{Ledger, Nats, Policy, PolicyId, Release, Report, Sequence};
use undertone_wire::{ProblemDocument, SurveyId};

/// Ledger, memory and spool of one person, in memory or in one file.
///
/// A file is replaced as a whole: written beside the old one, synced, renamed, and the directory
/// synced. Whatever is killed when, the file is the old or the new one. A file that cannot be read
/// is refused; it is never replaced by an empty one, which would forget what has been spent.
#[derive(Debug)]
pub struct Device {
    pub(crate) state: State,
    file: Option<file::Locked>,
    /// Surveys for when there is no network, of a device without a file.
    surveys: KeptSurveys,
}

/// Everything that is kept.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// How often the file was written. It only grows; a file that is not where its reader left it is not written over.
    pub(crate) generation: u64,
    /// Of each datum.
    pub(crate) budget: Nats,
    /// Of each collector, over all data.
    pub(crate) collector_budget: Nats,
    pub(crate) data: BTreeMap<String, Page>,
    /// Policies of past releases, as far as they are small: what releases tell together is worked out from
    /// them; without one, a release counts with its attained LDP.
    pub(crate) policies: BTreeMap<PolicyId, Arc<Policy>>,
}

/// What is known about one datum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) releases: Vec<Release>,
    pub(crate) answers: Vec<Remembered>,
}

/// One report that was drawn on this device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remembered {
    /// The curator's address.
    pub curator: String,
    /// The survey.
    pub survey: String,
    /// What was drawn.
    pub report: Report,
    /// Where it is.
    pub delivery: Delivery,
}

/// Where a report is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// On this device, to be sent.
    Waiting,
    /// Acknowledged by the curator.
    Accepted,
    /// Finally refused by the curator.
    Refused(ProblemDocument),
}

/// Why a device's file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is none.
    #[error("there is no device file {}: create it first", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// There is one already.
    #[error("{} exists already: open it instead", path.display())]
    Exists {
        /// Where the device file is.
        path: PathBuf,
    },
    /// Another process has it open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// The device file.
        path: PathBuf,
    },
    /// Something else wrote it while this process held it.
    #[error("{} was changed by something that does not keep to its lock: open it again", path.display())]
    Changed {
        /// The device file.
        path: PathBuf,
    },
    /// It cannot be understood.
    #[error(
        "{} is damaged ({reason}): nothing is released, because what has been spent is not known; restore it from a backup",
        path.display()
    )]
    Damaged {
        /// The device file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The device file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}

/// Policies with more canonical bytes than this are not kept on the device, nor more than this many.
const KEPT_POLICY: usize = 1 << 16;
const KEPT_POLICIES: usize = 256;

impl Device {
    /// The default budget of attained LDP for each datum: 2 ln 3.
    pub const DEFAULT_BUDGET: Nats = Nats::from_units(21_972_245_774);
    /// The default budget of attained LDP for each collector, over all its questions: four times that of a datum.
    pub const DEFAULT_COLLECTOR_BUDGET: Nats = Nats::from_units(87_888_983_096);

    /// A device that forgets everything when it is dropped, with the default budget: for simulated
    /// people and tests.
    pub fn memory() -> Self {
        Self::memory_with_budget(Self::DEFAULT_BUDGET)
    }

    /// A device that forgets everything when it is dropped, with a budget of attained LDP for each datum.
    pub fn memory_with_budget(budget: Nats) -> Self {
        Self { state: State::new(budget), file: None, surveys: KeptSurveys::default() }
    }

    /// A new file with a budget of attained LDP for each datum; refused if there is one.
    pub fn create(path: impl AsRef<Path>, budget: Nats) -> Result<Self, DeviceError> {
        let (path, state) = (path.as_ref(), State::new(budget));
        let locked = file::Locked::new(path)?;
        if locked.exists() {
            return Err(DeviceError::Exists { path: path.into() });
        }
        locked.create(&state)?;
        Ok(Self { state, file: Some(locked), surveys: KeptSurveys::default() })
    }

    /// An existing file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DeviceError> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(DeviceError::Missing { path: path.into() });
        }
        let locked = file::Locked::new(path)?;
        let state = locked.read()?;
        Ok(Self { state, file: Some(locked), surveys: KeptSurveys::default() })
    }

    /// The budget of each datum.
    pub fn budget(&self) -> Nats {
        self.state.budget
    }

    /// Changes the budget of each datum; what has been spent stays spent.
    pub fn set_budget(&mut self, budget: Nats) -> Result<(), DeviceError> {
        self.change(|state| state.budget = budget)
    }

    /// The budget of each collector.
    pub fn collector_budget(&self) -> Nats {
        self.state.collector_budget
    }

    /// Changes the budget of each collector; what has been spent stays spent.
    pub fn set_collector_budget(&mut self, budget: Nats) -> Result<(), DeviceError> {
        self.change(|state| state.collector_budget = budget)
    }

    /// The LDP spent on a datum; `None` if a release had no finite level.
    pub fn spent(&self, datum: &str) -> Option<Nats> {
        let releases = self.state.data.get(datum).map_or(&[][..], |page| &page.releases);
        total(releases.iter().map(|release| release.cost))
    }

    /// The LDP spent on all data in reports to one collector. Releases without a finite level are left out: they are held
    /// against consent and claims alone.
    pub fn spent_at(&self, collector: &str) -> Nats {
        let costs = self.state.data.values().flat_map(|page| {
            let sent = page.answers.iter().filter(|answer| answer.curator == collector);
            let policies: BTreeSet<PolicyId> = sent.map(|answer| answer.report.policy).collect();
            let noted =
                page.releases.iter().filter(move |release| policies.contains(&release.policy));
            noted.filter_map(|release| release.cost)
        });
        // More than can be counted is more than any budget.
        total(costs.map(Some)).unwrap_or(Nats::from_units(u64::MAX))
    }

    /// The ledger of every datum.
    pub fn ledger(&self) -> Ledger {
        let pages = self.state.data.iter();
        Ledger::restore(
            self.state.budget,
            pages.map(|(datum, page)| (datum.clone(), page.releases.clone())),
        )
    }

    /// Every report drawn on this device, with its datum.
    pub fn answers(&self) -> impl Iterator<Item = (&str, &Remembered)> {
        let pages = self.state.data.iter();
        pages.flat_map(|(datum, page)| page.answers.iter().map(move |a| (datum.as_str(), a)))
    }

    /// How many reports wait to be sent.
    pub fn waiting(&self) -> usize {
        self.answers().filter(|(_, answer)| answer.delivery == Delivery::Waiting).count()
    }

    /// The report drawn for a datum under a policy.
    pub fn remembered(&self, datum: &str, policy: PolicyId) -> Option<&Remembered> {
        let answers = &self.state.data.get(datum)?.answers;
        answers.iter().find(|answer| answer.report.policy == policy)
    }

    /// The report drawn for a datum under a policy, on its way to one survey.
    pub(crate) fn addressed(
        &self,
        datum: &str,
        policy: PolicyId,
        (curator, survey): (&str, &str),
    ) -> Option<&Remembered> {
        let answers = &self.state.data.get(datum)?.answers;
        answers.iter().find(|answer| {
            answer.report.policy == policy && answer.curator == curator && answer.survey == survey
        })
    }

    /// Whether the ledger has noted a release of a datum under a policy.
    pub(crate) fn has_released(&self, datum: &str, policy: PolicyId) -> bool {
        let page = self.state.data.get(datum);
        page.is_some_and(|page| page.releases.iter().any(|release| release.policy == policy))
    }

    /// The ledger that a release of a datum to a collector is charged to, and everything that counts as released
    /// about that datum: what is noted under it, and what an older device sent to this collector without
    /// noting the question.
    pub(crate) fn ledger_of(&self, datum: &str, collector: &str) -> (Ledger, Sequence<'_>) {
        let to_collector = |page: &&Page| page.answers.iter().any(|a| a.curator == collector);
        let unworded =
            self.state.data.iter().filter(|(key, _)| datum::is_unworded(key) && *key != datum);
        let pages: Vec<&Page> = self
            .state
            .data
            .get(datum)
            .into_iter()
            .chain(unworded.map(|(_, page)| page).filter(to_collector))
            .collect();
        let releases = pages.iter().flat_map(|page| page.releases.clone()).collect();
        let mut sequence = Sequence::new();
        pages.iter().for_each(|page| self.replay(page, &mut sequence));
        (Ledger::restore(self.state.budget, [(datum.into(), releases)]), sequence)
    }

    /// Adds a page's releases as far as policy and report are still here.
    fn replay<'a>(&'a self, page: &'a Page, sequence: &mut Sequence<'a>) {
        for release in &page.releases {
            let policy = self.state.policies.get(&release.policy);
            let mut drawn = page.answers.iter().filter(|a| a.report.policy == release.policy);
            let told = match (policy, drawn.next()) {
                (Some(policy), Some(answer)) => sequence.released(policy, &answer.report).is_ok(),
                _ => false,
            };
            match policy {
                _ if told => {}
                Some(policy) => sequence.untold(policy),
                None => sequence.forgotten(*release),
            }
        }
    }

    /// Moves what an older device noted under a survey's id to the question that survey asks, now that it is known.
    pub(crate) fn adopt(
        &mut self,
        survey: &str,
        collector: &str,
        datum: &str,
    ) -> Result<(), DeviceError> {
        let old = datum::of_old_survey(survey);
        let here =
            |page: &Page| page.answers.iter().any(|a| a.curator == collector && a.survey == survey);
        if old == datum || !self.state.data.get(&old).is_some_and(here) {
            return Ok(());
        }
        self.change(|state| {
            if let Some(page) = state.data.remove(&old) {
                let question = state.data.entry(datum.into()).or_default();
                question.releases.extend(page.releases);
                question.answers.extend(page.answers);
            }
        })
    }

    /// Remembers a report, and its charge if it is `fresh`; on disk when this returns. If writing fails nothing has
    /// changed.
    pub(crate) fn remember(
        &mut self,
        datum: &str,
        policy: &Arc<Policy>,
        fresh: bool,
        answer: Remembered,
    ) -> Result<(), DeviceError> {
        self.change(|state| {
            let page = state.data.entry(datum.into()).or_default();
            page.answers.push(answer);
            if fresh {
                page.releases.push(Release { policy: policy.id(), cost: policy.ldp() });
            }
            let small = policy.draft().to_bytes().len() <= KEPT_POLICY;
            if small && state.policies.len() < KEPT_POLICIES {
                state.policies.entry(policy.id()).or_insert_with(|| policy.clone());
            }
        })
    }

    /// Notes where the reports of some data under one policy are, on their way to one survey.
    pub(crate) fn note<'a>(
        &mut self,
        data: impl IntoIterator<Item = &'a str>,
        policy: PolicyId,
        (curator, survey): (&str, &str),
        delivery: &Delivery,
    ) -> Result<(), DeviceError> {
        let mut next = self.state.clone();
        let mut changed = false;
        for datum in data {
            let pages = next.data.get_mut(datum).into_iter();
            for answer in pages.flat_map(|page| page.answers.iter_mut()) {
                let here = answer.curator == curator && answer.survey == survey;
                if here && answer.report.policy == policy && answer.delivery != *delivery {
                    answer.delivery = delivery.clone();
                    changed = true;
                }
            }
        }
        if changed { self.replace(next) } else { Ok(()) }
    }

    /// Keeps a survey as it was fetched, for when there is no network. One that cannot be written is not kept, which costs
    /// nothing but that.
    pub(crate) fn keep_survey(&mut self, survey: &Survey, group: Option<&str>) {
        match &self.file {
            None => drop(self.surveys.keep(survey, group)),
            Some(file) => {
                let path = kept::path(file.path());
                let bytes = KeptSurveys::read(&path).keep(survey, group);
                let _ = file::replace(&path, &bytes);
            }
        }
    }

    /// A survey that was kept, checked like one that has just been fetched.
    pub(crate) fn kept_survey(
        &self,
        curator: &str,
        id: &str,
        group: Option<&str>,
    ) -> Option<Survey> {
        let id: SurveyId = id.parse().ok()?;
        match &self.file {
            None => self.surveys.survey(curator, &id, group),
            Some(file) => KeptSurveys::read(&kept::path(file.path())).survey(curator, &id, group),
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut State)) -> Result<(), DeviceError> {
        let mut next = self.state.clone();
        change(&mut next);
        self.replace(next)
    }

    /// Writes the next state and, once it is on disk, makes it this device's.
    fn replace(&mut self, mut next: State) -> Result<(), DeviceError> {
        if let Some(file) = &self.file {
            next.generation += 1;
            file.write(self.state.generation, &next)?;
        }
        self.state = next;
        Ok(())
    }
}

impl State {
    fn new(budget: Nats) -> Self {
        Self {
            generation: 0,
            budget,
            collector_budget: Device::DEFAULT_COLLECTOR_BUDGET,
            data: BTreeMap::new(),
            policies: BTreeMap::new(),
        }
    }
}

/// The sum of costs; `None` if one has no finite level.
fn total(costs: impl Iterator<Item = Option<Nats>>) -> Option<Nats> {
    costs.into_iter().try_fold(Nats::ZERO, |sum, cost| sum.checked_add(cost?))
}
