//! A network that ships: a plan with one item for each sensor, and the certificate of what all outputs of several
//! epochs together say about G.

mod file;
mod plan;

use std::cell::Cell;
use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use undertone_core::{Alphabet, Claim, Context, Epsilon, Nats, Plan, Policy, Provenance, Shape};
use undertone_design::quantize::PolicySpec;
use undertone_design::{Channel, Error, Symbols, to_floats};
use undertone_wire::hex;

use crate::certificate::{self, Certificate};
use crate::design::Budgets;
use crate::objective::Goal;
use crate::time::{self, Course, ExactChain, Secret};
use crate::{ExactModel, FusionRule, Hypothesis, Maps, Model, Objective, Sensor};

/// So many sensors are named in a message.
const SHOWN: usize = 8;

/// Where a network came from. Shown to people; it proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The method that chose the maps.
    pub method: String,
    /// The origin of the model, in words.
    pub source: String,
    /// How many samples it rests on; 0 for an assumption.
    pub samples: u64,
    /// The search's seed.
    pub seed: u64,
    /// How many starts it made.
    pub restarts: u32,
}

/// A network whose budgets were checked on the very integers that run. There is no way to one but
/// through that check.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// What the plan's law says, ready to be computed with.
    model: ExactModel,
    plan: Plan,
    budgets: Budgets,
    certificate: Certificate,
    /// What is certified where hypotheses move.
    course: Option<Course>,
    origin: Origin,
    /// What the centre decides for.
    objective: Objective,
    id: String,
}

/// Hypotheses that move, and how much may be told of a private one.
#[derive(Debug, Clone)]
pub struct CourseRequest {
    /// How they move.
    pub chain: ExactChain,
    /// What is kept.
    pub secret: Secret,
    /// Over how many epochs.
    pub epochs: u32,
    /// How much of it may be told in all of them; `None` for no limit.
    pub budget: Option<Epsilon>,
}

impl Bundle {
    /// Checks policies against the budgets, in integers.
    pub fn new(
        model: ExactModel,
        policies: &[Policy],
        budgets: Budgets,
        origin: Origin,
    ) -> Result<Self, Error> {
        let certificate = Certificate::new(&model, policies, budgets.epochs)?;
        let plan = plan::new(&model, policies, &origin)?;
        Self::certified(model, plan, certificate, budgets, origin, Objective::Error)
    }

    /// The same network with a centre that decides for another objective. What the sensors send, and what that leaks,
    /// is the same.
    pub fn deciding(self, objective: Objective) -> Result<Self, Error> {
        Goal::new(&objective, self.model.model()?.public_law())?;
        Ok(Self { objective, ..self }.named())
    }

    /// The network of a verified plan.
    fn of_plan(
        plan: Plan,
        hypotheses: (Hypothesis, Hypothesis),
        budgets: Budgets,
        origin: Origin,
        objective: Objective,
    ) -> Result<Self, Error> {
        let model = plan::model(&plan, hypotheses)?;
        let certificate = Certificate::new(&model, plan.policies(), budgets.epochs)?;
        Self::certified(model, plan, certificate, budgets, origin, objective)
    }

    fn certified(
        model: ExactModel,
        plan: Plan,
        certificate: Certificate,
        budgets: Budgets,
        origin: Origin,
        objective: Objective,
    ) -> Result<Self, Error> {
        Goal::new(&objective, model.model()?.public_law())?;
        if let Some(budget) = budgets.ldp {
            for (policy, &found) in plan.policies().iter().zip(&certificate.ldp) {
                if found > budget.nats() {
                    let problem = format!("attains {found} nats where {budget} are allowed");
                    return Err(Error::other(format!("LDP of policy {}", policy.id()), problem));
                }
            }
        }
        let attained = certificate.after(budgets.epochs).and_then(|line| line.information);
        if let Some(budget) = budgets.information
            && !within(attained, budget)
        {
            let found = attained.map_or("without bound".into(), |nats| format!("{nats} nats"));
            let problem = format!(
                "after {} epochs the outputs together leak {found}, and {budget} are allowed",
                budgets.epochs
            );
            return Err(Error::other("information privacy", problem));
        }
        let (course, id) = (None, String::new());
        Ok(Self { model, plan, budgets, certificate, course, origin, objective, id }.named())
    }

    /// With the id of its content.
    fn named(mut self) -> Self {
        self.id = hex::encode(&Sha256::digest(file::canonical(&self).as_bytes()));
        self
    }

    /// The same maps, certified for hypotheses that move. Refuses a network that tells more than the budget allows.
    pub fn over_time(self, request: CourseRequest) -> Result<Self, Error> {
        let CourseRequest { chain, secret, epochs, budget } = request;
        let course = Course::new(&self.model, self.policies(), chain, secret, (epochs, budget))?;
        Ok(Self { course: Some(course), ..self }.named())
    }

    /// This network for hypotheses that move, with its maps mixed with their outputs' own laws, all by the same share, until
    /// the budget of the path holds. `step` is called before every attempt. Refuses if nothing but silence keeps it.
    pub fn ship_over_time(&self, request: &CourseRequest, step: impl Fn()) -> Result<Self, Error> {
        let (float, maps) = (self.float_model()?, self.maps()?);
        // The budget of a private value that stays the same is another one.
        let budgets = Budgets { information: None, epochs: request.epochs, ..self.budgets };
        // Whether anything but silence had a bound at all.
        let bounded = Cell::new(false);
        let attempt = |share: f64| {
            step();
            let mixed = if share > 0.0 { maps.mixed(&float, share)? } else { maps.clone() };
            let policies = policies(&self.model, &mixed, budgets, &self.origin)?;
            let Some(budget) = request.budget else { return Ok(Some(policies)) };
            let CourseRequest { chain, secret, epochs, .. } = request;
            let told = time::kept(&self.model, &policies, chain, *secret, *epochs)?;
            if told.information.is_some_and(|nats| nats > Nats::ZERO) {
                bounded.set(true);
            }
            Ok::<_, Error>(within(told.information, budget).then_some(policies))
        };
        let accepted = least_share(10, attempt)?;
        let shipped = Self::new(self.model.clone(), &accepted, budgets, self.origin.clone())?;
        if shipped.is_silent() && !self.is_silent() {
            if !bounded.get() {
                let problem = format!(
                    "cannot be looked after: what {} epochs tell of this is beyond the bounds known here unless nothing is told; \
                     ask for fewer epochs, or keep the value (`any`, `now`) or the whole `path`",
                    request.epochs
                );
                return Err(Error::other("the budget of the path", problem));
            }
            let budget =
                request.budget.map_or("no limit".into(), |budget| format!("{budget} nats"));
            let problem = format!(
                "of {budget} for `{}` over {} epochs is kept by silence only, at the resolution of the integers that ship: \
                 allow more, or fewer epochs, or keep less (the value `now` rather than the `path`)",
                request.secret.name(self.model.private().values()),
                request.epochs
            );
            return Err(Error::other(time::PATH_BUDGET, problem));
        }
        shipped.deciding(self.objective.clone())?.over_time(request.clone())
    }

    /// For how many epochs the network may be heard: those that were certified.
    pub fn epochs(&self) -> u32 {
        let moving = self.course.as_ref().map_or(u32::MAX, Course::epochs);
        self.budgets.epochs.min(moving)
    }

    /// What is certified where hypotheses move, if it is.
    pub fn course(&self) -> Option<&Course> {
        self.course.as_ref()
    }

    /// Rounds maps to integers and mixes them until every budget holds.
    ///
    /// Every sensor's map is rounded and, if need be, mixed with the uniform distribution until the
    /// kernel accepts its LDP claim; all maps are then mixed with their outputs' own laws until the
    /// certificate of the network is within the information budget. Both are post-processing, so
    /// leakage only falls, and at full mixing none is left.
    pub fn ship(
        model: &ExactModel,
        maps: &Maps,
        budgets: Budgets,
        origin: &Origin,
    ) -> Result<Self, Error> {
        let float = model.model()?;
        maps.check(&float)?;
        let attempt = |share: f64| {
            let mixed = if share > 0.0 { maps.mixed(&float, share)? } else { maps.clone() };
            let policies = policies(model, &mixed, budgets, origin)?;
            let Some(budget) = budgets.information else { return Ok(Some(policies)) };
            let attained = certificate::information(model, &policies, budgets.epochs)?;
            Ok::<_, Error>(within(attained, budget).then_some(policies))
        };
        let finish =
            |policies: Vec<Policy>| Self::new(model.clone(), &policies, budgets, origin.clone());
        finish(least_share(5, attempt)?)
    }

    /// Reads a bundle and checks everything again: the plan with its policies by the kernel, the certificate by
    /// computing it anew, and that nothing was changed since it was written.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        file::read(text)
    }

    /// The bundle as JSON.
    pub fn to_json(&self) -> String {
        file::write(self)
    }

    /// The SHA-256 of its content, in hexadecimal.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The model in integers.
    pub fn model(&self) -> &ExactModel {
        &self.model
    }

    /// The network as a plan, which the kernel alone can verify: one item for each sensor, the hypotheses as secrets. Its
    /// claims are about one epoch.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// One policy per sensor.
    pub fn policies(&self) -> &[Policy] {
        self.plan.policies()
    }

    /// What must not be exceeded.
    pub fn budgets(&self) -> Budgets {
        self.budgets
    }

    /// The certificate: what the maps attain together.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The origin of the bundle.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether no output depends on any reading, so that the centre learns nothing at all.
    pub fn is_silent(&self) -> bool {
        self.policies().iter().all(|policy| match policy.draft().shape() {
            Shape::Table(table) => certificate::is_silent(table),
            _ => false,
        })
    }

    /// The sensors' names, in order.
    pub fn sensors(&self) -> impl Iterator<Item = &str> {
        self.model.sensors.iter().map(|sensor| sensor.name.as_str())
    }

    /// The shipped maps as floats.
    pub fn maps(&self) -> Result<Maps, Error> {
        let map = |policy: &Policy| -> Result<Channel, Error> {
            to_floats::channel(policy.draft().shape())
        };
        Maps::new(self.policies().iter().map(map).collect::<Result<_, _>>()?)
    }

    /// The shipped maps for the sensors of another model, which may list sensors and readings in another
    /// order: both are matched by name. Refuses a model of other sensors or readings.
    pub fn maps_for(&self, model: &Model) -> Result<Maps, Error> {
        let own: BTreeMap<&str, &Policy> = self.sensors().zip(self.policies()).collect();
        if own.len() != model.sensors().len() {
            return Err(Error::Size {
                what: "the model's list of sensors".into(),
                expected: own.len(),
                found: model.sensors().len(),
            });
        }
        let map = |sensor: &Sensor| {
            let Some(policy) = own.get(sensor.name()) else {
                let problem = format!(
                    "is not one of the network's, which are {}: call the sensors alike",
                    self.sensors().take(SHOWN).collect::<Vec<_>>().join(", ")
                );
                return Err(Error::other(format!("sensor {}", sensor.name()), problem));
            };
            let map = to_floats::policy_channel(policy.draft())?;
            let what = format!("the network's sensor {}", sensor.name());
            let map = map.in_order_of(&what, &Symbols::of(sensor.readings()))?;
            // From here on a row is for the reading at its place in the model's list.
            Channel::from_rows(map.rows().to_vec())
        };
        Maps::new(model.sensors().iter().map(map).collect::<Result<_, _>>()?)
    }

    /// The model as floats.
    pub fn float_model(&self) -> Result<Model, Error> {
        self.model.model()
    }

    /// The rule by which the centre decides.
    pub fn rule(&self) -> Result<FusionRule, Error> {
        FusionRule::with_objective(&self.model.model()?, &self.maps()?, &self.objective)
    }

    /// What the centre decides for.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }
}

/// What is accepted at the least share found at which anything is, from none to all, in so many halvings.
fn least_share<T>(
    halvings: u32,
    attempt: impl Fn(f64) -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    if let Some(accepted) = attempt(0.0)? {
        return Ok(accepted);
    }
    // From a hair upwards, then between the last refused and the first accepted share.
    let (mut refused, mut share) = (0.0, 1e-12);
    let mut accepted = loop {
        if let Some(accepted) = attempt(share)? {
            break accepted;
        }
        if share >= 1.0 {
            let problem = "no mixture of these maps keeps it";
            return Err(Error::other("the information budget", problem));
        }
        refused = share;
        share = (8.0 * share).min(1.0);
    };
    for _ in 0..halvings {
        let middle = (refused + share) / 2.0;
        match attempt(middle)? {
            Some(better) => (accepted, share) = (better, middle),
            None => refused = middle,
        }
    }
    Ok(accepted)
}

fn within(attained: Option<Nats>, budget: Epsilon) -> bool {
    attained.is_some_and(|nats| nats <= budget.nats())
}

/// Every map as a verified policy. Without an LDP budget the weakest level there is is claimed.
pub(crate) fn policies(
    model: &ExactModel,
    maps: &Maps,
    budgets: Budgets,
    origin: &Origin,
) -> Result<Vec<Policy>, Error> {
    let refuse = |error: undertone_core::AlphabetError| Error::other("outputs", error.to_string());
    let claim = Claim::ldp(budgets.ldp.unwrap_or(Epsilon::LARGEST));
    let ship = |(sensor, map): (&crate::exact::ExactSensor, &Channel)| {
        let source = format!("sensor {}: {}", sensor.name, origin.source);
        let spec = PolicySpec {
            inputs: sensor.readings.clone(),
            outputs: Some(Alphabet::indices(map.outputs()).map_err(refuse)?),
            context: Context::Unknown,
            claims: vec![claim],
            provenance: Provenance {
                source: source.chars().take(120).collect(),
                n: origin.samples,
                ..Provenance::default()
            },
        };
        Ok(spec.ship(map)?.policy)
    };
    model.sensors.iter().zip(maps.channels()).map(ship).collect()
}
