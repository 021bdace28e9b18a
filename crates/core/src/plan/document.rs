//! The plan document in JSON.

use super::claim::{Given, PlanClaim};
use super::error::PlanError;
use super::law::{Law, Node, Point};
use super::{Item, PlanDraft, PlanParts, Question, SecretVariable};
use crate::document::{DecodeError, RawAlphabet, RawPolicy, RawProvenance, json, list, read};
use crate::mass::{PartsError, Row};
use crate::nats::Nats;
use crate::strict::{Integer, Object};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Deserialize;

const VERSION: &str = "plan/1";

/// Why a document or bytes are not a plan's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanDecodeError {
    /// The bytes do not begin as a plan does.
    #[error("these bytes are not an undertone plan")]
    NotAPlan,
    /// A version this kernel does not know.
    #[error(
        "version {found:?} is not known here: this program reads {VERSION:?}; update it or re-export the plan"
    )]
    Version {
        /// The version that was found.
        found: String,
    },
    /// The JSON is malformed, or has a field too many or too few.
    #[error("not a plan document: {message}")]
    Json {
        /// In the parser's words, with line and column.
        message: String,
    },
    /// The stated id is not the document's.
    #[error("id: the content was changed; its id is {actual}")]
    Id {
        /// The id the content has.
        actual: String,
    },
    /// A level is not written as it is printed.
    #[error("claims: {written:?} is no level as it is printed, such as 0.5 or 2")]
    Level {
        /// What is written.
        written: String,
    },
    /// A name that no question or secret has.
    #[error("{place}: there is no question or secret {name:?}")]
    Unknown {
        /// Where it is used.
        place: &'static str,
        /// The name.
        name: String,
    },
    /// A list of probabilities is no distribution.
    #[error("law: a list of probabilities {0}")]
    Row(PartsError),
    /// A policy is not well formed.
    #[error("policy {index}: {error}")]
    Policy {
        /// Its index in the list of policies.
        index: usize,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// Another part of the document is not well formed.
    #[error(transparent)]
    Part(#[from] DecodeError),
    /// The parts are well formed and do not fit together.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlan {
    undertone: String,
    #[serde(default)]
    id: Option<String>,
    claims: Vec<Object<RawClaim>>,
    questions: Vec<Object<RawQuestion>>,
    #[serde(default)]
    secrets: Vec<Object<RawSecret>>,
    law: Object<RawLaw>,
    items: Vec<Object<RawItem>>,
    #[serde(default)]
    asked: u32,
    #[serde(default = "once")]
    periods: u32,
    #[serde(default)]
    provenance: Object<RawProvenance>,
    policies: Vec<Object<RawPolicy>>,
}

fn once() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuestion {
    name: String,
    #[serde(default)]
    wording: String,
    answers: Object<RawAlphabet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSecret {
    name: String,
    values: Object<RawAlphabet>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum RawLaw {
    Unknown {},
    Tree { nodes: Vec<Object<RawNode>> },
    Points { points: Vec<Object<RawPoint>> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNode {
    weights: Option<Vec<Integer>>,
    parent: Option<String>,
    rows: Option<Vec<Vec<Integer>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPoint {
    weight: Integer,
    values: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawItem {
    questions: Vec<String>,
    policy: u32,
    #[serde(default)]
    fresh: Option<u32>,
    #[serde(default)]
    weight: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaim {
    about: String,
    notion: String,
    name: Option<String>,
    given: Option<String>,
    nats: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
}

impl PlanDraft {
    /// Reads a plan document. A stated id must be the content's own.
    pub fn from_json(text: &str) -> Result<Self, PlanDecodeError> {
        let Object::<RawPlan>(raw) = serde_json::from_str(text)
            .map_err(|error| PlanDecodeError::Json { message: error.to_string() })?;
        if raw.undertone != VERSION {
            return Err(PlanDecodeError::Version { found: raw.undertone });
        }
        let question = |raw: Object<RawQuestion>| {
            let RawQuestion { name, wording, answers } = raw.0;
            Ok::<_, DecodeError>(Question { name, wording, answers: answers.0.read()? })
        };
        let secret = |raw: Object<RawSecret>| {
            let RawSecret { name, values } = raw.0;
            Ok::<_, DecodeError>(SecretVariable { name, values: values.0.read()? })
        };
        let questions: Vec<Question> =
            raw.questions.into_iter().map(question).collect::<Result<_, _>>()?;
        let secrets: Vec<SecretVariable> =
            raw.secrets.into_iter().map(secret).collect::<Result<_, _>>()?;
        let names = Names { questions: &questions, secrets: &secrets };
        let law = raw.law.0.read(&names)?;
        let items =
            raw.items.into_iter().map(|item| item.0.read(&names)).collect::<Result<_, _>>()?;
        let claims =
            raw.claims.into_iter().map(|claim| claim.0.read(&names)).collect::<Result<_, _>>()?;
        let policy = |(index, raw): (usize, Object<RawPolicy>)| {
            raw.0.read().map_err(|error| PlanDecodeError::Policy { index, error })
        };
        let draft = Self::new(PlanParts {
            claims,
            law,
            items,
            asked: raw.asked,
            periods: raw.periods,
            provenance: raw.provenance.0.read()?,
            policies: raw.policies.into_iter().enumerate().map(policy).collect::<Result<_, _>>()?,
            questions,
            secrets,
        })?;
        if let Some(stated) = raw.id {
            let actual = draft.id().to_string();
            if stated != actual {
                return Err(PlanDecodeError::Id { actual });
            }
        }
        Ok(draft)
    }

    /// Writes the plan document, with its id.
    pub fn to_json(&self) -> String {
        let parts = self.parts();
        let question = |question: &Question| {
            let Question { name, wording, answers } = question;
            let answers = RawAlphabet::write(answers);
            match wording.as_str() {
                "" => format!(r#"{{"name":{},"answers":{answers}}}"#, json(name)),
                _ => {
                    let (name, wording) = (json(name), json(wording));
                    format!(r#"{{"name":{name},"wording":{wording},"answers":{answers}}}"#)
                }
            }
        };
        let secret = |secret: &SecretVariable| {
            let values = RawAlphabet::write(&secret.values);
            format!(r#"{{"name":{},"values":{values}}}"#, json(&secret.name))
        };
        let mut fields = Vec::from([
            ("undertone", json(&VERSION)),
            ("id", json(&self.id().to_string())),
            ("claims", list(parts.claims.iter().map(|claim| written_claim(parts, claim)))),
            ("questions", list(parts.questions.iter().map(question))),
        ]);
        if !parts.secrets.is_empty() {
            fields.push(("secrets", list(parts.secrets.iter().map(secret))));
        }
        fields.push(("law", written_law(parts)));
        fields.push(("items", list(parts.items.iter().map(|item| written_item(parts, item)))));
        if parts.asked > 0 {
            fields.push(("asked", json(&parts.asked)));
        }
        if parts.periods > 1 {
            fields.push(("periods", json(&parts.periods)));
        }
        fields.push(("provenance", json(&RawProvenance::write(&parts.provenance))));
        // A policy's own document, on lines of its own.
        let policy =
            |policy: &crate::policy::Draft| policy.to_json().trim_end().replace('\n', "\n    ");
        fields.push(("policies", list(parts.policies.iter().map(policy))));
        let lines: Vec<String> =
            fields.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// Questions and secrets by name.
struct Names<'a> {
    questions: &'a [Question],
    secrets: &'a [SecretVariable],
}

impl Names<'_> {
    fn unknown(place: &'static str, name: &str) -> PlanDecodeError {
        PlanDecodeError::Unknown { place, name: name.into() }
    }

    fn question(&self, place: &'static str, name: &str) -> Result<u32, PlanDecodeError> {
        let at = self.questions.iter().position(|question| question.name == name);
        at.map(|at| at as u32).ok_or_else(|| Self::unknown(place, name))
    }

    fn secret(&self, place: &'static str, name: &str) -> Result<u32, PlanDecodeError> {
        let at = self.secrets.iter().position(|secret| secret.name == name);
        at.map(|at| at as u32).ok_or_else(|| Self::unknown(place, name))
    }

    /// The number among all variables.
    fn variable(&self, place: &'static str, name: &str) -> Result<u32, PlanDecodeError> {
        let secret = |name| Ok(self.questions.len() as u32 + self.secret(place, name)?);
        self.question(place, name).or_else(|_: PlanDecodeError| secret(name))
    }
}

fn row(masses: Vec<Integer>) -> Result<Row, PlanDecodeError> {
    Row::new(read(masses)).map_err(PlanDecodeError::Row)
}

impl RawLaw {
    fn read(self, names: &Names<'_>) -> Result<Law, PlanDecodeError> {
        Ok(match self {
            Self::Unknown {} => Law::Unknown,
            Self::Tree { nodes } => {
                let node = |raw: Object<RawNode>| match (raw.0.weights, raw.0.parent, raw.0.rows) {
                    (Some(weights), None, None) => Ok(Node::Root(row(weights)?)),
                    (None, Some(parent), Some(rows)) => Ok(Node::Given {
                        parent: names.variable("law", &parent)?,
                        rows: rows.into_iter().map(row).collect::<Result<_, _>>()?,
                    }),
                    _ => {
                        let message = "law: a node has either weights, or parent and rows";
                        Err(PlanDecodeError::Json { message: message.into() })
                    }
                };
                Law::Tree(nodes.into_iter().map(node).collect::<Result<_, PlanDecodeError>>()?)
            }
            Self::Points { points } => {
                let point = |Object(raw): Object<RawPoint>| Point {
                    weight: raw.weight.0,
                    values: raw.values,
                };
                Law::Points(points.into_iter().map(point).collect())
            }
        })
    }
}

impl RawItem {
    fn read(self, names: &Names<'_>) -> Result<Item, PlanDecodeError> {
        let questions = self.questions.iter().map(|name| names.question("items", name));
        let questions = questions.collect::<Result<_, _>>()?;
        Ok(Item { questions, policy: self.policy, fresh: self.fresh, weight: self.weight })
    }
}

impl RawClaim {
    fn read(self, names: &Names<'_>) -> Result<PlanClaim, PlanDecodeError> {
        let bad = || {
            let message = "claims: a claim is about the person (ldp: nats), a question (lip: nats, or alip: lower and upper; given all or own) or a secret (lip or alip), which have names";
            PlanDecodeError::Json { message: message.into() }
        };
        let level = |written: &str| {
            let bad = || PlanDecodeError::Level { written: written.into() };
            let nats: Nats = written.parse().map_err(|_| bad())?;
            if nats.to_string() == written { Ok(nats) } else { Err(bad()) }
        };
        let (about, notion) = (self.about.as_str(), self.notion.as_str());
        let levels = match (notion, &self.nats, &self.lower, &self.upper) {
            ("ldp" | "lip", Some(nats), None, None) => (level(nats)?, level(nats)?),
            ("alip", None, Some(lower), Some(upper)) => (level(lower)?, level(upper)?),
            _ => return Err(bad()),
        };
        // The same claim has one spelling.
        if notion == "alip" && levels.0 == levels.1 {
            let message = "claims: alip with two equal levels is written as lip";
            return Err(PlanDecodeError::Json { message: message.into() });
        }
        let (lower, upper) = levels;
        match (about, notion, self.name.as_deref(), self.given.as_deref()) {
            ("person", "ldp", None, None) => Ok(PlanClaim::Person { ldp: upper }),
            ("question", "lip" | "alip", Some(name), Some(given)) => {
                let given = match given {
                    "all" => Given::All,
                    "own" => Given::Own,
                    _ => return Err(bad()),
                };
                let which = names.question("claims", name)?;
                Ok(PlanClaim::Question { which, given, lower, upper })
            }
            ("secret", "lip" | "alip", Some(name), None) => {
                Ok(PlanClaim::Secret { which: names.secret("claims", name)?, lower, upper })
            }
            _ => Err(bad()),
        }
    }
}

fn written_claim(parts: &PlanParts, claim: &PlanClaim) -> String {
    let levels = |lower: Nats, upper: Nats| match lower == upper {
        true => format!(r#""notion":"lip","nats":"{upper}""#),
        false => format!(r#""notion":"alip","lower":"{lower}","upper":"{upper}""#),
    };
    match *claim {
        PlanClaim::Person { ldp } => {
            format!(r#"{{"about":"person","notion":"ldp","nats":"{ldp}"}}"#)
        }
        PlanClaim::Question { which, given, lower, upper } => {
            let name = json(&parts.questions[which as usize].name);
            let given = if given == Given::Own { "own" } else { "all" };
            let levels = levels(lower, upper);
            format!(r#"{{"about":"question","name":{name},"given":"{given}",{levels}}}"#)
        }
        PlanClaim::Secret { which, lower, upper } => {
            let name = json(&parts.secrets[which as usize].name);
            format!(r#"{{"about":"secret","name":{name},{}}}"#, levels(lower, upper))
        }
    }
}

fn written_law(parts: &PlanParts) -> String {
    match &parts.law {
        Law::Unknown => r#"{"kind":"unknown"}"#.into(),
        Law::Tree(nodes) => {
            let node = |node: &Node| match node {
                Node::Root(row) => format!(r#"{{"weights":{}}}"#, json(&row.masses())),
                Node::Given { parent, rows } => {
                    let parent = json(&parts.named(*parent as usize).0);
                    let rows: Vec<&[u64]> = rows.iter().map(Row::masses).collect();
                    format!(r#"{{"parent":{parent},"rows":{}}}"#, json(&rows))
                }
            };
            format!("{{\"kind\": \"tree\", \"nodes\": {}}}", list(nodes.iter().map(node)))
        }
        Law::Points(points) => {
            let point = |Point { weight, values }: &Point| {
                format!(r#"{{"weight":{weight},"values":{}}}"#, json(values))
            };
            format!("{{\"kind\": \"points\", \"points\": {}}}", list(points.iter().map(point)))
        }
    }
}

fn written_item(parts: &PlanParts, item: &Item) -> String {
    let names: Vec<&str> =
        item.questions.iter().map(|&q| parts.questions[q as usize].name.as_str()).collect();
    let mut text = format!(r#"{{"questions":{},"policy":{}"#, json(&names), item.policy);
    if let Some(fresh) = item.fresh {
        text += &format!(r#","fresh":{fresh}"#);
    }
    if item.weight > 0 {
        text += &format!(r#","weight":{}"#, item.weight);
    }
    text + "}"
}
