//! What happened, in bounded memory: a flood of refused messages leaves room for everything else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::now;
use super::state::BoardEvent;
use crate::Bundle;
use crate::runtime::center::Metrics;
use crate::runtime::center_node::CenterEvent;
use crate::runtime::epochs::Refusal;
use crate::runtime::topics::{FromSensor, Status, Topics};

/// Changes that are remembered.
const CHANGES: usize = 100;
/// Kinds of refused messages that are remembered, each with its sensor.
const REFUSALS: usize = 40;

/// What happened to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Connected,
    Lost,
    Status(u16, Status),
    Silent(u16),
    Heard(u16),
    Refused(Option<u16>, Refusal),
    /// A new budget from this epoch on.
    Budget(u64),
    UsedUp(u32),
}

/// The last changes and refusals.
#[derive(Debug, Default)]
pub(super) struct Log {
    changes: VecDeque<Entry>,
    refusals: VecDeque<Entry>,
    /// What was last said of each sensor's life.
    lives: BTreeMap<u16, Status>,
    /// Sensors that were said to be silent, and not yet to be heard again.
    silent: BTreeSet<u16>,
    /// How many entries there ever were: the order of those of one second.
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    what: What,
    at: u64,
    order: u64,
    times: u64,
}

impl Log {
    /// Something happened; the counters before it and after it.
    pub(super) fn see(
        &mut self,
        event: &CenterEvent,
        old: &Metrics,
        new: &Metrics,
        topics: &Topics,
    ) {
        match event {
            CenterEvent::Connected => self.change(What::Connected),
            CenterEvent::Lost { .. } => {
                // Trying again in vain is no news.
                let last = |entry: &&Entry| matches!(entry.what, What::Connected | What::Lost);
                let known = self.changes.iter().rev().find(last);
                if known.is_none_or(|entry| entry.what != What::Lost) {
                    self.change(What::Lost);
                }
            }
            CenterEvent::Status { sensor, status } => {
                let before = self.lives.insert(*sensor, *status);
                // That all budgets are used up, and begin anew, is said once and not by every sensor.
                if !(before.is_some_and(Status::speaks) && status.speaks()) {
                    self.change(What::Status(*sensor, *status));
                }
                if !status.speaks() {
                    self.silent.remove(sensor);
                }
            }
            CenterEvent::Refused { topic, reason } => {
                let sensor =
                    topics.read(topic).map(|(FromSensor::Report(t) | FromSensor::Status(t))| t);
                let sensor = sensor.filter(|&t| usize::from(t) < new.sensors.len());
                self.refusal(What::Refused(sensor, *reason));
            }
            CenterEvent::Decided(_) => {
                for (index, (old, new)) in (0..).zip(old.sensors.iter().zip(&new.sensors)) {
                    let speaks = new.status.is_none_or(Status::speaks);
                    let silent = new.missed_in_a_row > 0;
                    if silent && old.missed_in_a_row == 0 && speaks && self.silent.insert(index) {
                        self.change(What::Silent(index));
                    } else if !silent && self.silent.remove(&index) {
                        self.change(What::Heard(index));
                    }
                }
            }
        }
    }

    /// The counters before and after.
    pub(super) fn count(&mut self, old: &Metrics, new: &Metrics) {
        if new.first != old.first {
            self.budget(What::Budget(new.first));
        }
        if new.epochs >= new.limit && old.epochs < old.limit {
            self.budget(What::UsedUp(new.limit));
        }
    }

    /// The latest first.
    pub(super) fn events(&self, bundle: &Bundle) -> Vec<BoardEvent> {
        let mut all: Vec<Entry> = self.changes.iter().chain(&self.refusals).copied().collect();
        all.sort_by_key(|entry| std::cmp::Reverse(entry.order));
        all.iter().map(|entry| entry.event(bundle)).collect()
    }

    fn change(&mut self, what: What) {
        let entry = self.entry(what, 1);
        push(&mut self.changes, entry, CHANGES);
    }

    /// Budgets that follow each other are one entry with the latest.
    fn budget(&mut self, what: What) {
        let same =
            |entry: &Entry| std::mem::discriminant(&entry.what) == std::mem::discriminant(&what);
        let known = self.changes.iter().position(same).and_then(|at| self.changes.remove(at));
        let entry = self.entry(what, known.map_or(1, |entry| entry.times + 1));
        push(&mut self.changes, entry, CHANGES);
    }

    fn refusal(&mut self, what: What) {
        let known = self.refusals.iter().position(|entry| entry.what == what);
        let known = known.and_then(|at| self.refusals.remove(at));
        let entry = self.entry(what, known.map_or(1, |entry| entry.times + 1));
        push(&mut self.refusals, entry, REFUSALS);
    }

    fn entry(&mut self, what: What, times: u64) -> Entry {
        self.count += 1;
        Entry { what, at: now(), order: self.count, times }
    }
}

fn push(entries: &mut VecDeque<Entry>, entry: Entry, most: usize) {
    if entries.len() >= most {
        entries.pop_front();
    }
    entries.push_back(entry);
}

impl Entry {
    fn event(&self, bundle: &Bundle) -> BoardEvent {
        let name = |sensor: u16| {
            let name = bundle.sensors().nth(usize::from(sensor));
            name.map_or_else(|| format!("Sensor {sensor}"), str::to_owned)
        };
        let (kind, sensor, fault, words) = match self.what {
            What::Connected => ("connected", None, false, "The broker is there.".into()),
            What::Lost => {
                ("lost", None, true, "The broker is gone; the centre tries again.".into())
            }
            What::Status(t, Status::Alive) => {
                ("alive", Some(t), false, format!("{} is live.", name(t)))
            }
            What::Status(t, Status::Spent) => {
                ("spent", Some(t), false, format!("{} has used up its budget.", name(t)))
            }
            What::Status(t, Status::Done) => {
                ("done", Some(t), false, format!("{} has ended.", name(t)))
            }
            What::Status(t, Status::Dead) => {
                let words = format!(
                    "{} is dead: the broker has lost it. Epochs no longer wait for it.",
                    name(t)
                );
                ("dead", Some(t), true, words)
            }
            What::Silent(t) => {
                ("silent", Some(t), true, format!("{} said nothing in time.", name(t)))
            }
            What::Heard(t) => ("heard", Some(t), false, format!("{} is heard again.", name(t))),
            What::Refused(t, reason) => {
                // A sensor that comes back says its last word again.
                let again = match reason {
                    Refusal::Duplicate => " (sent again after a restart or a lost connection)",
                    _ => "",
                };
                let words = match t {
                    Some(t) => {
                        format!("A message of {} was not used: {}{again}.", name(t), reason.words())
                    }
                    None => format!("A message was not used: {}{again}.", reason.words()),
                };
                ("refused", t, reason != Refusal::Duplicate, words)
            }
            What::Budget(first) => (
                "budget",
                None,
                false,
                match bundle.course() {
                    Some(_) => format!(
                        "The hypotheses are drawn anew: a new budget from epoch {first} on."
                    ),
                    None => format!("A new private value: a new budget from epoch {first} on."),
                },
            ),
            What::UsedUp(limit) => {
                let words =
                    format!("All {limit} epochs of the budget are used; no more data are sent.");
                ("used_up", None, false, words)
            }
        };
        let reason = match self.what {
            What::Refused(_, reason) => Some(reason.name()),
            _ => None,
        };
        BoardEvent { at: self.at, kind, sensor, reason, times: self.times, fault, words }
    }
}
