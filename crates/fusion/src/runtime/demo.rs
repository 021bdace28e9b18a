//! A whole network on one machine: a world that draws H, G and readings, sensors, a centre, and an
//! attacker who hears everything.

use std::path::Path;
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use undertone::Answer;
use undertone_core::Nats;
use undertone_design::Error;

use super::address::Address;
use super::attacker::{Attacker, least_error};
use super::budget::Budget;
use super::center::{Center, Decision, Metrics, Pace, as_decimal};
use super::center_node::{CenterEvent, CenterNode};
use super::link::LinkOptions;
use super::sensor::Sensor;
use super::sensor_node::SensorNode;
use super::topics::Status;
use crate::report::{FusionModel, NetworkRequest};
use crate::{Bundle, Evaluation, Model};
use undertone_numeric::dice::draw;

/// Longer than any working broker takes for one epoch.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running demonstration.
///
/// The private value stays the same for as many epochs as the bundle is certified for; then it is
/// drawn anew, and sensors and centre begin a new budget.
#[derive(Debug)]
pub struct Demo {
    model: Model,
    sensors: Vec<SensorNode>,
    center: CenterNode,
    attacker: Attacker,
    rng: ChaCha20Rng,
    private: usize,
    next: u64,
    tally: Tally,
}

/// What has been seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Epochs so far.
    pub epochs: u64,
    /// Decisions of the centre that were wrong.
    pub wrong_public: u64,
    /// Private values so far whose epochs are over.
    pub secrets: u64,
    /// How many of them the attacker guessed wrong.
    pub wrong_private: u64,
    /// How often the centre errs: the Bayes error of the shipped maps.
    pub expected_public: f64,
    /// How often the centre would err without hearing anything.
    pub blind_public: f64,
    /// No attacker errs less often than this about G: a consequence of the certificate.
    pub least_private: f64,
    /// The error of guessing G without hearing anything.
    pub blind_private: f64,
    /// For how many epochs a private value stays the same.
    pub epochs_per_secret: u32,
}

/// One epoch of a demonstration.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The true value of H.
    pub public: usize,
    /// The true value of G.
    pub private: usize,
    /// What the centre decided.
    pub decision: Decision,
    /// What the attacker believes G to be, from all epochs since G was drawn.
    pub guess: usize,
    /// Whether this was the last epoch of a private value.
    pub last: bool,
}

/// A demonstration that is over.
#[derive(Debug, Clone, Serialize)]
pub struct DemoReport {
    /// Which broker carried it.
    pub broker: String,
    /// The network's id.
    pub bundle_id: String,
    /// Epochs.
    pub epochs: u64,
    /// For how many epochs a private value stayed the same.
    pub epochs_per_secret: u32,
    /// Private values whose epochs are over.
    pub secrets: u64,
    /// How often the centre erred about H.
    pub error_public: f64,
    /// How often it errs: the Bayes error of the shipped maps.
    pub bayes_error_public: f64,
    /// How often a guess of H errs that hears nothing.
    pub blind_public: f64,
    /// How often the attacker erred about G.
    pub error_private: f64,
    /// No attacker errs less often than this: a consequence of the certificate.
    pub least_error_private: f64,
    /// How often a guess of G errs that hears nothing.
    pub blind_private: f64,
    /// ε_I of the last private value's epochs; nothing if there is no bound.
    #[serde(serialize_with = "as_decimal")]
    pub information: Option<Nats>,
    /// One epoch more than the budget allows.
    pub beyond_budget: BeyondBudget,
    /// The centre's counters.
    pub metrics: Metrics,
}

/// One epoch more than the budget allows.
#[derive(Debug, Clone, Serialize)]
pub struct BeyondBudget {
    /// How many sensors sent their constant token.
    pub constant: usize,
    /// How many tokens meant anything.
    pub heard: usize,
}

impl Answer for DemoReport {
    fn words(&self) -> String {
        format!(
            "In {} epochs the centre was wrong in {:.4} (expected {:.4}, blindly {:.4}); of {} private values the attacker missed {:.4} (certified at least {:.4}, blindly {:.4}).",
            self.epochs,
            self.error_public,
            self.bayes_error_public,
            self.blind_public,
            self.secrets,
            self.error_private,
            (1e4 * self.least_error_private).floor() / 1e4,
            self.blind_private
        )
    }
}

/// The example network: six rooms tell whether there is an alarm and not whether anyone is in.
pub fn six_rooms() -> Result<NetworkRequest, Error> {
    let model = crate::model::read(include_str!("six_rooms.json"))?;
    let model = FusionModel::assumed(model, "fusion-ga.json");
    Ok(NetworkRequest {
        information: Some(1.0),
        ldp: Some(2.0),
        epochs: 5,
        restarts: Some(8),
        ..NetworkRequest::new(model)
    })
}

impl Tally {
    /// The share of wrong decisions about H.
    pub fn error_public(&self) -> f64 {
        self.wrong_public as f64 / self.epochs.max(1) as f64
    }

    /// The share of wrong guesses of G.
    pub fn error_private(&self) -> f64 {
        self.wrong_private as f64 / self.secrets.max(1) as f64
    }
}

impl Demo {
    /// Starts all sensors and the centre of a bundle on a broker, with their state files in `folder`,
    /// and waits until the centre has heard that every sensor is there. All randomness, the world's
    /// too, comes from `rng`.
    pub async fn start(
        bundle: &Bundle,
        broker: &Address,
        folder: &Path,
        rng: ChaCha20Rng,
    ) -> Result<Self, Error> {
        let model = bundle.float_model()?;
        let seen = Evaluation::new(&model, &bundle.maps()?)?;
        let epochs_per_secret = bundle.budgets().epochs;
        let certified = bundle.certificate().after(epochs_per_secret);
        let information = certified.and_then(|line| line.information);
        let tally = Tally {
            epochs: 0,
            wrong_public: 0,
            secrets: 0,
            wrong_private: 0,
            expected_public: seen.error_public,
            blind_public: seen.blind_public,
            least_private: least_error(&model.private_law(), information),
            blind_private: seen.blind_private,
            epochs_per_secret,
        };
        let options = |client: &str| LinkOptions {
            longest_pause: Duration::from_secs(1),
            ..LinkOptions::new(broker.clone(), client.into())
        };
        // On one machine nobody is late: an epoch waits for all its sensors.
        let budget = Budget::certified(bundle);
        let pace = Pace { deadline: PATIENCE, ..Pace::default() };
        let center = Center::open(bundle, budget, pace, Some(&folder.join("center.state")))?;
        let center = CenterNode::start(center, options("center"))?;
        let mut sensors = Vec::new();
        for index in 0..model.sensors().len() {
            let index = u16::try_from(index)
                .map_err(|_| Error::other("network", "has more sensors than a report can name"))?;
            let state = folder.join(format!("sensor-{index}.state"));
            let sensor = Sensor::open(bundle, index, budget, &state)?;
            sensors.push(SensorNode::start(bundle, sensor, options("sensor"))?);
        }
        let attacker = Attacker::new(bundle)?;
        let mut demo = Self { model, sensors, center, attacker, rng, private: 0, next: 1, tally };
        demo.private = demo.draw_private();
        let all = demo.sensors.len();
        demo.wait("the sensors are there", |center, _| {
            let alive = |status: Option<Status>| status == Some(Status::Alive);
            let metrics = center.center().metrics();
            metrics.sensors.iter().filter(|sensor| alive(sensor.status)).count() == all
        })
        .await?;
        Ok(demo)
    }

    /// What has been seen so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The centre's counters.
    pub fn metrics(&self) -> &Metrics {
        self.center.center().metrics()
    }

    /// ε_I of the epochs since the private value was drawn.
    pub fn information(&self) -> Option<Nats> {
        self.metrics().information
    }

    /// One epoch: the world draws, the sensors report, the centre decides, the attacker guesses.
    pub async fn epoch(&mut self) -> Result<Step, Error> {
        if self.metrics().epochs >= self.tally.epochs_per_secret {
            self.begin_anew().await?;
        }
        let (public, cells) = self.draw_epoch();
        let decision = self.publish(&cells).await?;
        self.attacker.hear(&decision.outputs)?;
        self.tally.epochs += 1;
        self.tally.wrong_public += u64::from(decision.value != public);
        let last = decision.epochs >= self.tally.epochs_per_secret;
        let guess = self.attacker.guess();
        if last {
            self.tally.secrets += 1;
            self.tally.wrong_private += u64::from(guess != self.private);
        }
        Ok(Step { public, private: self.private, decision, guess, last })
    }

    /// One epoch more than the budget allows: the sensors' tokens are constant, and the decision is
    /// the one that is made without hearing anything.
    pub async fn epoch_beyond(&mut self) -> Result<Decision, Error> {
        while self.metrics().epochs < self.tally.epochs_per_secret {
            self.epoch().await?;
        }
        let (_, cells) = self.draw_epoch();
        self.publish(&cells).await
    }

    /// Goes one epoch beyond the budget, ends, and tells what was seen; `broker` is the name of what carried it.
    pub async fn report(mut self, broker: &str) -> Result<DemoReport, Error> {
        let beyond = self.epoch_beyond().await?;
        let bundle_id = self.center.bundle().id().to_owned();
        let (tally, metrics) = self.finish().await?;
        Ok(DemoReport {
            broker: broker.into(),
            bundle_id,
            epochs: tally.epochs,
            epochs_per_secret: tally.epochs_per_secret,
            secrets: tally.secrets,
            error_public: tally.error_public(),
            bayes_error_public: tally.expected_public,
            blind_public: tally.blind_public,
            error_private: tally.error_private(),
            least_error_private: tally.least_private,
            blind_private: tally.blind_private,
            information: metrics.information,
            beyond_budget: BeyondBudget {
                constant: beyond.constant.len(),
                heard: beyond.outputs.iter().flatten().count(),
            },
            metrics,
        })
    }

    /// Ends sensors and centre in good order.
    pub async fn finish(self) -> Result<(Tally, Metrics), Error> {
        let metrics = self.metrics().clone();
        for sensor in self.sensors {
            sensor.close(PATIENCE).await?;
        }
        self.center.close(PATIENCE).await?;
        Ok((self.tally, metrics))
    }

    async fn publish(&mut self, cells: &[String]) -> Result<Decision, Error> {
        let epoch = self.next;
        self.next += 1;
        for (sensor, cell) in self.sensors.iter_mut().zip(cells) {
            sensor.send(epoch, cell, &mut self.rng)?;
        }
        let mut found = None;
        self.wait("an epoch is decided", |_, event| {
            if let CenterEvent::Decided(decision) = event
                && decision.epoch == epoch
            {
                found = Some(decision.clone());
            }
            found.is_some()
        })
        .await?;
        found.ok_or_else(|| Error::other("demonstration", "an epoch was not decided"))
    }

    /// A new private value and new budgets.
    async fn begin_anew(&mut self) -> Result<(), Error> {
        self.center.reset(self.next)?;
        for sensor in &mut self.sensors {
            sensor.reset(self.next)?;
        }
        self.attacker.forget();
        self.private = self.draw_private();
        Ok(())
    }

    /// Follows the centre until a condition holds.
    async fn wait(
        &mut self,
        what: &str,
        mut holds: impl FnMut(&CenterNode, &CenterEvent) -> bool,
    ) -> Result<(), Error> {
        let follow = async {
            loop {
                let event = self.center.next().await?;
                if holds(&self.center, &event) {
                    return Ok(());
                }
            }
        };
        tokio::time::timeout(PATIENCE, follow).await.unwrap_or_else(|_| {
            let problem = format!("waited {} seconds until {what}", PATIENCE.as_secs());
            Err(Error::other("demonstration", problem))
        })
    }

    fn draw_private(&mut self) -> usize {
        draw(&self.model.private_law(), &mut self.rng)
    }

    /// H given G, and what every sensor reads.
    fn draw_epoch(&mut self) -> (usize, Vec<String>) {
        let weight = |atom: &crate::Atom| {
            if atom.private == self.private { atom.weight } else { 0.0 }
        };
        let weights: Vec<f64> = self.model.atoms().iter().map(weight).collect();
        let atom = draw(&weights, &mut self.rng);
        let read = |sensor: &crate::Sensor| {
            sensor.readings().label(draw(sensor.given(atom).as_slice(), &mut self.rng))
        };
        (self.model.atoms()[atom].public, self.model.sensors().iter().map(read).collect())
    }
}
