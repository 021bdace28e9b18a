//! What one device remembers: what was released about each datum, and the reports themselves.
//!
//! The raw answer is not among it.

mod file;

use crate::submit::Problem;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_core::{Ledger, Nats, Policy, PolicyId, Release, Report};

/// Ledger, memory and spool of one person, in memory or in one file.
///
/// A file is replaced as a whole: written beside the old one, synced, renamed, and the directory
/// synced. Whatever is killed when, the file is the old or the new one. A file that cannot be read
/// is refused; it is never replaced by an empty one, which would forget what has been spent.
#[derive(Debug)]
pub struct Device {
    pub(crate) state: State,
    file: Option<file::Locked>,
}

/// Everything that is kept.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) budget: Nats,
    pub(crate) data: BTreeMap<String, Page>,
    /// Policies of past releases, as far as they are small: needed to check two releases together
    /// when one of them has no finite LDP level.
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
    Refused(Problem),
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
        /// Where.
        path: PathBuf,
    },
    /// Another process has it open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// Which.
        path: PathBuf,
    },
    /// It cannot be understood.
    #[error(
        "{} is damaged ({reason}): nothing is released, because what has been spent is not known; restore it from a backup",
        path.display()
    )]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// Policies with more canonical bytes than this are not kept on the device.
const KEPT_POLICY: usize = 1 << 16;

impl Device {
    /// The default budget of attained LDP for each datum: 2 ln 3.
    pub const DEFAULT_BUDGET: Nats = Nats::from_units(21_972_245_774);

    /// A device that forgets everything when it is dropped, with the default budget: for simulated
    /// people and tests.
    pub fn memory() -> Self {
        Self::memory_with_budget(Self::DEFAULT_BUDGET)
    }

    /// The same with a budget of attained LDP for each datum.
    pub fn memory_with_budget(budget: Nats) -> Self {
        Self { state: State::new(budget), file: None }
    }

    /// A new file with a budget of attained LDP for each datum; refused if there is one.
    pub fn create(path: impl AsRef<Path>, budget: Nats) -> Result<Self, DeviceError> {
        let (path, state) = (path.as_ref(), State::new(budget));
        let locked = file::Locked::new(path)?;
        if path.exists() {
            return Err(DeviceError::Exists { path: path.into() });
        }
        locked.write(&state)?;
        Ok(Self { state, file: Some(locked) })
    }

    /// An existing file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DeviceError> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(DeviceError::Missing { path: path.into() });
        }
        let locked = file::Locked::new(path)?;
        let state = locked.read()?;
        Ok(Self { state, file: Some(locked) })
    }

    /// The budget of each datum.
    pub fn budget(&self) -> Nats {
        self.state.budget
    }

    /// Changes the budget of each datum; what has been spent stays spent.
    pub fn set_budget(&mut self, budget: Nats) -> Result<(), DeviceError> {
        let before = std::mem::replace(&mut self.state.budget, budget);
        self.save().inspect_err(|_| self.state.budget = before)
    }

    /// The LDP spent on a datum; `None` if a release had no finite level.
    pub fn spent(&self, datum: &str) -> Option<Nats> {
        self.ledger_of(datum).spent(datum)
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

    /// The same report on its way to one survey.
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

    /// The ledger of one datum alone; the others do not touch it.
    pub(crate) fn ledger_of(&self, datum: &str) -> Ledger {
        let past = self.state.data.get(datum).map(|page| page.releases.clone());
        Ledger::restore(self.state.budget, past.map(|past| (datum.into(), past)))
    }

    /// The policy of the only earlier release of a datum, if it was kept.
    pub(crate) fn earlier(&self, datum: &str) -> Option<&Policy> {
        match self.state.data.get(datum)?.releases.as_slice() {
            [only] => self.state.policies.get(&only.policy).map(AsRef::as_ref),
            _ => None,
        }
    }

    /// Remembers a charge and its report; on disk when this returns. If writing fails nothing has
    /// changed.
    pub(crate) fn remember(
        &mut self,
        datum: &str,
        policy: &Arc<Policy>,
        charged: &Ledger,
        answer: Remembered,
    ) -> Result<(), DeviceError> {
        let before = self.state.data.get(datum).cloned();
        let page = self.state.data.entry(datum.into()).or_default();
        let releases = charged.releases().find(|(name, _)| *name == datum);
        page.releases = releases.map(|(_, releases)| releases.into()).unwrap_or_default();
        page.answers.push(answer);
        // A policy matters as the *only* earlier release.
        let kept = page.releases.len() == 1
            && !self.state.policies.contains_key(&policy.id())
            && policy.draft().to_bytes().len() <= KEPT_POLICY;
        if kept {
            self.state.policies.insert(policy.id(), policy.clone());
        }
        let saved = self.save();
        if saved.is_err() {
            if kept {
                self.state.policies.remove(&policy.id());
            }
            match before {
                Some(page) => self.state.data.insert(datum.into(), page),
                None => self.state.data.remove(datum),
            };
        }
        saved
    }

    /// Notes where the reports of some data under one policy are, on their way to one survey.
    pub(crate) fn note<'a>(
        &mut self,
        data: impl IntoIterator<Item = &'a str>,
        policy: PolicyId,
        (curator, survey): (&str, &str),
        delivery: &Delivery,
    ) -> Result<(), DeviceError> {
        let mut changed = false;
        for datum in data {
            let pages = self.state.data.get_mut(datum).into_iter();
            for answer in pages.flat_map(|page| page.answers.iter_mut()) {
                let here = answer.curator == curator && answer.survey == survey;
                if here && answer.report.policy == policy && answer.delivery != *delivery {
                    answer.delivery = delivery.clone();
                    changed = true;
                }
            }
        }
        if changed { self.save() } else { Ok(()) }
    }

    fn save(&self) -> Result<(), DeviceError> {
        match &self.file {
            Some(file) => file.write(&self.state),
            None => Ok(()),
        }
    }
}

impl State {
    fn new(budget: Nats) -> Self {
        Self { budget, data: BTreeMap::new(), policies: BTreeMap::new() }
    }
}
