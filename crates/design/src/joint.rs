//! A joint distribution P(s,x) of a secret S and the data X.

use crate::distribution::check_weights;
use crate::{Channel, Distribution, Error};

/// P(s,x), one row per value s of the secret; finite, non-negative, sums to one. Every s has mass.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    secret: Distribution,
    given_secret: Channel,
}

impl Joint {
    /// Checks that the matrix is a distribution over pairs and that no row is empty of mass.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let mut sums = Vec::with_capacity(rows.len());
        let mut conditionals = Vec::with_capacity(rows.len());
        for (s, row) in rows.into_iter().enumerate() {
            let what = format!("joint row {s}");
            check_weights(&what, &row)?;
            sums.push(row.iter().sum());
            conditionals.push(Distribution::normalised(&what, row)?);
        }
        let secret = Distribution::new("joint", sums)?;
        Ok(Self { secret, given_secret: Channel::from_rows(conditionals)? })
    }

    /// From P(s) and P(x|s).
    pub fn from_parts(secret: Distribution, given_secret: Channel) -> Result<Self, Error> {
        given_secret.check_prior(&secret)?;
        Ok(Self { secret, given_secret })
    }

    /// P(s).
    pub fn secret(&self) -> &Distribution {
        &self.secret
    }

    /// P(x|s), one row per s.
    pub fn given_secret(&self) -> &Channel {
        &self.given_secret
    }

    /// P(x).
    pub fn data(&self) -> Result<Distribution, Error> {
        self.given_secret.output_law(&self.secret)
    }

    /// The channel from S through X to Y: P(y|s) = Σ_x P(x|s) q(y|x).
    pub fn through(&self, channel: &Channel) -> Result<Channel, Error> {
        self.given_secret.then(channel)
    }
}
