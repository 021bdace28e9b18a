//! Times the bulk sampler on given policies: `draws COUNT POLICY.json ...` prints one line of processor
//! nanoseconds per value for each, the median of several runs on one thread.

#[allow(dead_code, reason = "the other binary takes turns")]
#[path = "../clock.rs"]
mod clock;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::{Draft, Sampler, Symbol};

const REPETITIONS: usize = 7;

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
    let size = policy.draft().inputs().len();
    // Inputs that no predictor learns: a multiplicative sequence.
    let input = |at: usize| (at.wrapping_mul(0x9E37_79B9) >> 7) % size;
    let symbols: Result<Vec<Symbol>, _> =
        (0..count).map(|at| policy.draft().inputs().symbol(input(at))).collect();
    let symbols = symbols.map_err(|error| error.to_string())?;
    let sampler = Sampler::new(&policy);
    let mut rng = ChaCha12Rng::from_seed([7; 32]);
    let mut indices = vec![0u32; count];
    let shape = policy.draft().shape();
    let width = shape.releases_bits().then(|| shape.outputs().div_ceil(8));
    let mut packed = vec![0u8; width.unwrap_or(0) * count];
    let mut refused = None;
    let seconds = clock::busy(REPETITIONS, || {
        let drawn = match width {
            Some(_) => sampler.draw_bits(&symbols, &mut rng, &mut packed),
            None => sampler.draw_indices(&symbols, &mut rng, &mut indices),
        };
        refused = refused.or(drawn.err());
    });
    std::hint::black_box((&indices, &packed));
    match refused {
        Some(error) => Err(error.to_string()),
        None => Ok(seconds * 1e9 / count as f64),
    }
}
