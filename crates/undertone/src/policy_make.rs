//! A policy from one's own mechanism, whoever designed it: a channel, a usual shape, or a classical survey design.

use serde::Serialize;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, Nats, Policy, Provenance, Ratio, Refusal,
    Shape, Strength, Table, WEIGHT_ONE,
};
use undertone_design::mechanism::staircase::randomized_response;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::survey_design::SurveyDesign;
use undertone_design::{Channel, Symbols, estimation_only, protection};

use crate::answer::Answer;
use crate::design::Protection;
use crate::error::mention;
use crate::policy_report::{self, PolicyReport};
use crate::{Error, Prior};

/// A mechanism somebody else designed.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnMechanism {
    /// A channel in floats, one row per input.
    Channel(Channel),
    /// k-ary randomised response at a level of LDP.
    Krr {
        /// How many symbols there are.
        symbols: usize,
        /// The level; the shipped integers attain it or a hair less.
        epsilon: Epsilon,
    },
    /// One bit for each symbol.
    Bits {
        /// How many symbols there are.
        symbols: usize,
        /// How often the input's own bit is set.
        own: f64,
        /// How often any other bit is set.
        other: f64,
    },
    /// A classical design of a yes/no question.
    Survey(SurveyDesign),
}

/// What a policy of one's own mechanism claims.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum OwnClaims {
    /// What it attains, rounded up.
    #[default]
    Attained,
    /// Nothing: it is for estimation only.
    Nothing,
    /// These, which are checked.
    These(Vec<Protection>),
}

/// A request for a policy from one's own mechanism.
#[derive(Debug, Clone)]
pub struct MakeRequest {
    /// The mechanism.
    pub mechanism: OwnMechanism,
    /// What the inputs are called; for a survey design two names, the sensitive answer last.
    pub symbols: Vec<String>,
    /// The law of the inputs, for levels of belief.
    pub prior: Option<Prior>,
    /// What is claimed.
    pub claims: OwnClaims,
}

/// A policy from one's own mechanism: verified, or refused with the cell at fault.
#[derive(Debug, Clone, Serialize)]
pub struct MadePolicy {
    /// Claims, what is attained, and the verdict.
    #[serde(flatten)]
    pub report: PolicyReport,
    /// The policy, if its claims hold.
    #[serde(skip)]
    pub policy: Option<Policy>,
}

impl Answer for MadePolicy {
    fn words(&self) -> String {
        self.report.words()
    }

    fn is_good(&self) -> bool {
        self.report.is_good()
    }
}

impl OwnMechanism {
    /// Reads a mechanism as people write it: `channel:FILE`, `krr:K,EPS`, `bits:K,P,Q`, or a survey design such as
    /// `warner:0.75`. `channel` reads the file of that name.
    pub fn read<E: From<Error>>(
        text: &str,
        channel: impl FnOnce(&str) -> Result<Channel, E>,
    ) -> Result<Self, E> {
        let forms = || {
            let surveys = SurveyDesign::FORMS.join(", ");
            format!("write channel:FILE, krr:K,EPS, bits:K,P,Q, {surveys}")
        };
        let fail = |problem: String| Error::field("design", format!("is {text:?}: {problem}"));
        let Some((name, rest)) = text.split_once(':') else { return Err(fail(forms()).into()) };
        if name == "channel" {
            return channel(rest).map(Self::Channel);
        }
        Ok(Self::of_numbers(name, rest).ok_or_else(|| fail(forms()))?.map_err(fail)?)
    }

    /// A mechanism that is a name and numbers; `None` for a name that is none.
    fn of_numbers(name: &str, rest: &str) -> Option<Result<Self, String>> {
        let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
        let number = |text: &str| probability(text).ok_or(format!("{text:?} is not a number"));
        let count = |text: &str| {
            let fix = || format!("{text:?} is not a whole number of at least 2");
            text.parse::<usize>().ok().filter(|symbols| *symbols >= 2).ok_or_else(fix)
        };
        Some(match (name, parts.as_slice()) {
            ("krr", [symbols, epsilon]) => count(symbols).and_then(|symbols| {
                let level = protection::epsilon(epsilon).map_err(|error| error.to_string())?;
                if level == Epsilon::ZERO {
                    return Err("EPS is 0: reports would say nothing; give a level above 0".into());
                }
                Ok(Self::Krr { symbols, epsilon: level })
            }),
            ("bits", [symbols, own, other]) => count(symbols).and_then(|symbols| {
                let (own, other) = (number(own)?, number(other)?);
                for (what, value) in [("P", own), ("Q", other)] {
                    if !(value > 0.0 && value < 1.0) {
                        return Err(format!("{what} is {value}: give a number above 0 and below 1"));
                    }
                }
                if units(own) == units(other) {
                    return Err("P and Q are equal, so the channel is singular and reports say nothing: give two that differ".into());
                }
                Ok(Self::Bits { symbols, own, other })
            }),
            ("krr", _) => Err("write krr:K,EPS, such as krr:5,1".into()),
            ("bits", _) => Err("write bits:K,P,Q, such as bits:5,0.5,0.25".into()),
            _ => {
                let numbers: Result<Vec<f64>, String> =
                    parts.iter().map(|text| number(text)).collect();
                // An unknown name is to blame before its numbers.
                let design = SurveyDesign::named(name, numbers.as_deref().unwrap_or_default())?;
                numbers.and_then(|_| design.map_err(|error| error.to_string())).map(Self::Survey)
            }
        })
    }

    /// How many inputs it has.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Channel(channel) => channel.inputs(),
            Self::Krr { symbols, .. } | Self::Bits { symbols, .. } => *symbols,
            Self::Survey(_) => 2,
        }
    }

    /// What its inputs are called where nobody says: as the channel's file does, "no" and "yes", or bare indices.
    fn usual_inputs(&self) -> Result<Alphabet, Error> {
        Ok(match self {
            Self::Channel(channel) => channel.input_symbols().alphabet()?,
            Self::Survey(_) => names(&["no".into(), "yes".into()])?,
            Self::Krr { symbols, .. } | Self::Bits { symbols, .. } => {
                Symbols::unnamed(*symbols).alphabet()?
            }
        })
    }

    /// What its outputs are called, if not as its inputs.
    fn outputs(&self, inputs: &Alphabet) -> Result<Option<Alphabet>, Error> {
        let Self::Channel(channel) = self else { return Ok(None) };
        let outputs = channel.output_symbols();
        if outputs.are_named() {
            return Ok(Some(outputs.alphabet()?).filter(|outputs| outputs != inputs));
        }
        Ok((outputs.len() != inputs.len()).then(|| outputs.alphabet()).transpose()?)
    }

    /// The channel in integers.
    fn shape(&self, inputs: &Alphabet) -> Result<Shape, Error> {
        Ok(match self {
            Self::Channel(channel) => {
                let rows = channel.rows();
                if rows.iter().all(|row| row.as_slice() == rows[0].as_slice()) {
                    let problem = ": all rows of the channel are the same, so it is singular and reports say nothing: give rows that differ";
                    return Err(Error::field("design", problem));
                }
                let rows = channel.rows().iter().map(|row| {
                    quantize::largest_remainder(row.as_slice(), undertone_core::MASS_ONE)
                });
                Shape::Table(Table::from_masses(rows.collect()).map_err(Error::input)?)
            }
            Self::Krr { epsilon, .. } => {
                let spec = PolicySpec {
                    inputs: inputs.clone(),
                    outputs: None,
                    context: Context::Unknown,
                    claims: vec![Claim::ldp(*epsilon)],
                    provenance: Provenance::default(),
                };
                randomized_response(&spec)?.policy.draft().shape().clone()
            }
            Self::Bits { symbols, own, other } => {
                let bits = Bits::new(*symbols, units(*own), units(*other));
                Shape::Bits(bits.map_err(Error::input)?)
            }
            Self::Survey(design) => design.shape()?,
        })
    }
}

/// A probability as people write it: a decimal, or a fraction such as `1/12`.
fn probability(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    match text.split_once('/') {
        Some((over, under)) => {
            Some(number(over)? / number(under)?).filter(|value: &f64| value.is_finite())
        }
        None => number(text),
    }
}

/// A probability in units of 2^-32, the nearest.
fn units(probability: f64) -> u64 {
    (probability * WEIGHT_ONE as f64).round() as u64
}

fn names(names: &[String]) -> Result<Alphabet, Error> {
    Alphabet::names(names).map_err(|error| Error::field("symbols", format!(": {error}")))
}

/// Makes the policy, whose claims the kernel checks as those of any other.
pub fn make(request: &MakeRequest) -> Result<MadePolicy, Error> {
    let mechanism = &request.mechanism;
    let inputs = match request.symbols.as_slice() {
        [] => mechanism.usual_inputs()?,
        given if given.len() != mechanism.inputs() => {
            let problem = format!(
                "has {} names and the mechanism {} inputs: name every input once{}",
                given.len(),
                mechanism.inputs(),
                if mechanism.inputs() == 2 { ", the sensitive answer last" } else { "" }
            );
            return Err(Error::field("symbols", problem));
        }
        given => names(given)?,
    };
    let shape = mechanism.shape(&inputs)?;
    let outputs = mechanism.outputs(&inputs)?;
    let (context, provenance) = match &request.prior {
        None => (Context::Unknown, Provenance::default()),
        Some(prior) => {
            let law = prior.law().in_order_of(prior.name(), &Symbols::of(&inputs))?;
            let rounded = quantize::prior(&law)?;
            let provenance = crate::design::provenance(prior)?;
            let provenance = Provenance { rounding: rounded.moved, ..provenance };
            (Context::Known(rounded.prior), provenance)
        }
    };
    let nothing = vec![estimation_only::claim(&shape)];
    let silent = Draft::new(inputs, outputs, shape, context, nothing, provenance);
    let silent = silent.map_err(Error::input)?;
    let draft = match &request.claims {
        OwnClaims::Nothing => silent,
        OwnClaims::Attained => attained(silent)?,
        OwnClaims::These(list) => {
            let claims = list.iter().map(Protection::of_input).collect();
            let refused = |error| Error::field("claim", format!(": {error}"));
            silent.with_claims(claims).map_err(refused)?
        }
    };
    let policy = draft.clone().verify().ok();
    Ok(MadePolicy { report: policy_report::show(draft)?, policy })
}

/// The draft with what it attains for claims: LIP where there is a prior, and LDP, each at the smallest level the kernel
/// can express and accepts.
fn attained(draft: Draft) -> Result<Draft, Error> {
    let (strength, _) = draft.strength();
    let Strength { ldp, .. } = &strength;
    let lip = strength.lip().and_then(|ratio| claimed(&draft, ratio, Claim::lip).transpose());
    let ldp = claimed(&draft, ldp.ratio, Claim::ldp).transpose();
    let claims: Vec<Claim> = lip.into_iter().chain(ldp).collect::<Result<_, _>>()?;
    if claims.is_empty() {
        let fix = format!(
            "some report rules out some answer, so this mechanism attains no finite level{}: give {} none for estimation only, or a claim with a delta such as ldp:1,0.5",
            if strength.lip().is_some() { ", of belief neither" } else { "" },
            mention("claim"),
        );
        return Err(Error::input(fix));
    }
    draft.with_claims(claims).map_err(Error::input)
}

/// The claim at an attained ratio: rounded up to odds that can be written; `None` if no such odds are large enough.
fn claimed(
    draft: &Draft,
    ratio: Ratio,
    claim: impl Fn(Epsilon) -> Claim,
) -> Result<Option<Claim>, Error> {
    let Some(nats) = ratio.ln_up() else { return Ok(None) };
    // Odds of two 32-bit numbers leave gaps of up to 2^-32, a few units of what is printed, around simple ratios.
    for step in 0..8 {
        let Some(level) = nats.checked_add(Nats::from_units(step)) else { return Ok(None) };
        let Ok(epsilon) = Epsilon::at_most(level) else { return Ok(None) };
        let one = claim(epsilon);
        let verdict: Result<Policy, Refusal> =
            draft.clone().with_claims(vec![one]).map_err(Error::input)?.verify();
        if verdict.is_ok() {
            return Ok(Some(one));
        }
    }
    Ok(None)
}
