//! What a channel or a policy reveals under every notion.

use serde::Serialize;
use undertone_core::{
    Bound, Claim, Context, Delta, Draft, Epsilon, MASS_ONE, Shape, Strength, Subject,
};
use undertone_design::measure::audit::Audit;
use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::{Channel, Distribution, Joint, Symbols, protection, quantize, to_floats};

use crate::answer::Answer;
use crate::attained::AttainedAll;
use crate::{Error, number};

/// What to audit, and how.
#[derive(Debug, Clone)]
pub struct AuditRequest {
    /// The channel and what it is about.
    pub subject: AuditSubject,
    /// Also find the least delta at this epsilon, in each convention.
    pub epsilon: Option<f64>,
    /// The order of the Sibson, Arimoto and alpha-lift measures.
    pub alpha: f64,
}

/// The channel to audit and what it is about.
#[derive(Debug, Clone)]
pub enum AuditSubject {
    /// A channel in floats, for data of this law.
    Channel {
        /// The law of the data.
        prior: Distribution,
        /// The channel, its inputs matched by the names of the prior's symbols.
        channel: Channel,
    },
    /// A secret beside the data: seen through the channel if there is one, else through the data itself.
    Secret {
        /// The joint law of secret and data.
        joint: Joint,
        /// The channel of the data.
        channel: Option<Channel>,
    },
    /// A policy: its integers, under its own prior or another.
    Policy {
        /// The policy; it need not be verified.
        draft: Box<Draft>,
        /// The prior to audit it under, instead of its own.
        prior: Option<Distribution>,
    },
}

/// The audit of a channel in floats, or of a policy's integers.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)]
pub enum AuditReport {
    /// In floats.
    Channel(ChannelAudit),
    /// Exact, from integers; averaged measures in floats where there is one prior.
    Policy(PolicyAudit),
}

/// Every measure of a channel in floats. Leakages are written rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct ChannelAudit {
    /// What is learnt about: `input` or `secret value`.
    #[serde(skip)]
    pub who: &'static str,
    /// What input indices stand for; nothing where symbols have no names.
    pub inputs: Option<Vec<String>>,
    /// What output indices stand for; nothing where outputs have no names.
    pub outputs: Option<Vec<String>>,
    /// Local differential privacy.
    #[serde(serialize_with = "number::as_bound")]
    pub ldp: f64,
    /// Two-sided local information privacy.
    #[serde(serialize_with = "number::as_bound")]
    pub lip: f64,
    /// The largest logarithm of posterior over prior.
    #[serde(serialize_with = "number::as_bound")]
    pub max_lift: f64,
    /// Minus the smallest logarithm of posterior over prior.
    #[serde(serialize_with = "number::as_bound")]
    pub min_lift: f64,
    /// The other measures.
    #[serde(flatten)]
    pub averaged: AveragedMeasures,
    /// The entropy of the secret, when one other than the data was audited.
    #[serde(serialize_with = "number::as_optional_value")]
    pub secret_entropy: Option<f64>,
    /// The least delta at the epsilon asked for.
    pub delta: Option<DeltaReport>,
    /// Where the leakages are attained.
    pub worst: WorstCells,
    /// Bounds above the measures that hold despite float arithmetic.
    pub upper_bounds: UpperBounds,
}

/// Measures that average over outputs, and those of an order alpha.
#[derive(Debug, Clone, Serialize)]
pub struct AveragedMeasures {
    /// I(X;Y).
    #[serde(serialize_with = "number::as_value")]
    pub mutual_information: f64,
    /// Maximal leakage on the prior's support.
    #[serde(serialize_with = "number::as_value")]
    pub maximal_leakage: f64,
    /// Differential identifiability on singletons.
    #[serde(serialize_with = "number::as_value")]
    pub identifiability: f64,
    /// The order of the next three.
    #[serde(serialize_with = "number::as_value")]
    pub alpha: f64,
    /// Sibson's mutual information.
    #[serde(serialize_with = "number::as_value")]
    pub sibson: f64,
    /// Arimoto's mutual information.
    #[serde(serialize_with = "number::as_value")]
    pub arimoto: f64,
    /// The logarithm of the largest alpha-lift.
    #[serde(serialize_with = "number::as_value")]
    pub alpha_lift: f64,
    /// The entropy of the data.
    #[serde(serialize_with = "number::as_value")]
    pub entropy: f64,
}

/// The least delta at an epsilon, in each convention.
#[derive(Debug, Clone, Serialize)]
pub struct DeltaReport {
    /// The epsilon.
    pub epsilon: f64,
    /// Worst input, over its outputs.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub conditional: Option<f64>,
    /// The other conventions; nothing where the channel is too large or has no single prior.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherDeltas>,
}

/// The least delta in the conventions that average over inputs.
#[derive(Debug, Clone, Serialize)]
pub struct OtherDeltas {
    /// Worst output, over inputs.
    #[serde(serialize_with = "number::as_bound")]
    pub posterior: f64,
    /// On pairs of input and output.
    #[serde(serialize_with = "number::as_bound")]
    pub joint: f64,
    /// On pairs of sets; absent when there are too many symbols to try all sets.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub joint_sets: Option<f64>,
}

/// Where leakages are attained, as indices.
#[derive(Debug, Clone, Serialize)]
pub struct WorstCells {
    /// The two inputs and the output between which likelihoods differ most.
    pub ldp: WorstPair,
    /// Where belief rises most.
    pub max_lift: WorstCell,
    /// Where belief falls most.
    pub min_lift: WorstCell,
}

/// Two inputs and an output.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WorstPair {
    /// The likelier input.
    pub high: usize,
    /// The less likely input.
    pub low: usize,
    /// The output.
    pub output: usize,
}

/// An input and an output.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WorstCell {
    /// The input.
    pub input: usize,
    /// The output.
    pub output: usize,
}

/// Bounds above measures that hold despite float arithmetic.
#[derive(Debug, Clone, Serialize)]
pub struct UpperBounds {
    #[serde(serialize_with = "number::as_bound")]
    ldp: f64,
    #[serde(serialize_with = "number::as_bound")]
    lip: f64,
    #[serde(serialize_with = "number::as_bound")]
    max_lift: f64,
    #[serde(serialize_with = "number::as_bound")]
    min_lift: f64,
    #[serde(serialize_with = "number::as_bound")]
    mutual_information: f64,
    #[serde(serialize_with = "number::as_bound")]
    maximal_leakage: f64,
}

/// What a policy's integers reveal.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyAudit {
    /// Exact leakages.
    #[serde(flatten)]
    pub attained: AttainedAll,
    /// Where and how far exactly, for callers that show it.
    #[serde(skip)]
    pub strength: (Strength, Option<Strength>),
    /// Averaged measures in floats, where the policy has one prior and a table small enough.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<AveragedMeasures>,
    /// Everything in floats, for callers that show it.
    #[serde(skip)]
    pub floats: Option<Box<ChannelAudit>>,
    /// The least delta at the epsilon asked for; in the conditional convention exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<DeltaReport>,
}

/// Audits a channel or a policy.
pub fn audit(request: &AuditRequest) -> Result<AuditReport, Error> {
    if let Some(epsilon) = request.epsilon
        && !(0.0..=700.0).contains(&epsilon)
    {
        let problem = format!("is {epsilon}: give a number from 0 to 700");
        return Err(Error::field("epsilon", problem));
    }
    let AuditRequest { subject, epsilon, alpha } = request;
    if !(*alpha >= 1.0) {
        return Err(Error::field("alpha", format!("is {alpha}: give a number of at least 1")));
    }
    match subject {
        AuditSubject::Policy { draft, prior: None } => policy(draft, *epsilon, *alpha),
        AuditSubject::Policy { draft, prior: Some(prior) } => {
            policy(&under(draft, prior)?, *epsilon, *alpha)
        }
        AuditSubject::Secret { joint, channel } => {
            let audit = Audit::of_secret(joint, channel.as_ref(), *epsilon, *alpha)?;
            let seen = match channel {
                Some(channel) => joint.through(channel)?,
                None => joint.given_secret().clone(),
            };
            floats("secret value", &audit, joint.secret(), &seen).map(AuditReport::Channel)
        }
        AuditSubject::Channel { prior, channel } => {
            let audit = Audit::of(prior, channel, *epsilon, *alpha)?;
            floats("input", &audit, prior, channel).map(AuditReport::Channel)
        }
    }
}

/// A policy's channel in the context of another prior, of the symbols the policy names.
fn under(draft: &Draft, prior: &Distribution) -> Result<Draft, Error> {
    let prior = prior.in_order_of("the prior", &Symbols::of(draft.inputs()))?;
    let context = Context::Known(quantize::prior(&prior)?.prior);
    let outputs = matches!(draft.shape(), Shape::Table(_)).then(|| draft.outputs().clone());
    // What is claimed was about another prior.
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    let (inputs, shape) = (draft.inputs().clone(), draft.shape().clone());
    Draft::new(inputs, outputs, shape, context, claims, draft.provenance().clone())
        .map_err(Error::input)
}

/// Every measure in floats, with bounds rounded outward beside those that have them.
fn floats(
    who: &'static str,
    audit: &Audit,
    prior: &Distribution,
    channel: &Channel,
) -> Result<ChannelAudit, Error> {
    let channel = &*channel.under(prior)?;
    let lip_upper = lip::upper_bound(prior, channel)?;
    let cell = |(input, output): (usize, usize)| WorstCell { input, output };
    let (high, low, output) = audit.ldp.at;
    Ok(ChannelAudit {
        who,
        inputs: labels(prior.symbols()),
        outputs: labels(channel.output_symbols()),
        ldp: audit.ldp.nats,
        lip: audit.lip.nats,
        max_lift: audit.max_lift.nats,
        min_lift: audit.min_lift.nats,
        averaged: AveragedMeasures {
            mutual_information: audit.mutual_information,
            maximal_leakage: audit.maximal_leakage,
            identifiability: audit.identifiability.nats,
            alpha: audit.alpha,
            sibson: audit.sibson,
            arimoto: audit.arimoto,
            alpha_lift: audit.alpha_lift.nats,
            entropy: audit.entropy,
        },
        secret_entropy: audit.secret_entropy,
        delta: audit.delta.map(|delta| DeltaReport {
            epsilon: delta.epsilon,
            conditional: Some(delta.conditional),
            others: Some(OtherDeltas {
                posterior: delta.posterior,
                joint: delta.joint,
                joint_sets: delta.joint_sets,
            }),
        }),
        worst: WorstCells {
            ldp: WorstPair { high, low, output },
            max_lift: cell(audit.max_lift.at),
            min_lift: cell(audit.min_lift.at),
        },
        upper_bounds: UpperBounds {
            ldp: ldp::upper_bound(channel),
            lip: lip_upper.two_sided(),
            max_lift: lip_upper.max_lift,
            min_lift: lip_upper.min_lift,
            mutual_information: mutual_information::upper_bound(prior, channel)?,
            maximal_leakage: maximal_leakage::upper_bound(prior, channel)?,
        },
    })
}

/// What indices stand for; nothing where symbols have no names.
fn labels(symbols: &Symbols) -> Option<Vec<String>> {
    symbols.are_named().then(|| (0..symbols.len()).map(|x| symbols.label(x)).collect())
}

/// The least δ at ε, exactly, rounded up to a float; `None` where the shape or context has none.
fn exact_delta(draft: &Draft, epsilon: f64) -> Option<f64> {
    if !matches!(draft.shape(), Shape::Table(_) | Shape::Keep(_)) {
        return None;
    }
    let epsilon = protection::epsilon(&epsilon.to_string()).ok()?;
    let most = Delta::from_units(MASS_ONE - 1).ok()?;
    let bound = Bound::Lip { lower: epsilon, upper: epsilon };
    let claim = Claim { about: Subject::Input, bound, delta: most };
    let policy = draft.clone().with_claims(vec![claim]).ok()?.verify().ok()?;
    let least = (*policy.certificate().deltas.first()?)?;
    Some(number::share(least.ratio))
}

fn policy(draft: &Draft, epsilon: Option<f64>, alpha: f64) -> Result<AuditReport, Error> {
    let mut measured = None;
    if let (Some(prior), Ok(channel)) =
        (to_floats::policy_prior(draft)?, to_floats::policy_channel(draft))
    {
        let audit = Audit::of(&prior, &channel, epsilon, alpha)?;
        measured = Some(floats("input", &audit, &prior, &channel)?);
    }
    let in_floats = measured.as_ref().and_then(|floats| floats.delta.clone());
    let delta = epsilon.map(|epsilon| {
        let seen = in_floats.as_ref().and_then(|delta| delta.conditional);
        let conditional = exact_delta(draft, epsilon).or(seen);
        DeltaReport { epsilon, conditional, others: in_floats.and_then(|delta| delta.others) }
    });
    Ok(AuditReport::Policy(PolicyAudit {
        attained: AttainedAll::of(draft),
        strength: draft.strength(),
        averaged: measured.as_ref().map(|floats| floats.averaged.clone()),
        floats: measured.map(Box::new),
        delta,
    }))
}

impl Answer for AuditReport {
    fn words(&self) -> String {
        let level = |value: f64| number::rounded(value, number::Round::Up);
        match self {
            Self::Channel(audit) => format!(
                "Belief about the {} moves by at most {} nats (LIP); likelihoods differ by at most {} nats (LDP).",
                audit.who,
                level(audit.lip),
                level(audit.ldp)
            ),
            Self::Policy(audit) => audit.attained.words(),
        }
    }
}
