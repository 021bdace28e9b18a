//! Mutual information I(X;Y): the average of the log-lift.
//!
//! JSTL21 Definition 2 (local mutual information privacy).

use super::lip::output_mass;
use super::{ln_ratio, moment};
use crate::{Channel, Distribution, Error};
use undertone_numeric::round::{self, Enclosure};

/// Σ P(x)q(y|x) ln(q(y|x)/P(y)).
pub fn leakage(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = channel.under(prior)?;
    let law = channel.output_law(prior)?;
    let mut sum = 0.0;
    for (row, &p) in channel.rows().iter().zip(prior.as_slice()) {
        for (&q, &mass) in row.as_slice().iter().zip(law.as_slice()) {
            // A mass that underflowed belongs to a term that vanishes as well.
            if p > 0.0 && mass > 0.0 {
                let deviation = (q - mass) / mass;
                // Terms linear in the deviation cancel over the inputs and are left out.
                sum += if deviation < 1.0 {
                    p * mass * moment::information(deviation)
                } else {
                    p * q * ln_ratio(q, mass) - p * (q - mass)
                };
            }
        }
    }
    Ok(sum.max(0.0))
}

/// Rounded outward: never below I(X;Y) of the distributions proportional to the floats.
pub fn upper_bound(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = &*channel.under(prior)?;
    let prior = Enclosure::normalised(prior.as_slice());
    let rows: Vec<_> = channel.rows().iter().map(|r| Enclosure::normalised(r.as_slice())).collect();
    let mut sum = 0.0;
    for y in 0..channel.outputs() {
        let (least, _) = output_mass(&prior, &rows, y);
        for (x, row) in rows.iter().enumerate() {
            if prior.upper[x] == 0.0 || row.upper[y] == 0.0 {
                continue;
            }
            let log_lift = round::ln_up(round::div_up(row.upper[y], least));
            let weight = if log_lift >= 0.0 {
                round::mul_up(prior.upper[x], row.upper[y])
            } else {
                round::mul_down(prior.lower[x], row.lower[y])
            };
            sum = round::add_up(sum, round::mul_up(weight, log_lift));
        }
    }
    Ok(sum.max(0.0))
}
