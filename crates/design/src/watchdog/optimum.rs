//! The best randomised release.
//!
//! I(X;Y) = H(X) - Σ_y P(y) H(q_y), where q_y = P(x|y) lies in the polytope of posteriors within the
//! budget and Σ_y P(y) q_y = P(x). The entropy is concave, so only corners are needed: a linear program
//! over all of them for small alphabets, over generated ones for large.

use super::colgen;
use super::polytope::entropy;
use super::problem::WatchdogProblem;
use super::subset::subset;
use super::vertices::vertices;
use super::{Release, measured};
use crate::quantize::{self, GHOST};
use crate::{Channel, Distribution, Error};
use undertone_numeric::mixture::maximise_mixture;
use undertone_numeric::vector::dot;

/// The largest alphabet whose corners are all listed.
pub const MAX_VERTEX_SYMBOLS: usize = 7;

/// The largest alphabet for column generation.
pub const MAX_COLUMN_SYMBOLS: usize = 128;

/// Effort of the search that proves how good the release is: boxes times cells of the joint law. Thirty
/// symbols and twenty secrets are settled within half of it.
const MOST_CELLS: usize = 36_000_000;

/// However small the alphabet.
const MOST_BOXES: usize = 60_000;

/// More corners than this are not listed.
const MAX_VERTICES: usize = 20_000;

/// Posteriors and how often each is left; they average to P(x).
pub(super) struct Mixture {
    pub(super) posteriors: Vec<Vec<f64>>,
    pub(super) weights: Vec<f64>,
    /// λ: the posterior q is worth its place if H(q) <= λ·q.
    pub(super) prices: Vec<f64>,
}

impl Mixture {
    /// The cheapest mixture of the posteriors in `pool`: minimal Σ w H(q) with Σ w q = P(x). At most
    /// one posterior per symbol is used.
    pub(super) fn of(pool: &[Vec<f64>], data: &[f64]) -> Result<Self, Error> {
        let worths: Vec<f64> = pool.iter().map(|q| -entropy(q)).collect();
        // A row per symbol, each on its own scale: a rare symbol's mass is as binding as any.
        let scaled = |q: &Vec<f64>| q.iter().zip(data).map(|(q, p)| q / p).collect();
        let columns: Vec<Vec<f64>> = pool.iter().map(scaled).collect();
        let optimum = maximise_mixture(&columns, &worths, &vec![1.0; data.len()])?;
        Ok(Self {
            posteriors: optimum.weights.iter().map(|&(at, _)| pool[at].clone()).collect(),
            weights: optimum.weights.iter().map(|&(_, weight)| weight).collect(),
            prices: optimum.prices.iter().zip(data).map(|(price, p)| -price / p).collect(),
        })
    }

    /// P(y|x) = w_y q_y(x)/P(x); a symbol without mass is released like an average one. Outputs are in
    /// the order of their likeliest symbols.
    fn release(&self, problem: &WatchdogProblem) -> Result<Release, Error> {
        let data = problem.data();
        let likeliest = |y: &usize| {
            let q = &self.posteriors[*y];
            (0..q.len()).fold(0, |best, x| if q[x] > q[best] { x } else { best })
        };
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by_key(|y| (likeliest(y), *y));
        let weights = order.iter().map(|&y| self.weights[y]);
        let mut rows = vec![weights.collect::<Vec<_>>(); problem.symbols];
        for (at, &x) in problem.names.iter().enumerate() {
            let share = |&y: &usize| self.weights[y] * self.posteriors[y][at] / data[at];
            rows[x] = order.iter().map(share).collect();
        }
        let rows = rows.into_iter().map(|row| Distribution::normalised("P(y|x)", row));
        let channel = Channel::from_rows(rows.collect::<Result<_, _>>()?)?;
        let (channel, _) = quantize::drop_ghosts(&channel)?;
        let sources = |y: usize| {
            problem.names.iter().copied().filter(|&x| channel.q(x, y) >= GHOST).collect::<Vec<_>>()
        };
        let mut groups: Vec<Vec<usize>> = (0..channel.outputs()).map(sources).collect();
        groups.sort_unstable();
        groups.dedup();
        measured(problem, channel, groups, true)
    }
}

/// The best release, randomised where that helps: by listing corners for small alphabets, by column
/// generation for others.
pub fn optimal(problem: &WatchdogProblem) -> Result<Release, Error> {
    if problem.len() <= MAX_VERTEX_SYMBOLS
        && let Some(pool) = vertices(problem, MAX_VERTICES)
    {
        return listed(problem, pool);
    }
    by_columns(problem)
}

/// The optimum by listing every corner; for up to [`MAX_VERTEX_SYMBOLS`] symbols with mass.
pub fn by_vertices(problem: &WatchdogProblem) -> Result<Release, Error> {
    let too_large = || Error::TooLarge {
        what: "the alphabet of X".into(),
        size: problem.len(),
        limit: MAX_VERTEX_SYMBOLS,
        fix: "use column generation".into(),
    };
    if problem.len() > MAX_VERTEX_SYMBOLS {
        return Err(too_large());
    }
    listed(problem, vertices(problem, MAX_VERTICES).ok_or_else(too_large)?)
}

fn listed(problem: &WatchdogProblem, mut pool: Vec<Vec<f64>>) -> Result<Release, Error> {
    // Silence is always possible, even where rounding leaves P(x) just outside the hull of the corners.
    pool.push(problem.data());
    let mixture = Mixture::of(&pool, &problem.data())?;
    let mut release = mixture.release(problem)?;
    // Prices under which no corner is worth more than it costs prove the optimum.
    let slack = pool.iter().map(|q| entropy(q) - dot(&mixture.prices, q)).fold(0.0, f64::min);
    let least = dot(&mixture.prices, &problem.data()) + slack;
    release.bound = Some(problem.normalised(problem.entropy - least).max(release.nmi));
    Ok(release)
}

/// The optimum by column generation: what it finds is feasible, so its NMI is a lower bound; the bound
/// above it comes from a search that is stopped after a while.
pub fn by_columns(problem: &WatchdogProblem) -> Result<Release, Error> {
    if problem.len() > MAX_COLUMN_SYMBOLS {
        return Err(Error::TooLarge {
            what: "the alphabet of X".into(),
            size: problem.len(),
            limit: MAX_COLUMN_SYMBOLS,
            fix: "use subset merging".into(),
        });
    }
    let boxes = MOST_CELLS / (problem.len() * problem.secrets());
    generated(problem, boxes.clamp(500, MOST_BOXES))
}

/// [`optimal`] with less effort, to compare budgets.
pub(super) fn quick(problem: &WatchdogProblem) -> Result<Release, Error> {
    if problem.len() <= MAX_VERTEX_SYMBOLS { optimal(problem) } else { generated(problem, 0) }
}

fn generated(problem: &WatchdogProblem, boxes: usize) -> Result<Release, Error> {
    let groups = subset(problem)?;
    // On laws with masses near 1e-9 and a budget of zero on one side the program can be beyond floats.
    let Ok(colgen::Generated { mixture, least }) = colgen::generate(problem, boxes) else {
        return Ok(Release { bound: Some(1.0), ..groups });
    };
    let mixed = mixture.release(problem)?;
    let release = if mixed.nmi >= groups.nmi { mixed } else { groups };
    let bound = problem.normalised(problem.entropy - least).max(release.nmi);
    Ok(Release { bound: Some(bound), ..release })
}
