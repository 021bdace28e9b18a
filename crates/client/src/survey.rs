//! A survey as its curator publishes it, with its policy verified.

use crate::connection::FetchError;
use crate::datum;
use std::sync::Arc;
use undertone_core::{Alphabet, AlphabetView, Draft, Nats, Object, Policy, PolicyId};
use undertone_wire::{SurveyDescription, SurveyId};

/// One survey's newest round, for one group, with a policy that was verified on this device.
#[derive(Clone, Debug)]
pub struct Survey {
    pub(crate) curator: String,
    datum: String,
    pub(crate) description: Arc<SurveyDescription>,
    cached: bool,
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
            cached: false,
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

    /// Whether this was read from the device, because the curator could not be reached: everything here is as it was when the
    /// survey was last fetched, so its round may have been sealed since.
    pub fn is_cached(&self) -> bool {
        self.cached
    }

    /// This survey, marked as read from the device.
    pub(crate) fn cached(self) -> Self {
        Self { cached: true, ..self }
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

/// The policy in these bytes, if it is the one asked for and every claim it makes is true.
pub(crate) fn verified(id: PolicyId, bytes: &[u8]) -> Result<Policy, FetchError> {
    let policy = Draft::from_bytes(bytes)?
        .verify()
        .map_err(|refusal| FetchError::Claim(Box::new(refusal)))?;
    if policy.id() != id {
        return Err(FetchError::OtherPolicy { asked: id, found: policy.id() });
    }
    Ok(policy)
}

/// Names listed at most.
const LISTED: usize = 50;

/// What can be answered, in words.
pub(crate) fn choices(alphabet: &Alphabet) -> String {
    match alphabet.view() {
        AlphabetView::Indices(size) => format!("a whole number from 0 to {}", size - 1),
        AlphabetView::Bins { .. } => "a number".into(),
        AlphabetView::Names(names) => one_of(names.iter().map(|name| format!("{name:?}"))),
        AlphabetView::Points(points) => one_of(points.iter().map(ToString::to_string)),
    }
}

fn one_of(choices: impl ExactSizeIterator<Item = String>) -> String {
    let more = match choices.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let listed: Vec<String> = choices.take(LISTED).collect();
    format!("one of {}{more}", listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_alphabet_says_what_it_takes() {
        let numbers = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let said = |alphabet: Result<Alphabet, _>| choices(&alphabet.unwrap());
        assert_eq!(said(Alphabet::indices(3)), "a whole number from 0 to 2");
        assert_eq!(said(Alphabet::names(["no", "yes"])), "one of \"no\", \"yes\"");
        assert_eq!(said(Alphabet::points(numbers(&["-1", "2.5"]))), "one of -1, 2.5");
        assert_eq!(said(Alphabet::bins(numbers(&["0", "9"]), numbers(&["4"]))), "a number");
        let many = Alphabet::names((0..1000).map(|at| format!("answer {at}")));
        let said = said(many);
        assert!(said.ends_with("\"answer 49\" and 950 more"), "{said}");
    }
}
