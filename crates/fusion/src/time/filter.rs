//! The centre's belief in H when hypotheses move: what was said before counts.

use std::collections::BTreeMap;

use undertone_design::Error;

use super::ExactChain;
use crate::rule::Posterior;
use crate::{ExactModel, FusionRule};

/// So many epochs can still be heard of after a later one; what is older is final.
const REMEMBERED: usize = 256;

/// Beliefs in the pair (H, G), epoch by epoch, from everything heard up to it.
///
/// Epochs may come in any order and may be missing: those in between are predicted.
#[derive(Debug, Clone)]
pub struct Filter {
    rule: FusionRule,
    states: Vec<(usize, usize)>,
    rows: Vec<Vec<f64>>,
    first: Vec<f64>,
    /// The epoch of the chain's first law.
    start: u64,
    /// Final: the last epoch that was forgotten, and the belief after it.
    base: Option<(u64, Vec<f64>)>,
    /// Likelihoods by pair of the epochs heard, and the belief after each.
    heard: BTreeMap<u64, (Vec<f64>, Vec<f64>)>,
}

impl Filter {
    /// A filter by this rule whose first epoch is `start`.
    pub fn new(model: &ExactModel, chain: &ExactChain, rule: FusionRule, start: u64) -> Self {
        let one = undertone_core::MASS_ONE as f64;
        let weight = |&(h, g): &(usize, usize)| {
            let own = model.atoms.iter().filter(|atom| (atom.public, atom.private) == (h, g));
            own.map(|atom| atom.weight as f64 / one).sum()
        };
        let row = |row: &Vec<u64>| row.iter().map(|&mass| mass as f64 / one).collect();
        Self {
            rule,
            states: chain.states().to_vec(),
            rows: chain.rows().iter().map(row).collect(),
            first: chain.states().iter().map(weight).collect(),
            start,
            base: None,
            heard: BTreeMap::new(),
        }
    }

    /// Forgets everything; the chain begins anew with this epoch.
    pub fn restart(&mut self, start: u64) {
        (self.start, self.base) = (start, None);
        self.heard.clear();
    }

    /// Beliefs in an epoch after its outputs and those of all epochs before it that were heard.
    pub fn hear(&mut self, epoch: u64, outputs: &[Option<usize>]) -> Result<Posterior, Error> {
        let by_pair = self.rule.by_pair(outputs, &self.states)?;
        let known = self.base.as_ref().is_none_or(|(last, _)| epoch > *last);
        if !known || epoch < self.start {
            // Too old to count; it is judged by itself.
            return self.rule.posterior(outputs);
        }
        if outputs.iter().all(Option::is_none) {
            // Nothing to remember, so that nobody pushes out what was heard by naming far epochs.
            return Ok(self.rule.of_pairs(&self.states, &self.predicted(epoch), 1.0));
        }
        self.heard.insert(epoch, (by_pair, Vec::new()));
        let later: Vec<u64> = self.heard.range(epoch..).map(|(&epoch, _)| epoch).collect();
        let mut own = None;
        for at in later {
            let before = self.predicted(at);
            if let Some((likelihood, belief)) = self.heard.get_mut(&at) {
                let mut after: Vec<f64> =
                    before.iter().zip(&*likelihood).map(|(p, e)| p * e).collect();
                let total: f64 = after.iter().sum();
                // Outputs that could not be leave the belief as it was.
                if total > 0.0 {
                    after.iter_mut().for_each(|p| *p /= total)
                } else {
                    after = before
                }
                *belief = after;
                own = own.or_else(|| Some((total, belief.clone())));
            }
        }
        while self.heard.len() > REMEMBERED {
            let Some((epoch, (_, belief))) = self.heard.pop_first() else { break };
            self.base = Some((epoch, belief));
        }
        let (evidence, belief) = own.unwrap_or((0.0, self.first.clone()));
        Ok(self.rule.of_pairs(&self.states, &belief, evidence))
    }

    /// The belief in the pair of an epoch from what was heard before it.
    fn predicted(&self, epoch: u64) -> Vec<f64> {
        let before = self.heard.range(..epoch).next_back();
        let before = before.map(|(&at, (_, belief))| (at, belief));
        let last = before.or_else(|| self.base.as_ref().map(|(at, belief)| (*at, belief)));
        let (law, steps) = match last {
            Some((at, belief)) => (belief.clone(), epoch - at),
            None => (self.first.clone(), epoch.saturating_sub(self.start)),
        };
        moved(law, self.rows.clone(), steps)
    }
}

/// A law so many steps later; the number of steps costs its logarithm, because messages name epochs.
fn moved(mut law: Vec<f64>, mut rows: Vec<Vec<f64>>, mut steps: u64) -> Vec<f64> {
    let times = |law: &[f64], rows: &[Vec<f64>]| {
        let mut next = vec![0.0; law.len()];
        for (p, row) in law.iter().zip(rows) {
            next.iter_mut().zip(row).for_each(|(sum, q)| *sum += p * q);
        }
        // So that rounding does not add up over many squarings.
        let total: f64 = next.iter().sum();
        next.iter_mut().for_each(|p| *p /= total);
        next
    };
    while steps > 0 {
        if steps & 1 == 1 {
            law = times(&law, &rows);
        }
        steps >>= 1;
        if steps > 0 {
            rows = rows.iter().map(|row| times(row, &rows)).collect();
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_are_as_many_single_ones_and_never_too_many() {
        let rows = vec![vec![0.9, 0.1, 0.0], vec![0.2, 0.5, 0.3], vec![0.0, 0.4, 0.6]];
        let mut law = vec![0.7, 0.2, 0.1];
        for steps in 0..20 {
            let found = moved(vec![0.7, 0.2, 0.1], rows.clone(), steps);
            assert!(found.iter().zip(&law).all(|(a, b)| (a - b).abs() < 1e-12), "{steps}");
            law = moved(law, rows.clone(), 1);
        }
        // A chain that never settles, for longer than anyone can count.
        let turn = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert_eq!(moved(vec![1.0, 0.0], turn, u64::MAX), [0.0, 1.0]);
    }
}
