//! The policy document: JSON that a person can read.
//!
//! Decoding goes through plain records and then the ordinary constructors, so no document can hold
//! what a constructor would refuse. Unknown fields, unknown versions and leftovers are refused.

mod family;

use crate::alphabet::{Alphabet, AlphabetError, AlphabetView};
use crate::claim::{Bound, Claim, Delta, DeltaTooLarge, Subject};
use crate::context::{Context, ContextError, PriorBox, Priors, Secret};
use crate::decimal::{Decimal, NotDecimal};
use crate::epsilon::{Epsilon, EpsilonError};
use crate::incidence::Incidence;
use crate::mass::{PartsError, Prior};
use crate::policy::{Draft, DraftError, Provenance};
use crate::shape::{Bits, Keep, Shape, ShapeError, Table};
use crate::strict::{Integer, Object};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use family::RawFamily;
use serde::{Deserialize, Serialize};

/// The version this kernel reads and writes.
pub const VERSION: &str = "policy/1";

/// Why bytes or a document are not a policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes do not begin as a policy does.
    #[error("these bytes are not an undertone policy")]
    NotAPolicy,
    /// A version this kernel does not know.
    #[error(
        "version {found:?} is not known here: this program reads {VERSION:?}; update it or re-export the policy"
    )]
    Version {
        /// The version that was found.
        found: String,
    },
    /// The bytes end too early.
    #[error("the bytes end too early: at least {missing} more are needed")]
    Truncated {
        /// At least how many are missing.
        missing: usize,
    },
    /// Bytes follow the end.
    #[error("{bytes} bytes follow the end of the policy")]
    Trailing {
        /// How many bytes follow.
        bytes: usize,
    },
    /// A part of the bytes is of a kind that does not exist.
    #[error("{what}: unknown kind")]
    Tag {
        /// The part of unknown kind.
        what: &'static str,
    },
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// The bytes say what other, canonical bytes say.
    #[error("the bytes are not in canonical form")]
    NotCanonical,
    /// The JSON is malformed, or has a field too many or too few.
    #[error("not a policy document: {message}")]
    Json {
        /// In the parser's words, with line and column.
        message: String,
    },
    /// The stated id is not the document's.
    #[error("id: the content was changed; its id is {actual}")]
    Id {
        /// The id the content has.
        actual: String,
    },
    /// The nats written beside the odds are not theirs.
    #[error("claims: {written} nats are written beside odds that give {actual}")]
    Nats {
        /// The nats that were written.
        written: String,
        /// The nats that the odds give.
        actual: String,
    },
    /// An alphabet is not well formed.
    #[error("alphabet: {0}")]
    Alphabet(#[from] AlphabetError),
    /// A prior is not a distribution.
    #[error("prior: the list of weights {0}")]
    Prior(#[from] PartsError),
    /// The context is not well formed.
    #[error("context: {0}")]
    Context(#[from] ContextError),
    /// The channel is not well formed.
    #[error("channel: {0}")]
    Shape(#[from] ShapeError),
    /// A privacy level is no level.
    #[error("claims: {0}")]
    Epsilon(#[from] EpsilonError),
    /// A δ is too large.
    #[error("claims: {0}")]
    Delta(#[from] DeltaTooLarge),
    /// A decimal number is none.
    #[error(transparent)]
    Decimal(#[from] NotDecimal),
    /// The parts are well formed and do not fit together.
    #[error(transparent)]
    Draft(#[from] DraftError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPolicy {
    undertone: String,
    #[serde(default)]
    id: Option<String>,
    claims: Vec<Object<RawClaim>>,
    context: Object<RawContext>,
    #[serde(default)]
    provenance: Object<RawProvenance>,
    inputs: Object<RawAlphabet>,
    #[serde(default)]
    outputs: Option<Object<RawAlphabet>>,
    channel: Object<RawChannel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAlphabet {
    indices: Option<u32>,
    names: Option<Vec<String>>,
    points: Option<Vec<String>>,
    edges: Option<Vec<String>>,
    values: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase", deny_unknown_fields)]
enum RawChannel {
    Table { masses: Vec<Vec<Integer>> },
    Keep { keep: Vec<Integer>, base: Vec<Integer> },
    Bits { symbols: u32, own: Integer, other: Integer },
    Incidence { symbols: u32, coin: Integer, family: Object<RawFamily> },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum RawContext {
    Unknown {},
    Prior { weights: Vec<Integer> },
    Priors { list: Vec<Vec<Integer>> },
    Box { lower: Vec<Integer>, upper: Vec<Integer> },
    Secret { name: String, weights: Vec<Integer>, rows: Vec<Vec<Integer>> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLevel {
    nats: String,
    odds: (u32, u32),
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(try_from = "String", into = "&'static str")]
struct RawSubject(Subject);

impl From<RawSubject> for &'static str {
    fn from(about: RawSubject) -> Self {
        match about.0 {
            Subject::Input => "input",
            Subject::Secret => "secret",
        }
    }
}

impl TryFrom<String> for RawSubject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "input" => Ok(Self(Subject::Input)),
            "secret" => Ok(Self(Subject::Secret)),
            _ => Err(format!("a claim is about \"input\" or \"secret\", not {text:?}")),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOneLevel {
    about: RawSubject,
    epsilon: Object<RawLevel>,
    #[serde(default)]
    delta: Integer,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "notion", rename_all = "lowercase", deny_unknown_fields)]
enum RawClaim {
    Ldp(RawOneLevel),
    Lip(RawOneLevel),
    Di(RawOneLevel),
    Alip {
        about: RawSubject,
        lower: Object<RawLevel>,
        upper: Object<RawLevel>,
        #[serde(default)]
        delta: Integer,
    },
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawProvenance {
    #[serde(default)]
    source: String,
    #[serde(default)]
    n: Integer,
    #[serde(default)]
    date: String,
    #[serde(default)]
    confidence: Option<String>,
    #[serde(default)]
    rounding: Integer,
}

impl Draft {
    /// Reads a policy document. A stated id must be the content's own.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let Object::<RawPolicy>(raw) = serde_json::from_str(text)
            .map_err(|error| DecodeError::Json { message: error.to_string() })?;
        raw.read()
    }

    /// Writes the policy document, with its id, one table row per line.
    pub fn to_json(&self) -> String {
        let mut fields = Vec::from([
            ("undertone", json(&VERSION)),
            ("id", json(&crate::codec::policy_id(self).to_string())),
            ("claims", list(self.claims.iter().map(|claim| json(&RawClaim::write(claim))))),
            ("context", json(&RawContext::write(&self.context))),
            ("provenance", json(&RawProvenance::write(&self.provenance))),
            ("inputs", RawAlphabet::write(&self.inputs)),
        ]);
        if let Some(outputs) = &self.outputs {
            fields.push(("outputs", RawAlphabet::write(outputs)));
        }
        let channel = match &self.shape {
            Shape::Table(table) => format!(
                "{{\"shape\": \"table\", \"masses\": {}}}",
                list(table.rows().iter().map(|row| json(&row.masses())))
            ),
            Shape::Keep(keep) => {
                let (keep, base) = (json(&keep.keep()), json(&keep.base().masses()));
                format!(r#"{{"shape":"keep","keep":{keep},"base":{base}}}"#)
            }
            Shape::Bits(bits) => {
                let (symbols, own, other) = (bits.symbols(), bits.own(), bits.other());
                format!(r#"{{"shape":"bits","symbols":{symbols},"own":{own},"other":{other}}}"#)
            }
            Shape::Incidence(incidence) => {
                let (symbols, coin) = (incidence.symbols(), incidence.coin());
                let family = json(&RawFamily::write(incidence.family()));
                format!(
                    r#"{{"shape":"incidence","symbols":{symbols},"coin":{coin},"family":{family}}}"#
                )
            }
        };
        fields.push(("channel", channel));
        let lines: Vec<String> =
            fields.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// Plain records of integers and texts always serialise.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("    {item}")).collect();
    format!("[\n{}\n  ]", items.join(",\n"))
}

fn decimals(texts: Vec<String>) -> Result<Vec<Decimal>, DecodeError> {
    texts.iter().map(|text| Ok(text.parse::<Decimal>()?)).collect()
}

pub(crate) fn read(list: Vec<Integer>) -> Vec<u64> {
    list.into_iter().map(|integer| integer.0).collect()
}

fn written(list: &[u64]) -> Vec<Integer> {
    list.iter().map(|&value| Integer(value)).collect()
}

fn texts(values: &[Decimal]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

impl RawPolicy {
    pub(crate) fn read(self) -> Result<Draft, DecodeError> {
        if self.undertone != VERSION {
            return Err(DecodeError::Version { found: self.undertone });
        }
        let claims =
            self.claims.into_iter().map(|claim| claim.0.read()).collect::<Result<_, _>>()?;
        let outputs = self.outputs.map(|outputs| outputs.0.read()).transpose()?;
        let draft = Draft::new(
            self.inputs.0.read()?,
            outputs,
            self.channel.0.read()?,
            self.context.0.read()?,
            claims,
            self.provenance.0.read()?,
        )?;
        if let Some(stated) = self.id {
            let actual = crate::codec::policy_id(&draft).to_string();
            if stated != actual {
                return Err(DecodeError::Id { actual });
            }
        }
        Ok(draft)
    }
}

impl RawAlphabet {
    pub(crate) fn read(self) -> Result<Alphabet, DecodeError> {
        Ok(match (self.indices, self.names, self.points, self.edges, self.values) {
            (Some(size), None, None, None, None) => Alphabet::indices(size as usize)?,
            (None, Some(names), None, None, None) => Alphabet::names(names)?,
            (None, None, Some(points), None, None) => Alphabet::points(decimals(points)?)?,
            (None, None, None, Some(edges), Some(values)) => {
                Alphabet::bins(decimals(edges)?, decimals(values)?)?
            }
            _ => {
                let message =
                    "an alphabet has exactly one of: indices, names, points, or edges with values";
                return Err(DecodeError::Json { message: message.into() });
            }
        })
    }

    pub(crate) fn write(alphabet: &Alphabet) -> String {
        match alphabet.view() {
            AlphabetView::Indices(size) => format!(r#"{{"indices":{size}}}"#),
            AlphabetView::Names(names) => format!(r#"{{"names":{}}}"#, json(&names)),
            AlphabetView::Points(points) => format!(r#"{{"points":{}}}"#, json(&texts(points))),
            AlphabetView::Bins { edges, values } => {
                let (edges, values) = (json(&texts(edges)), json(&texts(values)));
                format!(r#"{{"edges":{edges},"values":{values}}}"#)
            }
        }
    }
}

impl RawChannel {
    fn read(self) -> Result<Shape, DecodeError> {
        Ok(match self {
            Self::Table { masses } => {
                Shape::Table(Table::from_masses(masses.into_iter().map(read).collect())?)
            }
            Self::Keep { keep, base } => Shape::Keep(Keep::new(read(keep), read(base))?),
            Self::Bits { symbols, own, other } => {
                Shape::Bits(Bits::new(symbols as usize, own.0, other.0)?)
            }
            Self::Incidence { symbols, coin, family } => {
                let symbols = symbols as usize;
                let family = family.0.read(symbols).map_err(ShapeError::from)?;
                Shape::Incidence(Incidence::new(symbols, coin.0, family).map_err(ShapeError::from)?)
            }
        })
    }
}

impl RawContext {
    fn read(self) -> Result<Context, DecodeError> {
        let prior = |weights: Vec<Integer>| Prior::new(read(weights));
        let priors =
            |rows: Vec<Vec<Integer>>| rows.into_iter().map(prior).collect::<Result<_, _>>();
        Ok(match self {
            Self::Unknown {} => Context::Unknown,
            Self::Prior { weights } => Context::Known(prior(weights)?),
            Self::Priors { list } => Context::Each(Priors::new(priors(list)?)?),
            Self::Box { lower, upper } => Context::Within(PriorBox::new(read(lower), read(upper))?),
            Self::Secret { name, weights, rows } => {
                Context::Secret(Secret::new(name, prior(weights)?, priors(rows)?)?)
            }
        })
    }

    fn write(context: &Context) -> Self {
        let rows = |priors: &[Prior]| priors.iter().map(|prior| written(prior.weights())).collect();
        match context {
            Context::Unknown => Self::Unknown {},
            Context::Known(prior) => Self::Prior { weights: written(prior.weights()) },
            Context::Each(priors) => Self::Priors { list: rows(priors.as_slice()) },
            Context::Within(within) => {
                Self::Box { lower: written(within.lower()), upper: written(within.upper()) }
            }
            Context::Secret(secret) => Self::Secret {
                name: secret.name().into(),
                weights: written(secret.prior().weights()),
                rows: rows(secret.rows()),
            },
        }
    }
}

impl RawLevel {
    fn read(self) -> Result<Epsilon, DecodeError> {
        let epsilon = Epsilon::from_odds(self.odds.0, self.odds.1)?;
        let actual = epsilon.nats().to_string();
        if self.nats != actual {
            return Err(DecodeError::Nats { written: self.nats, actual });
        }
        Ok(epsilon)
    }

    fn write(epsilon: Epsilon) -> Object<Self> {
        Object(Self { nats: epsilon.nats().to_string(), odds: epsilon.odds() })
    }
}

impl RawClaim {
    fn read(self) -> Result<Claim, DecodeError> {
        let (about, bound, delta) = match self {
            Self::Ldp(raw) => (raw.about, Bound::Ldp(raw.epsilon.0.read()?), raw.delta),
            Self::Di(raw) => (raw.about, Bound::Di(raw.epsilon.0.read()?), raw.delta),
            Self::Lip(raw) => {
                let epsilon = raw.epsilon.0.read()?;
                (raw.about, Bound::Lip { lower: epsilon, upper: epsilon }, raw.delta)
            }
            Self::Alip { about, lower, upper, delta } => {
                (about, Bound::Lip { lower: lower.0.read()?, upper: upper.0.read()? }, delta)
            }
        };
        Ok(Claim { about: about.0, bound, delta: Delta::from_units(delta.0)? })
    }

    fn write(claim: &Claim) -> Self {
        let about = RawSubject(claim.about);
        let delta = Integer(claim.delta.units());
        let one = |level| RawOneLevel { about, epsilon: RawLevel::write(level), delta };
        match claim.bound {
            Bound::Ldp(epsilon) => Self::Ldp(one(epsilon)),
            Bound::Di(epsilon) => Self::Di(one(epsilon)),
            Bound::Lip { lower, upper } if lower == upper => Self::Lip(one(upper)),
            Bound::Lip { lower, upper } => Self::Alip {
                about,
                lower: RawLevel::write(lower),
                upper: RawLevel::write(upper),
                delta,
            },
        }
    }
}

impl RawProvenance {
    pub(crate) fn read(self) -> Result<Provenance, DecodeError> {
        let Self { source, n, date, confidence, rounding } = self;
        let confidence = confidence.map(|text| text.parse::<Decimal>()).transpose()?;
        Ok(Provenance { source, n: n.0, date, confidence, rounding: rounding.0 })
    }

    pub(crate) fn write(provenance: &Provenance) -> Self {
        Self {
            source: provenance.source.clone(),
            n: Integer(provenance.n),
            date: provenance.date.clone(),
            confidence: provenance.confidence.map(|c| c.to_string()),
            rounding: Integer(provenance.rounding),
        }
    }
}
