//! Draws from given bytes: both edges of every cell, of every coin and of every tie.

use super::grid::Named;
use super::policies::named;
use super::stream::{Mix, Stream};
use super::text::{hex, inline, list, object, quoted};
use undertone_core::{Bits, Family, Incidence, MASS_ONE, Policy, Row, Shape, Subsets, Token};

/// Which policies are drawn from, and for how many of their symbols.
const POLICIES: [(&str, usize); 17] = [
    ("table_prior_lip", 3),
    ("never_released", 2),
    ("unbounded_table", 2),
    ("full_width_prior", 5),
    ("full_width_secret", 4),
    ("response_16", 2),
    ("largest_epsilon", 2),
    ("one_symbol_table", 1),
    ("keep_prior_lip", 3),
    ("unbounded_keep", 2),
    ("one_symbol_keep", 1),
    ("keep_300", 2),
    ("bits_prior_lip", 3),
    ("bits_always_set", 2),
    ("bits_never_set", 2),
    ("one_symbol_bits", 1),
    ("bits_11", 11),
];

/// Blocks, and which of their symbols.
const BLOCKS: [(&str, &[usize]); 18] = [
    ("hadamard_prior_lip", &[0, 1, 2]),
    ("projective_prior_lip", &[0, 1, 2]),
    ("fraction_prior_lip", &[0, 1, 2]),
    ("hashing_prior_lip", &[0, 1, 2]),
    ("listed_prior_lip", &[0, 1, 2]),
    ("subsets_prior_lip", &[0, 1, 2]),
    ("blocks_fano", &[0, 1, 2, 3, 4, 5, 6]),
    ("blocks_order_4", &[0, 2, 5, 13, 20]),
    ("blocks_order_8", &[0, 1, 8]),
    ("blocks_order_9", &[0, 1, 5, 9]),
    ("blocks_order_25", &[0, 7, 19]),
    ("blocks_hashing_9", &[0, 9, 49]),
    ("blocks_certain", &[0, 2]),
    ("blocks_subsets_11", &[0, 5, 10]),
    ("blocks_subsets_one", &[0, 2]),
    ("blocks_subsets_against_secret", &[3]),
    ("blocks_million", &[0, 1, 2, 4096, 524_287, 999_999]),
    ("blocks_largest_field", &[0, 1, 4096]),
];

/// Every file of draws.
pub(crate) fn files(accepted: &[Named]) -> Vec<(String, String)> {
    let file = |(name, symbols): (&str, Vec<usize>)| {
        let policy = named(accepted, name);
        let mut mix = Mix(11);
        let mut cases = Vec::new();
        for symbol in symbols {
            let mut streams = match policy.draft().shape() {
                Shape::Table(table) => edges(&table.rows()[symbol]),
                Shape::Keep(keep) => coins(keep.keep()[symbol], keep.base(), &mut mix),
                Shape::Bits(bits) => ties(bits, symbol),
                Shape::Incidence(blocks) => match blocks.family() {
                    Family::Subsets(subsets) => paths(blocks, subsets),
                    Family::Geometry(_) | Family::Listed(_) => numbers(blocks, &mut mix),
                },
            };
            let most = match policy.draft().shape() {
                Shape::Incidence(blocks) if !blocks.releases_bits() => 16,
                Shape::Incidence(blocks) => 8 * blocks.symbols(),
                shape => 4 * shape.inputs().max(4),
            };
            streams.extend((0..2).map(|_| mix.bytes(most)));
            cases.extend(streams.iter().map(|stream| case(&policy, symbol, stream)));
        }
        let fields = [
            ("policy", quoted(format!("{name}.json"))),
            ("bytes", quoted(hex(&policy.draft().to_bytes()))),
            ("cases", list(cases)),
        ];
        (name.to_string(), object(&fields) + "\n")
    };
    let plain = POLICIES.iter().map(|&(name, symbols)| (name, (0..symbols).collect()));
    let blocks = BLOCKS.iter().map(|&(name, symbols)| (name, symbols.to_vec()));
    plain.chain(blocks).map(file).collect()
}

/// A token as reports write it.
pub(crate) fn token(token: &Token) -> (&'static str, String) {
    match token {
        Token::Index(index) => ("token", index.to_string()),
        Token::Bits(bytes) => ("bits", quoted(hex(bytes))),
    }
}

fn case(policy: &Policy, symbol: usize, stream: &[u8]) -> String {
    let mut rng = Stream::new(stream);
    let x = policy.draft().inputs().symbol(symbol).expect("a symbol");
    let drawn = policy.draw(x, &mut rng).expect("a draw");
    inline(&[
        ("symbol", symbol.to_string()),
        ("stream", quoted(hex(stream))),
        token(&drawn),
        ("consumed", rng.consumed.to_string()),
    ])
}

/// The first and the last u of every cell, six bytes each and one that is not read.
fn edges(row: &Row) -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    let mut start = 0;
    for mass in row.masses().iter().filter(|&&mass| mass > 0) {
        for u in [start, start + mass - 1] {
            streams.push([six(u), vec![0xee]].concat());
        }
        start += mass;
    }
    assert_eq!(start, MASS_ONE, "a row");
    streams
}

fn six(u: u64) -> Vec<u8> {
    u.to_be_bytes()[2..].to_vec()
}

/// Both edges of the coin with both ends of the base, and the edges of some of its cells.
fn coins(keep: u64, base: &Row, mix: &mut Mix) -> Vec<Vec<u8>> {
    let coin = |u: u64| u.to_be_bytes()[3..].to_vec();
    let largest = (1u64 << 40) - 1;
    let sides = [Some(0), keep.checked_sub(1), (keep <= largest).then_some(keep), Some(largest)];
    let mut streams = Vec::new();
    for side in sides.into_iter().flatten() {
        for u in [0, MASS_ONE - 1] {
            streams.push([coin(side), six(u)].concat());
        }
    }
    let mut cells = edges(base);
    // Of a long base every edge is one too many; of the rest some are taken.
    while cells.len() > 40 {
        cells.swap_remove(mix.next() as usize % cells.len());
    }
    streams.extend(cells.into_iter().map(|cell| [coin(largest), cell].concat()));
    streams
}

/// First bytes around the threshold's top byte, and for ties the three more around the rest.
fn ties(bits: &Bits, symbol: usize) -> Vec<Vec<u8>> {
    let count = bits.symbols();
    let threshold = |at: usize| if at == symbol { bits.own() } else { bits.other() };
    let top = |at: usize| (threshold(at) >> 24).min(255) as u8;
    // Every tie's further bytes: the last number that sets the bit, and the first that does not.
    let around = |at: usize, up: bool| {
        let rest = threshold(at) & 0xff_ffff;
        let low = if up { rest } else { rest.saturating_sub(1) };
        low.to_be_bytes()[5..].to_vec()
    };
    let spare = vec![0xee; 3 * count];
    let all = |byte: &dyn Fn(usize) -> u8| (0..count).map(byte).collect::<Vec<u8>>();
    let none = |at: usize| top(at).wrapping_add(128);
    let mut streams = vec![
        [all(&|_| 0x00), spare.clone()].concat(),
        [all(&|_| 0xff), spare.clone()].concat(),
        [all(&|at| top(at).saturating_sub(1)), spare.clone()].concat(),
        [all(&|at| top(at).saturating_add(1)), spare.clone()].concat(),
    ];
    for up in [false, true] {
        // All tie, alternately.
        let rest = (0..count).flat_map(|at| around(at, up ^ (at % 2 == 0))).collect();
        streams.push([all(&top), rest, vec![0xee; 3]].concat());
        // The own bit ties; another one does.
        for tied in [symbol, (symbol + 1) % count] {
            let first = all(&|at| if at == tied { top(at) } else { none(at) });
            streams.push([first, around(tied, up), spare.clone()].concat());
        }
    }
    streams
}

/// The first and the last value of 64 bits that leads to a number below `count`.
fn cell(number: u64, count: u64) -> [u64; 2] {
    let edge = |number: u64| (u128::from(number) << 64).div_ceil(u128::from(count));
    [edge(number) as u64, (edge(number + 1) - 1) as u64]
}

/// Both edges of the coin.
fn sides(coin: u64) -> impl Iterator<Item = u64> {
    let last = coin.checked_sub(1);
    let first = (coin < MASS_ONE).then_some(coin);
    [(coin > 0).then_some(0), last, first, first.and(Some(MASS_ONE - 1))].into_iter().flatten()
}

/// Both edges of the coin with both edges of the cell of every block; of many blocks, of the first, the last and some others.
fn numbers(blocks: &Incidence, mix: &mut Mix) -> Vec<Vec<u8>> {
    let each = blocks.replication().expect("numbered") as u64;
    let all = blocks.blocks().expect("numbered") as u64;
    let mut streams = Vec::new();
    for side in sides(blocks.coin()) {
        let count = if side < blocks.coin() { each } else { all - each };
        let mut chosen: Vec<u64> = match count {
            0..=6 => (0..count).collect(),
            _ => (0..4).map(|_| mix.next() % count).chain([0, 1, count / 2, count - 1]).collect(),
        };
        chosen.sort_unstable();
        chosen.dedup();
        for index in chosen.into_iter().flat_map(|number| cell(number, count)) {
            streams.push([six(side), index.to_be_bytes().to_vec(), vec![0xee]].concat());
        }
    }
    streams
}

/// Both edges of the coin, with indices that are all least, all greatest, or at the edges of a cell; where all are the same
/// candidates are met again.
fn paths(blocks: &Incidence, subsets: &Subsets) -> Vec<Vec<u8>> {
    let others = blocks.symbols() as u64 - 1;
    let mut streams = Vec::new();
    for side in sides(blocks.coin()) {
        let drawn = subsets.size() as u64 - u64::from(side < blocks.coin());
        // Of every step, the number of candidates.
        let counts: Vec<u64> = (others - drawn..others).map(|last| last + 1).collect();
        let path = |number: &dyn Fn(u64, u64) -> u64, edge: usize| {
            let steps =
                (0u64..).zip(&counts).map(|(at, &count)| cell(number(at, count), count)[edge]);
            let spare = 0xeeee_eeee_eeee_eeee;
            let indices = steps.chain([spare, spare]).flat_map(u64::to_be_bytes);
            [six(side), indices.collect()].concat()
        };
        for edge in [0, 1] {
            streams.push(path(&|_, _| 0, edge));
            streams.push(path(&|_, count| count - 1, edge));
            streams.push(path(&|_, count| count / 2, edge));
            streams.push(path(&|at, count| at / 2 % count, edge));
        }
    }
    streams
}
