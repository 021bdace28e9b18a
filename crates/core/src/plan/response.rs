//! All that leaves a device under a plan, in one message.

use super::{Plan, PlanId};
use crate::codec::{Reader, from_hex};
use crate::document::DecodeError;
use crate::ledger::Permit;
use crate::policy::Policy;
use crate::report::{Report, ReportId, ReportMismatch};
use crate::sample::SampleError;
use crate::strict::Object;
use crate::symbol::{Symbol, Token};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_core::CryptoRng;
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
    /// Draws the answer to one item ([`Plan::combine`] makes the symbol of several questions) under the item's own policy; the
    /// permit is used up. What leaves the device is what [`Plan::report_item`] makes of it; to be drawn once in a period.
    pub fn draw_item<R: CryptoRng + ?Sized>(
        &self,
        item: usize,
        answer: Symbol,
        permit: Permit,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        self.paid(item, permit)?.draw(answer, rng)
    }

    /// Draws as [`Plan::draw_item`] does, with [`Policy::draw_flat`], whose time and memory accesses do not depend on the answer.
    pub fn draw_item_flat<R: CryptoRng + ?Sized>(
        &self,
        item: usize,
        answer: Symbol,
        permit: Permit,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        self.paid(item, permit)?.draw_flat(answer, rng)
    }

    fn paid(&self, item: usize, permit: Permit) -> Result<&Policy, SampleError> {
        let policy = self.policy_of(item);
        if permit.policy() == policy.id() { Ok(policy) } else { Err(SampleError::WrongPermit) }
    }

    /// What leaves the device for a drawn answer: the answer itself or, for an item whose answer is a memo, a fresh draw from it.
    pub fn report_item<R: CryptoRng + ?Sized>(
        &self,
        item: usize,
        drawn: &Token,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        match self.memo(item, drawn)? {
            Some((fresh, memo)) => fresh.draw(memo, rng),
            None => Ok(drawn.clone()),
        }
    }

    /// Reports as [`Plan::report_item`] does, with [`Policy::draw_flat`].
    pub fn report_item_flat<R: CryptoRng + ?Sized>(
        &self,
        item: usize,
        drawn: &Token,
        rng: &mut R,
    ) -> Result<Token, SampleError> {
        match self.memo(item, drawn)? {
            Some((fresh, memo)) => fresh.draw_flat(memo, rng),
            None => Ok(drawn.clone()),
        }
    }

    /// A drawn answer as what its item's fresh policy randomises, if it has one.
    fn memo(&self, item: usize, drawn: &Token) -> Result<Option<(&Policy, Symbol)>, SampleError> {
        if self.parts().items[item].fresh.is_none() {
            return Ok(None);
        }
        let Token::Index(memo) = drawn else { return Err(SampleError::WrongShape) };
        let fresh = self.reporting_policy(item);
        let memo = fresh.inputs().symbol(*memo as usize).map_err(|_| SampleError::UnknownSymbol)?;
        Ok(Some((fresh, memo)))
    }

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
        let token = Token::from_fields(self.token, self.bits.as_deref(), "an answer")?;
        Ok(ItemAnswer { item: self.item, token })
    }

    fn write(answer: &ItemAnswer) -> Object<Self> {
        let (token, bits) = answer.token.to_fields();
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
