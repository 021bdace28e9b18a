//! The guide table against the definition it stands in for.

#![allow(clippy::unwrap_used)]

use super::{Guide, flat_scan, scan};
use crate::mass::{MASS_ONE, Row};
use alloc::vec;
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// The number of cumulative sums <= u, by counting.
fn counted(sums: &[u64], u: u64) -> u32 {
    sums.iter().filter(|&&sum| sum <= u).count() as u32
}

/// All rows at both edges of every cell, one beyond, at the ends, at bucket borders and at random.
fn check(rows: Vec<Vec<u64>>, rng: &mut ChaCha12Rng) {
    let outputs = rows[0].len();
    let rows: Vec<Row> = rows.into_iter().map(|masses| Row::new(masses).unwrap()).collect();
    let guide = Guide::new(outputs, &rows);
    for (x, row) in rows.iter().enumerate() {
        let mut sum = 0;
        let sums: Vec<u64> = row
            .masses()
            .iter()
            .map(|mass| {
                sum += mass;
                sum
            })
            .collect();
        let near = sums.iter().flat_map(|&sum| [sum.saturating_sub(1), sum, sum + 1]);
        let borders =
            (0..64).map(|bucket| bucket << 42).flat_map(|u: u64| [u.saturating_sub(1), u]);
        let random: Vec<u64> = (0..200).map(|_| rng.next_u64() >> 16).collect();
        let all = near.chain(borders).chain(random).chain([0, MASS_ONE - 1]);
        for u in all.filter(|&u| u < MASS_ONE) {
            // Sums never fall, so the count is where the first larger one stands.
            let expected = sums.partition_point(|&sum| sum <= u) as u32;
            assert_eq!(guide.look_up(x, u), expected, "row {x} of {outputs} outputs, u {u}");
            if outputs <= 300 {
                assert_eq!(counted(&sums, u), expected);
                assert_eq!(scan(row, u), expected);
                assert_eq!(flat_scan(row, u), u64::from(expected));
            }
        }
    }
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

#[test]
fn forty_thousand_outputs() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let outputs = 40_000;
    let even = proportional(&vec![1; outputs], 17);
    let skewed: Vec<u64> = (0..outputs as u64).map(|y| 1 + (1 << 40) / (1 + y * y)).collect();
    let sparse: Vec<u64> = (0..outputs as u64).map(|y| u64::from(y % 997 == 5)).collect();
    check(vec![even, proportional(&skewed, 39_999), proportional(&sparse, 5)], &mut rng);
}
