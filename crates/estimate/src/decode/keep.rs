//! The inverse of a `Keep` channel in closed form.
//!
//! With r the probability that the output was drawn from the base b, the law of the outputs is
//! law(y) = λ(y) p(y) + r b(y), so p(y) = (law(y) - r b(y))/λ(y), and r itself is a linear function
//! of the law: r = Σ u(y) law(y).
//!
//! * All λ positive: u(y) = (1-λ(y))/λ(y) / κ with κ = Σ b/λ (Sherman and Morrison).
//! * Symbols Z that are never kept, but drawn with probability b(Z) > 0: u is 1/b(Z) on Z. Their
//!   rows are all the base, so only their sum is determined.
//! * Symbols Z that are never kept nor drawn: r is not determined, and neither is any share that
//!   needs it.

use crate::channel::Keep;
use crate::decode::others;

#[derive(Clone, Debug)]
pub(crate) struct KeepInverse {
    keep: Vec<f64>,
    base: Vec<f64>,
    /// Σ u(y) law(y) is the share that was drawn; `None` if nothing tells it.
    drawn: Option<Vec<f64>>,
    /// The symbols that are never kept.
    never: Vec<usize>,
    /// The weights of the single symbol that is never kept, if there is one.
    lone: Option<Vec<f64>>,
    /// Σ u² b, and the least and greatest u with where they are and the runners-up.
    base_squares: f64,
    extremes: [(usize, f64); 4],
    /// The symbols that are kept least and most often.
    kept_ends: [usize; 2],
}

impl KeepInverse {
    pub(crate) fn new(channel: &Keep) -> Self {
        let (keep, base) = (channel.keep.clone(), channel.base.clone());
        let never: Vec<usize> = (0..keep.len()).filter(|&x| keep[x] == 0.0).collect();
        let lost: f64 = never.iter().map(|&x| base[x]).sum();
        let drawn = if never.is_empty() {
            let scale: f64 = base.iter().zip(&keep).map(|(b, k)| b / k).sum();
            Some(keep.iter().map(|k| (1.0 - k) / k / scale).collect::<Vec<f64>>())
        } else if lost > 0.0 {
            Some(keep.iter().map(|&k| if k == 0.0 { 1.0 / lost } else { 0.0 }).collect())
        } else {
            None
        };
        let square = |u: &Vec<f64>| u.iter().zip(&base).map(|(u, b)| u * u * b).sum();
        let base_squares = drawn.as_ref().map_or(0.0, square);
        let extremes = extremes(drawn.as_deref().unwrap_or(&[]));
        let by_keep = |a: &usize, b: &usize| keep[*a].total_cmp(&keep[*b]);
        let kept_ends = [(0..keep.len()).min_by(by_keep), (0..keep.len()).max_by(by_keep)]
            .map(|x| x.unwrap_or(0));
        let mut inverse =
            Self { keep, base, drawn, never, lone: None, base_squares, extremes, kept_ends };
        if let [lone] = inverse.never[..] {
            let mut unit = vec![0.0; inverse.keep.len()];
            unit[lone] = 1.0;
            inverse.lone = inverse.functional(&unit);
        }
        inverse
    }

    /// Whether the share of x is determined.
    pub(crate) fn determines(&self, x: usize) -> bool {
        if self.keep[x] == 0.0 {
            self.lone.is_some()
        } else {
            self.drawn.is_some() || self.base[x] == 0.0
        }
    }

    /// How many independent numbers the outputs determine.
    pub(crate) fn rank(&self) -> usize {
        let kept = self.keep.len() - self.never.len();
        kept + usize::from(!self.never.is_empty() && self.drawn.is_some())
    }

    /// Shifts that change no output's law, as symbols and amounts; at most `most`.
    pub(crate) fn combinations(&self, most: usize) -> Vec<Vec<(usize, f64)>> {
        let Some((&first, others)) = self.never.split_first() else { return Vec::new() };
        let mut found: Vec<Vec<(usize, f64)>> =
            others.iter().take(most).map(|&other| vec![(first, 1.0), (other, -1.0)]).collect();
        if self.drawn.is_none() && found.len() < most {
            let kept = || (0..self.keep.len()).filter(|&x| self.keep[x] > 0.0);
            let scale: f64 = kept().map(|x| self.base[x] / self.keep[x]).sum();
            let mut shift = vec![(first, 1.0)];
            let used = kept().filter(|&x| self.base[x] > 0.0);
            shift.extend(used.map(|x| (x, -self.base[x] / self.keep[x] / scale)));
            found.push(shift);
        }
        found
    }

    /// The share of every symbol from the law of the outputs; `None` where it is not determined.
    pub(crate) fn shares(&self, law: &[f64]) -> Vec<Option<f64>> {
        let weigh = |u: &Vec<f64>| u.iter().zip(law).map(|(u, law)| u * law).sum();
        let drawn: f64 = self.drawn.as_ref().map_or(0.0, weigh);
        let lone: Option<f64> = self.lone.as_ref().map(weigh);
        let share = |x: usize| {
            if !self.determines(x) {
                return None;
            }
            if self.keep[x] == 0.0 {
                lone
            } else {
                Some((law[x] - drawn * self.base[x]) / self.keep[x])
            }
        };
        (0..law.len()).map(share).collect()
    }

    /// The weights whose mean is Σ a(x) p(x), if the outputs determine that.
    pub(crate) fn functional(&self, a: &[f64]) -> Option<Vec<f64>> {
        let common = self.never.first().map_or(0.0, |&x| a[x]);
        if self.never.iter().any(|&x| a[x] != common) {
            return None;
        }
        let lift = |x: usize| if self.keep[x] > 0.0 { (a[x] - common) / self.keep[x] } else { 0.0 };
        let amount: f64 = (0..a.len()).map(|x| lift(x) * self.base[x]).sum();
        let weight = |y: usize| match &self.drawn {
            Some(drawn) => common + lift(y) - drawn[y] * amount,
            None => common + lift(y),
        };
        let size: f64 = (0..a.len()).map(|x| (lift(x) * self.base[x]).abs()).sum();
        let determined = self.drawn.is_some() || amount.abs() <= 1e-12 * size;
        determined.then(|| (0..a.len()).map(weight).collect())
    }

    /// For the statistic of every determined symbol: its mean square given the symbol, and given
    /// another one. (Its mean is 1 given the symbol and 0 given another.)
    pub(crate) fn squares(&self, law: &[f64], p: &[f64]) -> Vec<Option<(f64, f64)>> {
        let no_draws = Vec::new();
        let u = self.drawn.as_ref().unwrap_or(&no_draws);
        let law_squares: f64 = u.iter().zip(law).map(|(u, law)| u * u * law).sum();
        let one = |x: usize| {
            if !self.determines(x) {
                return None;
            }
            let (own, all) = if self.keep[x] == 0.0 {
                // Given the lone symbol, the output is the base.
                let squares = self.lone.iter().flatten().map(|w| w * w);
                let both = squares.zip(&self.base).zip(law);
                both.fold((0.0, 0.0), |(own, all), ((w, b), law)| (own + w * b, all + w * law))
            } else {
                // weight(y) = [y = x]/λ - (b/λ) u(y).
                let (k, ratio) = (self.keep[x], self.base[x] / self.keep[x]);
                let here = u.get(x).copied().unwrap_or(0.0);
                let at = 1.0 / k - ratio * here;
                // What the square at x has above the common part.
                let extra = at * at - (ratio * here).powi(2);
                let by_base = ratio * ratio * self.base_squares + self.base[x] * extra;
                let all = ratio * ratio * law_squares + law[x] * extra;
                (k * at * at + (1.0 - k) * by_base, all)
            };
            Some((own, others(all, own, p[x])))
        };
        (0..law.len()).map(one).collect()
    }

    /// The range of the weights of every symbol's share: how far a report can move n times it.
    pub(crate) fn ranges(&self) -> Vec<f64> {
        let one = |x: usize| {
            if !self.determines(x) {
                return 0.0;
            }
            if self.keep[x] == 0.0 {
                return self.lone.as_deref().map_or(0.0, range);
            }
            range(&self.weights_at_ends(x))
        };
        (0..self.keep.len()).map(one).collect()
    }

    /// Whether the outputs determine which share of them was drawn.
    pub(crate) fn knows_drawn(&self) -> bool {
        self.drawn.is_some()
    }

    /// For the share of a determined symbol that is sometimes kept: its own weight, and the least and the greatest
    /// of the others.
    fn weights_at_ends(&self, x: usize) -> [f64; 3] {
        let ratio = self.base[x] / self.keep[x];
        let elsewhere = |(first, second): ((usize, f64), (usize, f64))| {
            if first.0 == x { second.1 } else { first.1 }
        };
        let [least, less, more, most] = self.extremes;
        let here = self.drawn.as_ref().map_or(0.0, |u| u[x]);
        let own = 1.0 / self.keep[x] - ratio * here;
        [own, -ratio * elsewhere((most, more)), -ratio * elsewhere((least, less))]
    }

    /// For the share of a determined symbol that is sometimes kept: the ends of its weights, their variance given
    /// the symbol, and the largest variance given another one.
    ///
    /// Given z the mean square is λ(z) (b u(z)/λ)² + (1-λ(z)) B with B the mean square under the base. As a function
    /// of λ(z) this is convex, because u(z) is proportional to (1-λ(z))/λ(z) or the same for all that are kept; so it
    /// is largest for the symbol that is kept least or the one that is kept most.
    pub(crate) fn share_law(&self, x: usize) -> ((f64, f64), f64, f64) {
        let weights = self.weights_at_ends(x);
        let (kept, ratio) = (self.keep[x], self.base[x] / self.keep[x]);
        let u = |z: usize| self.drawn.as_ref().map_or(0.0, |u| u[z]);
        let (own, common) = (weights[0] * weights[0], (ratio * u(x)).powi(2));
        let by_base = ratio * ratio * self.base_squares + self.base[x] * (own - common);
        let other =
            |z: usize| self.keep[z] * (ratio * u(z)).powi(2) + (1.0 - self.keep[z]) * by_base;
        let most = self.kept_ends.map(other).into_iter().fold(0.0, f64::max);
        let mine = (kept * own + (1.0 - kept) * by_base - 1.0).max(0.0);
        (crate::estimator::bounds(&weights), mine, most)
    }
}

pub(super) fn range(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    if most >= least { most - least } else { 0.0 }
}

/// The least, second least, second greatest and greatest of a list, and where they are; short lists
/// repeat what they have.
fn extremes(values: &[f64]) -> [(usize, f64); 4] {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let pick =
        |at: Option<usize>| at.map_or((usize::MAX, 0.0), |at| (order[at], values[order[at]]));
    let last = order.len().checked_sub(1);
    let second = last.map(|last| last.min(1));
    [pick(last.map(|_| 0)), pick(second), pick(last.map(|last| last.saturating_sub(1))), pick(last)]
}
