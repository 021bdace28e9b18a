//! The values the reports do not refuse, for the questions an estimator is asked.

use crate::estimator::bounds;
use crate::interval::{IntervalMethod, Limits};
use crate::settings::Coverage;
use crate::{Estimator, Pool, Target};
use std::borrow::Cow;
use undertone_numeric::normal::normal_quantile;

impl Estimator {
    /// The limits of Σ values(x) share(x), missed with probability at most `miss`.
    pub(crate) fn limits(&self, values: &[f64], miss: f64) -> Limits {
        if let Some(groups) = self.apart() {
            let each = miss / groups.len() as f64;
            let limits = groups.iter().map(|group| group.limits(values, each));
            return self.together(limits, bounds(values));
        }
        let tail = miss / 2.0;
        let z = normal_quantile(tail);
        match self.decoder().bounds(&self.groups, values, z, self.target()) {
            Some(scores) => Limits::of(&scores, &self.groups, self.target(), tail),
            None => Limits::EVERYTHING,
        }
    }

    /// The limits of every share, at the settings' level and coverage.
    pub(crate) fn share_limits(&self) -> &[Limits] {
        self.share_limits.get_or_init(|| match self.apart() {
            None => self.decoder().share_limits(&self.groups, self.settings()),
            Some(groups) => {
                let each = |x: usize| {
                    self.together(groups.iter().map(|group| group.share_limits()[x]), (0.0, 1.0))
                };
                (0..self.symbols()).map(each).collect()
            }
        })
    }

    /// The limits of every share on its own at the settings' level, whatever their coverage.
    pub(crate) fn own_share_limits(&self) -> Cow<'_, [Limits]> {
        if self.settings().coverage() == Coverage::Each {
            return Cow::Borrowed(self.share_limits());
        }
        let alone = self.settings().each_alone();
        let Some(groups) = self.apart() else {
            return Cow::Owned(self.decoder().share_limits(&self.groups, alone));
        };
        let part = alone.shared_by(groups.len());
        let limits: Vec<Vec<Limits>> =
            groups.iter().map(|group| group.decoder().share_limits(&group.groups, part)).collect();
        let each = |x: usize| self.together(limits.iter().map(|group| group[x]), (0.0, 1.0));
        Cow::Owned((0..self.symbols()).map(each).collect())
    }

    /// The groups one by one, where respondents of several are asked about. Nothing is assumed of respondents, so
    /// one group's reports say nothing about another's: each has limits of its own, at its part of the
    /// permitted misses, and they add up by size.
    fn apart(&self) -> Option<&[Estimator]> {
        if self.target() == Target::Population || self.groups.len() < 2 {
            return None;
        }
        let made = self.apart.get_or_init(|| {
            let part = self.settings().shared_by(self.groups.len());
            let alone = |group: &crate::pool::Group| {
                // Each was accepted with the others; alone it is smaller.
                Estimator::new(Pool::of(self.pool().inputs().clone(), group.clone()), part).ok()
            };
            self.groups.iter().filter_map(alone).collect()
        });
        (made.len() == self.groups.len()).then_some(made)
    }

    /// The groups' limits, each within what is possible, by their sizes.
    fn together(&self, limits: impl Iterator<Item = Limits>, possible: (f64, f64)) -> Limits {
        let all = self.pool().reports() as f64;
        let mut sum = Limits { low: 0.0, high: 0.0, method: IntervalMethod::Everything };
        for (group, limits) in self.groups.iter().zip(limits) {
            let (low, high, _) = limits.within(possible);
            let part = group.reports() / all;
            sum.low += part * low;
            sum.high += part * high;
            if limits.method != IntervalMethod::Everything {
                sum.method = limits.method;
            }
        }
        sum
    }
}
