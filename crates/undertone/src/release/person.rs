//! What a row can tell about the person behind it, in numbers and words.

use serde::Serialize;
use undertone_core::Nats;
use undertone_core::plan::{Plan, Variable};

use crate::answer::Answer;
use crate::number::{self, Round};
use crate::plan::shown_belief;

/// What an observer of everything a person sends under a plan can learn.
#[derive(Debug, Clone, Serialize)]
pub struct PersonReport {
    /// How far the likelihoods of everything a person sends differ for any two persons.
    #[serde(serialize_with = "number::as_certified")]
    pub ldp: Option<Nats>,
    /// Whether that is attained, or only a bound.
    pub exact: bool,
    /// How far belief in the answer to each question moves; empty where nothing is assumed about people.
    pub questions: Vec<VariableReport>,
    /// How far belief in the value of each secret moves.
    pub secrets: Vec<VariableReport>,
    /// What the person's release tells, in sentences.
    pub in_words: Vec<String>,
}

/// How far belief in the value of a question or secret moves.
#[derive(Debug, Clone, Serialize)]
pub struct VariableReport {
    /// What it is called.
    pub name: String,
    /// How far belief in a value moves in either direction, given everything a person sends.
    #[serde(serialize_with = "number::as_certified")]
    pub lip: Option<Nats>,
    /// How far it rises.
    #[serde(serialize_with = "number::as_certified")]
    pub upper: Option<Nats>,
    /// How far it falls.
    #[serde(serialize_with = "number::as_certified")]
    pub lower: Option<Nats>,
    /// Whether these are attained, or one is only a bound.
    pub exact: bool,
}

impl VariableReport {
    fn new(plan: &Plan, name: &str, variable: Variable) -> Option<Self> {
        let belief = shown_belief(plan, variable)?;
        let (lip, name) = (belief.lip(), name.to_owned());
        Some(Self { name, lip, upper: belief.upper, lower: belief.lower, exact: belief.exact })
    }

    fn words(&self, what: &str) -> String {
        let sure = if self.exact { "" } else { " (a bound)" };
        let moves = match (self.upper, self.lower) {
            (Some(upper), Some(lower)) => {
                format!("rises by at most {} and falls by at most {}", factor(upper), factor(lower))
            }
            (Some(upper), None) => {
                format!("rises by at most {}, and can fall to nothing", factor(upper))
            }
            (None, Some(lower)) => {
                format!("falls by at most {}, and rises without bound", factor(lower))
            }
            (None, None) => "moves without bound".into(),
        };
        format!("Belief in any one {what} {:?} {moves}{sure}.", self.name)
    }
}

/// A level as the factor people think in.
fn factor(nats: Nats) -> String {
    let factor = number::float(nats).exp();
    format!("a factor of {} ({nats} nats)", number::decimal(factor, Round::Up, 4))
}

impl Answer for PersonReport {
    fn words(&self) -> String {
        self.in_words.join("\n")
    }
}

impl PersonReport {
    /// What everything a person sends under a plan tells.
    pub fn of(plan: &Plan) -> Self {
        let (parts, person) = (plan.parts(), plan.person());
        let questions = parts.questions.iter().zip(0..).filter_map(|(question, at)| {
            VariableReport::new(plan, &question.name, Variable::Question(at))
        });
        let secrets = parts.secrets.iter().zip(0..).filter_map(|(secret, at)| {
            VariableReport::new(plan, &secret.name, Variable::Secret(at))
        });
        let mut report = Self {
            ldp: person.ldp,
            exact: person.exact,
            questions: questions.collect(),
            secrets: secrets.collect(),
            in_words: Vec::new(),
        };
        report.in_words = report.sentences(parts.periods);
        report
    }

    /// The same numbers where these columns are kept in the clear: they are about the randomised cells, and the sentences say so.
    pub(super) fn beside(mut self, kept: &[String]) -> Self {
        if !kept.is_empty() {
            let sentence = format!(
                "What follows is about the randomised cells alone; what {} tells in the clear comes on top and is not bounded by it.",
                kept.join(", ")
            );
            self.in_words.insert(0, sentence);
        }
        self
    }

    fn sentences(&self, periods: u32) -> Vec<String> {
        let all = match periods {
            1 => "a row".to_owned(),
            more => format!("all rows of {more} releases"),
        };
        let sure = if self.exact { "" } else { " (a bound)" };
        let mut said = vec![match self.ldp {
            Some(ldp) => format!(
                "Whoever sees {all} finds it more likely from one person than from another by at most {}{sure}, whatever is known about people.",
                factor(ldp)
            ),
            None => format!("Nothing bounds how far {all} tells two persons apart."),
        }];
        if self.questions.is_empty() {
            said.push(
                "Nothing is assumed about how answers go together: belief in any one answer moves by no more than that."
                    .into(),
            );
        }
        said.extend(self.questions.iter().map(|one| one.words("answer to")));
        said.extend(self.secrets.iter().map(|one| one.words("value of the secret")));
        said
    }
}
