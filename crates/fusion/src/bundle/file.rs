//! Bundles as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use undertone_core::{Draft, Epsilon, Nats, Object, Policy};
use undertone_design::Error;

use super::{Bundle, Origin};
use crate::Hypothesis;
use crate::certificate::{Certificate, Repeated};
use crate::design::Budgets;
use crate::exact::{ExactAtom, ExactModel, ExactSensor};

/// The version this program reads and writes.
const VERSION: &str = "bundle/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBundle {
    undertone: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    origin: Object<RawOrigin>,
    budgets: Object<RawBudgets>,
    certificate: Object<RawCertificate>,
    model: Object<RawModel>,
    policies: Vec<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOrigin {
    method: String,
    source: String,
    samples: u64,
    seed: u64,
    restarts: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBudgets {
    information: Option<Object<RawLevel>>,
    ldp: Option<Object<RawLevel>>,
    epochs: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLevel {
    nats: String,
    odds: (u32, u32),
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RawCertificate {
    epochs: Vec<Object<RawRepeated>>,
    ldp: Vec<String>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RawRepeated {
    epochs: u32,
    information: Option<String>,
    exact: bool,
    always: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    public: Object<RawHypothesis>,
    private: Object<RawHypothesis>,
    /// Weight in units of 2^-48, value of H, value of G.
    atoms: Vec<(u64, usize, usize)>,
    sensors: Vec<Object<RawSensor>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHypothesis {
    name: String,
    values: Vec<String>,
    components: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSensor {
    name: String,
    /// Laws of the reading in units of 2^-48; what the readings are is in the policy.
    rows: Vec<Vec<u64>>,
    /// Which of them is each atom's.
    row_of: Vec<u32>,
}

/// The text whose hash is the bundle's id.
pub(super) fn canonical(bundle: &Bundle) -> String {
    text(&raw(bundle, None))
}

pub(super) fn write(bundle: &Bundle) -> String {
    text(&raw(bundle, Some(bundle.id.clone())))
}

/// Plain records of integers and texts always serialise.
fn text(raw: &RawBundle) -> String {
    serde_json::to_string(raw).unwrap_or_default()
}

fn raw(bundle: &Bundle, id: Option<String>) -> RawBundle {
    let Origin { method, source, samples, seed, restarts } = bundle.origin.clone();
    let level = |epsilon: Epsilon| {
        Object(RawLevel { nats: epsilon.nats().to_string(), odds: epsilon.odds() })
    };
    let Budgets { information, ldp, epochs } = bundle.budgets;
    let hypothesis = |hypothesis: &Hypothesis| {
        Object(RawHypothesis {
            name: hypothesis.name().into(),
            values: hypothesis.values().to_vec(),
            components: hypothesis.components().to_vec(),
        })
    };
    let model = &bundle.model;
    let sensor = |sensor: &ExactSensor| {
        Object(RawSensor {
            name: sensor.name.clone(),
            rows: sensor.rows.clone(),
            row_of: sensor.row_of.clone(),
        })
    };
    // A policy's own document, as a value: the order of its fields means nothing.
    let policy =
        |policy: &Policy| serde_json::from_str(&policy.draft().to_json()).unwrap_or(Value::Null);
    RawBundle {
        undertone: VERSION.into(),
        id,
        origin: Object(RawOrigin { method, source, samples, seed, restarts }),
        budgets: Object(RawBudgets {
            information: information.map(level),
            ldp: ldp.map(level),
            epochs,
        }),
        certificate: Object(raw_certificate(&bundle.certificate)),
        model: Object(RawModel {
            public: hypothesis(&model.public),
            private: hypothesis(&model.private),
            atoms: model.atoms.iter().map(|a| (a.weight, a.public, a.private)).collect(),
            sensors: model.sensors.iter().map(sensor).collect(),
        }),
        policies: bundle.policies.iter().map(policy).collect(),
    }
}

fn raw_certificate(certificate: &Certificate) -> RawCertificate {
    let text = |nats: Nats| nats.to_string();
    let line = |line: &Repeated| {
        Object(RawRepeated {
            epochs: line.epochs,
            information: line.information.map(text),
            exact: line.exact,
            always: line.always.map(text),
        })
    };
    RawCertificate {
        epochs: certificate.epochs.iter().map(line).collect(),
        ldp: certificate.ldp.iter().map(ToString::to_string).collect(),
    }
}

pub(super) fn read(text: &str) -> Result<Bundle, Error> {
    let refuse = |what: &str, problem: String| Error::other(format!("bundle: {what}"), problem);
    let Object::<RawBundle>(raw) = serde_json::from_str(text).map_err(|error| {
        let fix = "give one that `undertone fusion design` or `Bundle::to_json` wrote";
        refuse("not a document of a network", format!("{error}; {fix}"))
    })?;
    if raw.undertone != VERSION {
        let problem =
            format!("{:?} is not known here: this program reads {VERSION:?}", raw.undertone);
        return Err(refuse("version", problem));
    }
    let policy = |(t, value): (usize, &Value)| {
        let draft = Draft::from_json(&value.to_string()).map_err(|error| {
            // The policy is written anew to be read, so that a place in it is none in the bundle.
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            refuse(&format!("policies[{t}]"), said.to_owned())
        })?;
        draft.verify().map_err(|refusal| refuse(&format!("policies[{t}]"), refusal.to_string()))
    };
    let policies: Vec<Policy> =
        raw.policies.iter().enumerate().map(policy).collect::<Result<_, _>>()?;
    let (Object(model), Object(raw_budgets), Object(origin)) = (raw.model, raw.budgets, raw.origin);
    if policies.len() != model.sensors.len() {
        let problem = format!("{} for {} sensors", policies.len(), model.sensors.len());
        return Err(refuse("policies", problem));
    }
    let level = |what: &str, level: &Option<Object<RawLevel>>| -> Result<Option<Epsilon>, Error> {
        let Some(Object(RawLevel { nats, odds })) = level else { return Ok(None) };
        let epsilon =
            Epsilon::from_odds(odds.0, odds.1).map_err(|error| refuse(what, error.to_string()))?;
        if epsilon.nats().to_string() != *nats {
            let problem = format!("{nats} nats are written beside odds that give {epsilon}");
            return Err(refuse(what, problem));
        }
        Ok(Some(epsilon))
    };
    let budgets = Budgets {
        information: level("budgets.information", &raw_budgets.information)?,
        ldp: level("budgets.ldp", &raw_budgets.ldp)?,
        epochs: raw_budgets.epochs,
    };
    if budgets.epochs == 0 {
        return Err(refuse("budgets.epochs", "is 0: it must be at least 1".into()));
    }
    let model = model.read(&policies)?;
    let RawOrigin { method, source, samples, seed, restarts } = origin;
    let origin = Origin { method, source, samples, seed, restarts };
    let bundle = Bundle::new(model, policies, budgets, origin)?;
    if raw_certificate(&bundle.certificate) != raw.certificate.0 {
        let problem = "is not what these policies and this model attain: it was changed";
        return Err(refuse("certificate", problem.into()));
    }
    match raw.id {
        Some(id) if id == bundle.id => Ok(bundle),
        _ => Err(refuse("id", format!("the content was changed; its id is {}", bundle.id))),
    }
}

impl RawModel {
    fn read(self, policies: &[Policy]) -> Result<ExactModel, Error> {
        let hypothesis = |Object(raw): Object<RawHypothesis>| {
            Hypothesis::new(&raw.name, raw.values, raw.components)
        };
        let atom = |(weight, public, private)| ExactAtom { weight, public, private };
        let sensor = |(Object(raw), policy): (Object<RawSensor>, &Policy)| ExactSensor {
            name: raw.name,
            readings: policy.draft().inputs().clone(),
            rows: raw.rows,
            row_of: raw.row_of,
        };
        let model = ExactModel {
            public: hypothesis(self.public)?,
            private: hypothesis(self.private)?,
            atoms: self.atoms.into_iter().map(atom).collect(),
            sensors: self.sensors.into_iter().zip(policies).map(sensor).collect(),
        };
        if model.atoms.iter().any(|atom| atom.weight == 0) {
            return Err(Error::other("bundle: model", "an atom has no weight: leave it out"));
        }
        // Labels, laws and sums are checked as for any model.
        model.model()?;
        Ok(model)
    }
}
