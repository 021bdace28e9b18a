//! Greedy repair of the printed mechanism.

use super::problem::WatchdogProblem;
use super::{Release, partition, printed};
use crate::Error;

/// Complete merging, with low-risk symbols given up until the merged one is within the budget.
///
/// Each step gives up the symbol that settles the matter at the least loss of I(X;Y), or if none does
/// the one that brings the most nats towards the budget for what it costs; ties go to the first. It
/// always ends within the budget: with everything merged the lift is one.
pub fn repair(problem: &WatchdogProblem) -> Result<Release, Error> {
    let (mut low, mut high) = problem.split();
    while let Some(merged) = problem.block(high.iter().copied())
        && !problem.allows(&merged)
        && !low.is_empty()
    {
        let before = problem.excess(&merged);
        let mut best: Option<(usize, (bool, f64))> = None;
        for (at, &x) in low.iter().enumerate() {
            let single = &problem.singles[x];
            let (grown, loss) = (merged.with(single), merged.loss_with(single));
            let key = if problem.allows(&grown) {
                (true, -loss)
            } else {
                let after = problem.excess(&grown);
                // Both infinite: no progress that could be measured.
                (
                    false,
                    if after.is_infinite() { f64::NEG_INFINITY } else { (before - after) / loss },
                )
            };
            if best.is_none_or(|(_, other)| key > other) {
                best = Some((at, key));
            }
        }
        let Some((at, _)) = best else { break };
        high.push(low.remove(at));
    }
    high.sort_unstable();
    partition::release(problem, &printed::blocks(problem, &low, &high))
}
