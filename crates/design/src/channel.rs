//! A finite channel in floats: one distribution over outputs for every input.

use crate::{Distribution, Error};

/// A row-stochastic matrix q(y|x), one row per input x; at least one row and one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    rows: Vec<Distribution>,
}

impl Channel {
    /// Checks that every row is a distribution over the same outputs.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let rows = rows
            .into_iter()
            .enumerate()
            .map(|(x, row)| Distribution::new(&format!("channel row {x}"), row))
            .collect::<Result<Vec<_>, _>>()?;
        Self::from_rows(rows)
    }

    /// The same, from rows that are distributions already.
    pub fn from_rows(rows: Vec<Distribution>) -> Result<Self, Error> {
        let Some(first) = rows.first() else {
            return Err(Error::Empty { what: "channel".into() });
        };
        for (x, row) in rows.iter().enumerate() {
            first.check_len(&format!("channel row {x}"), row.len())?;
        }
        Ok(Self { rows })
    }

    /// Reveals everything: n inputs, n outputs, y = x.
    pub fn identity(n: usize) -> Result<Self, Error> {
        Self::new((0..n).map(|x| (0..n).map(|y| f64::from(u8::from(x == y))).collect()).collect())
    }

    /// How many inputs.
    pub fn inputs(&self) -> usize {
        self.rows.len()
    }

    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.rows[0].len()
    }

    /// The rows, one per input.
    pub fn rows(&self) -> &[Distribution] {
        &self.rows
    }

    /// q(y|x).
    pub fn q(&self, x: usize, y: usize) -> f64 {
        self.rows[x][y]
    }

    /// One output's likelihoods, one per input.
    pub fn column(&self, y: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        self.rows.iter().map(move |row| row[y])
    }

    /// The law of the output under `prior`.
    pub fn output_law(&self, prior: &Distribution) -> Result<Distribution, Error> {
        self.check_prior(prior)?;
        let mut law = vec![0.0; self.outputs()];
        for (row, &p) in self.rows.iter().zip(prior.as_slice()) {
            for (sum, &q) in law.iter_mut().zip(row.as_slice()) {
                *sum += p * q;
            }
        }
        Distribution::normalised("the output's law", law)
    }

    /// First this channel, then `next` on its output (a Markov chain X - Y - Z).
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        if next.inputs() != self.outputs() {
            return Err(Error::Size {
                what: "the second channel's inputs".into(),
                expected: self.outputs(),
                found: next.inputs(),
            });
        }
        let rows = self.rows.iter().map(|row| next.output_law(row)).collect::<Result<_, _>>()?;
        Self::from_rows(rows)
    }

    /// Both channels on the same input, independently: outputs are pairs, the second index fastest.
    pub fn beside(&self, other: &Self) -> Result<Self, Error> {
        if other.inputs() != self.inputs() {
            return Err(Error::Size {
                what: "the second channel's inputs".into(),
                expected: self.inputs(),
                found: other.inputs(),
            });
        }
        let pair = |(a, b): (&Distribution, &Distribution)| {
            let row = a.as_slice().iter().flat_map(|p| b.as_slice().iter().map(move |q| p * q));
            Distribution::normalised("product row", row.collect())
        };
        let rows = self.rows.iter().zip(&other.rows).map(pair).collect::<Result<_, _>>()?;
        Self::from_rows(rows)
    }

    /// Refuses a prior over another alphabet.
    pub fn check_prior(&self, prior: &Distribution) -> Result<(), Error> {
        if prior.len() == self.inputs() {
            Ok(())
        } else {
            Err(Error::Size {
                what: "the prior".into(),
                expected: self.inputs(),
                found: prior.len(),
            })
        }
    }
}
