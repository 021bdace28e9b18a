//! All that leaves a device under a plan, in one message.

use super::{Plan, PlanId};
use crate::codec::{Reader, from_hex, hex_bytes, to_hex};
use crate::document::DecodeError;
use crate::report::{Report, ReportId, ReportMismatch};
use crate::strict::Object;
use crate::symbol::Token;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One person's randomised answers to the items of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// The plan they were drawn under.
    pub plan: PlanId,
    /// The response's own random id.
    pub id: ReportId,
    /// The answers, by increasing item.
    pub answers: Vec<ItemAnswer>,
}

/// The randomised answer to one item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemAnswer {
    /// The item's number.
    pub item: u32,
    /// The randomised answer.
    pub token: Token,
}

/// Why a response does not belong to a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseMismatch {
    /// The response was drawn under another plan.
    #[error("the response was made under another plan")]
    Plan,
    /// Items that do not exist, repeat or are out of order.
    #[error("answer {at}: its item does not exist, or is not above the one before it")]
    Items {
        /// The answer's place.
        at: usize,
    },
    /// More drawn items than a device answers.
    #[error("{found} drawn items are answered where {asked} are asked")]
    Asked {
        /// How many are answered.
        found: usize,
        /// How many are asked.
        asked: usize,
    },
    /// A token the item's policy never releases.
    #[error("answer {at}: the token is outside the outputs of the item's policy")]
    Token {
        /// The answer's place.
        at: usize,
    },
}

impl Plan {
    /// Whether a response could have come from this plan.
    pub fn accepts(&self, response: &Response) -> Result<(), ResponseMismatch> {
        if response.plan != self.id() {
            return Err(ResponseMismatch::Plan);
        }
        let (items, answers) = (&self.parts().items, &response.answers);
        for (at, answer) in answers.iter().enumerate() {
            let known = (answer.item as usize) < items.len();
            if !known || (at > 0 && answers[at - 1].item >= answer.item) {
                return Err(ResponseMismatch::Items { at });
            }
        }
        let drawn = answers.iter().filter(|answer| items[answer.item as usize].weight > 0);
        let (found, asked) = (drawn.count(), self.parts().asked as usize);
        if found > asked {
            return Err(ResponseMismatch::Asked { found, asked });
        }
        for (at, answer) in answers.iter().enumerate() {
            let policy = self.reporting_policy(answer.item as usize);
            let token = answer.token.clone();
            let report = Report { policy: policy.id(), id: response.id, token };
            policy.accepts(&report).map_err(|_: ReportMismatch| ResponseMismatch::Token { at })?;
        }
        Ok(())
    }
}

const VERSION: u8 = 1;
const NAME: &str = "response/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawResponse {
    undertone: String,
    plan: String,
    id: String,
    answers: Vec<Object<RawAnswer>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    item: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<String>,
}

impl RawAnswer {
    fn read(self) -> Result<ItemAnswer, DecodeError> {
        let bad = |message: &str| DecodeError::Json { message: message.into() };
        let token = match (self.token, self.bits) {
            (Some(index), None) => Token::Index(index),
            (None, Some(digits)) => {
                let bytes = hex_bytes(&digits);
                Token::Bits(bytes.ok_or_else(|| bad("bits: not hexadecimal digits"))?.into())
            }
            _ => return Err(bad("an answer has exactly one of: token, bits")),
        };
        Ok(ItemAnswer { item: self.item, token })
    }

    fn write(answer: &ItemAnswer) -> Object<Self> {
        let (token, bits) = match &answer.token {
            Token::Index(index) => (Some(*index), None),
            Token::Bits(bytes) => (None, Some(to_hex(bytes))),
        };
        Object(Self { item: answer.item, token, bits })
    }
}

impl Response {
    /// The response as JSON, on one line.
    pub fn to_json(&self) -> String {
        let raw = RawResponse {
            undertone: NAME.into(),
            plan: self.plan.to_string(),
            id: self.id.to_string(),
            answers: self.answers.iter().map(RawAnswer::write).collect(),
        };
        // A plain record of texts and numbers always serialises.
        serde_json::to_string(&raw).unwrap_or_default()
    }

    /// Reads a response; whether its plan can have made it is for [`Plan::accepts`] to say.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let Object::<RawResponse>(raw) = serde_json::from_str(text)
            .map_err(|error| DecodeError::Json { message: error.to_string() })?;
        if raw.undertone != NAME {
            return Err(DecodeError::Version { found: raw.undertone });
        }
        let bad = |message: &str| DecodeError::Json { message: message.into() };
        let plan = raw.plan.parse().map_err(|_| bad("plan: not 64 hexadecimal digits"))?;
        let id = from_hex(&raw.id).ok_or_else(|| bad("id: not 32 hexadecimal digits"))?;
        let answers = raw.answers.into_iter().map(|answer| answer.0.read());
        Ok(Self { plan, id: ReportId(id), answers: answers.collect::<Result<_, _>>()? })
    }

    /// Version, plan id, response id, and the answers: item, then 0 and the index, or 1 and the packed bits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::from([VERSION]);
        out.extend_from_slice(&self.plan.0);
        out.extend_from_slice(&self.id.0);
        out.extend_from_slice(&(self.answers.len() as u32).to_be_bytes());
        for answer in &self.answers {
            out.extend_from_slice(&answer.item.to_be_bytes());
            match &answer.token {
                Token::Index(index) => {
                    out.push(0);
                    out.extend_from_slice(&index.to_be_bytes());
                }
                Token::Bits(bytes) => {
                    out.push(1);
                    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                    out.extend_from_slice(bytes);
                }
            }
        }
        out
    }

    /// Reads a response from its bytes; anything else, also a byte too many, is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(DecodeError::Version { found: alloc::format!("response/{version}") });
        }
        let plan = PlanId(reader.array()?);
        let id = ReportId(reader.array()?);
        let count = reader.count(9)?;
        let mut answers = Vec::with_capacity(count);
        for _ in 0..count {
            let item = reader.u32()?;
            let token = match reader.u8()? {
                0 => Token::Index(reader.u32()?),
                1 => {
                    let length = reader.u32()? as usize;
                    Token::Bits(reader.take(length)?.into())
                }
                _ => return Err(DecodeError::Tag { what: "token" }),
            };
            answers.push(ItemAnswer { item, token });
        }
        if !reader.0.is_empty() {
            return Err(DecodeError::Trailing { bytes: reader.0.len() });
        }
        Ok(Self { plan, id, answers })
    }
}
