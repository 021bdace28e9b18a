//! Canonical bytes of a plan: one encoding each, so that its hash is its identity.

use super::claim::{Given, PlanClaim};
use super::document::PlanDecodeError;
use super::law::{Law, Node, Point};
use super::{Item, PlanDraft, PlanId, PlanParts, Question, SecretVariable};
use crate::codec::{Reader, put_alphabet, put_provenance, put_text, put_u32, put_u64s};
use crate::document::DecodeError;
use crate::mass::Row;
use crate::nats::Nats;
use crate::policy::Draft;
use alloc::vec::Vec;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 14] = b"undertone/plan";
const VERSION: u8 = 1;

impl PlanDraft {
    /// The plan's identity: the SHA-256 of its canonical bytes.
    pub fn id(&self) -> PlanId {
        PlanId(Sha256::digest(self.to_bytes()).into())
    }

    /// The canonical bytes: equal plans have equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (parts, mut out) = (self.parts(), Vec::new());
        out.extend_from_slice(MAGIC);
        out.push(VERSION);
        put_u32(&mut out, parts.questions.len());
        for Question { name, wording, answers } in &parts.questions {
            put_text(&mut out, name);
            put_text(&mut out, wording);
            put_alphabet(&mut out, answers);
        }
        put_u32(&mut out, parts.secrets.len());
        for SecretVariable { name, values } in &parts.secrets {
            put_text(&mut out, name);
            put_alphabet(&mut out, values);
        }
        put_law(&mut out, &parts.law);
        put_u32(&mut out, parts.items.len());
        for Item { questions, policy, fresh, weight } in &parts.items {
            put_u32(&mut out, questions.len());
            questions.iter().for_each(|&question| put_u32(&mut out, question as usize));
            put_u32(&mut out, *policy as usize);
            out.push(u8::from(fresh.is_some()));
            if let Some(fresh) = fresh {
                put_u32(&mut out, *fresh as usize);
            }
            put_u32(&mut out, *weight as usize);
        }
        put_u32(&mut out, parts.asked as usize);
        put_u32(&mut out, parts.periods as usize);
        put_u32(&mut out, parts.claims.len());
        parts.claims.iter().for_each(|claim| put_claim(&mut out, claim));
        put_provenance(&mut out, &parts.provenance);
        put_u32(&mut out, parts.policies.len());
        for policy in &parts.policies {
            let bytes = policy.to_bytes();
            put_u32(&mut out, bytes.len());
            out.extend_from_slice(&bytes);
        }
        out
    }

    /// Reads canonical bytes; anything else, also a byte too many, is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PlanDecodeError> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(PlanDecodeError::NotAPlan);
        }
        let version = reader.u8()?;
        if version != VERSION {
            return Err(PlanDecodeError::Version { found: alloc::format!("plan/{version}") });
        }
        let draft = Self::new(reader.plan()?)?;
        if draft.to_bytes() != bytes {
            return Err(DecodeError::NotCanonical.into());
        }
        Ok(draft)
    }
}

fn put_row(out: &mut Vec<u8>, row: &Row) {
    put_u32(out, row.masses().len());
    put_u64s(out, row.masses());
}

fn put_law(out: &mut Vec<u8>, law: &Law) {
    match law {
        Law::Unknown => out.push(0),
        Law::Tree(nodes) => {
            out.push(1);
            for node in nodes {
                match node {
                    Node::Root(row) => {
                        out.push(0);
                        put_row(out, row);
                    }
                    Node::Given { parent, rows } => {
                        out.push(1);
                        put_u32(out, *parent as usize);
                        put_u32(out, rows.len());
                        rows.iter().for_each(|row| put_row(out, row));
                    }
                }
            }
        }
        Law::Points(points) => {
            out.push(2);
            put_u32(out, points.len());
            for Point { weight, values } in points {
                put_u64s(out, &[*weight]);
                values.iter().for_each(|&value| put_u32(out, value as usize));
            }
        }
    }
}

fn put_claim(out: &mut Vec<u8>, claim: &PlanClaim) {
    let mut put = |about: u8, which: u32, given: u8, notion: u8, levels: &[Nats]| {
        out.push(about);
        put_u32(out, which as usize);
        out.extend_from_slice(&[given, notion]);
        levels.iter().for_each(|level| put_u64s(out, &[level.units()]));
    };
    match *claim {
        PlanClaim::Person { ldp } => put(0, 0, 0, 0, &[ldp]),
        PlanClaim::Question { which, given, lower, upper } => {
            put(1, which, u8::from(given == Given::Own), 1, &[lower, upper]);
        }
        PlanClaim::Secret { which, lower, upper } => put(2, which, 0, 1, &[lower, upper]),
    }
}

impl Reader<'_> {
    fn list<T>(
        &mut self,
        each: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, PlanDecodeError>,
    ) -> Result<Vec<T>, PlanDecodeError> {
        let count = self.count(each)?;
        (0..count).map(|_| read(self)).collect()
    }

    fn plan(&mut self) -> Result<PlanParts, PlanDecodeError> {
        let questions = self.list(9, |reader| {
            let (name, wording) = (reader.text()?, reader.text()?);
            Ok(Question { name, wording, answers: reader.alphabet()? })
        })?;
        let secrets = self.list(5, |reader| {
            Ok(SecretVariable { name: reader.text()?, values: reader.alphabet()? })
        })?;
        let law = self.law(questions.len() + secrets.len())?;
        let items = self.list(13, |reader| {
            let questions = reader.list(4, |reader| Ok(reader.u32()?))?;
            let policy = reader.u32()?;
            let fresh = match reader.u8()? {
                0 => None,
                1 => Some(reader.u32()?),
                _ => return Err(DecodeError::Tag { what: "fresh" }.into()),
            };
            Ok(Item { questions, policy, fresh, weight: reader.u32()? })
        })?;
        let (asked, periods) = (self.u32()?, self.u32()?);
        let claims = self.list(15, Self::plan_claim)?;
        let provenance = self.provenance()?;
        let mut index = 0;
        let policies = self.list(4, |reader| {
            let length = reader.u32()? as usize;
            let bytes = reader.take(length)?;
            let at = index;
            index += 1;
            Draft::from_bytes(bytes).map_err(|error| PlanDecodeError::Policy { index: at, error })
        })?;
        if !self.0.is_empty() {
            return Err(DecodeError::Trailing { bytes: self.0.len() }.into());
        }
        Ok(PlanParts {
            questions,
            secrets,
            law,
            items,
            asked,
            periods,
            claims,
            provenance,
            policies,
        })
    }

    fn row(&mut self) -> Result<Row, PlanDecodeError> {
        let count = self.count(8)?;
        Row::new(self.u64s(count)?).map_err(PlanDecodeError::Row)
    }

    fn law(&mut self, variables: usize) -> Result<Law, PlanDecodeError> {
        Ok(match self.u8()? {
            0 => Law::Unknown,
            1 => {
                let node = |reader: &mut Self| match reader.u8()? {
                    0 => Ok(Node::Root(reader.row()?)),
                    1 => {
                        let parent = reader.u32()?;
                        Ok(Node::Given { parent, rows: reader.list(4, Self::row)? })
                    }
                    _ => Err(DecodeError::Tag { what: "law" }.into()),
                };
                Law::Tree(
                    (0..variables).map(|_| node(self)).collect::<Result<_, PlanDecodeError>>()?,
                )
            }
            2 => Law::Points(self.list(8 + 4 * variables, |reader| {
                let weight = reader.u64()?;
                let values = (0..variables).map(|_| reader.u32()).collect::<Result<_, _>>()?;
                Ok(Point { weight, values })
            })?),
            _ => return Err(DecodeError::Tag { what: "law" }.into()),
        })
    }

    fn plan_claim(&mut self) -> Result<PlanClaim, PlanDecodeError> {
        let about = self.u8()?;
        let which = self.u32()?;
        let (given, notion) = (self.u8()?, self.u8()?);
        let mut level = || Ok::<_, PlanDecodeError>(Nats::from_units(self.u64()?));
        Ok(match (about, given, notion) {
            (0, 0, 0) if which == 0 => PlanClaim::Person { ldp: level()? },
            (1, 0 | 1, 1) => {
                let given = if given == 1 { Given::Own } else { Given::All };
                PlanClaim::Question { which, given, lower: level()?, upper: level()? }
            }
            (2, 0, 1) => PlanClaim::Secret { which, lower: level()?, upper: level()? },
            _ => return Err(DecodeError::Tag { what: "claim" }.into()),
        })
    }
}
