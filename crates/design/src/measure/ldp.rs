//! Local differential privacy: the largest likelihood ratio between any two inputs.
//!
//! JSTL21 Definition 1: ln max q(y|x)/q(y|x'), and with δ the largest
//! E-divergence between two rows. The prior plays no part.

use super::e_divergence::excess;
use super::{Leakage, Pair, odds, worst_spread};
use crate::{Channel, Error};
use undertone_numeric::round::{self, Enclosure};

/// ln max over x, x', y of q(y|x)/q(y|x').
pub fn leakage(channel: &Channel) -> Leakage<Pair> {
    worst_spread((0..channel.outputs()).map(|y| (y, channel.column(y).enumerate())))
}

/// The leakage rounded outward: never below that of the rows proportional to the floats.
pub fn upper_bound(channel: &Channel) -> f64 {
    let rows: Vec<_> = channel.rows().iter().map(|r| Enclosure::normalised(r.as_slice())).collect();
    let column = |y: usize| {
        let high = rows.iter().map(|row| row.upper[y]).fold(0.0, f64::max);
        let low = rows.iter().map(|row| row.lower[y]).fold(f64::INFINITY, f64::min);
        if high > 0.0 { round::ln_up(round::div_up(high, low)) } else { 0.0 }
    };
    (0..channel.outputs()).map(column).fold(0.0, f64::max)
}

/// The least δ for which the channel is (ε,δ)-LDP, and the ordered pair of inputs (x,x') that needs it.
///
/// δ = max over x, x' of Σ_y (q(y|x) - e^ε q(y|x'))_+.
pub fn delta(channel: &Channel, epsilon: f64) -> Result<(f64, (usize, usize)), Error> {
    let odds = odds(epsilon)?;
    let mut worst = (0.0, (0, 0));
    for (x, high) in channel.rows().iter().enumerate() {
        for (other, low) in channel.rows().iter().enumerate() {
            let found = excess(high.as_slice(), low.as_slice(), odds);
            if found > worst.0 {
                worst = (found, (x, other));
            }
        }
    }
    Ok(worst)
}
