//! A centre on a connection.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::Serialize;
use undertone_design::Error;

use super::board::Board;
use super::center::{Center, Decision, DecisionRecord, Metrics};
use super::epochs::Refusal;
use super::link::{Delivery, Link, LinkEvent, LinkOptions, Message};
use super::topics::{FromSensor, Status, Topics};
use crate::Bundle;

/// The counters are published at most this often.
const METRICS: Duration = Duration::from_secs(1);

/// What happens at the centre.
#[derive(Debug, Clone, PartialEq)]
pub enum CenterEvent {
    /// The broker is there.
    Connected,
    /// The broker is gone, or was not there; the centre tries again.
    Lost {
        /// Why the broker is gone.
        reason: String,
    },
    /// A sensor's state is a new one.
    Status {
        /// Which sensor.
        sensor: u16,
        /// What it is now.
        status: Status,
    },
    /// A message was not used.
    Refused {
        /// Where it was.
        topic: String,
        /// Why it was not used.
        reason: Refusal,
    },
    /// An epoch was decided.
    Decided(Decision),
}

/// What happened at a centre, as one line for programs.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum CenterRecord<'a> {
    /// The broker is there.
    Connected,
    /// The broker is gone, or was not there.
    Lost {
        /// Why the broker is gone.
        reason: &'a str,
    },
    /// A sensor's state is a new one.
    Status {
        /// Which sensor.
        sensor: u16,
        /// What it is now.
        status: &'static str,
    },
    /// A message was not used.
    Refused {
        /// Where it was.
        topic: &'a str,
        /// Why it was not used.
        reason: &'static str,
    },
    /// An epoch was decided.
    Decision(DecisionRecord<'a>),
    /// The centre ends.
    Done {
        /// Its counters.
        metrics: &'a Metrics,
    },
}

impl CenterEvent {
    /// The event as one line for programs.
    pub fn record<'a>(&'a self, bundle: &'a Bundle) -> CenterRecord<'a> {
        match self {
            Self::Connected => CenterRecord::Connected,
            Self::Lost { reason } => CenterRecord::Lost { reason },
            Self::Status { sensor, status } => {
                CenterRecord::Status { sensor: *sensor, status: status.name() }
            }
            Self::Refused { topic, reason } => {
                CenterRecord::Refused { topic, reason: reason.name() }
            }
            Self::Decided(decision) => CenterRecord::Decision(decision.record(bundle)),
        }
    }
}

/// A centre that hears its sensors and publishes decisions and counters.
#[derive(Debug)]
pub struct CenterNode {
    center: Center,
    link: Link,
    topics: Topics,
    board: Board,
    /// What happened and was not told yet.
    news: VecDeque<CenterEvent>,
    /// When the counters may be published again.
    metrics_due: Instant,
    metrics_old: bool,
}

impl CenterNode {
    /// Connects. What the options say of will, greeting, name and topics is replaced by the centre's
    /// own.
    pub fn start(center: Center, options: LinkOptions) -> Result<Self, Error> {
        let topics = Topics::new(center.bundle());
        let says = |status: Status| Message {
            topic: topics.center_status(),
            payload: status.name().into(),
            retain: true,
        };
        let link = Link::open(LinkOptions {
            client: topics.center_client(),
            will: Some(says(Status::Dead)),
            hello: Some(says(Status::Alive)),
            filters: vec![topics.reports(), topics.statuses()],
            lasting: true,
            ..options
        })?;
        let board = Board::new(&center)?;
        let (news, metrics_due) = (VecDeque::new(), Instant::now());
        Ok(Self { center, link, topics, board, news, metrics_due, metrics_old: true })
    }

    /// What the centre shows to whoever looks, kept up to date for as long as it runs.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The centre.
    pub fn center(&self) -> &Center {
        &self.center
    }

    /// The network.
    pub fn bundle(&self) -> &Bundle {
        self.center.bundle()
    }

    /// A new budget from epoch `first` on, for a new private value.
    pub fn reset(&mut self, first: u64) -> Result<(), Error> {
        self.center.reset(first)?;
        self.board.refresh(self.center.metrics());
        Ok(())
    }

    /// The next thing that happens. May be cancelled. Fails if the broker refuses the centre, or its
    /// state file cannot be written.
    pub async fn next(&mut self) -> Result<CenterEvent, Error> {
        let event = self.next_event().await?;
        self.board.see(&event, self.center.metrics());
        Ok(event)
    }

    async fn next_event(&mut self) -> Result<CenterEvent, Error> {
        loop {
            if let Some(event) = self.news.pop_front() {
                return Ok(event);
            }
            if let Some(decision) = self.center.decide(Instant::now())? {
                let record = decision.record(self.center.bundle());
                self.publish(self.topics.decision(), &record, false)?;
                self.metrics_old = true;
                return Ok(CenterEvent::Decided(decision));
            }
            self.publish_metrics()?;
            let deadline = self.center.next_deadline();
            let metrics = self.metrics_old.then_some(self.metrics_due);
            let wake = match (deadline, metrics) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            let event = match wake {
                None => self.link.next().await,
                Some(wake) => match tokio::time::timeout_at(wake.into(), self.link.next()).await {
                    Ok(event) => event,
                    Err(_) => continue,
                },
            };
            let reason = "the connection to the broker is over";
            let event = event.ok_or_else(|| Error::other("centre", reason))?;
            self.take(event)?;
            self.board.refresh(self.center.metrics());
        }
    }

    fn take(&mut self, event: LinkEvent) -> Result<(), Error> {
        let now = Instant::now();
        match event {
            LinkEvent::Connected => {
                self.center.restart_deadlines(now);
                self.news.push_back(CenterEvent::Connected);
            }
            LinkEvent::Lost { reason } => {
                self.center.restart_deadlines(now);
                self.news.push_back(CenterEvent::Lost { reason });
            }
            LinkEvent::Refused { reason } => return Err(Error::other("broker", reason)),
            LinkEvent::Delivered(Delivery { topic, payload }) => {
                self.metrics_old = true;
                let heard = match self.topics.read(&topic) {
                    Some(FromSensor::Report(sensor)) => {
                        let before = self.center.status(sensor);
                        let heard = self.center.hear(sensor, &payload, now)?;
                        let after = self.center.status(sensor);
                        if let Some(status) = after.filter(|_| after != before) {
                            self.news.push_back(CenterEvent::Status { sensor, status });
                        }
                        heard
                    }
                    Some(FromSensor::Status(sensor)) => {
                        let heard = self.center.hear_status(sensor, &payload);
                        if let Ok(Some(status)) = heard {
                            self.news.push_back(CenterEvent::Status { sensor, status });
                        }
                        heard.map(|_| ())
                    }
                    // A sensor's number that is no number.
                    None => Err(self.center.refuse(Refusal::UnknownSensor)),
                };
                if let Err(reason) = heard {
                    self.news.push_back(CenterEvent::Refused { topic, reason });
                }
            }
        }
        Ok(())
    }

    fn publish(&self, topic: String, what: &impl Serialize, retain: bool) -> Result<(), Error> {
        // By way of a value, whose fields are in the order of their names.
        let json = serde_json::to_value(what).unwrap_or_default().to_string();
        self.link.publish(Message { topic, payload: json.into_bytes(), retain })
    }

    fn publish_metrics(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        if self.metrics_old && now >= self.metrics_due {
            self.metrics_old = false;
            self.metrics_due = now + METRICS;
            self.publish(self.topics.metrics(), self.center.metrics(), true)?;
        }
        Ok(())
    }

    /// Publishes the last counters, says that it is done, and closes; tells whether everything was
    /// acknowledged in time.
    pub async fn close(mut self, limit: Duration) -> Result<bool, Error> {
        self.metrics_due = Instant::now();
        self.metrics_old = true;
        self.publish_metrics()?;
        self.link.announce(Message {
            topic: self.topics.center_status(),
            payload: Status::Done.name().into(),
            retain: true,
        })?;
        Ok(self.link.close(limit).await)
    }
}
