//! A model in integers: what a certificate is about, and the law of a network's plan.
//!
//! Weights and laws are rounded to units of 2^-48 that sum to exactly one, and a design is made
//! against the rounded model, so that the law that was certified is a law that can be written down.
//! Every reading has some probability in it, as every value has in the law of a plan: a reading that never
//! occurs gets one unit, in the heaviest atom.

mod law;

use std::collections::{BTreeMap, BTreeSet};

use undertone_core::{Alphabet, MASS_ONE};
use undertone_design::quantize::largest_remainder;
use undertone_design::{Distribution, Error};

use crate::{Atom, Hypothesis, Model, Sensor};

pub(crate) use law::PRIVATE;

/// Readings up to this probability may have it from rounding alone.
pub(crate) const ONE_UNIT: f64 = 1.0 / MASS_ONE as f64;

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

/// A sensor whose laws are integers. The laws differ, and are in the order of the first atoms they belong to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExactSensor {
    pub(crate) name: String,
    pub(crate) readings: Alphabet,
    pub(crate) rows: Vec<Vec<u64>>,
    pub(crate) row_of: Vec<u32>,
}

impl ExactSensor {
    /// A sensor from the law of its reading in every atom.
    fn new(name: String, readings: Alphabet, laws: impl Iterator<Item = Vec<u64>>) -> Self {
        let mut sensor = Self { name, readings, rows: Vec::new(), row_of: Vec::new() };
        let mut known: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        for law in laws {
            let next = known.len() as u32;
            let row = *known.entry(law).or_insert_with_key(|law| {
                sensor.rows.push(law.clone());
                next
            });
            sensor.row_of.push(row);
        }
        sensor
    }

    /// The law of its reading in atom `k`.
    fn given(&self, k: usize) -> &[u64] {
        &self.rows[self.row_of[k] as usize]
    }

    /// The readings without mass in any atom.
    fn unseen(&self) -> Vec<usize> {
        let never = |&x: &usize| self.rows.iter().all(|row| row[x] == 0);
        (0..self.readings.len()).filter(never).collect()
    }

    /// The reading in each atom, if the atom decides it.
    fn decided(&self) -> Option<Vec<u32>> {
        let whole = |row: &Vec<u64>| row.iter().position(|&mass| mass == MASS_ONE);
        let reading = self.rows.iter().map(whole).collect::<Option<Vec<usize>>>()?;
        Some(self.row_of.iter().map(|&row| reading[row as usize] as u32).collect())
    }
}

impl ExactModel {
    /// Rounds a model. Atoms that become empty are dropped; atoms that differ in nothing are one where the atom
    /// decides every reading.
    pub fn new(model: &Model) -> Result<Self, Error> {
        check_names(model)?;
        let weights: Vec<f64> = model.atoms().iter().map(|atom| atom.weight).collect();
        let weights = largest_remainder(&weights, MASS_ONE);
        let kept: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > 0).collect();
        let atom = |&k: &usize| {
            let Atom { public, private, .. } = model.atoms()[k];
            ExactAtom { weight: weights[k], public, private }
        };
        let sensor = |sensor: &Sensor| {
            let row = |row: &Distribution| largest_remainder(row.as_slice(), MASS_ONE);
            let rows: Vec<Vec<u64>> = sensor.rows().iter().map(row).collect();
            let laws = kept.iter().map(|&k| rows[sensor.row_of()[k] as usize].clone());
            ExactSensor::new(sensor.name().into(), sensor.readings().clone(), laws)
        };
        let mut exact = Self {
            public: model.public().clone(),
            private: model.private().clone(),
            atoms: kept.iter().map(atom).collect(),
            sensors: model.sensors().iter().map(sensor).collect(),
        };
        match exact.decided() {
            Some(readings) => exact.write_as_points(readings)?,
            None => exact.give_unseen_a_unit(),
        }
        // The same checks as for any model, so that rounding cannot leave a degenerate one.
        exact.model()?;
        Ok(exact)
    }

    /// The readings of every sensor in every atom, if the atom decides them all.
    fn decided(&self) -> Option<Vec<Vec<u32>>> {
        self.sensors.iter().map(ExactSensor::decided).collect()
    }

    fn heaviest(&self) -> usize {
        (0..self.atoms.len()).rev().max_by_key(|&k| self.atoms[k].weight).unwrap_or(0)
    }

    /// Atoms that decide every reading are points: each once, in increasing order.
    fn write_as_points(&mut self, readings: Vec<Vec<u32>>) -> Result<(), Error> {
        let point = |k: usize, atom: &ExactAtom| {
            let mut values: Vec<u32> = readings.iter().map(|of| of[k]).collect();
            values.extend([atom.private as u32, atom.public as u32]);
            values
        };
        let heaviest = self.heaviest();
        let mut points: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for (k, atom) in self.atoms.iter().enumerate() {
            *points.entry(point(k, atom)).or_default() += atom.weight;
        }
        let from = point(heaviest, &self.atoms[heaviest]);
        for (t, sensor) in self.sensors.iter().enumerate() {
            for x in sensor.unseen() {
                let mut unseen = from.clone();
                unseen[t] = x as u32;
                points.insert(unseen, 1);
                let rest = points.get_mut(&from).and_then(|weight| {
                    *weight = weight.checked_sub(1)?;
                    (*weight > 0).then_some(())
                });
                rest.ok_or_else(|| {
                    let problem = "has more readings that never occur than can be written down: leave them out";
                    Error::other(format!("sensor {}", sensor.name), problem)
                })?;
            }
        }
        let points: Vec<(Vec<u32>, u64)> = points.into_iter().collect();
        *self = self.with_points(&points);
        Ok(())
    }

    /// These sensors and hypotheses with other points: readings, value of G, value of H.
    fn with_points(&self, points: &[(Vec<u32>, u64)]) -> Self {
        let count = self.sensors.len();
        let atom = |(values, weight): &(Vec<u32>, u64)| ExactAtom {
            weight: *weight,
            public: values[count + 1] as usize,
            private: values[count] as usize,
        };
        let sensor = |(t, sensor): (usize, &ExactSensor)| {
            let law = |(values, _): &(Vec<u32>, u64)| {
                let mut row = vec![0; sensor.readings.len()];
                row[values[t] as usize] = MASS_ONE;
                row
            };
            let (name, readings) = (sensor.name.clone(), sensor.readings.clone());
            ExactSensor::new(name, readings, points.iter().map(law))
        };
        Self {
            public: self.public.clone(),
            private: self.private.clone(),
            atoms: points.iter().map(atom).collect(),
            sensors: self.sensors.iter().enumerate().map(sensor).collect(),
        }
    }

    fn give_unseen_a_unit(&mut self) {
        let heaviest = self.heaviest();
        for sensor in &mut self.sensors {
            let unseen = sensor.unseen();
            let row = &mut sensor.rows[sensor.row_of[heaviest] as usize];
            let most = (0..row.len()).max_by_key(|&x| row[x]).unwrap_or(0);
            // There are at most 2^24 readings, so that the likeliest of those that occur has more units than are taken.
            for x in unseen {
                row[x] = 1;
                row[most] -= 1;
            }
        }
    }

    /// This model in floats; they hold its integers exactly.
    pub fn model(&self) -> Result<Model, Error> {
        let sensor = |sensor: &ExactSensor| {
            let row = |row: &Vec<u64>| {
                Distribution::new("a law", row.iter().map(|&p| p as f64 * ONE_UNIT).collect())
            };
            let rows = sensor.rows.iter().map(row).collect::<Result<_, _>>()?;
            let (name, readings) = (sensor.name.clone(), sensor.readings.clone());
            Sensor::new(name, readings, rows, sensor.row_of.clone())
        };
        let atom = |atom: &ExactAtom| Atom {
            weight: atom.weight as f64 * ONE_UNIT,
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

    /// The pairs (h, g) that occur, in order.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let pairs: BTreeSet<(usize, usize)> =
            self.atoms.iter().map(|atom| (atom.public, atom.private)).collect();
        pairs.into_iter().collect()
    }

    /// P(g) in units of 2^-48.
    pub fn private_law(&self) -> Vec<u64> {
        self.label_law(&self.private, |atom| atom.private)
    }

    fn label_law(&self, of: &Hypothesis, label: impl Fn(&ExactAtom) -> usize) -> Vec<u64> {
        let mut law = vec![0; of.size()];
        self.atoms.iter().for_each(|atom| law[label(atom)] += atom.weight);
        law
    }
}

/// Sensors are a plan's questions and hypotheses its secrets: their names differ, and are not too long.
fn check_names(model: &Model) -> Result<(), Error> {
    let hypotheses = [model.public(), model.private()];
    let sensors = model.sensors().iter().map(|sensor| ("sensor", sensor.name()));
    let names = sensors.chain(hypotheses.map(|one| ("hypothesis", one.name())));
    let mut seen = BTreeSet::new();
    for (what, name) in names {
        let problem = match name.len() {
            1..=200 if seen.insert(name) => continue,
            1..=200 => "has the name of another sensor or hypothesis: names must differ",
            _ => "must have a name of 1 to 200 bytes",
        };
        return Err(Error::other(format!("{what} {name:?}"), problem));
    }
    for hypothesis in hypotheses {
        let checked = Alphabet::names(hypothesis.values().iter().map(String::as_str));
        checked.map_err(|error| {
            Error::other(format!("hypothesis {}", hypothesis.name()), error.to_string())
        })?;
    }
    Ok(())
}
