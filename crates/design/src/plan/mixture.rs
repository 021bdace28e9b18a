//! One group of questions for each person, drawn with the chances that make the weighted sum of variances least.
//!
//! With chance π(g) of group g and v(T, g) the variance of target T from its answers, target T has the information
//! I(T) = Σ π(g)/v(T, g), and Σ w(T)/I(T) is convex in π. Multiplying each chance by the root of its score,
//! Σ w(T)/(I(T)² v(T, g)), over the whole never raises it (the multiplicative algorithm of optimal designs), and for
//! groups of one question ends after one step at chances in proportion to √(w v), with the value (Σ √(w v))². At the optimum no score
//! is above the value; scores of groups that are not in the mixture say which would improve it.

use super::group::Group;
use super::target::Target;

/// A group, and what it tells of which targets.
#[derive(Debug, Clone)]
pub struct Column {
    /// The group.
    pub group: Group,
    /// Targets and one over their variances.
    pub told: Vec<(usize, f64)>,
}

/// Chances of groups.
#[derive(Debug, Clone)]
pub struct Mixture {
    /// The chance of each column.
    pub chances: Vec<f64>,
    /// The weighted sum of n times the variances of all targets.
    pub value: f64,
    /// What one unit more of information about each target is worth.
    pub prices: Vec<f64>,
}

/// Rounds of the multiplicative algorithm.
const ROUNDS: usize = 3_000;

/// A mixture this near the optimum, relatively, is one.
const CLOSE: f64 = 1e-9;

/// The best chances of some columns; nothing if a target is in none of them.
pub fn solve(columns: &[Column], targets: &[Target]) -> Option<Mixture> {
    let mut chances = vec![1.0 / columns.len().max(1) as f64; columns.len()];
    let information = |chances: &[f64]| {
        let mut found = vec![0.0; targets.len()];
        for (column, chance) in columns.iter().zip(chances) {
            column.told.iter().for_each(|(target, told)| found[*target] += chance * told);
        }
        found
    };
    let mut round = 0;
    loop {
        let known = information(&chances);
        if known.iter().any(|known| !(*known > 0.0)) {
            return None;
        }
        let value: f64 = targets.iter().zip(&known).map(|(target, i)| target.weight / i).sum();
        let prices: Vec<f64> =
            targets.iter().zip(&known).map(|(target, i)| target.weight / (i * i)).collect();
        let scores: Vec<f64> = columns.iter().map(|column| score(&column.told, &prices)).collect();
        let most = scores.iter().copied().fold(0.0, f64::max);
        round += 1;
        if round > ROUNDS || most <= value * (1.0 + CLOSE) {
            return Some(Mixture { chances, value, prices });
        }
        chances
            .iter_mut()
            .zip(&scores)
            .for_each(|(chance, score)| *chance *= (score / value).sqrt());
        let sum: f64 = chances.iter().sum();
        chances.iter_mut().for_each(|chance| *chance /= sum);
    }
}

/// What a group is worth at these prices; above the mixture's value it improves the mixture.
pub fn score(told: &[(usize, f64)], prices: &[f64]) -> f64 {
    told.iter().map(|(target, told)| prices[*target] * told).sum()
}

/// The columns that matter: those without a noticeable chance are dropped and the rest solved again, as long as that
/// costs less than one part in a million.
pub fn pruned(mut columns: Vec<Column>, targets: &[Target]) -> Option<(Vec<Column>, Mixture)> {
    let mut mixture = solve(&columns, targets)?;
    for least in [1e-6, 1e-4, 1e-3] {
        let typical = 1.0 / columns.len() as f64;
        let mut chances = mixture.chances.iter();
        let mut kept = columns.clone();
        kept.retain(|_| chances.next().is_some_and(|chance| *chance > least * typical));
        let Some(found) = solve(&kept, targets) else { break };
        if found.value > mixture.value * (1.0 + 1e-6) {
            break;
        }
        (columns, mixture) = (kept, found);
    }
    Some((columns, mixture))
}
