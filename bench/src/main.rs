//! Undertone's speed as ratios, all from one run: `cargo run --release` in `bench/`.
//!
//! Sampling is held against the random generator alone and against a plain alias table of 32 bits
//! with the same generator, inputs and output buffer; decoding and verification are timed as they are.

mod alias;
mod clock;
mod decoding;
mod policies;
mod sampling;
mod verification;

fn main() {
    // `cargo run --release -- draws` measures those alone.
    let part = std::env::args().nth(1);
    let asked = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if asked("draws") {
        sampling::report();
    }
    if asked("decoding") {
        decoding::report();
    }
    if asked("verification") {
        verification::report();
    }
}
