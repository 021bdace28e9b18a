//! How long a draw takes.

use crate::alias::{Alias, AliasRows};
use crate::clock::{least, medians, repetitions};
use crate::policies::{self, generator};
use rand_chacha::{ChaCha12Rng, ChaCha20Rng};
use rand_core::{CryptoRng, Rng, SeedableRng};
use std::hint::black_box;
use undertone_core::{Family, Policy, Sampler, Shape, Symbol};

/// Values drawn in one go.
const VALUES: usize = 1 << 15;
const REPETITIONS: usize = 501;
/// Values whose random bytes the peer fetches at a time, as the sampler does.
const BLOCK: usize = 256;

/// Prints every measurement.
pub fn report() {
    let times = repetitions(REPETITIONS);
    println!("nanoseconds per value, {VALUES} values at a time, median of {times}\n");
    let columns = ["4 bytes", "6 or 11", "alias", "exact", "/alias", "aim", "/generator"];
    print!("{:<34}", "bulk draws");
    columns.iter().for_each(|column| print!("{column:>11}"));
    println!();
    let response = policies::response(128);
    table("table 128, randomised response", &response, 1.75);
    table("table 128, Dirichlet(1) rows", &policies::random_rows(128, 128), 0.75);
    keep("keep 40000", 1.25);
    println!();
    beside_generators();
    println!();
    beside_blocks();
    println!();
    println!("{:<54}{:>8}", "other draws", "ns");
    single(&response);
    bits();
    println!();
}

/// Inputs chosen uniformly, as indices and as symbols.
fn inputs(policy: &Policy) -> (Vec<u32>, Vec<Symbol>) {
    let mut rng = generator(9);
    let size = policy.draft().shape().inputs() as u64;
    let indices: Vec<u32> =
        (0..VALUES).map(|_| ((u64::from(rng.next_u32()) * size) >> 32) as u32).collect();
    let symbol = |&index: &u32| policy.draft().inputs().symbol(index as usize).expect("a symbol");
    let symbols = indices.iter().map(symbol).collect();
    (indices, symbols)
}

fn nanoseconds(seconds: f64) -> f64 {
    seconds * 1e9 / VALUES as f64
}

/// The generator alone, `bytes` per value, in the sampler's blocks.
fn alone(mut rng: impl Rng, bytes: usize) -> impl FnMut() {
    let mut buffer = vec![0; bytes * BLOCK];
    move || {
        for _ in 0..VALUES / BLOCK {
            rng.fill_bytes(&mut buffer);
            black_box(&mut buffer);
        }
    }
}

/// Fetches `N` 32-bit values per draw in blocks, and hands each draw its values.
fn peer<const N: usize>(
    rng: &mut impl Rng,
    indices: &[u32],
    out: &mut [u32],
    draw: impl Fn(u32, [u32; N]) -> u32,
) {
    let mut bytes = [0; 8 * BLOCK];
    let bytes = &mut bytes[..4 * N * BLOCK];
    for (indices, out) in indices.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        rng.fill_bytes(bytes);
        let chunks = bytes.chunks_exact(4 * N);
        for ((&x, out), chunk) in indices.iter().zip(out).zip(chunks) {
            let value = |at: usize| {
                u32::from_le_bytes([
                    chunk[4 * at],
                    chunk[4 * at + 1],
                    chunk[4 * at + 2],
                    chunk[4 * at + 3],
                ])
            };
            *out = draw(x, std::array::from_fn(value));
        }
    }
}

/// The generator for 4 bytes and for the bytes of the exact draw, the alias table, the exact draw.
fn line(name: &str, times: &[f64], aim: f64) {
    let (own, alias, exact) = (times[1], times[2], times[3]);
    print!("{name:<34}");
    times.iter().for_each(|&time| print!("{:>11.2}", nanoseconds(time)));
    let aim = format!("<= {aim}");
    println!("{:>11.2}{aim:>11}{:>11.2}", exact / alias, exact / own);
}

fn table(name: &str, rows: &[Vec<u64>], aim: f64) {
    let policy = policies::policy(policies::table(rows));
    let (indices, symbols) = inputs(&policy);
    let sampler = Sampler::new(&policy);
    let alias = AliasRows::new(rows);
    let (mut first, mut second) = (generator(6), generator(6));
    let mut out = vec![0; VALUES];
    let mut other = vec![0; VALUES];
    let times = medians(
        repetitions(REPETITIONS),
        &mut [
            &mut alone(generator(5), 4),
            &mut alone(generator(5), 6),
            &mut || {
                peer(&mut first, &indices, &mut other, |x, [u]: [u32; 1]| alias.look_up(x, u));
                black_box(&mut other);
            },
            &mut || {
                sampler.draw_indices(&symbols, &mut second, &mut out).expect("a draw");
                black_box(&mut out);
            },
        ],
    );
    line(name, &times, aim);
}

fn keep(name: &str, aim: f64) {
    let keep = policies::keep(40_000, 0.0);
    let policy = policies::policy(Shape::Keep(keep.clone()));
    let (indices, symbols) = inputs(&policy);
    let sampler = Sampler::new(&policy);
    let alias = Alias::new(keep.base().masses());
    let coins: Vec<u32> = keep.keep().iter().map(|k| (k >> 8) as u32).collect();
    let (mut first, mut second) = (generator(6), generator(6));
    let mut out = vec![0; VALUES];
    let mut other = vec![0; VALUES];
    let times = medians(
        repetitions(REPETITIONS),
        &mut [
            &mut alone(generator(5), 4),
            &mut alone(generator(5), 11),
            &mut || {
                peer(&mut first, &indices, &mut other, |x, [coin, u]: [u32; 2]| {
                    let drawn = alias.look_up(u);
                    if coin < coins[x as usize] { x } else { drawn }
                });
                black_box(&mut other);
            },
            &mut || {
                sampler.draw_indices(&symbols, &mut second, &mut out).expect("a draw");
                black_box(&mut out);
            },
        ],
    );
    line(name, &times, aim);
}

/// Bulk draws of every size beside two generators.
fn beside_generators() {
    let times = repetitions(REPETITIONS);
    println!("the least of {times}; of the generator's own time, aim 2\n");
    println!("{:<34}{:>22}{:>33}", "bulk draws", "ChaCha12", "ChaCha20");
    print!("{:<34}", "");
    (0..2).for_each(|_| print!("{:>11}{:>11}{:>11}", "alone", "exact", "/generator"));
    println!();
    for size in [2, 16, 128, 1024] {
        let response = policies::table(&policies::response(size));
        beside_both(&format!("table {size}, randomised response"), response, 6);
        let rows = policies::table(&policies::random_rows(size, size));
        beside_both(&format!("table {size}, Dirichlet(1) rows"), rows, 6);
    }
    for size in [128, 10_000, 1_000_000] {
        beside_both(&format!("keep {size}"), Shape::Keep(policies::keep(size, 0.0)), 11);
    }
}

fn beside_both(name: &str, shape: Shape, bytes: usize) {
    let policy = policies::policy(shape);
    let (_, symbols) = inputs(&policy);
    let sampler = Sampler::new(&policy);
    print!("{name:<34}");
    beside::<ChaCha12Rng>(&sampler, &symbols, bytes);
    beside::<ChaCha20Rng>(&sampler, &symbols, bytes);
    println!();
}

fn beside<R: CryptoRng + SeedableRng>(sampler: &Sampler, symbols: &[Symbol], bytes: usize) {
    let mut rng = R::seed_from_u64(6);
    let mut out = vec![0; VALUES];
    let times = least(
        repetitions(REPETITIONS),
        &mut [&mut alone(R::seed_from_u64(5), bytes), &mut || {
            sampler.draw_indices(symbols, &mut rng, &mut out).expect("a draw");
            black_box(&mut out);
        }],
    );
    times.iter().for_each(|&time| print!("{:>11.2}", nanoseconds(time)));
    print!("{:>11.2}", times[1] / times[0]);
}

/// Blocks: the least times of bulk draws beside the generator alone, and of one draw at a time. All
/// that have numbers spend 14 bytes, subsets 8 for every symbol in one and 6 for the coin.
fn beside_blocks() {
    println!("ns per value, the least; aim below 100 for blocks with numbers\n");
    println!("{:<34}{:>11}{:>11}{:>11}", "blocks, epsilon = 1", "generator", "bulk", "one draw");
    for size in [128, 1024, policies::MILLION] {
        for (name, family) in policies::numbered(size) {
            numbered(&format!("{name}, {size}"), size, family);
        }
    }
    for size in [128, 1024] {
        subsets(&format!("subsets, {size}"), size);
    }
}

fn numbered(name: &str, size: usize, family: Family) {
    let policy = policies::policy(Shape::Incidence(policies::blocks(size, family)));
    let (_, symbols) = inputs(&policy);
    let sampler = Sampler::new(&policy);
    let (mut first, mut second) = (generator(6), generator(6));
    let mut out = vec![0; VALUES];
    let times = least(
        repetitions(REPETITIONS / 5),
        &mut [
            &mut alone(generator(5), 14),
            &mut || {
                sampler.draw_indices(&symbols, &mut first, &mut out).expect("a draw");
                black_box(&mut out);
            },
            &mut || {
                for &x in &symbols {
                    let _ = black_box(policy.draw(x, &mut second));
                }
            },
        ],
    );
    print!("{name:<34}");
    times.iter().for_each(|&time| print!("{:>11.1}", nanoseconds(time)));
    println!();
}

fn subsets(name: &str, size: usize) {
    const REPORTS: usize = 1 << 6;
    let family = policies::subsets(size);
    let bytes = match &family {
        Family::Subsets(subsets) => 6 + 8 * subsets.size(),
        _ => 0,
    };
    let policy = policies::policy(Shape::Incidence(policies::blocks(size, family)));
    let (_, symbols) = inputs(&policy);
    let symbols = &symbols[..REPORTS];
    let sampler = Sampler::new(&policy);
    let (mut first, mut second, mut third) = (generator(5), generator(6), generator(6));
    let mut buffer = vec![0; bytes];
    let mut out = vec![0; REPORTS * size.div_ceil(8)];
    let times = least(
        repetitions(REPETITIONS),
        &mut [
            &mut || {
                for _ in 0..REPORTS {
                    first.fill_bytes(&mut buffer);
                    black_box(&mut buffer);
                }
            },
            &mut || {
                sampler.draw_bits(symbols, &mut second, &mut out).expect("a draw");
                black_box(&mut out);
            },
            &mut || {
                for &x in symbols {
                    let _ = black_box(policy.draw(x, &mut third));
                }
            },
        ],
    );
    print!("{name:<34}");
    times.iter().for_each(|&time| print!("{:>11.1}", time * 1e9 / REPORTS as f64));
    println!();
}

/// One value at a time, with and without a fixed pattern of memory accesses.
fn single(rows: &[Vec<u64>]) {
    const SINGLE: usize = 1 << 12;
    let policy = policies::policy(policies::table(rows));
    let (_, symbols) = inputs(&policy);
    let (mut first, mut second) = (generator(6), generator(6));
    let times = medians(
        repetitions(REPETITIONS),
        &mut [
            &mut || {
                for &x in &symbols[..SINGLE] {
                    let _ = black_box(policy.draw(x, &mut first));
                }
            },
            &mut || {
                for &x in &symbols[..SINGLE / 16] {
                    let _ = black_box(policy.draw_flat(x, &mut second));
                }
            },
        ],
    );
    println!("{:<54}{:>8.1}", "table 128, one Policy::draw", times[0] * 1e9 / SINGLE as f64);
    let flat = times[1] * 1e9 / (SINGLE / 16) as f64;
    println!("{:<54}{:>8.1}", "table 128, one Policy::draw_flat", flat);
}

fn bits() {
    const SIZE: usize = 1024;
    const REPORTS: usize = 1 << 6;
    let policy = policies::policy(policies::unary(SIZE));
    let (_, symbols) = inputs(&policy);
    let symbols = &symbols[..REPORTS];
    let sampler = Sampler::new(&policy);
    let mut out = vec![0; REPORTS * SIZE / 8];
    let (mut first, mut second, mut third) = (generator(6), generator(6), generator(6));
    let mut buffer = vec![0; SIZE];
    let times = medians(
        repetitions(REPETITIONS),
        &mut [
            &mut || {
                for _ in 0..REPORTS {
                    first.fill_bytes(&mut buffer);
                    black_box(&mut buffer);
                }
            },
            &mut || {
                sampler.draw_bits(symbols, &mut second, &mut out).expect("a draw");
                black_box(&mut out);
            },
            &mut || {
                let _ = black_box(policy.draw_flat(symbols[0], &mut third));
            },
        ],
    );
    let each = |seconds: f64| seconds * 1e9 / REPORTS as f64;
    println!("{:<54}{:>8.0}", "bits 1024, the generator alone (1024 bytes)", each(times[0]));
    println!("{:<54}{:>8.0}", "bits 1024, one report of 1024 bits", each(times[1]));
    println!("{:<54}{:>8.3}", "bits 1024, per bit", each(times[1]) / SIZE as f64);
    println!("{:<54}{:>8.0}", "bits 1024, one report by Policy::draw_flat", times[2] * 1e9);
}
