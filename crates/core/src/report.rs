//! The only thing that leaves the device.

use crate::codec::{Reader, from_hex, to_hex};
use crate::document::DecodeError;
use crate::ledger::Permit;
use crate::policy::{Policy, PolicyId};
use crate::sample::SampleError;
use crate::shape::Shape;
use crate::strict::Object;
use crate::symbol::{Symbol, Token};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use rand_core::CryptoRng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 128 random bits that make a report countable exactly once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReportId(pub [u8; 16]);

impl fmt::Display for ReportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

/// One randomised answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The policy it was drawn under.
    pub policy: PolicyId,
    /// The report's own random id.
    pub id: ReportId,
    /// The randomised answer.
    pub token: Token,
}

/// Why a report does not belong to a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportMismatch {
    /// The report was drawn under another policy.
    #[error("the report was made under another policy")]
    Policy,
    /// The token is one this policy never releases.
    #[error("the token is outside the policy's output alphabet")]
    Token,
}

impl Policy {
    /// Randomises one answer. The permit is used up: the budget it stands for has left the ledger.
    ///
    /// The token is drawn first, then 16 bytes for the report's id.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        x: Symbol,
        permit: Permit,
        rng: &mut R,
    ) -> Result<Report, SampleError> {
        self.report(permit, rng, |rng| self.draw(x, rng))
    }

    /// Randomises one answer as [`Policy::randomize`] does, with [`Policy::draw_flat`], whose time and memory
    /// accesses do not depend on `x`.
    pub fn randomize_flat<R: CryptoRng + ?Sized>(
        &self,
        x: Symbol,
        permit: Permit,
        rng: &mut R,
    ) -> Result<Report, SampleError> {
        self.report(permit, rng, |rng| self.draw_flat(x, rng))
    }

    fn report<R: CryptoRng + ?Sized>(
        &self,
        permit: Permit,
        rng: &mut R,
        draw: impl FnOnce(&mut R) -> Result<Token, SampleError>,
    ) -> Result<Report, SampleError> {
        if permit.policy() != self.id() {
            return Err(SampleError::WrongPermit);
        }
        let token = draw(rng)?;
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        Ok(Report { policy: self.id(), id: ReportId(id), token })
    }

    /// Whether a report could have come from this policy.
    pub fn accepts(&self, report: &Report) -> Result<(), ReportMismatch> {
        if report.policy != self.id() {
            return Err(ReportMismatch::Policy);
        }
        let outputs = self.draft().shape().outputs();
        let fits = match (&report.token, self.draft().shape()) {
            (Token::Index(index), shape) => !shape.releases_bits() && (*index as usize) < outputs,
            (Token::Bits(bytes), shape) if shape.releases_bits() => {
                let is_subset = match shape {
                    Shape::Incidence(incidence) => incidence.accepts_subset(bytes),
                    Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => true,
                };
                let spare = 8 * bytes.len() - outputs.min(8 * bytes.len());
                is_subset
                    && bytes.len() == outputs.div_ceil(8)
                    && bytes.last().is_none_or(|last| last & ((1u16 << spare) - 1) as u8 == 0)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(ReportMismatch::Token) }
    }
}

const VERSION: u8 = 1;
const NAME: &str = "report/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReport<'a> {
    #[serde(borrow)]
    undertone: Cow<'a, str>,
    #[serde(borrow)]
    policy: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<u32>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    bits: Option<Cow<'a, str>>,
}

impl RawReport<'_> {
    fn read(self) -> Result<Report, DecodeError> {
        let bad = |message: &str| DecodeError::Json { message: message.into() };
        if self.undertone != NAME {
            return Err(DecodeError::Version { found: self.undertone.into_owned() });
        }
        let policy = self.policy.parse().map_err(|_| bad("policy: not 64 hexadecimal digits"))?;
        let id = from_hex(&self.id).ok_or_else(|| bad("id: not 32 hexadecimal digits"))?;
        let token = Token::from_fields(self.token, self.bits.as_deref(), "a report")?;
        Ok(Report { policy, id: ReportId(id), token })
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (token, bits) = self.token.to_fields();
        let bits = bits.map(Cow::Owned);
        let (policy, id) = (to_hex(&self.policy.0).into(), to_hex(&self.id.0).into());
        RawReport { undertone: NAME.into(), policy, id, token, bits }.serialize(serializer)
    }
}

/// As strict as [`Report::from_json`]; for reports inside a longer document.
impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(raw) = Object::<RawReport<'de>>::deserialize(deserializer)?;
        let words = |error| match error {
            DecodeError::Json { message } => message,
            DecodeError::Version { found } => {
                format!("undertone: {found:?} where {NAME:?} is read")
            }
            other => other.to_string(),
        };
        raw.read().map_err(|error| serde::de::Error::custom(words(error)))
    }
}

impl Report {
    /// Version, policy id, report id, then 0 and the index, or 1 and the packed bits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::from([VERSION]);
        out.extend_from_slice(&self.policy.0);
        out.extend_from_slice(&self.id.0);
        match &self.token {
            Token::Index(index) => {
                out.push(0);
                out.extend_from_slice(&index.to_be_bytes());
            }
            Token::Bits(bytes) => {
                out.push(1);
                out.extend_from_slice(bytes);
            }
        }
        out
    }

    /// Reads one report; whether its token fits the policy is for [`Policy::accepts`] to say.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(DecodeError::Version { found: format!("report/{version}") });
        }
        let policy = PolicyId(reader.array()?);
        let id = ReportId(reader.array()?);
        let token = match reader.u8()? {
            0 => Token::Index(reader.u32()?),
            1 => Token::Bits(reader.take(reader.0.len())?.into()),
            _ => return Err(DecodeError::Tag { what: "token" }),
        };
        if !reader.0.is_empty() {
            return Err(DecodeError::Trailing { bytes: reader.0.len() });
        }
        Ok(Self { policy, id, token })
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        // A plain record of texts and a number always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a report from JSON.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let Object::<RawReport<'_>>(raw) = serde_json::from_str(text)
            .map_err(|error| DecodeError::Json { message: error.to_string() })?;
        raw.read()
    }
}
