//! What one device remembers: what was released about each datum, and the reports themselves.
//!
//! The raw answer is not among it.

mod file;
mod kept;
mod lock;
mod moving;
mod old;
mod plans;
mod raw;
mod response;
mod spending;
mod state;

pub use plans::{KeptResponse, PlanPart};
pub use response::{Asking, Responded, ResponseError};
pub use spending::{Charge, Refused, Spending};

use crate::budget::{Account, Budget, Budgets, Charges, Level};
use crate::datum;
use crate::day::Day;
use crate::survey::Survey;
use kept::KeptSurveys;
use state::{Purse, State};
use std::path::{Path, PathBuf};
use undertone_core::{Ledger, Nats, PolicyId, Report};
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
    /// The ledger went to another device.
    #[error(
        "this device's ledger was moved to another device on {day}: nothing is released here any more; answer there, or bring its ledger back"
    )]
    Moved {
        /// When it went.
        day: Day,
    },
    /// The ledger to be taken over is the one this device gave away.
    #[error("this is the ledger that this device gave away: import it on the device it goes to")]
    OwnLedger,
    /// What is to be taken over cannot be understood.
    #[error("this is no ledger that can be taken over ({reason}): nothing has changed")]
    NoLedger {
        /// What is wrong with it.
        reason: String,
    },
    /// The items of a plan were drawn before.
    #[error(
        "the items of this plan were drawn before and are never drawn again: use the remembered choice"
    )]
    Chosen,
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
    pub const DEFAULT_BUDGET: Nats = Budgets::DEFAULT.question.nats;

    /// A device that forgets everything when it is dropped, with the default budgets: for simulated
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

    /// The budgets of all levels.
    pub fn budgets(&self) -> Budgets {
        self.state.budgets
    }

    /// Changes the budget of a level; what has been spent stays spent.
    pub fn set_budget(&mut self, level: Level, budget: Budget) -> Result<(), DeviceError> {
        self.change(|state| *state.budgets.of_mut(level) = budget)
    }

    /// What stands on a question's budget when a collector asks it.
    pub fn question_account(&self, datum: &str, collector: &str, today: Day) -> Account {
        self.state.account(&Purse::Question { datum, collector }, today)
    }

    /// What stands on a collector's budget.
    pub fn collector_account(&self, collector: &str, today: Day) -> Account {
        self.state.account(&Purse::Collector(collector), today)
    }

    /// What stands on the device's budget: everything it told anybody.
    pub fn device_account(&self, today: Day) -> Account {
        self.state.account(&Purse::Device, today)
    }

    /// The LDP ever spent on a datum; `None` if a release had no finite level.
    pub fn spent(&self, datum: &str) -> Option<Nats> {
        let releases = self.state.releases.iter().filter(|noted| noted.is_about(datum));
        total(releases.map(|noted| noted.cost))
    }

    /// The LDP ever spent on all data in reports to one collector. Releases without a finite level are left out: they are held
    /// against consent and claims alone.
    pub fn spent_at(&self, collector: &str) -> Nats {
        let charges = Charges::new(Purse::Collector(collector).charges(&self.state));
        charges.spent(Budget::ever(Nats::ZERO), Day::LAST)
    }

    /// The ledger of every datum.
    pub fn ledger(&self) -> Ledger {
        let releases = self.state.releases.iter();
        let of_data = releases.flat_map(|noted| {
            noted.data.iter().map(|datum| (datum.clone(), vec![noted.release()]))
        });
        Ledger::restore(self.state.budgets.question.nats, of_data)
    }

    /// Every report drawn on this device, with its datum.
    pub fn answers(&self) -> impl Iterator<Item = (&str, &Remembered)> {
        let pages = self.state.answers.iter();
        pages.flat_map(|(datum, answers)| answers.iter().map(move |a| (datum.as_str(), a)))
    }

    /// How many reports wait to be sent.
    pub fn waiting(&self) -> usize {
        self.answers().filter(|(_, answer)| answer.delivery == Delivery::Waiting).count()
    }

    /// The report drawn for a datum under a policy.
    pub fn remembered(&self, datum: &str, policy: PolicyId) -> Option<&Remembered> {
        let answers = self.state.answers.get(datum)?;
        answers.iter().find(|answer| answer.report.policy == policy)
    }

    /// The report drawn for a datum under a policy, on its way to one survey.
    pub(crate) fn addressed(
        &self,
        datum: &str,
        policy: PolicyId,
        (curator, survey): (&str, &str),
    ) -> Option<&Remembered> {
        let answers = self.state.answers.get(datum)?;
        answers.iter().find(|answer| {
            answer.report.policy == policy && answer.curator == curator && answer.survey == survey
        })
    }

    /// Moves what an older device noted under a survey's id to the question that survey asks, now that it is known.
    pub(crate) fn adopt(
        &mut self,
        survey: &str,
        collector: &str,
        datum: &str,
    ) -> Result<(), DeviceError> {
        let old = datum::of_old_survey(survey);
        let here = |answers: &Vec<Remembered>| {
            answers.iter().any(|a| a.curator == collector && a.survey == survey)
        };
        if old == datum || !self.state.answers.get(&old).is_some_and(here) {
            return Ok(());
        }
        self.change(|state| {
            let answers = state.answers.remove(&old).unwrap_or_default();
            state.answers.entry(datum.into()).or_default().extend(answers);
            for key in state.releases.iter_mut().flat_map(|noted| &mut noted.data) {
                if *key == old {
                    *key = datum.into();
                }
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
            for answer in next.answers.get_mut(datum).into_iter().flatten() {
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

/// The sum of costs; `None` if one has no finite level.
fn total(costs: impl Iterator<Item = Option<Nats>>) -> Option<Nats> {
    costs.into_iter().try_fold(Nats::ZERO, |sum, cost| sum.checked_add(cost?))
}
