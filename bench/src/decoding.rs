//! How long it takes from reports to how many of them contain each symbol.

use crate::clock::{busy, repetitions};
use crate::policies::{self, MILLION, generator};
use rand_core::Rng;
use std::hint::black_box;

/// Prints every measurement.
pub fn report() {
    println!("{:<54}{:>8}{:>10}", "decoding 10^6 reports, 10^6 symbols", "ms", "aim");
    for (name, family) in policies::numbered(MILLION) {
        let blocks = policies::blocks(MILLION, family);
        let all = blocks.blocks().expect("numbers") as u64;
        let mut rng = generator(7);
        let reports: Vec<u32> =
            (0..MILLION).map(|_| ((u64::from(rng.next_u32()) * all) >> 32) as u32).collect();
        let seconds = busy(repetitions(5), || {
            let mut counts = vec![0u64; all as usize];
            reports.iter().for_each(|&block| counts[block as usize] += 1);
            black_box(blocks.symbol_sums(&counts));
        });
        println!("{name:<54}{:>8.1}{:>10}", seconds * 1e3, "<= 3000");
    }
}
