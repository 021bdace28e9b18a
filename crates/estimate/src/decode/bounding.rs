//! Scores whose mean bounds a number for every population.
//!
//! Where a channel blurs (Laplace and Gaussian noise, symbols with the same row) scores that are right for every
//! population are useless or do not exist. An interval does not need them: scores with h(x) ≥ v(x), h(x) being
//! their mean given symbol x, have a mean of at least Σ v(x) p(x) whatever the population (Donoho, 1994, calls
//! such intervals affine). Among them those are sought whose mean plus z standard errors would be small if the
//! prior were right; if it is not, the interval is wider and still holds.
//!
//! With g the scores in units of their standard errors, A their map to means and π the prior, the least
//! π·A g + (c/2)|g|² under A g ≥ v has g = Aᵀ d, where d minimises dᵀ A Aᵀ d/2 - v·d over d ≥ -π/c. With c towards nought these
//! are the unbiased scores. The best c is z/|g|, found in a few rounds. However rough the minimum, the scores are
//! shifted in the end by max(v - h), so that the claim never rests on it.

use crate::Target;
use crate::channel::Channel;
use crate::decode::Score;
use crate::decode::pivot::{OnFloor, minimise};
use crate::pool::Group;
use undertone_numeric::vector::long_dot;

/// The most symbols for which such scores are sought.
const MOST_SYMBOLS: usize = 128;

/// What is added to the diagonal of A Aᵀ, relative to its mean.
const RIDGE: f64 = 1e-7;

/// How often c is chosen anew.
const ROUNDS: usize = 7;

/// Unbiased scores whose error is below this share of the number's range are not improved upon.
const GOOD: f64 = 0.01;

#[derive(Debug)]
pub(super) struct Bounding {
    /// A: for every symbol, what each output expects of it, in units of its standard error.
    rows: Vec<Vec<f64>>,
    /// One over the standard error of every output's count if the population is the anchor.
    scales: Vec<f64>,
    gram: Vec<Vec<f64>>,
    anchor: Vec<f64>,
    /// Where d may not fall below, times c: the anchor and the uniform distribution in equal parts, so that a
    /// wrong prior costs a bounded amount.
    slack: Vec<f64>,
}

impl Bounding {
    /// Prepares the scores of a system, unless it has too many symbols.
    pub(super) fn new(rows: &[Vec<f64>], scales: &[f64], anchor: &[f64]) -> Option<Self> {
        let symbols = rows.len();
        if symbols > MOST_SYMBOLS {
            return None;
        }
        let mut gram: Vec<Vec<f64>> =
            rows.iter().map(|a| rows.iter().map(|b| long_dot(a, b)).collect()).collect();
        let trace: f64 = (0..symbols).map(|x| gram[x][x]).sum();
        let ridge = RIDGE * trace / symbols as f64;
        (0..symbols).for_each(|x| gram[x][x] += ridge);
        let half = |p: &f64| 0.5 * p + 0.5 / symbols as f64;
        Some(Self {
            rows: rows.to_vec(),
            scales: scales.to_vec(),
            gram,
            slack: anchor.iter().map(half).collect(),
            anchor: anchor.to_vec(),
        })
    }

    /// Scores whose mean is at least Σ v(x) p(x) for every population, and little more for the anchor; `unbiased`
    /// are the exact ones, if there are any.
    pub(super) fn majorant(
        &self,
        groups: &[Group],
        ends: &[usize],
        v: &[f64],
        unbiased: Option<Score>,
        (z, target): (f64, Target),
    ) -> Score {
        let (least, most) = crate::estimator::bounds(v);
        // What the bound would be for the anchor, and the error in it.
        let judge = |score: Score| {
            let (score, means) = shifted(score, groups, v);
            let error = score.variance(groups, v, &self.anchor, target).sqrt();
            (long_dot(&self.anchor, &means) + z * error, error, score)
        };
        let mut best = unbiased.map(judge);
        if best.as_ref().is_some_and(|(_, error, _)| z * error <= GOOD * (most - least)) {
            return best.map_or_else(|| constant(groups, most), |(_, _, score)| score);
        }
        let middle = long_dot(&self.anchor, v);
        let centred: Vec<f64> = v.iter().map(|v| v - middle).collect();
        let mut on_floor: OnFloor = vec![false; v.len()];
        let mut floor = vec![f64::NEG_INFINITY; v.len()];
        for _ in 0..ROUNDS {
            let d = minimise(&self.gram, &centred, &floor, &mut on_floor);
            let (bound, error, score) = judge(self.score(groups, ends, &d, middle));
            if best.as_ref().is_none_or(|(least, _, _)| bound < *least) {
                best = Some((bound, error, score));
            }
            if !(error > 0.0) {
                break;
            }
            floor = self.slack.iter().map(|slack| -slack * error / z.max(0.1)).collect();
        }
        // Saying the greatest value outright is a score too.
        match best {
            Some((bound, _, score)) if bound < most => score,
            _ => constant(groups, most),
        }
    }

    /// The scores Aᵀ d in the units of the statistics, plus a constant.
    fn score(&self, groups: &[Group], ends: &[usize], d: &[f64], constant: f64) -> Score {
        let mut row = vec![0.0; self.scales.len()];
        for (cells, d) in self.rows.iter().zip(d) {
            row.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += d * cell);
        }
        row.iter_mut().zip(&self.scales).for_each(|(weight, scale)| *weight *= scale);
        let weights: Vec<Vec<f64>> = super::dense::split(&row, ends).map(<[f64]>::to_vec).collect();
        let mut offset = constant;
        for (group, weights) in groups.iter().zip(&weights) {
            if let Channel::Bits(bits) = &group.channel {
                offset -= group.reports() * bits.other * weights.iter().sum::<f64>();
            }
        }
        Score { offset, weights }
    }
}

/// The score moved up until its mean is at least v for every symbol, and those means.
pub(super) fn shifted(mut score: Score, groups: &[Group], v: &[f64]) -> (Score, Vec<f64>) {
    let mut means = score.means(groups);
    let missing = v.iter().zip(&means).map(|(v, mean)| v - mean).fold(f64::NEG_INFINITY, f64::max);
    // Means are sums of products whose rounding errors are far below this share of their size.
    let size = means.iter().chain(v).map(|mean| mean.abs()).fold(0.0, f64::max);
    let shift = missing + 1e-12 * size;
    score.offset += shift;
    means.iter_mut().for_each(|mean| *mean += shift);
    (score, means)
}

/// The score that is the same for all reports.
fn constant(groups: &[Group], value: f64) -> Score {
    let none = groups.iter().map(|group| vec![0.0; group.channel.outputs()]);
    Score { offset: value, weights: none.collect() }
}
