//! Labelled samples: what the sensors read, with the values of H and G that were true.

use std::collections::BTreeMap;

use undertone_core::Alphabet;
use undertone_design::Error;

use crate::{Hypothesis, Model, Point};

/// One sample: labels and one reading per sensor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// The value of H.
    pub public: usize,
    /// The value of G.
    pub private: usize,
    /// One index per sensor.
    pub readings: Vec<usize>,
}

/// Samples of one network: every sample has a reading of every sensor, and both labels take at
/// least two values.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    public: Hypothesis,
    private: Hypothesis,
    sensors: Vec<(String, Alphabet)>,
    samples: Vec<Sample>,
}

impl Samples {
    /// Checks labels and readings.
    pub fn new(
        public: Hypothesis,
        private: Hypothesis,
        sensors: Vec<(String, Alphabet)>,
        samples: Vec<Sample>,
    ) -> Result<Self, Error> {
        if samples.is_empty() {
            return Err(Error::Empty { what: "the list of samples".into() });
        }
        if sensors.is_empty() {
            return Err(Error::Empty { what: "the list of sensors".into() });
        }
        for (i, sample) in samples.iter().enumerate() {
            let what = || format!("sample {i}");
            if sample.readings.len() != sensors.len() {
                return Err(Error::Size {
                    what: format!("the readings of sample {i}"),
                    expected: sensors.len(),
                    found: sample.readings.len(),
                });
            }
            let labels = [(&public, sample.public), (&private, sample.private)];
            for (hypothesis, label) in labels {
                if label >= hypothesis.size() {
                    let problem = format!(
                        "label {label} is not one of the {} values of {}",
                        hypothesis.size(),
                        hypothesis.name()
                    );
                    return Err(Error::other(what(), problem));
                }
            }
            for ((name, readings), &x) in sensors.iter().zip(&sample.readings) {
                if x >= readings.len() {
                    let problem = format!(
                        "sensor {name} reads {x}, which is not one of its {} readings",
                        readings.len()
                    );
                    return Err(Error::other(what(), problem));
                }
            }
        }
        let one_class = |hypothesis: &Hypothesis, label: fn(&Sample) -> usize| {
            let first = label(&samples[0]);
            if samples.iter().any(|sample| label(sample) != first) {
                return Ok(());
            }
            let problem = format!(
                "every sample has the label {:?}: give samples with at least two labels",
                hypothesis.values()[first]
            );
            Err(Error::other(format!("hypothesis {}", hypothesis.name()), problem))
        };
        one_class(&public, |sample| sample.public)?;
        one_class(&private, |sample| sample.private)?;
        Ok(Self { public, private, sensors, samples })
    }

    /// H.
    pub fn public(&self) -> &Hypothesis {
        &self.public
    }

    /// G.
    pub fn private(&self) -> &Hypothesis {
        &self.private
    }

    /// The sensors' names and what they may read.
    pub fn sensors(&self) -> &[(String, Alphabet)] {
        &self.sensors
    }

    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The empirical law as a model: one atom per distinct sample.
    pub fn model(&self) -> Result<Model, Error> {
        let mut counts: BTreeMap<&Sample, u64> = BTreeMap::new();
        self.samples.iter().for_each(|sample| *counts.entry(sample).or_default() += 1);
        let total = self.samples.len() as f64;
        let point = |(sample, count): (&Sample, u64)| Point {
            weight: count as f64 / total,
            public: sample.public,
            private: sample.private,
            readings: sample.readings.clone(),
        };
        let points: Vec<Point> = counts.into_iter().map(point).collect();
        Model::joint(self.public.clone(), self.private.clone(), self.sensors.clone(), &points)
    }

    /// The empirical I(X_t;H) of sensor `t`, in nats.
    pub fn relevance(&self, t: usize) -> f64 {
        let (readings, labels) = (self.sensors[t].1.len(), self.public.size());
        let mut joint = vec![0u64; readings * labels];
        for sample in &self.samples {
            joint[sample.readings[t] * labels + sample.public] += 1;
        }
        let row = |x: usize| joint[x * labels..(x + 1) * labels].iter().sum::<u64>() as f64;
        let column = |h: usize| joint.iter().skip(h).step_by(labels).sum::<u64>() as f64;
        let columns: Vec<f64> = (0..labels).map(column).collect();
        let total = self.samples.len() as f64;
        let mut information = 0.0;
        for x in 0..readings {
            let row = row(x);
            for (h, column) in columns.iter().enumerate() {
                let cell = joint[x * labels + h] as f64;
                if cell > 0.0 {
                    information += cell / total * (cell * total / (row * column)).ln();
                }
            }
        }
        information
    }

    /// The `count` sensors that say most about H, each on its own; in their original order. Ties go
    /// to the earlier sensor.
    pub fn most_relevant(&self, count: usize) -> Vec<usize> {
        let relevance: Vec<f64> = (0..self.sensors.len()).map(|t| self.relevance(t)).collect();
        let mut order: Vec<usize> = (0..self.sensors.len()).collect();
        order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
        order.truncate(count);
        order.sort_unstable();
        order
    }

    /// These samples as seen by the given sensors only.
    pub fn keep(&self, sensors: &[usize]) -> Result<Self, Error> {
        if let Some(&t) = sensors.iter().find(|&&t| t >= self.sensors.len()) {
            let problem = format!("there is no sensor {t} among {}", self.sensors.len());
            return Err(Error::other("sensors", problem));
        }
        let sample = |sample: &Sample| Sample {
            readings: sensors.iter().map(|&t| sample.readings[t]).collect(),
            ..*sample
        };
        Self::new(
            self.public.clone(),
            self.private.clone(),
            sensors.iter().map(|&t| self.sensors[t].clone()).collect(),
            self.samples.iter().map(sample).collect(),
        )
    }

    /// The samples at these places.
    pub fn subset(&self, places: &[usize]) -> Result<Self, Error> {
        if let Some(&i) = places.iter().find(|&&i| i >= self.samples.len()) {
            let problem = format!("there is no sample {i} among {}", self.samples.len());
            return Err(Error::other("samples", problem));
        }
        let samples = places.iter().map(|&i| self.samples[i].clone()).collect();
        Self::new(self.public.clone(), self.private.clone(), self.sensors.clone(), samples)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn table() -> Samples {
        let row = |public, private, readings: [usize; 2]| Sample {
            public,
            private,
            readings: readings.to_vec(),
        };
        let sensors = ["a", "b"].map(|name| (name.to_owned(), Alphabet::indices(3).unwrap()));
        let samples =
            vec![row(0, 0, [0, 1]), row(1, 1, [2, 1]), row(0, 0, [0, 1]), row(1, 0, [2, 2])];
        let (h, g) = (Hypothesis::indexed("h", 2), Hypothesis::indexed("g", 2));
        Samples::new(h, g, sensors.to_vec(), samples).unwrap()
    }

    #[test]
    fn repeated_samples_share_an_atom() {
        let model = table().model().unwrap();
        assert_eq!(model.atoms().len(), 3);
        assert_eq!(model.public_law(), vec![0.5, 0.5]);
        assert_eq!(model.private_law(), vec![0.75, 0.25]);
        assert_eq!(model.reading_law(1), vec![0.0, 0.75, 0.25]);
    }

    #[test]
    fn the_sensor_that_tells_h_is_most_relevant() {
        let samples = table();
        assert!((samples.relevance(0) - 2f64.ln()).abs() < 1e-12);
        assert!(samples.relevance(1) < samples.relevance(0));
        assert_eq!(samples.most_relevant(1), vec![0]);
        assert_eq!(samples.keep(&[1]).unwrap().sensors()[0].0, "b");
        assert!(samples.keep(&[2]).is_err());
    }

    #[test]
    fn one_class_and_missing_sensors_are_refused() {
        let samples = table();
        let one = samples.subset(&[0, 2]).unwrap_err().to_string();
        assert!(one.contains("every sample has the label"), "{one}");
        let mut rows = samples.samples().to_vec();
        rows[1].readings.pop();
        let (h, g) = (samples.public().clone(), samples.private().clone());
        let missing = Samples::new(h, g, samples.sensors().to_vec(), rows).unwrap_err();
        assert!(missing.to_string().contains("sample 1 has 1 entries where 2"), "{missing}");
    }
}
