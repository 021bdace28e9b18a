//! A network whose hypotheses move: what everything said over many epochs tells, and what a centre gains that remembers.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::Serialize;
use undertone::{Answer, Error, number};
use undertone_core::Nats;

use super::figures::LeakageLevel;
use crate::design::Budgets;
use crate::time::{Chain, ExactChain, Horizon, Leak, PATH_BUDGET, Secret, Tracking, track};
use crate::{Bundle, CourseRequest, ExactModel, Model};

/// A network, how its hypotheses move, and what is to be kept of the private one.
#[derive(Debug, Clone)]
pub struct EpochsRequest {
    /// The network.
    pub bundle: Bundle,
    /// Its model, which is also that of the first epoch.
    pub model: Model,
    /// How the hypotheses move.
    pub chain: Chain,
    /// What is kept: now, any, path, changed or ever:VALUE.
    pub secret: String,
    /// Over how many epochs.
    pub epochs: u32,
    /// How much of it may be told in all of them, in nats; infinite, or nothing, for no limit.
    pub budget: Option<f64>,
    /// How many paths are drawn to compare a centre that remembers with one that does not.
    pub paths: u32,
    /// Where their randomness begins.
    pub seed: u64,
}

/// What is certified of a network whose hypotheses move.
#[derive(Debug, Clone, Serialize)]
pub struct EpochsReport {
    /// The network's id.
    pub bundle_id: String,
    /// Over how many epochs.
    pub epochs: u32,
    /// What is kept.
    pub secret: String,
    /// How much of it may be told in all of them.
    pub budget: LeakageLevel,
    /// How much of it is told in all of them.
    #[serde(flatten)]
    pub kept: LeakReport,
    /// What one epoch tells of the private hypothesis: the level at which the budget of the path holds.
    pub in_one_epoch: LeakageLevel,
    /// Whether the maps were mixed with noise to keep the budget.
    pub mixed: bool,
    /// How far belief can go after so many epochs.
    pub horizons: Vec<HorizonReport>,
    /// How a centre that remembers does.
    pub tracking: TrackingReport,
    /// The network, certified for hypotheses that move.
    #[serde(skip)]
    pub bundle: Bundle,
}

/// How far belief in something can move.
#[derive(Debug, Clone, Serialize)]
pub struct LeakReport {
    /// At most so far.
    pub information: LeakageLevel,
    /// Whether some outputs move it as far.
    pub exact: bool,
    /// Some outputs move it at least as far.
    pub at_least: Option<LeakageLevel>,
}

/// Everything said in so many epochs.
#[derive(Debug, Clone, Serialize)]
pub struct HorizonReport {
    /// How many.
    pub epochs: u32,
    /// Of what is kept.
    pub kept: LeakReport,
    /// Of the value in the last of them.
    pub now: LeakReport,
    /// Of the value in any one of them.
    pub any: LeakReport,
    /// Of all values together.
    pub path: LeakReport,
    /// Of a value by its own epoch only, as if epochs were independent.
    pub alone: LeakageLevel,
    /// Of a value that stays the same while all else is drawn anew in each epoch.
    pub constant: LeakageLevel,
}

/// How often guesses are wrong on drawn paths, and their standard errors.
#[derive(Debug, Clone, Serialize)]
pub struct TrackingReport {
    /// How many paths were drawn.
    pub paths: u32,
    /// The public hypothesis, by a centre that remembers.
    #[serde(serialize_with = "number::as_value")]
    pub error_public: f64,
    /// The public hypothesis, by a centre that does not.
    #[serde(serialize_with = "number::as_value")]
    pub error_public_memoryless: f64,
    /// How much less often who remembers is wrong about it.
    #[serde(serialize_with = "number::as_value")]
    pub gain: f64,
    /// The standard error of that.
    #[serde(serialize_with = "number::as_value")]
    pub gain_error: f64,
    /// The private hypothesis, by who hears everything and remembers.
    #[serde(serialize_with = "number::as_value")]
    pub error_private: f64,
    /// The private hypothesis, by who does not remember.
    #[serde(serialize_with = "number::as_value")]
    pub error_private_memoryless: f64,
}

impl From<Leak> for LeakReport {
    fn from(leak: Leak) -> Self {
        let certified = LeakageLevel::Certified(leak.information);
        let at_least = leak.at_least.map(|nats: Nats| LeakageLevel::Certified(Some(nats)));
        Self { information: certified, exact: leak.exact, at_least }
    }
}

impl From<&Horizon> for HorizonReport {
    fn from(line: &Horizon) -> Self {
        let Horizon { epochs, kept, now, any, path, alone, constant } = *line;
        Self {
            epochs,
            kept: kept.into(),
            now: now.into(),
            any: any.into(),
            path: path.into(),
            alone: LeakageLevel::Certified(alone.information),
            constant: LeakageLevel::Certified(constant),
        }
    }
}

impl From<Tracking> for TrackingReport {
    fn from(seen: Tracking) -> Self {
        Self {
            paths: seen.paths,
            error_public: seen.public.0,
            error_public_memoryless: seen.public_memoryless.0,
            gain: seen.gain.0,
            gain_error: seen.gain.1,
            error_private: seen.private.0,
            error_private_memoryless: seen.private_memoryless.0,
        }
    }
}

/// Certifies a network for hypotheses that move, and mixes noise into its maps if that is what the budget of the path needs.
/// `step` is called before every attempt.
pub fn certify_epochs(request: &EpochsRequest, step: &dyn Fn()) -> Result<EpochsReport, Error> {
    let EpochsRequest { bundle, model, chain, secret, epochs, paths, seed, .. } = request;
    if !(2..=1_000_000).contains(paths) {
        let problem = format!("is {paths}: give a whole number from 2 to 1000000");
        return Err(Error::field("paths", problem));
    }
    if ExactModel::new(model)? != *bundle.model() {
        return Err(Error::field(
            "model",
            ": its first epoch is not what this network was designed for: give the network's own model with a \
             `transition`, or design the network for this one",
        ));
    }
    let limit = request.budget.unwrap_or(f64::INFINITY);
    let budget = Budgets::new(limit, f64::INFINITY)
        .map_err(|error| Error::field("budget", format!(": {error}")))?
        .information;
    let chain = ExactChain::new(bundle.model(), chain)?;
    let values = bundle.model().private().values();
    let secret = Secret::parse(secret, values).map_err(|error| match error {
        undertone_design::Error::Other { problem, .. } => Error::field("secret", problem),
        error => error.into(),
    })?;
    let asked = CourseRequest { chain: chain.clone(), secret, epochs: *epochs, budget };
    let shipped = bundle.ship_over_time(&asked, step).map_err(|error| match error {
        undertone_design::Error::Other { what, problem } if what == PATH_BUDGET => {
            Error::field("budget", problem)
        }
        error => error.into(),
    })?;
    let mut rng = ChaCha20Rng::seed_from_u64(*seed);
    let seen = track(&shipped, &chain, (*paths, *epochs), &mut rng)?;
    let horizons: Vec<HorizonReport> =
        shipped.course().into_iter().flat_map(|course| course.horizons()).map(Into::into).collect();
    let Some(last) = horizons.last() else {
        return Err(Error::field("epochs", "is 0: give a whole number of at least 1"));
    };
    let one = shipped.certificate().after(1).and_then(|line| line.information);
    Ok(EpochsReport {
        bundle_id: shipped.id().into(),
        epochs: *epochs,
        secret: secret.name(values),
        budget: budget.into(),
        kept: last.kept.clone(),
        in_one_epoch: LeakageLevel::Certified(one),
        mixed: shipped.policies() != bundle.policies(),
        horizons,
        tracking: seen.into(),
        bundle: shipped,
    })
}

impl LeakReport {
    /// Whether it is exact, a bound, or how far below it the truth may be.
    pub fn known(&self) -> String {
        match (self.exact, &self.at_least) {
            (true, _) => "exact".into(),
            (false, Some(least)) => format!("a bound; at least {}", least.words()),
            (false, None) => "a bound".into(),
        }
    }
}

impl Answer for EpochsReport {
    fn words(&self) -> String {
        let model = self.bundle.model();
        let (public, private) = (model.public().name(), model.private().name());
        format!(
            "In {} epochs belief in {private} ({}) moves by at most {} nats ({}), in one by {}. A centre that remembers is \
             wrong about {public} in {:.4} of them, one that does not in {:.4}.\nnetwork id: {}",
            self.epochs,
            self.secret,
            self.kept.information.words(),
            self.kept.known(),
            self.in_one_epoch.words(),
            self.tracking.error_public,
            self.tracking.error_public_memoryless,
            self.bundle_id
        )
    }
}
