//! What one report's score is given every symbol, and how tilting changes it.

use super::blocks::blocks_tilt;
use super::subset::{Subset, subset_tilt};
use crate::channel::{Bits, Channel, Joint};
use undertone_numeric::vector::long_dot;

/// The law of one report's score given each of some points: the symbols, or a symbol and all others.
#[derive(Clone, Debug)]
pub(crate) enum Law<'a> {
    /// A score for every output, or one for every bit that is set, and `offset` added once; the points are the
    /// symbols.
    Channel {
        /// Where the report comes from.
        channel: &'a Channel,
        /// For every output or bit.
        scores: Vec<f64>,
        /// Added to every report's score.
        offset: f64,
    },
    /// `clear` or, with a probability for every point, `clear` + `jump`.
    Coin {
        /// The score without the event.
        clear: f64,
        /// What the event adds.
        jump: f64,
        /// The event's probability given each point.
        chances: Vec<f64>,
    },
    /// Any law between two ends with this mean and at most this variance given each point.
    Bounded {
        /// The least and the greatest score.
        ends: (f64, f64),
        /// Mean and variance for every point.
        moments: Vec<(f64, f64)>,
    },
    /// A law given finer points, of which several are one: whatever is true of the worst of them.
    Lumped {
        /// Given each finer point.
        law: Box<Law<'a>>,
        /// Which point each finer one belongs to; every point has some.
        points: &'a [u32],
        /// How many points there are.
        size: usize,
    },
}

/// The law of a score with density e^{s score}, up to its mass.
#[derive(Clone, Debug)]
pub(super) struct Tilt {
    /// E[e^{s score}] given each point, or a bound above it.
    pub(super) masses: Vec<f64>,
    /// No point's tilted score has a smaller variance; 0 where that is not known.
    pub(super) least_variance: f64,
    /// The mean of the points' variances.
    pub(super) mean_variance: f64,
    /// At every point the score is a sum of independent parts whose third absolute central moments add up to
    /// at most this times the variance.
    pub(super) roughness: f64,
}

/// Below this share of the squared range a variance is left to rounding errors, and taken to be nought.
const SMALL: f64 = 1e-6;

impl Law<'_> {
    /// Adds every number the law is made of; `None` if there is one for every output.
    pub(super) fn fingerprint(&self, all: &mut Vec<u64>) -> Option<()> {
        match self {
            Self::Coin { clear, jump, chances } => {
                all.extend([0, clear.to_bits(), jump.to_bits()]);
                all.extend(chances.iter().map(|chance| chance.to_bits()));
            }
            Self::Bounded { ends, moments } => {
                all.extend([1, ends.0.to_bits(), ends.1.to_bits()]);
                let moments = moments.iter().flat_map(|(mean, variance)| [mean, variance]);
                all.extend(moments.map(|moment| moment.to_bits()));
            }
            Self::Channel { .. } | Self::Lumped { .. } => return None,
        }
        Some(())
    }

    /// The law of minus the score.
    pub(super) fn negated(&self) -> Self {
        match self {
            Self::Channel { channel, scores, offset } => {
                let scores = scores.iter().map(|score| -score).collect();
                Self::Channel { channel, scores, offset: -offset }
            }
            Self::Coin { clear, jump, chances } => {
                Self::Coin { clear: -clear, jump: -jump, chances: chances.clone() }
            }
            Self::Bounded { ends: (least, most), moments } => Self::Bounded {
                ends: (-most, -least),
                moments: moments.iter().map(|(mean, variance)| (-mean, *variance)).collect(),
            },
            Self::Lumped { law, points, size } => {
                Self::Lumped { law: Box::new(law.negated()), points, size: *size }
            }
        }
    }

    /// The tilted law for some s that is not negative.
    pub(super) fn tilt(&self, s: f64) -> Tilt {
        match self {
            Self::Channel { channel: Channel::Bits(bits), scores, offset } => {
                bits_tilt(s, bits, scores, *offset)
            }
            Self::Channel { channel, scores, offset } => channel_tilt(s, channel, scores, *offset),
            Self::Coin { clear, jump, chances } => coin_tilt(s, *clear, *jump, chances),
            Self::Bounded { ends, moments } => bounded_tilt(s, *ends, moments),
            Self::Lumped { law, points, size } => {
                let mut tilt = law.tilt(s);
                let mut masses = vec![0.0f64; *size];
                for (&mass, &point) in tilt.masses.iter().zip(*points) {
                    let most = &mut masses[point as usize];
                    *most = most.max(mass);
                }
                tilt.masses = masses;
                tilt
            }
        }
    }

    /// The greatest score.
    pub(super) fn most(&self) -> f64 {
        match self {
            Self::Channel { channel: Channel::Bits(bits), scores, offset } => {
                offset + bits.ends(scores).1
            }
            Self::Channel { scores, offset, .. } => {
                offset + scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            }
            Self::Coin { clear, jump, .. } => clear + jump.max(0.0),
            Self::Bounded { ends, .. } => ends.1,
            Self::Lumped { law, .. } => law.most(),
        }
    }
}

/// Sums over the points of what [`Tilt`] holds, from the points' own numbers.
pub(super) fn gather(points: impl Iterator<Item = (f64, f64, f64)>) -> Tilt {
    let mut tilt = Tilt {
        masses: Vec::new(),
        least_variance: f64::INFINITY,
        mean_variance: 0.0,
        roughness: 0.0,
    };
    for (mass, variance, roughness) in points {
        tilt.masses.push(mass);
        tilt.least_variance = tilt.least_variance.min(variance);
        tilt.mean_variance += variance;
        tilt.roughness = tilt.roughness.max(roughness);
    }
    tilt.mean_variance /= tilt.masses.len() as f64;
    tilt
}

fn channel_tilt(s: f64, channel: &Channel, scores: &[f64], offset: f64) -> Tilt {
    let range = scores.iter().map(|score| (score + offset).abs()).fold(0.0, f64::max);
    // The powers 0 to 4 of the score, each times its tilt.
    let mut powers: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::with_capacity(scores.len()));
    for score in scores {
        let score = score + offset;
        let mut term = (s * score).exp();
        for power in &mut powers {
            power.push(term);
            term *= score;
        }
    }
    let point = |sums: [f64; 5]| of_powers(sums, range);
    match channel {
        Channel::Keep(keep) => {
            let drawn: [f64; 5] = std::array::from_fn(|power| long_dot(&keep.base, &powers[power]));
            let sums = |x: usize| {
                let kept = keep.keep[x];
                std::array::from_fn(|power| kept * powers[power][x] + (1.0 - kept) * drawn[power])
            };
            gather((0..keep.symbols()).map(|x| point(sums(x))))
        }
        Channel::Table(table) => {
            let sums = |row: &[f64]| std::array::from_fn(|power| long_dot(row, &powers[power]));
            gather(table.rows().map(|row| point(sums(row))))
        }
        // Bits have no single output.
        Channel::Bits(bits) => bits_tilt(s, bits, scores, offset),
    }
}

/// Mass, variance and roughness from the powers 0 to 4 of the score, each times its tilt, none of them above `range`.
pub(super) fn of_powers(sums: [f64; 5], range: f64) -> (f64, f64, f64) {
    let [mass, first, second, third, fourth] = sums;
    let (mean, square) = (first / mass, second / mass);
    let variance = square - mean * mean;
    if !(variance > SMALL * range * range) {
        return (mass, 0.0, 0.0);
    }
    let (third, fourth) = (third / mass, fourth / mass);
    let central = fourth + mean * (6.0 * mean * square - 4.0 * third - 3.0 * mean.powi(3));
    // E|z|³ ≤ √(E z² E z⁴), and a little for rounding.
    (mass, variance, 1.001 * (central.max(variance * variance) / variance).sqrt())
}

fn bits_tilt(s: f64, bits: &Bits, scores: &[f64], offset: f64) -> Tilt {
    match &bits.joint {
        Joint::Independent => independent_tilt(s, scores, offset, (bits.own, bits.other)),
        Joint::Subset(size) => {
            subset_tilt(s, Subset { size: *size, own: bits.own }, scores, offset)
        }
        Joint::Blocks(blocks) => blocks_tilt(s, blocks, scores, offset),
    }
}

/// Independent bits: masses multiply and variances add up.
fn independent_tilt(s: f64, scores: &[f64], offset: f64, (own, other): (f64, f64)) -> Tilt {
    // The logarithm of one bit's mass, and its tilted variance.
    let bit = |chance: f64, score: f64| {
        let grown = (s * score).exp_m1();
        let tilted = chance * (grown + 1.0) / (1.0 + chance * grown);
        ((chance * grown).ln_1p(), score * score * tilted * (1.0 - tilted))
    };
    let others: Vec<(f64, f64)> = scores.iter().map(|&score| bit(other, score)).collect();
    let common = others.iter().fold((s * offset, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let roughness = scores.iter().map(|score| score.abs()).fold(0.0, f64::max);
    let point = |(&score, without): (&f64, &(f64, f64))| {
        let mine = bit(own, score);
        let mass = (common.0 + mine.0 - without.0).exp();
        (mass, (common.1 + mine.1 - without.1).max(0.0), roughness)
    };
    gather(scores.iter().zip(&others).map(point))
}

fn coin_tilt(s: f64, clear: f64, jump: f64, chances: &[f64]) -> Tilt {
    let (start, grown) = ((s * clear).exp(), (s * jump).exp_m1());
    gather(chances.iter().map(|chance| {
        let tilted = chance * (grown + 1.0) / (1.0 + chance * grown);
        let variance = jump * jump * tilted * (1.0 - tilted);
        let roughness = jump.abs() * (tilted * tilted + (1.0 - tilted) * (1.0 - tilted));
        (start * (1.0 + chance * grown), variance, roughness)
    }))
}

/// The largest mass of any law with a mean, a variance and a greatest value has two values, one of them the
/// greatest (Bennett, 1962). Nothing is known of its tilted variance.
fn bounded_tilt(s: f64, (_, most): (f64, f64), moments: &[(f64, f64)]) -> Tilt {
    let mut tilt = gather(moments.iter().map(|&(mean, variance)| {
        let room = most - mean;
        if !(room > 0.0) {
            return ((s * mean).exp(), 0.0, 0.0);
        }
        let below = variance / room;
        let chance = below / (below + room);
        let centred = 1.0 + (1.0 - chance) * (-s * below).exp_m1() + chance * (s * room).exp_m1();
        ((s * mean).exp() * centred, variance, 0.0)
    }));
    tilt.least_variance = 0.0;
    tilt
}
