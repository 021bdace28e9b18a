//! Bundles as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use undertone_core::{Epsilon, Nats, Object, PlanDraft};
use undertone_design::Error;

use super::{Bundle, Origin};
use crate::Hypothesis;
use crate::certificate::{Certificate, Repeated};
use crate::design::Budgets;

/// The version this program reads and writes.
const VERSION: &str = "bundle/2";
/// The version before, with a model and policies of its own in place of the plan.
const BEFORE: &str = "bundle/1";

/// Any version.
#[derive(Deserialize)]
struct RawVersion {
    undertone: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBundle {
    undertone: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    origin: Object<RawOrigin>,
    budgets: Object<RawBudgets>,
    certificate: Object<RawCertificate>,
    public: Object<RawHypothesis>,
    private: Object<RawHypothesis>,
    /// A document of its own, which the kernel reads and verifies.
    plan: Value,
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

/// A hypothesis with all its values, those that never occur and are none of the plan's too.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHypothesis {
    name: String,
    values: Vec<String>,
    components: Vec<usize>,
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
    // The plan's own document, as a value: the order of its fields means nothing.
    let plan = serde_json::from_str(&bundle.plan.to_json()).unwrap_or(Value::Null);
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
        public: hypothesis(bundle.model.public()),
        private: hypothesis(bundle.model.private()),
        plan,
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
    let unreadable = |error: serde_json::Error| {
        let fix = "give one that `undertone fusion design` or `Bundle::to_json` wrote";
        refuse("not a document of a network", format!("{error}; {fix}"))
    };
    let Object::<RawVersion>(version) = serde_json::from_str(text).map_err(unreadable)?;
    if version.undertone != VERSION {
        let fix = match version.undertone.as_str() {
            BEFORE => {
                "; that version had no plan: design or train the network again and give the new file to \
                 every sensor and the centre (what was sent under the old file still tells about G, and the new one does not count it)"
            }
            _ => "",
        };
        let found = version.undertone;
        let problem = format!("{found:?} is not known here: this program reads {VERSION:?}{fix}");
        return Err(refuse("version", problem));
    }
    let Object::<RawBundle>(raw) = serde_json::from_str(text).map_err(unreadable)?;
    let (Object(raw_budgets), Object(origin)) = (raw.budgets, raw.origin);
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
    let plan = PlanDraft::from_json(&raw.plan.to_string()).map_err(|error| {
        // The plan is written anew to be read, so that a place in it is none in the bundle.
        let said = error.to_string();
        refuse("plan", said.split(" at line ").next().unwrap_or_default().to_owned())
    })?;
    let plan = plan.verify().map_err(|refusal| refuse("plan", refusal.to_string()))?;
    let hypothesis =
        |Object(raw): Object<RawHypothesis>| Hypothesis::new(&raw.name, raw.values, raw.components);
    let hypotheses = (hypothesis(raw.public)?, hypothesis(raw.private)?);
    let RawOrigin { method, source, samples, seed, restarts } = origin;
    let origin = Origin { method, source, samples, seed, restarts };
    let bundle = Bundle::of_plan(plan, hypotheses, budgets, origin)?;
    if raw_certificate(&bundle.certificate) != raw.certificate.0 {
        let problem = "is not what this plan attains: it was changed";
        return Err(refuse("certificate", problem.into()));
    }
    match raw.id {
        Some(id) if id == bundle.id => Ok(bundle),
        _ => Err(refuse("id", format!("the content was changed; its id is {}", bundle.id))),
    }
}
