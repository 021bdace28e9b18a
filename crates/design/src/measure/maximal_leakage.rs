//! Maximal leakage: ln Σ_y max_x q(y|x), x over the prior's support.
//!
//! JSTL21 Definition 4; also Sibson's information of infinite order, ZDS22 (17). It bounds how
//! much an answer helps on average in guessing any function of X.

use crate::{Channel, Distribution, Error};
use undertone_numeric::round::{self, Enclosure};

/// ln Σ_y max over P(x) > 0 of q(y|x).
pub fn leakage(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = &*channel.under(prior)?;
    let best = |y: usize| {
        let likelihoods = channel.column(y).zip(prior.as_slice());
        likelihoods.filter(|&(_, &p)| p > 0.0).map(|(q, _)| q).fold(0.0, f64::max)
    };
    Ok((0..channel.outputs()).map(best).sum::<f64>().ln().max(0.0))
}

/// Rounded outward: never below the exact value for the rows proportional to the floats.
pub fn upper_bound(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = &*channel.under(prior)?;
    let support = channel.rows().iter().zip(prior.as_slice()).filter(|&(_, &p)| p > 0.0);
    let rows: Vec<_> = support.map(|(row, _)| Enclosure::normalised(row.as_slice())).collect();
    let best = |y: usize| rows.iter().map(|row| row.upper[y]).fold(0.0, f64::max);
    Ok(round::ln_up(round::sum_up((0..channel.outputs()).map(best))).max(0.0))
}
