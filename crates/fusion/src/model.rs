//! Who says what when: a finite set of scenarios with a public and a private label.
//!
//! A model is K *atoms* (w_k, h_k, g_k) and, for every sensor t, the law of its reading in each
//! atom, P(X_t = x | k). Given the atom, sensors read independently. This covers sensors that are
//! independent given (H,G) (K = |H||G|), any joint law (one atom per point of its support) and
//! labelled samples (one atom per distinct sample).

mod file;

use undertone_core::Alphabet;
use undertone_design::{Distribution, Error};

use crate::Maps;

pub use file::{read, read_moving};

/// One scenario: its probability, the public label h and the private label g.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Atom {
    /// Its probability; positive.
    pub weight: f64,
    /// The atom's value of H.
    pub public: usize,
    /// The atom's value of G.
    pub private: usize,
}

/// A hypothesis: its name and the names of its values. G may be a vector, flattened with the last
/// component fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    name: String,
    values: Vec<String>,
    components: Vec<usize>,
}

/// One sensor: what it may read, and the law of its reading in every atom.
///
/// Atoms may share a law: `rows` holds the distinct ones and `row_of` says which is whose.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    name: String,
    readings: Alphabet,
    rows: Vec<Distribution>,
    row_of: Vec<u32>,
}

/// A point of a joint law: probability, labels and one reading per sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// P(h, g, x).
    pub weight: f64,
    /// h.
    pub public: usize,
    /// g.
    pub private: usize,
    /// x, one index per sensor.
    pub readings: Vec<usize>,
}

/// The joint law of H, G and all readings. Weights sum to one, no atom is empty, both hypotheses
/// have at least two values with mass.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    public: Hypothesis,
    private: Hypothesis,
    atoms: Vec<Atom>,
    sensors: Vec<Sensor>,
}

impl Hypothesis {
    /// A hypothesis whose values are called 0, 1, 2...
    pub fn indexed(name: &str, values: usize) -> Self {
        Self::named(name, (0..values).map(|value| value.to_string()).collect())
    }

    /// A hypothesis whose values have names.
    pub fn named(name: &str, values: Vec<String>) -> Self {
        let components = vec![values.len()];
        Self { name: name.into(), values, components }
    }

    /// Values with names, one for every combination of the components' values, the last component
    /// fastest.
    pub fn new(name: &str, values: Vec<String>, components: Vec<usize>) -> Result<Self, Error> {
        let total = components.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
        if components.is_empty() || total != Some(values.len()) {
            let problem = format!("components {components:?} do not multiply to {}", values.len());
            return Err(Error::other(format!("hypothesis {name}"), problem));
        }
        if values.len() > MAX_VALUES {
            return Err(Error::TooLarge {
                what: format!("hypothesis {name}"),
                size: values.len(),
                limit: MAX_VALUES,
                fix: "merge values that need not be told apart".into(),
            });
        }
        Ok(Self { name: name.into(), values, components })
    }

    /// A vector of hypotheses with these numbers of values, flattened with the last one fastest; its
    /// values are called (0,0), (0,1)...
    pub fn vector(name: &str, components: Vec<usize>) -> Result<Self, Error> {
        if let [size] = components[..] {
            return Ok(Self::indexed(name, size));
        }
        let total = components.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
        let total = total.filter(|&total| total <= MAX_VALUES).unwrap_or(0);
        let value = |mut index: usize| {
            let mut digits: Vec<String> = components
                .iter()
                .rev()
                .map(|&size| {
                    let digit = index % size;
                    index /= size;
                    digit.to_string()
                })
                .collect();
            digits.reverse();
            format!("({})", digits.join(","))
        };
        Self::new(name, (0..total).map(value).collect(), components.clone())
    }

    /// The hypothesis' name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are called.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// How many values it has.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// The sizes of its components; one entry unless it is a vector.
    pub fn components(&self) -> &[usize] {
        &self.components
    }
}

/// Hypotheses have at most this many values.
pub const MAX_VALUES: usize = 1 << 12;

impl Sensor {
    /// Checks that every atom's law exists and is over the sensor's readings.
    pub fn new(
        name: String,
        readings: Alphabet,
        rows: Vec<Distribution>,
        row_of: Vec<u32>,
    ) -> Result<Self, Error> {
        if rows.is_empty() {
            return Err(Error::Empty { what: format!("the laws of sensor {name}") });
        }
        if let Some(row) = rows.iter().find(|row| row.len() != readings.len()) {
            return Err(Error::Size {
                what: format!("a law of sensor {name}"),
                expected: readings.len(),
                found: row.len(),
            });
        }
        if let Some(&row) = row_of.iter().find(|&&row| row as usize >= rows.len()) {
            let problem = format!("there is no law {row} among {}", rows.len());
            return Err(Error::other(format!("sensor {name}"), problem));
        }
        Ok(Self { name, readings, rows, row_of })
    }

    /// The sensor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The alphabet of what the sensor may read.
    pub fn readings(&self) -> &Alphabet {
        &self.readings
    }

    /// How many readings there are.
    pub fn inputs(&self) -> usize {
        self.readings.len()
    }

    /// The distinct laws of its reading.
    pub fn rows(&self) -> &[Distribution] {
        &self.rows
    }

    /// For every atom, which law is its own.
    pub fn row_of(&self) -> &[u32] {
        &self.row_of
    }

    /// The law of its reading in atom `k`.
    pub fn given(&self, k: usize) -> &Distribution {
        &self.rows[self.row_of[k] as usize]
    }
}

impl Model {
    /// Checks that weights, labels and sensors fit together. Atoms without mass are dropped.
    pub fn new(
        public: Hypothesis,
        private: Hypothesis,
        atoms: Vec<Atom>,
        sensors: Vec<Sensor>,
    ) -> Result<Self, Error> {
        if sensors.is_empty() {
            return Err(Error::Empty { what: "the list of sensors".into() });
        }
        let weights = Distribution::new(
            "the atoms' weights",
            atoms.iter().map(|atom| atom.weight).collect(),
        )?;
        for sensor in &sensors {
            if sensor.row_of.len() != atoms.len() {
                return Err(Error::Size {
                    what: format!("sensor {}'s list of laws", sensor.name),
                    expected: atoms.len(),
                    found: sensor.row_of.len(),
                });
            }
        }
        let label = |atom: &Atom| atom.public < public.size() && atom.private < private.size();
        if let Some(k) = atoms.iter().position(|atom| !label(atom)) {
            let Atom { public: h, private: g, .. } = atoms[k];
            let problem = format!(
                "labels ({h},{g}) where {} x {} values exist",
                public.size(),
                private.size()
            );
            return Err(Error::other(format!("atom {k}"), problem));
        }
        let kept: Vec<usize> = (0..atoms.len()).filter(|&k| weights[k] > 0.0).collect();
        let with_weight = |&k: &usize| Atom { weight: weights[k], ..atoms[k] };
        let rows = |sensor: Sensor| {
            let row_of = kept.iter().map(|&k| sensor.row_of[k]).collect();
            Sensor { row_of, ..sensor }
        };
        let atoms = kept.iter().map(with_weight).collect();
        let sensors = sensors.into_iter().map(rows).collect();
        let model = Self { public, private, atoms, sensors };
        let sides = [(&model.public, model.public_law()), (&model.private, model.private_law())];
        for (hypothesis, law) in sides {
            if law.iter().filter(|&&p| p > 0.0).count() < 2 {
                let problem = "only one of its values ever occurs: there is nothing to tell apart; \
                               add data with another label";
                return Err(Error::other(format!("hypothesis {}", hypothesis.name), problem));
            }
        }
        Ok(model)
    }

    /// Sensors that read independently given (H,G): `hypotheses[h][g]` is P(h,g) and
    /// `given[t][h][g]` the law of sensor t's reading.
    pub fn independent(
        hypotheses: Vec<Vec<f64>>,
        given: Vec<Vec<Vec<Vec<f64>>>>,
    ) -> Result<Self, Error> {
        let (h, g) = file::shape(&hypotheses)?;
        let names = (Hypothesis::indexed("public", h), Hypothesis::indexed("private", g));
        let sensors = given.into_iter().enumerate().map(|(t, given)| (t.to_string(), None, given));
        file::independent(names, hypotheses, sensors.collect())
    }

    /// Any joint law: one point per (h, g, x) of its support.
    pub fn joint(
        public: Hypothesis,
        private: Hypothesis,
        sensors: Vec<(String, Alphabet)>,
        points: &[Point],
    ) -> Result<Self, Error> {
        for (k, point) in points.iter().enumerate() {
            if point.readings.len() != sensors.len() {
                return Err(Error::Size {
                    what: format!("the readings of point {k}"),
                    expected: sensors.len(),
                    found: point.readings.len(),
                });
            }
        }
        let sensor = |(t, (name, readings)): (usize, (String, Alphabet))| {
            let size = readings.len();
            let reading = |(k, point): (usize, &Point)| match point.readings[t] {
                x if x < size => Ok(x as u32),
                x => Err(Error::other(
                    format!("point {k}"),
                    format!("sensor {name} reads {x}, which is not one of its {size} readings"),
                )),
            };
            let row_of = points.iter().enumerate().map(reading).collect::<Result<_, _>>()?;
            let one_hot = |x: usize| {
                let row = (0..size).map(|at| f64::from(u8::from(at == x))).collect();
                Distribution::new("a reading", row)
            };
            let rows = (0..size).map(one_hot).collect::<Result<_, _>>()?;
            Sensor::new(name, readings, rows, row_of)
        };
        let sensors = sensors.into_iter().enumerate().map(sensor).collect::<Result<_, _>>()?;
        let atom = |point: &Point| Atom {
            weight: point.weight,
            public: point.public,
            private: point.private,
        };
        Self::new(public, private, points.iter().map(atom).collect(), sensors)
    }

    /// H.
    pub fn public(&self) -> &Hypothesis {
        &self.public
    }

    /// G.
    pub fn private(&self) -> &Hypothesis {
        &self.private
    }

    /// The scenarios.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The sensors.
    pub fn sensors(&self) -> &[Sensor] {
        &self.sensors
    }

    /// P(h); zeros where a value never occurs.
    pub fn public_law(&self) -> Vec<f64> {
        self.label_law(self.public.size(), |atom| atom.public)
    }

    /// P(g).
    pub fn private_law(&self) -> Vec<f64> {
        self.label_law(self.private.size(), |atom| atom.private)
    }

    fn label_law(&self, size: usize, label: impl Fn(&Atom) -> usize) -> Vec<f64> {
        let mut law = vec![0.0; size];
        self.atoms.iter().for_each(|atom| law[label(atom)] += atom.weight);
        law
    }

    /// P(X_t = x).
    pub fn reading_law(&self, t: usize) -> Vec<f64> {
        let sensor = &self.sensors[t];
        let mut weights = vec![0.0; sensor.rows.len()];
        for (atom, &row) in self.atoms.iter().zip(&sensor.row_of) {
            weights[row as usize] += atom.weight;
        }
        let mut law = vec![0.0; sensor.inputs()];
        for (row, weight) in sensor.rows.iter().zip(weights).filter(|(_, weight)| *weight > 0.0) {
            law.iter_mut().zip(row.as_slice()).for_each(|(sum, p)| *sum += weight * p);
        }
        law
    }

    /// The model of what leaves the sensors: readings are replaced by outputs of the maps.
    pub fn through(&self, maps: &Maps) -> Result<Self, Error> {
        maps.check(self)?;
        let push = |(sensor, map): (&Sensor, &undertone_design::Channel)| {
            let rows =
                sensor.rows.iter().map(|row| map.output_law(row)).collect::<Result<_, _>>()?;
            let outputs = Alphabet::indices(map.outputs())
                .map_err(|error| Error::other("outputs", error.to_string()))?;
            Sensor::new(sensor.name.clone(), outputs, rows, sensor.row_of.clone())
        };
        let sensors =
            self.sensors.iter().zip(maps.channels()).map(push).collect::<Result<_, _>>()?;
        Ok(Self { sensors, ..self.clone() })
    }
}
