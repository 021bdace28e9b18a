//! Where draws come from.

use rand_chacha::ChaCha12Rng;
use rand_core::{CryptoRng, SeedableRng};

use crate::{Error, ErrorCode};

/// A generator for real answers: a stream cipher keyed with 256 bits of the system's generator.
pub fn system_rng() -> Result<impl CryptoRng, Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| {
        let problem = format!("the system's random generator failed: {error}");
        Error::new(ErrorCode::Internal, problem)
    })?;
    Ok(ChaCha12Rng::from_seed(seed))
}

/// A generator that draws the same every time, for simulations and tests. Whoever knows the seed can undo what was drawn:
/// real answers take [`system_rng`].
pub fn seeded_rng(seed: u64) -> impl CryptoRng {
    ChaCha12Rng::seed_from_u64(seed)
}
