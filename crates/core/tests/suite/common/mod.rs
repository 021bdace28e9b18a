//! Slow, independent arithmetic in exact rationals, straight from the definitions, and seeded
//! random channels to hold the kernel against it.
//!
//! Nothing here calls the kernel's own arithmetic: numbers enter as the integers of a draft and
//! leave the kernel as decimal digits.

// Every test binary uses a part of this.
#![allow(dead_code, unused_imports, clippy::unwrap_used)]

mod exact;
mod random;

pub(crate) use exact::*;
pub(crate) use random::Random;

use dashu::float::FBig;
use dashu::float::round::mode::HalfEven;
use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use undertone_core::{
    Alphabet, Bound, Claim, Context, Delta, Draft, Epsilon, Nats, Prior, Provenance, Ratio, Shape,
    Subject, Table,
};

pub(crate) type Q = RBig;

/// A leakage ratio; `None` is "without bound".
pub(crate) type Level = Option<Q>;

/// numerator / denominator.
pub(crate) fn ratio(numerator: u64, denominator: u64) -> Q {
    Q::from_parts(IBig::from(numerator), UBig::from(denominator))
}

/// value x 2^-bits.
pub(crate) fn binary(value: u64, bits: usize) -> Q {
    Q::from_parts(IBig::from(value), UBig::ONE << bits)
}

pub(crate) fn odds(epsilon: Epsilon) -> Q {
    let (numerator, denominator) = epsilon.odds();
    ratio(u64::from(numerator), u64::from(denominator))
}

/// What the kernel says, read from its digits.
pub(crate) fn value(ratio: Ratio) -> Level {
    match ratio.to_string().as_str() {
        "unbounded" => None,
        digits => Some(digits.parse().unwrap()),
    }
}

/// Units of 10^-10 as a rational.
pub(crate) fn nats(nats: Nats) -> Q {
    ratio(nats.units(), 10_000_000_000)
}

/// ln to about 200 bits, by the big-number library's own algorithm.
pub(crate) fn ln(x: &Q) -> Q {
    let float: FBig<HalfEven, 2> = x.to_float(240).value();
    Q::try_from(float.ln()).unwrap()
}

/// e^x to about 200 bits.
pub(crate) fn exp(x: &Q) -> Q {
    let float: FBig<HalfEven, 2> = x.to_float(400).value();
    Q::try_from(float.exp()).unwrap()
}

/// Half a unit in the last place of what [`ln`] can be trusted with.
pub(crate) fn doubt() -> Q {
    binary(1, 200)
}

/// A draft over bare indices.
pub(crate) fn draft(shape: Shape, context: Context, claims: Vec<Claim>) -> Draft {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let outputs =
        matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap());
    Draft::new(inputs, outputs, shape, context, claims, Provenance::default()).unwrap()
}

pub(crate) fn table(rows: &[&[u64]]) -> Shape {
    Shape::Table(Table::from_masses(rows.iter().map(|row| row.to_vec()).collect()).unwrap())
}

pub(crate) fn prior(weights: &[u64]) -> Prior {
    Prior::new(weights.to_vec()).unwrap()
}

pub(crate) fn level(numerator: u32, denominator: u32) -> Epsilon {
    Epsilon::from_odds(numerator, denominator).unwrap()
}

pub(crate) fn alip(lower: Epsilon, upper: Epsilon) -> Claim {
    Claim { about: Subject::Input, bound: Bound::Lip { lower, upper }, delta: Delta::ZERO }
}

/// Bytes from hexadecimal digits; anything else is ignored.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The identity of a draft, from outside: the id its document states.
pub(crate) fn stated_id(draft: &Draft) -> String {
    let json = draft.to_json();
    let start = json.find("\"id\": \"").unwrap() + 7;
    json[start..start + 64].into()
}

/// A release of which the policy is at hand and the answer is not.
pub(crate) fn past(earlier: Option<&undertone_core::Policy>) -> undertone_core::Sequence<'_> {
    let mut past = undertone_core::Sequence::new();
    earlier.into_iter().for_each(|policy| past.untold(policy));
    past
}
