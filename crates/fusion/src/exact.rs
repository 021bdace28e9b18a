//! A model in integers: what a certificate is about.
//!
//! Weights and laws are rounded to units of 2^-48 that sum to exactly one, and a design is made
//! against the rounded model, so that the law that was certified is a law that can be written down.

use undertone_core::{Alphabet, MASS_ONE};
use undertone_design::quantize::largest_remainder;
use undertone_design::{Distribution, Error};

use crate::{Atom, Hypothesis, Model, Sensor};

/// A model whose probabilities are integers in units of 2^-48.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactModel {
    pub(crate) public: Hypothesis,
    pub(crate) private: Hypothesis,
    pub(crate) atoms: Vec<ExactAtom>,
    pub(crate) sensors: Vec<ExactSensor>,
}

/// An atom whose weight is an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExactAtom {
    pub(crate) weight: u64,
    pub(crate) public: usize,
    pub(crate) private: usize,
}

/// A sensor whose laws are integers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExactSensor {
    pub(crate) name: String,
    pub(crate) readings: Alphabet,
    pub(crate) rows: Vec<Vec<u64>>,
    pub(crate) row_of: Vec<u32>,
}

impl ExactModel {
    /// Rounds a model. Atoms that become empty are dropped.
    pub fn new(model: &Model) -> Result<Self, Error> {
        let weights: Vec<f64> = model.atoms().iter().map(|atom| atom.weight).collect();
        let weights = largest_remainder(&weights, MASS_ONE);
        let kept: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > 0).collect();
        let atom = |&k: &usize| {
            let Atom { public, private, .. } = model.atoms()[k];
            ExactAtom { weight: weights[k], public, private }
        };
        let sensor = |sensor: &Sensor| {
            let row = |row: &Distribution| largest_remainder(row.as_slice(), MASS_ONE);
            ExactSensor {
                name: sensor.name().into(),
                readings: sensor.readings().clone(),
                rows: sensor.rows().iter().map(row).collect(),
                row_of: kept.iter().map(|&k| sensor.row_of()[k]).collect(),
            }
        };
        let exact = Self {
            public: model.public().clone(),
            private: model.private().clone(),
            atoms: kept.iter().map(atom).collect(),
            sensors: model.sensors().iter().map(sensor).collect(),
        };
        // The same checks as for any model, so that rounding cannot leave a degenerate one.
        exact.model()?;
        Ok(exact)
    }

    /// This model in floats; they hold its integers exactly.
    pub fn model(&self) -> Result<Model, Error> {
        let unit = 1.0 / MASS_ONE as f64;
        let total: u128 = self.atoms.iter().map(|atom| u128::from(atom.weight)).sum();
        if total != u128::from(MASS_ONE) {
            let problem = format!("the weights sum to {total} where exactly {MASS_ONE} is needed");
            return Err(Error::other("model", problem));
        }
        let sensor = |sensor: &ExactSensor| {
            let row = |row: &Vec<u64>| {
                let sum: u128 = row.iter().map(|&p| u128::from(p)).sum();
                if sum != u128::from(MASS_ONE) {
                    let problem = format!("a law sums to {sum} where exactly {MASS_ONE} is needed");
                    return Err(Error::other(format!("sensor {}", sensor.name), problem));
                }
                Distribution::new("a law", row.iter().map(|&p| p as f64 * unit).collect())
            };
            let rows = sensor.rows.iter().map(row).collect::<Result<_, _>>()?;
            let (name, readings) = (sensor.name.clone(), sensor.readings.clone());
            Sensor::new(name, readings, rows, sensor.row_of.clone())
        };
        let atom = |atom: &ExactAtom| Atom {
            weight: atom.weight as f64 * unit,
            public: atom.public,
            private: atom.private,
        };
        Model::new(
            self.public.clone(),
            self.private.clone(),
            self.atoms.iter().map(atom).collect(),
            self.sensors.iter().map(sensor).collect::<Result<_, _>>()?,
        )
    }

    /// H.
    pub fn public(&self) -> &Hypothesis {
        &self.public
    }

    /// G.
    pub fn private(&self) -> &Hypothesis {
        &self.private
    }

    /// P(g) in units of 2^-48.
    pub fn private_law(&self) -> Vec<u64> {
        let mut law = vec![0; self.private.size()];
        self.atoms.iter().for_each(|atom| law[atom.private] += atom.weight);
        law
    }
}
