//! Shares of a cross-table with their intervals.

use super::joint::JointCodes;
use super::limits::{Ends, ShareScore, difference, ratio};
use super::scores::JointScores;
use super::{ConditionalShare, CrosstabCell, GroupDifference, number, place};
use crate::{Error, Evidence, Sample, SampleShares};
use serde::Serialize;
use undertone_numeric::student::student_quantile;

/// A share, or a difference of shares, with its interval. Where the reports do not determine it there is no number at all.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TableShare {
    /// The estimate.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
    /// The standard error.
    pub std_error: Option<f64>,
    /// The variance over that of as many rows drawn simply at random with equal weights.
    pub design_effect: Option<f64>,
}

impl TableShare {
    const UNKNOWN: Self =
        Self { value: None, low: None, high: None, std_error: None, design_effect: None };

    /// Whether a number lies in the interval.
    pub fn covers(&self, truth: f64) -> bool {
        self.low.is_some_and(|low| low <= truth) && self.high.is_some_and(|high| truth <= high)
    }

    /// A value with its interval, cut to what is possible and widened to hold the value.
    fn new(value: f64, ends: Ends, variance: f64, effect: f64, possible: (f64, f64)) -> Self {
        let cut = |end: f64| end.clamp(possible.0, possible.1);
        let value = cut(value);
        Self {
            value: Some(value),
            low: Some(cut(ends.low).min(value)),
            high: Some(cut(ends.high).max(value)),
            std_error: Some(variance.max(0.0).sqrt()),
            design_effect: Some(effect),
        }
    }
}

/// All that shares are made of.
pub(super) struct Table<'a> {
    pub(super) evidence: &'a [&'a Evidence],
    pub(super) joint: &'a JointCodes,
    pub(super) scores: &'a JointScores,
    pub(super) sample: &'a Sample,
    /// Unbiased shares.
    pub(super) means: &'a SampleShares,
    /// The shares that are reported.
    pub(super) shares: &'a [f64],
    pub(super) determined: &'a [bool],
    pub(super) sizes: &'a [usize],
    pub(super) level: f64,
}

/// How many rows, and how much their weights alone raise a variance.
#[derive(Clone, Copy)]
struct Rows {
    count: f64,
    weighting: f64,
}

/// A share in a group, before it is cut to what is possible.
#[derive(Clone, Copy)]
struct Conditional {
    value: f64,
    ends: Ends,
    variance: f64,
    effect: f64,
}

/// Shares, none below nought, that sum to one.
fn possible(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut cut: Vec<f64> = shares.map(|share| share.max(0.0)).collect();
    let total: f64 = cut.iter().sum();
    if total > 0.0 {
        cut.iter_mut().for_each(|share| *share /= total);
    }
    cut
}

/// The mean of squares over the shares of everything but one.
fn of_others(shares: &[f64], own: usize, square: impl Fn(usize) -> f64) -> f64 {
    let rest: f64 = shares.iter().enumerate().filter(|(x, _)| *x != own).map(|(_, p)| p).sum();
    let others = (0..shares.len()).filter(|&x| x != own);
    if rest > 0.0 {
        others.map(|x| shares[x] * square(x)).sum::<f64>() / rest
    } else {
        others.clone().map(square).sum::<f64>() / others.count().max(1) as f64
    }
}

impl Table<'_> {
    /// How many standard errors the level permits.
    fn reach(&self) -> f64 {
        student_quantile(self.sample.degrees_of_freedom(), (1.0 - self.level) / 2.0)
    }

    /// The design effect of a cell: 1 for a simple sample.
    pub(super) fn effect(&self, cell: usize) -> f64 {
        self.settled(self.means.design_effects[cell], self.means.covariance.at(cell, cell))
    }

    /// A design effect, where it could be estimated; else that of the weights alone.
    fn settled(&self, effect: f64, variance: f64) -> f64 {
        if self.sample.is_simple() {
            1.0
        } else if variance > 0.0 && effect.is_finite() && effect > 0.0 {
            effect
        } else {
            self.sample.weighting_effect()
        }
    }

    /// The variance of a share and its design effect, given what a design's rows and clusters make of them. What the perturbation
    /// alone makes is known, and few rows or clusters that happen to be alike do not make it less.
    fn no_less_than_perturbed(
        &self,
        score: &ShareScore,
        share: f64,
        rows: Rows,
        (variance, effect): (f64, f64),
    ) -> (f64, f64) {
        let simple = score.variance(share) / rows.count;
        if self.sample.is_simple() {
            return (simple, 1.0);
        }
        let least = score.perturbation(share) * rows.weighting / rows.count;
        if variance < least && simple > 0.0 {
            return (least, effect.max(least / simple));
        }
        (variance, effect)
    }

    /// All rows.
    fn rows(&self) -> Rows {
        Rows { count: self.sample.rows() as f64, weighting: self.sample.weighting_effect() }
    }

    pub(super) fn cells(&self) -> Vec<CrosstabCell> {
        let likely = possible(self.shares.iter().copied());
        let rows = self.rows();
        let one = |cell: usize| {
            let at = place(cell, self.sizes);
            if !self.determined[cell] {
                return CrosstabCell { at, share: TableShare::UNKNOWN };
            }
            let square = |truth: usize| self.scores.square(&at, &place(truth, self.sizes));
            let score = ShareScore {
                mean: self.means.values[cell],
                own: square(cell),
                other: of_others(&likely, cell, square),
            };
            let found = (self.means.covariance.at(cell, cell), self.effect(cell));
            let (variance, effect) = self.no_less_than_perturbed(&score, likely[cell], rows, found);
            let ends = score.ends(rows.count / effect, self.reach());
            let share = TableShare::new(self.shares[cell], ends, variance, effect, (0.0, 1.0));
            CrosstabCell { at, share }
        };
        (0..self.shares.len()).map(one).collect()
    }

    /// The shares of one column's symbols, from its own reports.
    pub(super) fn margin(&self, column: usize) -> Result<Vec<TableShare>, Error> {
        let size = self.sizes[column];
        let means = self.sample.shares(size, &self.joint.classes, |class, out| {
            let code = self.joint.codes[class as usize][column];
            out.copy_from_slice(self.scores.of_column(column, code));
        })?;
        let mut sums = vec![0.0; size];
        for (cell, share) in self.shares.iter().enumerate() {
            sums[place(cell, self.sizes)[column]] += share;
        }
        let likely = possible(sums.iter().copied());
        let rows = self.rows();
        let one = |x: usize| {
            if !self.scores.column_determined(column, x) {
                return TableShare::UNKNOWN;
            }
            let square = |truth: usize| self.scores.column_square(column, x, truth);
            let score = ShareScore {
                mean: means.values[x],
                own: square(x),
                other: of_others(&likely, x, square),
            };
            let variance = means.covariance.at(x, x);
            let found = (variance, self.settled(means.design_effects[x], variance));
            let (variance, effect) = self.no_less_than_perturbed(&score, likely[x], rows, found);
            let ends = score.ends(rows.count / effect, self.reach());
            TableShare::new(sums[x], ends, variance, effect, (0.0, 1.0))
        };
        Ok((0..size).map(one).collect())
    }

    /// The groups: every combination of the other columns' symbols.
    fn groups(&self) -> Vec<Vec<usize>> {
        let sizes = &self.sizes[1..];
        (0..sizes.iter().product()).map(|group| place(group, sizes)).collect()
    }

    /// The cells of a group.
    fn group(&self, given: &[usize]) -> Vec<usize> {
        let cell = |of: usize| {
            let at: Vec<usize> = std::iter::once(of).chain(given.iter().copied()).collect();
            number(&at, self.sizes)
        };
        (0..self.sizes[0]).map(cell).collect()
    }

    /// The sum of the covariances of two lists of cells.
    fn covariance(&self, first: &[usize], second: &[usize]) -> f64 {
        let covariance = &self.means.covariance;
        first.iter().flat_map(|&a| second.iter().map(move |&b| covariance.at(a, b))).sum()
    }

    /// Σ over cells of the unbiased shares.
    fn sum(&self, cells: &[usize]) -> f64 {
        cells.iter().map(|&cell| self.means.values[cell]).sum()
    }

    /// The share of a symbol of the first column in a group; `None` where it is not determined or nobody is in the group.
    fn share_in(&self, of: usize, given: &[usize]) -> Option<Conditional> {
        let group = self.group(given);
        if !group.iter().all(|&cell| self.determined[cell]) {
            return None;
        }
        let reported: f64 = group.iter().map(|&cell| self.shares[cell]).sum();
        let bottom = self.sum(&group);
        if !(bottom > 0.0 && reported > 0.0) {
            return None;
        }
        let own = [group[of]];
        let top = self.means.values[group[of]];
        let value = self.shares[group[of]] / reported;
        let mean = top / bottom;
        let (of_top, both, of_bottom) = (
            self.covariance(&own, &own),
            self.covariance(&own, &group),
            self.covariance(&group, &group),
        );
        let variance = (of_top - 2.0 * mean * both + mean * mean * of_bottom) / (bottom * bottom);
        if !self.evidence[1..].iter().all(|column| column.is_clear()) {
            let ends = ratio((top, bottom), (of_top, both, of_bottom), self.reach());
            return Some(Conditional { value, ends, variance, effect: self.effect(group[of]) });
        }
        // Within a group that is known the share is a mean of the first column's scores.
        let rows = self.rows_in(given);
        let likely = possible(group.iter().map(|&cell| self.shares[cell]));
        let square = |truth: usize| self.scores.column_square(0, of, truth);
        let score = ShareScore { mean, own: square(of), other: of_others(&likely, of, square) };
        let simple = score.variance(likely[of]) / rows.count;
        let effect =
            self.settled(if simple > 0.0 { variance / simple } else { f64::NAN }, variance);
        let (variance, effect) =
            self.no_less_than_perturbed(&score, likely[of], rows, (variance, effect));
        let ends = score.ends(rows.count / effect, self.reach());
        Some(Conditional { value, ends, variance, effect })
    }

    /// The rows of a clear group.
    fn rows_in(&self, given: &[usize]) -> Rows {
        let inside: Vec<bool> = (self.joint.codes.iter())
            .map(|codes| {
                let mut all = self.evidence[1..].iter().zip(&codes[1..]).zip(given);
                all.all(|((column, &code), &x)| column.certain(code) == Some(x))
            })
            .collect();
        let classes = self.joint.classes.iter().enumerate();
        let own = classes.filter(|(_, class)| inside[**class as usize]);
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for weight in own.map(|(row, _)| self.sample.weight(row)) {
            count += 1.0;
            sum += weight;
            squares += weight * weight;
        }
        Rows { count, weighting: count * squares / (sum * sum) }
    }

    pub(super) fn conditional(&self) -> Vec<ConditionalShare> {
        let mut all = Vec::new();
        for given in self.groups() {
            for of in 0..self.sizes[0] {
                let share = self.share_in(of, &given).map_or(TableShare::UNKNOWN, |found| {
                    TableShare::new(
                        found.value,
                        found.ends,
                        found.variance,
                        found.effect,
                        (0.0, 1.0),
                    )
                });
                all.push(ConditionalShare { of, given: given.clone(), share });
            }
        }
        all
    }

    /// Differences from the first group.
    pub(super) fn differences(&self) -> Vec<GroupDifference> {
        let groups = self.groups();
        let Some((reference, others)) = groups.split_first() else { return Vec::new() };
        let mut all = Vec::new();
        for given in others {
            for of in 0..self.sizes[0] {
                let pair = self.share_in(of, given).zip(self.share_in(of, reference));
                let share = pair.map_or(TableShare::UNKNOWN, |(one, other)| {
                    let shared = self.shared(of, given, reference);
                    let errors = (one.variance * other.variance).sqrt();
                    let correlation = if errors > 0.0 { shared / errors } else { 0.0 };
                    let ends = difference(one.ends, other.ends, correlation);
                    let variance = one.variance + other.variance - 2.0 * shared;
                    let effect = (one.effect + other.effect) / 2.0;
                    // Of the shares as they are shown.
                    let value = one.value.clamp(0.0, 1.0) - other.value.clamp(0.0, 1.0);
                    TableShare::new(value, ends, variance, effect, (-1.0, 1.0))
                });
                let (given, reference) = (given.clone(), reference.clone());
                all.push(GroupDifference { of, given, reference, share });
            }
        }
        all
    }

    /// The covariance of a symbol's shares in two groups, linearised. Groups that are known have none in a simple sample: their rows are
    /// different people.
    fn shared(&self, of: usize, given: &[usize], reference: &[usize]) -> f64 {
        if self.sample.is_simple() && self.evidence[1..].iter().all(|column| column.is_clear()) {
            return 0.0;
        }
        let (first, second) = (self.group(given), self.group(reference));
        let (a, b) = (self.sum(&first), self.sum(&second));
        let (p, q) = (self.means.values[first[of]] / a, self.means.values[second[of]] / b);
        let (x, y) = ([first[of]], [second[of]]);
        let sum = self.covariance(&x, &y)
            - q * self.covariance(&x, &second)
            - p * self.covariance(&first, &y)
            + p * q * self.covariance(&first, &second);
        sum / (a * b)
    }
}
