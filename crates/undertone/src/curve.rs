//! Utility and attained leakage against epsilon, for several methods.

use std::fmt::Write;
use std::str::FromStr;

use serde::Serialize;
use undertone_core::Ratio;
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::measure::ldp;
use undertone_design::objective::Objective as Weighed;

use crate::answer::Answer;
use crate::design::{DesignContext, DesignMethod, Known, Objective, Protection};
use crate::number::{self, Round, cell, nats, rounded};
use crate::{Error, error::mention};

/// Which curves to draw.
#[derive(Debug, Clone)]
pub struct CurveRequest {
    /// What is known about the data.
    pub context: DesignContext,
    /// What the reports are for; where nothing is said, shares, or for numbers their squared error.
    pub objective: Option<Objective>,
    /// The numbers the symbols stand for; empty for those of the prior's document, else 0, 1, 2 and so on.
    pub values: Vec<f64>,
    /// The levels, each from 0 to 11.
    pub epsilons: Vec<f64>,
    /// One curve each.
    pub methods: Vec<CurveMethod>,
}

/// One curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveMethod {
    /// A method under LIP at epsilon; the staircase under LDP.
    Design(DesignMethod),
    /// The optimum under LDP at epsilon.
    Ldp,
    /// The optimum under LDP at twice epsilon.
    LdpTwice,
}

impl CurveMethod {
    /// The methods people compare where they name none.
    pub const USUAL: [Self; 5] = [
        Self::Design(DesignMethod::Optimal),
        Self::Design(DesignMethod::Published),
        Self::Design(DesignMethod::Krr),
        Self::Ldp,
        Self::LdpTwice,
    ];

    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Design(method) => method.name(),
            Self::Ldp => "ldp",
            Self::LdpTwice => "ldp2",
        }
    }
}

impl FromStr for CurveMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let of_symbols = |method: &DesignMethod| method.of_symbols().is_some();
        let methods = || DesignMethod::ALL.into_iter().filter(of_symbols);
        match name {
            "ldp" => Ok(Self::Ldp),
            "ldp2" => Ok(Self::LdpTwice),
            _ => match methods().find(|method| method.name() == name) {
                Some(method) => Ok(Self::Design(method)),
                None => {
                    let all: Vec<&str> = methods().map(DesignMethod::name).collect();
                    let problem =
                        format!("{name:?} is unknown: use {}, ldp or ldp2", all.join(", "));
                    Err(Error::field("methods", problem))
                }
            },
        }
    }
}

/// Curves of utility and leakage.
#[derive(Debug, Clone, Serialize)]
pub struct CurveReport {
    /// What the reports are for.
    pub objective: &'static str,
    /// Whether more of it is better.
    #[serde(skip)]
    pub is_gain: bool,
    /// The points, curve by curve.
    pub rows: Vec<CurvePoint>,
}

/// One design of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct CurvePoint {
    /// The level asked for.
    #[serde(serialize_with = "number::as_value")]
    pub epsilon: f64,
    /// Whose curve it is on.
    pub method: &'static str,
    /// What the objective is worth; nothing where there is no design.
    #[serde(serialize_with = "number::as_optional_value")]
    pub utility: Option<f64>,
    /// How far belief in an input moves, in nats.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub lip: Option<f64>,
    /// How far likelihoods of two inputs differ, in nats.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub ldp: Option<f64>,
    /// The verified policy; nothing for a printed formula that misses its claim.
    pub policy_id: Option<String>,
    /// Why there is no policy, or what it does not tell.
    pub note: String,
}

/// Reads levels written `from:to:step` or `a,b,c`, at most a thousand; `field` is their name in the request.
pub fn levels(field: &str, text: &str) -> Result<Vec<f64>, Error> {
    let bad = || {
        let problem =
            format!("{text:?}: write from:to:step, for example 0.1:5:0.1, or a list 0.5,1,2");
        Error::field(field, problem)
    };
    let number =
        |part: &str| part.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(bad);
    let levels = match text.split(':').collect::<Vec<_>>().as_slice() {
        [from, to, step] => {
            let (from, to, step) = (number(from)?, number(to)?, number(step)?);
            if !(step > 0.0 && to >= from && (to - from) / step <= 1000.0) {
                return Err(bad());
            }
            let count = ((to - from) / step + 1e-9).floor() as usize;
            (0..=count).map(|k| from + k as f64 * step).collect()
        }
        [list] => list.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        _ => return Err(bad()),
    };
    check_levels(field, &format!("{text:?}"), &levels)?;
    Ok(levels)
}

/// Refuses levels that cannot be doubled; `shown` is what is blamed.
pub(crate) fn check_levels(field: &str, shown: &str, levels: &[f64]) -> Result<(), Error> {
    match levels.iter().all(|level| (0.0..=11.0).contains(level)) {
        true => Ok(()),
        false => {
            let problem =
                format!("{shown}: levels lie between 0 and 11, so that twice a level still fits");
            Err(Error::field(field, problem))
        }
    }
}

/// Designs every point.
pub fn curve(request: &CurveRequest) -> Result<CurveReport, Error> {
    curve_with(request, || {})
}

/// Designs every point; `designed` is called after each, levels times methods in all.
pub fn curve_with(
    request: &CurveRequest,
    mut designed: impl FnMut(),
) -> Result<CurveReport, Error> {
    check_levels("epsilons", &format!("is {:?}", request.epsilons), &request.epsilons)?;
    if request.epsilons.is_empty() || request.methods.is_empty() {
        let field = if request.epsilons.is_empty() { "epsilons" } else { "methods" };
        return Err(Error::field(field, "is empty: give at least one"));
    }
    request.context.check_belief("epsilons", "these levels are")?;
    let known = request.context.read()?;
    let goal = known.objective(request.objective.as_ref(), &request.values)?;
    let mut rows = Vec::with_capacity(request.methods.len() * request.epsilons.len());
    for &method in &request.methods {
        for &epsilon in &request.epsilons {
            rows.push(point(method, epsilon, &wanted(&known, method, epsilon, &goal)?));
            designed();
        }
    }
    Ok(CurveReport { objective: goal.name(), is_gain: goal.is_gain(), rows })
}

fn wanted(
    known: &Known,
    method: CurveMethod,
    epsilon: f64,
    goal: &Weighed,
) -> Result<DesignProblem, Error> {
    let (protect, method) = match method {
        CurveMethod::Ldp => (format!("input:ldp:{epsilon:.10}"), Method::Optimal),
        CurveMethod::LdpTwice => (format!("input:ldp:{:.10}", 2.0 * epsilon), Method::Optimal),
        CurveMethod::Design(method) => {
            let found = method.of_symbols().ok_or_else(|| {
                let problem =
                    format!("{:?} is for numbers: design with {}", method.name(), mention("range"));
                Error::field("methods", problem)
            })?;
            match found {
                Method::ExtremalLdp => (format!("input:ldp:{epsilon:.10}"), found),
                _ => (format!("lip:{epsilon:.10}"), found),
            }
        }
    };
    known.request(&[protect.parse::<Protection>()?], goal.clone(), method)
}

fn point(method: CurveMethod, epsilon: f64, request: &DesignProblem) -> CurvePoint {
    let empty = |note: String| CurvePoint {
        epsilon,
        method: method.name(),
        utility: None,
        lip: None,
        ldp: None,
        policy_id: None,
        note,
    };
    match designer::design(request) {
        Ok(DesignOutcome::Shipped(designed)) => {
            let strength = designed.policy.certificate().input;
            let blind = designed.blind().filter(|blind| blind.defeats(&request.objective));
            let note = blind.map(|blind| blind.describe(designed.policy.draft().inputs()));
            CurvePoint {
                utility: designed.utility,
                lip: strength.lip().map(level),
                ldp: Some(level(strength.ldp.ratio)),
                policy_id: Some(designed.policy.id().to_string()),
                ..empty(note.unwrap_or_default())
            }
        }
        Ok(DesignOutcome::Missed(missed)) => {
            let attained = missed.level.attained;
            CurvePoint {
                utility: request.objective.value(&request.prior, &missed.channel).ok(),
                lip: Some(attained),
                ldp: Some(ldp::upper_bound(&missed.channel)),
                ..empty(format!("misses its claim: leaks {}", rounded(attained, Round::Up)))
            }
        }
        Err(error) => empty(error.to_string()),
    }
}

/// The logarithm of a certified ratio, rounded up; infinite where it has none.
pub(crate) fn level(ratio: Ratio) -> f64 {
    ratio.ln_up().map_or(f64::INFINITY, number::float)
}

/// A number of a table; empty where there is none.
pub(crate) fn optional_cell(value: Option<f64>, round: Round) -> String {
    value.map_or(String::new(), |value| cell(value, round))
}

impl CurveReport {
    /// The points as a CSV table.
    pub fn csv(&self) -> String {
        let mut text = String::from("epsilon,method,utility,lip,ldp,policy_id,note\n");
        for point in &self.rows {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},\"{}\"",
                cell(point.epsilon, Round::Nearest),
                point.method,
                optional_cell(point.utility, Round::Nearest),
                optional_cell(point.lip, Round::Up),
                optional_cell(point.ldp, Round::Up),
                point.policy_id.as_deref().unwrap_or(""),
                point.note.replace('"', "\"\"")
            );
        }
        text
    }

    /// The names of the curves, in order.
    pub fn methods(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.rows {
            if !names.contains(&point.method) {
                names.push(point.method);
            }
        }
        names
    }
}

impl Answer for CurveReport {
    fn words(&self) -> String {
        let verified = self.rows.iter().filter(|point| point.policy_id.is_some()).count();
        let missed = self.rows.iter().filter(|p| p.policy_id.is_none() && p.utility.is_some());
        let missed = missed.count();
        let levels = self.rows.iter().map(|point| point.epsilon);
        let range = match (levels.clone().reduce(f64::min), levels.reduce(f64::max)) {
            (Some(least), Some(most)) => {
                format!(" at epsilon from {} to {}", nats(least), nats(most))
            }
            _ => String::new(),
        };
        let mut words = format!(
            "{} ({} is better) of {}{range}; {verified} verified",
            self.objective,
            if self.is_gain { "more" } else { "less" },
            self.methods().join(", ")
        );
        if missed > 0 {
            words += &format!(", {missed} printed that miss their claim");
        }
        match self.rows.len() - verified - missed {
            0 => {}
            none => words += &format!(", {none} without a design"),
        }
        words + "."
    }
}
