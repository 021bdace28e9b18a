//! A whole network on one machine: a world that draws H, G and readings, sensors, a centre, and an
//! attacker who hears everything.

mod tally;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use undertone::Answer;
use undertone_core::Nats;
use undertone_design::Error;

use super::address::Address;
use super::attacker::{Attacker, least_error};
use super::board::Board;
use super::budget::Budget;
use super::center::{Center, Decision, Metrics, Pace, as_decimal};
use super::center_node::{CenterEvent, CenterNode};
use super::link::LinkOptions;
use super::sensor::Sensor;
use super::sensor_node::SensorNode;
use super::topics::Status;
use crate::objective::likeliest;
use crate::report::{FusionModel, NetworkRequest};
use crate::time::{Course, Filter, track};
use crate::{Bundle, Evaluation, Model, Objective, Performance};
use undertone_numeric::dice::draw;

pub use tally::Tally;

/// Longer than any working broker takes for one epoch.
const PATIENCE: Duration = Duration::from_secs(60);

/// About so many epochs are drawn to see how a centre does that remembers, in 100 paths at least and 1000 at most.
const DRAWN_EPOCHS: u32 = 50_000;

/// A running demonstration.
///
/// The private value stays the same for as many epochs as the bundle is certified for, or moves as the bundle says; then it
/// is drawn anew, and sensors and centre begin a new budget.
#[derive(Debug)]
pub struct Demo {
    model: Model,
    broker: Address,
    folder: PathBuf,
    /// `None` for those that were killed.
    sensors: Vec<Option<SensorNode>>,
    center: CenterNode,
    attacker: Attacker,
    /// How the hypotheses move, if they do.
    moving: Option<Moving>,
    rng: ChaCha20Rng,
    private: usize,
    next: u64,
    tally: Tally,
}

/// Hypotheses that move, and an attacker who knows how.
#[derive(Debug)]
struct Moving {
    states: Vec<(usize, usize)>,
    first: Vec<f64>,
    rows: Vec<Vec<f64>>,
    /// `None` before the first epoch.
    state: Option<usize>,
    attacker: Filter,
}

impl Moving {
    fn new(bundle: &Bundle, course: &Course) -> Result<Self, Error> {
        let chain = course.chain();
        let model = bundle.float_model()?;
        let law = |&pair: &(usize, usize)| -> f64 {
            let own = model.atoms().iter().filter(|atom| (atom.public, atom.private) == pair);
            own.map(|atom| atom.weight).sum()
        };
        let row = |row: &Vec<u64>| row.iter().map(|&mass| mass as f64).collect();
        Ok(Self {
            states: chain.states().to_vec(),
            first: chain.states().iter().map(law).collect(),
            rows: chain.rows().iter().map(row).collect(),
            state: None,
            attacker: Filter::new(bundle.model(), chain, bundle.rule()?, 1),
        })
    }

    /// The pair of the next epoch.
    fn next(&mut self, rng: &mut ChaCha20Rng) -> (usize, usize) {
        let law = self.state.map_or(&self.first, |state| &self.rows[state]);
        let state = draw(law, rng);
        self.state = Some(state);
        self.states[state]
    }
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
    /// For how many epochs a private value stayed the same, or a path of both hypotheses lasted.
    pub epochs_per_secret: u32,
    /// Private values, or paths, whose epochs are over.
    pub secrets: u64,
    /// Whether the hypotheses moved, and the centre remembered.
    pub moving: bool,
    /// How often the centre erred about H.
    pub error_public: f64,
    /// The standard error of that: over epochs, or over paths where hypotheses move; nothing for fewer than ten.
    pub error_public_spread: Option<f64>,
    /// How often its rule errs under the shipped maps: the Bayes error, where the rule is Bayes'. Where hypotheses move, how
    /// often a centre errs that remembers, on paths drawn for that.
    pub bayes_error_public: f64,
    /// The standard error of that, where paths were drawn.
    pub bayes_error_spread: Option<f64>,
    /// How often the rule errs when it hears nothing.
    pub blind_public: f64,
    /// How often the attacker erred about G, once for every value or path, at its end.
    pub error_private: f64,
    /// The standard error of that; nothing for fewer than ten.
    pub error_private_spread: Option<f64>,
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
        let paths = if self.moving { "paths" } else { "private values" };
        format!(
            "In {} epochs the centre was wrong in {:.4} (expected {:.4}, blindly {:.4}); of {} {paths} the attacker missed {:.4} (certified at least {:.4}, blindly {:.4}).",
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

impl Demo {
    /// Starts all sensors and the centre of a bundle on a broker, with their state files in `folder`,
    /// and waits until the centre has heard that every sensor is there. All randomness, the world's
    /// too, comes from `rng`.
    pub async fn start(
        bundle: &Bundle,
        broker: &Address,
        folder: &Path,
        mut rng: ChaCha20Rng,
    ) -> Result<Self, Error> {
        let model = bundle.float_model()?;
        let maps = bundle.maps()?;
        let seen = Evaluation::new(&model, &maps)?;
        let rule = bundle.rule()?;
        let epochs_per_secret = bundle.epochs();
        let (expected_public, drawn) = match (bundle.course(), bundle.objective()) {
            (Some(course), _) => {
                let paths = (DRAWN_EPOCHS / epochs_per_secret).clamp(100, 1000);
                let seen = track(bundle, course.chain(), (paths, epochs_per_secret), &mut rng)?;
                (seen.public.0, Some((paths, seen.public.1)))
            }
            (None, Objective::Error | Objective::Information) => (seen.error_public, None),
            _ => (Performance::new(&rule, &model, &maps)?.error(), None),
        };
        // What the rule says when it hears nothing; a coin may decide.
        let silence = vec![None; maps.len()];
        let blind = rule.decisions(&rule.posterior(&silence)?, &silence)?;
        let right: f64 = blind.iter().zip(model.public_law()).map(|(d, p)| d * p).sum();
        let moving = bundle.course().map(|course| Moving::new(bundle, course)).transpose()?;
        // The private value is guessed when the budget is used up.
        let (information, law) = match bundle.course() {
            Some(course) => {
                let laws = course.private_laws(bundle.model());
                let law = laws.get(epochs_per_secret as usize - 1).cloned();
                (course.after(epochs_per_secret.into()), law.unwrap_or(model.private_law()))
            }
            None => {
                let certified = bundle.certificate().after(epochs_per_secret);
                (certified.and_then(|line| line.information), model.private_law())
            }
        };
        let tally = Tally {
            epochs: 0,
            wrong_public: 0,
            secrets: 0,
            wrong_private: 0,
            expected_public,
            drawn,
            blind_public: 1.0 - right,
            least_private: least_error(&law, information),
            blind_private: seen.blind_private,
            epochs_per_secret,
            paths: (0, 0, 0),
        };
        // On one machine nobody is late: an epoch waits for all its sensors.
        let budget = Budget::certified(bundle);
        let pace = Pace { deadline: PATIENCE, ..Pace::default() };
        let center = Center::open(bundle, budget, pace, Some(&folder.join("center.state")))?;
        let center = CenterNode::start(center, options(broker))?;
        let mut sensors = Vec::new();
        for index in 0..model.sensors().len() {
            let index = u16::try_from(index)
                .map_err(|_| Error::other("network", "has more sensors than a report can name"))?;
            let sensor = Sensor::open(bundle, index, budget, &state_file(folder, index))?;
            sensors.push(Some(SensorNode::start(bundle, sensor, options(broker))?));
        }
        let attacker = Attacker::new(bundle)?;
        let (broker, folder) = (broker.clone(), folder.to_owned());
        let mut demo = Self {
            model,
            broker,
            folder,
            sensors,
            center,
            attacker,
            moving,
            rng,
            private: 0,
            next: 1,
            tally,
        };
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

    /// What the centre shows.
    pub fn board(&self) -> &Board {
        self.center.board()
    }

    /// Ends a sensor without a farewell, as a power cut would, and waits until the centre knows. Fails if no other one is
    /// left.
    pub async fn kill(&mut self, index: u16) -> Result<(), Error> {
        let place = self.sensors.get(usize::from(index)).and_then(Option::as_ref);
        if place.is_none() || self.sensors.iter().flatten().count() < 2 {
            let problem = "cannot be killed: it is not there, or no other one is";
            return Err(Error::other(format!("sensor {index}"), problem));
        }
        drop(self.sensors[usize::from(index)].take());
        self.wait("the sensor's death is known", |center, _| {
            center.center().status(index) == Some(Status::Dead)
        })
        .await
    }

    /// Starts a killed sensor again, with what its state file remembers, and waits until the centre knows.
    pub async fn revive(&mut self, index: u16) -> Result<(), Error> {
        let Some(place @ None) = self.sensors.get_mut(usize::from(index)) else {
            return Err(Error::other(format!("sensor {index}"), "was not killed"));
        };
        let (bundle, state) = (self.center.bundle(), state_file(&self.folder, index));
        let mut sensor = Sensor::open(bundle, index, Budget::certified(bundle), &state)?;
        let first = self.center.center().metrics().first;
        if sensor.budget().first() < first {
            // The private value became another one meanwhile.
            sensor.reset(first)?;
        }
        *place = Some(SensorNode::start(bundle, sensor, options(&self.broker))?);
        self.wait("the sensor is back", |center, _| {
            center.center().status(index).is_some_and(Status::speaks)
        })
        .await
    }

    /// Lets the centre hear, between epochs, until that fails. May be cancelled.
    pub async fn follow(&mut self) -> Error {
        loop {
            if let Err(error) = self.center.next().await {
                return error;
            }
        }
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
        let guess = match &mut self.moving {
            Some(moving) => {
                let after = moving.attacker.hear(decision.epoch, &decision.outputs)?;
                likeliest(&after.private, 0)
            }
            None => {
                self.attacker.hear(&decision.outputs)?;
                self.attacker.guess()
            }
        };
        let last = decision.epochs >= self.tally.epochs_per_secret;
        self.tally.decided(decision.value != public, last);
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
            moving: tally.drawn.is_some(),
            error_public: tally.error_public(),
            error_public_spread: tally.spread_public(),
            bayes_error_public: tally.expected_public,
            bayes_error_spread: tally.drawn.map(|(_, spread)| spread),
            blind_public: tally.blind_public,
            error_private: tally.error_private(),
            error_private_spread: tally.spread_private(),
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
        for sensor in self.sensors.into_iter().flatten() {
            sensor.close(PATIENCE).await?;
        }
        self.center.close(PATIENCE).await?;
        Ok((self.tally, metrics))
    }

    async fn publish(&mut self, cells: &[String]) -> Result<Decision, Error> {
        let epoch = self.next;
        self.next += 1;
        for (sensor, cell) in self.sensors.iter_mut().zip(cells) {
            if let Some(sensor) = sensor {
                sensor.send(epoch, cell, &mut self.rng)?;
            }
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
        for sensor in self.sensors.iter_mut().flatten() {
            sensor.reset(self.next)?;
        }
        self.attacker.forget();
        if let Some(moving) = &mut self.moving {
            moving.state = None;
            moving.attacker.restart(self.next);
        }
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

    /// H, given G or as both move, and what every sensor reads.
    fn draw_epoch(&mut self) -> (usize, Vec<String>) {
        let pair = self.moving.as_mut().map(|moving| moving.next(&mut self.rng));
        if let Some((_, private)) = pair {
            self.private = private;
        }
        let weight = |atom: &crate::Atom| {
            let public = pair.is_none_or(|(public, _)| atom.public == public);
            if public && atom.private == self.private { atom.weight } else { 0.0 }
        };
        let weights: Vec<f64> = self.model.atoms().iter().map(weight).collect();
        let atom = draw(&weights, &mut self.rng);
        let read = |sensor: &crate::Sensor| {
            sensor.readings().label(draw(sensor.given(atom).as_slice(), &mut self.rng))
        };
        (self.model.atoms()[atom].public, self.model.sensors().iter().map(read).collect())
    }
}

/// How everything connects.
fn options(broker: &Address) -> LinkOptions {
    LinkOptions {
        longest_pause: Duration::from_secs(1),
        ..LinkOptions::new(broker.clone(), String::new())
    }
}

/// What a sensor remembers.
fn state_file(folder: &Path, index: u16) -> PathBuf {
    folder.join(format!("sensor-{index}.state"))
}
