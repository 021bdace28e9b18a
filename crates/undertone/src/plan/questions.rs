//! The questions of a plan as people write them.

use serde::Deserialize;
use undertone_core::Alphabet;
use undertone_design::{Distribution, codebook};

use super::named::Probabilities;
use crate::Error;
use crate::document;

/// What is asked, and which pairs of answers are to be counted together.
///
/// `{"questions": [{"name": "smokes", "wording": "Do you smoke?", "answers": ["no", "yes"], "shares": [0.8, 0.2], "weight": 2}],
/// "pairs": [["smokes", "commute"]]}`. `answers` are names, a number of answers, `{"points": [1, 2, 5]}` or `{"edges": [0, 10, 50]}`. `shares`
/// are expected and plan the noise; `prior` is assumed, so that promises about belief can be made. Both are lists or by name.
#[derive(Debug, Clone)]
pub struct QuestionList {
    /// The questions.
    pub questions: Vec<AskedQuestion>,
    /// Pairs of questions, as indices.
    pub pairs: Vec<(usize, usize)>,
}

/// One question.
#[derive(Debug, Clone)]
pub struct AskedQuestion {
    /// Its name.
    pub name: String,
    /// What people read.
    pub wording: String,
    /// The answers.
    pub answers: Alphabet,
    /// The shares that are expected.
    pub shares: Option<Distribution>,
    /// The law of the answer that is assumed.
    pub prior: Option<Distribution>,
    /// How much its errors count.
    pub weight: f64,
}

impl AskedQuestion {
    /// What its answers are called.
    pub fn labels(&self) -> Vec<String> {
        (0..self.answers.len()).map(|at| self.answers.label(at)).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawList {
    questions: Vec<RawQuestion>,
    #[serde(default)]
    pairs: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuestion {
    name: String,
    #[serde(default)]
    wording: String,
    answers: RawAnswers,
    shares: Option<Probabilities>,
    prior: Option<Probabilities>,
    #[serde(default = "one")]
    weight: f64,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawAnswers {
    Size(u32),
    Names(Vec<RawName>),
    Points { points: Vec<RawName> },
    Bins { edges: Vec<RawName>, values: Option<Vec<RawName>> },
}

/// A text, or a number as it is written.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawName {
    Text(String),
    Number(serde_json::Number),
}

impl RawName {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl QuestionList {
    /// Reads a document.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        let expected = "{\"questions\": [{\"name\": \"smokes\", \"answers\": [\"no\", \"yes\"], \"shares\": [0.8, 0.2]}, ...], \"pairs\": [[\"smokes\", \"age\"]]}";
        let raw: RawList = document::json(name, text, expected)?;
        let questions: Vec<AskedQuestion> = raw
            .questions
            .iter()
            .map(|question| question.read().map_err(|problem| Error::in_document(name, problem)))
            .collect::<Result<_, _>>()?;
        if questions.is_empty() {
            return Err(Error::in_document(name, "there are no questions: give at least one"));
        }
        for (at, question) in questions.iter().enumerate() {
            if questions[..at].iter().any(|other| other.name == question.name) {
                let problem =
                    format!("the question {:?} is given twice: names must differ", question.name);
                return Err(Error::in_document(name, problem));
            }
        }
        let mut list = Self { questions, pairs: Vec::new() };
        for (one, other) in &raw.pairs {
            list.add_pair(one, other).map_err(|problem| Error::in_document(name, problem))?;
        }
        Ok(list)
    }

    /// Adds a pair of questions that are to be counted together.
    pub fn add_pair(&mut self, one: &str, other: &str) -> Result<(), String> {
        let (first, second) = (self.place(one)?, self.place(other)?);
        if first == second {
            return Err(format!("the pair of {one:?} with itself: name two questions"));
        }
        let pair = (first.min(second), first.max(second));
        if !self.pairs.contains(&pair) {
            self.pairs.push(pair);
        }
        Ok(())
    }

    /// The number of a question by name.
    pub fn place(&self, name: &str) -> Result<usize, String> {
        let names = || self.questions.iter().map(|question| question.name.clone());
        names().position(|other| other == name).ok_or_else(|| {
            format!(
                "there is no question {name:?}: the questions are {}",
                crate::error::listed(names(), 12)
            )
        })
    }
}

impl RawQuestion {
    fn read(&self) -> Result<AskedQuestion, String> {
        let name = &self.name;
        let about = |problem: &dyn std::fmt::Display| format!("question {name:?}: {problem}");
        let answers = self.answers.read().map_err(|problem| about(&problem))?;
        if answers.len() < 2 {
            return Err(about(&"it has fewer than two answers, so there is nothing to ask"));
        }
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return Err(about(&format!("weight is {}: give a number above 0", self.weight)));
        }
        let labels: Vec<String> = (0..answers.len()).map(|at| answers.label(at)).collect();
        let law = |what: &str, given: &Option<Probabilities>| {
            let Some(given) = given else { return Ok(None) };
            let list = given.over(what, &labels).map_err(|problem| about(&problem))?;
            Distribution::new(what, list).map(Some).map_err(|error| about(&error))
        };
        Ok(AskedQuestion {
            name: name.clone(),
            wording: self.wording.clone(),
            shares: law("shares", &self.shares)?,
            prior: law("prior", &self.prior)?,
            answers,
            weight: self.weight,
        })
    }
}

impl RawAnswers {
    fn read(&self) -> Result<Alphabet, String> {
        let decimals = |what: &str, list: &[RawName]| {
            let numbers = list.iter().map(|number| codebook::number(what, &number.text()));
            numbers.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
        };
        let alphabet = match self {
            Self::Size(size) => Alphabet::indices(*size as usize),
            Self::Names(names) => Alphabet::names(names.iter().map(RawName::text)),
            Self::Points { points } => Alphabet::points(decimals("points", points)?),
            Self::Bins { edges, values } => {
                let edges = decimals("edges", edges)?;
                let values = match values {
                    Some(values) => decimals("values", values)?,
                    None => {
                        let middle = |ends: &[undertone_core::Decimal]| {
                            let middle =
                                (codebook::float(ends[0]) + codebook::float(ends[1])) / 2.0;
                            codebook::nearest(middle)
                                .ok_or("edges: a bin has no middle; give values")
                        };
                        edges.windows(2).map(middle).collect::<Result<_, _>>()?
                    }
                };
                Alphabet::bins(edges, values)
            }
        };
        alphabet.map_err(|error| format!("answers: {error}"))
    }
}
