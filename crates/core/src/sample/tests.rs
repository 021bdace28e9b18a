//! The guide table, and the blocks it is used in, against the definition they stand in for.

#![allow(clippy::unwrap_used)]

use super::indices::Indices;
use super::{flat_scan, scan};
use crate::mass::{KEEP_ONE, MASS_ONE};
use crate::shape::{Keep, Table};
use crate::symbol::Symbol;
use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};

/// A generator that returns a script.
struct Script<'a>(&'a [u8]);

impl TryRng for Script<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("the draw is pinned to bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the draw is pinned to bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let (now, later) = self.0.split_at(out.len());
        out.copy_from_slice(now);
        self.0 = later;
        Ok(())
    }
}

impl TryCryptoRng for Script<'_> {}

/// The last `count` bytes of a number, big-endian.
fn tail(value: u64, count: usize) -> Vec<u8> {
    value.to_be_bytes()[8 - count..].to_vec()
}

/// The number of cumulative sums <= u, by counting.
fn counted(sums: &[u64], u: u64) -> u32 {
    sums.iter().filter(|&&sum| sum <= u).count() as u32
}

fn summed(masses: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let add = |mass: &u64| {
        sum += mass;
        sum
    };
    masses.iter().map(add).collect()
}

/// Draws everything at once, whole blocks and a rest, and again a little later in the list, so that what
/// stood in one place of a group stands in another; all outputs must be the expected ones.
fn check_draws(indices: &Indices, inputs: &[Symbol], scripts: &[Vec<u8>], expected: &[u32]) {
    for skipped in [0, 1, 2, 3, 7] {
        let skipped = skipped.min(inputs.len());
        let script = scripts[skipped..].concat();
        let mut rng = Script(&script);
        let mut out = vec![u32::MAX; inputs.len() - skipped];
        indices.draw(&inputs[skipped..], &mut rng, &mut out);
        assert!(rng.0.is_empty());
        let wrong =
            out.iter().zip(&expected[skipped..]).position(|(out, expected)| out != expected);
        if let Some(at) = wrong {
            let place = skipped + at;
            let (x, script) = (inputs[place].index(), &scripts[place]);
            panic!("row {x}, bytes {script:?}: {} instead of {}", out[at], expected[place]);
        }
    }
}

/// Where a row could go wrong: both sides of every edge, of bucket borders, and for small rows of every
/// power of two that an edge lies between, where places agree in so many bits and no more; the ends; random.
fn telling(sums: &[u64], rng: &mut ChaCha12Rng) -> Vec<u64> {
    let near = sums.iter().flat_map(|&sum| [sum.saturating_sub(1), sum, sum + 1]);
    let borders = (0..64).map(|bucket| bucket << 42).flat_map(|u: u64| [u.saturating_sub(1), u]);
    let shared = sums.iter().take(if sums.len() <= 32 { 32 } else { 0 }).flat_map(|&sum| {
        (1..48).flat_map(move |bits| {
            let start = sum >> bits << bits;
            [start.saturating_sub(1), start, start + (1 << bits) - 1, start + (1 << bits)]
        })
    });
    let random: Vec<u64> = (0..200).map(|_| rng.next_u64() >> 16).collect();
    let all = near.chain(borders).chain(shared).chain(random).chain([0, MASS_ONE - 1]);
    all.filter(|&u| u < MASS_ONE).collect()
}

/// All rows at all telling places, by every way to draw.
fn check(rows: Vec<Vec<u64>>, rng: &mut ChaCha12Rng) {
    let table = Table::from_masses(rows).unwrap();
    let indices = Indices::of_table(&table);
    let (mut inputs, mut scripts, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for (x, row) in table.rows().iter().enumerate() {
        let sums = summed(row.masses());
        for u in telling(&sums, rng) {
            // Sums never fall, so the count is where the first larger one stands.
            let count = sums.partition_point(|&sum| sum <= u) as u32;
            if sums.len() <= 300 {
                assert_eq!(counted(&sums, u), count);
                assert_eq!(scan(row, u), count);
                assert_eq!(flat_scan(row, u), u64::from(count));
            }
            inputs.push(Symbol::new(x as u32));
            scripts.push(tail(u, 6));
            expected.push(count);
        }
    }
    check_draws(&indices, &inputs, &scripts, &expected);
}

/// A `Keep` at both sides of every coin's threshold and all telling places of its base.
fn check_keep(kept: Vec<u64>, base: Vec<u64>, rng: &mut ChaCha12Rng) {
    let sums = summed(&base);
    let keep = Keep::new(kept, base).unwrap();
    let indices = Indices::of_keep(&keep);
    let (mut inputs, mut scripts, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for (at, u) in telling(&sums, rng).into_iter().enumerate() {
        let x = (at * 7) % keep.keep().len();
        let kept = keep.keep()[x];
        let count = sums.partition_point(|&sum| sum <= u) as u32;
        for coin in [0, kept.saturating_sub(1), kept.min(KEEP_ONE - 1), KEEP_ONE - 1] {
            inputs.push(Symbol::new(x as u32));
            scripts.push([tail(coin, 5), tail(u, 6)].concat());
            expected.push(if coin < kept { x as u32 } else { count });
        }
    }
    check_draws(&indices, &inputs, &scripts, &expected);
}

/// Masses in proportion to `weights`, what is left over going to `rest`.
fn proportional(weights: &[u64], rest: usize) -> Vec<u64> {
    let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
    let mut masses: Vec<u64> =
        weights.iter().map(|&w| (u128::from(MASS_ONE) * u128::from(w) / total) as u64).collect();
    masses[rest] += MASS_ONE - masses.iter().sum::<u64>();
    masses
}

#[test]
fn one_output() {
    check(vec![vec![MASS_ONE]; 3], &mut ChaCha12Rng::seed_from_u64(1));
}

#[test]
fn every_small_arrangement_of_zeros() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    for outputs in 2..=6 {
        for pattern in 1u32..1 << outputs {
            let weights: Vec<u64> = (0..outputs).map(|y| u64::from(pattern >> y & 1)).collect();
            let rest = pattern.trailing_zeros() as usize;
            check(vec![proportional(&weights, rest)], &mut rng);
        }
    }
}

#[test]
fn point_masses_and_single_units() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    for outputs in [2, 3, 7, 8, 9, 64, 127, 128, 129] {
        for at in [0, 1, outputs / 2, outputs - 1] {
            let mut point = vec![0; outputs];
            point[at] = MASS_ONE;
            // Every other output one unit: many edges in one bucket, at its very start or end.
            let mut crowded = vec![1; outputs];
            crowded[at] = MASS_ONE - (outputs as u64 - 1);
            check(vec![point, crowded], &mut rng);
        }
    }
}

#[test]
fn random_rows() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    for round in 0u32..120 {
        let outputs = 2 + (rng.next_u64() % 130) as usize;
        let row = |rng: &mut ChaCha12Rng| {
            let weights: Vec<u64> = (0..outputs)
                .map(|_| match round % 4 {
                    0 => 1 + (rng.next_u64() >> 24),
                    // Like a Dirichlet draw with a small parameter: magnitudes far apart.
                    1 => 1 << (rng.next_u64() % 50),
                    2 if !rng.next_u64().is_multiple_of(10) => 0,
                    2 => 1 + (rng.next_u64() >> 24),
                    _ => 1,
                })
                .collect();
            let rest = (rng.next_u64() % outputs as u64) as usize;
            if weights.iter().all(|&w| w == 0) {
                let mut point = vec![0; outputs];
                point[rest] = MASS_ONE;
                point
            } else {
                proportional(&weights, rest)
            }
        };
        let rows = (0..3).map(|_| row(&mut rng)).collect();
        check(rows, &mut rng);
    }
}

/// Edges exactly on the borders of buckets: an edge belongs to the cell above it.
#[test]
fn edges_on_bucket_borders() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    for bits in 1..8 {
        let outputs = 1usize << bits;
        check(vec![vec![MASS_ONE >> bits; outputs]], &mut rng);
        let mut shifted = vec![MASS_ONE >> bits; outputs];
        shifted[0] -= 1;
        shifted[outputs - 1] += 1;
        check(vec![shifted], &mut rng);
    }
}

/// From no edge to more than a search looks at, all in one bucket: apart by more than places tell, by less, by one.
#[test]
fn crowded_buckets() {
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    for edges in 0..=20usize {
        for outputs in [edges + 1, edges + 2, 32] {
            // A bucket of any of these rows is at least 2^42 wide.
            for bits in [0, 1, 20, 26, 30, 33, 35, 37] {
                for start in [0, 1, 1 << 42, (1 << 42) + 1, 5 << 44, MASS_ONE - (1 << 42)] {
                    // The first `edges` outputs end a step apart, behind `start`; those behind the last
                    // have the rest, or nothing.
                    let mut masses = vec![0; outputs];
                    for (at, mass) in masses[..edges].iter_mut().enumerate() {
                        *mass = if at == 0 { start } else { 1 << bits };
                    }
                    let last = edges + (outputs - edges) / 2;
                    let last = last.min(outputs - 1);
                    masses[last] = MASS_ONE - masses.iter().sum::<u64>();
                    check(vec![masses], &mut rng);
                }
            }
        }
    }
}

/// The rest of a block of every size.
#[test]
fn short_blocks() {
    let mut rng = ChaCha12Rng::seed_from_u64(8);
    let weights: Vec<u64> = (0..37).map(|_| rng.next_u64() >> 30).collect();
    let table = Table::from_masses(vec![proportional(&weights, 3); 5]).unwrap();
    let sums = summed(table.rows()[0].masses());
    let indices = Indices::of_table(&table);
    for size in 0..600 {
        let us: Vec<u64> = (0..size).map(|_| rng.next_u64() >> 16).collect();
        let inputs: Vec<Symbol> = (0..size).map(|at| Symbol::new(at % 5)).collect();
        let scripts: Vec<Vec<u8>> = us.iter().map(|&u| tail(u, 6)).collect();
        let expected: Vec<u32> = us.iter().map(|&u| counted(&sums, u)).collect();
        check_draws(&indices, &inputs, &scripts, &expected);
    }
}

#[test]
fn keeps() {
    let mut rng = ChaCha12Rng::seed_from_u64(9);
    for outputs in [1, 2, 3, 8, 31, 200, 5000] {
        for round in 0..4 {
            let weight = |rng: &mut ChaCha12Rng| match round {
                0 => 1,
                1 => rng.next_u64() >> 30,
                2 => 1 << (rng.next_u64() % 50),
                _ => u64::from(rng.next_u64().is_multiple_of(3)),
            };
            let mut weights: Vec<u64> = (0..outputs).map(|_| weight(&mut rng)).collect();
            weights[outputs / 2] += 1;
            let kept = |rng: &mut ChaCha12Rng| match rng.next_u64() % 6 {
                0 => 0,
                1 => 1,
                2 => KEEP_ONE - 1,
                3 => KEEP_ONE,
                _ => rng.next_u64() >> 24,
            };
            let kept = (0..outputs).map(|_| kept(&mut rng)).collect();
            check_keep(kept, proportional(&weights, outputs / 2), &mut rng);
        }
    }
}

#[test]
fn forty_thousand_outputs() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let outputs = 40_000;
    let even = proportional(&vec![1; outputs], 17);
    let skewed: Vec<u64> = (0..outputs as u64).map(|y| 1 + (1 << 40) / (1 + y * y)).collect();
    let sparse: Vec<u64> = (0..outputs as u64).map(|y| u64::from(y % 997 == 5)).collect();
    check(vec![even, proportional(&skewed, 39_999), proportional(&sparse, 5)], &mut rng);
}

/// Counts of exactly 16 bits, and one more than fits them.
#[test]
fn two_to_the_sixteen_outputs() {
    let mut rng = ChaCha12Rng::seed_from_u64(10);
    for outputs in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1] {
        let weights: Vec<u64> = (0..outputs).map(|_| 1 << (rng.next_u64() % 20)).collect();
        let kept = (0..outputs).map(|_| rng.next_u64() >> 24).collect();
        let masses = proportional(&weights, outputs - 1);
        check_keep(kept, masses.clone(), &mut rng);
        check(
            vec![masses, vec![MASS_ONE; 1].into_iter().chain(vec![0; outputs - 1]).collect()],
            &mut rng,
        );
    }
}

/// Far beyond any cache, with fewer buckets than outputs and counts that leave one more bit to a place:
/// every cell is drawn at its first u and its last.
#[test]
fn millions_of_outputs() {
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    let outputs = (1usize << 23) + 1;
    let mut weights: Vec<u64> = (0..outputs)
        .map(|at| match at >> 18 & 3 {
            0 => 0,
            1 => 1 << (rng.next_u64() % 12),
            _ => rng.next_u64() >> 52,
        })
        .collect();
    weights[outputs - 1] = 1;
    let table = Table::from_masses(vec![proportional(&weights, 1 << 20)]).unwrap();
    let indices = Indices::of_table(&table);
    let mut start = 0;
    let (mut script, mut expected) = (Vec::new(), Vec::new());
    for (y, &mass) in (0u32..).zip(table.rows()[0].masses()).filter(|&(_, &mass)| mass > 0) {
        for u in [start, start + mass - 1] {
            script.extend_from_slice(&u.to_be_bytes()[2..]);
            expected.push(y);
        }
        start += mass;
    }
    let inputs = vec![Symbol::new(0); expected.len()];
    let mut out = vec![u32::MAX; expected.len()];
    indices.draw(&inputs, &mut Script(&script), &mut out);
    assert!(out == expected);
}
