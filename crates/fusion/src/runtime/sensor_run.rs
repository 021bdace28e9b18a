//! A sensor at work: values in, reports out, until the values end.

use std::pin::pin;
use std::time::Duration;

use rand_core::CryptoRng;
use serde::Serialize;
use tokio::sync::mpsc;
use undertone::Answer;
use undertone_wire::{SensorReport, TokenKind};

use super::link::LinkEvent;
use super::reading::Reading;
use super::sensor::Sensor;
use super::sensor_node::SensorNode;
use crate::Error;

/// Reports that wait for the broker before the sensor stops reading.
const MOST_WAITING: usize = 256;

/// Longer than reports wait for a centre that is not there.
const CLOSING_LIMIT: Duration = Duration::from_secs(60);

/// What happens while a sensor runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SensorEvent {
    /// The broker is there.
    Connected,
    /// The broker is gone, or was not there; the sensor tries again.
    Lost {
        /// Why the broker is gone.
        reason: String,
    },
    /// A report was published.
    Published(SensorReport),
    /// The budget is spent after this epoch: from now on the token is constant.
    Spent {
        /// The last epoch that was drawn in.
        epoch: u64,
    },
}

/// What a sensor did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SensorRunReport {
    /// Which sensor, from 0.
    pub sensor: u16,
    /// Reports published.
    pub published: u64,
    /// How many of them are without meaning, because the budget was spent.
    pub constant: u64,
    /// Values of epochs that are over, not published.
    pub past: u64,
    /// Values replaced by a random reading.
    pub unreadable: u64,
    /// Epochs drawn in since the last reset.
    pub spent: u32,
    /// Epochs that may be.
    pub limit: u32,
    /// The first of them.
    pub first: u64,
    /// Reports dropped because too many waited.
    pub dropped: u64,
    /// Whether the broker has everything.
    pub acknowledged: bool,
}

impl SensorRunReport {
    fn of(sensor: &Sensor) -> Self {
        Self {
            sensor: sensor.index(),
            published: 0,
            constant: 0,
            past: 0,
            unreadable: sensor.unreadable(),
            spent: sensor.spent(),
            limit: sensor.budget().epochs(),
            first: sensor.budget().first(),
            dropped: 0,
            acknowledged: false,
        }
    }
}

impl Answer for SensorRunReport {
    fn words(&self) -> String {
        let arrived = if self.acknowledged { "has" } else { "does not have" };
        format!(
            "Sensor {} published {} reports, {} of them without meaning; {} of {} epochs are spent, and the broker {arrived} everything.",
            self.sensor, self.published, self.constant, self.spent, self.limit
        )
    }

    fn is_good(&self) -> bool {
        self.acknowledged
    }
}

/// A sensor that begins a new budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResetReport {
    /// Which sensor, from 0.
    pub sensor: u16,
    /// Epochs drawn in since then.
    pub spent: u32,
    /// Epochs that may be.
    pub limit: u32,
    /// The first of them.
    pub first: u64,
}

impl ResetReport {
    /// The budget a sensor has.
    pub fn of(sensor: &Sensor) -> Self {
        Self {
            sensor: sensor.index(),
            spent: sensor.spent(),
            limit: sensor.budget().epochs(),
            first: sensor.budget().first(),
        }
    }
}

impl Answer for ResetReport {
    fn words(&self) -> String {
        format!("a new budget of {} epochs from epoch {} on", self.limit, self.first)
    }
}

/// Reads values and publishes a report for each, until the values end, one of them is an error, or `end` is ready.
/// `tell` hears of everything that happens.
pub async fn run_sensor<E: From<Error>>(
    mut node: SensorNode,
    mut values: mpsc::Receiver<Result<Reading, E>>,
    rng: &mut (impl CryptoRng + ?Sized),
    end: impl Future<Output = ()>,
    mut tell: impl FnMut(SensorEvent),
) -> Result<SensorRunReport, E> {
    let over = |reason: &str| E::from(Error::other("broker", reason));
    let (mut published, mut constant, mut past) = (0, 0, 0);
    let mut end = pin!(end);
    loop {
        if node.link().waiting() >= MOST_WAITING {
            node.link().flushed(Duration::from_millis(200)).await;
        }
        tokio::select! {
            () = &mut end => break,
            event = node.next() => match event {
                Some(LinkEvent::Connected) => tell(SensorEvent::Connected),
                Some(LinkEvent::Lost { reason }) => tell(SensorEvent::Lost { reason }),
                Some(LinkEvent::Refused { reason }) => return Err(over(&reason)),
                Some(LinkEvent::Delivered(_)) => {}
                None => return Err(over("the connection is over")),
            },
            value = values.recv(), if node.link().waiting() < MOST_WAITING => {
                let Some(value) = value else { break };
                let value = value?;
                let next = node.sensor().next_epoch();
                let epoch = value.epoch.unwrap_or(next);
                // What was said before stays said; the clock and replays come here again and again.
                if epoch < next {
                    past += 1;
                    continue;
                }
                let was_spent = node.sensor().is_spent();
                let report = node.send(epoch, &value.cell, rng)?;
                published += 1;
                constant += u64::from(report.kind == TokenKind::Constant);
                tell(SensorEvent::Published(report));
                if node.sensor().is_spent() && !was_spent {
                    tell(SensorEvent::Spent { epoch });
                }
            }
        }
    }
    let report = SensorRunReport {
        published,
        constant,
        past,
        dropped: node.link().dropped(),
        ..SensorRunReport::of(node.sensor())
    };
    let acknowledged = node.close(CLOSING_LIMIT).await?;
    Ok(SensorRunReport { acknowledged, ..report })
}
