//! The head and the tail of a prior, each in its own way, in one table.
//!
//! With probability w a report names the input's class by randomised response: each of the likeliest symbols (the head) is a class,
//! and all others (the tail) are one. Otherwise it is a block of a family over the tail; for an input of the head any block is as
//! likely as another. With h the mass of the head, f the share of blocks that contain a symbol of the tail and m the mass of a
//! block, such a block is l (m' ρ + 1 - m') likely, m' = m + h f: as if its mass were m', whose mean is f again and which no symbol of
//! the head disturbs. So blocks of the tail may say more under LIP than blocks of all symbols, and the head pays with the share w
//! of reports that it needs. Under LDP they may not, and nothing is won.
//!
//! **What the kernel re-checks.** The table, cell by cell: there is one exact check of the mixture as a whole.

use undertone_core::Context;
use undertone_core::incidence::Incidence;

use super::coin::{incidence, share};
use super::limits::{Limits, Masses};
use super::rates::Rates;
use super::search::{self, Kind, symbol_bits};
use crate::designer::{DesignOutcome, DesignProblem, Designed, ship};
use crate::mechanism::optimum::LARGE;
use crate::mechanism::{Mechanism, Proposal};
use crate::objective::Objective;
use crate::{Channel, Distribution, Error};

/// Randomised response for the head of a prior, blocks for its tail.
#[derive(Debug, Clone, Copy)]
pub struct HeadTail;

impl Mechanism<DesignProblem> for HeadTail {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        "head-tail"
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        designed(problem).map(DesignOutcome::from)
    }
}

/// How many symbols a head may have.
const HEADS: [usize; 5] = [1, 2, 4, 8, 16];

/// So many families are tried for each tail.
const BASES: usize = 2;

/// The best split into head and tail, as a table.
pub(crate) fn designed(problem: &DesignProblem) -> Result<Designed, Error> {
    let DesignProblem { spec, prior, objective, max_bits, .. } = problem;
    let symbols = prior.len();
    if !matches!(spec.context, Context::Known(_)) || *objective != Objective::Frequency {
        let said = "it is for shares under one known prior; use the method optimal";
        return Err(Error::other("method head-tail", said));
    }
    if symbols > LARGE {
        return Err(Error::TooLarge {
            what: "a table for the method head-tail".into(),
            size: symbols,
            limit: LARGE,
            fix: "use the method blocks or optimal, whose channels are not written out".into(),
        });
    }
    let limits = Limits::of(spec);
    let mut order: Vec<usize> = (0..symbols).collect();
    order.sort_by(|&a, &b| prior[b].total_cmp(&prior[a]).then(a.cmp(&b)));
    let bits = (symbol_bits(symbols) + 1).min(max_bits.unwrap_or(u32::MAX));
    let mut best: Option<Proposal> = None;
    // A tail has three symbols at least: fewer make no family worth the name.
    for head in HEADS.into_iter().filter(|head| head + 3 <= symbols) {
        let (head, tail) = order.split_at(head);
        let split = Split { prior, head, tail };
        for family in search::by_share(tail.len(), &limits, Kind::Any, bits, BASES) {
            let family = incidence(tail.len(), 0, &family?)?;
            let Some(channel) = split.channel(&limits, &family)? else { continue };
            if symbol_bits(channel.outputs()) > max_bits.unwrap_or(u32::MAX) {
                continue;
            }
            let optimum = objective.value(prior, &channel)?;
            if best.as_ref().is_none_or(|best| optimum < best.optimum) {
                best = Some(Proposal { channel, optimum, bound: None });
            }
        }
    }
    let said = "no split into head and tail meets them in so few bits and tells anything";
    ship(problem, best.ok_or_else(|| Error::other("claims", said))?, false)
}

/// A head and a tail.
struct Split<'a> {
    prior: &'a Distribution,
    head: &'a [usize],
    tail: &'a [usize],
}

impl Split<'_> {
    /// The channel, with classes first and then blocks, its two parts weighed so that the sum of variances is least; `None`
    /// where the claims leave nothing to say.
    fn channel(&self, limits: &Limits, family: &Incidence) -> Result<Option<Channel>, Error> {
        let (heads, share) = (self.head.len(), share(family));
        let (Some(blocks), Some(each)) = (family.blocks(), family.replication()) else {
            return Ok(None);
        };
        let ends = |masses: &[f64]| Masses {
            least: masses.iter().copied().fold(1.0, f64::min),
            greatest: masses.iter().copied().fold(0.0, f64::max),
        };
        let mut classes: Vec<f64> = self.head.iter().map(|&x| self.prior[x]).collect();
        let head_mass: f64 = classes.iter().sum();
        classes.push(1.0 - head_mass);
        let class_ratio = limits.at(ends(&classes));
        let weights: Vec<f64> = self.tail.iter().map(|&x| self.prior[x]).collect();
        let masses: Vec<f64> =
            family.block_sums(&weights).into_iter().map(|mass| mass + head_mass * share).collect();
        let ratio = limits.at(ends(&masses));
        if !(ratio > 1.0 && class_ratio > 1.0 && ratio.max(class_ratio).is_finite()) {
            return Ok(None);
        }
        let other = 1.0 / (class_ratio + heads as f64);
        let named = Rates { own: class_ratio * other, other };
        let own = share * ratio / (share * ratio + 1.0 - share);
        let (inside, outside) = (own / each as f64, (1.0 - own) / (blocks - each) as f64);
        let cost = |rates: Rates, count: usize| (rates.variance_at_zero() * count as f64).sqrt();
        let head_cost = cost(named, heads);
        let tail_cost = cost(Rates { own, other: share }, self.tail.len());
        let part = head_cost / (head_cost + tail_cost);
        let row = |class: usize, block: &dyn Fn(u32) -> f64| {
            let name = |c: usize| part * if c == class { named.own } else { named.other };
            let rest = (0..blocks as u32).map(|y| (1.0 - part) * block(y));
            (0..=heads).map(name).chain(rest).collect::<Vec<f64>>()
        };
        let mut rows = vec![Vec::new(); self.prior.len()];
        for (class, &x) in self.head.iter().enumerate() {
            rows[x] = row(class, &|_| 1.0 / blocks as f64);
        }
        for (at, &x) in self.tail.iter().enumerate() {
            let block = |y: u32| if family.contains(y, at as u32) { inside } else { outside };
            rows[x] = row(heads, &block);
        }
        let rows = rows.into_iter().map(|row| Distribution::normalised("a row", row));
        Channel::from_rows(rows.collect::<Result<_, _>>()?).map(Some)
    }
}
