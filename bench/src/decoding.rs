//! How long it takes from reports to how many of them contain each symbol.

use crate::clock::{busy, least, repetitions};
use crate::policies::{self, MILLION, generator};
use rand_core::Rng;
use std::hint::black_box;

/// Prints every measurement.
pub fn report() {
    println!("{:<54}{:>10}{:>11}{:>10}", "decoding", "ms", "ns/report", "aim, ms");
    for (symbols, reports) in [(128, 20_000), (1024, 20_000), (MILLION, MILLION)] {
        for (name, family) in policies::numbered(symbols) {
            let blocks = policies::blocks(symbols, family);
            let all = blocks.blocks().expect("numbers") as u64;
            let mut rng = generator(7);
            let block = |_| ((u64::from(rng.next_u32()) * all) >> 32) as u32;
            let released: Vec<u32> = (0..reports).map(block).collect();
            let mut decode = || {
                let mut counts = vec![0u64; all as usize];
                released.iter().for_each(|&block| counts[block as usize] += 1);
                black_box(blocks.symbol_sums(&counts));
            };
            // The clock of a processor's work is too coarse for what takes less than a time slice.
            let seconds = if symbols == MILLION {
                busy(repetitions(5), decode)
            } else {
                least(repetitions(301), &mut [&mut decode])[0]
            };
            let name = format!("{name}, {symbols} symbols, {reports} reports");
            let aim = if symbols == MILLION { "<= 3000" } else { "" };
            let each = seconds * 1e9 / reports as f64;
            println!("{name:<54}{:>10.3}{each:>11.2}{aim:>10}", seconds * 1e3);
        }
    }
    println!();
}
