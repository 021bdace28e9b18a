//! Reports put in order: which belong together, which come too late, which are no news.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use undertone_wire::{SensorReport, TokenKind};

/// Decided epochs that are remembered, to tell duplicates from late reports.
const REMEMBERED: usize = 4096;

/// Why a message was not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// It is no report.
    Malformed,
    /// It belongs to another network.
    OtherBundle,
    /// The network has no such sensor.
    UnknownSensor,
    /// It is on another sensor's topic.
    OtherTopic,
    /// The sensor's policy never sends that token.
    OutsidePolicy,
    /// The same report was there already.
    Duplicate,
    /// The sensor said something else in this epoch.
    Contradiction,
    /// The epoch was decided without it.
    Late,
    /// The sensor has too many undecided epochs.
    Ahead,
    /// The epoch is not one of the budget's, and the token is drawn nevertheless.
    Spent,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 10] = [
        Self::Malformed,
        Self::OtherBundle,
        Self::UnknownSensor,
        Self::OtherTopic,
        Self::OutsidePolicy,
        Self::Duplicate,
        Self::Contradiction,
        Self::Late,
        Self::Ahead,
        Self::Spent,
    ];

    /// As it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherBundle => "other_bundle",
            Self::UnknownSensor => "unknown_sensor",
            Self::OtherTopic => "other_topic",
            Self::OutsidePolicy => "outside_policy",
            Self::Duplicate => "duplicate",
            Self::Contradiction => "contradiction",
            Self::Late => "late",
            Self::Ahead => "ahead",
            Self::Spent => "spent",
        }
    }

    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Malformed => "it is no report",
            Self::OtherBundle => "it belongs to another network",
            Self::UnknownSensor => "the network has no such sensor",
            Self::OtherTopic => "it names another sensor",
            Self::OutsidePolicy => "the sensor's policy never sends that token",
            Self::Duplicate => "it was there already",
            Self::Contradiction => "the sensor had said something else",
            Self::Late => "the epoch was decided without it",
            Self::Ahead => "the sensor has too many undecided epochs",
            Self::Spent => "the epoch is outside the budget",
        }
    }
}

/// What a sensor said in an epoch.
pub(super) type Said = Option<(TokenKind, u32)>;

/// An epoch that is not decided yet.
#[derive(Debug, Clone)]
struct Open {
    said: Vec<Said>,
    since: Instant,
}

/// Open and decided epochs.
#[derive(Debug, Clone)]
pub(super) struct Epochs {
    sensors: usize,
    window: usize,
    deadline: Duration,
    open: BTreeMap<u64, Open>,
    /// How many open epochs each sensor has reported in.
    waiting: Vec<usize>,
    decided: BTreeMap<u64, Vec<Said>>,
    /// Epochs up to here that are not remembered are over.
    floor: Option<u64>,
}

impl Epochs {
    pub(super) fn new(sensors: usize, window: usize, deadline: Duration) -> Self {
        let (open, decided) = (BTreeMap::new(), BTreeMap::new());
        Self { sensors, window, deadline, open, waiting: vec![0; sensors], decided, floor: None }
    }

    /// Whether a report is news, and fits in the window.
    pub(super) fn admit(&self, report: &SensorReport) -> Result<(), Refusal> {
        let sensor = usize::from(report.sensor);
        let said = (report.kind, report.token);
        let known = self.open.get(&report.epoch).map(|open| &open.said);
        let decided = self.decided.get(&report.epoch);
        match known.or(decided).and_then(|all| all.get(sensor).copied().flatten()) {
            Some(before) if before == said => return Err(Refusal::Duplicate),
            Some(_) => return Err(Refusal::Contradiction),
            None => {}
        }
        let over = self.floor.is_some_and(|floor| report.epoch <= floor);
        if known.is_none() && (decided.is_some() || over) {
            return Err(Refusal::Late);
        }
        if self.waiting.get(sensor).is_none_or(|&waiting| waiting >= self.window) {
            return Err(Refusal::Ahead);
        }
        Ok(())
    }

    /// Files a report that was admitted.
    pub(super) fn file(&mut self, report: &SensorReport, now: Instant) {
        let sensor = usize::from(report.sensor);
        let empty = || Open { said: vec![None; self.sensors], since: now };
        let open = self.open.entry(report.epoch).or_insert_with(empty);
        if let (Some(place), Some(waiting)) =
            (open.said.get_mut(sensor), self.waiting.get_mut(sensor))
            && place.is_none()
        {
            *place = Some((report.kind, report.token));
            *waiting += 1;
        }
    }

    /// Closes the first epoch that is complete, or whose deadline has passed. An epoch is complete
    /// when every sensor that speaks has spoken.
    pub(super) fn close(&mut self, speaks: &[bool], now: Instant) -> Option<(u64, Vec<Said>)> {
        let complete = |open: &Open| {
            let mut places = open.said.iter().zip(speaks);
            places.all(|(said, speaks)| said.is_some() || !speaks)
        };
        let due = |open: &Open| complete(open) || now >= open.since + self.deadline;
        let epoch = self.open.iter().find(|(_, open)| due(open)).map(|(&epoch, _)| epoch)?;
        let said = self.open.remove(&epoch)?.said;
        for (waiting, said) in self.waiting.iter_mut().zip(&said) {
            *waiting -= usize::from(said.is_some());
        }
        self.decided.insert(epoch, said.clone());
        while self.decided.len() > REMEMBERED {
            let Some((first, _)) = self.decided.pop_first() else { break };
            self.floor = self.floor.max(Some(first));
        }
        Some((epoch, said))
    }

    /// When the next deadline passes.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().map(|open| open.since + self.deadline).min()
    }

    /// Every open epoch gets its whole deadline again: nobody could be heard for a while.
    pub(super) fn restart_deadlines(&mut self, now: Instant) {
        self.open.values_mut().for_each(|open| open.since = now);
    }

    /// This epoch is over, though nothing is known of what was said.
    pub(super) fn forget(&mut self, epoch: u64) {
        self.decided.insert(epoch, vec![None; self.sensors]);
    }

    /// Every epoch before this one is over.
    pub(super) fn start_at(&mut self, first: u64) {
        self.floor = self.floor.max(first.checked_sub(1));
        let later = self.open.split_off(&first);
        for (epoch, open) in std::mem::replace(&mut self.open, later) {
            for (waiting, said) in self.waiting.iter_mut().zip(&open.said) {
                *waiting -= usize::from(said.is_some());
            }
            self.decided.insert(epoch, open.said);
        }
    }

    /// How many epochs are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }
}
