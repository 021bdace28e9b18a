//! How one symbol out of K is randomised, and how well shares are read off its reports.
//!
//! A **cell** is a set of M of the K symbols: one answer to one question of a combined symbol, or one pair of answers.
//! Each randomisation has a score whose mean is 1 for people in the cell and 0 for all others. Only the second moments of
//! the score in those two cases matter: with share t of a cell, n·Var = t·hit + (1-t)·miss - t², and summed over cells that
//! partition the symbols, hit + (cells - 1)·miss - Σt². Nothing else of the law of the answers enters.

use undertone_core::incidence::Family;
use undertone_core::{KEEP_ONE, MASS_ONE, Shape, WEIGHT_ONE};
use undertone_numeric::golden_section::golden_section;

/// The two coins of a randomisation of one symbol, and their shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coins {
    /// A symbol is released: the own one with one probability, each other with another.
    Keep {
        /// The probability of the own symbol.
        own: f64,
        /// The probability of each other one.
        other: f64,
    },
    /// A bit for every symbol.
    Bits {
        /// The probability that the own bit is set.
        own: f64,
        /// The probability that any other bit is set.
        other: f64,
    },
    /// A set of so many symbols, all sets with the own symbol alike, and all without.
    Subset {
        /// How many symbols a set has.
        size: usize,
        /// The probability that the own symbol is in it.
        own: f64,
    },
    /// A symbol kept as a memo by `Keep`, and several reports drawn afresh from the memo.
    Memo {
        /// The memo's probability of the own symbol.
        own: f64,
        /// The memo's probability of each other one.
        other: f64,
        /// How a report is drawn from the memo.
        fresh: Fresh,
        /// How many reports of one memo the curator averages.
        reports: f64,
    },
}

/// How a report is drawn from a memo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fresh {
    /// As `Keep` does.
    Keep {
        /// The probability of the memo's symbol.
        own: f64,
        /// The probability of each other one.
        other: f64,
    },
    /// As `Bits` does.
    Bits {
        /// The probability that the bit of the memo's symbol is set.
        own: f64,
        /// The probability that any other bit is set.
        other: f64,
    },
}

/// Repeated reports of one answer: a memo for a period, and reports drawn from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeats {
    /// How many reports a period has; the curator averages them for each person.
    pub reports: u64,
    /// The level of one report alone, as a part of the level of any number of them; above 0 and below 1.
    pub first: f64,
}

/// Second moments of the unbiased score of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// For a person in the cell.
    pub hit: f64,
    /// For anybody else.
    pub miss: f64,
}

impl Moments {
    /// Summed over so many cells that partition the symbols, for one person: one of them is the person's.
    pub fn total(self, cells: f64) -> f64 {
        self.hit + (cells - 1.0) * self.miss
    }
}

impl Coins {
    /// k-ary randomised response at a level.
    pub fn keep(level: f64, symbols: usize) -> Self {
        let (own, other) = kept(level, symbols);
        Self::Keep { own, other }
    }

    /// Bits at a level with the own bit's probability given: the odds ratio of the two coins is e^level.
    pub fn bits(level: f64, own: f64) -> Self {
        Self::Bits { own, other: other_bit(level, own) }
    }

    /// Sets of `size` of the symbols at a level.
    pub fn subset(level: f64, symbols: usize, size: usize) -> Self {
        let weight = size as f64 * level.exp();
        Self::Subset { size, own: weight / (weight + (symbols - size) as f64) }
    }

    /// A memo at a level with reports of randomised response: `first` of the level is what one report alone attains.
    pub fn memo_kept(level: f64, symbols: usize, repeats: Repeats) -> Self {
        let (own, other) = kept(level, symbols);
        // Randomised response of randomised response is one again, whose gaps multiply.
        let (own_first, other_first) = kept(level * repeats.first, symbols);
        let gap = (own_first - other_first) / (own - other);
        let spread = (1.0 - gap) / symbols as f64;
        let fresh = Fresh::Keep { own: gap + spread, other: spread };
        Self::Memo { own, other, fresh, reports: repeats.reports as f64 }
    }

    /// A memo at a level with reports of bits, with the probability of the memo's own bit given.
    pub fn memo_bits(level: f64, symbols: usize, bit: f64, repeats: Repeats) -> Self {
        let (own, other) = kept(level, symbols);
        let span = memo_bits_level(level, symbols, repeats);
        let fresh = Fresh::Bits { own: bit, other: other_bit(span, bit) };
        Self::Memo { own, other, fresh, reports: repeats.reports as f64 }
    }

    /// The coins of a policy's integers: `Keep` with one probability and a uniform base, `Bits`, or all sets of one size, as a
    /// table or a family. Nothing for any other shape.
    pub fn of(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Keep(keep) => {
                let lambda = *keep.keep().first()? as f64 / KEEP_ONE as f64;
                let symbols = keep.keep().len();
                let one = keep.keep().iter().all(|part| *part == keep.keep()[0]);
                let base = keep.base().masses();
                let even = base.iter().all(|mass| mass.abs_diff(base[0]) <= 1);
                let other = (1.0 - lambda) / symbols as f64;
                (one && even).then_some(Self::Keep { own: lambda + other, other })
            }
            Shape::Bits(bits) => {
                let part = |units: u64| units as f64 / WEIGHT_ONE as f64;
                Some(Self::Bits { own: part(bits.own()), other: part(bits.other()) })
            }
            Shape::Table(table) => {
                let symbols = table.rows().len();
                let size = (1..symbols).find(|&size| binomial(symbols, size) == table.outputs())?;
                let sets = subsets(symbols, size);
                let own = |x: usize| {
                    let masses = table.rows()[x].masses().iter().zip(&sets);
                    let inside = masses.filter(|(_, set)| set.contains(&x));
                    inside.map(|(mass, _)| *mass as f64 / MASS_ONE as f64).sum::<f64>()
                };
                let chance = own(0);
                let alike = (0..symbols).all(|x| (own(x) - chance).abs() < 1e-6);
                alike.then_some(Self::Subset { size, own: chance })
            }
            Shape::Incidence(incidence) => match incidence.family() {
                Family::Subsets(subsets) => {
                    let own = incidence.coin() as f64 / MASS_ONE as f64;
                    Some(Self::Subset { size: subsets.size(), own })
                }
                // How often three symbols share a block differs from triple to triple.
                Family::Geometry(_) | Family::Listed(_) => None,
            },
        }
    }

    /// These coins with reports drawn from a memo by other coins; nothing unless the memo keeps a symbol.
    pub fn with_fresh(self, fresh: Self, reports: u64) -> Option<Self> {
        let Self::Keep { own, other } = self else { return None };
        let fresh = match fresh {
            Self::Keep { own, other } => Fresh::Keep { own, other },
            Self::Bits { own, other } => Fresh::Bits { own, other },
            _ => return None,
        };
        Some(Self::Memo { own, other, fresh, reports: reports as f64 })
    }

    /// The second moments of the score of a cell of `cell` of the `symbols` symbols.
    pub fn moments(self, symbols: usize, cell: f64) -> Moments {
        match self {
            Self::Keep { own, other } => kept_moments(own, other, cell),
            Self::Bits { own, other } => bit_moments(own, other, cell),
            Self::Subset { size, own } => subset_moments(symbols as f64, size as f64, own, cell),
            Self::Memo { own, other, fresh, reports } => {
                let memo = kept_moments(own, other, cell);
                let drawn = match fresh {
                    Fresh::Keep { own, other } => kept_moments(own, other, cell),
                    Fresh::Bits { own, other } => bit_moments(own, other, cell),
                };
                // The average of R scores of the memo has the memo's indicator as its mean, and a noise of its own.
                let scale = reports * (own - other).powi(2);
                let noise = |inside: f64| {
                    (inside * (drawn.hit - 1.0) + (1.0 - inside) * drawn.miss) / scale
                };
                let aside = cell * other;
                Moments {
                    hit: memo.hit + noise(aside + own - other),
                    miss: memo.miss + noise(aside),
                }
            }
        }
    }

    /// What the randomisation is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Keep { .. } => "randomised response",
            Self::Bits { .. } => "bits",
            Self::Subset { .. } => "sets",
            Self::Memo { fresh: Fresh::Keep { .. }, .. } => "memo and randomised response",
            Self::Memo { fresh: Fresh::Bits { .. }, .. } => "memo and bits",
        }
    }
}

/// The level of the bits drawn from a memo at which one report alone attains its part of the memo's level.
///
/// With j bits set and odds ratio r, a symbol whose bit is set and one whose bit is not have likelihoods
/// (own - other) r + other (j r + K - j) and (own - other) + other (j r + K - j), furthest apart for j = 1; their ratio
/// at the level of one report is solved for r.
pub fn memo_bits_level(level: f64, symbols: usize, repeats: Repeats) -> f64 {
    let (own, other) = kept(level, symbols);
    let first = (level * repeats.first).exp();
    let shared = other * (symbols as f64 - 1.0);
    ((first * (own - other + shared) - shared) / (own - first * other)).ln()
}

/// The own bit's probability at which a cost is least, at a level: from one half (best for rare symbols) upwards.
pub fn best_own_bit(level: f64, cost: impl Fn(f64) -> f64) -> f64 {
    let own = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    let (low, high) = golden_section(0.0, level, 40, |logit| cost(own(logit)));
    own((low + high) / 2.0)
}

/// The number of sets of `size` of `symbols` symbols, or the largest number there is.
pub fn binomial(symbols: usize, size: usize) -> usize {
    let size = size.min(symbols - size.min(symbols));
    let step = |found: Option<usize>, at: usize| Some(found?.checked_mul(symbols - at)? / (at + 1));
    (0..size).fold(Some(1), step).unwrap_or(usize::MAX)
}

/// All sets of `size` of `symbols` symbols, in lexicographic order.
pub fn subsets(symbols: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    if size > symbols {
        return all;
    }
    let mut set: Vec<usize> = (0..size).collect();
    loop {
        all.push(set.clone());
        // The last place that can still move up.
        let Some(at) = (0..size).rev().find(|&at| set[at] < symbols - size + at) else {
            return all;
        };
        set[at] += 1;
        for later in at + 1..size {
            set[later] = set[later - 1] + 1;
        }
    }
}

/// The two probabilities of randomised response.
fn kept(level: f64, symbols: usize) -> (f64, f64) {
    let other = 1.0 / (level.exp() + symbols as f64 - 1.0);
    (1.0 - (symbols as f64 - 1.0) * other, other)
}

/// The other bits' probability at odds ratio e^level.
fn other_bit(level: f64, own: f64) -> f64 {
    own / (own + level.exp() * (1.0 - own))
}

fn kept_moments(own: f64, other: f64, cell: f64) -> Moments {
    let gap = own - other;
    let aside = cell * other;
    let moment = |inside: f64| {
        (inside * (1.0 - aside).powi(2) + (1.0 - inside) * aside * aside) / (gap * gap)
    };
    Moments { hit: moment(aside + gap), miss: moment(aside) }
}

fn bit_moments(own: f64, other: f64, cell: f64) -> Moments {
    let square = (own - other).powi(2);
    let noise = other * (1.0 - other);
    Moments {
        hit: 1.0 + (own * (1.0 - own) + (cell - 1.0) * noise) / square,
        miss: cell * noise / square,
    }
}

/// A set is drawn with the own symbol, and then `size - 1` of the others, or without it, and then `size` of them.
fn subset_moments(symbols: f64, size: f64, own: f64, cell: f64) -> Moments {
    let rest = symbols - 1.0;
    // Mean and variance of how many of `good` of the others are among `drawn` of them.
    let counted = |good: f64, drawn: f64| {
        let part = good / rest;
        let spread = if rest > 1.0 { (rest - drawn) / (rest - 1.0) } else { 0.0 };
        (drawn * part, drawn * part * (1.0 - part) * spread)
    };
    let other = (own * (size - 1.0) + (1.0 - own) * size) / rest;
    let gap = own - other;
    let square =
        |plus: f64, (mean, variance): (f64, f64)| (plus + mean - cell * other).powi(2) + variance;
    let hit = own * square(1.0, counted(cell - 1.0, size - 1.0))
        + (1.0 - own) * square(0.0, counted(cell - 1.0, size));
    let miss = own * square(0.0, counted(cell, size - 1.0))
        + (1.0 - own) * square(0.0, counted(cell, size));
    Moments { hit: hit / (gap * gap), miss: miss / (gap * gap) }
}
