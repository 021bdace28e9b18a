//! What a second channel adds: LDP of a cascade X - Y - Z, ST20 Propositions 1 and 2.

use undertone_design::{Channel, Error};

/// η: the largest total variation distance between two rows of the first channel.
pub fn contrast(first: &Channel) -> f64 {
    let rows = first.rows();
    let mut largest = 0.0f64;
    for (x, a) in rows.iter().enumerate() {
        for b in &rows[x + 1..] {
            let distance: f64 =
                a.as_slice().iter().zip(b.as_slice()).map(|(p, q)| (p - q).abs()).sum::<f64>()
                    / 2.0;
            largest = largest.max(distance);
        }
    }
    largest.min(1.0)
}

/// LDP of the cascade when the second channel is ε-LDP: ln(1 + η(e^ε - 1)), never more than ε.
///
/// ST20 Proposition 1(b), sharpened: the printed bound is [`printed_ldp_after`].
pub fn ldp_after(first: &Channel, second_epsilon: f64) -> Result<f64, Error> {
    check(second_epsilon)?;
    Ok((contrast(first) * second_epsilon.exp_m1()).ln_1p())
}

/// LDP of the cascade as ST20 Proposition 1(b) prints it: 2ε, because p(z|x) is bounded through a
/// third input; a convex combination needs no such detour.
pub fn printed_ldp_after(second_epsilon: f64) -> Result<f64, Error> {
    check(second_epsilon)?;
    Ok(2.0 * second_epsilon)
}

/// The largest budget of the second channel that keeps the cascade within `epsilon`:
/// ln(1 + (e^ε - 1)/η); infinite if the first channel already hides everything.
pub fn second_budget(first: &Channel, epsilon: f64) -> Result<f64, Error> {
    check(epsilon)?;
    let contrast = contrast(first);
    if contrast == 0.0 {
        return Ok(f64::INFINITY);
    }
    Ok((epsilon.exp_m1() / contrast).ln_1p())
}

/// LDP of the cascade from both channels' levels: post-processing never adds to the first
/// (ST20 Proposition 2), and the second attenuates as in [`ldp_after`].
pub fn cascade(first: &Channel, first_epsilon: f64, second_epsilon: f64) -> Result<f64, Error> {
    check(first_epsilon)?;
    Ok(first_epsilon.min(ldp_after(first, second_epsilon)?))
}

fn check(epsilon: f64) -> Result<(), Error> {
    if epsilon >= 0.0 && !epsilon.is_nan() {
        Ok(())
    } else {
        Err(Error::range("epsilon", epsilon, "at least 0"))
    }
}
