//! Blocks against their definition: exact rationals, every block, every path of a draw.

mod documents;
mod draws;
mod plan;
mod sequence;
mod strength;

use crate::common::{Q, ratio};
use undertone_core::incidence::{Family, Incidence};

/// How far above the truth a ratio may be certified, relative to it.
///
/// Numbered blocks: an index below N has ⌊2^64/N⌋ or one more of the 2^64 tickets, so each of the two likelihoods of a ratio is within
/// N/2^64 of the truth, about 2N/2^64 together. Subsets: the same with the sum of the numbers of candidates over all draws, and
/// levels keep 24 bits below the unit of the coin.
pub(crate) fn room(incidence: &Incidence) -> Q {
    let two_to_64 = Q::from(1u128 << 64);
    match incidence.family() {
        Family::Subsets(subsets) => {
            let candidates = (subsets.size() * incidence.symbols()) as u64;
            let coin = incidence.coin();
            let sides = [coin, (1 << 48) - coin];
            let least = sides.into_iter().filter(|&side| side > 0).min().unwrap();
            Q::from(4 * candidates) / two_to_64 + ratio(4, least) * ratio(1, 1 << 24)
        }
        Family::Geometry(_) | Family::Listed(_) => {
            Q::from(4 * incidence.blocks().unwrap() as u64) / two_to_64
        }
    }
}
