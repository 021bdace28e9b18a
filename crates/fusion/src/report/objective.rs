//! What a network is for, how its centre does, and what is wrong with that.

use serde::{Serialize, Serializer};
use undertone::number::{self, Round};
use undertone_design::Error;

use super::figures::NetworkFigures;
use crate::objective::Goal;
use crate::{FusionRule, Maps, Model, Objective, Performance};

/// Rules of larger networks are not walked through.
const MAX_VECTORS: usize = 1 << 20;

/// Less information, in nats, is none.
const NOTHING: f64 = 1e-9;

/// What a network is for.
#[derive(Debug, Clone, Serialize)]
pub struct ObjectiveReport {
    /// error, balanced, information, detection:RATE or cost.
    pub name: String,
    /// Why that one.
    pub chosen: String,
    /// What is reached: the error, the expected cost, the information or the share of detections.
    #[serde(serialize_with = "number::as_value")]
    pub value: f64,
    /// What a centre that hears nothing reaches.
    #[serde(serialize_with = "number::as_value")]
    pub blind: f64,
    /// No maps within the budgets reach a better value.
    #[serde(serialize_with = "as_limit")]
    pub limit: Limit,
}

/// A bound on a value, from above where more is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The bound.
    pub value: f64,
    /// Whether more is better.
    pub is_gain: bool,
}

impl Limit {
    /// Which way it is rounded: to the safe side.
    pub fn round(&self) -> Round {
        if self.is_gain { Round::Up } else { Round::Down }
    }
}

fn as_limit<S: Serializer>(limit: &Limit, to: S) -> Result<S::Ok, S::Error> {
    number::number_to(limit.value, limit.round()).serialize(to)
}

/// How the centre's own rule does.
#[derive(Debug, Clone, Serialize)]
pub struct RuleReport {
    /// How often its decision is wrong.
    #[serde(serialize_with = "number::as_value")]
    pub error: f64,
    /// How often it says something other than the first value when that is the case.
    #[serde(serialize_with = "number::as_value")]
    pub false_alarm: f64,
    /// How often it says something other than the first value when another is the case.
    #[serde(serialize_with = "number::as_value")]
    pub detection: f64,
    /// Whether its decisions have nothing to do with what it hears.
    pub blind: bool,
    /// The rule's decisions and the truth.
    #[serde(skip)]
    pub performance: Performance,
}

impl RuleReport {
    /// Walks through all outputs; nothing where they are too many.
    pub(super) fn new(rule: &FusionRule, law: &Model, maps: &Maps) -> Result<Option<Self>, Error> {
        let vectors = maps.outputs().iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        if vectors.is_none_or(|vectors| vectors > MAX_VECTORS) {
            return Ok(None);
        }
        let performance = Performance::new(rule, law, maps)?;
        Ok(Some(Self {
            error: performance.error(),
            false_alarm: performance.false_alarm(),
            detection: performance.detection(),
            blind: performance.is_blind(),
            performance,
        }))
    }
}

/// An objective's loss as the value that people know: a share of detections and information are gains.
pub(super) fn value(objective: &Objective, loss: f64) -> f64 {
    match objective {
        Objective::Information => -loss,
        Objective::Detection { .. } => 1.0 - loss,
        _ => loss,
    }
}

/// Whether more is better.
pub(super) fn is_gain(objective: &Objective) -> bool {
    matches!(objective, Objective::Information | Objective::Detection { .. })
}

/// What shipped maps reach.
pub(super) fn reached(
    objective: &Objective,
    goal: &Goal,
    figures: &NetworkFigures,
    rule: Option<&RuleReport>,
) -> f64 {
    match (objective, rule) {
        (Objective::Error, _) => figures.error_public,
        (Objective::Information, _) => figures.information_public,
        (Objective::Detection { .. }, Some(rule)) => rule.detection,
        (_, Some(rule)) => goal.costs().map_or(f64::NAN, |costs| rule.performance.cost(&costs)),
        (_, None) => f64::NAN,
    }
}

/// What is wrong with a network that keeps every promise and is of no use.
pub(super) fn warnings(
    figures: &NetworkFigures,
    objective: &Objective,
    silent: bool,
    rule: Option<&RuleReport>,
    public: &str,
) -> Vec<String> {
    if silent {
        return vec![silence(objective, public)];
    }
    if !(figures.information_public > NOTHING) {
        return vec![format!(
            "The outputs say nothing of {public}: I(H;Z) is 0. Raise the budgets, or give the sensors more outputs."
        )];
    }
    let blind = match rule {
        Some(rule) => rule.blind,
        None => figures.error_public >= figures.blind_public - NOTHING,
    };
    if !blind {
        return Vec::new();
    }
    let instead: String = match objective {
        Objective::Error | Objective::Information => {
            "When all mistakes cost the same that is too little to \
             change a decision: design for another objective (balanced, detection or cost)"
                .into()
        }
        _ => "These costs make it not worth while to listen: change them, or raise the budgets"
            .into(),
    };
    vec![format!(
        "The centre's rule is blind: it decides the same whatever it hears, although the outputs say {} nats of {public}. {instead}.",
        number::rounded(figures.information_public, Round::Down)
    )]
}

/// That a network says nothing, and what to do about it.
fn silence(objective: &Objective, public: &str) -> String {
    let instead = match objective {
        Objective::Error => {
            "Within these budgets the fewest wrong decisions are made by always deciding the same: design for another \
             objective (balanced, detection or cost), or raise the budgets (information, ldp)"
        }
        Objective::Cost(_) => {
            "Within these budgets the cost is least when the same is always decided: change the costs, or raise the budgets \
             (information, ldp)"
        }
        _ => "The budgets leave no room for more: raise them (information, ldp)",
    };
    format!(
        "This network is silent: no output depends on any reading, so nothing is told of {public} either. {instead}."
    )
}
