//! A network that ships: a plan with one item for each sensor, and the certificate of what all outputs of several
//! epochs together say about G.

mod file;
mod plan;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use undertone_core::{Alphabet, Claim, Context, Epsilon, Nats, Plan, Policy, Provenance, Shape};
use undertone_design::quantize::PolicySpec;
use undertone_design::{Channel, Error, Symbols, to_floats};
use undertone_wire::hex;

use crate::certificate::{self, Certificate};
use crate::design::Budgets;
use crate::{ExactModel, FusionRule, Hypothesis, Maps, Model, Sensor};

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
    origin: Origin,
    id: String,
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
        Self::certified(model, plan, certificate, budgets, origin)
    }

    /// The network of a verified plan.
    fn of_plan(
        plan: Plan,
        hypotheses: (Hypothesis, Hypothesis),
        budgets: Budgets,
        origin: Origin,
    ) -> Result<Self, Error> {
        let model = plan::model(&plan, hypotheses)?;
        let certificate = Certificate::new(&model, plan.policies(), budgets.epochs)?;
        Self::certified(model, plan, certificate, budgets, origin)
    }

    fn certified(
        model: ExactModel,
        plan: Plan,
        certificate: Certificate,
        budgets: Budgets,
        origin: Origin,
    ) -> Result<Self, Error> {
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
        let mut bundle = Self { model, plan, budgets, certificate, origin, id: String::new() };
        let digest = Sha256::digest(file::canonical(&bundle).as_bytes());
        bundle.id = hex::encode(&digest);
        Ok(bundle)
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
        if let Some(policies) = attempt(0.0)? {
            return finish(policies);
        }
        // From a hair upwards, then between the last refused and the first accepted share.
        let (mut refused, mut share) = (0.0, 1e-12);
        let mut accepted = loop {
            if let Some(policies) = attempt(share)? {
                break policies;
            }
            if share >= 1.0 {
                let problem = "no mixture of these maps keeps it";
                return Err(Error::other("the information budget", problem));
            }
            refused = share;
            share = (8.0 * share).min(1.0);
        };
        for _ in 0..5 {
            let middle = (refused + share) / 2.0;
            match attempt(middle)? {
                Some(policies) => (accepted, share) = (policies, middle),
                None => refused = middle,
            }
        }
        finish(accepted)
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
        FusionRule::new(&self.model.model()?, &self.maps()?)
    }
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
