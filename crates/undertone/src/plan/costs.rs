//! What everything one person ever sends tells about the person.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_core::{Belief, Given, Nats, Plan, PlanClaim, Variable};

use crate::number::{self, Round, float, rounded};

/// The whole person: LDP, and how far belief in each datum moves given everything that is sent.
#[derive(Debug, Clone, Serialize)]
pub struct PersonCosts {
    /// LDP of everything, in nats rounded up.
    #[serde(serialize_with = "number_of_level")]
    pub ldp: Option<Nats>,
    /// Whether that level is attained, or only a bound.
    pub exact: bool,
    /// For each question, the most that belief in an answer moves either way; empty where nothing is assumed.
    #[serde(serialize_with = "lips")]
    pub lip: BTreeMap<String, Belief>,
    /// How far belief in each secret moves, given everything the person sends.
    #[serde(serialize_with = "lips")]
    pub secrets: BTreeMap<String, Belief>,
    /// Both in detail.
    #[serde(serialize_with = "details")]
    pub beliefs: BTreeMap<String, Belief>,
}

/// Writes a certified level.
pub(super) fn number_of_level<S: serde::Serializer>(
    level: &Option<Nats>,
    to: S,
) -> Result<S::Ok, S::Error> {
    number::certified(*level).serialize(to)
}

fn lips<S: serde::Serializer>(of: &BTreeMap<String, Belief>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(of.iter().map(|(name, belief)| (name, number::certified(belief.lip()))))
}

fn details<S: serde::Serializer>(of: &BTreeMap<String, Belief>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(of.iter().map(|(name, belief)| {
        let shown = serde_json::json!({
            "rises": number::certified(belief.upper),
            "falls": number::certified(belief.lower),
            "exact": belief.exact,
        });
        (name, shown)
    }))
}

/// What everything a person sends tells about a datum, as it is shown: a belief that the plan claims as it was checked, any other in
/// a share of the steps, so that plans with many questions are shown quickly. `None` where nothing is assumed.
pub(crate) fn shown_belief(plan: &Plan, about: Variable) -> Option<Belief> {
    let parts = plan.parts();
    let claimed = parts.claims.iter().any(|claim| match *claim {
        PlanClaim::Person { .. } => false,
        PlanClaim::Question { which, given, .. } => {
            given == Given::All && about == Variable::Question(which)
        }
        PlanClaim::Secret { which, .. } => about == Variable::Secret(which),
    });
    match claimed {
        true => plan.belief(about, Given::All),
        false => plan.belief_among(about, Given::All, parts.questions.len() + parts.secrets.len()),
    }
}

impl PersonCosts {
    /// What a plan attains.
    pub fn of(plan: &Plan) -> Self {
        let parts = plan.parts();
        let belief = |about: Variable| shown_belief(plan, about);
        let lip: BTreeMap<String, Belief> = (0..)
            .zip(&parts.questions)
            .filter_map(|(at, question)| {
                Some((question.name.clone(), belief(Variable::Question(at))?))
            })
            .collect();
        let secrets: BTreeMap<String, Belief> = (0..)
            .zip(&parts.secrets)
            .filter_map(|(at, secret)| Some((secret.name.clone(), belief(Variable::Secret(at))?)))
            .collect();
        let beliefs = lip.iter().chain(&secrets);
        let person = plan.person();
        Self {
            ldp: person.ldp,
            exact: person.exact,
            beliefs: beliefs.map(|(name, belief)| (name.clone(), belief.clone())).collect(),
            lip,
            secrets,
        }
    }

    /// What an observer of everything can learn, in sentences.
    pub fn words(&self) -> String {
        let mut words = match self.ldp {
            Some(ldp) => {
                let bound = if self.exact { "" } else { " (a bound)" };
                let belief = raised(0.1, float(ldp));
                format!(
                    "An observer of everything this device ever sends under the plan learns at most {ldp} nats of LDP about the person{bound}: a belief of 10 % in any one answer, or in anything else about the person, becomes at most {} %.",
                    rounded((1000.0 * belief).ceil() / 10.0, Round::Up)
                )
            }
            None => "An observer can tell some persons apart for certain: the plan attains no finite LDP.".into(),
        };
        for (name, belief) in &self.lip {
            words += &format!("\n{}", belief_words(name, belief, "any answer to"));
        }
        for (name, belief) in &self.secrets {
            words += &format!("\n{}", belief_words(name, belief, "any value of the secret"));
        }
        words
    }
}

/// Belief p after evidence whose likelihoods differ by at most e^ldp.
fn raised(p: f64, ldp: f64) -> f64 {
    let odds = ldp.exp() * p / (1.0 - p);
    if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
}

/// How far belief in one datum moves, given everything that is sent.
pub fn belief_words(name: &str, belief: &Belief, what: &str) -> String {
    let factor = |nats: Nats| {
        let factor = float(nats).exp();
        rounded((1000.0 * factor).ceil() / 1000.0, Round::Up)
    };
    let side = |verb: &str, level: Option<Nats>| match level {
        Some(nats) => format!("{verb} by a factor of at most {} ({nats} nats)", factor(nats)),
        None => format!("{verb} without bound"),
    };
    let bound = if belief.exact { "" } else { "; these are bounds" };
    format!(
        "Belief in {what} {name} {} and {}{bound}.",
        side("rises", belief.upper),
        side("falls", belief.lower)
    )
}
