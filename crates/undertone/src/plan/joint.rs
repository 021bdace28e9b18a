//! A joint law of a person's data as people write it: points, a tree, or independent priors.

use serde::Deserialize;
use undertone_core::{Alphabet, Law, MASS_ONE, Node, Point, Row, SecretVariable};
use undertone_design::Distribution;
use undertone_design::quantize::largest_remainder;

use super::named::{Named, Probabilities};
use super::questions::QuestionList;
use crate::Error;
use crate::document;
use crate::error::listed;

/// What is assumed about a person's data, matched with the questions by name; every other variable is a secret.
///
/// Points: `{"points": [{"p": 0.25, "values": {"smokes": "no", "cough": "no", "cancer": "no"}}, ...]}`. A tree: `{"tree": {"cancer": {"p": {"no": 0.99, "yes":
/// 0.01}}, "cough": {"given": "cancer", "rows": {"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.3, "yes": 0.7}}}, ...}}`. Independent priors:
/// `{"independent": {"smokes": {"no": 0.8, "yes": 0.2}, ...}}`. A secret whose probabilities are lists has its `values` beside them.
#[derive(Debug, Clone)]
pub struct JointLaw {
    /// The variables that are not asked for, by name.
    pub secrets: Vec<SecretVariable>,
    /// The law in integers, questions first.
    pub law: Law,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJoint {
    variables: Option<Vec<String>>,
    points: Option<Vec<RawPoint>>,
    tree: Option<Named<RawNode>>,
    independent: Option<Named<Probabilities>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPoint {
    p: f64,
    values: Named<RawValue>,
}

/// A value by name, or a number as it is written.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawValue {
    Text(String),
    Number(serde_json::Number),
}

impl RawValue {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNode {
    values: Option<Vec<String>>,
    p: Option<Probabilities>,
    given: Option<String>,
    rows: Option<Named<Probabilities>>,
}

/// A variable: its name and what its values are called.
struct NamedVariable {
    name: String,
    labels: Vec<String>,
}

impl JointLaw {
    /// Reads a document about these questions.
    pub fn read(name: &str, text: &str, questions: &QuestionList) -> Result<Self, Error> {
        let expected = "a joint law: {\"points\": [{\"p\": 0.5, \"values\": {...}}]}, {\"tree\": {...}} or {\"independent\": {...}}";
        let raw: RawJoint = document::json(name, text, expected)?;
        raw.read(questions).map_err(|problem| Error::in_document(name, problem))
    }

    /// Independent answers with the questions' own priors; nothing if no question has one, and refused if only some do.
    pub fn of_priors(questions: &QuestionList) -> Result<Option<Self>, Error> {
        let without = questions.questions.iter().find(|question| question.prior.is_none());
        if questions.questions.iter().all(|question| question.prior.is_none()) {
            return Ok(None);
        }
        if let Some(question) = without {
            let problem = format!(
                "the question {:?} has no prior and others do: give all of them one, or call them shares, or give a joint law",
                question.name
            );
            return Err(Error::field("questions", format!(": {problem}")));
        }
        let node = |question: &super::AskedQuestion| {
            let prior = question.prior.as_ref().map_or(&[][..], |prior| prior.as_slice());
            let about = format!("the prior of {:?}", question.name);
            row(&about, prior).map(Node::Root)
        };
        let nodes = questions.questions.iter().map(node).collect::<Result<Vec<_>, String>>();
        let nodes = nodes.map_err(|problem| Error::field("questions", format!(": {problem}")))?;
        let joint = Self { secrets: Vec::new(), law: Law::Tree(nodes) };
        Ok(Some(joint))
    }
}

impl RawJoint {
    fn read(&self, questions: &QuestionList) -> Result<JointLaw, String> {
        match (&self.points, &self.tree, &self.independent) {
            (Some(points), None, None) => self.points(points, questions),
            (None, Some(tree), None) => tree_law(tree, questions),
            (None, None, Some(priors)) => {
                let node = |p: &Probabilities| RawNode {
                    values: None,
                    p: Some(p.clone()),
                    given: None,
                    rows: None,
                };
                let nodes = priors.0.iter().map(|(name, p)| (name.clone(), node(p)));
                tree_law(&Named(nodes.collect()), questions)
            }
            _ => Err("give exactly one of points, tree and independent".into()),
        }
    }

    fn points(&self, points: &[RawPoint], questions: &QuestionList) -> Result<JointLaw, String> {
        let Some(first) = points.first() else {
            return Err("points is empty: give every combination that can occur".into());
        };
        let mut names: Vec<String> = match &self.variables {
            Some(names) => names.clone(),
            None => first.values.names().map(str::to_owned).collect(),
        };
        names.sort();
        let values = |name: &str| {
            let of = |point: &RawPoint| point.values.get(name).map(RawValue::text);
            points.iter().filter_map(of).collect::<Vec<String>>()
        };
        let variables = variables(&names, questions, values)?;
        let mut found: Vec<(Vec<u32>, f64)> = Vec::with_capacity(points.len());
        for (at, point) in points.iter().enumerate() {
            if let Some(odd) = point.values.names().find(|name| !names.iter().any(|n| n == name)) {
                return Err(format!(
                    "points[{at}] has a value of {odd:?}, which is no variable of the first point"
                ));
            }
            let index = |variable: &NamedVariable| {
                let value = point.values.get(&variable.name).map(RawValue::text);
                let value = value.ok_or_else(|| {
                    format!("points[{at}] has no value of {:?}: give one", variable.name)
                })?;
                place(&variable.name, &variable.labels, &value)
            };
            let values = variables.iter().map(index).collect::<Result<Vec<u32>, String>>()?;
            found.push((values, point.p));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        found.retain(|(_, p)| *p != 0.0);
        let p = found.iter().map(|(_, p)| *p).collect();
        let p = Distribution::new("points", p).map_err(|error| error.to_string())?;
        let weights = largest_remainder(p.as_slice(), MASS_ONE);
        let law: Vec<Point> = found
            .into_iter()
            .zip(weights)
            .filter(|(_, weight)| *weight > 0)
            .map(|((values, _), weight)| Point { weight, values })
            .collect();
        for (at, variable) in variables.iter().enumerate() {
            let seen = |value: usize| law.iter().any(|point| point.values[at] as usize == value);
            if let Some(value) = (0..variable.labels.len()).find(|&value| !seen(value)) {
                return Err(nought(&variable.name, &variable.labels[value]));
            }
        }
        finished(variables, questions, Law::Points(law))
    }
}

fn nought(name: &str, value: &str) -> String {
    format!(
        "{value:?} of {name:?} has probability nought in the joint law: give it some, or take it out of the answers"
    )
}

/// The place of a value among a variable's.
fn place(name: &str, labels: &[String], value: &str) -> Result<u32, String> {
    let found = labels.iter().position(|label| label == value);
    found.map(|at| at as u32).ok_or_else(|| {
        format!(
            "{value:?} is no value of {name:?}, which are {}: the joint law is over another alphabet",
            listed(labels.iter().cloned(), 8)
        )
    })
}

/// All variables, the questions first and the rest in the order of their names; `values` lists what a secret can be.
fn variables(
    names: &[String],
    questions: &QuestionList,
    values: impl Fn(&str) -> Vec<String>,
) -> Result<Vec<NamedVariable>, String> {
    let mut found = Vec::new();
    for question in &questions.questions {
        if !names.contains(&question.name) {
            return Err(format!(
                "the joint law does not have the question {:?}; its variables are {}",
                question.name,
                listed(names.iter().cloned(), 12)
            ));
        }
        found.push(NamedVariable { name: question.name.clone(), labels: question.labels() });
    }
    let asked = |name: &String| questions.questions.iter().any(|question| question.name == *name);
    let mut secrets: Vec<&String> = names.iter().filter(|name| !asked(name)).collect();
    secrets.sort();
    for name in secrets {
        let mut labels = values(name);
        labels.sort();
        labels.dedup();
        if labels.len() < 2 {
            return Err(format!(
                "{name:?} is no question, so it is a secret, and needs two values at least: write its probabilities by name"
            ));
        }
        found.push(NamedVariable { name: name.clone(), labels });
    }
    Ok(found)
}

fn tree_law(tree: &Named<RawNode>, questions: &QuestionList) -> Result<JointLaw, String> {
    let names: Vec<String> = tree.names().map(str::to_owned).collect();
    // Values that are listed keep their order only if they are the probabilities' too: here all are by name or sorted.
    let values = |name: &str| {
        let Some(node) = tree.get(name) else { return Vec::new() };
        let rows = node.rows.iter().flat_map(|rows| rows.0.iter().map(|(_, row)| row));
        let named = node.p.iter().chain(rows).flat_map(Probabilities::names);
        node.values.iter().flatten().cloned().chain(named).collect()
    };
    let variables = variables(&names, questions, values)?;
    let mut nodes = Vec::with_capacity(variables.len());
    for variable in &variables {
        let name = &variable.name;
        let Some(node) = tree.get(name) else { continue };
        // A list follows the values beside it; without any, the order of the question's answers.
        let law = |what: &str, p: &Probabilities| -> Result<Row, String> {
            let list = match (&node.values, p) {
                (Some(values), Probabilities::List(list)) => {
                    if values.len() != list.len() {
                        return Err(format!(
                            "{what} has {} probabilities for {} values",
                            list.len(),
                            values.len()
                        ));
                    }
                    let pairs = values.iter().cloned().zip(list.iter().copied());
                    Probabilities::ByName(Named(pairs.collect())).over(what, &variable.labels)?
                }
                _ => p.over(what, &variable.labels)?,
            };
            row(what, &list)
        };
        nodes.push(match (&node.p, &node.given, &node.rows) {
            (Some(p), None, None) => Node::Root(law(&format!("p of {name:?}"), p)?),
            (None, Some(parent), Some(rows)) => {
                let at = variables.iter().position(|variable| variable.name == *parent);
                let at = at.ok_or_else(|| {
                    format!("{name:?} is given {parent:?}, which is no variable of the tree: they are {}", listed(names.iter().cloned(), 12))
                })?;
                let labels = &variables[at].labels;
                if let Some(odd) = rows.names().find(|row| !labels.iter().any(|l| l == row)) {
                    return Err(format!("rows of {name:?} has one for {odd:?}, which is no value of {parent:?}: they are {}", listed(labels.iter().cloned(), 8)));
                }
                let row = |label: &String| {
                    let p = rows.get(label).ok_or_else(|| {
                        format!("rows of {name:?} has none for the value {label:?} of {parent:?}")
                    })?;
                    law(&format!("the row of {name:?} for {parent} = {label:?}"), p)
                };
                let rows = labels.iter().map(row).collect::<Result<Vec<Row>, String>>()?;
                Node::Given { parent: at as u32, rows }
            }
            _ => {
                return Err(format!("{name:?} needs either p, or given and rows"));
            }
        });
    }
    // Beliefs walk up a tree before the kernel has seen it.
    for (at, variable) in variables.iter().enumerate() {
        let mut above = at;
        for _ in 0..nodes.len() {
            above = nodes[above].parent().unwrap_or(above);
        }
        if nodes[above].parent().is_some() {
            return Err(format!(
                "{:?} is its own ancestor: begin with a variable that is given nothing",
                variable.name
            ));
        }
    }
    for (variable, node) in variables.iter().zip(&nodes) {
        let rows = match node {
            Node::Root(row) => std::slice::from_ref(row),
            Node::Given { rows, .. } => rows,
        };
        let seen = |value: usize| rows.iter().any(|row| row.masses()[value] > 0);
        if let Some(value) = (0..variable.labels.len()).find(|&value| !seen(value)) {
            return Err(nought(&variable.name, &variable.labels[value]));
        }
    }
    finished(variables, questions, Law::Tree(nodes))
}

/// A row in units of 2^-48. Something above nought never becomes nought.
fn row(what: &str, list: &[f64]) -> Result<Row, String> {
    let p = Distribution::new(what, list.to_vec()).map_err(|error| error.to_string())?;
    let masses = largest_remainder(p.as_slice(), MASS_ONE);
    if let Some(at) = (0..list.len()).find(|&at| list[at] > 0.0 && masses[at] == 0) {
        return Err(format!(
            "{what} has a probability of {:e}, which rounds to nought: write 0, or at least 1e-14",
            list[at]
        ));
    }
    Row::new(masses).map_err(|error| format!("{what}: {error}"))
}

fn finished(
    variables: Vec<NamedVariable>,
    questions: &QuestionList,
    law: Law,
) -> Result<JointLaw, String> {
    let secrets = variables.into_iter().skip(questions.questions.len()).map(|variable| {
        let values = Alphabet::names(variable.labels)
            .map_err(|error| format!("{:?}: {error}", variable.name))?;
        Ok(SecretVariable { name: variable.name, values })
    });
    Ok(JointLaw { secrets: secrets.collect::<Result<_, String>>()?, law })
}
