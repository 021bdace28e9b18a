//! What a channel reveals, one notion per file, named after the notion.
//!
//! Measures and mechanisms do not mirror each other: a notion is met by many mechanisms, and every channel can be
//! judged under every notion ([`audit`]).
//!
//! # Conventions
//!
//! * Everything is in nats. An infinite leakage is `f64::INFINITY`, not an error.
//! * Prior and channel are matched by symbol; indices of inputs are places among the prior's symbols.
//! * An output that no input can produce is dropped.
//! * For `lip`, `pml`, `ldp` and the δ of LIP and LDP every symbol of the alphabet counts, zero-mass
//!   ones included: such a symbol still has likelihoods q(y|x) and a lift q(y|x)/P(y). If P(y) = 0
//!   while q(y|x) > 0 its lift is infinite; 0/0 is no constraint.
//! * For `di` a zero-mass symbol makes the leakage infinite (its posterior is zero, others' are not).
//! * Averages (`mutual_information`, `sibson`, `arimoto`, `alpha_lift`, `maximal_leakage`) see only
//!   the prior's support.
//! * `leakage` is the float value; `upper_bound`, where it exists, is rounded outward and never
//!   below the exact leakage of the distributions proportional to the given floats.

use crate::{Channel, Distribution, Error};

pub mod alpha_lift;
pub mod arimoto;
pub mod audit;
pub mod delta;
pub mod di;
pub mod e_divergence;
pub mod hockey_stick;
pub mod ldp;
pub mod lip;
pub mod maximal_leakage;
pub mod moment;
pub mod mutual_information;
pub mod network;
pub mod pml;
pub mod renyi;
pub mod sibson;

/// A leakage and a cell that attains it (the first one, where there are several).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leakage<Cell> {
    /// The leakage in nats; may be infinite.
    pub nats: f64,
    /// Where it is attained: indices of inputs first, the output last.
    pub at: Cell,
}

/// Input x and output y.
pub type Cell = (usize, usize);

/// The likelier input, the less likely one, and the output.
pub type Pair = (usize, usize, usize);

/// The largest ε whose e^ε is still a float.
pub const MAX_EPSILON: f64 = 709.0;

/// e^ε, for an ε from 0 to [`MAX_EPSILON`].
fn odds(epsilon: f64) -> Result<f64, Error> {
    if (0.0..=MAX_EPSILON).contains(&epsilon) {
        Ok(epsilon.exp())
    } else {
        Err(Error::range("epsilon", epsilon, format!("from 0 to {MAX_EPSILON}")))
    }
}

/// Refuses an order below 1; 1 is the Shannon limit and infinity the maximum.
fn check_order(alpha: f64) -> Result<(), Error> {
    if alpha >= 1.0 {
        Ok(())
    } else {
        Err(Error::range("alpha", alpha, "at least 1 (infinity is allowed)"))
    }
}

/// ln(a/b) of non-negative numbers; a = 0 gives -∞ even over b = 0, since 0/0 constrains nothing.
fn ln_ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 {
        return f64::NEG_INFINITY;
    }
    if b == 0.0 {
        return f64::INFINITY;
    }
    let ratio = a / b;
    // Subnormal numbers can overflow or empty the ratio though its logarithm is small.
    if ratio.is_normal() { ratio.ln() } else { a.ln() - b.ln() }
}

/// The largest of `nats(q(y|x), P(y))` over all cells, at least 0.
fn worst_cell(
    prior: &Distribution,
    channel: &Channel,
    nats: impl Fn(f64, f64) -> f64,
) -> Result<Leakage<Cell>, Error> {
    let channel = channel.under(prior)?;
    let law = channel.output_law(prior)?;
    let mut worst = Leakage { nats: f64::NEG_INFINITY, at: (0, 0) };
    for (x, row) in channel.rows().iter().enumerate() {
        for (y, (&q, &p)) in row.as_slice().iter().zip(law.as_slice()).enumerate() {
            let found = nats(q, p);
            if found > worst.nats {
                worst = Leakage { nats: found, at: (x, y) };
            }
        }
    }
    // Lifts average to one, so only rounding can push either side below zero.
    worst.nats = worst.nats.max(0.0);
    Ok(worst)
}

/// ln(largest/smallest) of weights that belong to the inputs given, with both inputs; nothing when
/// no weight is positive.
fn spread(weights: impl Iterator<Item = (usize, f64)>) -> Option<(f64, usize, usize)> {
    let mut ends: Option<((usize, f64), (usize, f64))> = None;
    for item in weights {
        let (mut high, mut low) = ends.unwrap_or((item, item));
        if item.1 > high.1 {
            high = item;
        }
        if item.1 < low.1 {
            low = item;
        }
        ends = Some((high, low));
    }
    let (high, low) = ends?;
    (high.1 > 0.0).then(|| (ln_ratio(high.1, low.1), high.0, low.0))
}

/// The worst [`spread`] over groups of weights, each group belonging to one output.
fn worst_spread<W>(groups: impl Iterator<Item = (usize, W)>) -> Leakage<Pair>
where
    W: Iterator<Item = (usize, f64)>,
{
    let mut worst = Leakage { nats: f64::NEG_INFINITY, at: (0, 0, 0) };
    for (y, weights) in groups {
        if let Some((nats, high, low)) = spread(weights)
            && nats > worst.nats
        {
            worst = Leakage { nats, at: (high, low, y) };
        }
    }
    // Every group is silent only if there is no pair to compare.
    worst.nats = worst.nats.max(0.0);
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_tiny_numbers_do_not_overflow() {
        let tiny = f64::from_bits(1);
        assert!((ln_ratio(1.0, tiny) - 1074.0 * 2f64.ln()).abs() < 1e-9);
        assert_eq!(ln_ratio(0.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(ln_ratio(0.5, 0.0), f64::INFINITY);
    }

    #[test]
    fn bad_parameters_are_refused() {
        for bad in [f64::NAN, -0.1, 710.0, f64::INFINITY] {
            assert!(matches!(odds(bad), Err(Error::Range { .. })), "{bad}");
        }
        for bad in [f64::NAN, 0.99, -1.0] {
            assert!(matches!(check_order(bad), Err(Error::Range { .. })), "{bad}");
        }
        assert!(check_order(f64::INFINITY).is_ok());
    }
}
