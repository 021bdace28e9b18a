//! Local information privacy: the largest |ln lift|, lift = q(y|x)/P(y) = P(x|y)/P(x).
//!
//! JSTL21 Definition 5 with δ = 0 and (8); its two sides apart are ZDS22 Definition 1
//! (asymmetric LIP: ε_u bounds [`max_lift`], ε_l bounds [`min_lift`]).

use super::{Cell, Leakage, ln_ratio, worst_cell};
use crate::{Channel, Distribution, Error};
use undertone_numeric::round::{self, Enclosure};

/// The two-sided leakage: the larger of [`max_lift`] and [`min_lift`].
pub fn leakage(prior: &Distribution, channel: &Channel) -> Result<Leakage<Cell>, Error> {
    worst_cell(prior, channel, |q, p| ln_ratio(q, p).max(ln_ratio(p, q)))
}

/// max ln lift: how far an answer can raise the belief in some input.
pub fn max_lift(prior: &Distribution, channel: &Channel) -> Result<Leakage<Cell>, Error> {
    worst_cell(prior, channel, ln_ratio)
}

/// -min ln lift: how far an answer can lower the belief in some input.
pub fn min_lift(prior: &Distribution, channel: &Channel) -> Result<Leakage<Cell>, Error> {
    worst_cell(prior, channel, |q, p| ln_ratio(p, q))
}

/// Both sides, rounded up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpperBound {
    /// Never below the exact [`max_lift`].
    pub max_lift: f64,
    /// Never below the exact [`min_lift`].
    pub min_lift: f64,
}

impl UpperBound {
    /// Never below the exact [`leakage`].
    pub fn two_sided(self) -> f64 {
        self.max_lift.max(self.min_lift)
    }
}

/// The leakage rounded outward: never below that of the distributions proportional to the floats.
pub fn upper_bound(prior: &Distribution, channel: &Channel) -> Result<UpperBound, Error> {
    let channel = &*channel.under(prior)?;
    let prior = Enclosure::normalised(prior.as_slice());
    let rows: Vec<_> = channel.rows().iter().map(|r| Enclosure::normalised(r.as_slice())).collect();
    let mut bound = UpperBound { max_lift: 0.0, min_lift: 0.0 };
    for y in 0..channel.outputs() {
        let (least, most) = output_mass(&prior, &rows, y);
        for row in &rows {
            // A positive number never rounds up to zero: these zeros are exact and constrain nothing.
            if row.upper[y] > 0.0 {
                let lift = round::ln_up(round::div_up(row.upper[y], least));
                bound.max_lift = bound.max_lift.max(lift);
            }
            if most > 0.0 {
                let drop = round::ln_up(round::div_up(most, row.lower[y]));
                bound.min_lift = bound.min_lift.max(drop);
            }
        }
    }
    Ok(bound)
}

/// Bounds on P(y) from below and above.
pub(super) fn output_mass(prior: &Enclosure, rows: &[Enclosure], y: usize) -> (f64, f64) {
    let low = prior.lower.iter().zip(rows).map(|(&p, row)| round::mul_down(p, row.lower[y]));
    let high = prior.upper.iter().zip(rows).map(|(&p, row)| round::mul_up(p, row.upper[y]));
    (round::sum_down(low), round::sum_up(high))
}
