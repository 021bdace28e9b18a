//! Symbols whose own count is binomial.
//!
//! With one policy, the number of reports that name a symbol (`Keep`), or set its bit (`Bits`), is
//! binomial with a probability that is linear in the symbol's share. That needs no normal law, which
//! matters far out in the tails: where many symbols are tested at once, and counts are small.

use crate::Estimator;
use crate::channel::Channel;
use crate::root::falling_root;
use crate::special::binomial_upper;

/// A count of `hits` in `reports`, each with probability base + slope share; the slope is not negative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    hits: u64,
    reports: u64,
    base: f64,
    slope: f64,
}

impl Count {
    fn chance(&self, share: f64) -> f64 {
        (self.base + self.slope * share).clamp(0.0, 1.0)
    }

    /// The probability of at least as many hits if the share is as given.
    pub(crate) fn at_least(&self, share: f64) -> f64 {
        binomial_upper(self.reports, self.chance(share), self.hits)
    }

    /// The probability of at most as many.
    pub(crate) fn at_most(&self, share: f64) -> f64 {
        binomial_upper(self.reports, 1.0 - self.chance(share), self.reports - self.hits)
    }

    /// The shares that are refused with probability at most `miss` when true (Clopper and Pearson).
    pub(crate) fn interval(&self, miss: f64) -> (f64, f64) {
        let tail = miss / 2.0;
        // Errors of the tails' arithmetic are far below this.
        let exact = 1e-12;
        let low = 1.0 - falling_root(0.0, 1.0, exact, |by| self.at_least(1.0 - by) - tail);
        let high = falling_root(0.0, 1.0, exact, |share| self.at_most(share) - tail);
        (low.min(high), high.max(low))
    }
}

impl Estimator {
    /// The count of every symbol, where there is one policy of the right shape; and whether its
    /// probability is known exactly. If the policy keeps some symbols more often than others, the share
    /// drawn from the base is estimated.
    pub(crate) fn counts(&self) -> Option<(Vec<Count>, bool)> {
        let [group] = &self.groups[..] else { return None };
        let (reports, counts) = (group.tally.reports(), group.tally.counts());
        match &group.channel {
            Channel::Keep(keep) => {
                let constant = keep.constant();
                let drawn = constant.map_or_else(|| keep.drawn(&self.fit().shares), |k| 1.0 - k);
                let one = |(x, &hits): (usize, &u64)| Count {
                    hits,
                    reports,
                    base: drawn * keep.base[x],
                    slope: keep.keep[x],
                };
                Some((counts.iter().enumerate().map(one).collect(), constant.is_some()))
            }
            Channel::Bits(bits) => {
                let up = bits.gap() >= 0.0;
                let one = |&set: &u64| Count {
                    hits: if up { set } else { reports - set },
                    reports,
                    base: if up { bits.other } else { 1.0 - bits.other },
                    slope: bits.gap().abs(),
                };
                Some((counts.iter().map(one).collect(), true))
            }
            Channel::Table(_) => None,
        }
    }
}
