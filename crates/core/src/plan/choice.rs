//! Which items a device answers.

use super::{Plan, PlanParts};
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// The items one device answers, in order: all without a weight, and as many drawn ones as the plan asks.
///
/// It is drawn once for a plan and a device, whatever the answers are, and stored before anything is sent; an item that
/// is refused or skipped is left out and not replaced. A second draw would cost what all items drawn cost together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice(Vec<u32>);

impl Choice {
    /// The items' numbers, in order.
    pub fn items(&self) -> &[u32] {
        &self.0
    }
}

impl Plan {
    /// Draws the items a device answers: 8 bytes for each that is drawn.
    pub fn choose<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> Choice {
        let items = &self.parts().items;
        let mut left = self.parts().drawn();
        let mut chosen: Vec<usize> =
            (0..items.len()).filter(|&item| items[item].weight == 0).collect();
        for _ in 0..self.parts().asked {
            let mut bytes = [0; 8];
            rng.fill_bytes(&mut bytes);
            let total: u128 = left.iter().map(|&item| u128::from(items[item].weight)).sum();
            let mark = (u128::from(u64::from_be_bytes(bytes)) * total) >> 64;
            let mut sum = 0;
            let at = left.iter().position(|&item| {
                sum += u128::from(items[item].weight);
                sum > mark
            });
            // The mark is below the total, so there is always one.
            chosen.extend(at.map(|at| left.remove(at)));
        }
        chosen.sort_unstable();
        Choice(chosen.into_iter().map(|item| item as u32).collect())
    }

    /// A choice as it was stored; `None` if the plan cannot have made it.
    pub fn restore_choice(&self, items: Vec<u32>) -> Option<Choice> {
        let parts: &PlanParts = self.parts();
        let known = items.iter().all(|&item| (item as usize) < parts.items.len());
        let increasing = items.windows(2).all(|pair| pair[0] < pair[1]);
        if !known || !increasing {
            return None;
        }
        let drawn = items.iter().filter(|&&item| parts.items[item as usize].weight > 0).count();
        let everybody = parts.items.len() - parts.drawn().len();
        let whole = drawn == parts.asked as usize && items.len() - drawn == everybody;
        whole.then_some(Choice(items))
    }
}
