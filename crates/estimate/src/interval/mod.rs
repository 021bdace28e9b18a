//! Intervals that cover: what is proved of them, and under which model.
//!
//! **Model.** People are independent draws from one population (for [`Target::Respondents`] they are fixed
//! and nothing is assumed of them), and every report is an independent draw from its policy's channel.
//!
//! **Theorem.** Whatever the population, and for every number of reports, an interval at level 1 - β misses
//! the truth with probability at most β; all intervals of [`Coverage::All`] together do. There is no
//! "for large samples". The tests enumerate all counts of small surveys and add up exact probabilities.
//!
//! **Proof.** Each end of an interval rests on one linear statistic S of the reports: a score for every
//! output, added up. The scores depend on the policies, their priors, the number of reports and the level,
//! never on what was reported. With h(x) the mean of S if everybody had symbol x, the scores of an upper end
//! satisfy h(x) ≥ v(x), so that the mean of S is at least Σ v(x) p(x), the number in question (`decode`); those
//! of a lower end h(x) ≤ v(x). A value t is refused as the mean of S if S, or what lies beyond it, has
//! probability at most β/2 under every population for which the mean is t:
//!
//! * a score with two values makes a binomial count, and its tail is exact ([`undertone_numeric::binomial`], Clopper and Pearson);
//! * otherwise the tail is bounded by exponential tilting (`chernoff.rs`), which uses the exact law of the
//!   scores given every symbol and the worst population among those for which the mean is t.
//!
//! What is left is the interval. It can lie outside of what is possible (or be empty): then no population
//! explains the reports at this level, the nearest possible value is reported, and [`Estimate::impossible`]
//! says so.
//!
//! Estimates with the prior have intervals for these respondents that hold if the prior is right
//! (`posterior.rs`).
//!
//! [`Target::Respondents`]: crate::Target::Respondents
//! [`Coverage::All`]: crate::Coverage::All
//! [`Estimate::impossible`]: crate::Estimate::impossible

mod blocks;
pub(crate) mod chernoff;
mod envelope;
mod law;
pub(crate) mod posterior;
pub(crate) mod share;
mod statistic;
mod subset;

pub(crate) use chernoff::Problem;
pub(crate) use law::Law;

use crate::Target;
use crate::decode::Score;
use crate::pool::Group;
use serde::Serialize;

/// How an interval was found. Which one is used depends on policy, level and number of reports, never on
/// what was reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// The exact interval of a binomial count (Clopper and Pearson).
    ClopperPearson,
    /// That of a symbol's count, together with limits for the share of reports that were drawn and not kept.
    ClopperPearsonDrawn,
    /// A tail bound by exponential tilting that holds for every population and every number of reports.
    Chernoff,
    /// A tail bound for what the prior makes of these reports: it holds if the prior is right.
    Posterior,
    /// Quantiles of a sampled posterior: a statement about belief. It covers at its level on average over the
    /// Dirichlet prior, not for every population.
    Dirichlet,
    /// So many standard errors to both sides, by Student's law: nearly right for many reports. Its coverage is measured,
    /// not proved.
    Student,
    /// Everything possible: the reports say nothing.
    Everything,
}

/// The values that are not refused, which may lie outside of what is possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) method: IntervalMethod,
}

impl Limits {
    /// Nothing is refused.
    pub(crate) const EVERYTHING: Self =
        Self { low: f64::NEG_INFINITY, high: f64::INFINITY, method: IntervalMethod::Everything };

    /// From the scores of a lower and of an upper end, each with the given tail.
    pub(crate) fn of(
        (lower, upper): &(Score, Score),
        groups: &[Group],
        target: Target,
        tail: f64,
    ) -> Self {
        let (low, method) = lower.least_mean(groups, target, tail);
        let (high, _) = upper.most_mean(groups, target, tail);
        Self { low, high, method }
    }

    /// The limits of the number plus something between two ends.
    pub(crate) fn widened(self, below: f64, above: f64) -> Self {
        Self { low: self.low - below, high: self.high + above, ..self }
    }

    /// The part between two bounds, the first at most the second; `true` if there is none, and then the
    /// nearest possible values stand for it.
    pub(crate) fn within(self, (least, most): (f64, f64)) -> (f64, f64, bool) {
        let impossible = !(self.low <= self.high && self.low <= most && self.high >= least);
        let (low, high) = (self.low.clamp(least, most), self.high.clamp(least, most));
        (low.min(high), low.max(high), impossible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_outside_of_what_is_possible_become_the_nearest_end() {
        let limits = |low, high| Limits { low, high, method: IntervalMethod::Chernoff };
        assert_eq!(limits(0.2, 0.4).within((0.0, 1.0)), (0.2, 0.4, false));
        assert_eq!(limits(-0.2, 1.4).within((0.0, 1.0)), (0.0, 1.0, false));
        assert_eq!(limits(-0.4, -0.2).within((0.0, 1.0)), (0.0, 0.0, true));
        assert_eq!(limits(1.1, f64::INFINITY).within((0.0, 1.0)), (1.0, 1.0, true));
        // Two statistics that contradict each other: everything between them, and a word about it.
        assert_eq!(limits(0.6, 0.5).within((0.0, 1.0)), (0.5, 0.6, true));
        assert_eq!(Limits::EVERYTHING.within((3.0, 9.0)), (3.0, 9.0, false));
    }
}
