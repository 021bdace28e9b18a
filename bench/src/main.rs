//! Undertone's speed as ratios, all from one run: `cargo run --release` in `bench/`.
//!
//! Sampling is held against the random generator alone and against a plain alias table of 32 bits
//! with the same generator, inputs and output buffer; verification is timed as it is.

mod alias;
mod clock;
mod policies;
mod sampling;
mod verification;

fn main() {
    // `cargo run --release -- draws` measures those alone.
    let part = std::env::args().nth(1);
    if part.as_deref() != Some("verification") {
        sampling::report();
    }
    if part.as_deref() != Some("draws") {
        verification::report();
    }
}
