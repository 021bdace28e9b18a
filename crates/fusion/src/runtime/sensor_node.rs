//! A sensor on a connection.

use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng};
use undertone_design::Error;
use undertone_wire::SensorReport;

use super::link::{Link, LinkEvent, LinkOptions, Message};
use super::sensor::Sensor;
use super::topics::{Status, Topics};
use crate::Bundle;

/// How long reports wait for a centre when a broker knows of none.
const PATIENCE: Duration = Duration::from_secs(30);

/// A generator seeded by the system.
pub fn system_generator() -> Result<ChaCha20Rng, Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| {
        Error::other("the system's random generator", format!("{error}; nothing was published"))
    })?;
    Ok(ChaCha20Rng::from_seed(seed))
}

/// A sensor that publishes its reports, with a retained status and a last will.
#[derive(Debug)]
pub struct SensorNode {
    sensor: Sensor,
    link: Link,
    topics: Topics,
    announced: Status,
}

impl SensorNode {
    /// Connects. What the options say of will, greeting and name is replaced by the sensor's own.
    /// The last report is sent again: it may never have arrived.
    pub fn start(bundle: &Bundle, sensor: Sensor, options: LinkOptions) -> Result<Self, Error> {
        let topics = Topics::new(bundle);
        let index = sensor.index();
        let announced = if sensor.is_spent() { Status::Spent } else { Status::Alive };
        let says = |status: Status| Message {
            topic: topics.status(index),
            payload: status.name().into(),
            retain: true,
        };
        let link = Link::open(LinkOptions {
            client: topics.sensor_client(index),
            will: Some(says(Status::Dead)),
            hello: Some(says(announced)),
            // A broker that has lost its memory would take reports that nobody hears yet.
            filters: vec![topics.center_status()],
            after: Some((topics.center_status(), PATIENCE)),
            lasting: false,
            ..options
        })?;
        let node = Self { sensor, link, topics, announced };
        if let Some(last) = node.sensor.last() {
            node.publish(&last)?;
        }
        Ok(node)
    }

    /// The sensor.
    pub fn sensor(&self) -> &Sensor {
        &self.sensor
    }

    /// The connection.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Publishes what the sensor says in this epoch.
    pub fn send<R: CryptoRng + ?Sized>(
        &mut self,
        epoch: u64,
        cell: &str,
        rng: &mut R,
    ) -> Result<SensorReport, Error> {
        let report = self.sensor.report(epoch, cell, rng)?;
        self.publish(&report)?;
        self.announce()?;
        Ok(report)
    }

    /// A new budget from epoch `first` on, for a new private value.
    pub fn reset(&mut self, first: u64) -> Result<(), Error> {
        self.sensor.reset(first)?;
        self.announce()
    }

    /// The next event of the connection; `None` after a refusal. May be cancelled.
    pub async fn next(&mut self) -> Option<LinkEvent> {
        self.link.next().await
    }

    /// Says that it is done, and closes; tells whether every report was acknowledged in time.
    pub async fn close(self, limit: Duration) -> Result<bool, Error> {
        self.link.announce(self.status(Status::Done))?;
        Ok(self.link.close(limit).await)
    }

    fn status(&self, status: Status) -> Message {
        let topic = self.topics.status(self.sensor.index());
        Message { topic, payload: status.name().into(), retain: true }
    }

    /// Tells when the budget is spent, and when there is a new one.
    fn announce(&mut self) -> Result<(), Error> {
        let now = if self.sensor.is_spent() { Status::Spent } else { Status::Alive };
        if now != self.announced {
            self.announced = now;
            self.link.announce(self.status(now))?;
        }
        Ok(())
    }

    fn publish(&self, report: &SensorReport) -> Result<(), Error> {
        self.link.publish(Message {
            topic: self.topics.report(self.sensor.index()),
            payload: report.to_bytes().to_vec(),
            retain: false,
        })
    }
}
