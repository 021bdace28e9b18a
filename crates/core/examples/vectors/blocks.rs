//! Families of blocks: those of the grid, and policies that the grid does not reach.

use super::grid::{Named, Parts, around, odds, secret};
use super::policies::{claim_by, name};
use super::stream::Mix;
use undertone_core::{
    Alphabet, Claim, Context, Family, Geometry, Incidence, Listed, MASS_ONE, Prior, PriorBox,
    Secret, Shape, Subsets, WEIGHT_ONE,
};

/// Blocks over some symbols with the coin in units of 2^-`bits`.
fn blocks(symbols: usize, bits: u32, coin: u64, family: Family) -> Shape {
    let coin = coin << (48 - bits);
    Shape::Incidence(Incidence::new(symbols, coin, family).expect("a family with room"))
}

fn geometry(order: u32, dimension: u32, classes: u32, cosets: u32, zero: bool) -> Family {
    Family::Geometry(Geometry::new(order, dimension, classes, cosets, zero).expect("a geometry"))
}

fn hashing(buckets: u32, dimension: u32) -> Family {
    Family::Geometry(Geometry::hashing(buckets, dimension).expect("functions"))
}

fn listed(symbols: usize, blocks: &[&[u32]]) -> Family {
    let blocks: Vec<Vec<u32>> = blocks.iter().map(|block| block.to_vec()).collect();
    Family::Listed(Listed::new(symbols, &blocks).expect("a design"))
}

fn subsets(size: usize) -> Family {
    Family::Subsets(Subsets::new(size))
}

/// Hashing of 40 symbols into seven buckets, and 13 of 40.
pub(crate) fn forty() -> [Shape; 2] {
    [blocks(40, 1, 1, hashing(7, 2)), blocks(40, 1, 1, subsets(13))]
}

/// The grid's families over three symbols. The numbers of blocks of a kind are powers of two in the first alone, so that its
/// levels are exact.
pub(crate) fn families() -> [(&'static str, Shape); 6] {
    // One block is empty, and one has every symbol.
    let list: [&[u32]; 5] = [&[], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
    [
        ("hadamard", blocks(3, 1, 1, geometry(2, 2, 1, 0, true))),
        ("projective", blocks(3, 1, 1, geometry(3, 2, 1, 0, true))),
        ("fraction", blocks(3, 1, 1, geometry(3, 2, 2, 1, false))),
        ("hashing", blocks(3, 2, 3, hashing(2, 2))),
        ("listed", blocks(3, 2, 3, listed(3, &list))),
        ("subsets", blocks(3, 2, 3, subsets(2))),
    ]
}

/// Policies on blocks that the grid does not reach.
pub(crate) fn policies() -> Vec<Named> {
    let mut mix = Mix(18);
    let mut weights = |size| mix.parts(size, WEIGHT_ONE, 1 << 20);
    let known = |weights: Vec<u64>| Context::Known(Prior::new(weights).expect("a prior"));
    let ends = |weights: &[u64], sign: i64| -> Vec<u64> {
        let shift = |w: &u64| w.saturating_add_signed(sign * (w / 4) as i64);
        weights.iter().map(shift).collect()
    };
    let within = |weights: Vec<u64>| {
        let within = PriorBox::new(ends(&weights, -1), ends(&weights, 1));
        Context::Within(within.expect("a box"))
    };
    let plain =
        |shape, context| claim_by(Parts::plain(shape, context, vec![]), |ratio| around(ratio).1);
    let fano: [&[u32]; 7] =
        [&[2, 4, 5], &[0, 1, 2], &[0, 3, 4], &[1, 4, 6], &[0, 5, 6], &[1, 3, 5], &[2, 3, 6]];
    let rows = [weights(7), weights(7), weights(7)].map(|row| Prior::new(row).expect("a prior"));
    let law = Prior::new(weights(3)).expect("a prior");
    let diagnosis = || {
        let secret = Secret::new("diagnosis".into(), law.clone(), rows.to_vec());
        Context::Secret(secret.expect("a secret"))
    };
    let names = Alphabet::names(["a", "b", "c", "d"]).expect("names");
    let nothing = vec![Claim::ldp(odds(1, 1)), Claim::lip(odds(1, 1))];
    let certain = vec![Claim::ldp(odds(1, 1)).about_secret()];
    vec![
        name("blocks_fano", "seven points on seven lines, a secret", {
            plain(blocks(7, 2, 3, geometry(2, 3, 1, 0, true)), diagnosis())
        }),
        name("blocks_fano_listed", "the seven lines written out, in another order", {
            plain(blocks(7, 2, 3, listed(7, &fano)), diagnosis())
        }),
        name("blocks_subsets_secret", "three of seven, the same secret", {
            plain(blocks(7, 2, 3, subsets(3)), diagnosis())
        }),
        name("blocks_subsets_against_secret", "five of seven that speak against their symbols", {
            plain(blocks(7, 2, 1, subsets(5)), diagnosis())
        }),
        name("blocks_order_4", "a field of characteristic two, three coordinates", {
            plain(blocks(21, 3, 5, geometry(4, 3, 3, 1, true)), known(weights(21)))
        }),
        name("blocks_order_8", "three of seven cosets, nought outside", {
            plain(blocks(9, 3, 5, geometry(8, 2, 7, 3, false)), known(weights(9)))
        }),
        name("blocks_order_9", "a field of characteristic three", {
            plain(blocks(10, 3, 5, geometry(9, 2, 4, 1, true)), within(weights(10)))
        }),
        name("blocks_order_25", "a field of characteristic five, fewer symbols than points", {
            plain(blocks(20, 3, 5, geometry(25, 2, 3, 2, false)), known(weights(20)))
        }),
        name("blocks_order_7", "a prime with two cosets of three and nought, three coordinates", {
            plain(blocks(40, 3, 6, geometry(7, 3, 3, 2, true)), known(weights(40)))
        }),
        name("blocks_against", "a coin that speaks against the block's symbols", {
            plain(blocks(13, 4, 1, geometry(3, 3, 1, 0, true)), known(weights(13)))
        }),
        name("blocks_hashing_9", "linear functions over nine elements", {
            plain(blocks(50, 1, 1, hashing(9, 2)), within(weights(50)))
        }),
        name("blocks_subsets_11", "four of eleven, so that five bits are spare", {
            plain(blocks(11, 2, 3, subsets(4)), known(weights(11)))
        }),
        name("blocks_subsets_box", "two of five under a box: a bound", {
            plain(blocks(5, 2, 3, subsets(2)), within(weights(5)))
        }),
        name("blocks_subsets_one", "one of three: randomised response", {
            plain(blocks(3, 2, 3, subsets(1)), known(weights(3)))
        }),
        name("blocks_300", "300 of the 341 points of a geometry", {
            plain(blocks(300, 1, 1, geometry(4, 5, 1, 0, true)), known(weights(300)))
        }),
        name("blocks_1024", "hashing 1,024 symbols into 4 buckets: too many cells to list", {
            plain(blocks(1024, 1, 1, hashing(4, 5)), Context::Unknown)
        }),
        name("blocks_million", "a million rows of a Hadamard matrix", {
            plain(blocks(1_000_000, 2, 3, geometry(2, 20, 1, 0, true)), Context::Unknown)
        }),
        name("blocks_largest_field", "the largest field, all of its lines", {
            plain(blocks(4097, 40, 3 << 30, geometry(4096, 2, 63, 16, true)), Context::Unknown)
        }),
        name("blocks_names", "names on blocks, whose numbers are the outputs", {
            let parts = plain(blocks(4, 2, 3, hashing(2, 2)), Context::Unknown);
            Parts { inputs: names, ..parts }
        }),
        name("blocks_silent", "both kinds of blocks equally likely: nothing leaks", {
            let shape = blocks(2, 1, 1, listed(2, &[&[0], &[1]]));
            let half = WEIGHT_ONE / 2;
            Parts::plain(shape, known(vec![half, half]), nothing)
        }),
        name("blocks_certain", "the block always contains the symbol: no finite level", {
            let shape = blocks(3, 0, 1, geometry(2, 2, 1, 0, true));
            Parts::plain(shape, secret("none", 2, &[4], &[&[2, 1, 1]]), certain)
        }),
        name("blocks_full_width", "a coin of full width", {
            let family = geometry(5, 2, 4, 1, false);
            let shape = Incidence::new(6, MASS_ONE / 3 * 2 + 12_345, family).expect("blocks");
            plain(Shape::Incidence(shape), known(weights(6)))
        }),
    ]
}
