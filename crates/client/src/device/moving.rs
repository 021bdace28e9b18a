//! A ledger that goes to another device, once.
//!
//! What goes is everything the device keeps, in a file that any device can take over. The old device then releases nothing
//! any more. That the file is taken over only once cannot be enforced: it is bytes, and bytes can be copied. So whoever takes it
//! over adds what it holds to what is there and never replaces it, and two ledgers that meet again are one with the costs of both.

use super::file;
use super::plans::PlanNotes;
use super::state::{Moved, Noted, State, Told};
use super::{Delivery, Device, DeviceError, KEPT_POLICIES, Remembered};
use crate::day::Day;
use std::path::Path;
use undertone_core::ReportId;

impl Device {
    /// Moves the ledger into a new file, which another device takes over with [`Device::import`]. From then on this device
    /// releases nothing and is not moved again.
    ///
    /// The file is on disk before this device is marked: whatever fails in between, what was spent is not lost.
    pub fn export(&mut self, path: impl AsRef<Path>, today: Day) -> Result<(), DeviceError> {
        let path = path.as_ref();
        let io = |error| DeviceError::Io { path: path.into(), error };
        self.refuse_moved()?;
        if path.exists() {
            return Err(DeviceError::Exists { path: path.into() });
        }
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| io(std::io::Error::other(error)))?;
        let mut next = self.state.clone();
        next.see(today);
        next.moved = Some(Moved { id: ReportId(id), day: next.day });
        let bytes = file::encode_ledger(&next).map_err(|error| io(error.into()))?;
        file::replace(path, &bytes).map_err(io)?;
        if let Err(error) = self.replace(next) {
            // It is still here, so it is nowhere else.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(())
    }

    /// Takes over a ledger that another device gave away. What both have released counts, reports that are on both count
    /// once; the first ledger a new device takes over brings its budgets too.
    pub fn import(&mut self, path: impl AsRef<Path>) -> Result<(), DeviceError> {
        let path = path.as_ref();
        let bytes =
            std::fs::read(path).map_err(|error| DeviceError::Io { path: path.into(), error })?;
        let other =
            file::decode_ledger(&bytes).map_err(|reason| DeviceError::NoLedger { reason })?;
        if self.state.moved.is_some() && self.state.moved == other.moved {
            return Err(DeviceError::OwnLedger);
        }
        self.change(|state| state.join(other))
    }

    /// When the ledger went to another device, if it did.
    pub fn moved(&self) -> Option<Day> {
        self.state.moved.map(|moved| moved.day)
    }
}

impl State {
    /// Adds everything of another ledger to this one.
    fn join(&mut self, mut other: Self) {
        if self.releases.is_empty() {
            self.budgets = other.budgets;
        }
        // Days that are not known are those of the other device's latest.
        let latest = self.day.max(other.day);
        self.see(latest);
        other.see(latest);
        self.moved = None;
        for (plan, notes) in other.plans {
            let released = self.has_plan(plan);
            self.plans.entry(plan).or_default().join(notes, released);
        }
        for noted in other.releases {
            match self.releases.iter_mut().find(|one| one.is_same(&noted)) {
                Some(one) => one.join(noted),
                None => self.releases.push(noted),
            }
        }
        for (datum, answers) in other.answers {
            let here = self.answers.entry(datum).or_default();
            for answer in answers {
                match here.iter_mut().find(|one| one.is_same(&answer)) {
                    Some(one) if answer.delivery == Delivery::Accepted => {
                        one.delivery = Delivery::Accepted;
                    }
                    Some(_) => {}
                    None => here.push(answer),
                }
            }
        }
        for (id, policy) in other.policies {
            if self.policies.len() < KEPT_POLICIES {
                self.policies.entry(id).or_insert(policy);
            }
        }
    }
}

impl Noted {
    /// Whether both are one release. Two devices that drew under one policy for one datum made two, and where the message is
    /// not known that is what is assumed.
    fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.id != ReportId([0; 16])
            && self.policy == other.policy
            && self.part == other.part
            && self.data == other.data
    }

    /// One that was noted on two devices counts from the later day on, at every collector that either told.
    fn join(&mut self, other: Self) {
        self.day = self.day.max(other.day);
        for Told { address, day } in other.collectors {
            match self.collectors.iter_mut().find(|told| told.address == address) {
                Some(told) => told.day = told.day.max(day),
                None => self.collectors.push(Told { address, day }),
            }
        }
    }
}

impl Remembered {
    /// Whether both are one report on its way to one survey.
    fn is_same(&self, other: &Self) -> bool {
        self.report == other.report && self.curator == other.curator && self.survey == other.survey
    }
}

impl PlanNotes {
    /// What was drawn here stays. Only a choice under which nothing was `released` gives way to one that may have been
    /// used: the fewer items two devices answer together, the less they tell.
    fn join(&mut self, other: Self, released: bool) {
        if self.choice.is_none() || (!released && other.choice.is_some()) {
            self.choice = other.choice;
        }
        for (at, token) in other.memos {
            self.memos.entry(at).or_insert(token);
        }
        for kept in other.responses {
            match self.responses.iter_mut().find(|one| one.response == kept.response) {
                Some(one) if kept.delivery == Delivery::Accepted => one.delivery = kept.delivery,
                Some(_) => {}
                None => self.responses.push(kept),
            }
        }
    }
}
