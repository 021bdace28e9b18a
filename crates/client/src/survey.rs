//! A survey as its curator publishes it, with its policy verified.

use crate::curator::FetchError;
use crate::datum;
use std::sync::Arc;
use undertone_core::{Alphabet, Nats, Object, Policy, PolicyId};
use undertone_wire::{SurveyDescription, SurveyId};

/// One survey's newest round, for one group, with a policy that was verified on this device.
#[derive(Clone, Debug)]
pub struct Survey {
    pub(crate) curator: String,
    datum: String,
    description: Arc<SurveyDescription>,
    round: u32,
    open: bool,
    group: String,
    people: u64,
    policy: Arc<Policy>,
}

impl Survey {
    /// A survey of the curator at `curator`, from what it says of it. `policy` fetches the group's policy by its id and has
    /// verified it; here is checked that both are about the same answers, and that the survey is the one asked for.
    pub(crate) fn new(
        curator: &str,
        id: &SurveyId,
        group: Option<&str>,
        description: SurveyDescription,
        policy: impl FnOnce(PolicyId) -> Result<Arc<Policy>, FetchError>,
    ) -> Result<Self, FetchError> {
        let malformed = |message: String| FetchError::Malformed { what: "the survey", message };
        if description.id != *id {
            let (asked, came) = (id.as_str(), description.id.as_str());
            return Err(malformed(format!("{asked:?} was asked for and {came:?} came")));
        }
        let Some(Object(round)) = &description.round else {
            return Err(malformed("round: the survey has none yet".into()));
        };
        let Some(shared) = round.group(group) else {
            return Err(FetchError::Group { groups: round.group_names() });
        };
        let policy = policy(shared.policy.parse().map_err(|_| {
            malformed(format!("policy {:?} is not 64 hexadecimal digits", shared.policy))
        })?)?;
        // Otherwise people would choose one answer and send another.
        if description.answers.0.alphabet().ok().as_ref() != Some(policy.draft().inputs()) {
            return Err(FetchError::Answers);
        }
        Ok(Self {
            curator: curator.into(),
            datum: datum::of_question(&description.question)
                .or_else(|| datum::of_question(&description.title))
                .unwrap_or_else(|| datum::of_old_survey(id.as_str())),
            round: round.number,
            open: round.is_open(),
            group: shared.group.clone(),
            people: shared.people,
            policy,
            description: Arc::new(description),
        })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        self.description.id.as_str()
    }

    /// What it is called.
    pub fn title(&self) -> &str {
        &self.description.title
    }

    /// What is asked.
    pub fn question(&self) -> &str {
        &self.description.question
    }

    /// Whom to ask about it.
    pub fn contact(&self) -> &str {
        &self.description.contact
    }

    /// How long what is kept, in the owner's words.
    pub fn retention(&self) -> &str {
        &self.description.retention
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
