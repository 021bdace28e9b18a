//! What one guarantee says about another notion of privacy.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use undertone_design::{Channel, Joint};
use undertone_theory::relation::{self, Missing, RelationOutcome, Setting};

pub use undertone_design::measure::delta::Convention;
pub use undertone_theory::relation::{Guarantee, Notion};

use crate::answer::Answer;
use crate::document::{Prior, PriorSet};
use crate::number::Round;
use crate::{Error, number};

/// A guarantee, the notion that is asked about, and what is known of the data.
///
/// ```
/// use undertone::relate::{RelateRequest, relate};
/// use undertone::{Answer, Prior};
///
/// let mut request = RelateRequest::parse("lip:1", "ldp")?;
/// request.priors = vec![Prior::named([("no", 0.9), ("yes", 0.1)])?];
/// let report = relate(&request)?;
/// assert_eq!(report.json()["epsilon"], 1.2118577304);
/// # Ok::<(), undertone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RelateRequest {
    /// The guarantee that holds.
    pub from: Guarantee,
    /// The notion asked about.
    pub to: Notion,
    /// The prior of the data (of the private hypothesis for `infdp`, `avgleak` and `infp`); several are the set of
    /// priors of `bplip`. Empty if none is known.
    pub priors: Vec<Prior>,
    /// A lower bound on the smallest probability, when the prior is not known.
    pub p_min: Option<f64>,
    /// How many symbols the data has, when the prior is not known.
    pub symbols: Option<usize>,
    /// How many sensors report.
    pub sensors: Option<usize>,
    /// How many binary private hypotheses there are.
    pub secrets: Option<usize>,
    /// The order of `sibson`, `arimoto` and `alphalift`.
    pub alpha: Option<f64>,
    /// The largest log ratio of the data's law between neighbours, for `ident`.
    pub spread: Option<f64>,
    /// In which convention delta is meant.
    pub convention: Option<Convention>,
}

impl RelateRequest {
    /// A question about which nothing else is known.
    pub fn new(from: Guarantee, to: Notion) -> Self {
        Self {
            from,
            to,
            priors: Vec::new(),
            p_min: None,
            symbols: None,
            sensors: None,
            secrets: None,
            alpha: None,
            spread: None,
            convention: None,
        }
    }

    /// The question in the words people write: `lip:1`, `lip:1,0.01` or `alip:0.5,1`, and a notion such as `ldp`.
    pub fn parse(from: &str, to: &str) -> Result<Self, Error> {
        let from = from.parse().map_err(|error| blamed("from", error))?;
        let to = to.parse().map_err(|error| blamed("to", error))?;
        Ok(Self::new(from, to))
    }

    /// The question with a delta in this convention: `conditional`, `posterior`, `joint` or `joint_sets`.
    pub fn in_convention(self, convention: &str) -> Result<Self, Error> {
        let convention = convention.parse().map_err(|error| blamed("convention", error))?;
        Ok(Self { convention: Some(convention), ..self })
    }

    /// Refuses numbers that cannot be, whatever the prior.
    fn check_numbers(&self) -> Result<(), Error> {
        let (p_min, symbols) = (self.p_min, self.symbols);
        for (field, numbers) in [
            ("p_min", Setting { p_min, ..Setting::default() }),
            ("symbols", Setting { symbols, ..Setting::default() }),
            ("p_min", Setting { p_min, symbols, ..Setting::default() }),
            ("sensors", Setting { sensors: self.sensors, ..Setting::default() }),
            ("secrets", Setting { secrets: self.secrets, ..Setting::default() }),
            ("alpha", Setting { alpha: self.alpha, ..Setting::default() }),
            ("spread", Setting { spread: self.spread, ..Setting::default() }),
        ] {
            numbers.check().map_err(|error| blamed(field, error))?;
        }
        Ok(())
    }
}

/// A field of the request, and what is wrong with it in the words of whoever reads it.
fn blamed(field: &str, error: undertone_design::Error) -> Error {
    Error::field(field, format!(": {error}"))
}

/// What follows from a guarantee: another one, nothing, or nothing unless more is known.
#[derive(Debug, Clone, Serialize)]
pub struct RelateReport {
    /// The guarantee that was given.
    pub from: GivenGuarantee,
    /// The notion asked about.
    #[serde(serialize_with = "number::as_text")]
    pub to: Notion,
    /// Whether anything follows; nothing where that cannot be said without what `needs` lists.
    pub implies: Option<bool>,
    /// The budget that follows, in nats.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub epsilon: Option<f64>,
    /// The delta that follows.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub delta: Option<f64>,
    /// Whether a channel in real numbers attains the budget under the prior.
    pub exact: bool,
    /// The channel that attains it, one row per input.
    pub witness: Option<Vec<Vec<f64>>>,
    /// The rules that lead there, in order.
    pub steps: Vec<RelationStep<ImpliedGuarantee>>,
    /// The guarantee that follows, and others beside it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub implied: Option<Implied>,
    /// What has to be known before anything can be said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Why nothing follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<CounterexampleReport>,
}

/// A guarantee that follows, and others beside it.
#[derive(Debug, Clone, Serialize)]
pub struct Implied {
    /// What follows.
    #[serde(skip)]
    pub guarantee: ImpliedGuarantee,
    /// The budget of the lower side.
    #[serde(serialize_with = "number::as_bound")]
    pub lower: f64,
    /// The budget of the upper side.
    #[serde(serialize_with = "number::as_bound")]
    pub upper: f64,
    /// Against what delta is measured.
    #[serde(serialize_with = "number::as_text")]
    pub convention: Convention,
    /// What closed forms alone give.
    pub closed_form: Option<ImpliedGuarantee>,
    /// What the papers' own formulas give.
    pub printed: Option<PrintedReport>,
    /// With a delta, other pairs that follow and are neither better nor worse.
    pub alternatives: Vec<ImpliedGuarantee>,
}

/// A guarantee as it was given, or as a paper prints it: its numbers are written to the nearest decimal.
#[derive(Debug, Clone, Copy)]
pub struct GivenGuarantee(pub Guarantee);

/// A guarantee that follows: its numbers are written rounded up.
#[derive(Debug, Clone, Copy)]
pub struct ImpliedGuarantee(pub Guarantee);

impl GivenGuarantee {
    /// The notion and its numbers, as in `lip:1`.
    pub fn words(&self) -> String {
        guarantee_words(&self.0, Round::Nearest)
    }
}

impl ImpliedGuarantee {
    /// The notion and its numbers, rounded up, as in `ldp:1.2118577304`.
    pub fn words(&self) -> String {
        guarantee_words(&self.0, Round::Up)
    }
}

impl Serialize for GivenGuarantee {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize_guarantee(&self.0, Round::Nearest, to)
    }
}

impl Serialize for ImpliedGuarantee {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize_guarantee(&self.0, Round::Up, to)
    }
}

fn guarantee_words(guarantee: &Guarantee, round: Round) -> String {
    let show = |value: f64| number::rounded(value, round);
    let mut text = if guarantee.notion() == Notion::Alip {
        format!("{}:{},{}", guarantee.notion(), show(guarantee.lower()), show(guarantee.upper()))
    } else {
        format!("{}:{}", guarantee.notion(), show(guarantee.epsilon()))
    };
    if !guarantee.is_pure() {
        text += &format!(" with delta {} ({})", show(guarantee.delta()), guarantee.convention());
    }
    text
}

fn serialize_guarantee<S: Serializer>(
    guarantee: &Guarantee,
    round: Round,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = to.serialize_struct("Guarantee", 6)?;
    fields.serialize_field("notion", &guarantee.notion().to_string())?;
    for (name, value) in [
        ("epsilon", guarantee.epsilon()),
        ("lower", guarantee.lower()),
        ("upper", guarantee.upper()),
        ("delta", guarantee.delta()),
    ] {
        fields.serialize_field(name, &number::number_to(value, round))?;
    }
    fields.serialize_field("convention", &guarantee.convention().to_string())?;
    fields.end()
}

/// One rule of a chain, and the guarantee after it.
#[derive(Debug, Clone, Serialize)]
pub struct RelationStep<G> {
    /// What the rule says.
    pub rule: &'static str,
    /// Paper key and number, or `derived`.
    pub paper: &'static str,
    /// Its formula.
    pub formula: &'static str,
    /// The guarantee after this step.
    pub gives: G,
}

/// What the papers' own formulas give, right or wrong.
#[derive(Debug, Clone, Serialize)]
pub struct PrintedReport {
    /// The guarantee they claim.
    pub gives: GivenGuarantee,
    /// How the worst of the formulas used stands: true, loose or false.
    pub verdict: String,
    /// The steps, with the printed formulas.
    pub steps: Vec<RelationStep<GivenGuarantee>>,
}

/// Something that has to be known before anything can be said.
#[derive(Debug, Clone, Copy)]
pub struct Need(pub Missing);

impl Need {
    /// What is missing and the fields of the request that say it, called as the caller knows them.
    pub fn called(&self, name: impl Fn(&str) -> String) -> String {
        let fields: Vec<String> = self.0.fields().iter().map(|field| name(field)).collect();
        match fields.is_empty() {
            true => self.0.describe().into(),
            false => format!("{} ({})", self.0.describe(), fields.join(" or ")),
        }
    }
}

impl Serialize for Need {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.called(str::to_owned))
    }
}

/// Mechanisms that keep the guarantee and leak in the notion asked about.
#[derive(Debug, Clone, Serialize)]
pub struct CounterexampleReport {
    /// Paper key and number, or `derived`.
    pub paper: &'static str,
    /// The mechanisms, in words.
    pub words: &'static str,
    /// The notion that stays large; the one asked about implies it.
    #[serde(serialize_with = "number::as_text")]
    pub large: Notion,
    /// One that keeps the guarantee, if the budget leaves room for it.
    pub member: Option<MemberReport>,
}

/// A mechanism that keeps the guarantee and leaks in another notion.
#[derive(Debug, Clone, Serialize)]
pub struct MemberReport {
    /// The law of the data.
    pub prior: Vec<f64>,
    /// The law of a private hypothesis beside it.
    pub joint: Option<JointReport>,
    /// The mechanism, one row per input.
    pub channel: Vec<Vec<f64>>,
    /// So many independent copies of all of it, side by side.
    pub copies: usize,
    /// What it leaks in the notion that stays large.
    #[serde(serialize_with = "number::as_value")]
    pub leakage: f64,
}

/// A private hypothesis and the data given each of its values.
#[derive(Debug, Clone, Serialize)]
pub struct JointReport {
    /// The law of the hypothesis.
    pub secret: Vec<f64>,
    /// The law of the data, one row per value of the hypothesis.
    pub given: Vec<Vec<f64>>,
}

impl From<&Joint> for JointReport {
    fn from(joint: &Joint) -> Self {
        Self { secret: joint.secret().as_slice().to_vec(), given: rows(joint.given_secret()) }
    }
}

fn rows(channel: &Channel) -> Vec<Vec<f64>> {
    channel.rows().iter().map(|row| row.as_slice().to_vec()).collect()
}

/// Says what a guarantee implies about a notion, as tightly as is known: with a prior the supremum over all
/// mechanisms, without one the best chain of closed forms.
pub fn relate(request: &RelateRequest) -> Result<RelateReport, Error> {
    let RelateRequest { to, sensors, secrets, alpha, spread, symbols, convention, .. } = *request;
    let mut from = request.from;
    if let Some(convention) = convention.filter(|_| !from.is_pure()) {
        let told = from.with_delta(from.delta(), convention);
        from = told.map_err(|error| blamed("convention", error))?;
    }
    request.check_numbers()?;
    let mut priors = PriorSet::new(&request.priors)?.into_laws();
    let set = [from.notion(), to].contains(&Notion::Bplip);
    let prior = if set || priors.is_empty() { None } else { Some(priors.remove(0)) };
    if !set && !priors.is_empty() {
        let problem = "was given several times: a set of priors belongs to bplip";
        return Err(Error::field("prior", problem));
    }
    let setting =
        Setting { priors, symbols, sensors, secrets, alpha, spread, convention, ..Setting::new() }
            .with_context(from.notion(), to, prior, request.p_min);
    let outcome = relation::relate(&from, to, &setting)?.outcome;
    let nothing = RelateReport {
        from: GivenGuarantee(from),
        to,
        implies: None,
        epsilon: None,
        delta: None,
        exact: false,
        witness: None,
        steps: Vec::new(),
        implied: None,
        needs: Vec::new(),
        counterexample: None,
    };
    Ok(match outcome {
        RelationOutcome::Holds(holds) => holding(nothing, holds),
        RelationOutcome::Needs { missing } => {
            RelateReport { needs: missing.into_iter().map(Need).collect(), ..nothing }
        }
        RelationOutcome::NoImplication(example) => RelateReport {
            implies: Some(false),
            counterexample: Some(CounterexampleReport {
                paper: example.paper,
                words: example.words,
                large: example.large,
                member: example.member.map(|member| MemberReport {
                    prior: member.prior.as_slice().to_vec(),
                    joint: member.joint.as_ref().map(Into::into),
                    channel: rows(&member.channel),
                    copies: member.copies,
                    leakage: member.leakage,
                }),
            }),
            ..nothing
        },
    })
}

fn holding(nothing: RelateReport, holds: relation::Holds) -> RelateReport {
    let found = holds.guarantee;
    let printed = holds.printed.map(|printed| PrintedReport {
        gives: GivenGuarantee(printed.guarantee),
        verdict: printed.verdict.to_string(),
        steps: steps(&printed.steps, GivenGuarantee),
    });
    RelateReport {
        implies: Some(true),
        epsilon: Some(found.epsilon()),
        delta: Some(found.delta()),
        exact: holds.exact,
        witness: holds.witness.as_ref().map(rows),
        steps: steps(&holds.steps, ImpliedGuarantee),
        implied: Some(Implied {
            guarantee: ImpliedGuarantee(found),
            lower: found.lower(),
            upper: found.upper(),
            convention: found.convention(),
            closed_form: holds.closed_form.map(ImpliedGuarantee),
            printed,
            alternatives: holds.alternatives.into_iter().map(ImpliedGuarantee).collect(),
        }),
        ..nothing
    }
}

fn steps<G>(steps: &[relation::Step], gives: fn(Guarantee) -> G) -> Vec<RelationStep<G>> {
    let step = |step: &relation::Step| RelationStep {
        rule: step.rule,
        paper: step.paper,
        formula: step.formula,
        gives: gives(step.guarantee),
    };
    steps.iter().map(step).collect()
}

impl RelateReport {
    /// What follows, in one sentence; fields of the request are called as the caller knows them.
    pub fn headline(&self, name: impl Fn(&str) -> String) -> String {
        let (from, to) = (self.from.words(), self.to);
        if let Some(implied) = &self.implied {
            let kind = match self.exact {
                true => "exactly, over all channels in real numbers under this prior",
                false => "at most",
            };
            return format!("{from} implies {} ({kind})", implied.guarantee.words());
        }
        if let Some(example) = &self.counterexample {
            let (words, paper) = (example.words, example.paper);
            return format!("{from} implies nothing about {to}: {words} ({paper})");
        }
        let needs: Vec<String> = self.needs.iter().map(|need| need.called(&name)).collect();
        format!("{from} may imply {to}, but that needs {}", needs.join("; "))
    }

    /// What else is worth knowing, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(implied) = &self.implied {
            if self.exact {
                said.push(
                    "A policy is rounded to integers, its prior to 2^-32, and can attain a little more: its certificate says what it attains."
                        .into(),
                );
            }
            if let Some(printed) = &implied.printed {
                let (gives, verdict) = (printed.gives.words(), &printed.verdict);
                said.push(format!("As printed in the papers: {gives} ({verdict})"));
            }
            if let Some(closed) = implied.closed_form.filter(|_| self.exact) {
                let closed = closed.words();
                said.push(format!("Closed form without the exact computation: {closed}"));
            }
        }
        let example = self.counterexample.as_ref();
        if let Some((member, large)) = example.and_then(|e| Some((e.member.as_ref()?, e.large))) {
            let leakage = number::nats(member.leakage);
            said.push(format!("A mechanism within the budget leaks {leakage} in {large}."));
        }
        said
    }
}

impl Answer for RelateReport {
    fn words(&self) -> String {
        let mut lines = vec![self.headline(str::to_owned)];
        lines.extend(self.remarks());
        lines.join("\n")
    }

    fn is_good(&self) -> bool {
        self.implies.is_some()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_missing_is_called_by_the_field_of_the_request() {
        let report = relate(&RelateRequest::parse("lip:1", "sibson").unwrap()).unwrap();
        assert!(!report.is_good());
        assert!(report.words().ends_with("needs the order alpha (alpha)"), "{}", report.words());
        assert_eq!(report.json()["needs"][0], "the order alpha (alpha)");
        let option = |field: &str| format!("--{field}");
        assert!(report.headline(option).ends_with("(--alpha)"));
    }

    #[test]
    fn a_field_that_cannot_be_is_named() {
        let mut request = RelateRequest::parse("lip:1", "ldp").unwrap();
        request.p_min = Some(2.0);
        let error = relate(&request).unwrap_err();
        assert_eq!(error.blamed(), Some("p_min"), "{error}");
        let error = RelateRequest::parse("lip", "ldp").unwrap_err();
        assert!(error.to_string().starts_with("from: "), "{error}");
    }
}
