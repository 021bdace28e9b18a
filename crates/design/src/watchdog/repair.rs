//! Greedy repair of the printed mechanism.

use super::scene::Scene;
use super::{Release, partition, printed};
use crate::Error;

/// Complete merging, with low-risk symbols given up until the merged one is within the budget.
///
/// Each step gives up the symbol that settles the matter at the least loss of I(X;Y), or if none does
/// the one that brings the most nats towards the budget for what it costs; ties go to the first. It
/// always ends within the budget: with everything merged the lift is one.
pub fn repair(scene: &Scene) -> Result<Release, Error> {
    let (mut low, mut high) = scene.split();
    while let Some(merged) = scene.block(high.iter().copied())
        && !scene.allows(&merged)
        && !low.is_empty()
    {
        let before = scene.excess(&merged);
        let mut best: Option<(usize, (bool, f64))> = None;
        for (at, &x) in low.iter().enumerate() {
            let single = &scene.singles[x];
            let (grown, loss) = (merged.with(single), merged.loss_with(single));
            let key = if scene.allows(&grown) {
                (true, -loss)
            } else {
                let after = scene.excess(&grown);
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
    partition::release(scene, &printed::blocks(scene, &low, &high))
}
