//! Releases that merge symbols: one output for each group.

use super::problem::{Block, WatchdogProblem};
use super::{Release, measured};
use crate::{Channel, Error};

/// Disjoint groups of symbols that cover the alphabet, in the order of their first members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    groups: Vec<Vec<usize>>,
    symbols: usize,
}

impl Partition {
    /// Names the members as the joint law does. Symbols without mass are put where they add nothing:
    /// with the largest group of more than one symbol, or else the likeliest symbol.
    pub(super) fn new(problem: &WatchdogProblem, blocks: &[Block]) -> Self {
        let names = |block: &Block| block.members.iter().map(|&x| problem.names[x]).collect();
        let mut groups: Vec<Vec<usize>> = blocks.iter().map(names).collect();
        let size = |&at: &usize| (blocks[at].members.len().min(2), blocks[at].mass);
        let order = |a: &usize, b: &usize| {
            let ((many, mass), (others, other)) = (size(a), size(b));
            many.cmp(&others).then(mass.total_cmp(&other))
        };
        if let Some(host) = (0..groups.len()).max_by(order) {
            groups[host].extend((0..problem.symbols).filter(|x| !problem.names.contains(x)));
        }
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        Self { groups, symbols: problem.symbols }
    }

    /// The groups.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The map from symbols to groups, as a channel of zeros and ones.
    pub fn channel(&self) -> Result<Channel, Error> {
        let mut rows = vec![vec![0.0; self.groups.len()]; self.symbols];
        for (y, group) in self.groups.iter().enumerate() {
            group.iter().for_each(|&x| rows[x][y] = 1.0);
        }
        Channel::new(rows)
    }
}

/// The release that publishes these blocks.
pub(super) fn release(problem: &WatchdogProblem, blocks: &[Block]) -> Result<Release, Error> {
    let partition = Partition::new(problem, blocks);
    let met = blocks.iter().all(|block| problem.allows(block));
    let mut release = measured(problem, partition.channel()?, partition.groups, met)?;
    // H(Y) is I(X;Y) of a deterministic map, and adds up more accurately; ZDS22 (9).
    let mass = |block: &Block| -block.mass * block.mass.ln();
    release.nmi = problem.normalised(blocks.iter().map(mass).sum());
    Ok(release)
}

/// The largest alphabet whose partitions are all weighed (3^14 steps).
pub const MAX_PARTITION_SYMBOLS: usize = 14;

/// The best of all partitions into groups within the budget; exact, for up to
/// [`MAX_PARTITION_SYMBOLS`] symbols with mass.
///
/// Dynamic programming over sets of symbols: the best partition of a set is its best first group (the
/// one with the set's lowest symbol) and the best partition of what is left.
pub fn best_partition(problem: &WatchdogProblem) -> Result<Release, Error> {
    let symbols = problem.len();
    if symbols > MAX_PARTITION_SYMBOLS {
        return Err(Error::TooLarge {
            what: "the alphabet of X".into(),
            size: symbols,
            limit: MAX_PARTITION_SYMBOLS,
            fix: "use subset merging, or the randomised optimum".into(),
        });
    }
    let full = (1usize << symbols) - 1;
    // What a set contributes to H(Y) as one group, if it may be one.
    let worth = |set: usize| {
        let block = problem.block((0..symbols).filter(|x| set >> x & 1 == 1))?;
        problem.allows(&block).then(|| -block.mass * block.mass.ln())
    };
    let worths: Vec<Option<f64>> = (0..=full).map(worth).collect();
    let mut best: Vec<(f64, usize)> = vec![(0.0, 0); full + 1];
    for set in 1..=full {
        let lowest = set & set.wrapping_neg();
        let others = set ^ lowest;
        let mut found = (f64::NEG_INFINITY, set);
        let mut rest = others;
        // Every subset of the others is what may be left after the first group.
        loop {
            if let Some(worth) = worths[set ^ rest]
                && worth + best[rest].0 > found.0
            {
                found = (worth + best[rest].0, set ^ rest);
            }
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & others;
        }
        best[set] = found;
    }
    let (mut left, mut blocks) = (full, Vec::new());
    while left != 0 {
        let group = best[left].1;
        blocks.extend(problem.block((0..symbols).filter(|x| group >> x & 1 == 1)));
        left ^= group;
    }
    release(problem, &blocks)
}
