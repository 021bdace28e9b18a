//! The likelihood of what was released, one number per symbol, between two ends.

use crate::mass::{KEEP_ONE, MASS_ONE, WEIGHT_ONE};
use crate::shape::Shape;
use crate::symbol::Token;
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;

/// Bits kept of the largest likelihood. Times an output, a prior and a law of the secret it stays inside [`Wide`].
const KEPT_BITS: u32 = 160;

/// L(x) = Π_t w_t(y_t|x) up to a common factor, rounded down and up; exact while it fits.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) lower: Vec<Wide>,
    /// The upper ends, once they differ.
    upper: Option<Vec<Wide>>,
}

impl Factor {
    /// Nothing released: every symbol is equally likely to have said it.
    pub(crate) fn new(size: usize) -> Self {
        Self { lower: vec![Wide::from(1u64); size], upper: None }
    }

    pub(crate) fn upper(&self) -> &[Wide] {
        self.upper.as_deref().unwrap_or(&self.lower)
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.upper.is_none()
    }

    /// Whether no symbol can have said all of it.
    pub(crate) fn is_impossible(&self) -> bool {
        self.upper().iter().all(|end| end.is_zero())
    }

    /// Multiplies by one more release; symbol x is symbol `order[x]` of its policy.
    pub(crate) fn times(&mut self, shape: &Shape, token: &Token, order: &[usize]) {
        let (low, high) = likelihoods(shape, token);
        if high.is_some() && self.upper.is_none() {
            self.upper = Some(self.lower.clone());
        }
        let multiply = |ends: &mut Vec<Wide>, by: &[Wide]| {
            for (end, &x) in ends.iter_mut().zip(order) {
                *end = *end * by[x];
            }
        };
        multiply(&mut self.lower, &low);
        if let Some(upper) = &mut self.upper {
            multiply(upper, high.as_deref().unwrap_or(&low));
        }
        self.shorten();
    }

    /// Drops low bits that all entries lack, then those beyond [`KEPT_BITS`], outward.
    fn shorten(&mut self) {
        let ends = || self.lower.iter().chain(self.upper()).filter(|end| !end.is_zero());
        let (spare, longest) = (
            ends().map(|end| end.trailing_zeros()).min().unwrap_or(0),
            ends().map(|end| end.bits()).max().unwrap_or(0),
        );
        let lost = (longest - spare.min(longest)).saturating_sub(KEPT_BITS);
        if lost > 0 && self.upper.is_none() {
            self.upper = Some(self.lower.clone());
        }
        for end in &mut self.lower {
            *end = *end >> (spare + lost);
        }
        for end in self.upper.iter_mut().flatten() {
            *end = end.shift_up(spare + lost);
        }
    }
}

/// w(y|x) for every input x, up to a common factor; from below and, where they differ, from above.
fn likelihoods(shape: &Shape, token: &Token) -> (Vec<Wide>, Option<Vec<Wide>>) {
    let Shape::Incidence(incidence) = shape else { return (exact_likelihoods(shape, token), None) };
    let is_inside = |x: usize| match token {
        Token::Index(block) => incidence.contains(*block, x as u32),
        Token::Bits(packed) => packed[x / 8] & (0x80 >> (x % 8)) != 0,
    };
    let levels = incidence.levels();
    let ends = (0..incidence.symbols()).map(|x| levels.of(is_inside(x)));
    let (low, high): (Vec<Wide>, Vec<Wide>) =
        ends.map(|(low, high)| (Wide::from(low), Wide::from(high))).unzip();
    (low, (!levels.is_exact()).then_some(high))
}

fn exact_likelihoods(shape: &Shape, token: &Token) -> Vec<Wide> {
    match (shape, token) {
        (Shape::Table(table), Token::Index(y)) => {
            table.rows().iter().map(|row| Wide::from(row.masses()[*y as usize])).collect()
        }
        (Shape::Keep(keep), Token::Index(y)) => {
            let base = u128::from(keep.base().masses()[*y as usize]);
            let entry = |(x, &kept): (usize, &u64)| {
                let own =
                    if x == *y as usize { u128::from(kept) * u128::from(MASS_ONE) } else { 0 };
                Wide::from(own + u128::from(KEEP_ONE - kept) * base)
            };
            keep.keep().iter().enumerate().map(entry).collect()
        }
        (Shape::Bits(bits), Token::Bits(packed)) => {
            let one = u128::from(WEIGHT_ONE);
            let (p, q) = (u128::from(bits.own()), u128::from(bits.other()));
            let is_set = |x: usize| packed[x / 8] & (0x80 >> (x % 8)) != 0;
            let speaks = |x: usize| if is_set(x) { p * (one - q) } else { (one - p) * q };
            let entries: Vec<u128> = (0..bits.symbols()).map(speaks).collect();
            // Where other bits are certain the common factor can be nought; then nothing tells symbols apart.
            let silent = entries.iter().all(|&entry| entry == 0);
            entries.into_iter().map(|entry| Wide::from(if silent { 1 } else { entry })).collect()
        }
        // A sequence takes no report its policy does not own.
        _ => vec![Wide::ZERO; shape.inputs()],
    }
}

/// How many tokens a shape can release, where they can be listed.
pub(crate) fn listed_tokens(shape: &Shape) -> Option<usize> {
    match shape {
        Shape::Table(_) | Shape::Keep(_) => Some(shape.outputs()),
        Shape::Bits(bits) => (bits.symbols() <= 16).then(|| 1 << bits.symbols()),
        Shape::Incidence(incidence) => incidence.blocks(),
    }
}

/// The token with this number among all a shape can release.
pub(crate) fn token_at(shape: &Shape, number: usize) -> Token {
    let Shape::Bits(bits) = shape else { return Token::Index(number as u32) };
    let mut packed = vec![0u8; bits.symbols().div_ceil(8)];
    for bit in (0..bits.symbols()).filter(|bit| number >> bit & 1 == 1) {
        packed[bit / 8] |= 0x80 >> (bit % 8);
    }
    Token::Bits(packed.into())
}
