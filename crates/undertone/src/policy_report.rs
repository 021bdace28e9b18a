//! A policy re-checked: its claims, what it attains, where its prior came from, and what an observer can learn.

use serde::{Serialize, Serializer};
use undertone_core::{
    Alphabet, Claim, Context, Draft, Family, Geometry, PolicyId, Prior, Provenance, Refusal, Shape,
    WEIGHT_ONE,
};
use undertone_design::estimation_only;
use undertone_design::survey_design::SurveyDesign;

use crate::answer::Answer;
use crate::attained::{AttainedAll, ExactRatio};
use crate::named_refusal::NamedRefusal;
use crate::risk::RiskReport;
use crate::{Error, number};

/// A policy that was re-checked: verified, or refused with the cell at fault.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyReport {
    /// What it promises.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// What its integers attain.
    pub attained: AttainedAll,
    /// The context its claims are about.
    #[serde(rename = "prior", serialize_with = "context")]
    pub context: Context,
    /// Where the context came from.
    #[serde(serialize_with = "provenance")]
    pub provenance: Provenance,
    /// Whether every claim holds.
    pub verified: bool,
    /// The verified policy's id.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "policy_id")]
    pub policy_id: Option<PolicyId>,
    /// For each claim with a delta, the least delta it would hold with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deltas: Option<Vec<Option<LeastDeltaReport>>>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalReport>,
    /// The form of its channel, in words, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Whether it promises nothing and serves estimates only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimation_only: bool,
    /// The classical survey designs that have its channel, in sentences, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<String>,
    /// What an observer can learn, where that was asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskReport>,
}

/// The least delta a claim would hold with.
#[derive(Debug, Clone, Serialize)]
pub struct LeastDeltaReport {
    /// Rounded up.
    pub delta: f64,
    /// Whether it is only a bound above the least.
    pub bound: bool,
}

/// A claim that is false, and the cell that shows it.
#[derive(Debug, Clone, Serialize)]
pub struct RefusalReport {
    /// In words.
    pub message: String,
    /// Which claim, counted from 0.
    pub claim: usize,
    side: String,
    output: Option<u32>,
    high: Option<u32>,
    low: Option<u32>,
    prior: Option<u32>,
    attained: ExactRatio,
    allowed: ExactRatio,
}

impl RefusalReport {
    fn of(refusal: &Refusal, inputs: &Alphabet, outputs: &Alphabet) -> Self {
        Self {
            message: NamedRefusal { refusal, inputs, outputs }.to_string(),
            claim: refusal.index,
            side: format!("{:?}", refusal.side).to_lowercase(),
            output: refusal.cell.output,
            high: refusal.cell.high,
            low: refusal.cell.low,
            prior: refusal.cell.prior,
            attained: refusal.attained.into(),
            allowed: refusal.allowed.into(),
        }
    }
}

/// Re-checks every claim of a policy document exactly.
pub fn verify(draft: Draft) -> PolicyReport {
    let (claims, attained) = (draft.claims().to_vec(), AttainedAll::of(&draft));
    let (context, provenance) = (draft.context().clone(), draft.provenance().clone());
    let (inputs, outputs) = (draft.inputs().clone(), draft.outputs().clone());
    let estimation_only = estimation_only::promises_nothing(draft.claims());
    let mut report = PolicyReport {
        claims,
        attained,
        context,
        provenance,
        verified: false,
        policy_id: None,
        deltas: None,
        refusal: None,
        shape: None,
        estimation_only,
        explained: Vec::new(),
        risk: None,
    };
    match draft.verify() {
        Ok(policy) => {
            let least = |least: &Option<undertone_core::LeastDelta>| {
                least.as_ref().map(|least| LeastDeltaReport {
                    delta: number::share(least.ratio),
                    bound: least.bound,
                })
            };
            report.verified = true;
            report.policy_id = Some(policy.id());
            report.deltas = Some(policy.certificate().deltas.iter().map(least).collect());
        }
        Err(refusal) => report.refusal = Some(RefusalReport::of(&refusal, &inputs, &outputs)),
    }
    report
}

/// So many beliefs are listed for programs: a million of them are gigabytes.
pub const MOST_BELIEFS: usize = 10_000;

/// Re-checks a policy document, and says what an observer can learn from one answer.
pub fn show(draft: Draft) -> Result<PolicyReport, Error> {
    let (risk, shape) = (RiskReport::of(&draft)?, channel_words(draft.shape()));
    let explained = survey_designs(&draft);
    Ok(PolicyReport { shape: Some(shape), explained, risk: Some(risk), ..verify(draft) })
}

/// The survey designs that have the draft's channel, in sentences; none unless it is a yes/no question.
fn survey_designs(draft: &Draft) -> Vec<String> {
    let designs = SurveyDesign::all_of(draft.shape());
    let label = |x: usize| draft.inputs().label(x);
    designs.iter().map(|design| design.explained(&label(0), &label(1))).collect()
}

/// What a channel does, in a few words.
pub fn channel_words(shape: &Shape) -> String {
    match shape {
        Shape::Table(table) => {
            format!("a table of {} inputs and {} outputs", table.rows().len(), table.outputs())
        }
        Shape::Keep(keep) => {
            format!("keep the answer or draw another, {} symbols", keep.keep().len())
        }
        Shape::Bits(bits) => format!("{} randomised bits", bits.symbols()),
        Shape::Incidence(incidence) => {
            let (symbols, blocks) = (incidence.symbols(), incidence.blocks().unwrap_or(0));
            match incidence.family() {
                Family::Subsets(subsets) => {
                    format!("a set of {} of the {symbols} symbols", subsets.size())
                }
                Family::Listed(_) => format!("one of {blocks} listed blocks of {symbols} symbols"),
                Family::Geometry(geometry) => {
                    let kind = geometry_words(geometry);
                    format!("one of {blocks} blocks of {symbols} symbols, {kind}")
                }
            }
        }
    }
}

fn geometry_words(geometry: &Geometry) -> String {
    let (order, dimension) = (geometry.order(), geometry.dimension());
    if geometry.is_hashing() {
        return format!("hashing into {order} buckets");
    }
    match (order, geometry.classes()) {
        (2, _) => format!("rows of a Hadamard matrix of 2^{dimension}"),
        (_, 1) => format!("hyperplanes over {order} elements in {dimension} coordinates"),
        _ => {
            let inside = geometry.inside_values();
            format!("{inside} of {order} values of a linear form in {dimension} coordinates")
        }
    }
}

impl PolicyReport {
    /// The report for programs: of more than 10,000 symbols, those an observer learns most about, and how many are left out.
    #[must_use]
    pub fn shortened(self) -> Self {
        Self { risk: self.risk.map(|risk| risk.shortened(MOST_BELIEFS)), ..self }
    }

    /// What a device makes of a policy that promises nothing.
    fn on_devices(&self) -> String {
        match self.attained.input.ldp.ln_up() {
            Some(level) => format!("It attains LDP {level} all the same, and a device judges it by that."),
            None => "A device that agrees to any finite level refuses it; an estimate from data people randomised themselves reads it.".into(),
        }
    }
}

impl Answer for PolicyReport {
    fn words(&self) -> String {
        let claims: Vec<String> = self.claims.iter().map(ToString::to_string).collect();
        let verdict = match &self.refusal {
            Some(refusal) => format!("REFUSED: {}", refusal.message),
            None if self.estimation_only => {
                format!("verified, for estimation only: it promises nothing. {}", self.on_devices())
            }
            None => format!("verified: {}", claims.join(" and ")),
        };
        let mut words = verdict;
        if let Some(id) = &self.policy_id {
            words += &format!("\npolicy id: {id}");
        }
        if let Some((first, others)) = self.explained.split_first() {
            words += &format!("\nAs a survey design: {first}");
            others.iter().for_each(|one| words += &format!("\nThe same channel: {one}"));
        }
        if let Some(risk) = &self.risk {
            words += &format!("\n{}", risk.words());
        }
        words
    }

    fn is_good(&self) -> bool {
        self.verified
    }
}

fn policy_id<S: Serializer>(id: &Option<PolicyId>, to: S) -> Result<S::Ok, S::Error> {
    id.as_ref().map(ToString::to_string).serialize(to)
}

/// A context as programs read it, in floats.
fn context<S: Serializer>(context: &Context, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Written<'a> {
        Unknown,
        Prior { p: Vec<f64> },
        Priors { list: Vec<Vec<f64>> },
        Box { lower: Vec<f64>, upper: Vec<f64> },
        Secret { name: &'a str, p: Vec<f64>, rows: Vec<Vec<f64>> },
    }
    let shares = |weights: &[u64]| weights.iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect();
    let law = |prior: &Prior| -> Vec<f64> { shares(prior.weights()) };
    let written = match context {
        Context::Unknown => Written::Unknown,
        Context::Known(prior) => Written::Prior { p: law(prior) },
        Context::Each(priors) => {
            Written::Priors { list: priors.as_slice().iter().map(law).collect() }
        }
        Context::Within(within) => {
            Written::Box { lower: shares(within.lower()), upper: shares(within.upper()) }
        }
        Context::Secret(secret) => Written::Secret {
            name: secret.name(),
            p: law(secret.prior()),
            rows: secret.rows().iter().map(law).collect(),
        },
    };
    written.serialize(to)
}

/// Where a prior came from, as programs read it.
fn provenance<S: Serializer>(provenance: &Provenance, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        source: &'a str,
        n: u64,
        date: &'a str,
        confidence: Option<String>,
        #[serde(serialize_with = "number::as_bound")]
        rounding: f64,
    }
    Written {
        source: &provenance.source,
        n: provenance.n,
        date: &provenance.date,
        confidence: provenance.confidence.map(|confidence| confidence.to_string()),
        rounding: provenance.rounding as f64 / (1u64 << 48) as f64,
    }
    .serialize(to)
}
