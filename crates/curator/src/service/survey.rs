//! A survey: the question, the answers, the plan of its rounds, and what became of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use undertone_core::{Alphabet, AlphabetView, Nats, Object};
use undertone_wire::limits::{ALL_NAMES_BYTES, LONGEST_NAME, MOST_ANSWERS, MOST_ANSWERS_IN_GROUPS};
use undertone_wire::{Answers, Code, Problem};

// By `super`, because a fuzz target includes this file by its path.
use super::plan::Plan;

const MOST_ORIGINS: usize = 50;

/// What an owner sends to create a survey.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurveyBody {
    /// Its name in addresses: 1 to 64 of a-z, 0-9 and `-`. Left out, a random one is given.
    #[serde(default)]
    pub id: Option<String>,
    /// For lists.
    pub title: String,
    /// What people are asked.
    pub question: String,
    /// What they may answer, as in a policy document.
    pub answers: Answers,
    /// Promises, rounds and budget.
    pub plan: Plan,
    /// Below this many reports nothing is said about an open round, and nothing is learnt from a sealed one.
    #[serde(default = "hundred")]
    pub minimum: u64,
    /// A policy shared by fewer people, as far as the owner's own numbers go, is refused: its id would
    /// tell who they are.
    #[serde(default = "hundred")]
    pub group_minimum: u64,
    /// Sites whose pages may fetch and send, as origins, or `*`.
    #[serde(default)]
    pub origins: Vec<String>,
    /// How long reports are kept, in words.
    #[serde(default)]
    pub retention: String,
    /// Whom to ask.
    #[serde(default)]
    pub contact: String,
}

fn hundred() -> u64 {
    100
}

impl SurveyBody {
    /// Reads and checks a body; `id` is not checked here, the store's type does that.
    pub fn from_json(body: &[u8]) -> Result<Self, Problem> {
        let Object::<Self>(survey) =
            serde_json::from_slice(body).map_err(|error| Problem::malformed(error.to_string()))?;
        survey.check()?;
        Ok(survey)
    }

    /// What people may answer, checked.
    pub fn alphabet(&self) -> Result<Alphabet, Problem> {
        let bad = |problem: String| Problem::malformed(format!("answers: {problem}"));
        let alphabet = self.answers.alphabet().map_err(|error| bad(error.to_string()))?;
        if !(2..=MOST_ANSWERS).contains(&alphabet.len()) {
            return Err(bad(format!(
                "there are {}: a survey offers 2 to {MOST_ANSWERS}",
                alphabet.len()
            )));
        }
        if let AlphabetView::Names(names) = alphabet.view()
            && let Some(long) = names.iter().find(|name| name.len() > LONGEST_NAME)
        {
            return Err(bad(format!("{long:?} is longer than {LONGEST_NAME} bytes")));
        }
        if let AlphabetView::Names(names) = alphabet.view() {
            let all: usize = names.iter().map(String::len).sum();
            if all > ALL_NAMES_BYTES {
                return Err(bad(format!(
                    "all names together have {all} bytes: at most {ALL_NAMES_BYTES}, so shorten them"
                )));
            }
        }
        Ok(alphabet)
    }

    fn check(&self) -> Result<(), Problem> {
        let bad = |problem: String| Err(Problem::malformed(problem));
        for (field, text, most) in [
            ("title", &self.title, 200),
            ("question", &self.question, 2000),
            ("retention", &self.retention, 2000),
            ("contact", &self.contact, 500),
        ] {
            if text.len() > most {
                return bad(format!("{field} has {} bytes: at most {most}", text.len()));
            }
        }
        if self.title.trim().is_empty() || self.question.trim().is_empty() {
            return bad("title and question must not be empty".into());
        }
        if !(1..=1 << 40).contains(&self.minimum) {
            return bad(format!("minimum is {}: give at least 1", self.minimum));
        }
        if !(2..=1 << 40).contains(&self.group_minimum) {
            return bad(format!(
                "group_minimum is {}: a policy for one person names that person, give at least 2",
                self.group_minimum
            ));
        }
        if self.origins.len() > MOST_ORIGINS {
            return bad(format!("{} origins: at most {MOST_ORIGINS}", self.origins.len()));
        }
        if let Some(origin) = self.origins.iter().find(|origin| !is_origin(origin)) {
            return bad(format!(
                "origins: {origin:?} is not an origin: write https://example.org without a path, or *"
            ));
        }
        let answers = self.alphabet()?.len();
        let groups = self.plan.groups.len();
        if groups > 1 && answers > MOST_ANSWERS_IN_GROUPS {
            return bad(format!(
                "answers: there are {answers} and {groups} groups, each of which has a policy and shares of its own: with groups at most {MOST_ANSWERS_IN_GROUPS}, so merge rare answers or leave the groups out"
            ));
        }
        self.plan.check(answers, self.group_minimum)
    }
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    text == "*"
        || host.is_some_and(|host| !host.is_empty() && host.len() < 256 && host.bytes().all(plain))
}

/// A survey as it is stored: what its owner sent, and its rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// What its owner sent, with the id filled in.
    pub body: SurveyBody,
    /// When it was created, in seconds since 1970.
    pub created: i64,
    /// Its rounds, oldest first.
    pub rounds: Vec<RoundNote>,
    /// How far its life has come.
    #[serde(default, skip_serializing_if = "Phase::is_running")]
    pub phase: Phase,
}

/// How far a survey's life has come; a deleted one is no survey any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Rounds are opened, sealed and released.
    #[default]
    Running,
    /// The open round takes no reports for the time being.
    Paused,
    /// No round is opened any more.
    Closed,
    /// Closed, and out of the way.
    Archived,
}

impl Phase {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Closed => "closed",
            Self::Archived => "archived",
        }
    }

    /// Whether it is the usual one.
    pub fn is_running(&self) -> bool {
        *self == Self::Running
    }
}

/// What the store has under a survey's name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stored {
    /// A survey.
    Survey(Box<Survey>),
    /// Nothing but the time at which it was deleted.
    Deleted {
        /// In seconds since 1970.
        deleted: i64,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tombstone {
    deleted: i64,
}

impl Stored {
    /// Reads the stored text.
    pub(crate) fn from_json(text: &str) -> Result<Self, Problem> {
        if let Ok(Tombstone { deleted }) = serde_json::from_str(text) {
            return Ok(Self::Deleted { deleted });
        }
        Ok(Self::Survey(Box::new(Survey::from_json(text)?)))
    }

    /// The text stored in place of a survey that is deleted.
    pub(crate) fn tombstone(deleted: i64) -> String {
        // A number always serialises.
        serde_json::to_string(&Tombstone { deleted }).unwrap_or_default()
    }
}

/// What a survey remembers of a round; its state is the store's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundNote {
    /// From 1.
    pub number: u32,
    /// Its policies.
    pub groups: Vec<GroupPolicy>,
    /// The attained LDP of its weakest policy, in nats, as text; accounted against the plan's total.
    pub ldp: String,
    /// What was released, once it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Value>,
}

/// A group's policy in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPolicy {
    /// The group.
    pub group: String,
    /// How many people share it, at least. The owner's word: nothing checks it.
    pub people: u64,
    /// The policy's id.
    pub policy: String,
    /// How it was found.
    pub method: String,
    /// Its claims, as printed.
    pub claims: Vec<String>,
    /// Attained LIP in nats, if a prior or a box is assumed.
    pub lip: Option<String>,
    /// Attained LDP in nats.
    pub ldp: String,
    /// What was learnt from the round before, if this policy rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
    /// Why nothing is assumed, where something could have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlearned: Option<String>,
}

/// A prior learnt from a round: the estimate and the box that holds the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// From which round.
    pub round: u32,
    /// From how many reports.
    pub reports: u64,
    /// With which confidence all ends of the box hold at once.
    pub confidence: f64,
    /// The estimate.
    pub estimate: Vec<f64>,
    /// The box's lower ends.
    pub lower: Vec<f64>,
    /// The box's upper ends.
    pub upper: Vec<f64>,
}

impl Survey {
    /// The stored text.
    pub fn to_json(&self) -> String {
        // Plain records with finite numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored text.
    pub fn from_json(text: &str) -> Result<Self, Problem> {
        serde_json::from_str(text).map_err(unreadable)
    }

    /// The newest round.
    pub fn newest(&self) -> Option<&RoundNote> {
        self.rounds.last()
    }

    /// The attained LDP of all rounds so far.
    pub fn spent(&self) -> Option<Nats> {
        self.rounds
            .iter()
            .try_fold(Nats::ZERO, |sum, round| sum.checked_add(Nats::parse_down(&round.ldp).ok()?))
    }
}

fn unreadable(error: serde_json::Error) -> Problem {
    tracing::error!(%error, "a stored survey cannot be read");
    Problem::new(Code::Unavailable, "the stored survey cannot be read")
}

/// The few fields of a stored survey that a list of many shows; the others are skipped over.
#[derive(Debug, Deserialize)]
pub(crate) struct ListedSurvey {
    pub(crate) body: ListedBody,
    pub(crate) created: i64,
    #[serde(default)]
    pub(crate) phase: Phase,
}

/// What a list shows of the body its owner sent.
#[derive(Debug, Deserialize)]
pub(crate) struct ListedBody {
    pub(crate) title: String,
    pub(crate) question: String,
}

impl ListedSurvey {
    /// `None` for one that is deleted.
    pub(crate) fn from_json(text: &str) -> Result<Option<Self>, Problem> {
        if serde_json::from_str::<Tombstone>(text).is_ok() {
            return Ok(None);
        }
        serde_json::from_str(text).map(Some).map_err(unreadable)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;
    use undertone_wire::limits::EVERYONE;

    fn body() -> Value {
        json!({
            "id": "smoking", "title": "Smoking", "question": "Do you smoke?",
            "answers": {"names": ["no", "yes"]},
            "plan": {"epsilon": "1", "rounds": 2},
        })
    }

    fn read(body: &Value) -> Result<SurveyBody, Problem> {
        SurveyBody::from_json(body.to_string().as_bytes())
    }

    #[test]
    fn defaults_are_filled_in() {
        let survey = read(&body()).unwrap();
        assert_eq!((survey.minimum, survey.group_minimum), (100, 100));
        assert_eq!(survey.plan.confidence, 0.95);
        // LDP 1 first, then at most twice 1.
        assert_eq!(survey.plan.total().unwrap(), Nats::parse_down("3").unwrap());
        assert_eq!(survey.plan.groups(100)[0].group, EVERYONE);
        let mut number = body();
        number["plan"]["epsilon"] = json!(0.5);
        assert_eq!(read(&number).unwrap().plan.epsilon, "0.5");
    }

    #[test]
    fn the_default_budget_allows_every_round_it_plans() {
        let survey = read(&body()).unwrap();
        let level = survey.plan.epsilon().unwrap().nats().units();
        assert!(survey.plan.total().unwrap().units() >= 3 * level);
    }

    #[test]
    fn bad_bodies_name_the_field() {
        for (change, value, said) in [
            ("/title", json!(""), "title"),
            ("/question", json!("x".repeat(3000)), "question"),
            ("/minimum", json!(0), "minimum"),
            ("/group_minimum", json!(1), "group_minimum"),
            ("/origins", json!(["ftp://x"]), "origins"),
            ("/origins", json!(["https://x/path"]), "origins"),
            ("/answers", json!({"names": ["only"]}), "2 to"),
            ("/answers", json!({"names": ["a", "a"]}), "twice"),
            ("/answers", json!({}), "exactly one"),
            ("/answers", json!({"names": ["a", "b"], "points": ["1", "2"]}), "exactly one"),
            ("/plan/epsilon", json!("0"), "plan.epsilon"),
            ("/plan/epsilon", json!("-1"), "plan.epsilon"),
            ("/plan/epsilon", json!("nan"), "plan.epsilon"),
            ("/plan/rounds", json!(0), "plan.rounds"),
            ("/plan/confidence", json!(1.5), "plan.confidence"),
            ("/plan/method", json!("magic"), "plan.method"),
            ("/plan/total_ldp", json!("much"), "plan.total_ldp"),
            ("/plan/prior", json!({"p": [1.0]}), "plan.prior"),
            ("/plan/prior", json!({"p": [0.5, 0.4]}), "plan.prior"),
            ("/plan/groups", json!([{"group": "", "people": 500}]), "plan.groups"),
            ("/plan/surprise", json!(1), "surprise"),
        ] {
            let mut changed = body();
            let (parent, field) = change.rsplit_once('/').unwrap();
            changed.pointer_mut(parent).unwrap()[field] = value;
            let problem = read(&changed).unwrap_err();
            assert_eq!(problem.code, Code::Malformed);
            assert!(problem.detail.contains(said), "{change}: {}", problem.detail);
        }
        let mut small = body();
        small["plan"]["groups"] = json!([{"group": "teachers", "people": 12}]);
        assert_eq!(read(&small).unwrap_err().code, Code::GroupTooSmall);
    }
}
