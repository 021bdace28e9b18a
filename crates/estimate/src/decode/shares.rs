//! The share of every symbol under policies with closed forms, at a cost that does not grow with the alphabet.

use crate::channel::{Channel, Keep};
use crate::decode::structured::{Part, PartInverse, Structured};
use crate::interval::share::{Count, Known, ShareStatistic};
use crate::interval::{Law, Limits, Problem};
use crate::pool::Group;
use crate::{Coverage, Settings, Target};

/// With more symbols than this, a symbol that is kept with a probability of its own is read off its own count.
const FEW: usize = 32;

/// With more symbols than this, the law of a score is not worked out for every symbol.
const MANY: usize = 1024;

/// What part of the permitted misses goes to the share of reports that were drawn.
const DRAWN_PART: f64 = 0.1;

impl Structured {
    /// The limits of every share.
    pub(super) fn share_limits(&self, groups: &[Group], settings: Settings) -> Vec<Limits> {
        let size = self.anchor.len();
        let miss = settings.miss(size);
        if let Some(limits) = self.by_own_counts(groups, settings) {
            return limits;
        }
        let (mut known, seen) = (Known::default(), self.seen(groups));
        let one = |x: usize| {
            let statistic = self.share_statistic(groups, &seen, x, settings.target());
            statistic.limits(miss / 2.0, &mut known)
        };
        (0..size).map(one).collect()
    }

    /// Every group's own share of every symbol.
    fn seen(&self, groups: &[Group]) -> Vec<Vec<Option<f64>>> {
        self.parts.iter().zip(groups).map(|(part, group)| part.shares(&group.law())).collect()
    }

    /// A bound for the probability of what was seen of each symbol, or more, if its share in the population
    /// is at most `threshold`.
    pub(super) fn share_tails(&self, groups: &[Group], threshold: f64) -> Vec<f64> {
        let seen = self.seen(groups);
        let statistic = |x: usize| self.share_statistic(groups, &seen, x, Target::Population);
        (0..self.anchor.len()).map(|x| statistic(x).upper_tail(threshold)).collect()
    }

    /// One policy that keeps some of many symbols more often than others, in a population: a symbol's own count
    /// is binomial with probability λ(x) p(x) + r b(x), r being the share of reports that were drawn. Limits of r,
    /// the same for all symbols, take a tenth of the permitted misses.
    fn by_own_counts(&self, groups: &[Group], settings: Settings) -> Option<Vec<Limits>> {
        let ([part], [group]) = (&self.parts[..], groups) else { return None };
        let (Channel::Keep(keep), PartInverse::Keep(inverse)) = (&part.channel, &part.inverse)
        else {
            return None;
        };
        let size = self.anchor.len();
        let population = settings.target() == Target::Population;
        if size <= FEW || !population || part.kept.is_some() || !inverse.knows_drawn() {
            return None;
        }
        let miss = settings.miss(size);
        let drawn_miss = match settings.coverage() {
            Coverage::Each => DRAWN_PART * miss,
            Coverage::All => DRAWN_PART * miss * size as f64,
        };
        let drawn: Vec<f64> = keep.keep.iter().map(|keep| 1.0 - keep).collect();
        let score = self.functional(&drawn)?;
        let (least, _) = score.least_mean(groups, Target::Population, drawn_miss / 2.0);
        let (most, _) = score.most_mean(groups, Target::Population, drawn_miss / 2.0);
        let (fewest, most_drawn) = crate::estimator::bounds(&drawn);
        let ends = (least.clamp(fewest, most_drawn), most.clamp(fewest, most_drawn));
        let tail = (1.0 - DRAWN_PART) * miss / 2.0;
        let (mut known, seen) = (Known::default(), self.seen(groups));
        let one = |x: usize| {
            if keep.keep[x] > 0.0 {
                let (hits, reports) = (group.tally.counts()[x], group.tally.reports());
                let count = Count { hits, reports, base: keep.base[x], slope: keep.keep[x] };
                count.limits_with_drawn(ends, tail, &mut known)
            } else {
                self.share_statistic(groups, &seen, x, Target::Population).limits(tail, &mut known)
            }
        };
        Some((0..size).map(one).collect())
    }

    /// What the interval of a symbol's share rests on.
    fn share_statistic<'a>(
        &'a self,
        groups: &'a [Group],
        seen: &[Vec<Option<f64>>],
        x: usize,
        target: Target,
    ) -> ShareStatistic<'a> {
        if !self.determines(x) {
            return ShareStatistic::Nothing;
        }
        if let ([part], [group], Target::Population) = (&self.parts[..], groups, target)
            && let Some((base, slope)) = part.coin(x)
        {
            let (hits, reports) = (group.tally.counts()[x], group.tally.reports());
            let hits = if slope > 0.0 { hits } else { reports - hits };
            let base = if slope > 0.0 { base } else { 1.0 - base };
            return ShareStatistic::Count(Count { hits, reports, base, slope: slope.abs() });
        }
        let coins = self.parts.iter().all(|part| part.coin(x).is_some() || !part.determines(x));
        if !coins
            && (self.anchor.len() <= MANY || self.parts.iter().any(|part| part.is_lone(x)))
            && let Some(score) = self.share_score(x)
        {
            return ShareStatistic::Sum(score.problem(groups, target));
        }
        let mut parts = Vec::new();
        for ((part, seen), weights) in self.parts.iter().zip(seen).zip(&self.weights) {
            if let Some(seen) = seen[x].filter(|_| weights[x] > 0.0) {
                parts.push((part.reports, part.share_law(x, seen, weights[x] / part.reports)));
            }
        }
        let fixed = target == Target::Respondents;
        ShareStatistic::Sum(Problem::new(vec![0.0, 1.0], parts, fixed))
    }
}

impl Part {
    /// The probability that a report names a symbol (sets its bit) if nobody has it, and what the whole
    /// population adds to that; `None` where the other symbols matter.
    fn coin(&self, x: usize) -> Option<(f64, f64)> {
        match (&self.channel, &self.inverse) {
            (Channel::Keep(keep), _) => {
                let kept = self.kept.filter(|kept| *kept > 0.0)?;
                Some(((1.0 - kept) * keep.base[x], kept))
            }
            (Channel::Bits(bits), PartInverse::Bits { .. }) => Some((bits.other, bits.gap())),
            _ => None,
        }
    }

    /// Whether the symbol is the one that is never kept, whose share is what all others leave.
    fn is_lone(&self, x: usize) -> bool {
        matches!(&self.channel, Channel::Keep(Keep { keep, .. }) if keep[x] == 0.0)
    }

    /// The law of a report's score for a share, given another symbol and given the symbol itself, with the score's
    /// mean 0 and `scale`, less what was seen.
    fn share_law(&self, x: usize, seen: f64, scale: f64) -> Law<'static> {
        let seen = seen * scale;
        if let Some((base, slope)) = self.coin(x) {
            let jump = scale / slope;
            return Law::Coin {
                clear: -base * jump - seen,
                jump,
                chances: vec![base, base + slope],
            };
        }
        let (ends, own, other) = match &self.inverse {
            PartInverse::Keep(keep) => keep.share_law(x),
            // Parts that say nothing have no weight.
            PartInverse::Bits { .. } | PartInverse::Silent => ((0.0, 0.0), 0.0, 0.0),
        };
        let square = scale * scale;
        Law::Bounded {
            ends: (scale * ends.0 - seen, scale * ends.1 - seen),
            moments: vec![(-seen, square * other), (scale - seen, square * own)],
        }
    }
}
