//! What a plan is asked to be.

use undertone_core::Nats;

use super::joint::JointLaw;
use super::promise::{NamedPromise, PersonLevel};
use super::questions::QuestionList;

/// Questions, and what is promised about the person as a whole.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// What is asked; named pairs among it.
    pub questions: QuestionList,
    /// What is assumed about a person's data; without it, the questions' own priors as independent, if they have any.
    pub joint: Option<JointLaw>,
    /// LDP of everything one person sends, in all periods.
    pub person: PersonLevel,
    /// Promises about answers, given everything the person sends.
    pub beliefs: Vec<NamedPromise>,
    /// Promises about secrets, given everything the person sends.
    pub secrets: Vec<NamedPromise>,
    /// How many people half-widths are for.
    pub people: u64,
    /// Reports of one answer in a period, each randomised afresh from a memo; nothing for one answer.
    pub reports: Option<u64>,
    /// The level of one such report of everything; half of a period's level if it is not said.
    pub first_report: Option<Nats>,
    /// How many times the plan is answered in all.
    pub periods: u32,
    /// Where the law comes from.
    pub source: String,
}

impl PlanRequest {
    /// One answer, a thousand people, no promise about belief.
    pub fn new(questions: QuestionList, person: PersonLevel) -> Self {
        Self {
            questions,
            joint: None,
            person,
            beliefs: Vec::new(),
            secrets: Vec::new(),
            people: 1_000,
            reports: None,
            first_report: None,
            periods: 1,
            source: String::new(),
        }
    }
}
