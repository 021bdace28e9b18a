//! A survey as its curator publishes it, with its policy verified.

use crate::curator::FetchError;
use serde::Deserialize;
use std::sync::Arc;
use undertone_core::{Alphabet, AlphabetView, Decimal, Nats, Object, Policy, PolicyId};

/// One survey's newest round, for one group, with a policy that was verified on this device.
#[derive(Clone, Debug)]
pub struct Survey {
    pub(crate) id: String,
    pub(crate) curator: String,
    pub(crate) datum: String,
    pub(crate) title: String,
    pub(crate) question: String,
    pub(crate) contact: String,
    pub(crate) retention: String,
    pub(crate) round: u32,
    pub(crate) open: bool,
    pub(crate) group: String,
    pub(crate) people: u64,
    pub(crate) policy: Arc<Policy>,
}

impl Survey {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is called.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is asked.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// Whom to ask about it.
    pub fn contact(&self) -> &str {
        &self.contact
    }

    /// How long what is kept, in the owner's words.
    pub fn retention(&self) -> &str {
        &self.retention
    }

    /// The newest round's number.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Whether that round takes reports.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The group whose policy this is, normally `everyone`.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// How many people share the policy, at least, as the survey's owner says; nothing checks it.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// The verified policy.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The answers one can give.
    pub fn alphabet(&self) -> &Alphabet {
        self.policy.draft().inputs()
    }

    /// What an answer costs the ledger; `None` if no finite LDP level is attained.
    pub fn cost(&self) -> Option<Nats> {
        self.policy.certificate().input.ldp.ratio.ln_up()
    }

    /// The datum this survey asks about: by default the wording of its question, whatever the survey is called.
    pub fn datum(&self) -> &str {
        &self.datum
    }

    /// This survey about a named datum. Surveys that ask the same thing of the same person in other words
    /// must name the same datum, so that they share its budget; a value that truly changed (this
    /// year's weight) is another datum.
    #[must_use]
    pub fn about(mut self, datum: &str) -> Self {
        self.datum = datum.into();
        self
    }
}

/// What the curator sends. Fields this program does not know are left alone.
#[derive(Deserialize)]
pub(crate) struct RawSurvey {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) question: String,
    pub(crate) answers: Object<RawAnswers>,
    pub(crate) round: Object<RawRound>,
    #[serde(default)]
    pub(crate) contact: Option<String>,
    #[serde(default)]
    pub(crate) retention: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct RawRound {
    pub(crate) number: u32,
    pub(crate) state: String,
    pub(crate) groups: Vec<Object<RawGroup>>,
}

#[derive(Deserialize)]
pub(crate) struct RawGroup {
    pub(crate) group: String,
    pub(crate) policy: String,
    pub(crate) people: u64,
}

/// An alphabet in the policy document's form.
#[derive(Deserialize)]
pub(crate) struct RawAnswers {
    #[serde(default)]
    indices: Option<u32>,
    #[serde(default)]
    names: Option<Vec<String>>,
    #[serde(default)]
    points: Option<Vec<String>>,
    #[serde(default)]
    edges: Option<Vec<String>>,
    #[serde(default)]
    values: Option<Vec<String>>,
}

impl RawAnswers {
    /// Whether these are the symbols of a policy's input: otherwise people would choose one answer
    /// and send another.
    pub(crate) fn are(&self, alphabet: &Alphabet) -> bool {
        let same = |texts: &Option<Vec<String>>, values: &[Decimal]| {
            let parsed = |text: &String| text.parse::<Decimal>().ok();
            texts.as_ref().is_some_and(|texts| {
                texts.iter().map(parsed).eq(values.iter().map(|&value| Some(value)))
            })
        };
        match alphabet.view() {
            AlphabetView::Indices(size) => self.indices == Some(size),
            AlphabetView::Names(names) => self.names.as_deref() == Some(names),
            AlphabetView::Points(points) => same(&self.points, points),
            AlphabetView::Bins { edges, values } => {
                same(&self.edges, edges) && same(&self.values, values)
            }
        }
    }
}

impl RawRound {
    /// The group of this name, or the only one.
    pub(crate) fn group(&self, name: Option<&str>) -> Result<&RawGroup, FetchError> {
        let found = match name {
            Some(name) => self.groups.iter().find(|Object(group)| group.group == name),
            None if self.groups.len() == 1 => self.groups.first(),
            None => None,
        };
        found.map(|Object(group)| group).ok_or_else(|| FetchError::Group {
            groups: self.groups.iter().map(|Object(group)| group.group.clone()).collect(),
        })
    }
}

impl RawGroup {
    pub(crate) fn policy_id(&self) -> Result<PolicyId, FetchError> {
        self.policy.parse().map_err(|_| FetchError::Malformed {
            what: "the survey",
            message: format!("policy {:?} is not 64 hexadecimal digits", self.policy),
        })
    }
}
