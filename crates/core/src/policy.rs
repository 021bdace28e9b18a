//! A draft becomes a policy by being verified, and in no other way.

use crate::alphabet::Alphabet;
use crate::certificate::{self, Certificate, Refusal, Strength};
use crate::claim::{Bound, Claim, Delta, Subject};
use crate::codec;
use crate::context::Context;
use crate::decimal::Decimal;
use crate::document::DecodeError;
use crate::nats::Nats;
use crate::shape::Shape;
use crate::strict::Integer;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The origin of the prior. Shown to people; no check can stand in for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// The source in words: a census, an earlier round, an assumption.
    pub source: String,
    /// How many observations the prior rests on; 0 for an assumption.
    pub n: u64,
    /// The date of the observations as YYYY-MM-DD, or empty.
    pub date: String,
    /// The confidence of the prior's box or radius, as a probability; `None` if none is stated.
    pub confidence: Option<Decimal>,
    /// How far rounding to integers moved the prior, in total variation, in units of 2^-48, rounded up.
    pub rounding: u64,
}

/// The SHA-256 of a policy's canonical bytes: its identity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyId(pub [u8; 32]);

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&codec::to_hex(&self.0))
    }
}

impl fmt::Debug for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyId({self})")
    }
}

impl core::str::FromStr for PolicyId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        codec::from_hex(text).map(Self).ok_or(NotAnId)
    }
}

/// Text that is not 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a policy id: it has 64 hexadecimal digits in lower case")]
pub struct NotAnId;

/// A channel with its claims, well formed but not yet believed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    pub(crate) inputs: Alphabet,
    pub(crate) outputs: Option<Alphabet>,
    pub(crate) shape: Shape,
    pub(crate) context: Context,
    pub(crate) claims: Vec<Claim>,
    pub(crate) provenance: Provenance,
    /// The numbers of the blocks, where those are released.
    blocks: Option<Alphabet>,
}

/// Why the parts of a draft do not fit together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// A part over another alphabet.
    #[error("{what} has {found} symbols where {expected} are needed")]
    Sizes {
        /// The part that does not fit.
        what: &'static str,
        /// The number of symbols needed.
        expected: usize,
        /// The number of symbols found.
        found: usize,
    },
    /// An output alphabet for a shape whose outputs are its inputs.
    #[error(
        "outputs: the shapes keep and bits release the inputs' own symbols, and incidence numbers its blocks; leave outputs out"
    )]
    Outputs,
    /// No claim, or more than [`Draft::MAX_CLAIMS`].
    #[error("{found} claims: make 1 to {most}", most = Draft::MAX_CLAIMS)]
    Claims {
        /// The number of claims found.
        found: usize,
    },
    /// A claim is LIP, and there is no context.
    #[error("claim {index} is about belief but no prior is given: add a context or claim ldp")]
    NoContext {
        /// The index of the claim.
        index: usize,
    },
    /// A claim about a secret the context does not have.
    #[error("claim {index} is about a secret but the context has none: give P(s) and P(x|s)")]
    NoSecret {
        /// The index of the claim.
        index: usize,
    },
    /// More laws of the input, or values of a secret, than blocks can be checked under in a while.
    #[error(
        "context: checking these blocks under {laws} laws of the input would take too long; give fewer laws or a smaller family"
    )]
    Laws {
        /// The number of laws.
        laws: usize,
    },
    /// A claim about the shape `Bits` or `Incidence` has a δ.
    #[error(
        "claim {index} has a delta, which the shapes bits and incidence do not support: claim it pure"
    )]
    DeltaOnBits {
        /// The index of the claim.
        index: usize,
    },
    /// Identifiability of anything but the input under one or several priors, or with a δ.
    #[error(
        "claim {index} is di, which speaks of the input under one prior or a list of priors, without delta"
    )]
    Identifiability {
        /// The index of the claim.
        index: usize,
    },
    /// A text of the provenance is too long, or the date is not YYYY-MM-DD.
    #[error(
        "provenance.{field}: texts have at most 500 bytes, n and rounding are below 2^53, dates are YYYY-MM-DD, a confidence lies between 0 and 1"
    )]
    Provenance {
        /// The name of the field.
        field: &'static str,
    },
}

/// Why a document gives no policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The text is not a policy document.
    #[error(transparent)]
    Document(#[from] DecodeError),
    /// A claim of the document is false.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
}

impl Draft {
    /// The most claims one policy may make.
    pub const MAX_CLAIMS: usize = 16;

    /// About the most steps that checking blocks may take: ten seconds or so.
    const MAX_CHECK_STEPS: u64 = 1 << 33;

    /// Checks that the parts fit together. `outputs` is the output alphabet of a `Table`; without
    /// one, outputs are the inputs' own symbols.
    pub fn new(
        inputs: Alphabet,
        outputs: Option<Alphabet>,
        shape: Shape,
        context: Context,
        claims: Vec<Claim>,
        provenance: Provenance,
    ) -> Result<Self, DraftError> {
        let size = |what, expected, found| {
            if expected == found {
                Ok(())
            } else {
                Err(DraftError::Sizes { what, expected, found })
            }
        };
        size("the input alphabet", shape.inputs(), inputs.len())?;
        if outputs.is_some() && !matches!(shape, Shape::Table(_)) {
            return Err(DraftError::Outputs);
        }
        let blocks = match &shape {
            Shape::Incidence(incidence) => incidence.blocks(),
            Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => None,
        };
        // A number of blocks is always that of an alphabet; where it were not, the sizes below would differ.
        let blocks = blocks.and_then(|count| Alphabet::indices(count).ok());
        let named = outputs.as_ref().or(blocks.as_ref()).unwrap_or(&inputs).len();
        size("the output alphabet", shape.outputs(), named)?;
        if let Some(found) = context.inputs() {
            size("the prior", shape.inputs(), found)?;
        }
        let (laws, secret) = match &context {
            Context::Unknown => (0, false),
            Context::Known(_) | Context::Within(_) => (1, false),
            Context::Each(priors) => (priors.as_slice().len(), false),
            Context::Secret(secret) => (secret.rows().len(), true),
        };
        if let Shape::Incidence(incidence) = &shape
            && incidence.check_steps(laws, secret) > Self::MAX_CHECK_STEPS
        {
            return Err(DraftError::Laws { laws });
        }
        if claims.is_empty() || claims.len() > Self::MAX_CLAIMS {
            return Err(DraftError::Claims { found: claims.len() });
        }
        for (index, claim) in claims.iter().enumerate() {
            let lip = matches!(claim.bound, Bound::Lip { .. });
            if lip && matches!(context, Context::Unknown) {
                return Err(DraftError::NoContext { index });
            }
            if claim.about == Subject::Secret && !matches!(context, Context::Secret(_)) {
                return Err(DraftError::NoSecret { index });
            }
            if matches!(claim.bound, Bound::Di(_)) {
                let weighed = matches!(context, Context::Known(_) | Context::Each(_));
                if !weighed || claim.about == Subject::Secret || claim.delta != Delta::ZERO {
                    return Err(DraftError::Identifiability { index });
                }
            }
            let listed = matches!(shape, Shape::Table(_) | Shape::Keep(_));
            if claim.delta != Delta::ZERO && !listed {
                return Err(DraftError::DeltaOnBits { index });
            }
        }
        provenance.check()?;
        Ok(Self { inputs, outputs, shape, context, claims, provenance, blocks })
    }

    /// Checks every claim in exact integer arithmetic. This is the only way to a [`Policy`].
    pub fn verify(self) -> Result<Policy, Refusal> {
        let certificate = certificate::certify(&self.shape, &self.context, &self.claims)?;
        let id = codec::policy_id(&self);
        Ok(Policy { draft: self, certificate, id })
    }

    /// What the channel attains about its input, and about the secret where the context has one,
    /// whatever it claims.
    pub fn strength(&self) -> (Strength, Option<Strength>) {
        certificate::attained(&self.shape, &self.context)
    }

    /// This draft, making other claims.
    pub fn with_claims(self, claims: Vec<Claim>) -> Result<Self, DraftError> {
        Self::new(self.inputs, self.outputs, self.shape, self.context, claims, self.provenance)
    }

    /// The input alphabet.
    pub fn inputs(&self) -> &Alphabet {
        &self.inputs
    }

    /// The output alphabet; where none was given the inputs' own, or the numbers of the blocks.
    pub fn outputs(&self) -> &Alphabet {
        self.outputs.as_ref().or(self.blocks.as_ref()).unwrap_or(&self.inputs)
    }

    /// The channel.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The context: what is assumed about the data.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The claims, none of them checked yet.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The origin of the prior.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

impl Provenance {
    pub(crate) fn check(&self) -> Result<(), DraftError> {
        let shape = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        let dated = self.date.len() == 10 && self.date.bytes().enumerate().all(shape);
        let probability = Decimal::ZERO..=Decimal::ONE;
        let fields = [
            ("source", self.source.len() <= 500),
            // Every language must be able to read the numbers exactly.
            ("n", self.n < Integer::END),
            ("rounding", self.rounding < Integer::END),
            ("date", self.date.is_empty() || dated),
            ("confidence", self.confidence.is_none_or(|c| probability.contains(&c))),
        ];
        let bad = fields.into_iter().find(|&(_, good)| !good);
        bad.map_or(Ok(()), |(field, _)| Err(DraftError::Provenance { field }))
    }
}

/// A verified draft: every claim was checked against the very integers that are sampled.
///
/// ```compile_fail
/// // There is no other constructor.
/// let forged = undertone_core::Policy { draft, certificate, id };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    draft: Draft,
    certificate: Certificate,
    id: PolicyId,
}

impl Policy {
    /// Reads a policy document and verifies it.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        Ok(Draft::from_json(text)?.verify().map_err(Box::new)?)
    }

    /// The policy document, with its id, one table row per line.
    pub fn to_json(&self) -> String {
        self.draft.to_json()
    }

    /// The draft that was verified.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// What verification found the channel to attain.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The input alphabet: which answers can be randomised.
    pub fn inputs(&self) -> &Alphabet {
        self.draft.inputs()
    }

    /// The output alphabet: what can be released.
    pub fn outputs(&self) -> &Alphabet {
        self.draft.outputs()
    }

    /// The promises, all of them verified.
    pub fn claims(&self) -> &[Claim] {
        self.draft.claims()
    }

    /// The LDP it attains, which is what a release under it costs; `None` if it has no finite level.
    pub fn ldp(&self) -> Option<Nats> {
        self.certificate.input.ldp.ratio.ln_up()
    }

    /// The LIP it attains under its context, which may be less than it claims; `None` without a context, or if it
    /// has no finite level.
    pub fn lip(&self) -> Option<Nats> {
        self.certificate.input.lip()?.ln_up()
    }

    /// The policy's identity.
    pub fn id(&self) -> PolicyId {
        self.id
    }
}
