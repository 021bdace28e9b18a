//! Subset merging: several groups where the printed mechanism makes one.

use super::problem::{Block, WatchdogProblem};
use super::{Release, partition};
use crate::Error;

/// Merges until every group is within the budget, then moves single symbols while that helps.
///
/// The worst group is merged with a partner that makes the union allowed at the least loss of I(X;Y),
/// preferring partners that are outside the budget themselves; if no union is allowed, with the one
/// that leaves it least outside. Always ends within the budget, in O(|X|³|S|) steps.
pub fn subset(problem: &WatchdogProblem) -> Result<Release, Error> {
    partition::release(problem, &refined(problem, merged(problem)))
}

/// Groups within the budget, without refinement.
pub(super) fn merged(problem: &WatchdogProblem) -> Vec<Block> {
    let mut blocks = problem.singles.clone();
    let mut allowed: Vec<bool> = blocks.iter().map(|block| problem.allows(block)).collect();
    let mut excess: Vec<f64> = blocks.iter().map(|block| problem.excess(block)).collect();
    while blocks.len() > 1 {
        let bad = (0..blocks.len()).filter(|&at| !allowed[at]);
        let Some(worst) = bad.reduce(|a, b| if excess[b] > excess[a] { b } else { a }) else {
            break;
        };
        let key = |partner: usize| {
            let union = blocks[worst].with(&blocks[partner]);
            let fits = problem.allows(&union);
            let price = if fits {
                blocks[worst].loss_with(&blocks[partner])
            } else {
                problem.excess(&union)
            };
            (!fits, allowed[partner], price)
        };
        let keys = (0..blocks.len()).filter(|&at| at != worst).map(|at| (key(at), at));
        let Some((_, partner)) = keys.reduce(|a, b| if b.0 < a.0 { b } else { a }) else { break };
        let (first, second) = (worst.min(partner), worst.max(partner));
        blocks[first] = blocks[first].with(&blocks[second]);
        allowed[first] = problem.allows(&blocks[first]);
        excess[first] = problem.excess(&blocks[first]);
        blocks.remove(second);
        allowed.remove(second);
        excess.remove(second);
    }
    blocks
}

/// A symbol leaves its block for another one, or for a new one of its own.
struct Move {
    from: usize,
    /// `None` is a block of its own.
    to: Option<usize>,
    rest: Block,
    target: Block,
    gain: f64,
}

/// Gains of H(Y) below this are float error.
const LEAST_GAIN: f64 = 1e-13;

/// Makes the best single move that keeps both blocks within the budget and raises H(Y), until there is
/// none.
fn refined(problem: &WatchdogProblem, mut blocks: Vec<Block>) -> Vec<Block> {
    if !blocks.iter().all(|block| problem.allows(block)) {
        return blocks;
    }
    while let Some(step) = best_move(problem, &blocks) {
        blocks[step.from] = step.rest;
        match step.to {
            Some(to) => blocks[to] = step.target,
            None => blocks.push(step.target),
        }
    }
    blocks
}

fn best_move(problem: &WatchdogProblem, blocks: &[Block]) -> Option<Move> {
    let mut best: Option<Move> = None;
    for (from, block) in blocks.iter().enumerate().filter(|(_, block)| block.members.len() > 1) {
        for &x in &block.members {
            let rest = problem.block(block.members.iter().copied().filter(|&other| other != x))?;
            if !problem.allows(&rest) {
                continue;
            }
            let single = &problem.singles[x];
            let regained = rest.loss_with(single);
            let others = (0..blocks.len()).filter(|&to| to != from).map(Some);
            for to in others.chain([None]) {
                let lost = to.map_or(0.0, |to| blocks[to].loss_with(single));
                let gain = regained - lost;
                if gain <= best.as_ref().map_or(LEAST_GAIN, |best| best.gain) {
                    continue;
                }
                let target = to.map_or_else(|| single.clone(), |to| blocks[to].with(single));
                if problem.allows(&target) {
                    best = Some(Move { from, to, rest: rest.clone(), target, gain });
                }
            }
        }
    }
    best
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Joint;
    use crate::watchdog::Budget;

    /// Three symbols whose lifts are (2,0), (0,2) and (1,1): the first two cancel.
    #[test]
    fn opposite_symbols_find_each_other() {
        let joint = Joint::new(vec![vec![0.25, 0.0, 0.25], vec![0.0, 0.25, 0.25]]).unwrap();
        let problem = WatchdogProblem::new(&joint, Budget::new(0.1, 0.1).unwrap()).unwrap();
        let release = subset(&problem).unwrap();
        assert_eq!(release.groups, [vec![0, 1], vec![2]]);
        assert!(release.met && (release.nmi - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn no_move_is_left_that_would_help() {
        let weights = |s: usize, x: usize| 1.0 + ((s * 7 + x * 5 + s * x * 3) % 11) as f64;
        let total: f64 = (0..3).flat_map(|s| (0..8).map(move |x| weights(s, x))).sum();
        let row = |s: usize| (0..8).map(|x| weights(s, x) / total).collect();
        let joint = Joint::new((0..3).map(row).collect()).unwrap();
        let problem = WatchdogProblem::new(&joint, Budget::new(0.3, 0.2).unwrap()).unwrap();
        let blocks = refined(&problem, merged(&problem));
        assert!(best_move(&problem, &blocks).is_none());
        assert!(blocks.iter().all(|block| problem.allows(block)));
    }
}
