//! A joint distribution P(s,x) of a secret S and the data X.

use crate::distribution::check_weights;
use crate::{Channel, Distribution, Error, Symbols};

/// P(s,x), one row per value s of the secret; finite, non-negative, sums to one. Every s has mass.
///
/// Values of the secret and symbols of the data are unnamed unless [`Joint::over`] names them.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    secret: Distribution,
    given_secret: Channel,
}

impl Joint {
    /// Checks that the matrix is a distribution over pairs and that no row is empty of mass.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let columns = rows.first().map_or(0, Vec::len);
        let mut sums = Vec::with_capacity(rows.len());
        let mut conditionals = Vec::with_capacity(rows.len());
        for (s, row) in rows.into_iter().enumerate() {
            let what = format!("joint row {s}");
            check_weights(&what, &row)?;
            // Before the sum of all: a number too few is why it is not 1.
            if row.len() != columns {
                return Err(Error::Size { what, expected: columns, found: row.len() });
            }
            sums.push(row.iter().sum());
            conditionals.push(Distribution::normalised(&what, row)?);
        }
        let secret = Distribution::new("joint", sums)?;
        Self::from_parts(secret, Channel::from_rows(conditionals)?)
    }

    /// From P(s) and P(x|s), whose rows may list the values of the secret in another order.
    pub fn from_parts(secret: Distribution, given_secret: Channel) -> Result<Self, Error> {
        let given_secret = given_secret.in_order_of("P(x|s)", secret.symbols())?.into_owned();
        let given_secret = given_secret.of_inputs(secret.symbols())?;
        Ok(Self { secret, given_secret })
    }

    /// This law, row by row and column by column, of the given values of the secret and symbols of the data.
    pub fn over(self, secret: &Symbols, data: &Symbols) -> Result<Self, Error> {
        Ok(Self {
            secret: self.secret.over(secret)?,
            given_secret: self.given_secret.of_inputs(secret)?.of_outputs(data)?,
        })
    }

    /// The symbols of the data.
    pub fn symbols(&self) -> &Symbols {
        self.given_secret.output_symbols()
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
