//! What came of a design.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use undertone_core::{Alphabet, Claim, Policy, PolicyId, Refusal};
use undertone_design::continuous::{Kept, Parameter};
use undertone_design::designer::{Comparison, PrintedLevel};
use undertone_design::measure::delta::Convention;
use undertone_design::shape_facts::ShapeFacts;
use undertone_design::{Channel, Distribution};

use crate::answer::Answer;
use crate::attained::{AttainedAll, ExactRatio};
use crate::named_refusal::NamedRefusal;
use crate::number::{self, Round, nats, rounded};
use crate::{Error, ErrorCode};

/// A verified policy with what an honest reader wants beside it, or a formula that does not keep its claim.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "refusals are shown at once, not stored")]
pub enum DesignReport {
    /// A verified policy.
    Verified(Box<VerifiedDesign>),
    /// Printed or given noise that leaks more than it claims.
    Refused(RefusedDesign),
}

/// A verified policy and what it is worth.
#[derive(Debug, Clone, Serialize)]
pub struct VerifiedDesign {
    /// The policy.
    #[serde(skip)]
    pub policy: Policy,
    /// Its id.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// The method that found it.
    pub method: &'static str,
    /// Why that method was taken, where nobody asked for one and it is not the optimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method_note: Option<String>,
    /// What it is for.
    pub objective: &'static str,
    /// Whether more of the objective is better.
    #[serde(skip)]
    pub is_gain: bool,
    /// What the objective is worth on the policy's integers; nothing where that has no meaning, or takes too long.
    #[serde(serialize_with = "number::as_optional_value")]
    pub utility: Option<f64>,
    /// What it was worth before rounding and repair.
    #[serde(serialize_with = "number::as_optional_value")]
    pub optimum: Option<f64>,
    /// A bound nobody can pass, where there is one.
    pub bound: Option<UtilityBound>,
    /// The share of noise mixed in for the kernel to accept.
    #[serde(serialize_with = "number::as_value")]
    pub mixed: f64,
    /// What its shape costs on the wire, and how well it tells of symbols nobody has.
    #[serde(flatten)]
    pub facts: ShapeReport,
    /// P(output|input) of the integers, its columns ordered by their most likely input; nothing where that is too
    /// large to list.
    pub channel: Option<Vec<Vec<f64>>>,
    /// The outputs of those columns.
    pub outputs: Vec<String>,
    /// Parameters of the method, by name.
    pub parameters: DesignParameters,
    /// What was asked for.
    pub requested: Vec<String>,
    /// What the integers attain.
    pub attained: DesignAttained,
    /// What the objective is worth under LDP, and without any report.
    pub comparison: DesignComparison,
    /// What the reports do not tell, however many there are.
    pub uninformative: Option<String>,
    /// What is said of symbols, or of numbers, only.
    #[serde(flatten)]
    pub details: DesignDetails,
}

/// What a shape costs on the wire, and how well it tells of symbols nobody has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShapeReport {
    /// What the policy's document calls the shape.
    pub shape: &'static str,
    /// How many bits one report's token needs.
    pub report_bits: u64,
    /// n times the variance of one share whose true frequency is nought, at worst; nothing for numbers, where some share is not determined,
    /// or where it takes too long.
    #[serde(serialize_with = "number::as_optional_value")]
    pub variance_at_zero: Option<f64>,
}

impl From<ShapeFacts> for ShapeReport {
    fn from(ShapeFacts { shape, report_bits, variance_at_zero }: ShapeFacts) -> Self {
        Self { shape, report_bits, variance_at_zero }
    }
}

/// A bound on a utility that nobody can pass, written rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UtilityBound {
    /// The bound.
    pub value: f64,
    /// Whether more is better: then it is a bound from above.
    pub is_gain: bool,
}

impl UtilityBound {
    /// Which way it is rounded.
    pub fn round(&self) -> Round {
        if self.is_gain { Round::Up } else { Round::Down }
    }
}

impl Serialize for UtilityBound {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        number::number_to(self.value, self.round()).serialize(to)
    }
}

/// Parameters of a method by name, in the order they are shown; each is one number, or one for every input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DesignParameters(pub Vec<(&'static str, Parameter)>);

impl DesignParameters {
    pub(super) fn of(list: &[(&'static str, f64)]) -> Self {
        Self(list.iter().map(|&(name, value)| (name, Parameter::One(value))).collect())
    }

    /// A parameter that is one number.
    pub fn one(&self, name: &str) -> Option<f64> {
        self.0.iter().find_map(|(known, parameter)| match parameter {
            Parameter::One(value) if *known == name => Some(*value),
            _ => None,
        })
    }

    /// The parameters in a sentence; empty if there are none.
    pub fn words(&self) -> String {
        let value = |parameter: &Parameter| match parameter {
            Parameter::One(value) => nats(*value),
            Parameter::Each(values) => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("{} to {}", nats(least), nats(most))
            }
        };
        if self.0.is_empty() {
            return String::new();
        }
        let one = |(name, parameter): &(&str, Parameter)| format!("{name} = {}", value(parameter));
        let list: Vec<String> = self.0.iter().map(one).collect();
        format!("Parameters: {}.", list.join(", "))
    }
}

impl Serialize for DesignParameters {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, parameter) in &self.0 {
            match parameter {
                Parameter::One(value) => map.serialize_entry(name, &number::number(*value))?,
                Parameter::Each(values) => {
                    let values: Vec<_> =
                        values.iter().map(|value| number::number(*value)).collect();
                    map.serialize_entry(name, &values)?;
                }
            }
        }
        map.end()
    }
}

/// What a verified policy attains.
#[derive(Debug, Clone, Serialize)]
pub struct DesignAttained {
    /// The leakages.
    #[serde(flatten)]
    pub leakages: AttainedAll,
    /// The largest of the least deltas its claims hold with, rounded up; nothing without a delta.
    pub delta: Option<f64>,
}

impl From<&Policy> for DesignAttained {
    fn from(policy: &Policy) -> Self {
        let certificate = policy.certificate();
        let delta = certificate.deltas.iter().flatten().map(|least| least.ratio).max();
        Self {
            leakages: AttainedAll {
                input: (&certificate.input).into(),
                secret: certificate.secret.as_ref().map(Into::into),
            },
            delta: delta.map(number::share),
        }
    }
}

/// What the same objective is worth otherwise.
#[derive(Debug, Clone, Serialize)]
pub struct DesignComparison {
    /// The level compared with.
    #[serde(serialize_with = "number::as_bound")]
    pub epsilon: f64,
    /// The LDP optimum at that level; nothing where it takes too long, or tells nothing.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp: Option<f64>,
    /// The LDP optimum at twice that level.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp_twice: Option<f64>,
    /// The best guess without any report.
    #[serde(serialize_with = "number::as_value")]
    pub blind: f64,
}

impl From<Comparison> for DesignComparison {
    fn from(Comparison { epsilon, ldp, ldp_twice, blind }: Comparison) -> Self {
        Self { epsilon, ldp, ldp_twice, blind }
    }
}

/// What a design says of symbols, or of numbers, only.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum DesignDetails {
    /// Of symbols.
    Symbols(SymbolDetails),
    /// Of numbers.
    Numbers(NumberDetails),
}

/// What a design over symbols says besides.
#[derive(Debug, Clone, Serialize)]
pub struct SymbolDetails {
    /// What the rows of the channel are, where it is listed.
    pub inputs: Option<Vec<String>>,
    /// For a printed formula: what it claims and what it attains.
    pub published: Option<PrintedReport>,
    /// Of several claims, what each costs alone.
    pub alone: Vec<ClaimAlone>,
    /// What somebody who asked for this would rather know before shipping it.
    pub advice: Option<String>,
}

/// What one of several claims costs alone.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimAlone {
    /// The claim.
    pub claim: String,
    /// The utility of the design that claims nothing else.
    #[serde(serialize_with = "number::as_value")]
    pub utility: f64,
    /// Whether the other claims cost nothing.
    pub decides: bool,
}

/// What a design over numbers says besides.
#[derive(Debug, Clone, Serialize)]
pub struct NumberDetails {
    /// What the policy claims, in the conditional convention.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// What the deltas asked for bound.
    #[serde(serialize_with = "number::as_text")]
    pub convention: Convention,
    /// For a printed formula: what it claims and what its density keeps.
    pub published: Option<KeptReport>,
    /// What the noise was meant to keep and what its density keeps.
    pub density: Option<KeptReport>,
    /// Which numbers the symbols stand for.
    pub codebook: CodebookReport,
    /// The shares of an assumed law below and above the range.
    pub clipped: Option<[f64; 2]>,
    /// Bins without mass, which were given the least a policy can carry.
    pub floored: Vec<String>,
}

/// Which numbers the symbols of a policy stand for.
#[derive(Debug, Clone, Serialize)]
pub struct CodebookReport {
    /// What numbers are clipped to.
    pub range: [f64; 2],
    /// How many inputs there are.
    pub inputs: usize,
    /// How many outputs there are.
    pub outputs: usize,
}

/// A printed formula's level, as claimed and as it is; both are written rounded up.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PrintedReport {
    /// As claimed.
    #[serde(serialize_with = "number::as_bound")]
    pub claimed: f64,
    /// As attained.
    #[serde(serialize_with = "number::as_bound")]
    pub attained: f64,
}

impl From<PrintedLevel> for PrintedReport {
    fn from(PrintedLevel { claimed, attained }: PrintedLevel) -> Self {
        Self { claimed, attained }
    }
}

/// What noise was meant to keep and what its density keeps, before it is put in bins.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KeptReport {
    /// The epsilon, at the claimed delta.
    #[serde(flatten)]
    pub epsilon: PrintedReport,
    /// The delta, at the claimed epsilon; nothing for pure claims.
    pub delta: Option<PrintedReport>,
}

impl From<&Kept> for KeptReport {
    fn from(kept: &Kept) -> Self {
        Self { epsilon: kept.epsilon.into(), delta: kept.delta.map(Into::into) }
    }
}

/// Printed or given noise that leaks more than it claims.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedDesign {
    /// Always nothing: there is no policy.
    #[serde(serialize_with = "number::as_optional_text")]
    pub policy_id: Option<PolicyId>,
    /// The method that was asked for.
    pub method: &'static str,
    /// What it would have been for.
    pub objective: &'static str,
    /// P(output|input) as it was proposed; nothing where that is too large to list.
    pub channel: Option<Vec<Vec<f64>>>,
    /// What is refused.
    #[serde(flatten)]
    pub details: RefusedDetails,
}

/// What is refused about a formula.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum RefusedDetails {
    /// A printed formula over symbols.
    Symbols {
        /// What it claims and what it attains.
        published: PrintedReport,
        /// The cell that shows it.
        refusal: CellRefusal,
    },
    /// Noise over numbers.
    Numbers {
        /// For a printed formula: what it claims and what its density keeps.
        published: Option<KeptReport>,
        /// What the noise was meant to keep and what its density keeps.
        density: Option<KeptReport>,
        /// The noise.
        parameters: DesignParameters,
        /// What the deltas asked for bound.
        #[serde(serialize_with = "number::as_text")]
        convention: Convention,
        /// The cell of its table that shows it; nothing where only the formula's own density fails.
        refusal: Option<NumberRefusal>,
    },
}

/// The kernel's refusal of a claim, and the cell that shows it.
#[derive(Debug, Clone, Serialize)]
pub struct CellRefusal {
    /// In words, with the symbols' names.
    pub message: String,
    /// The output, as an index.
    pub output: Option<u32>,
    /// The input on top of the ratio, as an index.
    pub high: Option<u32>,
    /// The input below it, as an index.
    pub low: Option<u32>,
    /// What is attained there.
    pub attained: ExactRatio,
    /// What the claim allows.
    pub allowed: ExactRatio,
}

impl CellRefusal {
    pub(super) fn of(refusal: &Refusal, inputs: &Alphabet, outputs: &Alphabet) -> Self {
        Self {
            message: NamedRefusal { refusal, inputs, outputs }.to_string(),
            output: refusal.cell.output,
            high: refusal.cell.high,
            low: refusal.cell.low,
            attained: refusal.attained.into(),
            allowed: refusal.allowed.into(),
        }
    }
}

/// The kernel's refusal of noise over numbers.
#[derive(Debug, Clone, Serialize)]
pub struct NumberRefusal {
    /// The cell.
    #[serde(flatten)]
    pub cell: CellRefusal,
    /// The delta the table needs, rounded up, where that is what it was refused for.
    pub delta: Option<f64>,
}

impl RefusedDesign {
    pub(super) fn new(
        method: &'static str,
        objective: &'static str,
        channel: Option<Vec<Vec<f64>>>,
        details: RefusedDetails,
    ) -> Self {
        Self { policy_id: None, method, objective, channel, details }
    }
}

impl DesignReport {
    /// The verified design.
    pub fn verified(&self) -> Option<&VerifiedDesign> {
        match self {
            Self::Verified(design) => Some(design),
            Self::Refused(_) => None,
        }
    }

    /// The policy, if the claims are kept.
    pub fn policy(&self) -> Option<&Policy> {
        self.verified().map(|design| &design.policy)
    }

    /// The policy; where the claims are not kept, the refusal.
    pub fn into_policy(self) -> Result<Policy, Error> {
        match self {
            Self::Verified(design) => Ok(design.policy),
            Self::Refused(refused) => Err(Error::new(ErrorCode::Refused, refused.words())),
        }
    }
}

impl Answer for DesignReport {
    fn words(&self) -> String {
        match self {
            Self::Verified(design) => design.words(),
            Self::Refused(refused) => refused.words(),
        }
    }

    fn is_good(&self) -> bool {
        matches!(self, Self::Verified(_))
    }
}

impl VerifiedDesign {
    /// The claims of the policy in one line.
    pub fn claims(&self) -> String {
        let claims = self.policy.draft().claims().iter().map(ToString::to_string);
        claims.collect::<Vec<_>>().join(" and ")
    }

    /// How many people an accuracy needs, or how accurate so many are, in one sentence; nothing where no accuracy was asked for.
    pub fn people_words(&self) -> Option<String> {
        self.parameters.0.iter().find_map(|(name, parameter)| match (*name, parameter) {
            ("needed_n", Parameter::One(people)) => {
                Some(format!("{} people are needed for shares this accurate.", nats(*people)))
            }
            ("half_width", Parameter::One(width)) => {
                Some(format!("Every share will be within ±{} of the truth.", nats(*width)))
            }
            _ => None,
        })
    }

    fn words(&self) -> String {
        let people = self.people_words().map_or(String::new(), |words| format!("{words}\n"));
        let mut words = format!(
            "{people}verified: {}\npolicy id: {}\n{}",
            self.claims(),
            self.policy_id,
            self.attained.leakages.words()
        );
        if let Some(utility) = self.utility {
            let direction = if self.is_gain { "more" } else { "less" };
            words += &format!(
                "\n{}: {} by the method {}, {} for the best guess without any report ({direction} is better).",
                self.objective,
                nats(utility),
                self.method,
                nats(self.comparison.blind)
            );
        }
        let uninformative = self.uninformative.as_ref().map(|told| format!("warning: {told}"));
        for line in self.method_note.iter().chain(&uninformative) {
            words += &format!("\n{line}");
        }
        words
    }
}

impl RefusedDesign {
    fn words(&self) -> String {
        match &self.details {
            RefusedDetails::Symbols { published, refusal } => format!(
                "the printed formula claims {} and leaks {} nats: {}",
                rounded(published.claimed, Round::Up),
                rounded(published.attained, Round::Up),
                refusal.message
            ),
            RefusedDetails::Numbers { refusal: Some(refusal), .. } => {
                format!("this noise does not keep its claim: {}", refusal.cell.message)
            }
            RefusedDetails::Numbers { refusal: None, .. } => {
                "the formula's own noise does not keep its claim, though its table over these outputs happens to".into()
            }
        }
    }
}

/// The rows of a channel.
pub(super) fn rows(channel: &Channel) -> Vec<Vec<f64>> {
    channel.rows().iter().map(|row: &Distribution| row.as_slice().to_vec()).collect()
}
