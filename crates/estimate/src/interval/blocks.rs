//! Tilted laws of sums over the symbols of a numbered block.

use super::law::{Tilt, gather, of_powers};
use crate::channel::Blocks;

/// Five sums over all blocks, given every symbol: those of the powers 0 to 4 of the score, each times its tilt.
pub(super) fn blocks_tilt(s: f64, blocks: &Blocks, scores: &[f64], offset: f64) -> Tilt {
    let sums: Vec<f64> = blocks.block_sums(scores).into_iter().map(|sum| sum + offset).collect();
    let range = sums.iter().map(|sum| sum.abs()).fold(0.0, f64::max);
    let mut term: Vec<f64> = sums.iter().map(|sum| (s * sum).exp()).collect();
    let mut means: Vec<[f64; 5]> = vec![[0.0; 5]; scores.len()];
    for power in 0..5 {
        let given = blocks.back(&term);
        means.iter_mut().zip(given).for_each(|(means, mean)| means[power] = mean);
        term.iter_mut().zip(&sums).for_each(|(term, sum)| *term *= sum);
    }
    gather(means.into_iter().map(|powers| of_powers(powers, range)))
}
