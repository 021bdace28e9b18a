//! From questions and a promise about the person to a verified plan.

use undertone_core::{
    Alphabet, Given, Law, LawError, Nats, PlanClaim, PlanDraft, PlanError, PlanParts, Provenance,
    Question, SecretVariable,
};
use undertone_design::plan::{
    self, Beliefs, Integers, Outline, Problem, Promise, Repeats, Target, Ways, bound,
    compared::{self, Compared},
    hidden, search, ship,
};
use undertone_design::{Distribution, Error as DesignError};

use super::joint::JointLaw;
use super::promise::NamedPromise;
use super::report::{self, Found, PlanDesign};
use super::request::PlanRequest;
use crate::error::{listed, mention};
use crate::{Error, ErrorCode};

/// Chooses levels, who answers what, and which answers are combined, within the promises, and verifies the plan.
pub fn design(request: &PlanRequest) -> Result<PlanDesign, Error> {
    let wanted = Wanted::new(request)?;
    let outline = wanted.outline()?;
    let integers = wanted.integers(&outline)?;
    let shipped = integers.outline.clone();
    let plan = wanted.plan(integers)?.verify().map_err(|refusal| {
        Error::new(ErrorCode::Refused, format!("the plan that was found is refused: {refusal}"))
    })?;
    let problem = &wanted.problem;
    if !problem.value(&shipped).is_finite() {
        let asked = &request.person.0;
        return Err(Error::new(
            ErrorCode::Uninformative,
            format!(
                "at ldp:{asked} of the person some question's answers are told by nothing: ask for a higher level, fewer questions, or fewer periods"
            ),
        ));
    }
    let found = Found {
        outline: &shipped,
        problem,
        compared: wanted.compared()?,
        bound: bound::lower(&problem.questions, &problem.targets, problem.level),
        notes: wanted.notes.clone(),
    };
    report::report(request, plan, found)
}

/// A request with everything matched by name.
struct Wanted<'a> {
    request: &'a PlanRequest,
    problem: Problem,
    beliefs: Beliefs,
    law: Law,
    secrets: Vec<SecretVariable>,
    answers: Vec<Alphabet>,
    claims: Vec<PlanClaim>,
    /// The level of one period.
    period: Nats,
    notes: Vec<String>,
}

impl<'a> Wanted<'a> {
    fn new(request: &'a PlanRequest) -> Result<Self, Error> {
        if request.periods == 0 || request.periods > PlanDraft::MAX_PERIODS {
            let problem = format!("is {}: give 1 to {}", request.periods, PlanDraft::MAX_PERIODS);
            return Err(Error::field("periods", problem));
        }
        if request.people == 0 {
            return Err(Error::field("people", "is 0: give at least 1"));
        }
        let list = &request.questions;
        let joint = match &request.joint {
            Some(joint) => Some(joint.clone()),
            None => JointLaw::of_priors(list)?,
        };
        let (law, secrets) = match joint {
            Some(joint) => (joint.law, joint.secrets),
            None => (Law::Unknown, Vec::new()),
        };
        let answers: Vec<Alphabet> =
            list.questions.iter().map(|question| question.answers.clone()).collect();
        let sizes = answers.iter().map(Alphabet::len);
        let sizes: Vec<usize> = sizes.chain(secrets.iter().map(|s| s.values.len())).collect();
        let (claims, promises) = promises(request, &law, &secrets)?;
        let beliefs = Beliefs::new(&law, sizes, promises);
        let mut period = Nats::from_units(request.person.0.units() / u64::from(request.periods));
        if request.periods > 1 {
            // The kernel then bounds belief by the whole LDP, so promises about belief are limits on that.
            let limit = |promise| beliefs.whatever(promise) / f64::from(request.periods);
            let limit = beliefs.promises().iter().map(limit).fold(f64::INFINITY, f64::min);
            period = period.min(Nats::from_units((limit * (1.0 - 1e-9) * 1e10) as u64));
        }
        let mut notes = Vec::new();
        let problem = problem(request, &beliefs, float(period), &mut notes)?;
        if !beliefs.promises().is_empty() {
            notes.push("Equal splitting, one question each and combined symbols are compared turned down until they keep the promises about belief, too; RS+FD at the person's LDP alone.".into());
        }
        Ok(Self { request, problem, beliefs, law, secrets, answers, claims, period, notes })
    }

    fn outline(&self) -> Result<Outline, Error> {
        if self.beliefs.promises().is_empty() || self.request.periods > 1 {
            return Ok(search::best(&self.problem)?);
        }
        Ok(hidden::best(&self.problem, &self.beliefs, &|outline| self.accepts(outline))?)
    }

    /// Whether the kernel verifies an outline's plan.
    fn accepts(&self, outline: &Outline) -> Result<bool, DesignError> {
        let draft = self.integers(outline).and_then(|integers| self.plan(integers));
        let draft = draft.map_err(|error| DesignError::other("plan", error.to_string()))?;
        Ok(draft.verify().is_ok())
    }

    /// What simpler plans are worth, turned down until they keep the promises about belief, too.
    fn compared(&self) -> Result<Compared, Error> {
        let found = compared::compared(&self.problem);
        if self.beliefs.promises().is_empty() || self.request.periods > 1 {
            return Ok(found);
        }
        let ways = Ways { listed: true, ..self.problem.ways };
        let problem = Problem { ways, ..self.problem.clone() };
        let worth = |outline: &Outline| -> Result<Option<f64>, Error> {
            let kept = hidden::turned_down(&problem, outline, &|outline| self.accepts(outline))?;
            let value = kept.map(|outline| problem.value(&outline));
            Ok(value.filter(|value| value.is_finite()))
        };
        let combined = compared::combined(&problem).map(|outline| worth(&outline));
        Ok(Compared {
            equal_split: worth(&compared::equal_split(&problem))?,
            one_each: worth(&compared::one_each(&problem))?,
            combined: combined.transpose()?.flatten(),
            ..found
        })
    }

    fn integers(&self, outline: &Outline) -> Result<Integers, Error> {
        Ok(ship::ship(outline, &self.problem.questions, &self.answers, self.period)?)
    }

    fn plan(&self, integers: Integers) -> Result<PlanDraft, Error> {
        let question = |asked: &super::AskedQuestion| Question {
            name: asked.name.clone(),
            wording: asked.wording.clone(),
            answers: asked.answers.clone(),
        };
        let Integers { items, asked, policies, .. } = integers;
        let parts = PlanParts {
            questions: self.request.questions.questions.iter().map(question).collect(),
            secrets: self.secrets.clone(),
            law: self.law.clone(),
            items,
            asked,
            periods: self.request.periods,
            claims: self.claims.clone(),
            provenance: Provenance { source: self.request.source.clone(), ..Provenance::default() },
            policies,
        };
        let names: Vec<(String, Alphabet)> = {
            let questions = parts.questions.iter().map(|q| (q.name.clone(), q.answers.clone()));
            let secrets = parts.secrets.iter().map(|s| (s.name.clone(), s.values.clone()));
            questions.chain(secrets).collect()
        };
        PlanDraft::new(parts).map_err(|error| match error {
            PlanError::Law(LawError::Nought { variable, value }) => {
                let (name, values) = &names[variable];
                Error::input(format!(
                    "{:?} of {name:?} has probability nought under the law: leave it out or give it some",
                    values.label(value)
                ))
            }
            other => Error::input(other),
        })
    }
}

/// The part of a period's level that one report attains if nothing else is said.
const HALF: f64 = 0.5;

fn float(nats: Nats) -> f64 {
    nats.units() as f64 / 1e10
}

/// The promises, as claims and as numbers.
fn promises(
    request: &PlanRequest,
    law: &Law,
    secrets: &[SecretVariable],
) -> Result<(Vec<PlanClaim>, Vec<Promise>), Error> {
    let list = &request.questions;
    let mut claims = vec![PlanClaim::Person { ldp: request.person.0 }];
    let mut found = Vec::new();
    let some = |promise: &NamedPromise, field: &str| {
        let said = "has a level of 0, at which nothing that tells about it can be asked: give a level above 0";
        let none = promise.lower == Nats::ZERO || promise.upper == Nats::ZERO;
        match none {
            true => Err(Error::field(field, format!(": {:?} {said}", promise.name))),
            false => Ok((promise.lower, promise.upper)),
        }
    };
    for promise in &request.beliefs {
        let (lower, upper) = some(promise, "question")?;
        let which = list.place(&promise.name);
        let which = which.map_err(|problem| Error::field("question", format!(": {problem}")))?;
        if *law == Law::Unknown {
            let problem = format!(
                ": a promise about belief in {:?} needs to know what is believed before: give the questions priors, or a joint law",
                promise.name
            );
            return Err(Error::field("question", problem));
        }
        let given = Given::All;
        claims.push(PlanClaim::Question { which: which as u32, given, lower, upper });
        found.push(Promise { variable: which, lower: float(lower), upper: float(upper) });
    }
    for promise in &request.secrets {
        let (lower, upper) = some(promise, "secret")?;
        let names: Vec<String> = secrets.iter().map(|secret| secret.name.clone()).collect();
        let Some(which) = names.iter().position(|name| *name == promise.name) else {
            let known = match names.is_empty() {
                true => "there are none: give a joint law that has it".into(),
                false => format!("they are {}", listed(names.into_iter(), 12)),
            };
            let problem = format!(": {:?} is no secret of the joint law; {known}", promise.name);
            return Err(Error::field("secret", problem));
        };
        claims.push(PlanClaim::Secret { which: which as u32, lower, upper });
        let variable = list.questions.len() + which;
        found.push(Promise { variable, lower: float(lower), upper: float(upper) });
    }
    Ok((claims, found))
}

/// What is to be minimised: shares from the request, else the law's, else all alike.
fn problem(
    request: &PlanRequest,
    beliefs: &Beliefs,
    level: f64,
    notes: &mut Vec<String>,
) -> Result<Problem, Error> {
    let list = &request.questions;
    let mut questions = Vec::with_capacity(list.questions.len());
    for (at, question) in list.questions.iter().enumerate() {
        let law = beliefs.marginal(at);
        if let (Some(prior), Some(law)) = (&question.prior, &law) {
            let off = prior.as_slice().iter().zip(law).map(|(a, b)| (a - b).abs());
            if off.fold(0.0, f64::max) > 1e-6 {
                let name = &question.name;
                notes.push(format!(
                    "The prior of {name:?} differs from the joint law's, which counts."
                ));
            }
        }
        let shares = match (&question.shares, law) {
            (Some(shares), _) => shares.clone(),
            (None, Some(law)) => Distribution::normalised("shares", law)?,
            (None, None) => Distribution::uniform(question.answers.len()),
        };
        let what = format!("question {:?}", question.name);
        questions.push(plan::Question::new(&what, shares, question.weight)?);
    }
    let pair = |&(one, other): &(usize, usize)| {
        Target::pair(&questions, one, other, beliefs.squares(one, other))
    };
    let pairs = list.pairs.iter().map(pair).collect();
    // No item can be asked above the largest level the kernel writes.
    let level = level.min(float(undertone_core::Epsilon::LARGEST.nats()));
    let repeats = repeats(request, level)?;
    Ok(Problem::new(questions, pairs, level, repeats)?)
}

fn repeats(request: &PlanRequest, level: f64) -> Result<Option<Repeats>, Error> {
    let Some(reports) = request.reports else {
        return match request.first_report {
            None => Ok(None),
            Some(_) => {
                let problem =
                    format!("is about repeated reports: give {}, too", mention("reports"));
                Err(Error::field("first_report", problem))
            }
        };
    };
    if reports == 0 {
        return Err(Error::field("reports", "is 0: give at least 1"));
    }
    let first = request.first_report.map_or(HALF, |nats| float(nats) / level);
    if !(first > 0.0 && first < 1.0) {
        let problem = format!(
            "is {} nats where any number of reports attain {level}: give a level above 0 and below that",
            first * level
        );
        return Err(Error::field("first_report", problem));
    }
    Ok(Some(Repeats { reports, first }))
}
