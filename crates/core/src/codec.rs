//! Canonical bytes: one encoding per policy, so that its hash is its identity.
//!
//! All integers are big-endian. Lists and texts are preceded by their length as u32. Decoding runs
//! the ordinary constructors and then encodes again: bytes that are not the canonical ones are refused.
//! By hand, because every language must write these very bytes and no serialisation library promises one encoding per value.

use crate::alphabet::{Alphabet, AlphabetView};
use crate::claim::{Bound, Claim, Delta, Subject};
use crate::context::{Context, PriorBox, Priors, Secret};
use crate::decimal::Decimal;
use crate::document::DecodeError;
use crate::epsilon::Epsilon;
use crate::incidence::{Family, Geometry, Incidence, Listed, Subsets};
use crate::mass::Prior;
use crate::policy::{Draft, PolicyId, Provenance};
use crate::shape::{Bits, Keep, Shape, ShapeError, Table};
use alloc::string::String;
use alloc::vec::Vec;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 16] = b"undertone/policy";
const VERSION: u8 = 1;

impl Draft {
    /// The canonical bytes: equal policies have equal bytes, and the policy's id is their SHA-256.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.push(VERSION);
        put_alphabet(&mut out, &self.inputs);
        out.push(u8::from(self.outputs.is_some()));
        if let Some(outputs) = &self.outputs {
            put_alphabet(&mut out, outputs);
        }
        put_shape(&mut out, &self.shape);
        put_context(&mut out, &self.context);
        out.push(self.claims.len() as u8);
        for claim in &self.claims {
            put_claim(&mut out, claim);
        }
        put_provenance(&mut out, &self.provenance);
        out
    }

    /// Reads canonical bytes; anything else, also a byte too many, is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(DecodeError::NotAPolicy);
        }
        let version = reader.u8()?;
        if version != VERSION {
            return Err(DecodeError::Version { found: alloc::format!("{version}") });
        }
        let inputs = reader.alphabet()?;
        let outputs = match reader.u8()? {
            0 => None,
            1 => Some(reader.alphabet()?),
            _ => return Err(DecodeError::Tag { what: "outputs" }),
        };
        let shape = reader.shape()?;
        let context = reader.context()?;
        let count = reader.u8()?;
        let claims = (0..count).map(|_| reader.claim()).collect::<Result<_, _>>()?;
        let provenance = reader.provenance()?;
        if !reader.0.is_empty() {
            return Err(DecodeError::Trailing { bytes: reader.0.len() });
        }
        let draft = Self::new(inputs, outputs, shape, context, claims, provenance)?;
        if draft.to_bytes() != bytes {
            return Err(DecodeError::NotCanonical);
        }
        Ok(draft)
    }
}

/// The identity of a draft: SHA-256 of its canonical bytes.
pub(crate) fn policy_id(draft: &Draft) -> PolicyId {
    PolicyId(Sha256::digest(draft.to_bytes()).into())
}

/// Lower-case hexadecimal digits, two per byte.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Bytes from lower-case hexadecimal digits.
pub(crate) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    text.as_bytes().chunks(2).map(byte).collect()
}

/// Fixed-length bytes from lower-case hexadecimal digits.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    hex_bytes(text)?.try_into().ok()
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: usize) {
    // Every length was bounded far below 2^32 by a constructor.
    out.extend_from_slice(&(value as u32).to_be_bytes());
}

pub(crate) fn put_u64s(out: &mut Vec<u8>, values: &[u64]) {
    for value in values {
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_decimal(out: &mut Vec<u8>, value: Decimal) {
    out.extend_from_slice(&value.digits().to_be_bytes());
    out.push(value.scale());
}

fn put_decimals(out: &mut Vec<u8>, values: &[Decimal]) {
    put_u32(out, values.len());
    values.iter().for_each(|&value| put_decimal(out, value));
}

pub(crate) fn put_alphabet(out: &mut Vec<u8>, alphabet: &Alphabet) {
    match alphabet.view() {
        AlphabetView::Indices(size) => {
            out.push(0);
            put_u32(out, size as usize);
        }
        AlphabetView::Names(names) => {
            out.push(1);
            put_u32(out, names.len());
            names.iter().for_each(|name| put_text(out, name));
        }
        AlphabetView::Points(points) => {
            out.push(2);
            put_decimals(out, points);
        }
        AlphabetView::Bins { edges, values } => {
            out.push(3);
            put_decimals(out, edges);
            put_decimals(out, values);
        }
    }
}

fn put_shape(out: &mut Vec<u8>, shape: &Shape) {
    match shape {
        Shape::Table(table) => {
            out.push(0);
            put_u32(out, table.rows().len());
            put_u32(out, table.outputs());
            table.rows().iter().for_each(|row| put_u64s(out, row.masses()));
        }
        Shape::Keep(keep) => {
            out.push(1);
            put_u32(out, keep.keep().len());
            put_u64s(out, keep.keep());
            put_u64s(out, keep.base().masses());
        }
        Shape::Bits(bits) => {
            out.push(2);
            put_u32(out, bits.symbols());
            put_u64s(out, &[bits.own(), bits.other()]);
        }
        Shape::Incidence(incidence) => {
            out.push(3);
            put_u32(out, incidence.symbols());
            put_u64s(out, &[incidence.coin()]);
            put_family(out, incidence.family());
        }
    }
}

fn put_prior(out: &mut Vec<u8>, prior: &Prior) {
    put_u32(out, prior.len());
    put_u64s(out, prior.weights());
}

fn put_priors(out: &mut Vec<u8>, priors: &[Prior]) {
    put_u32(out, priors.len());
    priors.iter().for_each(|prior| put_prior(out, prior));
}

fn put_family(out: &mut Vec<u8>, family: &Family) {
    match family {
        Family::Subsets(subsets) => {
            out.push(0);
            put_u32(out, subsets.size());
        }
        Family::Geometry(geometry) if geometry.is_hashing() => {
            out.push(2);
            put_u32(out, geometry.order() as usize);
            put_u32(out, geometry.dimension() as usize);
        }
        Family::Geometry(geometry) => {
            out.push(1);
            for part in
                [geometry.order(), geometry.dimension(), geometry.classes(), geometry.cosets()]
            {
                put_u32(out, part as usize);
            }
            out.push(u8::from(geometry.zero()));
        }
        Family::Listed(listed) => {
            out.push(3);
            put_u32(out, listed.blocks());
            for block in 0..listed.blocks() {
                put_u32(out, listed.members(block).len());
                listed.members(block).iter().for_each(|&symbol| put_u32(out, symbol as usize));
            }
        }
    }
}

fn put_context(out: &mut Vec<u8>, context: &Context) {
    match context {
        Context::Unknown => out.push(0),
        Context::Known(prior) => {
            out.push(1);
            put_prior(out, prior);
        }
        Context::Each(priors) => {
            out.push(2);
            put_priors(out, priors.as_slice());
        }
        Context::Within(within) => {
            out.push(3);
            put_u32(out, within.lower().len());
            put_u64s(out, within.lower());
            put_u64s(out, within.upper());
        }
        Context::Secret(secret) => {
            out.push(4);
            put_text(out, secret.name());
            put_prior(out, secret.prior());
            put_priors(out, secret.rows());
        }
    }
}

fn put_claim(out: &mut Vec<u8>, claim: &Claim) {
    out.push(match claim.about {
        Subject::Input => 0,
        Subject::Secret => 1,
    });
    let mut odds = |tag: u8, levels: &[Epsilon]| {
        out.push(tag);
        for level in levels {
            let (numerator, denominator) = level.odds();
            out.extend_from_slice(&numerator.to_be_bytes());
            out.extend_from_slice(&denominator.to_be_bytes());
        }
    };
    match claim.bound {
        Bound::Ldp(epsilon) => odds(0, &[epsilon]),
        Bound::Lip { lower, upper } => odds(1, &[lower, upper]),
        Bound::Di(epsilon) => odds(2, &[epsilon]),
    }
    put_u64s(out, &[claim.delta.units()]);
}

pub(crate) fn put_provenance(out: &mut Vec<u8>, provenance: &Provenance) {
    put_text(out, &provenance.source);
    put_u64s(out, &[provenance.n]);
    put_text(out, &provenance.date);
    out.push(u8::from(provenance.confidence.is_some()));
    if let Some(confidence) = provenance.confidence {
        put_decimal(out, confidence);
    }
    put_u64s(out, &[provenance.rounding]);
}

/// What is left to read. Nothing is allocated for a list before its bytes are known to be there.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        if count > self.0.len() {
            return Err(DecodeError::Truncated { missing: count - self.0.len() });
        }
        let (head, tail) = self.0.split_at(count);
        self.0 = tail;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64s(&mut self, count: usize) -> Result<Vec<u64>, DecodeError> {
        let bytes = self.take(count.saturating_mul(8))?;
        let read = |chunk: &[u8]| chunk.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
        Ok(bytes.chunks_exact(8).map(read).collect())
    }

    /// A length whose items take at least `each` bytes, which must still be there.
    pub(crate) fn count(&mut self, each: usize) -> Result<usize, DecodeError> {
        let count = self.u32()? as usize;
        match count.saturating_mul(each).checked_sub(self.0.len()) {
            Some(missing) if missing > 0 => Err(DecodeError::Truncated { missing }),
            _ => Ok(count),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, DecodeError> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        core::str::from_utf8(bytes).map(Into::into).map_err(|_| DecodeError::NotText)
    }

    fn decimal(&mut self) -> Result<Decimal, DecodeError> {
        let digits = i64::from_be_bytes(self.array()?);
        Ok(Decimal::new(digits, self.u8()?)?)
    }

    fn decimals(&mut self) -> Result<Vec<Decimal>, DecodeError> {
        let count = self.count(9)?;
        (0..count).map(|_| self.decimal()).collect()
    }

    pub(crate) fn alphabet(&mut self) -> Result<Alphabet, DecodeError> {
        Ok(match self.u8()? {
            0 => Alphabet::indices(self.u32()? as usize)?,
            1 => {
                let count = self.count(4)?;
                let names = (0..count).map(|_| self.text()).collect::<Result<Vec<_>, _>>()?;
                Alphabet::names(names)?
            }
            2 => Alphabet::points(self.decimals()?)?,
            3 => {
                let edges = self.decimals()?;
                Alphabet::bins(edges, self.decimals()?)?
            }
            _ => return Err(DecodeError::Tag { what: "alphabet" }),
        })
    }

    fn shape(&mut self) -> Result<Shape, DecodeError> {
        Ok(match self.u8()? {
            0 => {
                let inputs = self.u32()? as usize;
                let outputs = self.u32()? as usize;
                let bytes = inputs.saturating_mul(outputs).saturating_mul(8);
                let missing = bytes.saturating_sub(self.0.len());
                if outputs == 0 || missing > 0 {
                    return Err(DecodeError::Truncated { missing });
                }
                let rows = (0..inputs).map(|_| self.u64s(outputs)).collect::<Result<_, _>>()?;
                Shape::Table(Table::from_masses(rows)?)
            }
            1 => {
                let symbols = self.count(16)?;
                let keep = self.u64s(symbols)?;
                Shape::Keep(Keep::new(keep, self.u64s(symbols)?)?)
            }
            2 => {
                let symbols = self.u32()? as usize;
                let own = self.u64()?;
                Shape::Bits(Bits::new(symbols, own, self.u64()?)?)
            }
            3 => {
                let symbols = self.u32()? as usize;
                let coin = self.u64()?;
                let family = self.family(symbols)?;
                Shape::Incidence(Incidence::new(symbols, coin, family).map_err(ShapeError::from)?)
            }
            _ => return Err(DecodeError::Tag { what: "shape" }),
        })
    }

    fn family(&mut self, symbols: usize) -> Result<Family, DecodeError> {
        let family = match self.u8()? {
            0 => Ok(Family::Subsets(Subsets::new(self.u32()? as usize))),
            1 => {
                let [order, dimension, classes, cosets] =
                    [self.u32()?, self.u32()?, self.u32()?, self.u32()?];
                let zero = match self.u8()? {
                    0 => false,
                    1 => true,
                    _ => return Err(DecodeError::Tag { what: "family.zero" }),
                };
                Geometry::new(order, dimension, classes, cosets, zero).map(Family::Geometry)
            }
            2 => {
                let buckets = self.u32()?;
                Geometry::hashing(buckets, self.u32()?).map(Family::Geometry)
            }
            3 => {
                let count = self.count(4)?;
                let list = |reader: &mut Self| {
                    let size = reader.count(4)?;
                    (0..size).map(|_| reader.u32()).collect::<Result<Vec<u32>, _>>()
                };
                let blocks = (0..count).map(|_| list(self)).collect::<Result<Vec<_>, _>>()?;
                Listed::new(symbols, &blocks).map(Family::Listed)
            }
            _ => return Err(DecodeError::Tag { what: "family" }),
        };
        Ok(family.map_err(ShapeError::from)?)
    }

    fn prior(&mut self) -> Result<Prior, DecodeError> {
        let count = self.count(8)?;
        Ok(Prior::new(self.u64s(count)?)?)
    }

    fn priors(&mut self) -> Result<Vec<Prior>, DecodeError> {
        let count = self.count(4)?;
        (0..count).map(|_| self.prior()).collect()
    }

    fn context(&mut self) -> Result<Context, DecodeError> {
        Ok(match self.u8()? {
            0 => Context::Unknown,
            1 => Context::Known(self.prior()?),
            2 => Context::Each(Priors::new(self.priors()?)?),
            3 => {
                let count = self.count(16)?;
                let lower = self.u64s(count)?;
                Context::Within(PriorBox::new(lower, self.u64s(count)?)?)
            }
            4 => {
                let name = self.text()?;
                let prior = self.prior()?;
                Context::Secret(Secret::new(name, prior, self.priors()?)?)
            }
            _ => return Err(DecodeError::Tag { what: "context" }),
        })
    }

    fn epsilon(&mut self) -> Result<Epsilon, DecodeError> {
        let numerator = self.u32()?;
        Ok(Epsilon::from_odds(numerator, self.u32()?)?)
    }

    fn claim(&mut self) -> Result<Claim, DecodeError> {
        let about = match self.u8()? {
            0 => Subject::Input,
            1 => Subject::Secret,
            _ => return Err(DecodeError::Tag { what: "claim.about" }),
        };
        let bound = match self.u8()? {
            0 => Bound::Ldp(self.epsilon()?),
            1 => {
                let lower = self.epsilon()?;
                Bound::Lip { lower, upper: self.epsilon()? }
            }
            2 => Bound::Di(self.epsilon()?),
            _ => return Err(DecodeError::Tag { what: "claim.notion" }),
        };
        Ok(Claim { about, bound, delta: Delta::from_units(self.u64()?)? })
    }

    pub(crate) fn provenance(&mut self) -> Result<Provenance, DecodeError> {
        let source = self.text()?;
        let n = self.u64()?;
        let date = self.text()?;
        let confidence = match self.u8()? {
            0 => None,
            1 => Some(self.decimal()?),
            _ => return Err(DecodeError::Tag { what: "provenance.confidence" }),
        };
        Ok(Provenance { source, n, date, confidence, rounding: self.u64()? })
    }
}
