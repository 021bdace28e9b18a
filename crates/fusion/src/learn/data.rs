//! Training samples as a kernel sees them; the count kernel: Φ_i = (p_1(.|x_1^i), .., p_s(.|x_s^i)).

use undertone_design::{Channel, Distribution, Error};

use super::kernel::{Kernel, Layout};
use super::loss::Loss;
use super::regression::Regression;
use crate::{Maps, Sample, Samples};

/// Labels and readings in columns.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    /// How many samples.
    pub(crate) n: usize,
    /// What each sensor read in every sample.
    pub(crate) readings: Vec<Vec<usize>>,
    /// How many readings each sensor has.
    pub(crate) inputs: Vec<usize>,
    /// How many outputs every sensor has.
    pub(crate) outputs: usize,
    /// What rules see.
    pub(crate) kernel: Kernel,
    /// What rules pay.
    pub(crate) loss: Loss,
    /// What is to be told about H.
    pub(crate) tasks: Tasks,
    /// 1/n for every sample.
    pub(crate) weights: Vec<f64>,
    /// What is to be hidden about G: every value against the first that occurs.
    pub(crate) contrasts: Vec<Contrast>,
}

/// Labels as signs: one column if two values occur, else one column per value against the rest.
#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    /// The values that occur.
    pub(crate) values: Vec<usize>,
    /// -1 or +1 for every sample, one column per task.
    pub(crate) signs: Vec<Vec<f64>>,
}

/// One private value against the reference, both with half of the weight (ST20 (18b)).
#[derive(Debug, Clone)]
pub(crate) struct Contrast {
    /// The value.
    pub(crate) private: usize,
    /// The samples with either value.
    pub(crate) members: Vec<usize>,
    /// -1 for the reference, +1 for the value.
    pub(crate) signs: Vec<f64>,
    /// 1/(2 |S_g|).
    pub(crate) weights: Vec<f64>,
}

impl Tasks {
    pub(crate) fn new(labels: &[usize]) -> Self {
        let mut values = labels.to_vec();
        values.sort_unstable();
        values.dedup();
        let signs = |value: usize| {
            labels.iter().map(|&label| if label == value { 1.0 } else { -1.0 }).collect()
        };
        let told: &[usize] = if values.len() == 2 { &values[1..] } else { &values };
        Self { signs: told.iter().map(|&value| signs(value)).collect(), values }
    }
}

impl Data {
    pub(crate) fn new(samples: &Samples, outputs: usize, kernel: Kernel, loss: Loss) -> Self {
        let all = samples.samples();
        let labels = |label: fn(&Sample) -> usize| all.iter().map(label).collect::<Vec<_>>();
        let private = labels(|sample| sample.private);
        let reference = private.iter().copied().min().unwrap_or(0);
        let mut values = private.clone();
        values.sort_unstable();
        values.dedup();
        let count = |g: usize| private.iter().filter(|&&label| label == g).count() as f64;
        let contrast = |&g: &usize| {
            let members: Vec<usize> =
                (0..all.len()).filter(|&i| private[i] == g || private[i] == reference).collect();
            let own = |&i: &usize| private[i] == g;
            let (here, there) = (0.5 / count(g), 0.5 / count(reference));
            Contrast {
                private: g,
                signs: members.iter().map(|i| if own(i) { 1.0 } else { -1.0 }).collect(),
                weights: members.iter().map(|i| if own(i) { here } else { there }).collect(),
                members,
            }
        };
        let column =
            |t: usize| all.iter().map(|sample: &Sample| sample.readings[t]).collect::<Vec<_>>();
        Self {
            n: all.len(),
            readings: (0..samples.sensors().len()).map(column).collect(),
            inputs: samples.sensors().iter().map(|(_, alphabet)| alphabet.len()).collect(),
            outputs,
            kernel,
            loss,
            tasks: Tasks::new(&labels(|sample| sample.public)),
            weights: vec![1.0 / all.len() as f64; all.len()],
            contrasts: values.iter().filter(|&&g| g != reference).map(contrast).collect(),
        }
    }

    /// Where features stand in one Φ_i.
    pub(crate) fn layout(&self) -> Layout {
        Layout { kernel: self.kernel, sensors: self.readings.len(), outputs: self.outputs }
    }

    /// The size of one Φ_i.
    pub(crate) fn size(&self) -> usize {
        self.layout().size()
    }

    /// All Φ_i.
    pub(crate) fn features(&self, maps: &[Vec<f64>]) -> Vec<f64> {
        let mut features = vec![0.0; self.n * self.size()];
        (0..maps.len()).for_each(|t| self.write(&mut features, t, &maps[t]));
        features
    }

    /// Replaces the part of sensor `t`.
    pub(crate) fn write(&self, features: &mut [f64], t: usize, map: &[f64]) {
        let (k, size, layout) = (self.outputs, self.size(), self.layout());
        for (&x, row) in self.readings[t].iter().zip(features.chunks_exact_mut(size)) {
            row[t * k..(t + 1) * k].copy_from_slice(&map[x * k..(x + 1) * k]);
            layout.refresh(t, row);
        }
    }

    /// The regression of one task about H.
    pub(crate) fn public<'a>(
        &'a self,
        features: &'a [f64],
        task: usize,
        ridge: f64,
    ) -> Regression<'a> {
        let signs = &self.tasks.signs[task];
        Regression {
            features,
            size: self.size(),
            signs,
            weights: &self.weights,
            ridge,
            loss: self.loss,
        }
    }

    /// The rows of those samples that take part in a contrast.
    pub(crate) fn members(&self, features: &[f64], contrast: &Contrast) -> Vec<f64> {
        let size = self.size();
        contrast
            .members
            .iter()
            .flat_map(|&i| features[i * size..(i + 1) * size].iter().copied())
            .collect()
    }

    /// The regression of one adversary, on the rows [`Data::members`] gave.
    pub(crate) fn private<'a>(
        &'a self,
        rows: &'a [f64],
        contrast: &'a Contrast,
        ridge: f64,
    ) -> Regression<'a> {
        let Contrast { signs, weights, .. } = contrast;
        Regression { features: rows, size: self.size(), signs, weights, ridge, loss: self.loss }
    }

    /// Flat maps as channels. A reading never seen gets the average of those seen, which keeps every
    /// ratio within theirs.
    pub(crate) fn channels(&self, maps: &[Vec<f64>]) -> Result<Maps, Error> {
        let channel = |(t, map): (usize, &Vec<f64>)| {
            let rows: Vec<&[f64]> = map.chunks_exact(self.outputs).collect();
            let mut count = vec![0u32; self.inputs[t]];
            self.readings[t].iter().for_each(|&x| count[x] += 1);
            let seen = count.iter().filter(|&&count| count > 0).count() as f64;
            let mut average = vec![0.0; self.outputs];
            for (row, _) in rows.iter().zip(&count).filter(|(_, count)| **count > 0) {
                average.iter_mut().zip(*row).for_each(|(sum, p)| *sum += p / seen);
            }
            let row = |(row, &count): (&&[f64], &u32)| {
                let row = if count > 0 { row.to_vec() } else { average.clone() };
                Distribution::normalised("a learned map", row)
            };
            Channel::from_rows(rows.iter().zip(&count).map(row).collect::<Result<_, _>>()?)
        };
        Maps::new(maps.iter().enumerate().map(channel).collect::<Result<_, _>>()?)
    }

    /// Channels as flat maps, if they fit the samples.
    pub(crate) fn flat(&self, maps: &Maps) -> Result<Vec<Vec<f64>>, Error> {
        if maps.len() != self.inputs.len() {
            return Err(Error::Size {
                what: "the list of sensor maps".into(),
                expected: self.inputs.len(),
                found: maps.len(),
            });
        }
        let flat = |(t, map): (usize, &Channel)| {
            let shape = (map.inputs(), map.outputs());
            if shape != (self.inputs[t], self.outputs) {
                let problem = format!(
                    "is {} x {} where {} readings and {} outputs are needed",
                    shape.0, shape.1, self.inputs[t], self.outputs
                );
                return Err(Error::other(format!("the map of sensor {t}"), problem));
            }
            Ok(map.rows().iter().flat_map(|row| row.as_slice().iter().copied()).collect())
        };
        maps.channels().iter().enumerate().map(flat).collect()
    }
}
