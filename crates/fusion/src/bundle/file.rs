//! Bundles as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use undertone_core::{Epsilon, Nats, Object, PlanDraft};
use undertone_design::Error;

use super::{Bundle, CourseRequest, Origin};
use crate::certificate::{Certificate, Repeated};
use crate::design::Budgets;
use crate::time::{Course, ExactChain, Horizon, Leak, Secret};
use crate::{Costs, Hypothesis, Objective};

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
    /// Nothing where the centre decides by Bayes' rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objective: Option<Object<RawObjective>>,
    budgets: Object<RawBudgets>,
    certificate: Object<RawCertificate>,
    public: Object<RawHypothesis>,
    private: Object<RawHypothesis>,
    /// What is certified where hypotheses move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    course: Option<Object<RawCourse>>,
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

/// What the centre decides for. Numbers are decimals in text, which mean one float each.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawObjective {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    false_alarm: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    costs: Option<Vec<Vec<String>>>,
}

impl RawObjective {
    fn of(objective: &Objective) -> Option<Object<Self>> {
        let mut raw = Self { name: objective.name().into(), false_alarm: None, costs: None };
        match objective {
            Objective::Error => return None,
            Objective::Balanced | Objective::Information => {}
            Objective::Detection { false_alarm } => raw.false_alarm = Some(false_alarm.to_string()),
            Objective::Cost(costs) => {
                let row = |row: &Vec<f64>| row.iter().map(f64::to_string).collect();
                raw.costs = Some(costs.rows().iter().map(row).collect());
            }
        }
        Some(Object(raw))
    }

    fn read(self) -> Result<Objective, String> {
        let number = |text: &String| -> Result<f64, String> {
            let value = text.parse::<f64>().map_err(|_| format!("{text:?} is no number"))?;
            // One way to write every number, so that a file that means the same is the same.
            if value.to_string() == *text {
                Ok(value)
            } else {
                Err(format!("{text:?} is written {value} here"))
            }
        };
        let objective = match (self.name.as_str(), &self.false_alarm, &self.costs) {
            ("balanced", None, None) => Objective::Balanced,
            ("information", None, None) => Objective::Information,
            ("detection", Some(rate), None) => Objective::Detection { false_alarm: number(rate)? },
            ("cost", None, Some(rows)) => {
                let row = |row: &Vec<String>| row.iter().map(number).collect();
                let rows = rows.iter().map(row).collect::<Result<_, _>>()?;
                Objective::Cost(Costs::new(rows).map_err(|error| error.to_string())?)
            }
            (name, ..) => {
                return Err(format!(
                    "{name:?} with these fields is not known here: balanced and information have none, detection has \
                     false_alarm, cost has costs"
                ));
            }
        };
        Ok(objective)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBudgets {
    information: Option<Object<RawLevel>>,
    ldp: Option<Object<RawLevel>>,
    epochs: u32,
}

#[derive(Serialize, Deserialize, PartialEq)]
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

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RawCourse {
    /// The pairs (h, g) that occur.
    pairs: Vec<(usize, usize)>,
    /// The law of the next pair, in units of 2^-48.
    transition: Vec<Vec<u64>>,
    secret: String,
    epochs: u32,
    budget: Option<Object<RawLevel>>,
    certified: Vec<Object<RawHorizon>>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RawHorizon {
    epochs: u32,
    kept: Object<RawLeak>,
    now: Object<RawLeak>,
    any: Object<RawLeak>,
    path: Object<RawLeak>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct RawLeak {
    information: Option<String>,
    exact: bool,
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
        objective: RawObjective::of(&bundle.objective),
        budgets: Object(RawBudgets {
            information: information.map(level),
            ldp: ldp.map(level),
            epochs,
        }),
        certificate: Object(raw_certificate(&bundle.certificate)),
        public: hypothesis(bundle.model.public()),
        private: hypothesis(bundle.model.private()),
        course: bundle
            .course
            .as_ref()
            .map(|course| Object(raw_course(course, bundle.model.private().values()))),
        plan,
    }
}

fn level(epsilon: Epsilon) -> Object<RawLevel> {
    Object(RawLevel { nats: epsilon.nats().to_string(), odds: epsilon.odds() })
}

fn raw_course(course: &Course, values: &[String]) -> RawCourse {
    let leak = |leak: Leak| {
        let information = leak.information.map(|nats| nats.to_string());
        Object(RawLeak { information, exact: leak.exact })
    };
    let line = |line: &Horizon| {
        let Horizon { epochs, kept, now, any, path, .. } = *line;
        let [kept, now, any, path] = [kept, now, any, path].map(leak);
        Object(RawHorizon { epochs, kept, now, any, path })
    };
    RawCourse {
        pairs: course.chain().states().to_vec(),
        transition: course.chain().rows().to_vec(),
        secret: course.secret().name(values),
        epochs: course.epochs(),
        budget: course.budget().map(level),
        certified: course.horizons().iter().map(line).collect(),
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
    let objective = match raw.objective {
        None => Objective::Error,
        Some(Object(raw)) => raw.read().map_err(|problem| refuse("objective", problem))?,
    };
    let bundle = Bundle::of_plan(plan, hypotheses, budgets, origin, objective)?;
    if raw_certificate(&bundle.certificate) != raw.certificate.0 {
        let problem = "is not what this plan attains: it was changed";
        return Err(refuse("certificate", problem.into()));
    }
    let bundle = match raw.course {
        None => bundle,
        Some(Object(course)) => {
            let values = bundle.model.private().values().to_vec();
            let chain = ExactChain::from_parts(
                &bundle.model,
                course.pairs.clone(),
                course.transition.clone(),
            );
            let request = CourseRequest {
                chain: chain.map_err(|error| refuse("course", error.to_string()))?,
                secret: Secret::parse(&course.secret, &values)
                    .map_err(|error| refuse("course", error.to_string()))?,
                epochs: course.epochs,
                budget: level("course.budget", &course.budget)?,
            };
            let bundle =
                bundle.over_time(request).map_err(|error| refuse("course", error.to_string()))?;
            if bundle.course.as_ref().map(|own| raw_course(own, &values)) != Some(course) {
                let problem = "is not what these maps tell over time: it was changed";
                return Err(refuse("course", problem.into()));
            }
            bundle
        }
    };
    match raw.id {
        Some(id) if id == bundle.id => Ok(bundle),
        _ => Err(refuse("id", format!("the content was changed; its id is {}", bundle.id))),
    }
}
