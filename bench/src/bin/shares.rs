//! Times what makes unbiased shares of numbered blocks: `shares COUNT POLICY.json ...` prints one line of nanoseconds per
//! report for each, the least of several runs on one thread. It counts blocks, sums over those each symbol is in, and scales.

#[allow(dead_code, reason = "the other binaries use the rest")]
#[path = "../clock.rs"]
mod clock;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use std::hint::black_box;
use undertone_core::{Draft, MASS_ONE, Sampler, Shape, Symbol};

const REPETITIONS: usize = 101;

fn main() {
    let mut words = std::env::args().skip(1);
    let count: usize = words.next().and_then(|text| text.parse().ok()).unwrap_or(1 << 20);
    for path in words {
        match nanoseconds(&path, count) {
            Ok(found) => println!("{found:.3}"),
            Err(problem) => {
                eprintln!("{path}: {problem}");
                std::process::exit(1);
            }
        }
    }
}

fn nanoseconds(path: &str, count: usize) -> Result<f64, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let draft = Draft::from_json(&text).map_err(|error| error.to_string())?;
    let policy = draft.verify().map_err(|error| error.to_string())?;
    let Shape::Incidence(incidence) = policy.draft().shape() else {
        return Err("its reports are no blocks".into());
    };
    let (Some(blocks), Some([with, without])) = (incidence.blocks(), incidence.together()) else {
        return Err("its blocks have no numbers, or pairs of symbols share unequally many".into());
    };
    let size = incidence.symbols();
    let symbols: Result<Vec<Symbol>, _> =
        (0..count).map(|at| policy.draft().inputs().symbol(at % size)).collect();
    let symbols = symbols.map_err(|error| error.to_string())?;
    let mut reports = vec![0u32; count];
    Sampler::new(&policy)
        .draw_indices(&symbols, &mut ChaCha12Rng::from_seed([7; 32]), &mut reports)
        .map_err(|error| error.to_string())?;
    let chance = |(part, whole): (u64, u64)| part as f64 / whole as f64;
    let own = incidence.coin() as f64 / MASS_ONE as f64;
    let other = own * chance(with) + (1.0 - own) * chance(without);
    let mut decode = || {
        let mut counts = vec![0u64; blocks];
        reports.iter().for_each(|&block| counts[block as usize] += 1);
        let share = |seen: u64| (seen as f64 / count as f64 - other) / (own - other);
        let shares: Vec<f64> = incidence.symbol_sums(&counts).into_iter().map(share).collect();
        black_box(shares);
    };
    let times = clock::repetitions(REPETITIONS.min(1 + (1 << 22) / count));
    Ok(clock::least(times, &mut [&mut decode])[0] * 1e9 / count as f64)
}
