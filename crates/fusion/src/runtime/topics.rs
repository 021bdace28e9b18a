//! Where the messages of one network go.
//!
//! Everything is under `undertone/<the first 16 hexadecimal digits of the bundle's id>`.

use crate::Bundle;

/// The topics of one bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    root: String,
    short: String,
}

/// What a process says about itself, retained by the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs and draws tokens.
    Alive,
    /// It runs, its budget is spent, and its token is constant.
    Spent,
    /// It ended in good order.
    Done,
    /// The broker lost it.
    Dead,
}

impl Status {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Spent => "spent",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }

    /// As it is read.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let all = [Self::Alive, Self::Spent, Self::Done, Self::Dead];
        all.into_iter().find(|status| status.name().as_bytes() == bytes)
    }

    /// Whether reports may still come.
    pub fn speaks(self) -> bool {
        matches!(self, Self::Alive | Self::Spent)
    }
}

/// A message of a sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FromSensor {
    Report(u16),
    Status(u16),
}

impl Topics {
    /// The topics of this bundle.
    pub fn new(bundle: &Bundle) -> Self {
        let root = format!("undertone/{}", &bundle.id()[..16]);
        Self { root, short: bundle.id()[..12].into() }
    }

    /// Where sensor `index` reports.
    pub fn report(&self, index: u16) -> String {
        format!("{}/sensor/{index}/report", self.root)
    }

    /// Where sensor `index` says whether it lives.
    pub fn status(&self, index: u16) -> String {
        format!("{}/sensor/{index}/status", self.root)
    }

    /// All sensors' reports.
    pub fn reports(&self) -> String {
        format!("{}/sensor/+/report", self.root)
    }

    /// All sensors' states.
    pub fn statuses(&self) -> String {
        format!("{}/sensor/+/status", self.root)
    }

    /// Where the centre says what it decided.
    pub fn decision(&self) -> String {
        format!("{}/center/decision", self.root)
    }

    /// Where the centre says how it fares.
    pub fn metrics(&self) -> String {
        format!("{}/center/metrics", self.root)
    }

    /// Where the centre says whether it lives.
    pub fn center_status(&self) -> String {
        format!("{}/center/status", self.root)
    }

    /// The MQTT name of sensor `index`: at most 23 characters, which every broker takes.
    pub fn sensor_client(&self, index: u16) -> String {
        format!("ut-{}-s{index}", self.short)
    }

    /// The MQTT name of the centre.
    pub fn center_client(&self) -> String {
        format!("ut-{}-center", self.short)
    }

    /// Whose message this is.
    pub(crate) fn read(&self, topic: &str) -> Option<FromSensor> {
        let rest = topic.strip_prefix(self.root.as_str())?.strip_prefix("/sensor/")?;
        let (index, what) = rest.split_once('/')?;
        let index: u16 = index.parse().ok()?;
        match what {
            "report" => Some(FromSensor::Report(index)),
            "status" => Some(FromSensor::Status(index)),
            _ => None,
        }
    }
}
