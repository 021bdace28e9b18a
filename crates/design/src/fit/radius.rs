//! How far an empirical law is from the truth.

use crate::Error;

/// sqrt(2/n (ln(2^M - 2) - ln β)), at most 2: the l1 distance between the empirical law of n samples
/// on M symbols and the truth stays below it with probability 1 - β (Weissman and others, 2003).
///
/// ln(2^M - 2) = M ln 2 + ln(1 - 2^(1-M)) holds for any M; a single symbol has nothing to estimate.
pub fn radius(samples: u64, symbols: usize, beta: f64) -> Result<f64, Error> {
    check(samples, symbols, beta)?;
    if symbols == 1 {
        return Ok(0.0);
    }
    let m = symbols as f64;
    let subsets = m * std::f64::consts::LN_2 + (-(1.0 - m).exp2()).ln_1p();
    Ok((2.0 / samples as f64 * (subsets - beta.ln())).sqrt().min(2.0))
}

fn check(samples: u64, symbols: usize, beta: f64) -> Result<(), Error> {
    if samples == 0 {
        return Err(Error::range("the number of samples", 0.0, "at least 1"));
    }
    if symbols == 0 {
        return Err(Error::Empty { what: "the alphabet".into() });
    }
    if !(beta > 0.0 && beta < 1.0) {
        return Err(Error::range("beta, the chance of a miss", beta, "above 0 and below 1"));
    }
    Ok(())
}
