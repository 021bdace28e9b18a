//! What a channel is good for.

use crate::{Channel, Distribution, Error};

/// The probability that the released symbol is not the input's (0-1 loss); outputs beyond the inputs
/// never match.
pub fn hamming(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    channel.check_prior(prior)?;
    let kept = |x: usize| if x < channel.outputs() { prior[x] * channel.q(x, x) } else { 0.0 };
    Ok(1.0 - (0..prior.len()).map(kept).sum::<f64>())
}

/// The mean squared error of the best estimate of a value from the output: E[Var(V|Y)].
pub fn mmse(prior: &Distribution, channel: &Channel, values: &[f64]) -> Result<f64, Error> {
    channel.check_prior(prior)?;
    prior.check_len("values", values.len())?;
    let mean = |weights: &[f64]| weights.iter().zip(values).map(|(w, v)| w * v).sum::<f64>();
    let square = prior.as_slice().iter().zip(values).map(|(p, v)| p * v * v).sum::<f64>();
    let mut explained = 0.0;
    for y in 0..channel.outputs() {
        let joint: Vec<f64> = channel.column(y).zip(prior.as_slice()).map(|(q, p)| q * p).collect();
        let mass: f64 = joint.iter().sum();
        if mass > 0.0 {
            explained += mean(&joint).powi(2) / mass;
        }
    }
    Ok((square - explained).max(0.0))
}
