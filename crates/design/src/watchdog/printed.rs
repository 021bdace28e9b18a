//! The mechanism as printed: low-risk symbols pass, all others become one.

use super::partition;
use super::problem::{Block, WatchdogProblem};
use super::{Release, measured};
use crate::{Channel, Error};

/// The low-risk symbols one by one, then the merged high-risk ones.
pub(super) fn blocks(problem: &WatchdogProblem, low: &[usize], high: &[usize]) -> Vec<Block> {
    let singles = low.iter().map(|&x| problem.singles[x].clone());
    singles.chain(problem.block(high.iter().copied())).collect()
}

/// Complete merging: every high-risk symbol becomes one and the same; ZDS22 Definition 2 (6). Among
/// the ways to scramble the high-risk set it leaks least (Proposition 2), which need not be little
/// enough.
pub fn merge(problem: &WatchdogProblem) -> Result<Release, Error> {
    let (low, high) = problem.split();
    partition::release(problem, &blocks(problem, &low, &high))
}

/// Uniform X-invariant randomisation: every high-risk symbol is replaced by one drawn uniformly from
/// the high-risk set; ZDS22 Section II-B. It leaks and keeps exactly what [`merge`] does.
pub fn uniform(problem: &WatchdogProblem) -> Result<Release, Error> {
    let merged = merge(problem)?;
    let low: Vec<bool> = (0..problem.symbols).map(|x| merged.low_risk.contains(&x)).collect();
    let high = low.iter().filter(|low| !**low).count() as f64;
    let cell = |x: usize, y: usize| match (low[x], low[y]) {
        (true, _) => f64::from(u8::from(x == y)),
        (false, true) => 0.0,
        (false, false) => 1.0 / high,
    };
    let row = |x: usize| (0..problem.symbols).map(|y| cell(x, y)).collect();
    let channel = Channel::new((0..problem.symbols).map(row).collect())?;
    let mut groups: Vec<Vec<usize>> = merged.low_risk.iter().map(|&x| vec![x]).collect();
    groups.push((0..problem.symbols).filter(|&x| !low[x]).collect());
    groups.retain(|group| !group.is_empty());
    groups.sort_unstable();
    measured(problem, channel, groups, merged.met)
}

/// The least (ε_l, ε_u) any scrambling of the high-risk set attains on it: those of the merged symbol;
/// ZDS22 Proposition 2 (7), (8). `None` if every symbol is low-risk.
pub fn merged_leakage(problem: &WatchdogProblem) -> Option<(f64, f64)> {
    let (least, largest) = problem.block(problem.split().1)?.lifts();
    Some((-least.ln(), largest.ln()))
}
