//! The share of one symbol: what the reports say of it.

use undertone_numeric::binomial::{binomial_at_least, binomial_interval};

use crate::interval::{IntervalMethod, Limits, Problem};
use std::collections::HashMap;

/// A count of `hits` in `reports`, each with probability `base` + `slope` times the share; the slope is positive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) hits: u64,
    pub(crate) reports: u64,
    pub(crate) base: f64,
    pub(crate) slope: f64,
}

/// What the interval of a symbol's share rests on.
pub(crate) enum ShareStatistic<'a> {
    /// The symbol's own count is binomial.
    Count(Count),
    /// A sum whose mean is the share.
    Sum(Problem<'a>),
    /// Nothing determines the share.
    Nothing,
}

/// Limits that are known already: of binomial probabilities by the number of hits, of means of sums by every number the
/// sum is made of. Symbols with equal counts share them, to the last digit.
#[derive(Default)]
pub(crate) struct Known {
    limits: HashMap<u64, (f64, f64)>,
    means: HashMap<Vec<u64>, (f64, f64)>,
}

impl Count {
    /// The limits of the share, each end with the given tail.
    fn limits(&self, tail: f64, known: &mut Known) -> Limits {
        let (low, high) = known.of(self, tail);
        let share = |chance: f64| (chance - self.base) / self.slope;
        Limits { low: share(low), high: share(high), method: IntervalMethod::ClopperPearson }
    }

    /// The limits of the share if `base` is multiplied by something between two ends.
    pub(crate) fn limits_with_drawn(
        &self,
        (least, most): (f64, f64),
        tail: f64,
        known: &mut Known,
    ) -> Limits {
        let (low, high) = known.of(self, tail);
        Limits {
            low: (low - most * self.base) / self.slope,
            high: (high - least * self.base) / self.slope,
            method: IntervalMethod::ClopperPearsonDrawn,
        }
    }
}

impl Known {
    fn of(&mut self, count: &Count, tail: f64) -> (f64, f64) {
        let found = self.limits.entry(count.hits);
        *found.or_insert_with(|| binomial_interval(count.hits, count.reports, tail))
    }

    /// The least and the greatest mean of a sum that are not refused.
    fn of_mean(&mut self, problem: &Problem<'_>, tail: f64) -> (f64, f64) {
        let found = || (problem.least_mean(tail), problem.most_mean(tail));
        match problem.fingerprint() {
            Some(all) => *self.means.entry(all).or_insert_with(found),
            None => found(),
        }
    }
}

impl ShareStatistic<'_> {
    /// The shares that are not refused, each end with the given tail.
    pub(crate) fn limits(&self, tail: f64, known: &mut Known) -> Limits {
        match self {
            Self::Count(count) => count.limits(tail, known),
            Self::Sum(problem) => {
                let (low, high) = known.of_mean(problem, tail);
                Limits { low, high, method: IntervalMethod::Chernoff }
            }
            Self::Nothing => Limits::EVERYTHING,
        }
    }

    /// A bound for the probability of what was seen, or more, if the share is at most `share`.
    pub(crate) fn upper_tail(&self, share: f64) -> f64 {
        match self {
            Self::Count(count) => {
                let chance = (count.base + count.slope * share).clamp(0.0, 1.0);
                binomial_at_least(count.reports, chance, 1.0 - chance, count.hits)
            }
            Self::Sum(problem) => problem.upper_tail(share),
            Self::Nothing => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's half-widths for randomised response over 5 symbols, ε = 1, a share of .2: on average over
    /// the counts of 100 and of 1000 reports, before anything is cut off at 0 and 1.
    #[test]
    fn half_widths_are_those_of_the_specification() {
        let kept = 1.0f64.exp() / (1.0f64.exp() + 4.0);
        let base = (1.0 - kept) / 4.0;
        let chance = base + (kept - base) * 0.2;
        let point = |n: u64, hits: u64| {
            let above = |hits: u64| binomial_at_least(n, chance, 1.0 - chance, hits);
            above(hits) - if hits < n { above(hits + 1) } else { 0.0 }
        };
        for (miss, halves) in
            [(0.05, [0.321, 0.099]), (0.05 / 5.0, [0.413, 0.129]), (0.001 / 5.0, [0.580, 0.185])]
        {
            for (n, expected) in [100u64, 1000].into_iter().zip(halves) {
                let mut known = Known::default();
                let mut half = |hits: u64| {
                    let count = Count { hits, reports: n, base, slope: kept - base };
                    let Limits { low, high, .. } = count.limits(miss / 2.0, &mut known);
                    (high - low) / 2.0
                };
                let mean: f64 = (0..=n).map(|hits| point(n, hits) * half(hits)).sum();
                assert!((mean - expected).abs() < 0.001, "{miss}, {n} reports: {mean}");
            }
        }
    }

    /// Limits that are remembered are those worked out anew, to the last bit, whichever one number two sums differ in.
    #[test]
    fn remembered_limits_are_the_limits() {
        use crate::interval::Law;
        let coin = |seen: f64, base: f64, jump: f64| Law::Coin {
            clear: -base * jump - seen,
            jump,
            chances: vec![base, base + 1.0 / jump],
        };
        let bounded = |seen: f64, spread: f64| Law::Bounded {
            ends: (-1.0 - seen, 2.0 - seen),
            moments: vec![(-seen, spread), (1.0 - seen, spread)],
        };
        let mut problems = Vec::new();
        for seen in [0.1, 0.3] {
            let laws = [
                coin(seen, 0.2, 2.0),
                coin(seen, 0.21, 2.0),
                coin(seen, 0.2, 2.5),
                bounded(seen, 0.3),
                bounded(seen, 0.31),
            ];
            for law in laws {
                for (reports, fixed) in [(90.0, false), (90.0, true), (91.0, true)] {
                    let parts = vec![(reports, law.clone())];
                    problems.push(Problem::new(vec![0.0, reports], parts, fixed));
                }
            }
        }
        let mut known = Known::default();
        let bits = |(low, high): (f64, f64)| (low.to_bits(), high.to_bits());
        for problem in problems.iter().chain(&problems) {
            let anew = (problem.least_mean(0.025), problem.most_mean(0.025));
            assert_eq!(bits(known.of_mean(problem, 0.025)), bits(anew), "{problem:?}");
        }
        assert_eq!(known.means.len(), problems.len());
    }
}
