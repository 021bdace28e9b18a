//! Families against their definitions, by enumeration.

use super::*;
use alloc::collections::BTreeMap;
use alloc::vec;

/// Small members of every kind of geometry.
fn geometries() -> Vec<Geometry> {
    let mut found = Vec::new();
    for (order, dimension) in
        [(2u32, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 3), (5, 2), (5, 3), (8, 2), (9, 2)]
    {
        for classes in (1..order).filter(|&classes| (order - 1).is_multiple_of(classes)) {
            for cosets in 0..=classes {
                for zero in [false, true] {
                    found.extend(Geometry::new(order, dimension, classes, cosets, zero).ok());
                }
            }
        }
    }
    for (buckets, dimension) in [(2, 1), (2, 3), (3, 1), (3, 2), (4, 2), (5, 1), (5, 2), (9, 1)] {
        found.push(Geometry::hashing(buckets, dimension).unwrap());
    }
    found
}

fn every_family() -> Vec<Incidence> {
    let mut found = Vec::new();
    for geometry in geometries() {
        let points = geometry.points() as usize;
        for symbols in [points, points - 1, points / 2 + 1] {
            let family = Family::Geometry(geometry.clone());
            found.extend(Incidence::new(symbols, 1 << 47, family).ok());
        }
    }
    // The Fano plane written out, and all pairs of four symbols.
    let fano = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]];
    let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let lists = [
        (7, fano.iter().map(|block| block.to_vec()).collect::<Vec<_>>()),
        (4, pairs.iter().map(|block| block.to_vec()).collect()),
        // A block may be empty, or everything; pairs need not be balanced.
        (4, vec![vec![], vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]]),
    ];
    for (symbols, blocks) in lists {
        let family = Family::Listed(Listed::new(symbols, &blocks).unwrap());
        found.push(Incidence::new(symbols, 3 << 46, family).unwrap());
    }
    found
}

/// The numbers of a symbol's blocks are those that contain it, each once, and the others the rest.
#[test]
fn every_block_of_a_kind_has_one_number() {
    for incidence in every_family() {
        let blocks = incidence.blocks().unwrap() as u32;
        for symbol in 0..incidence.symbols() as u32 {
            for inside in [false, true] {
                let count = incidence.family().kind(inside) as u32;
                let mut found: Vec<u32> =
                    (0..count).map(|number| incidence.nth(symbol, inside, number)).collect();
                found.sort_unstable();
                let expected: Vec<u32> = (0..blocks)
                    .filter(|&block| incidence.contains(block, symbol) == inside)
                    .collect();
                assert_eq!(found, expected, "{:?} {symbol} {inside}", incidence.family());
            }
        }
    }
}

#[test]
fn pairs_share_as_many_blocks_as_stated() {
    for incidence in every_family() {
        let (blocks, symbols) = (incidence.blocks().unwrap() as u32, incidence.symbols() as u32);
        let shared = |a: u32, b: u32| {
            let both = |&block: &u32| incidence.contains(block, a) && incidence.contains(block, b);
            (0..blocks).filter(both).count() as u64
        };
        let counts: Vec<u64> = (0..symbols)
            .flat_map(|a| (0..symbols).filter(move |&b| b != a).map(move |b| (a, b)))
            .map(|(a, b)| shared(a, b))
            .collect();
        let each = incidence.replication().unwrap() as u64;
        let all = u64::from(blocks);
        match incidence.together() {
            Some(stated) => {
                assert!(counts.iter().all(|&count| count == counts[0]));
                assert_eq!(stated, [(counts[0], each), (each - counts[0], all - each)]);
            }
            None => assert!(counts.iter().any(|&count| count != counts[0])),
        }
    }
}

/// Sums by transforms against sums by definition, for weights that no symmetry forgives.
#[test]
fn sums_are_sums() {
    for incidence in every_family() {
        let (blocks, symbols) = (incidence.blocks().unwrap(), incidence.symbols());
        let weights: Vec<u64> = (0..symbols as u64).map(|x| 1 + x * x * 7919 % 10_007).collect();
        let inside = |block: usize, symbol: usize| incidence.contains(block as u32, symbol as u32);
        let by_block: Vec<u64> = (0..blocks)
            .map(|y| (0..symbols).filter(|&x| inside(y, x)).map(|x| weights[x]).sum())
            .collect();
        assert_eq!(incidence.block_sums(&weights), by_block, "{:?}", incidence.family());
        let counts: Vec<u64> = (0..blocks as u64).map(|y| (y * y + 3) * 104_729 % 7_919).collect();
        let by_symbol: Vec<u64> = (0..symbols)
            .map(|x| (0..blocks).filter(|&y| inside(y, x)).map(|y| counts[y]).sum())
            .collect();
        assert_eq!(incidence.symbol_sums(&counts), by_symbol, "{:?}", incidence.family());
    }
}

/// How many of the 2^64 indices lead to each number below `kind`.
fn tickets(kind: u64) -> Vec<u128> {
    let edge = |number: u64| (u128::from(number) << 64).div_ceil(u128::from(kind));
    (0..kind).map(|number| edge(number + 1) - edge(number)).collect()
}

/// Both edges of every cell of the index lie where the count of tickets says, and levels are their floor and ceiling.
#[test]
fn an_index_of_eight_bytes_is_as_even_as_it_can_be() {
    for kind in [1u64, 2, 3, 5, 7, 12, 255, 256, 1000] {
        let mut start = 0u128;
        for (number, count) in (0u64..).zip(tickets(kind)) {
            for v in [start, start + count - 1] {
                assert_eq!(share_of(v as u64, kind), number);
            }
            start += count;
        }
        assert_eq!(start, 1 << 64);
    }
    for incidence in every_family() {
        let levels = incidence.levels();
        for inside in [false, true] {
            let chance =
                u128::from(if inside { incidence.coin } else { MASS_ONE - incidence.coin });
            let counts = tickets(incidence.family().kind(inside));
            let (low, high) = levels.of(inside);
            assert!(counts.iter().all(|count| (low..=high).contains(&(chance * count))));
            assert_eq!(counts.iter().min().map(|count| chance * count), Some(low));
            assert!(high - low <= chance);
        }
    }
}

/// Every path of Floyd's algorithm, each draw at both edges of its cell: all subsets of a kind are equally often drawn.
#[test]
fn subsets_are_drawn_evenly() {
    for (symbols, size) in [(2, 1), (3, 1), (3, 2), (5, 2), (5, 4), (6, 3), (7, 3)] {
        let subsets = Subsets::new(size);
        for symbol in 0..symbols {
            for inside in [false, true] {
                let others = symbols - 1;
                let kinds: Vec<u64> =
                    (others - subsets.drawn(inside)..others).map(|last| last as u64 + 1).collect();
                let paths: u64 = kinds.iter().product();
                let mut found: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
                for path in 0..paths {
                    for last in [false, true] {
                        let mut rest = path;
                        let mut step = kinds.iter();
                        let index = || {
                            let kind = *step.next().unwrap();
                            let number = rest % kind;
                            rest /= kind;
                            let edge =
                                |number: u64| (u128::from(number) << 64).div_ceil(u128::from(kind));
                            (if last { edge(number + 1) - 1 } else { edge(number) }) as u64
                        };
                        let mut packed = Subsets::nothing(symbols);
                        subsets.draw(symbols, symbol, inside, index, &mut packed);
                        assert!(subsets.accepts(&packed));
                        assert_eq!(packed[symbol / 8] & (0x80 >> (symbol % 8)) != 0, inside);
                        *found.entry(packed).or_default() += 1;
                    }
                }
                let drawn = subsets.drawn(inside);
                let choices = (0..drawn).fold(1, |c, j| c * (others - j) / (j + 1));
                assert_eq!(found.len(), choices);
                assert!(found.values().all(|&count| count == 2 * paths / choices as u64));
                let sum: u64 = kinds.iter().sum();
                assert_eq!(subsets.unevenness(symbols, inside), sum);
            }
        }
    }
}

#[test]
fn families_that_do_not_exist_are_refused() {
    use IncidenceError as E;
    assert_eq!(Geometry::new(6, 3, 1, 0, true), Err(E::Order { found: 6, next: 7 }));
    assert_eq!(Geometry::new(0, 3, 1, 0, true), Err(E::Order { found: 0, next: 2 }));
    assert_eq!(Geometry::new(5, 3, 3, 1, true), Err(E::Classes { found: 3, order: 5 }));
    assert_eq!(Geometry::new(5, 3, 0, 0, true), Err(E::Classes { found: 0, order: 5 }));
    let cosets = |found, zero| Err(E::Cosets { found, classes: 2, zero });
    assert_eq!(Geometry::new(5, 3, 2, 0, false), cosets(0, false));
    assert_eq!(Geometry::new(5, 3, 2, 2, true), cosets(2, true));
    assert_eq!(Geometry::new(5, 3, 2, 3, false), cosets(3, false));
    assert_eq!(Geometry::new(5, 1, 1, 0, true), Err(E::Dimension { found: 1 }));
    assert_eq!(Geometry::hashing(5, 0), Err(E::Dimension { found: 0 }));
    assert_eq!(Geometry::new(2, 25, 1, 0, true), Err(E::Blocks { order: 2, dimension: 25 }));
    assert_eq!(Geometry::new(4093, 3, 1, 0, true), Err(E::Blocks { order: 4093, dimension: 3 }));
    assert_eq!(Geometry::new(2, u32::MAX, 1, 0, true).map(|_| ()).unwrap_err(), {
        E::Blocks { order: 2, dimension: u32::MAX }
    });
    let plane = || Family::Geometry(Geometry::new(2, 3, 1, 0, true).unwrap());
    let beyond = Incidence::new(8, 0, plane());
    assert_eq!(beyond, Err(E::Points { symbols: 8, points: 7, next: 4 }));
    assert_eq!(Incidence::new(1, 0, plane()), Err(E::Symbols { found: 1 }));
    assert_eq!(Incidence::new(7, MASS_ONE + 1, plane()), Err(E::Coin { found: MASS_ONE + 1 }));
    for size in [0, 4, 5, usize::MAX] {
        let refused = Incidence::new(4, 0, Family::Subsets(Subsets::new(size)));
        let found = size.min(u32::MAX as usize);
        assert_eq!(refused, Err(E::Size { found, symbols: 4 }));
    }
    let listed = |symbols, blocks: &[&[u32]]| {
        Listed::new(symbols, &blocks.iter().map(|block| block.to_vec()).collect::<Vec<_>>())
    };
    assert_eq!(listed(2, &[&[0, 1]]), Err(E::List { blocks: 1, members: 2 }));
    assert_eq!(listed(1 << 24, &[&[0], &[1]]), Err(E::List { blocks: 2, members: 2 }));
    assert_eq!(listed(1 << 25, &[&[0], &[1]]), Err(E::Symbols { found: 1 << 25 }));
    let member = |block, found| Err(E::Member { block, found, symbols: 2 });
    assert_eq!(listed(2, &[&[0, 1], &[1, 0]]), member(1, 0));
    assert_eq!(listed(2, &[&[0, 0], &[1]]), member(0, 0));
    assert_eq!(listed(2, &[&[0], &[2]]), member(1, 2));
    let uneven = Err(E::Replication { symbol: 1, found: 1, expected: 2 });
    assert_eq!(listed(2, &[&[0], &[0, 1]]), uneven);
    assert_eq!(listed(2, &[&[0, 1], &[0, 1]]), Err(E::Constant { found: 2, blocks: 2 }));
}
