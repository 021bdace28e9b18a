//! How the rows of a column came about.

use crate::Error;
use crate::channel::{Bits, Blocks, Channel, Joint};
use crate::pool::single_prior;
use undertone_core::Policy;
use undertone_numeric::gamma::ln_gamma;

/// A way rows of one column were reported.
#[derive(Clone, Debug)]
pub(crate) enum Design {
    /// As they are.
    Clear { symbols: usize },
    /// Through a policy's channel.
    Randomised {
        channel: Channel,
        /// The policy's own index of each of the column's symbols.
        order: Vec<usize>,
        /// What the policy assumes of its symbols, in its own order; equal shares where it assumes nothing.
        anchor: Vec<f64>,
    },
}

/// A distinct report.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Reading {
    /// Which of the column's designs it was made under.
    pub(crate) design: u32,
    pub(crate) token: Reported,
}

/// One output, or a packed row of bits in the policy's own order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reported {
    Index(u32),
    Bits(Box<[u8]>),
}

impl Design {
    pub(super) fn of(policy: &Policy, order: Vec<usize>) -> Result<Self, Error> {
        let channel = Channel::new(policy.draft().shape())?;
        let size = channel.inputs();
        let anchor = single_prior(policy.draft().context());
        let anchor = anchor.unwrap_or_else(|| vec![1.0 / size as f64; size]);
        Ok(Self::Randomised { channel, order, anchor })
    }

    /// How many different single outputs there are; `None` for bits.
    pub(super) fn outputs(&self) -> Option<usize> {
        match self {
            Self::Clear { symbols } => Some(*symbols),
            Self::Randomised { channel: Channel::Bits(bits), .. } => {
                bits.blocks().map(Blocks::outputs)
            }
            Self::Randomised { channel, .. } => Some(channel.outputs()),
        }
    }

    /// The likelihood of every one of the column's symbols, scaled, and the logarithm of the scale. `None` for a report that no symbol gives.
    pub(crate) fn likelihood(&self, token: &Reported) -> Option<(Vec<f64>, f64)> {
        let row: Vec<f64> = match (self, token) {
            (Self::Clear { symbols }, Reported::Index(own)) => {
                (0..*symbols).map(|x| f64::from(u8::from(x == *own as usize))).collect()
            }
            (Self::Randomised { channel: Channel::Bits(bits), order, .. }, token) => {
                return of_set(bits, token, order);
            }
            (Self::Randomised { channel, order, .. }, Reported::Index(output)) => {
                order.iter().map(|&x| channel.at(x, *output as usize)).collect()
            }
            _ => return None,
        };
        row.iter().any(|&likelihood| likelihood > 0.0).then_some((row, 0.0))
    }

    /// Refuses a token of the wrong kind or one that does not exist.
    pub(super) fn check(&self, at: usize, token: &Reported) -> Result<(), Error> {
        match (self.outputs(), token) {
            (Some(outputs), Reported::Index(index)) if (*index as usize) < outputs => Ok(()),
            (Some(_), Reported::Index(index)) => {
                Err(Error::Token { at, found: format!("output {index}") })
            }
            (None, Reported::Bits(row)) => {
                let symbols = match self {
                    Self::Clear { symbols } => *symbols,
                    Self::Randomised { channel, .. } => channel.inputs(),
                };
                let spare = (symbols..8 * row.len()).any(|bit| is_set(row, bit));
                if row.len() == symbols.div_ceil(8) && !spare {
                    Ok(())
                } else {
                    Err(Error::Token { at, found: format!("not a row of {symbols} bits") })
                }
            }
            (Some(_), Reported::Bits(_)) => Err(Error::Shape { releases: "one output per report" }),
            (None, Reported::Index(_)) => Err(Error::Shape { releases: "rows of bits" }),
        }
    }
}

/// Whether a bit of a packed row is set.
pub(crate) fn is_set(row: &[u8], bit: usize) -> bool {
    row.get(bit / 8).is_some_and(|byte| byte & (0x80 >> (bit % 8)) != 0)
}

/// The likelihood of a set of symbols.
fn of_set(bits: &Bits, token: &Reported, order: &[usize]) -> Option<(Vec<f64>, f64)> {
    match (&bits.joint, token) {
        (Joint::Independent, Reported::Bits(row)) => of_bits(bits.own, bits.other, row, order),
        (Joint::Subset(size), Reported::Bits(row)) => of_subset(bits, *size, row, order),
        (Joint::Blocks(blocks), Reported::Index(block)) => {
            let row: Vec<f64> = order.iter().map(|&x| blocks.at(x, *block as usize)).collect();
            row.iter().any(|&likelihood| likelihood > 0.0).then_some((row, 0.0))
        }
        _ => None,
    }
}

/// The likelihood of a subset: the coin's, over the number of subsets there are of its kind.
fn of_subset(bits: &Bits, size: usize, row: &[u8], order: &[usize]) -> Option<(Vec<f64>, f64)> {
    if row.iter().map(|byte| byte.count_ones() as usize).sum::<usize>() != size {
        return None;
    }
    let (set, clear) = bits.likelihoods();
    let largest = set.max(clear);
    let one = |&x: &usize| if is_set(row, x) { set / largest } else { clear / largest };
    // `likelihoods` leaves out that there are `symbols` choose `size` subsets, each `size` (`symbols` - `size`) / `symbols`
    // times as likely as said.
    let (all, size) = (bits.symbols() as f64, size as f64);
    let subsets = ln_gamma(all + 1.0) - ln_gamma(size + 1.0) - ln_gamma(all - size + 1.0);
    let scale = (largest * all / (size * (all - size))).ln() - subsets;
    Some((order.iter().map(one).collect(), scale))
}

/// The likelihood of a row of bits, from how many were set beside the symbol's own.
fn of_bits(own: f64, other: f64, row: &[u8], order: &[usize]) -> Option<(Vec<f64>, f64)> {
    // 0 ln 0 = 0: what cannot happen matters only where it did.
    let times = |count: u32, p: f64| if count == 0 { 0.0 } else { f64::from(count) * p.ln() };
    let (size, all) = (order.len() as u32, row.iter().map(|byte| byte.count_ones()).sum::<u32>());
    let given = |set: bool| {
        let others = all.saturating_sub(u32::from(set));
        let mine = if set { own.ln() } else { (1.0 - own).ln() };
        mine + times(others, other) + times(size - 1 - others, 1.0 - other)
    };
    // All symbols whose bit is set are alike, and so are all others.
    let set_logarithm = if all > 0 { given(true) } else { f64::NEG_INFINITY };
    let clear_logarithm = if all < size { given(false) } else { f64::NEG_INFINITY };
    let largest = set_logarithm.max(clear_logarithm);
    if !(largest > f64::NEG_INFINITY) {
        return None;
    }
    let scaled = |&x: &usize| {
        let logarithm = if is_set(row, x) { set_logarithm } else { clear_logarithm };
        (logarithm - largest).exp()
    };
    Some((order.iter().map(scaled).collect(), largest))
}
