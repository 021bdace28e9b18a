//! Scores whose mean, given a row's true value, is that value.

use super::design::{Design, Reading, Reported, is_set};
use crate::Error;
use crate::channel::{Bits, Channel};
use undertone_numeric::qr::Qr;

/// More cells than these are not inverted.
const MOST_CELLS: usize = 1 << 24;

/// The generalised inverse of one design: for every report a score g with E[g(a) | x] = 1 if a = x and 0 otherwise, for every
/// symbol a that the design determines. Its weights come from what the policy assumes, never from the reports.
#[derive(Clone, Debug)]
pub(crate) struct Inverse {
    symbols: usize,
    kind: Kind,
    determined: Vec<bool>,
    square: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Clear,
    /// For every symbol, a weight for every output; and the channel, symbol after symbol.
    Outputs {
        weights: Vec<Vec<f64>>,
        law: Vec<Vec<f64>>,
    },
    Bits {
        bits: Box<Bits>,
        order: Vec<usize>,
    },
}

impl Inverse {
    pub(crate) fn new(design: &Design) -> Result<Self, Error> {
        let (channel, order, anchor) = match design {
            Design::Clear { symbols } => {
                let determined = vec![true; *symbols];
                return Ok(Self { symbols: *symbols, kind: Kind::Clear, determined, square: true });
            }
            Design::Randomised { channel, order, anchor } => (channel, order, anchor),
        };
        let symbols = order.len();
        if let Channel::Bits(bits) = channel {
            let kind = Kind::Bits { bits: Box::new(bits.clone()), order: order.clone() };
            let determined = vec![bits.gap() != 0.0; symbols];
            return Ok(Self { symbols, kind, determined, square: false });
        }
        let cells = symbols.saturating_mul(channel.outputs());
        if cells > MOST_CELLS {
            return Err(Error::TooLarge { what: "a column's inverse", cells, limit: MOST_CELLS });
        }
        let law: Vec<Vec<f64>> = order
            .iter()
            .map(|&x| (0..channel.outputs()).map(|y| channel.at(x, y)).collect())
            .collect();
        let scale = |law: f64| if law > 0.0 { 1.0 / law.sqrt() } else { 0.0 };
        let scales: Vec<f64> = channel.forward(anchor).into_iter().map(scale).collect();
        let scaled = |row: &Vec<f64>| row.iter().zip(&scales).map(|(p, scale)| p * scale).collect();
        let qr = Qr::new(law.iter().map(scaled).collect());
        let inverse = qr.inverse();
        let determined = (0..symbols)
            .map(|x| {
                let mut unit = vec![0.0; symbols];
                unit[x] = 1.0;
                inverse.determines(&unit)
            })
            .collect();
        let possible = scales.iter().filter(|scale| **scale > 0.0).count();
        let square = qr.rank() == symbols && possible == symbols;
        let mut weights = inverse.rows;
        for row in &mut weights {
            row.iter_mut().zip(&scales).for_each(|(weight, scale)| *weight *= scale);
        }
        Ok(Self { symbols, kind: Kind::Outputs { weights, law }, determined, square })
    }

    /// Which symbols' shares the design determines.
    pub(crate) fn determined(&self) -> &[bool] {
        &self.determined
    }

    /// Whether there is exactly one inverse: as many possible outputs as symbols, all of them told apart.
    pub(crate) fn is_square(&self) -> bool {
        self.square
    }

    /// The score of a report for every symbol; 0 where nothing is determined.
    pub(crate) fn scores(&self, reading: &Reading) -> Vec<f64> {
        let score = |a: usize| match (&self.kind, &reading.token) {
            (Kind::Clear, Reported::Index(own)) => f64::from(u8::from(a == *own as usize)),
            (Kind::Outputs { weights, .. }, Reported::Index(output)) => {
                weights[a][*output as usize]
            }
            (Kind::Bits { bits, order }, token) if bits.gap() != 0.0 => {
                let set = match (token, bits.blocks()) {
                    (Reported::Index(block), Some(blocks)) => {
                        blocks.contains(*block as usize, order[a])
                    }
                    (Reported::Bits(row), _) => is_set(row, order[a]),
                    (Reported::Index(_), None) => false,
                };
                (f64::from(u8::from(set)) - bits.other) / bits.gap()
            }
            _ => 0.0,
        };
        (0..self.symbols).map(score).collect()
    }

    /// E[g(a)² | x].
    pub(crate) fn square(&self, a: usize, x: usize) -> f64 {
        match &self.kind {
            Kind::Clear => f64::from(u8::from(a == x)),
            Kind::Outputs { weights, law } => {
                weights[a].iter().zip(&law[x]).map(|(weight, p)| weight * weight * p).sum()
            }
            Kind::Bits { bits, .. } => {
                let gap = bits.gap();
                let (p, mean) = if a == x { (bits.own, 1.0) } else { (bits.other, 0.0) };
                if gap == 0.0 { 0.0 } else { p * (1.0 - p) / (gap * gap) + mean }
            }
        }
    }
}
