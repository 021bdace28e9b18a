//! A network as a plan: one question and one item for each sensor, the hypotheses as secrets.
//!
//! What the plan promises is about one epoch: everything the sensors send once. The network's own certificate has the
//! epochs after it.

use undertone_core::{
    Given, Item, Nats, Plan, PlanClaim, PlanDraft, PlanParts, Policy, Provenance, Question,
    Variable,
};
use undertone_design::Error;

use super::Origin;
use crate::exact::PRIVATE;
use crate::{ExactModel, Hypothesis};

const SECRET: u32 = PRIVATE as u32;

/// The plan of a network, which claims what it attains: LDP of all sensors together, and what they say together about G
/// where the kernel finds that exactly.
pub(super) fn new(model: &ExactModel, policies: &[Policy], origin: &Origin) -> Result<Plan, Error> {
    let provenance = Provenance {
        source: format!("one epoch of a network: {}", origin.source).chars().take(120).collect(),
        n: origin.samples,
        ..Provenance::default()
    };
    let unclaimed = PlanClaim::Person { ldp: Nats::from_units(u64::MAX) };
    let mut parts = parts(model, policies, vec![unclaimed], provenance)?;
    let plan = verified(parts.clone())?;
    let ldp = plan.person().ldp.ok_or_else(|| {
        Error::other("the network's plan", "LDP of all sensors together has no bound")
    })?;
    parts.claims = vec![PlanClaim::Person { ldp }];
    let belief = plan.belief(Variable::Secret(SECRET), Given::All).filter(|belief| belief.exact);
    if let Some(level) = belief.and_then(|belief| belief.lip()) {
        parts.claims.push(PlanClaim::Secret { which: SECRET, lower: level, upper: level });
    }
    verified(parts)
}

fn verified(parts: PlanParts) -> Result<Plan, Error> {
    let refuse = |problem: String| {
        let problem = format!("{problem} (its questions are sensors, its secrets hypotheses)");
        Error::other("the network's plan", problem)
    };
    let draft = PlanDraft::new(parts).map_err(|error| refuse(error.to_string()))?;
    draft.verify().map_err(|refusal| refuse(refusal.to_string()))
}

fn parts(
    model: &ExactModel,
    policies: &[Policy],
    claims: Vec<PlanClaim>,
    provenance: Provenance,
) -> Result<PlanParts, Error> {
    let question = |sensor: &crate::exact::ExactSensor| Question {
        name: sensor.name.clone(),
        wording: String::new(),
        answers: sensor.readings.clone(),
    };
    let item = |t: u32| Item { questions: vec![t], policy: t, fresh: None, weight: 0 };
    Ok(PlanParts {
        questions: model.sensors.iter().map(question).collect(),
        secrets: model.secrets()?,
        law: model.law()?,
        items: (0..model.sensors.len() as u32).map(item).collect(),
        asked: 0,
        periods: 1,
        claims,
        provenance,
        policies: policies.iter().map(|policy| policy.draft().clone()).collect(),
    })
}

/// The model of a network's plan, if it is one: rewritten, it is the same.
pub(super) fn model(
    plan: &Plan,
    hypotheses: (Hypothesis, Hypothesis),
) -> Result<ExactModel, Error> {
    let given = plan.parts();
    let sensor = |question: &Question| (question.name.clone(), question.answers.clone());
    let sensors = given.questions.iter().map(sensor).collect();
    let model = ExactModel::from_law(hypotheses, sensors, &given.secrets, &given.law);
    let model = model.ok_or_else(not_a_network)?;
    // Labels, laws and names are checked as for any model.
    model.model()?;
    let again = parts(&model, plan.policies(), given.claims.clone(), given.provenance.clone())?;
    if again == *given { Ok(model) } else { Err(not_a_network()) }
}

fn not_a_network() -> Error {
    let problem = "is not a network's: it needs an item for each sensor in their order, the hypotheses as secrets and \
                   their law; give what `undertone fusion design` wrote";
    Error::other("bundle: plan", problem)
}
